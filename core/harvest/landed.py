"""Did it land? What became of each line of a plan, asked by the taking away, by `knowledge review` and by what tells
that lines have vanished. The gate asks less (`lines.require_lines`): there nobody can have dealt with a line yet.

And which statements the plans of a run confirm: that is written down, and made again from the plans.

An editor that saves a text which it had loaded before a harvest swallows what the harvest wrote. Nobody can tell that
from a user who deletes a bullet, so what counts as the user's doing stands here, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from core.base import files
from core.base.entry import mark_of_key
from core.base.markdown import split_provenance
from core.base.paths import Paths
from core.knowledge.categories import CATEGORY_FILES, QUARANTINE
from core.knowledge.changes import Change, read_changes, removed_by_hand
from core.knowledge.confirmed import CONFIRMED as AGAIN
from core.knowledge.confirmed import Confirmations, read_confirmed, with_more, write_confirmed
from core.knowledge.file_notes import note_now
from core.knowledge.journal import FrozenPlan, read_plans
from core.knowledge.ledger import FORGOTTEN, seen_ledger
from core.knowledge.lines import PlannedFile, key_of, lines_in, missing_lines, statements_in
from core.knowledge.reversal import other_words, own_words

SHELF = (*CATEGORY_FILES, QUARANTINE)
"""A line that the user moved from its own file to one of these still stands."""
NOTES = "files/"
STANDS, CONFIRMED, REWORDED, DEALT_WITH, LOST = "stands", "confirmed", "reworded", "dealt with", "lost"
"""What can have become of a planned line: it stands; another says the same; one with its provenance stands there that
no harvest wrote; the user took it out (changes.jsonl tells) or moved it to another file; nobody knows."""


class Landed(NamedTuple):
    """One planned line and what became of it (one of the five); `file` is the name that the plan has for its file."""

    file: str
    line: str
    state: str


class Standing:
    """What stands in each file, and what was done to it, read once. `many` plans will be asked about: then the files
    are taken apart, so that most harvests are seen to be whole at one glance. Its methods raise OSError."""

    def __init__(self, paths: Paths, *, many: bool = False) -> None:
        self._paths, self._many = paths, many
        self._data: dict[str, bytes] = {}
        self._lines: dict[str, frozenset[str]] = {}
        self._said: dict[str, tuple[frozenset[str], ...]] = {}
        self._own: dict[str, list[str]] = {}

    def landed_in(self, plan: FrozenPlan, planned: PlannedFile) -> list[Landed]:
        """The lines that a plan has for one file."""
        found = {line: self._here(self.name_now(plan, planned), line, planned) for line in planned.all_lines}
        left = [line for line, state in found.items() if not state and not self._is_dealt_with(planned.name, line)]
        reworded = self._reworded(self.name_now(plan, planned, left), left) if left else set[str]()
        found |= {line: REWORDED if line in reworded else LOST for line in left}
        return [Landed(planned.name, line, state or DEALT_WITH) for line, state in found.items()]

    def confirmed(self, plan: FrozenPlan) -> Iterator[tuple[str, str]]:
        """The lines that another one says, each with the name that its file has now."""
        for row in plan.files:
            if not self.lines(row.name).issuperset(row.all_lines):
                name = self.name_now(plan, row)
                yield from ((name, line) for line in row.all_lines if self._here(name, line, row) == CONFIRMED)

    def has_all(self, plan: FrozenPlan) -> bool:
        """Whether every line stands, or one that says the same, in the files as the plan names them."""
        return all(self._here(row.name, line, row) for row in plan.files for line in row.all_lines)

    def lost(self, plan: FrozenPlan, *, in_part: bool = False) -> dict[str, list[str]]:
        """The lines that are lost, by file: of files that lost all that the plan had put there; `in_part` of those
        where some of it still stands, be it in other words. Single lines beside others of the same plan look like an
        edit by hand."""
        missing: dict[str, list[str]] = {}
        for row in plan.files:
            landed = self.landed_in(plan, row)
            if in_part == any(one.state in (STANDS, CONFIRMED, REWORDED) for one in landed):
                missing[row.name] = [one.line for one in landed if one.state == LOST]
        return {name: lines for name, lines in missing.items() if lines}

    def name_now(self, plan: FrozenPlan, planned: PlannedFile, lines: Sequence[str] = ()) -> str:
        """What a file of a plan is called by now: a note goes with its source file."""
        row = plan.notes.get(planned.name.removeprefix("files/"))
        return note_now(self._paths, planned.name, lines or planned.all_lines, row)

    def lines(self, name: str) -> frozenset[str]:
        """The whole lines of a file."""
        if name not in self._lines:
            self._lines[name] = frozenset(line.decode("utf-8", "replace") for line in lines_in(self._read(name)))
        return self._lines[name]

    def moved_to(self, name: str, line: str) -> str:
        """The file to which the user moved a line of that file: what it says stands there, from the same conversation,
        and no harvest wrote it there; "" for none. A file that cannot be read has none."""
        came, key = split_provenance(line[2:])[1], _said(line)
        for other in CATEGORY_FILES if came is not None else ():
            with suppress(OSError):
                if other == name or not any(key in one for one in self._says(other)):
                    continue
                rows = (row for row in self.lines(other) - self._wrote.get(other, set()) if _said(row) == key)
                places = [split_provenance(row[2:])[1] for row in rows]
                if any(place is not None and came is not None and place.source == came.source for place in places):
                    return "" if any(key in one for one in self._says(name)) else other
        return ""

    def _here(self, name: str, line: str, planned: PlannedFile) -> str:
        """How a line stands in a file, "" for not at all."""
        if line in self.lines(name) if self._many else not missing_lines(self._read(name), [line]):
            return STANDS
        return CONFIRMED if key_of(line) in self._says(name)[line not in planned.lines] else ""

    def _says(self, name: str) -> tuple[frozenset[str], ...]:
        if name not in self._said:
            self._said[name] = statements_in(name, self._read(name))
        return self._said[name]

    def _read(self, name: str) -> bytes:
        if name not in self._data:
            self._data[name] = files.read_or_empty(self._paths.knowledge / name)
        return self._data[name]

    def _is_dealt_with(self, name: str, line: str) -> bool:
        """Whether the user took a line out of that file, of a note whatever it was called then, or moved it; or the
        line that it confirmed."""
        key = _said(line)
        if (NOTES if name.startswith(NOTES) else name, key) in self._removed:
            return True
        moved = (other for other in SHELF if other != name)
        return any(line in self.lines(other) or any(key in one for one in self._says(other)) for other in moved)

    def _reworded(self, name: str, lost: Iterable[str]) -> set[str]:
        """The lost lines that stand in a file under other words that no harvest wrote, or of which one does that they
        confirmed."""
        if name not in self._own:
            wrote = {line for lines in self._harvested.values() for line in lines}
            self._own[name] = own_words(sorted(self.lines(name)), wrote)
        same = {line: (line, *self._harvested.get(_said(line), ())) for line in lost} if self._own[name] else {}
        found = other_words(dict.fromkeys(chain(*same.values())), self._own[name])
        return {line for line, others in same.items() if not found.keys().isdisjoint(others)}

    @cached_property
    def _changes(self) -> list[Change]:
        return read_changes(self._paths)

    @cached_property
    def _wrote(self) -> dict[str, set[str]]:
        """A file -> the lines that harvests wrote into it."""
        found: dict[str, set[str]] = {}
        for row in self._changes:
            if row.sha:
                found.setdefault(row.file, set()).update(row.added)
        return found

    @cached_property
    def _removed(self) -> set[tuple[str, str]]:
        """What the user took out, as file (all notes are one) and statement."""
        found = removed_by_hand(self._changes, said=_said)
        return {(NOTES if file.startswith(NOTES) else file, said) for file, said in found}

    @cached_property
    def _harvested(self) -> dict[str, set[str]]:
        """A statement -> the lines that harvests wrote and that say it."""
        found: dict[str, set[str]] = {}
        for line in {line for row in self._changes if row.sha for line in row.added}:
            found.setdefault(_said(line), set()).add(line)
        return found


def _said(line: str) -> str:
    return key_of(line) or line


# --- what is said again -----------------------------------------------------------------------------------------------


def tell_confirmed(paths: Paths, plans: Iterable[FrozenPlan]) -> None:
    """Add what the proven plans of a run say again. Repeating it changes nothing. Raises OSError."""
    rows = read_confirmed(paths)
    write_confirmed(paths, _with_plans(paths, rows if rows is not None else {}, plans))


def mend_confirmed(paths: Paths) -> str:
    """Make the list from the archived plans where it is missing, damaged or cannot be read; a sentence about the last,
    "" for nothing. Raises OSError."""
    note = ""
    if not paths.plans.is_dir():
        return note
    try:
        if read_confirmed(paths) is not None:
            return note
    except OSError as error:
        note = f"who said what again cannot be read ({error.strerror}); it was made again from the plans"
        files.remove_file(paths.state / AGAIN)
    make_confirmed(paths)
    return note


def make_confirmed(paths: Paths) -> None:
    """Make the list from the archived plans. Raises OSError."""
    names = [path.stem for path in sorted(paths.plans.glob("*.jsonl"))]
    forgotten = {sha for sha, entry in seen_ledger(paths).items() if entry.get("status") == FORGOTTEN}
    plans = (plan for name in names for sha, plan in read_plans(paths.plans, name).items() if sha not in forgotten)
    write_confirmed(paths, _with_plans(paths, {}, plans))


def _with_plans(paths: Paths, rows: Confirmations, plans: Iterable[FrozenPlan]) -> Confirmations:
    standing = Standing(paths, many=True)
    for plan in plans:
        for file, line in standing.confirmed(plan):
            if (came := split_provenance(line)[1]) is not None:
                with_more(rows, file, mark_of_key(key_of(line)), came)
    return rows
