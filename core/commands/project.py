"""Which project a command speaks of: the folder that has knowledge of its own, `<project>/.manual_slop/knowledge`."""

from __future__ import annotations

import os
from pathlib import Path

from core.base.paths import PROJECT_FOLDER, Paths, project_paths
from core.base.result import Ok, Result, fail
from core.commands.workspace import Workspace


def find_project(workspace: Workspace, asked: str = "") -> Result[Path | None]:
    """The project's folder: the one that was asked for (Err when it is none), else the nearest one above the current
    folder that has knowledge of its own, or None. The home itself is no project."""
    if asked:
        folder = Path(os.path.abspath(workspace.cwd / os.path.expanduser(asked)))
        if not folder.is_dir():
            return fail("no-project", "there is no folder of that name", folder, "name the project's folder")
        return Ok(None if is_home(workspace, folder) else folder)
    for folder in (workspace.cwd, *workspace.cwd.parents):
        if project_paths(folder).knowledge.is_dir() and not is_home(workspace, folder):
            return Ok(folder)
    return Ok(None)


def is_home(workspace: Workspace, project: Path) -> bool:
    """Whether a project's knowledge would be the home's: `~` seen as a project."""
    return os.path.realpath(project / PROJECT_FOLDER) == os.path.realpath(workspace.paths.home)


def places(workspace: Workspace, project: Path | None) -> list[tuple[str, Paths]]:
    """Where knowledge of the home and of the project lies, as (scope, places)."""
    found = [("global", workspace.paths)]
    return [*found, ("project", project_paths(project))] if project is not None else found
