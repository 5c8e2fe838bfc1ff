"""Conversations that are written together: each file is read, written and read back once for all of them.

What a batch costs grows with the files that it touches, so it may wait until it brings a quarter of their size: then a
store is written a bounded number of times while it grows, however large it is. Where the model is slow it is written
before that: at once or after seconds when a run begins, then when it has waited for a quarter of the run so far, or
for two minutes. So a slow machine does not write a file again for every few conversations. Every plan stands in the
journal before it waits (group commit, as databases do it).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from core.base import files
from core.base.paths import Paths
from core.base.result import ErrorInfo
from core.harvest.meter import Meter
from core.harvest.steps import Step
from core.knowledge.categories import TASKS_FILE
from core.knowledge.journal import FrozenPlan, JournalError
from core.knowledge.lines import OwnWrites, PlannedFile, ensure_lines, noting_tail, require_lines
from core.knowledge.swap import EDITOR_WAIT, EditorWait

if TYPE_CHECKING:
    from core.harvest.distil import Harvest

PART = 4
"""A batch is full when its lines are this part (a quarter) of the files that it touches, or when it has waited for this
part of the time that the run has taken."""
CONVERSATIONS = 32
"""This many conversations are worth waiting for in any store: they share three waits for the disk."""
MAX_CONVERSATIONS, MAX_BYTES = 4096, 2 << 20
"""A batch is full with this many conversations, or bytes of lines: what waits is kept in memory."""
BYTES_A_SECOND = 1 << 18
"""When a run begins and no answer comes, a batch waits until rewriting its files stays below this."""
SETTLED_SECONDS, LONGEST_SECONDS = 10.0, 120.0
"""Nothing waits longer than the first, or than its part of the run so far, whatever the store; and never longer than
the second: who reads the files while a slow model works sees what it found."""


Planned = tuple[str, FrozenPlan]
"""The sha256 of a conversation, and what its harvest will write."""


@dataclass(frozen=True)
class Applied:
    """One file of the plan of a conversation was brought up to date: which lines were new in it."""

    sha256: str
    name: str
    added: tuple[str, ...]


OnApplied = Callable[[Sequence[Applied]], None]
"""What writes into the journal that a file was brought up to date, for all plans that want lines in it."""


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
    """What waits to be written in a run that begins now. `clock` tells seconds."""

    paths: Paths
    clock: Callable[[], float] = time.monotonic
    rows: list[Staged] = field(default_factory=list)
    _bytes: int = 0
    _cost: int = 0
    _names: set[str] = field(default_factory=set)
    _talks: set[str] = field(default_factory=set)
    _since: float = 0.0

    def __post_init__(self) -> None:
        self._begun = self.clock()

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
        if number >= MAX_CONVERSATIONS or self._bytes >= MAX_BYTES:
            return True
        if number and not self._left(SETTLED_SECONDS):
            return True
        return number >= CONVERSATIONS and self._bytes * PART >= self._cost

    def seconds_left(self) -> float | None:
        """How long it may still wait while nothing comes, 0 for no longer, None when nothing waits."""
        if not self.rows:
            return None
        return self._left(min(SETTLED_SECONDS, self._cost / BYTES_A_SECOND))

    def _left(self, seconds: float) -> float:
        """What is left of this many seconds, or of its part of the run where that is longer."""
        now = self.clock()
        return max(0.0, max(seconds, min((now - self._begun) / PART, LONGEST_SECONDS)) - (now - self._since))


def size_of(path: str | Path) -> int:
    """The bytes of a file, 0 for one that is not there."""
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0


def together(plans: Iterable[FrozenPlan]) -> list[PlannedFile]:
    """What several plans want of each file, their lines in the order of the plans; the newest knows the tail."""
    rows: dict[str, PlannedFile] = {}
    lines: dict[str, dict[str, None]] = {}
    done: dict[str, dict[str, None]] = {}
    for plan in plans:
        for planned in plan.files:
            rows[planned.name] = planned
            lines.setdefault(planned.name, {}).update(dict.fromkeys(planned.lines))
            done.setdefault(planned.name, {}).update(dict.fromkeys(planned.done))
    return [replace(row, lines=tuple(lines[name]), done=tuple(done[name])) for name, row in rows.items()]


def with_new_tails(paths: Paths, rows: Sequence[Staged]) -> list[Staged]:
    """Looks again at what stands behind the last line break of each file; the rows whose plans had to be changed,
    because a user has typed there while they waited. Their plans are to be journaled again."""
    plans = [row.plan for row in rows]
    tails = {one.name: noting_tail(paths.knowledge, replace(one, tail="")).tail for one in together(plans)}
    changed = []
    for row in rows:
        if any(planned.tail != tails[planned.name] for planned in row.plan.files):
            now = tuple(replace(planned, tail=tails[planned.name]) for planned in row.plan.files)
            row.plan = replace(row.plan, files=now)
            changed.append(row)
    return changed


# --- writing and proving ---------------------------------------------------------------------------------------------


def write_together(
    paths: Paths,
    plans: Sequence[Planned],
    *,
    known: Callable[[str], bool],
    on_applied: OnApplied,
    recovering: bool = False,
    editor_wait: EditorWait = EDITOR_WAIT,
    own: OwnWrites | None = None,
) -> tuple[dict[str, OSError], list[Applied]]:
    """Make every line of all plans stand in its file, then read each file back by its path: the gate. What kept a plan
    from being proven, by sha256; a file that cannot be written fails the plans that want lines in it, and no other.

    `on_applied` is given the lines that were new, as soon as a file is durable. Files with a new name come last, since
    they wait together for their folders: what was new in them is returned, to be journaled with `done` in one write.
    `recovering` mends what a crash tore. After a `files.SyncError` or a JournalError, which are raised, nothing is
    proven.
    """
    # Those that will be exchanged or made, as far as can be seen before, come last.
    joined = sorted(
        together(plan for _, plan in plans),
        key=lambda row: row.name == TASKS_FILE or not files.exists(paths.knowledge / row.name),
    )
    failed: dict[str, OSError] = {}
    renamed: dict[str, tuple[str, ...]] = {}
    wanted: dict[str, list[tuple[str, PlannedFile]]] = {}
    for sha, plan in plans:
        for planned in plan.files:
            wanted.setdefault(planned.name, []).append((sha, planned))

    def applied(name: str, added: tuple[str, ...]) -> list[Applied]:
        left, rows = set(added), []
        for sha, planned in wanted[name]:
            mine = tuple(line for line in dict.fromkeys(planned.all_lines) if line in left)
            left.difference_update(mine)  # two conversations of one name: the first has written it
            rows.append(Applied(sha, name, mine))
        return rows

    for planned in joined:
        try:
            files.make_folder(_folder_of(paths, planned.name))
            added, new_name = ensure_lines(
                paths.knowledge,
                planned,
                known=known(planned.name),
                recovering=recovering,
                editor_wait=editor_wait,
                own=own,
            )
        except (files.SyncError, JournalError):
            raise
        except OSError as error:
            failed[planned.name] = error
            continue
        if new_name or recovering:
            renamed[planned.name] = added
        else:
            on_applied(applied(planned.name, added))
    for folder in {_folder_of(paths, name) for name in renamed}:
        files.sync_folder(folder)  # before the journal may say that these lines are durable
    last = [row for name, added in renamed.items() for row in applied(name, added)]
    return _unproven(paths, plans, joined, failed), last


def _unproven(
    paths: Paths, plans: Sequence[Planned], joined: Sequence[PlannedFile], failed: dict[str, OSError]
) -> dict[str, OSError]:
    """Read every file back; what is wrong with each plan, by sha256."""
    absent: dict[str, set[str]] = {}
    for planned in joined:
        if planned.name not in failed:
            try:
                absent[planned.name] = set(require_lines(paths.knowledge, planned))
            except OSError as error:
                failed[planned.name] = error
    wrong: dict[str, OSError] = {}
    for sha, plan in plans:
        for planned in plan.files:
            gone = sum(line in absent[planned.name] for line in planned.all_lines) if planned.name in absent else 0
            if planned.name in failed:
                wrong.setdefault(sha, failed[planned.name])
            elif gone:
                message = f"{gone} planned lines are not in the file after writing"
                wrong.setdefault(sha, OSError(0, message, planned.name))
    return wrong


def _folder_of(paths: Paths, name: str) -> Path:
    return paths.file_notes if "/" in name else paths.knowledge
