"""OpenCode's sessions as its `/export` writes them: markdown, for people.

A heading, `**Session ID:** ses_…`, then messages between `---` lines: `## User`, `## Assistant (Build · model · 9.1s)`.
A call stands as `**Tool: name**` with its `**Input:**` and its `**Output:**` or `**Error:**`, each in a fence; what the
model thought behind `_Thinking:_`. Nothing marks the end of an output but its fence, and an output is written as it is.
So the first fence behind its opener ends it, and only where that is the last one up to the next call: where an output
holds a mark or another fence, or one stands in what is said behind it, who speaks from there on is in doubt, and so is
what ran. An output that copies a whole call, with each of its fences, cannot be told from a real one.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

from core.conversations.conversation import Conversation
from core.conversations.days import written_day
from core.conversations.lines import Line, code_fences, split_lines
from core.conversations.records import parse_object
from core.conversations.turns import Reading

_SESSION = re.compile(r"^\*\*Session ID:\*\* (ses_\w+)$", re.MULTILINE)
_SPEAKS = re.compile(r"## (?:(User)|Assistant(?: \(([^\n]{1,200})\))?)$")
_TOOL = re.compile(r"\*\*Tool: ([\w.:/-]{1,200})\*\*$")
_GIVEN, _BACK = "**Input:**", ("**Output:**", "**Error:**")
_THINKING = "_Thinking:_"
_TO_ITSELF = re.compile(
    r"\b(?:I should|[Ll]et me (?!know)|ask them|The user (?:is |was )?(?:asking|asked|wants?|said|says|sent|typed|"
    r"pasted|getting|trying|running|about to))\b"
)
"""What a model says of who asks, and nobody says to them."""
_CREATED = re.compile(r"^\*\*Created:\*\* (.+?)\s*$", re.MULTILINE)
_SLASHED = re.compile(r"(\d{1,2})/(\d{1,2})/(20\d\d)(?!.*[AP]M$)")
"""A day as `toLocaleString` writes it: with slashes only the clock of the United States, which says AM and PM in
capitals, sets the month first."""
_GOES_ON = re.compile(r"\[(?:TodoContinuation|SYSTEM (?:REMINDER|DIRECTIVE)\b[^\]\n]*)\]")
"""How plugins begin what they send in the user's name so that an idle session goes on."""


def sniff(head: str) -> bool:
    """A heading, and the id of a session below it."""
    return head.startswith("# ") and _SESSION.search(head[:1000]) is not None


def read(name: str, data: bytes) -> Conversation:
    """Read one export. It tells no time but the day of its begin, as the machine of the user writes it."""
    lines = split_lines(data)
    inside, unsure = _fenced(lines)
    marks = [at for at in _marks(lines) if lines[at].start not in inside]
    reading, doubted = Reading(), lines[unsure].start if unsure < len(lines) else len(data)
    for at, after in pairwise([*marks, len(lines)]):
        spoke = _SPEAKS.match(lines[at].text)
        rows = lines[at + 1 : after]
        while rows and (not rows[-1].text.strip() or rows[-1].text == "---"):
            rows.pop()
        if spoke is None or not rows:
            continue
        if spoke[1]:
            reading.place = ("", lines[at].start, rows[-1].end)
            asked = _text(rows)
            (reading.remind if _GOES_ON.match(asked) else reading.person)(asked)
            whole = code_fences(rows).open == len(rows)
        else:
            reading.model = (spoke[2] or "").split(" · ")[1] if (spoke[2] or "").count(" · ") else reading.model
            whole = _read_answer(rows, reading, inside)
        doubted = doubted if whole else min(doubted, lines[at].start)
    head = data[:1000].decode("utf-8", "replace").replace("\r\n", "\n")
    session = _SESSION.search(head)
    found = reading.conversation(
        name, "opencode", id=session[1] if session else "", title=lines[0].text.lstrip("# ") if lines else ""
    )
    turns = (
        turn
        if turn.start < doubted or (turn.role == "tool" and not turn.is_call)
        else replace(turn, doubtful=True, events=() if turn.is_call else turn.events)  # nothing tells that it ran
        for turn in found.turns
    )
    created = _CREATED.search(head)
    day = written_day(_SLASHED.sub(r"\1.\2.\3", created[1])) if created else ""
    return replace(found, turns=tuple(turns), started=day)


