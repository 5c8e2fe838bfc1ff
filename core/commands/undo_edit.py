"""A single edit taken back: one of the home, or one of the project around the current folder.

A project tells the edits of its memories in its own changes.jsonl. It has no harvests, so nothing but the next edit or
undo there looks at what a crash cut off.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePath
from typing import Any

from core.base import locks
from core.base.paths import Paths, project_paths
from core.base.result import Err, ErrorInfo, Ok, Result, fail
from core.base.trust import allow_written
from core.commands.project import find_project, may_read
from core.commands.runs import UNDO_RUN
from core.commands.workspace import Workspace
from core.knowledge.changes import Change, read_changes
from core.knowledge.promises import settle_promises
from core.knowledge.reversal import CHANGED, GONE, MISSED, REVERSED, take_back


@dataclass
class UndoReport:
    """What an undo did: conversations back in their place, harvests forgotten, lines taken out of the files and brought
    back into them, the lines that `stayed` because they were changed since or are needed by another harvest, and those
    that were `gone` before. `stayed_why` has the reason for each line that stayed. `already`: an earlier undo took it
    all back, and there was nothing left to do.
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
    notes: list[str] = field(default_factory=list)
    errors: list[ErrorInfo] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """The document of `knowledge undo --json`."""
        failed = [{"path": error.path, "error": error.message, "code": error.code} for error in self.errors]
        return {**{key: value for key, value in vars(self).items() if key != "errors"}, "failed": failed}


def undo_in_project(workspace: Workspace, run: str, now: datetime) -> Result[UndoReport] | None:
    """Take back an edit of the project around the current folder, which tells its edits in its own changes.jsonl; None
    when it knows of no such run. A project has no harvests, no digest and no facts of the index to look after."""
    project = find_project(workspace)
    if isinstance(project, Err) or project.value is None:
        return None
    paths, readable = project_paths(project.value), may_read(workspace, project.value)
    try:
        if readable(paths.edits) and paths.edits.is_dir():
            settle_promises(paths)  # of an edit that a crash cut off before it was told
        if not readable(paths.changes):
            return None
        changes = read_changes(paths)
        mine = [row for row in changes if row.run == run and _is_inside(row.file)]
        if not mine:
            return None
        report = UndoReport(run)
        undone = [row for row in changes if row.run == UNDO_RUN + run]
        with locks.locked(paths.lock, work="undo"):
            undo_edit(paths, mine, undone, report, now)
    except locks.LockHeldError as error:
        return locks.refused(error)
    except OSError as error:
        message = f"the project's knowledge folder cannot be used: {error.strerror or error}"
        return fail("store-failed", message, error.filename or paths.knowledge)
    report.already = bool(undone) and not (report.lines_out or report.lines_back or report.stayed or report.errors)
    noted = allow_written(
        project.value, workspace.environment, [paths.changes, *(paths.knowledge / row.file for row in mine)]
    )
    if isinstance(noted, Err):
        report.errors.append(noted.error)
    return Ok(report)


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
        result = take_back(paths, row, now, UNDO_RUN + report.run)
        if isinstance(result, Err):
            report.errors.append(result.error)
        elif result.value == REVERSED:
            report.lines_out += len(row.added)
            report.lines_back += len(row.removed)
        elif result.value == CHANGED:
            report.stayed += row.added or row.removed
            report.stayed_why |= dict.fromkeys(row.added or row.removed, CHANGED)
        elif result.value == MISSED:
            report.notes.append("the lines count as missing again: 'knowledge missing restore' puts them back")
        elif result.value == GONE:
            report.gone += row.added
        else:
            report.notes.append(f"{row.file} is already as it was before the edit")


def settled(where: Paths) -> str:
    """Tell a project's changes.jsonl of edits that a crash cut off (the home's next harvest does that for the home).
    Returns a sentence about what went wrong, or ""."""
    try:
        settle_promises(where)
    except OSError as error:
        return f"an edit that was cut off before cannot be undone: {where.changes} ({error.strerror or error})"
    return ""


def undone_elsewhere(workspace: Workspace, where: Paths) -> str:
    """Where the undo of an edit finds it, when that is not here."""
    around = find_project(workspace)
    here = around.value if isinstance(around, Ok) else None
    if where == workspace.paths or (here is not None and project_paths(here) == where):
        return ""
    return f"the undo works in the folder of that project: {where.home.parent}"
