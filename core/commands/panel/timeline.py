"""Conversations and what they taught, by day: what a window draws a year of. And what harvests have cost.

What was taught is counted in the files as they are now, by the provenance of each line; the ledger says which
conversations there were, of which tool and project. So every figure here agrees with the files beside it.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from core.base.answer import price
from core.base.markdown import sanitise_name
from core.commands.history.ledger import LedgerRow
from core.commands.panel.bullets import all_bullets
from core.commands.panel.conversations import name_of
from core.commands.panel.titles import NO_TOOL, UNCALLED, Called, Titles, called
from core.commands.statements import Found
from core.commands.workspace import Workspace
from core.knowledge.ledger import UNDONE

HARVESTED, FAILED, TOO_LARGE, TRASHED, LOST = "harvested", "harvest-failed", "too-large", "trashed", "lost"
"""What became of a conversation: it was read; it stays, for it could not be read or is too large; it went unread, into
the trash or for good."""
FATE_WORDS: Mapping[str, str] = MappingProxyType({
    FAILED: "failed, not read", TOO_LARGE: "too large, not read", TRASHED: "in the trash, unread", LOST: "lost unread",
    UNDONE: "undone by you",
})  # fmt: skip
"""The same in words, for what was not read."""


@dataclass(frozen=True)
class Line:
    """One line of the files: who told it (the name in its provenance, "" for the user's own), when, and its
    category."""

    source: str
    day: date | None
    category: str


NO_LINES: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Talk:
    """One conversation: its key in the ledger ("" for one that only provenances tell of), what it is called, its day,
    what became of it, and its lines that stand in the files, by category."""

    key: str
    called: Called
    day: date
    name: str = ""
    fate: str = HARVESTED
    lines: Mapping[str, int] = field(default_factory=lambda: NO_LINES)

    @property
    def kept(self) -> int:
        """How many of its lines stand in the files."""
        return sum(self.lines.values())


@dataclass(frozen=True)
class Timeline:
    """All conversations with a day, the oldest first, and the lines without a conversation (the user's own): all of
    them, and those whose day is known by that day."""

    talks: tuple[Talk, ...] = ()
    own: Mapping[str, int] = field(default_factory=dict)
    own_days: Mapping[date, Mapping[str, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class RunCost:
    """What the conversations of one run took: `dollars` None where no price is known."""

    run: str
    model: str
    conversations: int
    sent: int
    received: int
    dollars: float | None


def lines_now(workspace: Workspace, before: tuple[Line, ...] | None = None) -> tuple[Line, ...]:
    """Every line that stands in the files, struck ones and held ones left out; `before` itself when nothing changed."""
    now = tuple(_line(row) for row in all_bullets(workspace).rows if not row.bullet.struck)
    return before if before == now and before is not None else now


def _line(row: Found) -> Line:
    came = row.bullet.provenance
    if came is None:
        return Line("", None, row.category)
    return Line("" if came.source == "by-hand" else came.source, day_of(came.date), row.category)


def day_of(text: str) -> date | None:
    """The day in an ISO date or time, None for anything else."""
    return _day(text[:10])


@lru_cache(maxsize=4096)  # thousands of conversations are of one day, and share it
def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def timeline(rows: Sequence[LedgerRow], names: Titles, lines: Iterable[Line], trash: Path) -> Timeline:
    """The conversations of a ledger, `rows` with the newest first, with their lines. Looks at the disk only for those
    that were not read: whether they are still there, or in the folder `trash`."""
    own: Counter[str] = Counter()
    own_days: dict[date, Counter[str]] = {}
    by_source: dict[str, Counter[str]] = {}
    days: dict[str, date] = {}
    for line in lines:
        if line.source and line.day is not None:
            by_source.setdefault(line.source, Counter())[line.category] += 1
            days[line.source] = max(days.get(line.source, line.day), line.day)
        else:
            own[line.category] += 1
            if line.day is not None:
                own_days.setdefault(line.day, Counter())[line.category] += 1
    talks: list[Talk] = []
    for row in rows:
        known = called(row.entry, names.by_key.get(row.key))
        at = (day_of(known.day) if known.day else None) or day_of(str(row.entry.get("at") or ""))
        fate = fate_of(row.entry, trash)
        if at is None or not fate:
            continue
        name = name_of(row.entry)
        # A conversation that went on has an entry for each of its harvests: its lines are counted with the newest.
        given = (by_source.pop(name, None) or by_source.pop(sanitise_name(name), None)) if by_source else None
        talks.append(Talk(row.key, known, at, name, fate, given or NO_LINES))
    talks += [
        Talk("", names.by_name.get(name, UNCALLED), days[name], name, HARVESTED, by_source[name]) for name in by_source
    ]
    return Timeline(tuple(sorted(talks, key=lambda talk: talk.day)), dict(own), own_days)


def fate_of(entry: Mapping[str, Any], trash: Path) -> str:
    """What became of a conversation, "" for what was none (a leftover that was pruned)."""
    status = str(entry.get("status"))
    if status == "harvested":
        return HARVESTED
    if status not in (FAILED, TOO_LARGE, UNDONE, "deleted-unharvested"):
        return ""
    path = str(entry.get("path") or "")
    in_store = str(entry.get("source") or "") not in NO_TOOL and "#" in path
    if status != "deleted-unharvested" and (in_store or os.path.exists(path)):
        return status
    held = entry.get("trash")
    in_trash = isinstance(held, dict) and any((trash / str(name)).exists() for name in held)
    return TRASHED if in_trash else LOST


def costs(rows: Iterable[LedgerRow], override: tuple[float, float] | None = None) -> list[RunCost]:
    """What each run took, the oldest first, by what the providers reported."""
    found: dict[tuple[str, str, str], list[int]] = {}
    for row in rows:
        entry = row.entry
        sent, received = _number(entry.get("input_tokens")), _number(entry.get("output_tokens"))
        run, provider = str(entry.get("run") or ""), str(entry.get("provider") or "")
        if run and provider:
            sums = found.setdefault((run, provider, str(entry.get("model") or "")), [0, 0, 0])
            for at, more in enumerate((1, sent, received)):
                sums[at] += more
    made = [
        RunCost(run, model or provider, number, sent, received, price(provider, model, sent, received, override))
        for (run, provider, model), (number, sent, received) in found.items()
    ]
    return sorted(made, key=lambda one: one.run)


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
