"""Asleep, and awake in time: what another process writes is shown without a key, also by a window that rests."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.gui_window import Desk, desk_fixture  # noqa: F401 - pytest finds the fixture by itself
from tests.panel_desk import Seat, at_home_fixture, seated, workspace_at  # noqa: F401
from tests.waiting import PATIENCE_SECONDS

WRITE = "import sys; open(sys.argv[1], 'a', encoding='utf-8').write('- ' + sys.argv[2] + '\\n')"


def rest(desk: Desk, seconds: float) -> int:
    """Let the loop run as in the program; returns how many frames it drew."""
    drawn, end = desk.loop.frames, time.monotonic() + seconds
    while time.monotonic() < end:
        desk.loop.step()
    return desk.loop.frames - drawn


def slept_until(desk: Desk, seat: Seat, bullets: int) -> int:
    """How often the loop slept its whole second, unwoken, before that many facts were known."""
    unwoken, sleep, end = [0], desk.loop._sleep, time.monotonic() + PATIENCE_SECONDS

    def counted(seconds: float) -> bool:
        woken = sleep(seconds)
        unwoken[0] += not woken and seconds > 0.5
        return woken

    desk.loop._sleep = counted  # type: ignore[method-assign]
    try:
        while seat.state.snapshot.overview.file("facts.md").bullets != bullets:
            assert time.monotonic() < end, "it did not come about"
            desk.loop.step()
    finally:
        del desk.loop._sleep
    return unwoken[0]


@pytest.mark.parametrize("hidden", [False, True])
def test_what_another_process_writes_wakes_a_resting_window(desk: Desk, at_home: Path, hidden: bool) -> None:
    """A panel that stands beside the editor all day must show the truth, and cost nothing while nothing happens."""
    workspace = workspace_at(at_home)
    workspace.paths.knowledge.mkdir()
    facts = workspace.paths.knowledge / "facts.md"
    facts.write_text("# Facts\n\n- Порт 8080 занят\n", encoding="utf-8")
    window = subprocess.run(
        ["xdotool", "search", "--name", "knowledge tests"],
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=True,
    ).stdout.split()[-1]
    with seated(desk, workspace) as seat:
        assert seat.panel.homes._watcher is not None and seat.panel.homes._watcher.ready.wait(PATIENCE_SECONDS)
        try:
            if hidden:
                desk.xdotool("windowunmap", "--sync", window)
            end = time.monotonic() + PATIENCE_SECONDS
            while rest(desk, 1.5) > (0 if hidden else 3):  # an event of the desktop wakes it, and it comes to rest anew
                assert time.monotonic() < end, "it never comes to rest"
            subprocess.run([sys.executable, "-c", WRITE, str(facts), "二つ目"], check=True, timeout=PATIENCE_SECONDS)
            assert slept_until(desk, seat, 2) < 30  # the watcher woke it, not a look every minute
        finally:
            if hidden:
                desk.xdotool("windowmap", "--sync", window)
                desk.frames(3)
                desk.focus()
