"""The system under the window: is there a display, how large are its pixels, and how to wait for its events."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.base.result import ErrorInfo

ICONIFIED, VISIBLE = 0x00020002, 0x00020004  # GLFW_ICONIFIED, GLFW_VISIBLE


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
        if not self.library.glfwInit():
            return []
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
    spec = importlib.util.find_spec("dearpygui")
    folders = spec.submodule_search_locations if spec else None
    for folder in folders or ():
        for path in sorted(Path(folder).glob("_dearpygui*.so")):
            try:
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
            except (OSError, AttributeError):
                continue
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
