"""The system under the window: is there a display, how large are its pixels; and the frame loop of a program of its
own, which waits for events instead of spinning, and outlives every mistake.

Dear PyGui's own loop draws without pause. Its wheel carries GLFW and exports the functions that wait for an event and
that end the wait; where they are missing (Windows) the loop sleeps in short steps while nothing happens.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dearpygui.dearpygui as dpg

from core.base.result import ErrorInfo
from gui.toolkit.jobs import Jobs

FOCUSED, ICONIFIED, VISIBLE = 0x00020001, 0x00020002, 0x00020004  # as GLFW has them


def display_problem(environment: dict[str, str] | None = None) -> ErrorInfo | None:
    """Why no window can be opened here, or None. Without this question Dear PyGui aborts the process inside GLFW."""
    if not sys.platform.startswith("linux"):
        return None
    name = (os.environ if environment is None else environment).get("DISPLAY", "")
    hint = "Start it in a desktop session, or use the command line: knowledge --help"
    if not name:
        return ErrorInfo("no-display", "The panel needs a graphical display, and DISPLAY is not set", hint=hint)
    for library in ("libX11.so.6", "libGL.so.1"):
        try:
            loaded = ctypes.CDLL(library)
        except OSError:
            package = "libx11-6" if "X11" in library else "libgl1"
            install = f"Install it (on Debian: the package {package})"
            return ErrorInfo("no-display", f"The panel needs the system library {library}", hint=install)
        if "X11" in library and not display_opens(loaded, name):
            return ErrorInfo("no-display", f"The graphical display {name} does not answer", hint=hint)
    return None


def display_opens(x11: Any, name: str) -> bool:
    """True when the X server of that name lets us in."""
    x11.XOpenDisplay.restype = ctypes.c_void_p
    x11.XOpenDisplay.argtypes = [ctypes.c_char_p]
    x11.XCloseDisplay.argtypes = [ctypes.c_void_p]
    display = x11.XOpenDisplay(name.encode())
    if not display:
        return False
    x11.XCloseDisplay(display)
    return True


@dataclass(frozen=True)
class Glfw:
    """The functions of GLFW that Dear PyGui's wheel exports and that the loop needs."""

    library: Any

    def wait(self, seconds: float) -> bool:
        """Wait for an event; false when none came in time. For the main thread."""
        begun = time.perf_counter()
        self.library.glfwWaitEventsTimeout(ctypes.c_double(seconds))
        return time.perf_counter() - begun < seconds * 0.98

    def post(self) -> None:
        """End a wait. Safe from every thread."""
        self.library.glfwPostEmptyEvent()

    def hidden(self) -> bool:
        """Whether nobody can see the window: it is minimised, or its desktop is not the one that is shown. False for a
        window that is to be closed: only a frame notices that. For the main thread, whose window it is."""
        window = self.library.glfwGetCurrentContext()
        if not window or self.library.glfwWindowShouldClose(window):
            return False
        seen = self.library.glfwGetWindowAttrib(window, VISIBLE) and not self.library.glfwGetWindowAttrib(
            window, ICONIFIED
        )
        return not seen

    def focused(self) -> bool:
        """Whether the window has the keyboard. For the main thread."""
        window = self.library.glfwGetCurrentContext()
        return bool(window and self.library.glfwGetWindowAttrib(window, FOCUSED))

    def scale(self) -> float:
        """Content scale of the primary monitor, 1.0 where it is unknown. Starts GLFW when it is not started yet."""
        if sys.platform == "darwin" or not self.library.glfwInit():  # macOS scales the frame buffer itself
            return 1.0
        across, down = ctypes.c_float(1.0), ctypes.c_float(1.0)
        monitor = self.library.glfwGetPrimaryMonitor()
        if monitor:
            self.library.glfwGetMonitorContentScale(monitor, ctypes.byref(across), ctypes.byref(down))
        return round(across.value * 4) / 4 or 1.0

    def screens(self) -> list[tuple[int, int, int, int]]:
        """Work areas (x, y, width, height) of all monitors, the primary first; empty where unknown."""
        self.library.glfwInit()
        count = ctypes.c_int(0)
        monitors = self.library.glfwGetMonitors(ctypes.byref(count))
        areas = []
        for number in range(count.value):
            area = [ctypes.c_int(0) for _ in range(4)]
            self.library.glfwGetMonitorWorkarea(monitors[number], *(ctypes.byref(value) for value in area))
            areas.append((area[0].value, area[1].value, area[2].value, area[3].value))
        return areas


def find_glfw() -> Glfw | None:
    """GLFW inside Dear PyGui's wheel, or None where the wheel does not export it."""
    for path in Path(dpg.__file__).parent.glob("_dearpygui*.so"):
        with contextlib.suppress(OSError, AttributeError):
            library = ctypes.CDLL(str(path))
            library.glfwGetPrimaryMonitor.restype = ctypes.c_void_p
            library.glfwGetMonitors.restype = ctypes.POINTER(ctypes.c_void_p)
            library.glfwGetMonitorContentScale.argtypes = [ctypes.c_void_p] + [ctypes.c_void_p] * 2
            library.glfwGetMonitorWorkarea.argtypes = [ctypes.c_void_p] + [ctypes.c_void_p] * 4
            library.glfwWaitEventsTimeout.argtypes = [ctypes.c_double]
            library.glfwPostEmptyEvent.argtypes = []
            library.glfwGetCurrentContext.restype = ctypes.c_void_p
            library.glfwGetWindowAttrib.argtypes = [ctypes.c_void_p, ctypes.c_int]
            library.glfwWindowShouldClose.argtypes = [ctypes.c_void_p]
            return Glfw(library)
    return None


