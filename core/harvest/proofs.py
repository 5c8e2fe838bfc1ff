"""Which contents have a committed plan: the proof without which no conversation is taken away."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.base.paths import Paths
from core.knowledge.changes import read_changes
from core.knowledge.journal import FrozenPlan, read_plans
from core.knowledge.lines import require_lines

ARCHIVES_IN_MEMORY = 4


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
        """Whether the files lost a whole harvest, and nobody took its lines out on purpose (`knowledge rm`, `undo`)."""
        if not vanished(self._paths, plan):
            return False
        lines = {(planned.name, line) for planned in plan.files for line in planned.all_lines}
        removed = ((change.file, line) for change in read_changes(self._paths) for line in change.removed)
        return not any(row in lines for row in removed)


def vanished(paths: Paths, plan: FrozenPlan) -> bool:
    """Whether not one line of a harvest that had several is left: the mark of an editor that saved a stale buffer."""
    total = sum(len(planned.all_lines) for planned in plan.files)
    try:
        absent = sum(len(require_lines(paths.knowledge, planned)) for planned in plan.files)
    except OSError:
        return True
    return total > 1 and absent == total
