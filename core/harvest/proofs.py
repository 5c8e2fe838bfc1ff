"""Which contents have a committed plan, and whether its lines still stand: the proof without which no conversation is
taken away.

Lines that have vanished from the files without a word are found at the start of a run, and told once.

An editor that saves a text which it had loaded before a harvest swallows what the harvest wrote. Nobody can tell that
from a user who deletes a bullet, so nothing is put back by itself: the run says so once, and `knowledge review` puts
the lines back or writes down that they are gone on purpose. Until then their conversations stay in the trash.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from core.base import files
from core.base.markdown import Provenance, parse_bullets, split_provenance
from core.base.paths import Paths
from core.knowledge.categories import CATEGORY_FILES, QUARANTINE
from core.knowledge.changes import read_changes, removed_by_hand
from core.knowledge.file_notes import note_now
from core.knowledge.journal import FrozenPlan, read_plans
from core.knowledge.ledger import Entries, Entry
from core.knowledge.lines import PlannedFile, lines_in, missing_lines

ARCHIVES_IN_MEMORY = 4
SHELF = (*CATEGORY_FILES, QUARANTINE)
"""A line that the user moved from its own file to one of these still stands."""


class Proofs:
    """Committed plans of this run and of archived ones. Reads an archive once, not once for each conversation."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._fresh: dict[str, FrozenPlan] = {}
        self._archives: dict[str, dict[str, FrozenPlan]] = {}

    def add(self, sha256: str, plan: FrozenPlan) -> None:
        """A plan that was proven in this run."""
        self._fresh[sha256] = plan

    def plan(self, sha256: str, entry: Mapping[str, Any] | None) -> FrozenPlan | None:
        """The plan whose lines were read back, or None. `entry` is what the ledger says. Raises OSError."""
        if sha256 in self._fresh:
            return self._fresh[sha256]
        if entry is None or entry.get("status") != "harvested":
            return None
        run = str(entry.get("run", ""))
        if run not in self._archives:
            if len(self._archives) >= ARCHIVES_IN_MEMORY:
                self._archives.pop(next(iter(self._archives)))
            self._archives[run] = read_plans(self._paths.plans, run)
        return self._archives[run].get(sha256)

    def is_proven(self, sha256: str, entry: Mapping[str, Any] | None) -> bool:
        return self.plan(sha256, entry) is not None

    def has_vanished(self, plan: FrozenPlan) -> bool:
        """Whether every file of the plan lost all of it: then not even a move into the trash is right."""
        return len(self.lost(plan)) == sum(bool(row.all_lines) for row in plan.files) > 0

    def why_vanished(self, plan: FrozenPlan) -> str:
        """What the files lost of this harvest, in words, "" while nothing is lost. Raises OSError.

        Lost is all that a plan had put into one file, when no line of it is left there and not everything that is
        missing is told as the user's doing: the mark of an editor that saved a stale buffer, or of a file that is
        gone. Dealt with by the user, and no loss, is

        - a line that changes.jsonl tells as removed or replaced (`knowledge rm`, the panel, an undo);
        - a line that stands in another category file or in the quarantine;
        - a line that was reworded in an editor: a bullet with its provenance stands there that no harvest wrote;
        - single missing lines beside others of the same plan and file that stand: so looks an edit by hand.
        """
        lost = self.lost(plan)
        number = sum(map(len, lost.values()))
        where = " and ".join(lost)
        return f"{number} line{'s' * (number != 1)} of its harvest vanished from {where}" if lost else ""

    def lost(self, plan: FrozenPlan, standing: Standing | None = None) -> dict[str, list[str]]:
        """The lines of the plan that are lost in each file, as `why_vanished` has it; only files with any. `standing`
        are the files as they were read already, where many plans are asked about. Raises OSError."""
        lost = [(row.name, absent) for row in plan.files if (absent := self._absent(plan, row, standing))]
        return self._left(lost, plan, standing)

    def lost_in_part(self, plan: FrozenPlan, standing: Standing) -> dict[str, list[str]]:
        """As `lost`, for files where other lines of the plan still stand. Raises OSError."""
        found = []
        for row in plan.files:
            there = standing.lines(self.name_now(plan, row.name, row.all_lines))
            absent = [line for line in row.all_lines if line not in there]
            if 0 < len(set(absent)) < len(set(row.all_lines)):
                found.append((row.name, absent))
        return self._left(found, plan, standing)

    def _left(
        self, lost: list[tuple[str, list[str]]], plan: FrozenPlan, standing: Standing | None
    ) -> dict[str, list[str]]:
        """Of absent lines those that nobody dealt with, by file."""
        if not lost:
            return {}
        standing = standing or Standing(self._paths)
        missing: dict[str, list[str]] = {}
        for name, absent in lost:
            left = [line for line in absent if not standing.is_dealt_with(name, line)]
            if left and not standing.is_reworded(self.name_now(plan, name, left), left):
                missing[name] = left
        return missing

    def name_now(self, plan: FrozenPlan, name: str, lines: Sequence[str]) -> str:
        """What a file of a plan is called by now: a note goes with its source file. Raises OSError."""
        return note_now(self._paths, name, lines, plan.notes.get(name.removeprefix("files/")))

    def _absent(self, plan: FrozenPlan, planned: PlannedFile, standing: Standing | None) -> list[str]:
        """All lines of a plan in one file when not one of them stands there, else none."""
        lines = planned.all_lines
        if not lines:
            return []
        name = self.name_now(plan, planned.name, lines)
        if standing is not None:
            return list(lines) if standing.lines(name).isdisjoint(lines) else []
        absent = missing_lines(files.read_or_empty(self._paths.knowledge / name), lines)
        return list(lines) if len(absent) == len(set(lines)) else []


