"""`knowledge demo`: the journey on sample conversations, then the panel on its home, where there is a display."""

from __future__ import annotations

import os
import shutil
import sys
from subprocess import DEVNULL, Popen
from typing import IO, TYPE_CHECKING

from core.cli.harvest import harvest_text
from core.cli.status import status_text
from core.cli.table import flag, option, single

if TYPE_CHECKING:
    from core.commands.demo import Demo


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
        f"{shown}\nThe demo's home is {home}: look around, edit it, delete it. The next demo makes it anew.\n"
        f"Next: {_program()} status --home {home}\n"
    )


def _program() -> str:
    """How this program can be called from here: after `make run` its folder is not on the PATH."""

    if shutil.which("knowledge"):
        return "knowledge"
    started = sys.argv[0]
    by_name = os.path.basename(started).removesuffix(".exe") == "knowledge"
    return started if by_name else f"{sys.executable} -m core"


def has_display() -> bool:
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def open_panel(demo: Demo, err: IO[str]) -> None:
    """Start the panel as a program of its own and leave it running."""
    from core.commands.demo import held_locks

    if not demo.panel:
        return
    if not has_display():
        print("There is no display here; on one, 'knowledge-panel --demo' shows the same in a window.", file=err)
        return

    Popen(
        [sys.executable, "-m", "gui", "--home", demo.home],
        stdout=DEVNULL,
        stderr=DEVNULL,
        pass_fds=held_locks() if sys.platform != "win32" else (),
    )


COMMANDS = (
    single(
        "demo",
        "a temporary home with sample conversations: dry run, apply, status",
        "",
        ".demo:demo",
        demo_text,
        flag("--no-panel", "do not open the panel afterwards"),
        option("--into", "make the home in this new folder and keep it", "DIR"),
        long=True,
        afterwards=open_panel,
    ),
)
