"""The frame loop: quiet while nothing happens, awake when something does; by a played clock, then in a real window."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from gui.toolkit.jobs import Jobs
from gui.toolkit.window import FrameLoop, Glfw
from tests.gui_window import Desk, desk_fixture  # noqa: F401 - pytest finds the fixture by itself
from tests.panel_desk import at_home_fixture, seated, workspace_at  # noqa: F401
from tests.waiting import PATIENCE_SECONDS


@dataclass
class Played:
    """A window and its clock, played: a frame takes 4 ms, and an event comes when the test says."""

    now: float = 100.0
    events: list[tuple[float, Callable[[], object]]] = field(default_factory=list)  # in order; what happens at a time
    unseen: bool = False
    other: bool = False  # another window has the keyboard
    posted: bool = False

    def wait(self, seconds: float) -> bool:
        end = self.now + seconds
        if self.events and self.events[0][0] <= end:
            self.now, happen = max(self.now, self.events[0][0]), self.events.pop(0)[1]
            happen()
        woken, self.posted = self.posted, False
        self.now = self.now if woken else end
        return woken

    def post(self) -> None:
        self.posted = True

    def hidden(self) -> bool:
        return self.unseen

    def focused(self) -> bool:
        return not (self.unseen or self.other)

    def draw(self) -> None:
        self.now += 0.004


def played_loop(monkeypatch: pytest.MonkeyPatch) -> tuple[Played, FrameLoop]:
    played = Played()
    monkeypatch.setattr("gui.toolkit.window.time", SimpleNamespace(perf_counter=lambda: played.now))
    loop = FrameLoop(Jobs(), lambda: None, glfw=cast(Glfw, played), draw=played.draw)
    loop._queue = list
    return played, loop


def run_for(played: Played, loop: FrameLoop, seconds: float) -> int:
    """Let the loop run for so long on its clock; returns how many frames it drew."""
    before, end = loop.frames, played.now + seconds
    while played.now < end:
        loop.step()
    return loop.frames - before


def test_an_idle_panel_draws_no_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop that spins takes a whole core of the user's machine for nothing, and one frame a second some of it."""
    played, loop = played_loop(monkeypatch)
    run_for(played, loop, 2.0)
    assert run_for(played, loop, 60.0) == 0
    loop._tick = lambda: 0.0 if int(played.now) % 30 < 4 else None  # what is shown changes: an age, a toast that goes
    assert 0 < run_for(played, loop, 60.0) < 2 * 5 * 60


def test_a_machine_with_slow_frames_draws_enough_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts inside parts find their size one frame after the other: where a frame takes longer than the time for which
    the loop stays awake, the one blue button of the first start was missing until the mouse moved."""
    played, loop = played_loop(monkeypatch)
    loop._draw = lambda: setattr(played, "now", played.now + 2.0)
    run_for(played, loop, 120.0)
    loop.wake()
    assert run_for(played, loop, 120.0) >= 8


def test_a_wake_from_another_thread_ends_the_wait_and_the_job_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise a result of the worker shows up to a second late."""
    played, loop = played_loop(monkeypatch)
    run_for(played, loop, 3.0)
    done: list[float] = []
    asked = played.now + 0.5
    played.events.append((asked, lambda: loop.jobs.post(lambda: done.append(played.now))))
    run_for(played, loop, 0.9)
    assert done and done[0] - asked < 0.02


def test_after_something_happened_it_keeps_drawing_for_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise a tooltip, or the row under the mouse, would stand still until the next second."""
    played, loop = played_loop(monkeypatch)
    loop.jobs.post(lambda: None)
    assert run_for(played, loop, 0.5) >= 25
    run_for(played, loop, 1.0)
    assert run_for(played, loop, 5.0) <= 6, "and then rests"


def test_a_window_that_nobody_sees_is_not_drawn_and_goes_on_working(monkeypatch: pytest.MonkeyPatch) -> None:
    """Minimised for days: it must cost nothing, take over what happens, and be there at once when it is shown."""
    played, loop = played_loop(monkeypatch)
    run_for(played, loop, 2.0)
    played.unseen = True
    done: list[int] = []
    played.events.append((played.now + 1.5, lambda: loop.jobs.post(done.append, 1)))
    assert run_for(played, loop, 5.0) == 0 and done == [1]
    played.unseen = False
    assert run_for(played, loop, 2.2) >= 1


def step_until(desk: Desk, ready: Callable[[], object]) -> None:
    """Let the loop of the real window run until it is so."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not ready():
        assert time.monotonic() < end, "it never came about"
        desk.loop.step()


