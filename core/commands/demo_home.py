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

    They lie in the demo's home and name nothing but the switch of the digest: a change of a setting there does not
    reach the person's own file, and what that one says of other tools' conversations does not reach the demo.
    """
    made = demo(workspace, no_panel=True)
    if isinstance(made, Err):
        return made
    own = Path(made.value.home) / SETTINGS_NAME
    try:
        files.write_atomic(own, NEW_SETTINGS.encode())
    except OSError as error:
        return fail("demo-failed", f"the demo's settings could not be written: {error.strerror}", own)
    return open_workspace(made.value.home, own, workspace.environment, Path(made.value.home))