REPORTED = "missing_told"
"""The key of a ledger entry that names the run which told that lines of this harvest are missing."""


@dataclass(frozen=True)
class Missing:
    """All that one harvest had put into one file is gone from there, or (`single`) some of it beside lines that stand,
    as an edit by hand leaves it. `path` is where the conversation was, `header` the first line of the file if it must
    be made again, `done` those of `lines` that belong under `## Done`."""

    sha256: str
    run: str
    path: str
    file: str
    header: str
    lines: tuple[str, ...]
    done: tuple[str, ...] = ()
    single: bool = False

    def to_json(self) -> dict[str, Any]:
        """Stable keys for `--json`."""
        row = {key: value for key, value in vars(self).items() if key not in ("header", "done")}
        return {**row, "lines": list(self.lines)}


def find_missing(
    paths: Paths,
    entries: Mapping[str, Entry],
    proofs: Proofs,
    now: datetime,
    days: int,
    also: Iterable[str] = (),
    single: bool = False,
) -> list[Missing]:
    """What is missing of the harvests of the last `days`, of those whose conversation is in the trash, and of those of
    the hashes `also`; by run, then by file. Raises OSError.

    Where one harvest lost all that it had put into a file, a stale text was saved over it: then single lines of other
    harvests that are missing from the same file went with it. Elsewhere single lines look like an edit by hand, and
    are named only for whoever asks with `single`."""
    wanted, since, standing = set(also), now - timedelta(days=days), Standing(paths)
    found: list[Missing] = []
    in_part: list[tuple[str, FrozenPlan]] = []
    for sha in sorted(entries, key=lambda sha: str(entries[sha].get("run", ""))):
        entry = entries[sha]
        if entry.get("status") != "harvested" or not (sha in wanted or entry.get("trash") or _is_since(entry, since)):
            continue
        plan = proofs.plan(sha, entry)
        if plan is None or standing.has_all(plan):
            continue
        in_part.append((sha, plan))
        if not standing.has_some_in_each_file(plan):
            found += [
                _missing(proofs, sha, entry, plan, name, lines) for name, lines in proofs.lost(plan, standing).items()
            ]
    overwritten = {row.file for row in found}
    for sha, plan in in_part if overwritten or single else ():
        rows = [
            _missing(proofs, sha, entries[sha], plan, name, lines)
            for name, lines in proofs.lost_in_part(plan, standing).items()
        ]
        found += [row for row in rows if row.file in overwritten]
        found += [replace(row, single=True) for row in rows if single and row.file not in overwritten]
    return found


