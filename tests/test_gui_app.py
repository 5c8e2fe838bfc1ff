"""`knowledge-panel` as a program of its own, and inside of a host's: it opens, closes cleanly, remembers its place,
leaves the home as it was, or says why it cannot."""

from __future__ import annotations

import ctypes
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from core.base.result import Ok, attempt
from core.commands.demo import make_demo_home
from tests.gui_window import open_desk, open_screen
from tests.panel_desk import harvested_at
from tests.waiting import PATIENCE_SECONDS, wait_until

ROOT = Path(__file__).resolve().parents[1]
RESTING = 0.3  # of one core: a window at rest draws one frame a second
LOOK_SECONDS = 0.5  # where a slow frame of software rendering falls into it, the next look is another
OF_THE_SYSTEM = ("libGL", "MESA", "Mesa", "libEGL", "WARNING: ", "Xlib:")  # what drivers say on standard error
WITHOUT_PRIVILEGES = ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all"]  # nothing is read-only for root


def environment(folder: Path, **more: str) -> dict[str, str]:
    """The environment of a user whose settings, caches and windows are in `folder`."""
    found = {**os.environ, **more, "HOME": str(folder), "PYTHONPATH": str(ROOT)}
    for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        found[name] = str(folder / name.lower())
    for name in ("SLOP_CONFIG", "MANUAL_SLOP_HOME"):
        found.pop(name, None)
    return found


