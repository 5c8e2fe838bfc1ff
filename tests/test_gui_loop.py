"""The frame loop in a real window: quiet while nothing happens, awake when something does."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from tests.gui_window import Desk, desk_fixture  # noqa: F401 - pytest finds the fixture by itself

ROOT = Path(__file__).resolve().parents[1]


def run_for(desk: Desk, seconds: float) -> int:
    """Let the loop run; returns how many frames it drew."""
    before, end = desk.loop.frames, time.perf_counter() + seconds
    while time.perf_counter() < end:
        desk.loop.step()
    return desk.loop.frames - before


def test_an_idle_panel_draws_no_more_than_a_frame_a_second(desk: Desk) -> None:
    """A loop that spins takes a whole core of the person's machine for nothing."""
    desk.loop._awake_until = 0.0
    desk.loop._asked.clear()
    run_for(desk, 0.2)
    desk.loop._awake_until = 0.0
    assert run_for(desk, 1.5) <= 3


def sleeps_of(loop: Any) -> list[bool]:
    """Record of every sleep of a loop: whether something ended it."""
    ended: list[bool] = []
    sleep = loop._sleep

    def recorded(seconds: float) -> bool:
        ended.append(sleep(seconds))
        return ended[-1]

    loop._sleep = recorded
    return ended


def test_a_wake_from_another_thread_ends_the_wait_and_the_job_is_done(desk: Desk) -> None:
    """Otherwise a result of the worker shows up to a second late."""
    run_for(desk, 0.1)
    desk.loop._awake_until = 0.0
    desk.loop._asked.clear()
    ended = sleeps_of(desk.loop)
    done: list[int] = []
    timer = threading.Timer(0.2, desk.jobs.post, (done.append, 1))
    timer.start()
    try:
        desk.loop.step()
        timer.join()
        desk.loop.step()
    finally:
        del desk.loop._sleep
    assert done == [1] and True in ended


def test_after_something_happened_it_keeps_drawing_for_a_moment(desk: Desk) -> None:
    desk.jobs.post(lambda: None)
    assert run_for(desk, 0.4) >= 4


def test_a_window_that_nobody_sees_is_not_drawn_and_goes_on_working(desk: Desk) -> None:
    """Minimised for days: it must cost nothing, take over what happens, and be there at once when it is shown."""
    window = subprocess.run(
        ["xdotool", "search", "--name", "knowledge tests"], capture_output=True, text=True, timeout=10, check=True
    ).stdout.split()[-1]
    done: list[int] = []
    try:
        desk.xdotool("windowunmap", "--sync", window)
        run_for(desk, 0.2)
        drawn = desk.loop.frames
        desk.jobs.post(done.append, 1)
        run_for(desk, 1.2)
        assert done == [1] and desk.loop.frames == drawn
    finally:
        desk.xdotool("windowmap", "--sync", window)
    assert run_for(desk, 0.3) >= 1
    desk.focus()


def test_without_the_wait_of_glfw_the_loop_still_works_and_does_not_spin(desk: Desk) -> None:
    from gui.loop import FrameLoop

    loop = FrameLoop(desk.jobs, lambda: None, glfw=None)
    ended = sleeps_of(loop)
    try:
        for _ in range(5):
            loop._awake_until = 0.0
            loop.step()
        assert len(ended) >= 3  # a nap before each frame
        done: list[int] = []
        desk.jobs.post(done.append, 1)
        loop.step()
        assert done == [1]
    finally:
        desk.jobs.wake = desk.loop.wake


def test_a_failing_tick_is_an_error_line_and_the_frame_is_drawn(desk: Desk) -> None:
    desk.ticks.append(lambda: 1 / 0)
    before = desk.loop.frames
    desk.frames(2)
    assert desk.loop.frames == before + 2
    assert "ZeroDivisionError" in desk.jobs.errors[0].message


def test_no_abort_without_a_display() -> None:
    """GLFW ends the process with a core dump; a person on a server wants a sentence."""
    code = "from gui.display import display_problem as p; import sys; print(p()); sys.exit(1 if p() else 0)"
    environment = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY")}
    answer = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert answer.returncode == 1 and "graphical display" in answer.stdout and not answer.stderr


def test_screens_and_scale_are_known(desk: Desk) -> None:
    assert desk.glfw is not None
    screens = desk.glfw.screens()
    assert screens and screens[0][2] > 0 and 0.5 <= desk.glfw.scale() <= 4
