"""A demo home that is ready to be looked at, for a window."""

from __future__ import annotations

from core.base.result import Err, Result
from core.commands.demo import demo
from core.commands.workspace import Workspace, open_workspace


def demo_home(workspace: Workspace) -> Result[Workspace]:
    """Make a new demo home, harvest it by the rules, and open it with the same settings."""
    made = demo(workspace, no_panel=True)
    if isinstance(made, Err):
        return made
    file = workspace.loaded.file if workspace.loaded.found_by != "shipped" else None
    return open_workspace(made.value.home, file, workspace.environment, workspace.cwd)
