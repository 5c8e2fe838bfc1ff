"""aider's `.aider.chat.history.md`: `#### ` the user, `> ` the tool, everything else the assistant.

Format as aider writes it (io.py of that project): every line of a prompt gets its own `#### ` and two blanks at the
end; a session begins with `# aider chat started at`. Fences end nothing here (who speaks inside one is in doubt), so an
answer's own `#### ` heading is told from a prompt by the missing blanks. Sessions of older versions (0.50) have no
blanks behind the last line of a prompt: there a prompt stands below a line of the tool, which ends every answer with
what it cost. Edits, commits and commands are told by the tool's own lines; what a command printed stands in the file
only where older versions ran one for the user. Of a message of several lines only the first has the sign of the tool,
and the last ends in two blanks. The only times in it are those of the banners: a turn has that of its
session's begin.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from core.conversations.conversation import Conversation
from core.conversations.events import Call, Command, Commit, Edit, Event, FileRead, shortened
from core.conversations.lines import (
    Label,
    Line,
    doubt_in_fences,
    first_line,
    fold_turns,
    line_above,
    line_below,
    split_lines,
    with_events,
)

_BANNER = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)\s*$")
_SIGNS = ("> $ aider", "> Aider v", "> Tokens: ", 'class="chat-transcript"', "> Applied edit to ", "> Repo-map: ")


_EDITED = re.compile(r"> Applied edit to (.+?)\s*$")
_SKIPPED = re.compile(r"> Skipping edits to (.+?) that matches gitignore spec\.\s*$")
_COMMITTED = re.compile(r"> Commit ([0-9a-f]{7,40}) (.+?)\s*$")
_RUNNING = re.compile(r"> Running (.+?)\s*$")
_RUN = re.compile(r"####\s(?:/run\s+|/test\s+|!)(.+?)\s*$")
_MODEL = re.compile(r"> (?:Main m|M)odel: (\S+) with ")
_FOLDER = re.compile(r"> Cur working dir: (/.+?|[A-Za-z]:\\.+?)\s*$")
_GOES_ON = re.compile(r"> (?:Commit [0-9a-f]{7,40} |# \d+ SEARCH/REPLACE )(?!.*  $)")
"""The first line of a message that goes on below."""
_NOT_FOUND = re.compile(r"## SearchReplaceNoExactMatch: This SEARCH block failed to exactly match lines in (.+?)\s*$")
_ASKED = re.compile(r"(?:>|####) (?P<what>.+?)\? \(Y\)es/\(N\)o.*\]: (?P<answer>\w+)\s*$")
_ASKS_TO_RUN = "Run shell command"
_ASKS_TO_WRITE = ("Create new file", "Allow edits to file", "Allow creation of new file")
_ASKS_TO_SHOW = "Add file to the chat"
_UNSEEN = "Allow edits to file that has not been added"
_NOTICES = ("Tokens: ", "Commit ", "Applied ", "Added ")
_EDIT_BEGINS = ("<<<<<<< SEARCH", "<<<<<<< ORIGINAL")
_EDIT_ENDS = (
    ">>>>>>> REPLACE", ">>>>>>> UPDATED", "> Tokens: ", "> ^C", "> Applied ", "> Commit ", "# aider chat started at ",
)  # fmt: skip
_ABOUT_OUTPUT = re.compile(r"> (?:Add(?:ed)? .*(?:output|lines?) |Add the output )")


def sniff(head: str) -> bool:
    """A start banner, or prompts together with a line that only aider prints (its published examples)."""
    rows = head.split("\n")
    if any(_BANNER.match(row) for row in rows):
        return True
    return any(row.startswith("#### ") for row in rows) and any(sign in head for sign in _SIGNS)


def read(name: str, data: bytes) -> Conversation:
    """Read one history file; it may hold many sessions, which stay one conversation as they share one file."""
    lines = split_lines(data)
    begun = [
        (number, f"{found[1]}T{found[2]}")
        for number, line in enumerate(lines)
        if line.text[:2] == "# " and (found := _BANNER.match(line.text))
    ]
    starts = [time for _, time in begun]
    prompts = _prompts(lines, [number for number, _ in begun])
    below = _below_a_message(lines, prompts)
    labels = _labels(lines, prompts, below, strict=bool(starts))
    turns = with_events(fold_turns(lines, labels), _events(lines, prompts, below))
    turns = doubt_in_fences(turns, lines)
    places = [lines[number].start for number, _ in begun]
    turns = tuple(
        replace(turn, time=starts[at - 1]) if (at := bisect_right(places, turn.start)) else turn for turn in turns
    )
    notices = [line.text for line in lines if line.text.startswith(("> Cur", "> Main", "> Model"))]
    folders = {found[1] for text in notices if (found := _FOLDER.match(text))}
    models = [found[1] for text in notices if (found := _MODEL.match(text))]
    folder = folders.pop() if len(folders) == 1 else ""
    began, model = starts[0] if starts else "", models[-1] if models else ""
    return Conversation(name, "aider", turns, first_line(turns), folder, started=began, model=model)


def _prompts(lines: Sequence[Line], banners: Sequence[int]) -> set[int]:
    """The numbers of the lines that were typed by the user. Whether blanks end a prompt is asked session by session;
    the tool's published pages have no banner, and there every such line is one."""
    marked = [number for number, line in enumerate(lines) if line.text[:5] in ("####", "#### ")]
    if not banners:
        return set(marked)
    found: set[int] = set()
    for first, last in zip([0, *banners], [*banners, len(lines)], strict=True):
        here = marked[bisect_left(marked, first) : bisect_left(marked, last)]
        blanks = {number for number in here if lines[number].text.endswith("  ")}
        # The last line of each prompt tells: those before it end in two blanks in every version.
        following = set(here)
        strict = any(number + 1 not in following for number in blanks)
        for number in here:
            if number in blanks or (not strict and (number - 1 in found or _below_the_tool(lines, number))):
                found.add(number)
    return found


