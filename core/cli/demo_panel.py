"""After the demo: the panel on the demo's home, where there is a display."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import IO

from core.commands.demo import Demo
from core.commands.demo_folder import held_locks


def has_display() -> bool:
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def open_panel(demo: Demo, err: IO[str]) -> None:
    """Start the panel as a program of its own and leave it running."""
    if not demo.panel:
        return
    if not has_display():
        print("There is no display here; on one, 'knowledge-panel --demo' shows the same in a window.", file=err)
        return
    subprocess.Popen(
        [sys.executable, "-m", "gui", "--home", demo.home],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=held_locks() if sys.platform != "win32" else (),
    )
