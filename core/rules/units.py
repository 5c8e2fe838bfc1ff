"""A session cut into whole units of what was said in the end: a list item with its sub-items, sentences that belong
together, a paragraph of a commit's message. What of them is worth a line is decided elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.conversations.conversation import Turn
from core.conversations.events import MESSAGE, Commit
from core.rules.prose import Row, clean, sentences, whole
from core.rules.session import Session, rows_of

LONGEST, WHOLE_PARAGRAPH, LONGEST_LIST = 460, 240, 300
"""Characters of a unit, of a paragraph that stays together, and of a list that stands in one unit with its lead."""
SHORTEST, SHORTEST_UNBROKEN = 18, 8
_TRAILER = re.compile(r"^\s*(?:[A-Z][\w-]+-[Bb]y:|[A-Z][\w-]+: .*<.+@|🤖|Generated with|Test: ).*$", re.MULTILINE)
_ESCAPED = re.compile(r"\\([`\"$\\])")
LEANS = re.compile(
    r"^(?:this|that|these|those|it|its|they|so|hence|thus|therefore|otherwise|without (?:it|this|that)|but|however|"
    r"since then|with (?:this|that)|as a result|because|which|then|when (?:this|that|it|these|those)|"
    r"if (?:it|they|this|that)|the same|same|both|here|also|and|instead|now|there|the fix|the \w+ then|fix(?:ed)?:|"
    r"(?:suggested|recommended|proposed) (?:fix|cure|solution))\b",
    re.IGNORECASE,
)
"""How a sentence begins that goes on with the one before."""


@dataclass(frozen=True)
class Unit:
    """A piece of a message that says one thing. `text` is one line without markup, `quote` its longest line as it
    stands in the source; `place` is where it stands: user, closing or commit.

    `heading` is the heading, lead-in or parent item above it; `at` the number of its first line in the message,
    `share` how far down the message that is (0 to 1).
    """

    text: str
    quote: str
    turn: int
    place: str
    kind: str
    heading: str
    at: int
    share: float


def units_of(session: Session) -> list[Unit]:
    """All units of a session in spoken order: of the user, of closing messages and of commits. What an assistant says
    in the middle of its work is often refuted before its end."""
    closing = {row.number for row in session.closings}
    mine = {row.number: row.text for row in session.exchanges}
    made = {row.start for _, row in session.events if isinstance(row, Commit) and row.succeeded is not False}
    units: list[Unit] = []
    for number, turn in enumerate(session.conversation.turns):
        if turn.agent:
            continue
        if turn.role == "user":
            said = mine.get(number, "")
            pasted = said and 2 * len(said) < len(turn.text)  # what stands around it is prose
            units += [unit for unit in cut(said, number, "user") if not pasted or unit.kind == "prose"]
        elif number in closing:
            units += cut(turn.text, number, "closing")
        for command in turn.commands:
            if command.start in made and not command.failed and not command.refused:
                units += cut(_below_subject(command.words), number, "commit")
    return units


def _below_subject(line: str) -> str:
    """The words of a commit's message below its subject."""
    messages = [
        next(filter(None, said.group("here", "file", "double", "single")), "") for said in MESSAGE.finditer(line)
    ]
    if not messages:
        return ""
    body = "\n\n".join([messages[0].strip().partition("\n")[2], *messages[1:]])
    return _TRAILER.sub("", _ESCAPED.sub(r"\1", body))


def cut(text: str, turn: int, place: str) -> Iterator[Unit]:
    """The units of one message."""
    role = "user" if place == "user" else "assistant"
    rows = [row for row in rows_of(Turn(role, text), turn) if row.mark in ("", " ")]  # a ticked box tells what is done
    lines = text.split("\n")
    at = 0
    while at < len(rows):
        group = rows[at : at + 1 + _below(rows, lines, at)]
        at += len(group)
        yield from (unit for unit in _grouped(group, len(lines), place) if _says(unit.text))


def _below(rows: Sequence[Row], lines: Sequence[str], at: int) -> int:
    """How many rows behind one belong below it: deeper items, or the list that a line with a colon leads to."""
    row, depth = rows[at], _depth(rows[at], lines)
    leads = row.kind == "prose" and row.text.endswith((":", "："))
    if row.kind == "prose" and not leads:
        return 0
    end = at + 1
    while end < len(rows) and (_depth(rows[end], lines) > depth or (leads and rows[end].kind != "prose")):
        end += 1
    return end - at - 1


def _depth(row: Row, lines: Sequence[str]) -> int:
    line = lines[row.at] if row.at < len(lines) else ""
    return len(line) - len(line.lstrip())


def _grouped(group: Sequence[Row], lines: int, place: str) -> Iterator[Unit]:
    first, *more = group
    lead = clean(first.text)
    told = f"{lead.rstrip(' .:：')}: {'; '.join(clean(row.text).rstrip(' .;') for row in more)}" if more else lead

    def unit(text: str, quote: str, row: Row, heading: str) -> Unit:
        return Unit(text, quote, row.turn, place, row.kind, heading, row.at, row.at / max(1, lines))

    if more and len(told) <= (LONGEST if first.kind != "prose" else LONGEST_LIST):
        yield unit(told, max((whole(row).quote for row in group), key=len), first, first.heading)
        return
    if more:
        if first.kind != "prose" and not lead.endswith((":", "：")):
            yield unit(lead, whole(first).quote, first, first.heading)
        for row in more:
            for text, quote in _parts(row):
                yield unit(text, quote, row, lead if len(lead) <= 120 else first.heading)
        return
    for text, quote in _parts(first):
        yield unit(text, quote, first, "" if first.heading == lead.rstrip(":：") else first.heading)


def _parts(row: Row) -> Iterator[tuple[str, str]]:
    """A paragraph or item as one unit where it is short, else by its sentences, each with those that lean on it."""
    text = clean(row.text)
    said = list(sentences(row))
    if len(text) <= (WHOLE_PARAGRAPH if row.kind == "prose" else LONGEST) or not said:
        if len(text) <= LONGEST:
            yield text, max((part.quote for part in said), key=len, default=whole(row).quote)
        return
    at = 0
    while at < len(said):
        text, quote = said[at].text, said[at].quote
        at += 1
        while at < len(said) and LEANS.match(said[at].text) and len(text) + len(said[at].text) < LONGEST:
            text = f"{text} {said[at].text}"
            at += 1
        yield text, quote


def _says(text: str) -> bool:
    least = SHORTEST if text.isascii() else SHORTEST_UNBROKEN
    return len(text) >= least and any(char.isalpha() for char in text)