def _missing(proofs: Proofs, sha: str, entry: Entry, plan: FrozenPlan, name: str, lines: list[str]) -> Missing:
    row = next(row for row in plan.files if row.name == name)
    done = tuple(line for line in lines if line in row.done and line not in row.lines)
    place, run = str(entry.get("path", "")), str(entry.get("run", ""))
    return Missing(sha, run, place, proofs.name_now(plan, name, lines), row.header, tuple(lines), done)


def tell_missing(found: list[Missing], entries: Entries, run: str) -> str:
    """A sentence about what has not been told yet, "" for nothing. Marks the entries; one whose lines stand again can
    be told of again. The caller writes the ledger if anything changed (`marks`)."""
    missing = {row.sha256 for row in found}
    new = [row for row in found if not entries[row.sha256].get(REPORTED)]
    for sha, entry in entries.items():
        if sha in missing:
            entry.setdefault(REPORTED, run)
        else:
            entry.pop(REPORTED, None)
    if not new:
        return ""
    number, where = sum(len(row.lines) for row in new), sorted({row.file for row in new})
    return (
        f"{number} harvested line{'s' * (number != 1)} vanished from {' and '.join(where)}; if an editor saved an "
        "older text, 'knowledge review all vanished --yes' puts them back; if you removed them, --no says so"
    )


def marks(entries: Mapping[str, Entry]) -> set[str]:
    """The harvests of which a run has told that lines are missing."""
    return {sha for sha, entry in entries.items() if REPORTED in entry}


class Standing:
    """What stands in each file, and what was done to it, read once: most harvests are whole, and are seen to be at one
    glance; of many that are not, no file is read for each. Its methods raise OSError."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._lines: dict[str, frozenset[str]] = {}
        self._by_hand: dict[str, set[Provenance]] = {}

    def has_all(self, plan: FrozenPlan) -> bool:
        return all(self.lines(row.name).issuperset(row.all_lines) for row in plan.files)

    def has_some_in_each_file(self, plan: FrozenPlan) -> bool:
        return all(not row.all_lines or not self.lines(row.name).isdisjoint(row.all_lines) for row in plan.files)

    def lines(self, name: str) -> frozenset[str]:
        if name not in self._lines:
            data = files.read_or_empty(self._paths.knowledge / name)
            self._lines[name] = frozenset(line.decode("utf-8", "replace") for line in lines_in(data))
        return self._lines[name]

    def is_dealt_with(self, name: str, line: str) -> bool:
        """Whether the user took a line out of that file, of a note whatever it was called then, or moved it."""
        removed, from_notes, _ = self._changes
        taken = line in from_notes if name.startswith("files/") else (name, line) in removed
        return taken or any(line in self.lines(other) for other in SHELF)

    def is_reworded(self, name: str, lost: Iterable[str]) -> bool:
        """Whether at least one lost line stands in a file under other words that no harvest wrote."""
        if name not in self._by_hand:
            harvested = self._changes[2]
            data = files.read_or_empty(self._paths.knowledge / name)
            bullets = parse_bullets(data.decode("utf-8", "replace"))
            self._by_hand[name] = {row.provenance for row in bullets if row.provenance and row.raw not in harvested}
        return any(split_provenance(line[2:])[1] in self._by_hand[name] for line in lost)

    @cached_property
    def _changes(self) -> tuple[set[tuple[str, str]], set[str], set[str]]:
        """What the user took out, by file; that of notes; what harvests wrote."""
        changes = read_changes(self._paths)
        removed = removed_by_hand(changes)
        harvested = {line for row in changes if row.sha for line in row.added}
        return removed, {line for name, line in removed if name.startswith("files/")}, harvested


def _is_since(entry: Entry, since: datetime) -> bool:
    try:
        at = datetime.fromisoformat(str(entry.get("at", "")))
    except ValueError:
        return False
    return at.tzinfo is not None and at >= since