def _below_the_tool(lines: Sequence[Line], number: int) -> bool:
    """Whether the line above, blank ones aside, is one of the tool or the session's banner, or there is none."""
    above = line_above(lines, number)
    return above < 0 or lines[above].text.startswith(">") or _BANNER.match(lines[above].text) is not None


def _below_a_message(lines: Sequence[Line], prompts: set[int]) -> set[int]:
    """The numbers of the lines that go on with a message of the tool: of a commit, of blocks that did not fit, or of
    the command that a question below them is about."""
    found: set[int] = set()
    for number, line in enumerate(lines):
        rows: list[int] = []
        if _GOES_ON.match(line.text):
            rows = list(range(number + 1, _last_of(lines, number, prompts) + 1))
        elif line.text.startswith(f"> {_ASKS_TO_RUN}"):
            first = number - 1
            while first > 0 and lines[first].text.strip() and lines[first].text[:1] not in (">", "#"):
                first -= 1
            rows = list(range(first + 1, number)) if lines[first].text.startswith("> ") else []
        found.update(rows)
    return found


def _last_of(lines: Sequence[Line], number: int, prompts: set[int]) -> int:
    """The line that ends the message which begins in this one; the same where none does."""
    for at in range(number + 1, len(lines)):
        text = lines[at].text
        if at in prompts or text.startswith("> ") or _BANNER.match(text):
            break
        if text.endswith("  ") and text.strip():
            return at
    return number


def _refused(lines: Sequence[Line], number: int, below: set[int]) -> Call | None:
    """What the user did not let aider do: the line is its question with their answer, below what it is about."""
    asked = _ASKED.match(lines[number].text)
    if asked is None or asked["answer"][:1].lower() not in ("n", "s", "d"):
        return None
    first = number - 1
    while first > 0 and (first in below or not lines[first].text.strip()):
        first -= 1
    rows = [lines[first].text[2:], *(lines[at].text for at in range(first + 1, number))]
    about = "\n".join(row.strip() for row in rows if row.strip())
    place: dict[str, Any] = {"answered": True, "failed": True, "refused": True}
    place |= {"start": lines[number].start, "end": lines[number].end}
    if not about or lines[first].text[:2] != "> " or "(Y)es/(N)o" in about or about.startswith(_NOTICES):
        return None
    if asked["what"].startswith(_ASKS_TO_RUN):
        return Command(tool="run", words=about, **place)
    if asked["what"].startswith(_ASKS_TO_WRITE):
        return Edit(tool="edit", path=about, **place)
    return FileRead(tool="add", path=about, **place) if asked["what"].startswith(_ASKS_TO_SHOW) else None


