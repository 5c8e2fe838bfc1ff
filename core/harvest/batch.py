"""Conversations that are written together: each file is read, written and read back once for all of them.

What a batch costs grows with the files that it touches, so it may wait until it brings a quarter of their size: then a
store is written a bounded number of times while it grows, however large it is. Nobody waits long for that. Every plan
stands in the journal before it waits, and when there is nothing else to do a small store is written at once, a large
one after seconds (group commit, as databases do it).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from core.base import files
from core.base.paths import Paths
from core.base.result import ErrorInfo
from core.harvest.distil import Harvest
from core.harvest.merge import Applied
from core.harvest.meter import Meter
from core.harvest.steps import Step
from core.knowledge.journal import FrozenPlan, JournalError
from core.knowledge.lines import OwnWrites, PlannedFile, ensure_lines, noting_tail, require_lines
from core.knowledge.patience import Patience

PART = 4
"""A batch is full when its lines are this part (a quarter) of the files that it touches."""
CONVERSATIONS = 32
"""So many conversations are worth waiting for in any store: they share three waits for the disk."""
MOST_CONVERSATIONS, MOST_BYTES = 4096, 2 << 20
"""A batch is full with so many conversations, or bytes of lines: what waits is held in memory."""
BYTES_A_SECOND = 1 << 18
"""While no answer comes, a batch waits so long that rewriting its files stays below this."""
LONGEST_SECONDS = 10.0
"""Nothing waits longer than this, whatever the store."""


@dataclass
class Staged:
    """One conversation whose plan is in the journal and whose lines are not written yet. `problems` are to be told when
    they are; `error` is what kept them from being written, None while nothing did."""

    step: Step
    harvest: Harvest
    meter: Meter | None
    plan: FrozenPlan
    problems: Sequence[ErrorInfo] = ()
    error: OSError | None = None


@dataclass
class Batch:
    """What waits to be written. `clock` tells seconds."""

    paths: Paths
    clock: Callable[[], float] = time.monotonic
    rows: list[Staged] = field(default_factory=list)
    _bytes: int = 0
    _cost: int = 0
    _names: set[str] = field(default_factory=set)
    _talks: set[str] = field(default_factory=set)
    _since: float = 0.0

    def add(self, row: Staged) -> None:
        if not self.rows:
            self._since = self.clock()
        self.rows.append(row)
        self._talks.add(row.step.artifact.name)
        for planned in row.plan.files:
            self._bytes += sum(len(line) + 1 for line in planned.all_lines)
            if planned.name not in self._names:
                self._names.add(planned.name)
                self._cost += size_of(os.path.join(self.paths.knowledge, planned.name))

    def take(self) -> list[Staged]:
        """All that waits; nothing waits any more."""
        rows, self.rows = self.rows, []
        self._bytes = self._cost = 0
        self._names.clear()
        self._talks.clear()
        return rows

    def has_lines_of(self, *names: str) -> bool:
        """Whether a conversation that is called so waits."""
        return not self._talks.isdisjoint(names)

    def is_full(self) -> bool:
        """Whether it is to be written although more is coming."""
        number = len(self.rows)
        if number >= MOST_CONVERSATIONS or self._bytes >= MOST_BYTES:
            return True
        if number and self.clock() - self._since >= LONGEST_SECONDS:
            return True
        return number >= CONVERSATIONS and self._bytes * PART >= self._cost

    def seconds_left(self) -> float | None:
        """How long it may still wait while nothing comes, 0 for no longer, None when nothing waits."""
        if not self.rows:
            return None
        allowed = min(LONGEST_SECONDS, self._cost / BYTES_A_SECOND)
        return max(0.0, allowed - (self.clock() - self._since))


def size_of(path: str | Path) -> int:
    """The bytes of a file, 0 for one that is not there."""
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0


def together(plans: Iterable[FrozenPlan]) -> list[PlannedFile]:
    """What several plans want of each file, their lines in the order of the plans."""
    rows: dict[str, PlannedFile] = {}
    lines: dict[str, dict[str, None]] = {}
    done: dict[str, dict[str, None]] = {}
    for plan in plans:
        for planned in plan.files:
            rows.setdefault(planned.name, planned)
            lines.setdefault(planned.name, {}).update(dict.fromkeys(planned.lines))
            done.setdefault(planned.name, {}).update(dict.fromkeys(planned.done))
    return [replace(row, lines=tuple(lines[name]), done=tuple(done[name])) for name, row in rows.items()]


def with_new_tails(paths: Paths, rows: Sequence[Staged]) -> list[Staged]:
    """Looks again at what stands behind the last line break of each file; the rows whose plans had to be changed,
    because a person has typed there while they waited. Their plans are to be journaled again."""
    plans = [row.plan for row in rows]
    tails = {one.name: noting_tail(paths.knowledge, replace(one, tail="")).tail for one in together(plans)}
    changed = []
    for row in rows:
        if any(planned.tail != tails[planned.name] for planned in row.plan.files):
            now = tuple(replace(planned, tail=tails[planned.name]) for planned in row.plan.files)
            row.plan = replace(row.plan, files=now)
            changed.append(row)
    return changed


def write_together(
    paths: Paths,
    rows: Sequence[Staged],
    *,
    known: Callable[[str], bool],
    on_applied: Callable[[str, Applied], None],
    patience: Patience,
    own: OwnWrites,
) -> None:
    """Make every line of all plans stand in its file, then read each file back by its path. A row whose lines are not
    proven gets its `error`; the others are.

    `on_applied` is told the sha256 and the lines that were new, for each file of each plan. Raises OSError; after a
    `files.SyncError` or a JournalError nothing is proven.
    """
    failed = _ensure(paths, rows, known, on_applied, patience, own)
    absent: dict[str, set[str]] = {}
    for planned in together(row.plan for row in rows):
        if planned.name not in failed:
            try:
                absent[planned.name] = set(require_lines(paths.knowledge, planned))
            except OSError as error:
                failed[planned.name] = error
    for row in rows:
        wrong = {planned.name: failed[planned.name] for planned in row.plan.files if planned.name in failed}
        gone = sum(line in absent.get(one.name, ()) for one in row.plan.files for line in one.all_lines)
        if gone:
            row.error = OSError(0, f"{gone} planned lines are not in the file after writing", row.plan.files[0].name)
        elif wrong:
            row.error = next(iter(wrong.values()))


def _ensure(
    paths: Paths,
    rows: Sequence[Staged],
    known: Callable[[str], bool],
    on_applied: Callable[[str, Applied], None],
    patience: Patience,
    own: OwnWrites,
) -> dict[str, OSError]:
    """Write each file once; what went wrong, by file."""
    joined = together(row.plan for row in rows)
    failed: dict[str, OSError] = {}
    renamed: dict[str, tuple[str, ...]] = {}
    wanted: dict[str, list[tuple[str, PlannedFile]]] = {}
    for row in rows:
        for planned in row.plan.files:
            wanted.setdefault(planned.name, []).append((row.step.sha256, planned))

    def tell(name: str, added: tuple[str, ...]) -> None:
        left = set(added)
        for sha, planned in wanted[name]:
            mine = tuple(line for line in dict.fromkeys(planned.all_lines) if line in left)
            left.difference_update(mine)  # two conversations of one name: the first has written it
            on_applied(sha, Applied(name, mine))

    for folder in {_folder_of(paths, planned.name) for planned in joined}:
        files.make_folder(folder)
    for planned in joined:
        try:
            added, new_name = ensure_lines(
                paths.knowledge, planned, known=known(planned.name), patience=patience, own=own
            )
        except (files.SyncError, JournalError):
            raise
        except OSError as error:
            failed[planned.name] = error
            continue
        if new_name:
            renamed[planned.name] = added
        else:
            tell(planned.name, added)
    for folder in {_folder_of(paths, name) for name in renamed}:
        files.sync_folder(folder)  # before the journal may say that these lines are durable
    for name, added in renamed.items():
        tell(name, added)
    return failed


def _folder_of(paths: Paths, name: str) -> Path:
    return paths.file_notes if "/" in name else paths.knowledge