def monitor_scale(glfw: Glfw | None) -> float:
    """The scale that the monitor asks for; on Windows it also makes the program aware of it. Before the viewport."""
    if sys.platform == "win32":
        windows = ctypes.windll  # type: ignore[attr-defined,unused-ignore]
        try:
            windows.shcore.SetProcessDpiAwareness(2)
            return float(round(windows.user32.GetDpiForSystem() / 24) / 4)
        except (AttributeError, OSError):  # before Windows 8.1: one scale for everything
            return 1.0
    return glfw.scale() if glfw else 1.0


AWAKE_SECONDS = 0.6  # keeps drawing this long after the last event: hover, blinking cursor, tooltips
AWAKE_FRAMES = 8  # and this many frames at the least: parts inside parts find their size one frame after the other
IDLE_SECONDS = 3.0  # looks this often whether anything that is shown has changed, when nothing happens
FRAME_SECONDS = 1 / 60
NAP_SECONDS = 0.04  # without GLFW's wait: how long a sleep may delay an answer


class FrameLoop:
    """Draws frames while something happens, and sleeps otherwise.

    `tick()` runs before each frame on the interface thread and returns 0 when it wants another frame at once, or None.
    `draw()` renders one frame (Dear PyGui's, when not given), `drawn()` is called after it, `returned()` when the user
    comes back to the window. Callbacks of Dear PyGui run one by one in `jobs`.
    """

    def __init__(
        self,
        jobs: Jobs,
        tick: Callable[[], float | None],
        *,
        glfw: Glfw | None = None,
        draw: Callable[[], None] | None = None,
        drawn: Callable[[], object] = lambda: None,
        returned: Callable[[], object] = lambda: None,
    ) -> None:
        self.jobs = jobs
        self.frames = 0
        self._tick = tick
        self._glfw = glfw
        self._draw = draw or dpg.render_dearpygui_frame
        self._drawn, self._returned = drawn, returned
        self._running = dpg.is_dearpygui_running
        self._queue = dpg.get_callback_queue
        self._awake_until = 0.0
        self._awake_frames = 0
        self._drawn_at = 0.0
        self._mouse: tuple[float, ...] = ()
        self._asked = threading.Event()
        self._stopped = self._hidden = self._away = False
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
        """Wait for a reason to draw (a second at most), then draw one frame; none while nobody can see the window, and
        none where nothing that it shows has changed."""
        happened = self._wait()
        away, self._away = self._away, self._glfw is not None and not self._glfw.focused()
        if away and not self._away:
            self.jobs.attempt(self._returned)
        if self._glfw is not None and self._glfw.hidden():
            self._unseen()
            self._hidden = True
            return
        shown_again, self._hidden = self._hidden, False
        if happened or shown_again or self._glfw is None or self._changed():
            self.frame()

    def _changed(self) -> bool:
        """Whether a frame would show anything new, after a second without any event."""
        self._drawn_at = time.perf_counter()
        worked, answers = self._work()
        return bool(worked or self.jobs.waiting() or answers != [None])

    def _work(self) -> tuple[int, list[float | None]]:
        """Posted calls and `tick`: how many calls there were, and what `tick` answered; nothing where it failed."""
        worked = self.jobs.run()
        answers: list[float | None] = []
        self.jobs.attempt(lambda: answers.append(self._tick()))
        return worked, answers

    def _unseen(self) -> None:
        """What a frame does without drawing: results are taken over, so that the window is right when it is shown."""
        self._work()
        self._drawn_at, self._awake_until, self._awake_frames = time.perf_counter(), 0.0, 0
        if self.jobs.waiting():
            self._asked.set()

    def frame(self) -> None:
        """One frame: posted calls, `tick`, drawing, and the callbacks that came of it."""
        before = time.perf_counter()
        worked, answers = self._work()
        self._draw()
        self._drawn()
        self.frames += 1
        for callback in self._queue() or ():
            self._dispatch(callback)
            worked += 1
        self._drawn_at = before
        if worked or (self._glfw is None and self._mouse_moved()):
            self._stay_awake()
        if self.jobs.waiting() or (answers and answers[0] is not None):
            self._asked.set()

    def _dispatch(self, job: Any) -> None:
        call = job[0] if job else None
        if callable(call):
            code = getattr(call, "__code__", None)
            takes = 3 if code is None or code.co_flags & 0x04 else code.co_argcount - int(hasattr(call, "__self__"))
            self.jobs.attempt(call, *list(job)[1 : 1 + min(takes, 3)])

    def _stay_awake(self) -> None:
        self._awake_until = time.perf_counter() + AWAKE_SECONDS
        self._awake_frames = self.frames + AWAKE_FRAMES

    def _wait(self) -> bool:
        """Sleep until there is a reason to draw: the next frame while awake, an event, a wake. False when a second went
        by without any."""
        awake = self.frames < self._awake_frames or time.perf_counter() < self._awake_until or self._asked.is_set()
        due = self._drawn_at + (FRAME_SECONDS if awake else IDLE_SECONDS)
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
            return True
        return awake

    def _sleep(self, seconds: float) -> bool:
        """True when an event or a wake ended the sleep."""
        if self._glfw is not None:
            return self._glfw.wait(seconds)
        return self._asked.wait(min(seconds, NAP_SECONDS))

    def _mouse_moved(self) -> bool:
        """For the loop without GLFW's wait: whether the mouse did something since the last frame."""
        now = (*dpg.get_mouse_pos(local=False), *(dpg.is_mouse_button_down(button) for button in range(3)))
        moved, self._mouse = bool(self._mouse) and now != self._mouse, now
        return moved


@contextlib.contextmanager
def window_context(title: str, width: int, height: int, x: int, y: int, min_size: tuple[int, int]) -> Any:
    """A Dear PyGui context with one viewport, callbacks in our own hands; everything is given back at the end."""
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
