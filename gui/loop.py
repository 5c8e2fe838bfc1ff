"""The frame loop of the stand-alone program: waits for events instead of spinning, and outlives every mistake.

Dear PyGui's own loop draws without pause. Its wheel carries GLFW and exports the functions that wait for an event and
that end the wait; where they are missing (Windows) the loop sleeps in short steps while nothing happens.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from typing import Any

from gui.display import Glfw
from gui.jobs import Jobs

AWAKE_SECONDS = 0.6  # keeps drawing this long after the last event: hover, blinking cursor, tooltips
IDLE_SECONDS = 1.0  # draws this often when nothing happens
FRAME_SECONDS = 1 / 60
NAP_SECONDS = 0.04  # without GLFW's wait: how long a sleep may delay an answer


class FrameLoop:
    """Draws frames while something happens, and sleeps otherwise.

    `tick()` runs before each frame on the interface thread and returns 0 when it wants another frame at once, or None.
    `draw()` renders one frame (Dear PyGui's, when not given), `drawn()` is called after it. Callbacks of Dear PyGui run
    one by one in `jobs`.
    """

    def __init__(
        self,
        jobs: Jobs,
        tick: Callable[[], float | None],
        *,
        glfw: Glfw | None = None,
        draw: Callable[[], None] | None = None,
        running: Callable[[], bool] | None = None,
        drawn: Callable[[], object] = lambda: None,
    ) -> None:
        import dearpygui.dearpygui as dpg

        self.jobs = jobs
        self.frames = 0
        self._tick = tick
        self._glfw = glfw
        self._draw = draw or dpg.render_dearpygui_frame
        self._drawn = drawn
        self._running = running or dpg.is_dearpygui_running
        self._queue = dpg.get_callback_queue
        self._awake_until = 0.0
        self._drawn_at = 0.0
        self._mouse: tuple[float, ...] = ()
        self._asked = threading.Event()
        self._stopped = False
        jobs.wake = self.wake

    def wake(self) -> None:
        """Ask for a frame soon. Safe from every thread."""
        self._asked.set()
        if self._glfw is not None:
            self._glfw.post()

    def stop(self) -> None:
        """Leave `run` after the current frame."""
        self._stopped = True
        self.wake()

    def run(self) -> None:
        """Until the window is closed or `stop` is called."""
        self._stay_awake()
        while self._running() and not self._stopped:
            self.step()

    def step(self) -> None:
        """Wait for a reason to draw (a second at most), then draw one frame; none while nobody can see the window."""
        self._wait()
        if self._glfw is not None and self._glfw.hidden():
            self._unseen()
        else:
            self.frame()

    def _unseen(self) -> None:
        """What a frame does without drawing: results are taken over, so that the window is right when it is shown."""
        self.jobs.run()
        self.jobs.attempt(self._tick)
        self._drawn_at, self._awake_until = time.perf_counter(), 0.0
        if self.jobs.waiting():
            self._asked.set()

    def frame(self) -> None:
        """One frame: posted calls, `tick`, drawing, and the callbacks that came of it."""
        before = time.perf_counter()
        worked = self.jobs.run()
        wanted: list[float | None] = []
        self.jobs.attempt(lambda: wanted.append(self._tick()))
        self._draw()
        self._drawn()
        self.frames += 1
        for callback in self._queue() or ():
            self._dispatch(callback)
            worked += 1
        self._drawn_at = before
        if worked or (self._glfw is None and self._mouse_moved()):
            self._stay_awake()
        if self.jobs.waiting() or (wanted and wanted[0] is not None):
            self._asked.set()

    def _dispatch(self, job: Any) -> None:
        call = job[0] if job else None
        if callable(call):
            code = getattr(call, "__code__", None)
            takes = 3 if code is None or code.co_flags & 0x04 else code.co_argcount - int(hasattr(call, "__self__"))
            self.jobs.attempt(call, *list(job)[1 : 1 + min(takes, 3)])

    def _awake(self) -> bool:
        return time.perf_counter() < self._awake_until

    def _stay_awake(self) -> None:
        self._awake_until = time.perf_counter() + AWAKE_SECONDS

    def _wait(self) -> None:
        """Sleep until there is a reason to draw: the next frame while awake, an event, a wake, or a second."""
        due = self._drawn_at + (FRAME_SECONDS if self._awake() or self._asked.is_set() else IDLE_SECONDS)
        happened = False
        while (pause := due - time.perf_counter()) > 0:
            if self._sleep(pause) or self._asked.is_set():
                happened = True
                due = min(due, self._drawn_at + FRAME_SECONDS)  # many events, one frame
            elif self._glfw is None:
                break  # a nap: only a frame can tell whether something happened
        if happened or self._asked.is_set():
            self._asked.clear()
            self._stay_awake()

    def _sleep(self, seconds: float) -> bool:
        """True when an event or a wake ended the sleep."""
        if self._glfw is not None:
            return self._glfw.wait(seconds)
        return self._asked.wait(min(seconds, NAP_SECONDS))

    def _mouse_moved(self) -> bool:
        """For the loop without GLFW's wait: whether the mouse did something since the last frame."""
        import dearpygui.dearpygui as dpg

        now = (*dpg.get_mouse_pos(local=False), *(dpg.is_mouse_button_down(button) for button in range(3)))
        moved, self._mouse = bool(self._mouse) and now != self._mouse, now
        return moved


@contextlib.contextmanager
def window_context(title: str, width: int, height: int, x: int, y: int, min_size: tuple[int, int] = (640, 420)) -> Any:
    """A Dear PyGui context with one viewport, callbacks in our own hands; everything is given back at the end."""
    import dearpygui.dearpygui as dpg

    dpg.create_context()
    try:
        dpg.configure_app(manual_callback_management=True)
        dpg.create_viewport(
            title=title, width=width, height=height, x_pos=x, y_pos=y, min_width=min_size[0], min_height=min_size[1]
        )
        dpg.setup_dearpygui()
        yield dpg
    finally:
        dpg.destroy_context()
