"""The runs that there were: harvests and single edits, newest first."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from core.base.markdown import split_provenance
from core.base.paths import Paths
from core.base.result import Ok, Result, fail
from core.commands.workspace import Workspace
from core.knowledge.changes import Change, read_changes
from core.knowledge.edit import EDIT_RUN as EDIT_RUN
from core.knowledge.hunks import bare
from core.knowledge.journal import read_journal, states_by_sha
from core.knowledge.log import untold

UNDO_RUN = "undo-"
NEWEST = 5
TEXT_CHARACTERS = 50
_TIME = re.compile(r"\d{8}T\d{6}")


@dataclass(frozen=True)
class Run:
    """One run. `kind` is harvest or edit; `when` ISO 8601 or "" when only its archive tells of it; conversations it
    harvested and reclaimed, lines it added and removed; `undone` says that it was taken back, at least in part. `text`
    says in words what it changed: the first line of a harvest, the old and the new words of an edit ("" for nothing).
    """

    run: str
    kind: str
    when: str
    harvested: int = 0
    reclaimed: int = 0
    added: int = 0
    removed: int = 0
    undone: bool = False
    text: str = ""

    @property
    def did_something(self) -> bool:
        """Whether there is anything to take back: a run of which every conversation failed changed nothing."""
        return bool(self.harvested or self.reclaimed or self.added or self.removed or self.undone)

    def to_json(self) -> dict[str, Any]:
        """Stable keys for `--json`."""
        return dict(vars(self))


def runs(workspace: Workspace) -> Result[list[Run]]:
    """All runs that changed something, newest first. An undo is no run of its own: it marks the one it took back."""
    paths = workspace.paths
    try:
        changes = [*read_changes(paths), *untold(paths)]
        rows: dict[str, list[Change]] = {}
        for row in changes:
            rows.setdefault(row.run, []).append(row)
        names = _names(paths, changes)
        found = (_run(paths, name, rows.get(name, []), UNDO_RUN + name in rows) for name in names)
        return Ok([row for row in found if row.did_something])
    except OSError as error:
        return fail("unreadable", f"the runs cannot be listed: {error.strerror}", error.filename or paths.changes)


def newest_runs(paths: Paths, changes: list[Change]) -> list[str]:
    """The names of the newest few."""
    told = {row.run for row in changes}
    names = (name for name in _names(paths, changes) if name in told or _run(paths, name, [], False).did_something)
    return list(islice(names, NEWEST))


def _names(paths: Paths, changes: list[Change]) -> list[str]:
    archived = sorted(path.stem for path in paths.plans.glob("*.jsonl")) if paths.plans.is_dir() else []
    told = [row.run for row in changes if row.run and not row.run.startswith(UNDO_RUN)]
    names = list(dict.fromkeys([*archived, *told]))
    order = {name: at for at, name in enumerate(dict.fromkeys(told))}
    return sorted(names, key=lambda name: (_time(name), order.get(name, -1)), reverse=True)


def _time(run: str) -> str:
    found = _TIME.search(run)
    return found[0] if found else ""


def _iso(run: str) -> str:
    """The time in a run's id as ISO 8601, "" for a name without one."""
    found = _time(run)
    try:
        return datetime.strptime(found, "%Y%m%dT%H%M%S").replace(tzinfo=UTC).isoformat()
    except ValueError:  # a file that somebody else put among the archives may be called anything
        return ""


def _run(paths: Paths, name: str, rows: list[Change], undone: bool) -> Run:
    states = states_by_sha(read_journal(paths.plans / f"{name}.jsonl")).values()
    return Run(
        name,
        "edit" if name.startswith(EDIT_RUN) else "harvest",
        rows[0].when if rows else _iso(name),
        sum(state.done for state in states),
        sum(len(state.reclaimed) for state in states),
        sum(len(row.added) for row in rows),
        sum(len(row.removed) for row in rows),
        undone,
        _words(rows),
    )


def _words(rows: list[Change]) -> str:
    """What the first line that a run changed said, and what it says now."""
    row = next((row for row in rows if row.added or row.removed), None)
    if row is None:
        return ""
    moved = [line for line in row.removed if line.startswith("- ") and line in row.added]
    if moved:
        hunks = row.edit.hunks if row.edit is not None else ()
        where = next((hunk.section for hunk in hunks if moved[0] in map(bare, hunk.added)), "")
        others = f" (and {len(moved) - 1} more)" if len(moved) > 1 else ""
        return f"{row.file}: {_short(moved[0])} moved{f' to {where.capitalize()}' if where else ''}{others}"
    parts = [_short(line) for line in (*row.removed[:1], *row.added[:1])]
    more = sum(len(row.added) + len(row.removed) for row in rows) - len(parts)
    sign = "-" if not row.added else "+" if not row.removed else ""
    return f"{row.file}: {f'{sign} ' if sign else ''}{' -> '.join(parts)}" + (f" (and {more} more)" if more else "")


def _short(line: str) -> str:
    text = split_provenance(line.removeprefix("- "))[0]
    return text if len(text) <= TEXT_CHARACTERS else f"{text[: TEXT_CHARACTERS - 1]}…"