@pytest.mark.parametrize(
    ("words", "display", "status", "says"),
    [([], {"DISPLAY": ""}, 1, "needs a graphical display"), (["--scale", "9"], {}, 2, "0.5 to 4")],
    ids=["no display", "a wrong word"],
)
def test_where_no_window_can_be_it_says_so_in_one_sentence(
    tmp_path: Path, words: list[str], display: dict[str, str], status: int, says: str
) -> None:
    """Otherwise the user sees an abort inside a graphics library, or a window of unreadable size."""
    done = subprocess.run(
        [sys.executable, "-m", "gui", *words], env=environment(tmp_path, **display), cwd=tmp_path,
        capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (status, "", 1)
    assert says in done.stderr and "knowledge" in done.stderr


@contextmanager
def started(folder: Path, *words: str, command: tuple[str, ...] = ()) -> Iterator[subprocess.Popen[str]]:
    """The program, once its window is there or it has ended; it is gone afterwards."""
    open_screen()  # skips where there is no display to be had, and starts one
    program = subprocess.Popen(
        [*command, sys.executable, "-m", "gui", *words], env=environment(folder), cwd=folder, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        wait_until(lambda: program.poll() is not None or window_of(program), 0.2)
        yield program
    finally:
        if program.poll() is None:
            program.kill()
            program.communicate()


def window_of(program: subprocess.Popen[str]) -> str:
    search = ["xdotool", "search", "--onlyvisible", "--pid", str(program.pid), "--name", "^Knowledge Memory$"]
    return subprocess.run(search, capture_output=True, text=True, check=False).stdout.strip()


def ended(program: subprocess.Popen[str]) -> tuple[int, str, list[str]]:
    """How it ended: its status, what it printed, and the lines of its own on standard error."""
    out, err = program.communicate(timeout=PATIENCE_SECONDS)
    return program.returncode, out, [line for line in err.splitlines() if not line.startswith(OF_THE_SYSTEM)]


def work_in_a_while(pid: int) -> float:
    """The share of one core that a process uses while nobody touches it."""

    def ticks() -> int:
        return sum(int(word) for word in Path(f"/proc/{pid}/stat").read_text("ascii").rsplit(")", 1)[1].split()[11:13])

    before, began = ticks(), time.monotonic()
    time.sleep(LOOK_SECONDS)
    return (ticks() - before) / os.sysconf("SC_CLK_TCK") / (time.monotonic() - began)


def test_it_opens_stays_quiet_and_closes_cleanly(tmp_path: Path) -> None:
    """The whole program in a real window, ended as a terminal ends it; the next start finds its place again."""
    remembered = tmp_path / "xdg_state_home" / "manual_slop" / "panel.json"
    remembered.parent.mkdir(parents=True)
    remembered.write_text('{"choices": {"theme": "light"}}')
    with started(tmp_path, "--demo", "--scale", "1.5") as program:
        quiet = wait_until(lambda: program.poll() is not None or work_in_a_while(program.pid) <= RESTING, 0.1)
        assert quiet, "it never came to rest"
        assert program.poll() is None, program.communicate()
        program.send_signal(signal.SIGINT)
        assert ended(program) == (0, "", [])
    kept = json.loads(remembered.read_text(encoding="utf-8"))
    assert kept["width"] >= 640 and kept["choices"] == {"theme": "light", "view": "knowledge"}


# --- homes that are not as they should be ----------------------------------------------------------------------------


def unwritable_and_broken_geometry(folder: Path) -> None:
    broken_geometry(folder)
    for path in sorted((folder / "home").rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    (folder / "home").chmod(0o555)


def broken_geometry(folder: Path, remembered: str = '{"width": 12') -> None:
    state = folder / "xdg_state_home" / "manual_slop"
    state.mkdir(parents=True)
    (state / "panel.json").write_text(remembered, encoding="utf-8")


def foreign_geometry_and_no_home(folder: Path) -> None:
    shutil.rmtree(folder / "home")
    strange = {"width": -5, "x": 1e9, "scale": "big", "choices": {"view": "nowhere", "theme": "pink"}}
    broken_geometry(folder, json.dumps(strange))


def broken_config(folder: Path) -> None:
    settings = folder / "xdg_config_home" / "manual_slop"
    settings.mkdir(parents=True)
    (settings / "config.toml").write_text("[ai_settings.knowledge\n", encoding="utf-8")


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


@pytest.mark.parametrize(
    ("prepare", "status", "says"),
    [(unwritable_and_broken_geometry, 0, "set back"), (broken_config, 1, "config.toml"), (None, 0, ""),
     (foreign_geometry_and_no_home, 0, "")],
    ids=["unwritable, broken geometry", "broken config", "Ctrl-C at once", "no home, foreign geometry"],
)  # fmt: skip
def test_it_opens_and_closes_by_its_button_or_says_why_not(
    tmp_path: Path, prepare: Callable[[Path], object] | None, status: int, says: str
) -> None:
    """A store on a read-only disk can still be read; a torn file of ours must not keep the window from opening; a slip
    in config.toml is told in one line; the first start of all finds no home; and who is impatient, and presses Ctrl-C
    at the very moment the window comes, is not answered with a traceback. Nothing in the home changes by being looked
    at."""
    harvested_at(tmp_path)
    if prepare is not None:
        prepare(tmp_path)
    before = listing(tmp_path / "home")
    privileged = prepare is unwritable_and_broken_geometry and os.geteuid() == 0 and shutil.which("setpriv")
    command = tuple(WITHOUT_PRIVILEGES) if privileged else ()
    with started(tmp_path, "--home", str(tmp_path / "home"), command=command) as program:
        window = window_of(program)
        if window and prepare is None:
            program.send_signal(signal.SIGINT)
        elif window:
            press_close(int(window.split()[-1]))
        done, out, told = ended(program)
    assert (bool(window), done, out) == (status == 0, status, ""), told
    assert len(told) == bool(says) and says in "".join(told)
    assert before == listing(tmp_path / "home")


# --- the host program of the page ------------------------------------------------------------------------------------

# What a user does with the host: looks at it once it has read the store, presses a key, which is not the panel's before
# a click into it, clicks, presses it again, closes the window. It runs inside of the host's own loop, and takes no part
# in the program above it.
PERSON = """
import subprocess, time
import dearpygui.dearpygui as dpg
drawing, begun, told = dpg.render_dearpygui_frame, time.monotonic(), []

def person():
    drawing()
    panel = host["panel"]
    panel.jobs.wake()  # a window at rest draws nothing
    if time.monotonic() - begun > 270:
        print("it did not come about:", told)
        dpg.stop_dearpygui()
    elif not told and panel.shell.state.snapshot is not None and dpg.get_frame_count() > 5:
        told.append("read")
        print("visible:", dpg.get_item_state(panel.header.mark)["visible"])
        print("waiting:", panel.shell.state.snapshot.overview.status.pending["conversations"])
        found = subprocess.run(["xdotool", "search", "--name", "^My program$"], capture_output=True, text=True)
        subprocess.run(["xdotool", "windowfocus", "--sync", found.stdout.split()[-1], "key", "ctrl+2"], check=True)
        told.append(time.monotonic() + 1)
    elif len(told) == 2 and time.monotonic() > told[1]:
        told.append("clicked")
        print("view:", panel.shell.state.view)
        (left, top), (x, y) = dpg.get_item_rect_min(panel.header.mark), dpg.get_viewport_pos()
        place = [str(int(left + x + 8)), str(int(top + y + 8))]
        subprocess.run(["xdotool", "mousemove", *place, "click", "1", "sleep", "0.3", "key", "ctrl+2"], check=True)
    elif len(told) == 3 and panel.shell.state.view == "conversations":
        told.append("key")
        print("view:", panel.shell.state.view, "mistakes:", panel.jobs.errors)
        dpg.stop_dearpygui()

dpg.render_dearpygui_frame = person
host = {}
exec(compile(PROGRAM, "embed.md", "exec"), host)
"""


def test_the_example_of_the_page_draws_answers_a_key_and_ends_cleanly(tmp_path: Path) -> None:
    """Who embeds the panel copies these lines, so they must work, and be few: ten of Dear PyGui that everybody has
    anyway, and a handful for the panel. They let Dear PyGui run callbacks on its own thread, as most hosts do."""
    page = (ROOT / "assets" / "docs" / "embed.md").read_text(encoding="utf-8")
    section = page.split("\n## Put the panel into your own window\n")[1]
    (example,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    lines = [line for line in example.splitlines() if line.strip()]
    assert len(lines) <= 22 and sum("panel" in line.lower() for line in lines) <= 6
    desk = open_desk(paints=False)  # skips where there is no display to be had, and starts one
    assert isinstance(attempt(make_demo_home, str(tmp_path / ".manual_slop")), Ok)
    done = subprocess.run(
        [sys.executable, "-c", f"PROGRAM = {example!r}\n{PERSON}"], env=environment(tmp_path), cwd=tmp_path,
        capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False,
    )  # fmt: skip
    desk.focus()  # the other tests' window had the keyboard before
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "visible: True",
        "waiting: 6",
        "view: knowledge",
        "view: conversations mistakes: []",
    ]
