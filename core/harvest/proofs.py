"""Which contents have a committed plan, and whether its lines still stand: the proof without which no conversation is
taken away.

Lines that have vanished from the files without a word are found at the start of a run, and told once.

An editor that saves a text which it had loaded before a harvest swallows what the harvest wrote. Nobody can tell that
from a person who deletes a bullet, so nothing is put back by itself: the run says so once, and `knowledge missing` puts
the lines back or writes down that they are gone on purpose. Until then their conversations stay in the trash.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from core.base import files
from core.base.markdown import parse_bullets, split_provenance
from core.base.paths import Paths
from core.knowledge.categories import CATEGORY_FILES
from core.knowledge.changes import read_changes, removed_by_hand
from core.knowledge.file_notes import note_now
from core.knowledge.journal import FrozenPlan, read_plans
from core.knowledge.ledger import Entries, Entry
from core.knowledge.lines import PlannedFile, missing_lines

ARCHIVES_IN_MEMORY = 4
SHELF = (*CATEGORY_FILES, "quarantine.md")
"""A line that the person moved from its own file to one of these still stands."""


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
        missing is told as the person's doing: the mark of an editor that saved a stale buffer, or of a file that is
        gone. Dealt with by the person, and no loss, is

        - a line that changes.jsonl tells as removed or replaced (`knowledge rm`, the panel, an undo);
        - a line that stands in another category file or in the quarantine;
        - a line that was reworded in an editor: a bullet with its provenance stands there that no harvest wrote;
        - single missing lines beside others of the same plan and file that stand: so looks an edit by hand.
        """
        lost = self.lost(plan)
        number = sum(map(len, lost.values()))
        where = " and ".join(lost)
        return f"{number} line{'s' * (number != 1)} of its harvest vanished from {where}" if lost else ""

    def lost(self, plan: FrozenPlan) -> dict[str, list[str]]:
        """The lines of the plan that are lost in each file, as `why_vanished` has it; only files with any. OSError."""
        return self._left([(row.name, absent) for row in plan.files if (absent := self._absent(plan, row))], plan)

    def lost_in_part(self, plan: FrozenPlan) -> dict[str, list[str]]:
        """As `lost`, for files where other lines of the plan still stand. Raises OSError."""
        found = []
        for row in plan.files:
            name = self.name_now(plan, row.name, row.all_lines)
            data = files.read_or_empty(self._paths.knowledge / name)
            absent = {line.decode("utf-8") for line in missing_lines(data, row.all_lines)}
            if 0 < len(absent) < len(set(row.all_lines)):
                found.append((row.name, [line for line in row.all_lines if line in absent]))
        return self._left(found, plan)

    def _left(self, lost: list[tuple[str, list[str]]], plan: FrozenPlan) -> dict[str, list[str]]:
        """Of absent lines those that nobody dealt with, by file."""
        if not lost:
            return {}
        changes = read_changes(self._paths)
        by_hand, harvested = removed_by_hand(changes), {line for row in changes if row.sha for line in row.added}
        stores = [files.read_or_empty(self._paths.knowledge / name) for name in SHELF]
        missing: dict[str, list[str]] = {}
        # whatever they were called then
        taken_from_notes = {line for name, line in by_hand if name.startswith("files/")}
        for name, absent in lost:
            if name.startswith("files/"):
                left = [line for line in absent if line not in taken_from_notes]
            else:
                left = [line for line in absent if (name, line) not in by_hand]
            left = [line for line in left if all(missing_lines(data, [line]) for data in stores)]
            now = self.name_now(plan, name, left)
            if left and not _is_reworded(files.read_or_empty(self._paths.knowledge / now), left, harvested):
                missing[name] = left
        return missing

    def name_now(self, plan: FrozenPlan, name: str, lines: Sequence[str]) -> str:
        """What a file of a plan is called by now: a note goes with its source file. Raises OSError."""
        return note_now(self._paths, name, lines, plan.notes.get(name.removeprefix("files/")))

    def _absent(self, plan: FrozenPlan, planned: PlannedFile) -> list[str]:
        """All lines of a plan in one file when not one of them stands there, else none."""
        lines = planned.all_lines
        if not lines:
            return []
        name = self.name_now(plan, planned.name, lines)
        absent = missing_lines(files.read_or_empty(self._paths.knowledge / name), lines)
        return list(lines) if len(absent) == len(set(lines)) else []


def _is_reworded(data: bytes, lost: list[str], harvested: set[str]) -> bool:
    """Whether at least one lost line stands there under other words that no harvest wrote."""
    sources = {split_provenance(line[2:])[1] for line in lost} - {None}
    bullets = parse_bullets(data.decode("utf-8", "replace"))
    return any(bullet.provenance in sources and bullet.raw not in harvested for bullet in bullets)


REPORTED = "missing_told"
"""The key of a ledger entry that names the run which told that lines of this harvest are missing."""


@dataclass(frozen=True)
class Missing:
    """All that one harvest had put into one file is gone from there, or (`single`) some of it beside lines that stand,
    as an edit by hand leaves it. `path` is where the conversation was, `header` the first line of the file if it must
    be made anew, `done` those of `lines` that belong under `## Done`."""

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
    are named only for who asks with `single`."""
    wanted, since, standing = set(also), now - timedelta(days=days), _Standing(paths)
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
            found += [_missing(proofs, sha, entry, plan, name, lines) for name, lines in proofs.lost(plan).items()]
    overwritten = {row.file for row in found}
    for sha, plan in in_part if overwritten or single else ():
        rows = [
            _missing(proofs, sha, entries[sha], plan, name, lines) for name, lines in proofs.lost_in_part(plan).items()
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
    be told of anew. The caller writes the ledger if anything changed (`marks`)."""
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
        "older text, 'knowledge missing restore' puts them back; if you removed them, 'knowledge missing accept' says "
        "so"
    )


def marks(entries: Mapping[str, Entry]) -> set[str]:
    """The harvests of which a run has told that lines are missing."""
    return {sha for sha, entry in entries.items() if REPORTED in entry}


class _Standing:
    """The lines that stand in each file, read once: most harvests are whole, and are seen to be at one glance."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._lines: dict[str, frozenset[bytes]] = {}

    def has_all(self, plan: FrozenPlan) -> bool:
        return all(self._is_there(row.name, line) for row in plan.files for line in row.all_lines)

    def has_some_in_each_file(self, plan: FrozenPlan) -> bool:
        return all(
            not row.all_lines or any(self._is_there(row.name, line) for line in row.all_lines) for row in plan.files
        )

    def _is_there(self, name: str, line: str) -> bool:
        if name not in self._lines:
            data = files.read_or_empty(self._paths.knowledge / name)
            self._lines[name] = frozenset(_each_line(data))
        return line.encode("utf-8") in self._lines[name]


def _each_line(data: bytes) -> Iterator[bytes]:
    return (line.removesuffix(b"\r") for line in data.split(b"\n"))


def _is_since(entry: Entry, since: datetime) -> bool:
    try:
        at = datetime.fromisoformat(str(entry.get("at", "")))
    except ValueError:
        return False
    return at.tzinfo is not None and at >= since
