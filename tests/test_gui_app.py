"""`knowledge-panel` as a program of its own: it opens, closes cleanly, remembers its place, or says why it cannot."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.gui_window import open_screen
from tests.waiting import PATIENCE_SECONDS, wait_until

ROOT = Path(__file__).resolve().parents[1]
RESTING = 0.3  # of one core: a window at rest draws one frame a second
LOOK_SECONDS = 0.5  # where a slow frame of software rendering falls into it, the next look is another
OF_THE_SYSTEM = ("libGL", "MESA", "Mesa", "libEGL", "WARNING: ", "Xlib:")  # what drivers say on standard error


def environment(folder: Path, **more: str) -> dict[str, str]:
    """The environment of a person whose settings, caches and windows are in `folder`."""
    found = {**os.environ, **more, "HOME": str(folder), "PYTHONPATH": str(ROOT)}
    for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        found[name] = str(folder / name.lower())
    for name in ("SLOP_CONFIG", "MANUAL_SLOP_HOME"):
        found.pop(name, None)
    return found


def test_without_a_display_it_says_so_in_one_sentence(tmp_path: Path) -> None:
    """Otherwise the person sees an abort inside a graphics library."""
    done = subprocess.run(
        [sys.executable, "-m", "gui"], env=environment(tmp_path, DISPLAY=""), cwd=tmp_path, capture_output=True,
        text=True, timeout=PATIENCE_SECONDS, check=False,
    )  # fmt: skip
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.count("\n") == 1 and "needs a graphical display" in done.stderr and "knowledge" in done.stderr


def test_a_wrong_word_is_refused_before_a_window_opens(tmp_path: Path) -> None:
    """A typing error must not end in a window of unreadable size."""
    done = subprocess.run(
        [sys.executable, "-m", "gui", "--scale", "9"], env=environment(tmp_path), cwd=tmp_path, capture_output=True,
        text=True, timeout=PATIENCE_SECONDS, check=False,
    )  # fmt: skip
    assert done.returncode == 2 and "0.5 to 4" in done.stderr


def work_in_a_while(pid: int) -> float:
    """The share of one core that a process uses while nobody touches it."""

    def ticks() -> int:
        return sum(int(word) for word in Path(f"/proc/{pid}/stat").read_text("ascii").rsplit(")", 1)[1].split()[11:13])

    before, began = ticks(), time.monotonic()
    time.sleep(LOOK_SECONDS)
    return (ticks() - before) / os.sysconf("SC_CLK_TCK") / (time.monotonic() - began)


@pytest.mark.parametrize("words", [["--demo", "--light"], ["--home", "somewhere", "--scale", "1.5"]])
def test_it_opens_stays_quiet_and_closes_cleanly(tmp_path: Path, words: list[str]) -> None:
    """The whole program in a real window, ended as a terminal ends it; the next start finds its place again."""
    open_screen()  # skips where there is no display to be had, and starts one
    if not shutil.which("xdotool"):
        pytest.skip("xdotool is not installed")
    program = subprocess.Popen(
        [sys.executable, "-m", "gui", *words], env=environment(tmp_path), cwd=tmp_path, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        search = ["xdotool", "search", "--pid", str(program.pid), "--name", "^Knowledge$"]

        def ended_or(so: Callable[[], object]) -> bool:
            return wait_until(lambda: program.poll() is not None or so(), 0.1)

        assert ended_or(lambda: subprocess.run(search, capture_output=True).stdout.strip())
        assert ended_or(lambda: work_in_a_while(program.pid) <= RESTING), "it never came to rest"
        assert program.poll() is None, program.communicate()
        program.send_signal(signal.SIGINT)
        out, err = program.communicate(timeout=PATIENCE_SECONDS)
    finally:
        if program.poll() is None:
            program.kill()
            program.wait()
    ours = [line for line in err.splitlines() if not line.startswith(OF_THE_SYSTEM)]
    assert (program.returncode, out, ours) == (0, "", [])
    kept = json.loads((tmp_path / "xdg_state_home" / "manual_slop" / "panel.json").read_text(encoding="utf-8"))
    assert kept["width"] >= 640 and kept["choices"]["view"] == "timeline"
    assert kept["choices"].get("theme", "dark") == ("light" if "--light" in words else "dark")
