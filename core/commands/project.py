"""Which project a command speaks of: the folder that has knowledge of its own, `<project>/.manual_slop/knowledge`.

It is looked for from the current folder up to the root of the repository or the person's home, and must be this
person's own (homes.py); what lies in it is read only where they trust it (trust.py).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from core.base.homes import is_home, why_foreign_file, why_refused
from core.base.paths import PROJECT_FOLDER, Paths, choose_home, project_paths
from core.base.project import folders_around
from core.base.result import Err, ErrorInfo, Ok, Result, fail
from core.base.trust import REFUSED, left_out, read_trust
from core.commands.workspace import Workspace


def find_project(workspace: Workspace, asked: str = "") -> Result[Path | None]:
    """The project's folder: the one that was asked for (Err when it is none), else the nearest one above the current
    folder that has knowledge of its own, or None. No home is a project, neither the one in use (then None) nor another:
    `~` holds the usual one, and what that knows belongs to nobody who has named a home of his own."""
    if asked:
        folder = Path(os.path.abspath(workspace.cwd / os.path.expanduser(asked)))
        if not folder.is_dir():
            return fail("no-project", "there is no folder of that name", folder, "name the project's folder")
        if os.path.realpath(folder / PROJECT_FOLDER) == os.path.realpath(workspace.paths.home):
            return Ok(None)
        if _holds_home(workspace, folder):
            message = "this folder holds another home, so it is no project"
            return fail("no-project", message, folder, f"use that home with --home {folder / PROJECT_FOLDER}")
        return Ok(folder)
    return Ok(next((folder for folder in _candidates(workspace) if not why_refused(folder)), None))


def _candidates(workspace: Workspace) -> list[Path]:
    """The folders around the current one that have knowledge of their own, the nearest first."""
    # os.path: a folder above that is closed to this person is no project, and no error
    return [
        folder
        for folder in folders_around(workspace.cwd)
        if os.path.isdir(project_paths(folder).knowledge) and not _holds_home(workspace, folder)
    ]


def project_problem(workspace: Workspace, asked: str = "") -> ErrorInfo | None:
    """What of a project's own knowledge is left out here and why: it waits for the person's word, or it is not theirs.
    None when nothing is left out."""
    found = find_project(workspace, asked)
    if isinstance(found, Err) or (asked and found.value is None):
        return None
    if asked:
        near = [found.value] if found.value is not None else []
    else:
        near = [folder for folder in _candidates(workspace) if folder == found.value or why_refused(folder)]
    return next((problem for folder in near if (problem := left_out(folder, workspace.environment))), None)


def project_warnings(workspace: Workspace, asked: str = "", *, refused: bool = False) -> tuple[str, ...]:
    """The same as what a command tells beside its result; with `refused` only that a folder may not be used at all."""
    problem = project_problem(workspace, asked)
    counts = problem is not None and (problem.code == REFUSED or not refused)
    return (f"WARNING: {problem}",) if counts else ()


def _holds_home(workspace: Workspace, folder: Path) -> bool:
    """Whether the knowledge of a folder is a home's: of the one in use, the one that is set, or any other."""
    usual = choose_home("", workspace.loaded.home_setting, workspace.environment)
    return is_home(folder / PROJECT_FOLDER, workspace.paths.home, usual)


def places(workspace: Workspace, project: Path | None) -> list[tuple[str, Paths]]:
    """Where knowledge of the home and of the project lies, as (scope, places); without a project's that may not be
    used. Of one that may, each file is read only where `may_read` says so."""
    found = [("global", workspace.paths)]
    usable = project is not None and not why_refused(project)
    return [*found, ("project", project_paths(project))] if project is not None and usable else found


def may_read(workspace: Workspace, project: Path | None) -> Callable[[Path], bool]:
    """Whether a file in the `.manual_slop` of a project may be read: the person trusts the folder, or it as it is."""
    if project is None or why_refused(project):
        return lambda path: False
    trust = read_trust(workspace.environment)
    if trust.has_folder(project):  # asked once, and not for each file
        return lambda path: not why_foreign_file(path)
    return lambda path: trust.allows(project, path)