def test_whoever_comes_back_to_the_window_is_heard_of_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a tool has written meanwhile stands in no folder that is watched: the panel reads again then."""
    played, loop = played_loop(monkeypatch)
    came: list[float] = []
    loop._returned = lambda: came.append(played.now)
    run_for(played, loop, 5.0)
    assert not came, "it was never away"
    for where in ("other", "unseen"):
        came.clear()
        setattr(played, where, True)
        run_for(played, loop, 5.0)
        assert not came
        setattr(played, where, False)
        run_for(played, loop, 5.0)
        assert len(came) == 1


def test_the_real_window_is_woken_and_knows_when_it_is_hidden(desk: Desk) -> None:
    """The rules above, through the library of the window itself; only hangs are timed."""
    assert desk.glfw is not None
    ended = sleeps_of(desk.loop)
    done: list[int] = []
    try:
        post = threading.Thread(target=post_until, args=(desk.jobs, lambda: True in ended))
        post.start()
        step_until(desk, lambda: True in ended)
        post.join(PATIENCE_SECONDS)
        desk.show(False)
        step_until(desk, desk.glfw.hidden)
        drawn = desk.loop.frames
        desk.jobs.post(done.append, 1)
        step_until(desk, lambda: done)
        assert desk.loop.frames == drawn
    finally:
        del desk.loop._sleep
        desk.show(True)
    step_until(desk, lambda: desk.loop.frames > drawn)


def post_until(jobs: Jobs, ready: Callable[[], object]) -> None:
    """Post something again and again: on a busy machine the loop may not sleep just now."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not ready() and time.monotonic() < end:
        time.sleep(0.2)
        jobs.post(lambda: None)


def sleeps_of(loop: Any) -> list[bool]:
    """Record of every sleep of a loop: whether something ended it."""
    ended: list[bool] = []
    sleep = loop._sleep

    def recorded(seconds: float) -> bool:
        ended.append(sleep(seconds))
        return ended[-1]

    loop._sleep = recorded
    return ended


def test_without_the_wait_of_glfw_the_loop_still_works_and_does_not_spin(desk: Desk) -> None:
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


def test_screens_and_scale_are_known(desk: Desk) -> None:
    assert desk.glfw is not None
    screens = desk.glfw.screens()
    assert screens and screens[0][2] > 0 and 0.5 <= desk.glfw.scale() <= 4


# --- what another process writes -------------------------------------------------------------------------------------

WRITE = "import sys; open(sys.argv[1], 'a', encoding='utf-8').write('- ' + sys.argv[2] + '\\n')"


def slept_until(desk: Desk, so: Callable[[int], bool]) -> int:
    """How often the loop, running as in the program, slept its whole time unwoken before it was so; `so` is asked with
    that number."""
    unwoken, sleep, end = [0], desk.loop._sleep, time.monotonic() + PATIENCE_SECONDS

    def counted(seconds: float) -> bool:
        woken = sleep(seconds)
        unwoken[0] += not woken and seconds > 0.5
        return woken

    desk.loop._sleep = counted  # type: ignore[method-assign]
    try:
        while not so(unwoken[0]):
            assert time.monotonic() < end, "it did not come about"
            desk.loop.step()
    finally:
        del desk.loop._sleep
    return unwoken[0]


def test_what_another_process_writes_wakes_a_resting_window(
    desk: Desk, at_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A panel that stands beside the editor all day must show the truth without a key, also while nobody sees it, and
    cost nothing while nothing happens."""
    monkeypatch.setattr("gui.toolkit.window.IDLE_SECONDS", 0.8)
    workspace = workspace_at(at_home)
    workspace.paths.knowledge.mkdir()
    facts = workspace.paths.knowledge / "facts.md"
    facts.write_text("# Facts\n\n- Порт 8080 занят\n", encoding="utf-8")
    with seated(desk, workspace) as seat:
        assert seat.panel.homes._watcher.ready.wait(PATIENCE_SECONDS)
        try:
            for bullets, hidden in ((2, False), (3, True)):
                if hidden:
                    desk.show(False)
                slept_until(desk, lambda unwoken: unwoken > 0)  # it comes to rest, and nothing is drawn for a while
                drawn = desk.loop.frames
                write = [sys.executable, "-c", WRITE, str(facts), f"二つ目 {bullets}"]
                subprocess.run(write, check=True, timeout=PATIENCE_SECONDS)
                known = lambda _: seat.state.snapshot.overview.file("facts.md").bullets == bullets  # noqa: B023, E731
                assert slept_until(desk, known) < 30  # the watcher woke it, not a look every minute
                assert desk.loop.frames == drawn or not hidden, "nobody sees what it draws"
        finally:
            desk.show(True)