def _events(lines: Sequence[Line], prompts: set[int], below: set[int]) -> Iterator[Event]:
    allowed: dict[str, str] = {}
    for number, line in enumerate(lines):
        text = line.text
        place: dict[str, Any] = {"start": line.start, "end": line.end}
        if number in below and (missed := _NOT_FOUND.match(text)):
            output = "a block to replace was not found in the file"
            yield Edit(tool="edit", path=missed[1], answered=True, failed=True, output=output, **place)
        if text[:1] not in (">", "#"):
            continue
        if number in prompts and (typed := _RUN.match(text)):
            yield _run(typed[1], lines, number)
        if (asked := _ASKED.match(text)) and asked["what"].startswith(_ASKS_TO_WRITE) and asked["answer"][:1] in "yYaA":
            unseen = asked["what"].startswith(_UNSEEN)
            allowed[lines[number - 1].text[2:].strip()] = "changed without being in the chat" if unseen else "created"
        if "(Y)es/(N)o" in text and (refused := _refused(lines, number, below)):
            yield refused
        if edited := _EDITED.match(line.text):
            how = allowed.pop(edited[1], "")
            yield Edit(tool="edit", path=edited[1], how=how, answered=True, failed=False, **place)
        elif skipped := _SKIPPED.match(line.text):
            output = "skipped: .gitignore names the file"
            yield Edit(tool="edit", path=skipped[1], answered=True, failed=True, output=output, **place)
        elif committed := _COMMITTED.match(line.text):
            yield Commit(subject=committed[2], hash=committed[1], succeeded=True, **place)
        elif running := _RUNNING.match(line.text):
            yield Command(tool="run", words=running[1], **place)


def _run(words: str, lines: Sequence[Line], number: int) -> Command:
    """A command that the user had run, with what it printed."""
    last = first = line_below(lines, number)
    while last < len(lines) and lines[last].text.startswith(">") and not _ABOUT_OUTPUT.match(lines[last].text):
        last += 1
    rows = [line.text[2:].rstrip() for line in lines[first:last]]
    rows = rows[1:-1] if len(rows) > 1 and rows[0] == rows[-1] == "```" else rows
    event = Command(tool="run", words=words, start=lines[number].start, end=lines[number].end)
    if not any(rows):
        return event
    return replace(event, answered=True, output=shortened("\n".join(rows)), result=lines[first].start)


def _labels(lines: Sequence[Line], prompts: set[int], below: set[int], strict: bool) -> Iterator[Label]:
    before = ""
    # Words before the first banner or prompt are a page around the transcript, not the assistant.
    spoken = False
    edit = False
    for number, line in enumerate(lines):
        text = line.text
        prompt = number in prompts
        # In the text of an edit a quotation is nothing that the tool says, unless the answer was cut off there.
        edit = (
            number not in below
            and not prompt
            and (edit or text.startswith(_EDIT_BEGINS))
            and not text.startswith(_EDIT_ENDS)
        )
        if prompt and "(Y)es/(N)o" in text:
            # The answer to one of aider's own questions, kept with the question: nothing that the user said.
            yield Label("tool", text[5:].rstrip())
            kind = "tool"
        elif text[:2] == "# " and _BANNER.match(text):
            yield Label("system", None, opens=True)
            spoken, kind = strict, "banner"
        elif prompt:
            yield Label("user", text[5:].rstrip(), opens=before != "prompt")
            spoken, kind = True, "prompt"
        elif number in below:
            yield Label("tool", text.rstrip())
            kind = "tool"
        elif not edit and text[:1] == ">" and (text[1:2] == " " or text.rstrip() == ">"):
            yield Label("tool", text[2:].rstrip())
            kind = "tool"
        elif text.strip() == "" or text.startswith(("<div class=", "</div>", "<br/>")):
            yield Label("", text if text.strip() == "" else None)
            kind = "blank"
        else:
            yield Label("assistant" if spoken else "system", text)
            kind = "words"
        before = kind
