"""`knowledge demo`: the whole journey on shipped sample conversations, in a home of its own.

The folder is a temporary one, which the system clears in its time, unless the user names another.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from subprocess import DEVNULL, Popen
from typing import IO, Any

from core.base import files
from core.base.config import SHIPPED_FILE, load_config
from core.base.paths import Paths, shipped_root
from core.base.result import KnowledgeError, disk_errors
from core.commands.bullets import add
from core.commands.harvest import harvest
from core.commands.harvest_options import HarvestRequest
from core.commands.harvest_report import harvest_text
from core.commands.row import flag, option, top
from core.commands.status import Status, status, status_text
from core.commands.workspace import Workspace, open_workspace
from core.harvest.report import HarvestReport, Report
from core.sources.tools import SOURCES

NAME = "knowledge-demo-"
LEFT = ("import-from-browsers", "release-steps")
"""How the names of the conversations begin that a demo leaves to whoever tries it, so that a first harvest has work."""
NOTED = ("project/shelf.py", "`open_shelf` keeps WAL on: the browser extension writes while the check runs")
"""A note on a file as somebody writes it by hand: rules make none."""


@dataclass(frozen=True)
class Demo:
    """What the demo showed: the dry run, the run, the state afterwards, and the digest that came of it."""

    home: str
    dry_run: HarvestReport
    applied: HarvestReport
    status: Status
    digest: str
    panel: bool

    def to_json(self) -> dict[str, Any]:
        return {
            "home": self.home,
            "dry_run": self.dry_run.to_json(),
            "applied": self.applied.to_json(),
            "status": self.status.to_json(),
            "digest": self.digest,
        }


def demo(
    workspace: Workspace,
    *,
    no_panel: bool = False,
    into: str = "",
    progress: Report = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> Demo:
    """Make a home from `assets/demo`, harvest it with the offline rules, and say what is there now.

    The home is a temporary folder, or `into`, which must not exist yet. Nothing else is
    read or changed: the settings are the shipped ones, because the user's own may name the stores of other tools, and
    what to take away.
    """
    made = make_demo_home(into)
    shipped = load_config(SHIPPED_FILE, {}, made)
    loaded = replace(shipped, config=replace(shipped.config, file_roots=(str(made),)))
    environment = {"HOME": str(made)}  # nor is there any other tool's folder where it would look for one
    inside = Workspace(Paths(made), loaded, environment, made)
    aside = [(path, made / path.name) for path in sorted(inside.paths.conversations.iterdir())
             if path.name.startswith(LEFT)]  # fmt: skip
    for path, away in aside:
        path.rename(away)
    dry = harvest(inside, HarvestRequest(provider="offline"))
    applied = harvest(inside, HarvestRequest(apply=True, provider="offline"), progress=progress, cancelled=cancelled)
    for path, away in aside:
        away.rename(path)
    add(inside, "files", NOTED[1], file=NOTED[0])
    state = status(inside)
    digest = files.read_or_empty(inside.paths.digest).decode("utf-8", "replace")
    return Demo(str(made), dry, applied, state, digest, not no_panel)


def make_demo_home(into: str = "") -> Path:
    """Copy the sample home to a new folder; `{home}` in its texts becomes that folder."""
    shipped = shipped_root() / "assets" / "demo"
    with disk_errors("demo-failed", "the demo's home could not be made"):
        if into:
            home = Path(os.path.abspath(os.path.expanduser(into)))
            if files.exists(home):
                message = "the folder for the demo exists already"
                raise KnowledgeError("occupied", message, home, "name one that does not")
        else:
            home = Path(tempfile.mkdtemp(prefix=NAME)) / "home"
        home = Path(os.path.realpath(home))
        shutil.copytree(shipped, home)
        now = time.time()
        for number, path in enumerate(sorted((home / "conversations").iterdir(), reverse=True), start=1):
            text = path.read_text(encoding="utf-8")
            path.write_text(text.replace("{home}", home.as_posix()), encoding="utf-8")
            os.utime(path, (now - number * 3600, now - number * 3600))  # one an hour, oldest first
    return home


SETTINGS_NAME = "config.toml"
NEW_SETTINGS = """# The settings of this demo home. Your own settings file is not touched by what you change here.
[ai_settings.knowledge]
digest_enabled = true
"""


def demo_home(workspace: Workspace) -> Workspace:
    """Make a new demo home, harvest it by the rules, and open it with settings of its own.

    They lie in the demo's home and name nothing but the switch of the digest: a change of a setting there does not
    reach the user's own file, and what that one says of other tools' conversations does not reach the demo.
    """
    return opened_demo(workspace, demo(workspace, no_panel=True).home)


def opened_demo(workspace: Workspace, home: str) -> Workspace:
    """A demo home that was made before, with settings of its own. Tools are looked for in it alone, and nowhere that
    a variable names: what the user said to them is no part of a demo."""
    own = Path(home) / SETTINGS_NAME
    if not files.exists(own):
        with disk_errors("demo-failed", "the demo's settings could not be written", own):
            files.write_atomic(own, NEW_SETTINGS.encode())
    elsewhere = {root.variable for source in SOURCES for root in source.roots}
    environment = {name: value for name, value in workspace.environment.items() if name not in elsewhere}
    return open_workspace(home, own, {**environment, "HOME": home}, Path(home))


def demo_text(demo: Demo) -> str:
    parts = [
        ("$ knowledge harvest", harvest_text(demo.dry_run)),
        ("$ knowledge harvest --apply", harvest_text(demo.applied)),
        ("$ knowledge status", status_text(demo.status)),
        ("$ knowledge digest", demo.digest),
    ]
    shown = "\n".join(f"{prompt}\n{text}" for prompt, text in parts)
    home = demo.home
    return (
        f"{shown}\nThe demo's home is {home}: look around, edit it, delete it.\n"
        f"Next: {_program()} status --home {home}\n"
    )


def _program() -> str:
    """How this program can be called from here: after `make run` its folder is not on the PATH."""
    if shutil.which("knowledge"):
        return "knowledge"
    started = sys.argv[0]
    by_name = os.path.basename(started).removesuffix(".exe") == "knowledge"
    return started if by_name else f"{sys.executable} -m core"


def open_panel(demo: Demo, err: IO[str]) -> None:
    """Start the panel as a program of its own and leave it running."""
    if not demo.panel:
        return
    display = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if not display and sys.platform not in ("win32", "darwin"):
        print("There is no display here; on one, 'knowledge-panel --demo' shows the same in a window.", file=err)
        return

    Popen([sys.executable, "-m", "gui", "--demo", demo.home], stdout=DEVNULL, stderr=DEVNULL)


COMMANDS = (
    top(
        "demo",
        "",
        demo,
        demo_text,
        flag("--no-panel", "do not open the panel afterwards"),
        option("--into", "make the home in this new folder and keep it", "DIR"),
        long=True,
        afterwards=open_panel,
    ),
)
