"""One start of the real program that tells what it sees of itself: `python -m tests.bench.panel_probe KIND WORDS…`.

KIND is `first` (stops after its first frame), `figures` (stops once the line of state tells how many conversations
there are), `shown` (stops once the store is on the screen), `rows` (opens on the
ledger, stops once its rows are there), `table` (the same, once nothing is at work either), `idle` (rests, then counts
for a while), `floor` (a window with one text, stopped after its first frame) or `resting` (that window, with a frame a
second). It prints one line of JSON: `at` on the system's monotonic clock, which parent and child share, `cpu` in
seconds of the processor since the process began, `now` and `most` in megabytes of memory. `PROBE_SECONDS` is how long
`idle` and `resting` count, `PROBE_VIEW` the view that is open.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SETTLE_SECONDS = 6.0
IDLE_SECONDS = float(os.environ.get("PROBE_SECONDS") or 10)


def floor(kind: str) -> None:
    """What a window costs that shows nothing but one text: until its first frame, or with a frame a second."""
    import dearpygui.dearpygui as dpg

    dpg.create_context()
    dpg.create_viewport(title="Knowledge", width=1280, height=800)
    dpg.setup_dearpygui()
    with dpg.window() as window:
        dpg.add_text("one text")
    dpg.set_primary_window(window, True)
    dpg.show_viewport()
    dpg.render_dearpygui_frame()
    at, cpu = time.monotonic(), time.process_time()
    if kind == "resting":
        for _ in range(int(IDLE_SECONDS)):
            time.sleep(1)
            dpg.render_dearpygui_frame()
        tell(cpu=(time.process_time() - cpu) / IDLE_SECONDS)
    else:
        tell(at=at, **costs())
    dpg.destroy_context()


def costs() -> dict[str, float]:
    """The processor's time so far, and the memory."""
    sizes = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text("ascii").splitlines())
    now, most = (int(sizes[name].split()[0]) / 1024 for name in ("VmRSS", "VmHWM"))
    return {"cpu": time.process_time(), "now": now, "most": most}


def tell(**figures: Any) -> None:
    """The answer, for the parent."""
    print(json.dumps(figures), flush=True)


def watched(kind: str, words: list[str]) -> int:
    """The program itself, with an eye on its frames."""
    from gui import app
    from gui.geometry import Geometry, write_geometry
    from gui.toolkit import window

    if view := "conversations" if kind in ("table", "rows") else os.environ.get("PROBE_VIEW"):
        write_geometry(Geometry(choices={"view": view}))
    stepped, seen = window.FrameLoop.step, Idle()

    def step(self: Any) -> None:
        stepped(self)
        now = time.monotonic()
        if kind in REACHED:
            if REACHED[kind]():
                tell(at=now, **costs())
                self.stop()
        elif seen.over(now, self.frames):
            self.stop()

    window.FrameLoop.step = step  # type: ignore[method-assign]
    return app.run(words)


def filled() -> bool:
    """Whether the conversations stand in rows."""
    from gui.panel import _living

    tables: list[Any] = [getattr(panel.workbench.views["conversations"], "table", None) for panel in _living]
    return any(table is not None and len(table.rows) for table in tables)


def shown() -> bool:
    """Whether the store has been read and drawn."""
    from gui.panel import _living

    return any(
        not panel.reader.waiting and not panel.shell.busy() and not panel.shell.dirty and panel.shell.state.snapshot
        for panel in _living
    )


def told() -> bool:
    """Whether the line of state has its figures."""
    from gui.panel import _living

    return any(panel.status.links[0].shown for panel in _living)


REACHED: dict[str, Callable[[], object]] = {
    "first": lambda: True,
    "figures": told,
    "shown": shown,
    "rows": filled,
    "table": lambda: shown() and filled(),
}


class Idle:
    """Counts frames and the processor's time over some seconds, after the program has come to rest.

    With `PROBE_HIDE` set, the window is taken from the screen before."""

    def __init__(self) -> None:
        self.begun = time.monotonic()
        self.counted: tuple[float, int, float] | None = None
        self.hide = bool(os.environ.get("PROBE_HIDE"))

    def over(self, now: float, frames: int) -> bool:
        """True once all is told."""
        if self.counted is None:
            if not shown():
                self.begun = now
            if self.hide and now > self.begun + SETTLE_SECONDS / 2:
                self.hide = False
                hide_window()
            if now > self.begun + SETTLE_SECONDS:
                self.counted = (time.monotonic(), frames, time.process_time())
            return False
        begun, before, cpu = self.counted
        if now < begun + IDLE_SECONDS:
            return False
        seconds = now - begun
        tell(frames=(frames - before) / seconds, cpu=(time.process_time() - cpu) / seconds)
        return True


def hide_window() -> None:
    """As a window manager does when a window is minimised."""
    import subprocess

    search = ["xdotool", "search", "--pid", str(os.getpid()), "--name", "^Knowledge Memory$"]
    found = subprocess.run(search, capture_output=True, text=True, check=True).stdout.split()
    subprocess.run(["xdotool", "windowunmap", found[-1]], check=True)


if __name__ == "__main__":
    if sys.argv[1] in ("floor", "resting"):
        floor(sys.argv[1])
    else:
        sys.exit(watched(sys.argv[1], sys.argv[2:]))
