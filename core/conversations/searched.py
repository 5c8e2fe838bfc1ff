"""What of a conversation is searched: what the user and the assistant said, the commands, the paths, what an edit wrote
(its beginning and end), and of what a tool gave back its first and last lines and the lines that tell of errors.

What the tool itself put into the conversation (reminders, instructions, summaries after a compaction) is not searched:
nobody said it, and it stands in every session. A text is cleared of secrets before it is shortened: the half of a
secret would not look like one any more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import islice

from core.conversations.conversation import Turn
from core.conversations.events import Call, Command, Edit, Plan, Question, Todos, call_words
from core.conversations.turns import cut, is_document

LINES = 4
"""The first and the last lines of a tool's output that are searched."""
LINE_CHARACTERS = 200
"""The characters of such a line."""
ERRORS = 6
"""This many lines between them that tell of an error."""
SEEN = 1600
"""This many characters of its beginning and its end are looked at to find these: more than is shown, so that a secret
that begins in what is shown is seen whole."""
SPOKEN = 20_000
"""The characters of a turn of the user or the assistant: a file that was pasted is not what they said."""
TITLE_CHARACTERS = 120

WRITTEN = 1500
"""The characters of what one edit wrote."""
DOCUMENT = 6000
"""Those of a document: a plan or a page of notes is what the assistant says."""
_WRITTEN = re.compile(r"Tool use: \*\*\w+\*\*\n+```[^`\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
"""What stands right below a call of an older history of SpecStory."""
_PATCH = re.compile(r"^(?:\*\*\* Begin Patch|diff --git |@@ |\+\+\+ )|\*\*\* (?:Add|Update) File: ", re.MULTILINE)
_LEFT_OUT = r"\[… \d+ characters left out …\]"
_ADDED = re.compile(rf"^(?:\+(?!\+)|(?={_LEFT_OUT}$))(.*)", re.MULTILINE)
"""The lines of a patch that are new, and where some were left out: what stands on either side is no one sentence."""
_NEW = re.compile(
    r"^(?:- )?(?:new_?str(?:ing)?|content|file_?text|new_?source|code):\s(.*?)"
    r"(?=^(?:- )?(?:(?:old|new)_?str(?:ing)?|content|file_?text|new_?source|code|replace_?all|file_?path|path):\s|\Z)",
    re.MULTILINE | re.DOTALL | re.IGNORECASE,
)
"""The members of a call with the new text of a file, as each tool names it."""
_BETWEEN = re.compile(r"^={5,}\n", re.MULTILINE)
_ERROR = re.compile(
    r"\b(?:[A-Z]\w*(?:Error|Exception|Warning)|error(?:\[\w+\])?|fatal|panicked|FAILED|failed|denied|not found|refused|"
    r"Traceback|undefined|cannot|unable to)\b"
)


def searched(turn: Turn, clear: Callable[[str], str]) -> str:
    """The words of a turn that go into an index, "" where none do; `clear` takes secrets out of a text."""
    if turn.role in ("user", "assistant"):
        return clear(cut(turn.text, SPOKEN * 3 // 4, SPOKEN // 4)).strip()
    if turn.role != "tool":
        return ""
    if not turn.is_call:
        return output(turn.text, clear)
    text = clear("\n".join(filter(None, map(_called, turn.calls)))).strip()
    edits = [event for event in turn.events if isinstance(event, Edit) and not (event.failed or event.refused)]
    if edits:
        most = DOCUMENT if any(is_document(event.path) for event in edits) else WRITTEN
        text = f"{text}\n{written(turn.text, clear, most)}".strip()
    if any(turn.start <= call.result < turn.end for call in turn.calls):
        # A transcript in which a call and what it gave back stand in one block.
        text = f"{text}\n{output(turn.text, clear)}".strip()
    return text


def written(text: str, clear: Callable[[str], str], most: int = WRITTEN) -> str:
    """What an edit wrote: the lines that a patch adds, or the new text of a call; of long ones beginning and end. The
    call is cleared as a whole: what marks a secret may stand in the lines around it."""
    cleared = clear(cut(text, SPOKEN * 3 // 4, SPOKEN // 4))
    lines = (line.strip() for part in _new(cleared) for line in part.split("\n"))
    new = "\n".join(line for line in lines if line.strip("`"))
    return "" if re.fullmatch(_LEFT_OUT, new) else cut(new, most * 3 // 4, most // 4).strip()


def _new(text: str) -> list[str]:
    """The new parts of an edit: a patch's lines, Cline's two ways, or the members of a call."""
    if _PATCH.search(text):
        return _ADDED.findall(text)
    if "<content>" in text:
        return [text.partition("<content>")[2].rpartition("</content>")[0]]
    if " REPLACE" in text:
        return [_BETWEEN.split(block)[-1].rstrip("+>") for block in text.split(" REPLACE")[:-1]]
    alone = _WRITTEN.match(text)
    return [alone[1]] if alone else _NEW.findall(text)


def output(text: str, clear: Callable[[str], str]) -> str:
    """The first and last lines of what a tool gave back, and those between that tell of an error."""
    text = text.strip()
    if len(text) > 2 * SEEN + 200:
        short = cut(text, SEEN, SEEN)
        head, mark, tail = short.partition("\n[… ")
        between = text[len(head) : len(text) - len(tail)] if mark else ""
        errors = _errors([line for line in between.split("\n")[1:-1] if len(line) < 2000])
        text = clear("\n".join([head, *errors, tail.partition("…]\n")[2]]))
    else:
        text = clear(text)
    kept = lines = [line for line in map(str.strip, text.split("\n")) if line]
    if len(lines) > 2 * LINES:
        kept = [*lines[:LINES], *_errors(lines[LINES:-LINES]), *lines[-LINES:]]
    return "\n".join(_short(line, LINE_CHARACTERS) for line in kept)


def _errors(lines: Sequence[str]) -> list[str]:
    return list(islice(filter(_ERROR.search, lines), ERRORS))


def _short(line: str, most: int) -> str:
    """A line, a long one cut behind a word. It has been cleared as a whole."""
    head = line[:most]
    return line if head == line else head[: max(head.rfind(" "), most // 2)].rstrip() + " …"


def _called(event: Call) -> str:
    """A call in words: its command, or the tool with the path it touched and what it looked for, and that the user
    refused it; "" for a list of steps, a plan or a question."""
    if isinstance(event, Todos | Plan | Question):
        return ""
    words = event.words if isinstance(event, Command) else f"{event.tool} {call_words(event)}".strip()
    return f"{words} (refused by the user)" if event.refused else words


def title_of(title: str, first: str = "", most: int = TITLE_CHARACTERS) -> str:
    """What a conversation is called: its own title, else the beginning of what the user said first (both cleared)."""
    return _short(" ".join((title or first).split()), most)
