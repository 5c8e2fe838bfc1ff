"""OpenCode's sessions as its `/export` writes them: markdown, for people.

A heading, `**Session ID:** ses_…`, then messages between `---` lines: `## User`, `## Assistant (Build · model · 9.1s)`.
A call stands as `**Tool: name**` with its `**Input:**` and its `**Output:**` or `**Error:**`, each in a fence; what the
model thought behind `_Thinking:_`. Nothing marks the end of an output but its fence, so the last fence of its part ends
it. Where one is missing, or left open by what is said, an output may have shown the marks: who speaks from there on is
in doubt.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

from core.conversations.conversation import Conversation
from core.conversations.lines import Line, code_fences, split_lines
from core.conversations.records import parse_object
from core.conversations.turns import Reading

_SESSION = re.compile(r"^\*\*Session ID:\*\* (ses_\w+)$", re.MULTILINE)
_SPEAKS = re.compile(r"## (?:(User)|Assistant(?: \(([^\n]{1,200})\))?)$")
_TOOL = re.compile(r"\*\*Tool: ([\w.:/-]{1,200})\*\*$")
_GIVEN, _BACK = "**Input:**", ("**Output:**", "**Error:**")
_THINKING = "_Thinking:_"


def sniff(head: str) -> bool:
    """A heading, and the id of a session below it."""
    return head.startswith("# ") and _SESSION.search(head[:1000]) is not None


def read(name: str, data: bytes) -> Conversation:
    """Read one export. Its times are written as the machine of the user writes them, and are left out."""
    lines = split_lines(data)
    marks = [at for at in range(2, len(lines)) if lines[at - 2].text == "---" and _SPEAKS.match(lines[at].text)]
    reading, doubted = Reading(), len(data)
    for at, after in pairwise([*marks, len(lines)]):
        spoke = _SPEAKS.match(lines[at].text)
        rows = lines[at + 1 : after]
        while rows and (not rows[-1].text.strip() or rows[-1].text == "---"):
            rows.pop()
        if spoke is None or not rows:
            continue
        if spoke[1]:
            reading.place = ("", lines[at].start, rows[-1].end)
            reading.person(_text(rows))
            whole = code_fences(rows).open == len(rows)
        else:
            reading.model = (spoke[2] or "").split(" · ")[1] if (spoke[2] or "").count(" · ") else reading.model
            whole = _read_answer(rows, reading)
        doubted = doubted if whole else min(doubted, lines[at].start)
    head = data[:1000].decode("utf-8", "replace").replace("\r\n", "\n")
    session = _SESSION.search(head)
    found = reading.conversation(
        name, "opencode", id=session[1] if session else "", title=lines[0].text.lstrip("# ") if lines else ""
    )
    turns = (
        replace(turn, doubtful=True) if turn.start >= doubted and turn.role != "tool" else turn for turn in found.turns
    )
    return replace(found, turns=tuple(turns))


def _read_answer(rows: list[Line], reading: Reading) -> bool:
    """One message of the assistant; False where a fence in it is missing."""
    calls = [at for at, row in enumerate(rows) if _TOOL.match(row.text)]
    said = rows[: calls[0]] if calls else rows
    whole = _say(said, reading, acts=bool(calls))
    for at, after in pairwise([*calls, len(rows)]):
        part = rows[at:after]
        fences = [number for number, row in enumerate(part) if row.text.startswith("```")]
        ended = fences[-1] + 1 if len(fences) > 1 and part[fences[-1]].text == "```" else len(part)
        whole = whole and (not fences or ended == fences[-1] + 1)
        reading.place = ("", part[0].start, part[ended - 1].end)
        back = next((number for number in range(ended) if part[number].text in _BACK), ended)
        name = _TOOL.match(part[0].text)
        given = [row for row in part[1:back] if row.text and row.text != _GIVEN and not row.text.startswith("```")]
        reading.call(name[1] if name else "", parse_object(_text(given)) or _text(given), id=str(part[0].start))
        failed = back < ended and part[back].text == "**Error:**"
        reading.result(_text(part[back + 2 : ended - 1]), id=str(part[0].start), failed=failed or None)
        whole = _say(part[ended:], reading, acts=after < len(rows)) and whole
    return whole


def _say(rows: list[Line], reading: Reading, *, acts: bool) -> bool:
    """Words between calls. Nothing ends a thought but a call: behind one that no call follows stands the answer, and
    both are read as such."""
    if rows:
        reading.place = ("", rows[0].start, rows[-1].end)
        thinks = next((at for at, row in enumerate(rows) if row.text == _THINKING), len(rows))
        reading.say("assistant", _text(rows[:thinks]))
        reading.say("system" if acts else "assistant", _text(rows[thinks + 1 :]))
    return code_fences(rows).open == len(rows)


def _text(rows: list[Line]) -> str:
    return "\n".join(row.text for row in rows).strip("\n")
