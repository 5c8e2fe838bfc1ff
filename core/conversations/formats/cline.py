"""Cline's exported task: `**User:**` and `**Assistant:**` headers, `---` between, tool calls as XML tags.

A user message is mostly machinery: only what stands in `<task>`, `<feedback>`, `<user_message>` or `<answer>` is the
person's. The rest is a tool's result (behind `[tool …] Result:`) or context that Cline puts in.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise

from core.conversations.conversation import Conversation
from core.conversations.days import written_day
from core.conversations.events import Call, Event, Plan, Question, call_event, settled
from core.conversations.lines import (
    Label,
    Line,
    doubt_in_fences,
    first_line,
    fold_turns,
    line_above,
    split_lines,
    with_events,
)

_HEADERS = {"**User:**": "user", "**Assistant:**": "assistant"}
_PERSON = ("task", "feedback", "user_message", "answer")
# Results in which the user answers. In all others the text is a file, a page or a program's output, and what looks
# like `<feedback>` there was not said by the user.
ANSWERS = ("attempt_completion", "plan_mode_respond", "ask_followup_question", "new_task")
_RESULT = re.compile(r"\[(\w{1,60})(?: for [^\n]{0,2000})?\] Result:")
_BROKEN = "[Response interrupted"
_NOTICE = ("[TASK RESUMPTION]", "[ERROR]", _BROKEN, "[The user has switched", "<environment_details>")
_BROUGHT = (
    "[read_file for '", "<file_content ", "<folder_content ", "<url_content ", "<workspace_diagnostics>",
    "<git_working_state>", "<git_commit ", "<terminal_output", "<command name=",
)  # fmt: skip
"""What a mention of the user brings along begins so in Cline and Roo Code (`src/core/mentions/index.ts`)."""
_TOOLS = (
    "read_file", "write_to_file", "replace_in_file", "execute_command", "list_files", "search_files",
    "list_code_definition_names", "browser_action", "use_mcp_tool", "access_mcp_resource", "ask_followup_question",
    "attempt_completion", "plan_mode_respond", "new_task", "load_mcp_documentation", "web_fetch", "focus_chain",
)  # fmt: skip
_CALL = re.compile(rf"(?<![`\w])<({'|'.join(_TOOLS)})>(?=\n)(.*?)(?:</\1>|\Z)", re.DOTALL)
_PARAMETERS = (
    "path", "command", "content", "diff", "regex", "file_pattern", "question", "options", "response", "url",
    "tool_name", "server_name", "todos", "message", "action", "mode", "context",
)  # fmt: skip
_CLOSING = ("attempt_completion", "focus_chain")
_FAILED = ("The tool execution failed", "Command execution failed", "Error executing", "Missing value for required")
_SPEECH = ("result", "response", "question", "task_progress", "command")
_DATA = ("content", "diff")
_DENIED = "The user denied this operation"
_FOLDER = re.compile(r"# Current Working Directory \(([^()\n]{1,1000})\)")
_CLOCK = "# Current Time"
_AMBIGUOUS = re.compile(r"(?:[1-9]|1[0-2])/(?:[1-9]|1[0-2])/\d{4},? \d{1,2}:\d\d:\d\d(?!\s?[AaPp][Mm])")
"""A day that may as well be a month, in a clock of 24 hours."""
_HOUR = re.compile(
    r" (?P<hour>\d{1,2})(?P<rest>:\d\d:\d\d)(?:\s?(?P<half>[AaPp])[Mm])? "
    r"\([^()]{0,60}UTC(?P<sign>[+-])(?P<away>\d{1,2})(?P<minutes>:\d\d)?\)"
)
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
    heads = [number for number, line in enumerate(lines) if line.text in _HEADERS and _starts(lines, number)]
    turns = with_events(fold_turns(lines, _labels(lines, heads)), _events(lines, heads))
    turns = doubt_in_fences(turns, lines)
    clocks = [line.text for above, line in pairwise(lines) if above.text == _CLOCK]
    times = [time for text in clocks if (time := _time(text))]
    began, ended = (times[0], times[-1]) if times else ("", "")
    return Conversation(name, "cline", turns, first_line(turns), folder=folder, started=began, ended=ended)


def _time(text: str) -> str:
    """A clock of the environment details in ISO 8601, UTC where it tells its zone; "" for one in which day and month
    cannot be told apart."""
    day, found = "" if _AMBIGUOUS.match(text) else written_day(text), _HOUR.search(text)
    if not day or found is None:
        return day
    hour = int(found["hour"])
    if found["half"]:
        hour = hour % 12 + 12 * (found["half"] in "Pp")
    zone = f"{found['sign']}{found['away']:0>2}{found['minutes'] or ':00'}"
    try:
        at = datetime.fromisoformat(f"{day}T{hour:02}{found['rest']}{zone}").astimezone(UTC)
    except (ValueError, OverflowError):
        return day
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def _events(lines: Sequence[Line], heads: Sequence[int]) -> list[Event]:
    """Calls in the answers, each with the result that the next message brings."""
    found: list[Event] = []
    waiting: dict[str, int] = {}
    for number, end in pairwise([*heads, len(lines)]):
        body = [line.text for line in lines[number + 1 : end]]
        if _HEADERS[lines[number].text] == "assistant":
            waiting.clear()
            for row, tool, given in calls_in("\n".join(body)):
                place = lines[number + 1 + row]
                waiting[tool] = len(found)
                found.append(call_event(tool, given, given.get("command", ""), "", place.start, place.end))
            continue
        for row, tool, text in results_in(body):
            at = waiting.pop(tool, None)
            event = found[at] if at is not None else None
            if at is not None and isinstance(event, Call):
                found[at] = result_of(event, text, lines[number + 1 + row].start)
    return found


def calls_in(text: str) -> Iterator[tuple[int, str, dict[str, str]]]:
    """The calls that an answer makes by tags: the row where each begins, the tool and its arguments. What ends the
    task is no call: its words are the answer; nor is one behind another that was interrupted before its end: it was
    never made."""
    row = at = 0
    for found in _CALL.finditer(text) if "<" in text else ():
        broken = bool(at) and not found[0].endswith(f"</{found[1]}>") and _BROKEN in found[2]
        if found[1] not in _CLOSING and not broken:
            row, at = row + text.count("\n", at, found.start(1)), found.start(1)
            yield row, found[1], _between(found[2], _PARAMETERS)


def _between(text: str, names: Sequence[str]) -> dict[str, str]:
    """What stands between the first opening tag of each name and the closing one behind it."""
    found: dict[str, str] = {}
    for name in names:
        start = text.find(f"<{name}>")
        end = text.find(f"</{name}>", start) if start >= 0 else -1
        if end >= 0:
            found[name] = text[start + len(name) + 2 : end].strip("\n")
    return found


def results_in(body: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    """What tools gave back in a message of the user: the row where each result begins, the tool and the text."""
    marks = [(at, found) for at, row in enumerate(body) if row[:1] == "[" and (found := _RESULT.match(row))]
    if not marks:
        return
    ends = [at for at, row in enumerate(body) if row.startswith("<environment_details>")]
    for (at, found), (end, _) in zip(marks, [*marks[1:], (len(body), None)], strict=True):
        below = bisect_right(ends, at)
        end = min(end, ends[below]) if below < len(ends) else end
        yield at, found[1], "\n".join([body[at][found.end() :], *body[at + 1 : end]]).strip()


def result_of(event: Call, text: str, start: int) -> Call:
    """The event with its result, where the user's refusal or answer can stand too."""
    refused = text.startswith(_DENIED)
    failed = True if refused or text.startswith(_FAILED) else None
    if isinstance(event, Question | Plan):
        said = next(iter(_between(text, _PERSON).values()), "")
        event = settled(event, "", start, False, None, refused=False)
        if isinstance(event, Question):
            return replace(event, asked=tuple((asked, options, said) for asked, options, _ in event.asked))
        return event
    return settled(event, text, start, failed, None, refused)


