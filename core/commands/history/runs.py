"""The runs that there were, harvests and single edits, newest first; and how a single edit is taken back.

The edit may be one of the home, or of the project around the current folder, which tells those of its memories in its
own changes.jsonl. A project has no harvests: nothing but the next edit or undo there looks at what a crash cut off.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from difflib import SequenceMatcher
from functools import partial
from pathlib import PurePath
from typing import Any

from core.base import locks
from core.base.markdown import is_bullet, split_provenance, unmarked
from core.base.paths import Paths, project_paths
from core.base.result import ErrorInfo, KnowledgeError, disk_errors
from core.base.trust import allow_written
from core.commands.project import find_project, may_read
from core.commands.text import collected, count
from core.commands.workspace import Workspace
from core.knowledge.answers import read_answers
from core.knowledge.changes import EDIT_RUN as EDIT_RUN
from core.knowledge.changes import UNDO_RUN as UNDO_RUN
from core.knowledge.changes import Change, read_changes
from core.knowledge.edit import change_file, new_edit_run
from core.knowledge.hunks import Hunk, bare, inverse, join, made, reversed_edit, section_at, split
from core.knowledge.journal import read_archive
from core.knowledge.log import settle, take_away, untold
from core.knowledge.removed import REMOVED
from core.knowledge.reversal import CHANGED, GONE, MISSED, REVERSED, take_back

TEXT_CHARACTERS = 50
_TIME = re.compile(r"\d{8}T\d{6}")


@dataclass(frozen=True)
class Run:
    """One run. `kind` is harvest or edit; `when` ISO 8601 or "" when only its archive tells of it; conversations it
    harvested and reclaimed, lines it added and removed; `undone` says that it was taken back, at least in part. `text`
    says in words what it changed: the first line of a harvest, the old and the new words of an edit ("" for nothing),
    or how many answers were given to what waits where no file says them.
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
        return bool(self.harvested or self.reclaimed or self.added or self.removed or self.undone or self.text)


def runs(workspace: Workspace) -> list[Run]:
    """All runs that changed something, newest first. An undo is no run of its own: it marks the one it took back."""
    paths = workspace.paths
    with disk_errors("unreadable", "the runs cannot be listed"):
        changes = [*read_changes(paths), *untold(paths)]
        rows: dict[str, list[Change]] = {}
        for row in changes:
            rows.setdefault(row.run, []).append(row)
        answers = Counter(row["run"] for row in read_answers(paths).values() if row["run"])
        names = [name for name in _names(paths, changes, answers) if not _was_refused(rows.get(name, []))]
        found = (_run(paths, name, rows.get(name, []), UNDO_RUN + name in rows, answers[name]) for name in names)
        return [row for row in found if row.did_something]


def _was_refused(rows: list[Change]) -> bool:
    """Whether nothing came of an edit: what was remembered for it was forgotten at once."""
    came = Counter(line for row in rows for line in row.added)
    went = Counter(line for row in rows for line in row.removed)
    return bool(rows) and came == went and all(row.file == REMOVED for row in rows)


def _names(paths: Paths, changes: list[Change], answers: Iterable[str]) -> list[str]:
    archived = sorted(path.stem for path in paths.plans.glob("*.jsonl")) if paths.plans.is_dir() else []
    recorded = [row.run for row in changes if row.run and not row.run.startswith(UNDO_RUN)]
    names = list(dict.fromkeys([*archived, *recorded, *answers]))
    order = {name: at for at, name in enumerate(dict.fromkeys(recorded))}
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


def _run(paths: Paths, name: str, rows: list[Change], undone: bool, answers: int) -> Run:
    rows = [row for row in rows if row.file != REMOVED] or rows  # what is remembered goes without saying
    states = read_archive(paths.plans, name).values()
    return Run(
        name,
        "edit" if name.startswith(EDIT_RUN) else "harvest",
        rows[0].when if rows else _iso(name),
        sum(state.done for state in states),
        sum(len(state.reclaimed) for state in states),
        sum(len(row.added) for row in rows),
        sum(len(row.removed) for row in rows),
        undone,
        _words(rows) or (f"{count(answers, 'answer')} to what waits" if answers else ""),
    )


def _words(rows: list[Change]) -> str:
    """What the first line that a run changed said, and what it says now."""
    row = next((row for row in rows if row.added or row.removed), None)
    if row is None:
        return ""
    moved = [line for line in row.removed if is_bullet(line) and line in row.added]
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
    text = split_provenance(unmarked(line))[0]
    return text if len(text) <= TEXT_CHARACTERS else f"{text[: TEXT_CHARACTERS - 1]}…"


# --- a single edit, taken back ----------------------------------------------------------------------------------------


@dataclass
class UndoReport:
    """What an undo did: conversations back in their place, harvests forgotten, lines taken out of the files and brought
    back into them, the lines that `stayed` because they were changed since or are needed by another harvest, and those
    that were `gone` before. `stayed_why` has the reason for each line that stayed. `already`: an earlier undo took it
    all back, and there was nothing left to do; `nothing`: no undo came before this one, and there is nothing of the run
    to take back. `edits` tells of an edit, file by file, which lines went out and came back, and which stayed.
    """

    run: str
    restored: list[str] = field(default_factory=list)
    forgotten: int = 0
    lines_out: int = 0
    lines_back: int = 0
    stayed: list[str] = field(default_factory=list)
    stayed_why: dict[str, str] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)
    already: bool = False
    nothing: bool = False
    edits: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    errors: list[ErrorInfo] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        failed = [{"path": error.path, "error": error.message, "code": error.code} for error in self.errors]
        return {**{key: value for key, value in vars(self).items() if key != "errors"}, "failed": failed}