def _marks(lines: list[Line]) -> list[int]:
    return [at for at in range(2, len(lines)) if lines[at - 2].text == "---" and _SPEAKS.match(lines[at].text)]


def _fenced(lines: list[Line]) -> tuple[frozenset[int], int]:
    """Where the lines begin that stand in the fence of an input or an output, and the line of the first output whose
    end is not certain (else the number of lines)."""
    inside, at, output, unsure = set[int](), 0, -1, len(lines)
    marks = set(_marks(lines))
    while at < len(lines):
        text = lines[at].text
        fence = lines[at + 1].text if at + 1 < len(lines) else ""
        if text not in (_GIVEN, *_BACK) or not fence.startswith("```"):
            if output >= 0 and text.lstrip(" \t>").startswith(("```", "~~~")):
                unsure = min(unsure, output)
            at += 1
            continue
        output = at if text in _BACK else output
        first = at = at + 2
        while at < len(lines) and lines[at].text != "```":
            shown = lines[at].text
            if output >= 0 and (at in marks or _TOOL.match(shown) or shown.lstrip(" \t>").startswith(("```", "~~~"))):
                unsure = min(unsure, output)
            at += 1
        if at == len(lines):
            unsure = min(unsure, output if output >= 0 else first - 2)
        inside.update(line.start for line in lines[first : at + 1])
        at += 1
    return frozenset(inside), unsure


def _read_answer(rows: list[Line], reading: Reading, inside: frozenset[int]) -> bool:
    """One message of the assistant; False where a fence in it is missing. Lines that are `inside` a fence of a call are
    no marks."""
    calls = [at for at, row in enumerate(rows) if row.start not in inside and _TOOL.match(row.text)]
    said = rows[: calls[0]] if calls else rows
    whole = _say(said, reading, acts=bool(calls))
    for at, after in pairwise([*calls, len(rows)]):
        part = rows[at:after]
        back = next((at for at, row in enumerate(part) if row.text in _BACK and row.start not in inside), len(part))
        first = next((at for at in range(back + 2, len(part)) if part[at].text == "```"), -1)
        given_end = next((at for at in range(4, back) if part[at].text == "```"), -1)
        closed = first if back < len(part) else given_end
        ended = closed + 1 if closed >= 0 else len(part)
        whole = whole and closed >= 0
        reading.place = ("", part[0].start, part[ended - 1].end)
        back = min(back, ended)
        name = _TOOL.match(part[0].text)
        given = [row for row in part[1:back] if row.text and row.text != _GIVEN and not row.text.startswith("```")]
        reading.call(name[1] if name else "", parse_object(_text(given)) or _text(given), id=str(part[0].start))
        failed = back < ended and part[back].text == "**Error:**"
        reading.result(_text(part[back + 2 : ended - 1]), id=str(part[0].start), failed=failed or None)
        whole = _say(part[ended:], reading, acts=after < len(rows)) and whole
    return whole


def _say(rows: list[Line], reading: Reading, *, acts: bool) -> bool:
    """Words between calls. What is thought stands before what is said, and nothing parts them but a call."""
    if rows:
        reading.place = ("", rows[0].start, rows[-1].end)
        thinks = next((at for at, row in enumerate(rows) if row.text == _THINKING), len(rows))
        says = len(rows) if acts else thinks + 1 + _thought(rows[thinks + 1 :])
        reading.say("assistant", _text(rows[:thinks]))
        reading.say("system", _text(rows[thinks + 1 : says]))
        reading.say("assistant", _text(rows[says:]))
    return code_fences(rows).open == len(rows)


def _thought(rows: list[Line]) -> int:
    """How many of these rows are surely a thought: the first paragraph, with the one below its title, and all to the
    last but one in which the model speaks to itself."""
    ends = [at for at, row in enumerate(rows) if at and not row.text.strip() and rows[at - 1].text.strip()]
    ends = ends if rows and not rows[-1].text.strip() else [*ends, len(rows)]
    titled = next((row.text for row in rows if row.text.strip()), "").startswith("**")
    if len(ends) < 2 + titled:
        return len(rows) if not titled else ends[0] if ends else 0
    own = [at for at, row in enumerate(rows[: ends[-2]]) if _TO_ITSELF.search(row.text)]
    return next(end for end in ends if end >= max(ends[titled], *own, 0))


def _text(rows: list[Line]) -> str:
    return "\n".join(row.text for row in rows).strip("\n")
