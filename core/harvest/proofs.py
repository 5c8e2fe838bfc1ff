"""Which contents have a committed plan, and whether its lines still stand: the proof without which no conversation is
taken away.

Lines that have vanished from the files without a word (landed.py) are found at the start of a run, and told once.
Nothing is put back by itself: the run says so, and `knowledge review` puts the lines back or writes down that they are
gone on purpose. Until then their conversations stay in the trash.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from core.base.figures import count
from core.base.paths import Paths
from core.harvest.landed import Standing
from core.knowledge.journal import FrozenPlan, read_plans
from core.knowledge.ledger import Entries, Entry

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
        """Whether every file of the plan lost all of it: then not even a move into the trash is right."""
        return len(Standing(self._paths).lost(plan)) == sum(bool(row.all_lines) for row in plan.files) > 0

    def why_vanished(self, plan: FrozenPlan) -> str:
        """What the files lost of this harvest, in words, "" while nothing is lost. Raises OSError.

        Lost is all that a plan had put into one file, when no line of it is left there and not everything that is
        missing is told as the user's doing: the mark of an editor that saved a stale buffer, or of a file that is
        gone. Dealt with by the user, and no loss, is

        - a line that changes.jsonl tells as removed or replaced (`knowledge rm`, the panel), and that was not undone;
        - a line that stands in another category file or in the quarantine, or whose statement stands in its own;
        - a line that was reworded in an editor: a bullet with its provenance stands there that no harvest wrote, and is
          not the other words of a line that is more like it;
        - single missing lines beside others of the same plan and file that stand: so looks an edit by hand.
        """
        lost = Standing(self._paths).lost(plan)
        number = sum(map(len, lost.values()))
        where = " and ".join(lost)
        return f"{count(number, 'line')} of its harvest vanished from {where}" if lost else ""


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
    wanted, since, standing = set(also), now - timedelta(days=days), Standing(paths, many=True)
    found: list[Missing] = []
    in_part: list[tuple[str, FrozenPlan]] = []
    asked = {
        sha: entry
        for sha, entry in entries.items()
        if entry.get("status") == "harvested" and (sha in wanted or entry.get("trash") or _is_since(entry, since))
    }
    for sha, entry in sorted(asked.items(), key=lambda row: str(row[1].get("run", ""))):
        plan = proofs.plan(sha, entry)
        if plan is None or standing.has_all(plan):
            continue
        in_part.append((sha, plan))
        found += [_missing(standing, sha, entry, plan, name, lines) for name, lines in standing.lost(plan).items()]
    overwritten = {row.file for row in found}
    for sha, plan in in_part if overwritten or single else ():
        rows = [
            _missing(standing, sha, asked[sha], plan, name, lines)
            for name, lines in standing.lost(plan, in_part=True).items()
        ]
        found += [row for row in rows if row.file in overwritten]
        found += [replace(row, single=True) for row in rows if single and row.file not in overwritten]
    return found


def _missing(standing: Standing, sha: str, entry: Entry, plan: FrozenPlan, name: str, lines: list[str]) -> Missing:
    row = next(row for row in plan.files if row.name == name)
    done = tuple(line for line in lines if line in row.done and line not in row.lines)
    place, run = str(entry.get("path", "")), str(entry.get("run", ""))
    return Missing(sha, run, place, standing.name_now(plan, row, lines), row.header, tuple(lines), done)


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
        f"{count(number, 'harvested line')} vanished from {' and '.join(where)}; if an editor saved an "
        "older text, 'knowledge review all vanished --yes' puts them back; if you removed them, --no says so"
    )


def marks(entries: Mapping[str, Entry]) -> set[str]:
    """The harvests of which a run has told that lines are missing."""
    return {sha for sha, entry in entries.items() if REPORTED in entry}


def _is_since(entry: Entry, since: datetime) -> bool:
    try:
        at = datetime.fromisoformat(str(entry.get("at", "")))
    except ValueError:
        return False
    return at.tzinfo is not None and at >= since