def undo_in_project(workspace: Workspace, run: str, now: datetime) -> UndoReport | None:
    """Take back an edit of the project around the current folder, which tells its edits in its own changes.jsonl; None
    when it knows of no such run. A project has no harvests, no digest and no facts of the index to look after."""
    project = find_project(workspace)
    if project is None:
        return None
    paths, readable = project_paths(project), may_read(workspace, project)
    with disk_errors("store-failed", "the project's knowledge folder cannot be used"):
        if readable(paths.log):
            settle(paths)  # an edit that a crash cut off before it was recorded
        if not readable(paths.changes):
            return None
        changes = read_changes(paths)
        mine = [row for row in changes if row.run == run and _is_inside(row.file)]
        if not mine:
            return None
        report = UndoReport(run)
        undone = [row for row in changes if row.run == UNDO_RUN + run]
        with locks.only_one(paths.lock, work="undo"):
            undo_edit(paths, mine, undone, report, now)
        if readable(paths.log):
            take_away(paths)
    report.already = bool(undone) and not (report.lines_out or report.lines_back or report.stayed or report.errors)
    with collected(report.errors):
        allow_written(project, workspace.environment, [paths.changes, *(paths.knowledge / row.file for row in mine)])
    return report


def _is_inside(file: str) -> bool:
    """Whether a file that a project's changes.jsonl names lies in its knowledge folder: anybody may have written it."""
    return not os.path.isabs(file) and ".." not in PurePath(file).parts and "\0" not in file


def undo_edit(paths: Paths, rows: list[Change], undone: list[Change], report: UndoReport, now: datetime) -> None:
    """The last write first: what was moved from one file to another is back before it leaves the other."""
    already = {row.file for row in undone}
    for row in reversed(rows):
        if row.file in already:
            report.notes.append(f"the edit of {row.file} is taken back already")
            continue
        if row.file == REMOVED and (report.stayed or report.errors):
            continue  # what took the place of a statement stands: that stays away
        with collected(report.errors):
            result = take_back(paths, row, now, UNDO_RUN + report.run)
            if row.file == REMOVED:
                continue  # a part of the change that nobody asks about
            if result == REVERSED:
                report.lines_out += len(row.added)
                report.lines_back += len(row.removed)
                report.edits.append({"file": row.file, "out": row.added, "back": row.removed, "stayed": ()})
            elif result == CHANGED:
                stayed = row.added or row.removed
                report.stayed += stayed
                report.edits.append({"file": row.file, "out": (), "back": (), "stayed": stayed})
                report.stayed_why |= dict.fromkeys(stayed, CHANGED)
            elif result == MISSED:
                report.notes.append("the lines count as missing again: 'knowledge review --kind vanished' shows them")
            elif result == GONE:
                report.gone += row.added
            else:
                report.notes.append(f"{row.file} is already as it was before the edit")


@dataclass(frozen=True)
class Redone:
    """An edit that was taken back was made again, as the edit `run`: the lines that came and went in each of `edits`
    (`file`, `in`, `out`). `warning` is a sentence about what did not work beside it ("" for nothing)."""

    run: str
    edits: tuple[dict[str, Any], ...]
    warning: str = ""


def redo_edit(paths: Paths, run: str, now: datetime) -> Redone:
    """Make an edit again that was taken back, where it was. Raises changed-since when somebody has changed since what
    stands there: then that stays as it is. What it did to several files before is done again to all or to the first
    few; the edit that comes of it can be taken back like any other."""
    changes = read_changes(paths)
    undone = {row.file for row in changes if row.run == UNDO_RUN + run}
    rows = [row for row in changes if row.run == run and row.file in undone and row.edit is not None]
    if not rows:
        raise KnowledgeError("not-undone", "this edit was not taken back, so it cannot be made again", paths.changes)
    name, edits, warnings = new_edit_run(now), [], []
    for row in rows:
        made = change_file(paths, row.file, partial(_made_again, row), now, run=name)
        if row.file == REMOVED:
            continue
        edits.append({"file": row.file, "in": list(made.added), "out": list(made.removed)})
        warnings += [made.warning] if made.warning else []
    return Redone(name, tuple(edits), "; ".join(warnings))


def _made_again(row: Change, lines: list[str]) -> list[Hunk]:
    """The hunks that make an edit again on a file as it is now, the lowest first."""
    assert row.edit is not None
    before = join("", lines)
    again = reversed_edit(before, inverse(row.edit))
    if again is None or again == before:
        what = "is there already" if again == before else "has changed since"
        raise KnowledgeError("changed-since", f"the line {what}, so it stays as it is", row.file)
    wanted = split(again)[1]
    blocks = SequenceMatcher(None, lines, wanted, autojunk=False).get_opcodes()
    hunks: list[Hunk] = []
    for kind, start, end, first, last in reversed(blocks):
        if kind != "equal":
            section = section_at(lines, start) if row.edit.hunks and any(one.section for one in row.edit.hunks) else ""
            hunks.append(made(lines, start, end - start, wanted[first:last], section)[1])
    return hunks


def settled(where: Paths) -> str:
    """Tell a project's changes.jsonl of edits that a crash cut off (the home's next harvest does that for the home).
    Returns a sentence about what went wrong, or ""."""
    try:
        take_away(where)
    except OSError as error:
        return f"an edit that was cut off before cannot be undone: {where.changes} ({error.strerror or error})"
    return ""


def undone_elsewhere(workspace: Workspace, where: Paths) -> str:
    """Where the undo of an edit finds it, when that is not here."""
    here = find_project(workspace)
    if where == workspace.paths or (here is not None and project_paths(here) == where):
        return ""
    return f"the undo works in the folder of that project: {where.home.parent}"
