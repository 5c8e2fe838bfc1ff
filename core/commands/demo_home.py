"""A demo home that is ready to be looked at, for a window."""

from __future__ import annotations

from pathlib import Path

from core.base import files
from core.base.result import Err, Result, fail
from core.commands.demo import demo
from core.commands.workspace import Workspace, open_workspace

SETTINGS_NAME = "config.toml"
NEW_SETTINGS = """# The settings of this demo home. Your own settings file is not touched by what you change here.
[ai_settings.knowledge]
digest_enabled = true
"""


def demo_home(workspace: Workspace) -> Result[Workspace]:
    """Make a new demo home, harvest it by the rules, and open it with settings of its own.

    They begin as a copy of the settings in force, comments included, and lie in the demo's home: a change of a setting
    there must not reach the person's own file.
    """
    made = demo(workspace, no_panel=True)
    if isinstance(made, Err):
        return made
    own = Path(made.value.home) / SETTINGS_NAME
    shipped = workspace.loaded.found_by == "shipped"
    try:
        data = NEW_SETTINGS.encode() if shipped else files.read_file(workspace.loaded.file).data
        files.write_atomic(own, data)
    except OSError as error:
        return fail("demo-failed", f"the demo's settings could not be written: {error.strerror}", own)
    return open_workspace(made.value.home, own, workspace.environment, workspace.cwd)
