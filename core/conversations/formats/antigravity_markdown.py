"""Antigravity's conversations as its "Export" writes them: markdown, for people. Windsurf's Cascade writes the same.

`# Chat Conversation`, a note, then sections below `### User Input` and `### Planner Response`. What the agent did
stands in italics behind the words of a section, also of the user's: `*User accepted the command `make`*`, `*Edited
relevant file*`, `*Viewed [a.py](file:///srv/a.py) *`. What came back is not told, nor which file was edited. Words are
written as they are: of a line that looks like a deed only those behind the last words of their section are some, and
what was done in a fence, or behind the head of another export, is in doubt, and so is all that the user said: an
answer can hold a section of that name. The maker does not document the format; this
follows public exports.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from core.conversations.conversation import Conversation
from core.conversations.events import Call
from core.conversations.lines import Line, code_fences, split_lines, users_in_doubt
from core.conversations.plain import is_marked
from core.conversations.turns import Reading, path_of

_TITLE = re.compile(r"# (?:Cascade )?Chat Conversation$")
_NOTE = re.compile(r" {0,2}Note: _This is purely the output of the chat conversation\b")
_SPEAKS = {"### User Input": "user", "### Planner Response": "assistant"}
_COMMAND = re.compile(r"\*User (accepted|rejected) the command `")
_COMMAND_END = "`*"
_DEED = re.compile(
    r"\*(?:(?P<file>Viewed|Analyzed|Listed directory) \[(?P<name>[^\n]*)\]\((?P<address>[^()\n]*)\) |"
    r"(?P<asked>Searched web for|Read URL content from) (?P<words>[^\n]*)|"
    r"(?P<edited>Edited relevant file)|(?P<searched>Grep searched codebase|Searched filesystem)|"
    r"(?:Checked command status|Updated todo list|Viewed code item|Viewed content chunk|Ran preview|Generated image|"
    r"Read terminal output: [^\n]*))\*$"
)
_TOOLS = {
    "Viewed": "view_file",
    "Analyzed": "view_file",
    "Listed directory": "list_dir",
    "Searched web for": "search_web",
    "Read URL content from": "read_url_content",
    "Edited relevant file": "replace_file_content",
    "Grep searched codebase": "grep_search",
    "Searched filesystem": "find_by_name",
}
"""The tool of each deed, as Antigravity's own transcripts name it."""
_DRIVE = re.compile(r"^/(?=[A-Za-z]:)")
_BY_THE_TOOL = "This is a system-generated message that is sent due to the user's review policy"
_HEAD_LINES = 40
"""The lines within which the title stands; a program that keeps exports may put its own above."""


class _Deed(NamedTuple):
    """What was done, in the lines from `first` to `last`."""

    first: int
    last: int


def sniff(head: str) -> bool:
    """The title, with the note below it."""
    rows = [row.rstrip() for row in head.split("\n")[:_HEAD_LINES]]
    at = _titled(rows)
    return at >= 0 and not any(row.startswith("```") or is_marked(row) for row in rows[:at])


def _titled(rows: Sequence[str]) -> int:
    """The row of the title that has the note as the next words below it; -1 for none."""
    for at, row in enumerate(rows):
        below = next((other for other in rows[at + 1 : at + 4] if other.strip()), "")
        if _TITLE.match(row) and _NOTE.match(below):
            return at
    return -1


def read(name: str, data: bytes) -> Conversation:
    """Read one export; it tells no times, and no folder."""
    lines = split_lines(data)
    rows = [line.text.rstrip() for line in lines]
    heads = [at for at, row in enumerate(rows) if _TITLE.match(row) and _titled(rows[at : at + 4]) == 0]
    begin = heads[0] if heads else 0
    marks = [at for at in range(begin, len(rows)) if rows[at] in _SPEAKS and (at == 0 or not rows[at - 1])]
    fences, ends = code_fences(lines), _command_ends(rows)
    unsure = min(fences.open, *heads[1:2], len(rows))
    reading = Reading()
    for at, after in pairwise([begin, *marks, len(rows)]):
        role = _SPEAKS.get(rows[at], "") if at in marks else ""
        first = at + 1 if role else _behind_note(rows, begin)
        deeds = _deeds(rows, first, after, ends)
        before = len(reading.entries)
        _say(lines[at : deeds[0].first if deeds else after], role, reading)
        doubted = at in fences.inside or at >= unsure
        for deed in deeds:
            reading.place = ("", lines[deed.first].start, lines[deed.last].end)
            _do("\n".join(rows[deed.first : deed.last + 1]), reading, ran=not doubted)
        for entry in reading.entries[max(before - 1, 0) :] if doubted else ():
            entry.doubtful = entry.end > lines[at].start
    found = reading.conversation(name, "antigravity")
    return replace(found, turns=users_in_doubt(found.turns))


def _behind_note(rows: Sequence[str], begin: int) -> int:
    """The line behind the head of the export; `begin` where there is none."""
    return next((at + 1 for at in range(begin, min(begin + 4, len(rows))) if _NOTE.match(rows[at])), begin)


def _command_ends(rows: Sequence[str]) -> list[int]:
    """For each line the first one from it on that ends as a command does; the number of lines for none."""
    ends, end = [0] * len(rows), len(rows)
    for at in range(len(rows) - 1, -1, -1):
        end = at if rows[at].endswith(_COMMAND_END) else end
        ends[at] = end
    return ends


def _deeds(rows: Sequence[str], first: int, after: int, ends: Sequence[int]) -> list[_Deed]:
    """What was done in a section: below its last words, one deed a paragraph."""
    found: list[_Deed] = []
    at = first
    while at < after:
        if rows[at]:
            command = _COMMAND.match(rows[at])
            last = ends[at] if command else at
            told = last < after and (command or _DEED.match(rows[at]))
            if told and not (at and rows[at - 1]) and not (last + 1 < len(rows) and rows[last + 1]):
                found.append(_Deed(at, last))
                at = last
            else:
                found.clear()
        at += 1
    return found


def _say(lines: Sequence[Line], role: str, reading: Reading) -> None:
    """The words of a section, its mark among the lines; nobody said what stands above the first one."""
    if not role or not lines:
        return
    reading.place = ("", lines[0].start, lines[-1].end)
    words = "\n".join(line.text for line in lines[1:]).strip("\n")
    if role == "user":
        (reading.remind if words.startswith(_BY_THE_TOOL) else reading.person)(words)
    else:
        reading.say(role, words)


def _do(text: str, reading: Reading, *, ran: bool) -> None:
    """One deed. Whether it `ran` nobody knows where the section is in doubt; then it is only told."""
    command, deed = _COMMAND.match(text), _DEED.match(text)
    if command and ran:
        reading.call("run_command", {"CommandLine": text[command.end() : -len(_COMMAND_END)]})
        event = reading.entries[-1].events[-1]
        if command[1] == "rejected" and isinstance(event, Call):
            reading.entries[-1].events[-1] = replace(event, failed=True, refused=True)
        return
    reading.say("tool", text.strip("*").strip())
    tool = _TOOLS.get(deed["file"] or deed["asked"] or deed["edited"] or deed["searched"] or "") if deed else ""
    if deed and tool and ran:
        path = _DRIVE.sub("", path_of(deed["address"]))
        given = {"AbsolutePath": path, "Query": (deed["words"] or "").strip()}
        reading.called(tool, {key: value for key, value in given.items() if value})