def _labels(lines: Sequence[Line], heads: Sequence[int]) -> Iterator[Label]:
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
    above = line_above(lines, number)
    return above < 0 or lines[above].text == "---"


def person_labels(body: list[str]) -> Iterator[Label]:
    """Label the lines of a message that Cline sent in the user's name; one label a line."""
    tags = tuple(f"<{tag}>" for tag in _PERSON)
    machinery = any(row.startswith((*tags, *_NOTICE)) or _RESULT.match(row) for row in body)
    zone, foreign, inside = ("system" if machinery else "user"), False, ""
    first, denied, closed = False, False, False
    for number, row in enumerate(body):
        result = _RESULT.match(row)
        if first and row.strip():
            # In place of a result stands the user's refusal, with what they want instead.
            first, denied = False, row.startswith(_DENIED)
        closed = closed or row == "</environment_details>"
        if not inside and row.startswith(tags) and (not foreign or (denied and row.startswith("<feedback>"))):
            inside = row[1 : row.index(">")]
        if inside:
            yield Label("user", _words(row))
            inside = "" if f"</{inside}>" in row else inside
        elif result:
            zone, foreign = "tool", result[1] not in ANSWERS
            first, denied = not row[result.end() :].strip(), row[result.end() :].strip().startswith(_DENIED)
            yield Label(zone, row)
        elif closed and row.startswith("[TASK RESUMPTION]"):
            # The user's next message, sent together with the one above.
            zone, foreign, closed = "system", False, False
            yield Label(zone, row)
        elif row.startswith(_BROUGHT):
            # A file or page may hold any tag: what follows is nobody's word.
            zone, foreign, denied = "system" if zone == "user" else zone, True, False
            yield Label(zone, row)
        elif row.startswith("<environment_details>"):
            # From here on nothing is the user's: this block closes every message.
            zone, foreign, denied = "system", True, False
            yield Label(zone, row)
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
            if tool == "attempt_completion" and row == f"</{tool}>":
                yield Label("assistant", None)
                tool = ""
                continue
            if tag in _SPEECH:
                yield Label("assistant", _words(row))
                speech = "" if f"</{tag}>" in row else tag
                continue
            data = tag if tag in _DATA and f"</{tag}>" not in row else ""
            yield Label("tool" if row.strip() else "", row)
            tool = _begun(row) if f"</{tool}>" in row else tool
        else:
            tool = _begun(row)
            if row.startswith(_BROKEN):
                yield Label("system", row)
            elif row == "<attempt_completion>":
                yield Label("assistant", None)  # what ends a task is the assistant's closing word, and no call
            elif tool and row.startswith(f"<{tool}>"):
                yield Label("tool", row)
            else:
                yield Label("" if not row.strip() or row == "---" else "assistant", None if row == "---" else row)


def _begun(row: str) -> str:
    """The tool whose call begins at the end of a row, behind the words of a sentence or the call before, and goes on in
    the next one; "" for none."""
    return next((name for name in _TOOLS if row.endswith(f"<{name}>")), "") if row.endswith(">") else ""


def _words(row: str) -> str | None:
    """The row without the tags around the words; None when nothing but a tag is there."""
    bare = _EDGE.sub("", _EDGE.sub("", row))
    return bare if bare.strip() or not row.strip() else None
