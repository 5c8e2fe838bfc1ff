"""Cline's exported task: `**User:**` and `**Assistant:**` headers, `---` between, tool calls as XML tags.

A user message is mostly machinery: only what stands in `<task>`, `<feedback>`, `<user_message>` or `<answer>` is the
person's. The rest is a tool's result (behind `[tool …] Result:`) or context that Cline puts in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from core.conversations.conversation import Conversation
from core.conversations.lines import Label, Line, first_line, fold_turns, split_lines

_HEADERS = {"**User:**": "user", "**Assistant:**": "assistant"}
_PERSON = ("task", "feedback", "user_message", "answer")
# Results in which the person answers. In all others the text is a file, a page or a program's output, and what looks
# like `<feedback>` there was not said by the person.
ANSWERS = ("attempt_completion", "plan_mode_respond", "ask_followup_question", "new_task")
_RESULT = re.compile(r"\[(\w{1,60})(?: for [^\n]{0,2000})?\] Result:")
_NOTICE = ("[TASK RESUMPTION]", "[ERROR]", "[Response interrupted", "[The user has switched", "<environment_details>")
_TOOLS = (
    "read_file", "write_to_file", "replace_in_file", "execute_command", "list_files", "search_files",
    "list_code_definition_names", "browser_action", "use_mcp_tool", "access_mcp_resource", "ask_followup_question",
    "attempt_completion", "plan_mode_respond", "new_task", "load_mcp_documentation", "web_fetch", "focus_chain",
)  # fmt: skip
_SPEECH = ("result", "response", "question", "task_progress", "command")
_DATA = ("content", "diff")
_DENIED = "The user denied this operation"
_FOLDER = re.compile(r"# Current Working Directory \(([^()\n]{1,1000})\)")
_EDGE = re.compile(r"^<(?:task|feedback|user_message|answer|result|response|question|task_progress)>|</\w{1,40}>$")


def sniff(head: str) -> bool:
    """A header on the first line, and a tag that Cline puts into the first message."""
    return head.lstrip().startswith("**User:**") and any(
        sign in head for sign in ("<task>", "<environment_details>", "[TASK RESUMPTION]", "] Result:")
    )


def read(name: str, data: bytes) -> Conversation:
    """Read one exported task; the folder comes from the first block of environment details."""
    lines = split_lines(data)
    folder = next((found[1] for line in lines if (found := _FOLDER.match(line.text))), "")
    turns = fold_turns(lines, _labels(lines))
    return Conversation(name, "cline", turns, first_line(turns), folder=folder)


def _labels(lines: Sequence[Line]) -> Iterator[Label]:
    heads = [number for number, line in enumerate(lines) if line.text in _HEADERS and _starts(lines, number)]
    for line in lines[: heads[0] if heads else len(lines)]:
        yield Label("system", line.text)
    for at, number in enumerate(heads):
        end = heads[at + 1] if at + 1 < len(heads) else len(lines)
        role = _HEADERS[lines[number].text]
        yield Label(role, None, opens=True)
        body = [line.text for line in lines[number + 1 : end]]
        yield from person_labels(body) if role == "user" else assistant_labels(body)


def _starts(lines: Sequence[Line], number: int) -> bool:
    """Whether the line above, blank ones aside, is the separator or the beginning of the file."""
    number -= 1
    while number >= 0 and not lines[number].text.strip():
        number -= 1
    return number < 0 or lines[number].text == "---"


def person_labels(body: list[str]) -> Iterator[Label]:
    """Label the lines of a message that Cline sent in the person's name; one label a line."""
    tags = tuple(f"<{tag}>" for tag in _PERSON)
    machinery = any(row.startswith((*tags, *_NOTICE)) or _RESULT.match(row) for row in body)
    zone, foreign, inside = ("system" if machinery else "user"), False, ""
    first, denied, closed = False, False, False
    for number, row in enumerate(body):
        result = _RESULT.match(row)
        if first and row.strip():
            # In place of a result stands the person's refusal, with what they want instead.
            first, denied = False, row.startswith(_DENIED)
        closed = closed or row == "</environment_details>"
        if inside:
            yield Label("user", _words(row))
            inside = "" if f"</{inside}>" in row else inside
        elif result:
            zone, foreign = "tool", result[1] not in ANSWERS
            first, denied = not row[result.end() :].strip(), row[result.end() :].strip().startswith(_DENIED)
            yield Label(zone, row)
        elif closed and row.startswith("[TASK RESUMPTION]"):
            # The person's next message, sent together with the one above.
            zone, foreign, closed = "system", False, False
            yield Label(zone, row)
        elif row.startswith("<environment_details>"):
            # From here on nothing is the person's: this block closes every message.
            zone, foreign, denied = "system", True, False
            yield Label(zone, row)
        elif row.startswith(tags) and (not foreign or (denied and row.startswith("<feedback>"))):
            inside = row[1 : row.index(">")]
            yield Label("user", _words(row))
            inside = "" if f"</{inside}>" in row else inside
        elif row == "---" and not any(later.strip() for later in body[number + 1 : number + 3]):
            yield Label("", None)
        else:
            yield Label("" if not row.strip() else zone, row)


def assistant_labels(body: list[str]) -> Iterator[Label]:
    """Label the lines of an answer in which tools are called by tags; one label a line."""
    tool = speech = data = ""
    thinking = False
    for row in body:
        if thinking or row.startswith("<thinking>"):
            thinking = "</thinking>" not in row
            yield Label("system", row)
        elif data:
            yield Label("tool", row)
            data = "" if f"</{data}>" in row else data
        elif speech:
            yield Label("assistant", _words(row))
            speech = "" if f"</{speech}>" in row else speech
        elif tool:
            tag = row[1 : row.index(">")] if row.startswith("<") and ">" in row else ""
            if tag in _SPEECH:
                yield Label("assistant", _words(row))
                speech = "" if f"</{tag}>" in row else tag
                continue
            data = tag if tag in _DATA and f"</{tag}>" not in row else ""
            yield Label("tool" if row.strip() else "", row)
            tool = "" if f"</{tool}>" in row else tool
        else:
            # A call may begin behind the words of a sentence; it then goes on in the next line.
            tool = next((name for name in _TOOLS if row.endswith(f"<{name}>")), "") if row.endswith(">") else ""
            if row.startswith("[Response interrupted"):
                yield Label("system", row)
            elif tool and row.startswith(f"<{tool}>"):
                yield Label("tool", row)
            else:
                yield Label("" if not row.strip() or row == "---" else "assistant", None if row == "---" else row)


def _words(row: str) -> str | None:
    """The row without the tags around the words; None when nothing but a tag is there."""
    bare = _EDGE.sub("", _EDGE.sub("", row))
    return bare if bare.strip() or not row.strip() else None
