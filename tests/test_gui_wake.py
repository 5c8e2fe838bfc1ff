"""Asleep, and awake in time: what another process writes is shown without a key, also by a window that rests."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.gui_window import Desk, desk_fixture  # noqa: F401 - pytest finds the fixture by itself
from tests.panel_desk import at_home_fixture, seated, workspace_at  # noqa: F401
from tests.waiting import PATIENCE_SECONDS

WRITE = "import sys; open(sys.argv[1], 'a', encoding='utf-8').write('- ' + sys.argv[2] + '\\n')"


def slept_until(desk: Desk, so: Callable[[int], bool]) -> int:
    """How often the loop, running as in the program, slept its whole second unwoken before it was so; `so` is asked
    with that number."""
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
            slept_until(desk, lambda unwoken: unwoken > 0)  # it comes to rest, and nothing is drawn for a second
            drawn = desk.loop.frames
            subprocess.run([sys.executable, "-c", WRITE, str(facts), "二つ目"], check=True, timeout=PATIENCE_SECONDS)
            known = lambda _: seat.state.snapshot.overview.file("facts.md").bullets == 2  # noqa: E731
            assert slept_until(desk, known) < 30  # the watcher woke it, not a look every minute
            assert desk.loop.frames == drawn or not hidden, "nobody sees what it draws"
        finally:
            if hidden:
                desk.xdotool("windowmap", "--sync", window)
                desk.frames(3)
                desk.focus()
