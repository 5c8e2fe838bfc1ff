"""The real program, opened and closed again and again: `python -m tests.panel_launches [20]`.

Each launch has one of the homes that people really have, and is closed at another moment: right after its window came,
while it reads, when it rests; by its window's button or by Ctrl-C.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from core.base.result import Ok
from core.commands.demo import make_demo_home
from core.commands.harvest import harvest
from core.commands.harvest_options import HarvestRequest
from tests.panel_desk import workspace_at
from tests.test_gui_app import environment
from tests.waiting import PATIENCE_SECONDS

TITLE = "^Knowledge$"
WITHOUT_PRIVILEGES = ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all"]  # nothing is read-only for root


@dataclass(frozen=True)
class Launch:
    """How a launch ended. `opened`: its window came, after so many seconds. `touched`: files of the home that are not
    as they were before: looking at a home must not change it."""

    home: str
    opened: bool
    seconds: float
    status: int
    out: str
    err: str
    touched: tuple[str, ...] = ()


@dataclass(frozen=True)
class Home:
    """What lies on the disk before a launch, and how it has to end: with which status, and how many lines on stderr."""

    prepare: Callable[[Path], object]
    status: int = 0
    lines: int = 0
    says: str = ""
    unprivileged: bool = False


def existing(folder: Path) -> None:
    workspace = workspace_at(folder)
    done = harvest(workspace, HarvestRequest(apply=True))
    assert isinstance(done, Ok), done


def unwritable(folder: Path) -> None:
    existing(folder)
    for path in sorted((folder / "home").rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    (folder / "home").chmod(0o555)


def broken_geometry(folder: Path) -> None:
    existing(folder)
    state = folder / "xdg_state_home" / "manual_slop"
    state.mkdir(parents=True)
    (state / "panel.json").write_text('{"width": 12', encoding="utf-8")


def foreign_geometry(folder: Path) -> None:
    existing(folder)
    state = folder / "xdg_state_home" / "manual_slop"
    state.mkdir(parents=True)
    strange = '{"width": -5, "x": 1e9, "scale": "big", "layout": [], "choices": {"view": "nowhere", "theme": "pink"}}'
    (state / "panel.json").write_text(strange, encoding="utf-8")


def broken_config(folder: Path) -> None:
    assert isinstance(make_demo_home(str(folder / "home")), Ok)
    settings = folder / "xdg_config_home" / "manual_slop"
    settings.mkdir(parents=True)
    (settings / "config.toml").write_text("[ai_settings.knowledge\n", encoding="utf-8")


def empty(folder: Path) -> None:
    (folder / "home").mkdir()


HOMES: dict[str, Home] = {
    "existing": Home(existing),
    "empty": Home(empty),
    "not there": Home(lambda folder: None),
    "unwritable": Home(unwritable, unprivileged=True),
    "broken geometry": Home(broken_geometry, lines=1, says="set back"),
    "foreign geometry": Home(foreign_geometry),
    "broken config": Home(broken_config, status=1, lines=1, says="config.toml"),
}


def launch(name: str, folder: Path, after: float = 0.5, button: bool = True) -> Launch:
    """One launch on a home of that kind in `folder`, closed `after` seconds after its window came."""
    home = HOMES[name]
    home.prepare(folder)
    words = [sys.executable, "-m", "gui", "--home", str(folder / "home")]
    if home.unprivileged and os.geteuid() == 0 and shutil.which("setpriv"):
        words = [*WITHOUT_PRIVILEGES, *words]
    before = listing(folder / "home")
    begun = time.monotonic()
    program = subprocess.Popen(
        words, env=environment(folder), cwd=folder, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    window, seconds = "", 0.0
    try:
        while not window and program.poll() is None and time.monotonic() < begun + PATIENCE_SECONDS:
            time.sleep(0.05)
            search = ["xdotool", "search", "--onlyvisible", "--pid", str(program.pid), "--name", TITLE]
            window = subprocess.run(search, capture_output=True, text=True, check=False).stdout.strip()
        seconds = time.monotonic() - begun
        if window:
            time.sleep(after)
            if button:
                press_close(int(window.split()[-1]))
            else:
                program.send_signal(signal.SIGINT)
        out, err = program.communicate(timeout=PATIENCE_SECONDS)
    finally:
        if program.poll() is None:
            program.kill()
            program.communicate()
    touched = tuple(sorted({row[0] for row in before ^ listing(folder / "home")}))
    return Launch(name, bool(window), seconds, program.returncode, out, err, touched)


def listing(home: Path) -> set[tuple[str, bytes]]:
    """Every file and folder of a home."""
    found = [path for path in (home, *home.rglob("*")) if path.exists()]
    return {(str(path), path.read_bytes() if path.is_file() else b"") for path in found}


def press_close(window: int) -> None:
    """Send what a window manager sends when somebody presses the button that closes a window (ICCCM, 4.2.8.1)."""
    x11 = ctypes.CDLL("libX11.so.6")
    x11.XOpenDisplay.restype = ctypes.c_void_p
    x11.XInternAtom.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int]
    x11.XInternAtom.restype = ctypes.c_ulong
    x11.XSendEvent.argtypes = [ctypes.c_void_p, ctypes.c_ulong, ctypes.c_int, ctypes.c_long, ctypes.c_char_p]
    x11.XCloseDisplay.argtypes = [ctypes.c_void_p]
    display = x11.XOpenDisplay(None)
    protocols, delete = (x11.XInternAtom(display, name, 0) for name in (b"WM_PROTOCOLS", b"WM_DELETE_WINDOW"))
    # XClientMessageEvent: type, serial, send_event, display, window, message_type, format, five longs.
    message = struct.pack("@iLiPLLi5l", 33, 0, 1, display, window, protocols, 32, delete, 0, 0, 0, 0)
    x11.XSendEvent(display, window, 0, 0, message.ljust(192, b"\0"))
    x11.XCloseDisplay(display)  # sends what waits


def fault(done: Launch) -> str:
    """What was wrong with a launch, "" for nothing."""
    home = HOMES[done.home]
    if done.opened != (home.status == 0):
        return f"its window {'came' if done.opened else 'did not come'}: {done.err}"
    lines = done.err.splitlines()
    if done.status != home.status or done.out or len(lines) != home.lines or home.says not in done.err:
        return f"ended with {done.status}, said {done.out!r} and {done.err!r}"
    return f"it changed {', '.join(done.touched)}" if done.touched else ""


def main(count: int) -> int:
    """So many launches in a row; 1 when one of them failed."""
    from tests.gui_window import open_desk

    open_desk()
    failed, kinds = 0, list(HOMES)
    for number in range(count):
        folder = Path(tempfile.mkdtemp(prefix="knowledge-launch-"))
        folder.chmod(0o755)
        name = kinds[number % len(kinds)]
        after, button = (0.0, 0.15, 0.4, 1.5)[number % 4], number % 3 != 0
        try:
            done = launch(name, folder, after, button)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        problem = fault(done)
        failed += bool(problem)
        how = f"closed after {after:.2f} s by {'its button' if button else 'Ctrl-C'}" if done.opened else "refused"
        print(f"{number + 1:>3} {name:<17} {done.seconds:5.2f} s  {how}  {problem or 'ok'}", flush=True)
    print(f"{count - failed} of {count} launches without a failure")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 20))
