"""Which project a command speaks of: the folder that has knowledge of its own, `<project>/.manual_slop/knowledge`."""

from __future__ import annotations

import os
from pathlib import Path

from core.base.homes import is_home
from core.base.paths import PROJECT_FOLDER, Paths, choose_home, project_paths
from core.base.result import Ok, Result, fail
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
    for folder in (workspace.cwd, *workspace.cwd.parents):
        # os.path: a folder above that is closed to this person is no project, and no error
        if os.path.isdir(project_paths(folder).knowledge) and not _holds_home(workspace, folder):
            return Ok(folder)
    return Ok(None)


def _holds_home(workspace: Workspace, folder: Path) -> bool:
    """Whether the knowledge of a folder is a home's: of the one in use, the one that is set, or any other."""
    usual = choose_home("", workspace.loaded.home_setting, workspace.environment)
    return is_home(folder / PROJECT_FOLDER, workspace.paths.home, usual)


def places(workspace: Workspace, project: Path | None) -> list[tuple[str, Paths]]:
    """Where knowledge of the home and of the project lies, as (scope, places)."""
    found = [("global", workspace.paths)]
    return [*found, ("project", project_paths(project))] if project is not None else found
