"""One real window for all tests of the panel: frames are pumped here, clicks and keys come over the screen.

`from tests.gui_window import Desk, desk_fixture` brings the fixture `desk`. Without a display it starts Xvfb itself,
and ends it by its process id; where Xvfb is not installed the tests are skipped and say so. Dear PyGui allows one
window a process, so all test files share it; every test gets an empty page and leaves nothing behind.

Nobody looks at the pixels of that window, and without a graphics card they cost forty times what the rest of a frame
does: Mesa is asked to paint none. A frame takes less than a millisecond then: tests wait by the clock, not by frames.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import PATIENCE_SECONDS

WIDTH, HEIGHT = 1280, 800
SCREEN = "1440x900x24"
NOTICED_SECONDS = 10.0  # what a hand did has reached the window long before, however busy the machine is
TWO_CLICKS_SECONDS, ONE_PLACE = 0.55, (60, 30)  # what is slower, or further off in the window, is no double click


SHAPES = {"text", "pmin", "p1"}
Target = int | Callable[[], tuple[int, int]]
"""An item, or what tells a place in the window."""


class Hand:
    """Mouse and keyboard of the screen. Every call returns when the screen has done it and told the window."""

    def __init__(self) -> None:
        self._x11, self._test = ctypes.CDLL("libX11.so.6"), ctypes.CDLL("libXtst.so.6")
        self._x11.XOpenDisplay.restype = ctypes.c_void_p
        self._x11.XStringToKeysym.restype = self._x11.XkbKeycodeToKeysym.restype = ctypes.c_ulong
        self._screen = ctypes.c_void_p(self._x11.XOpenDisplay(None))

    def _done(self) -> None:
        self._x11.XSync(self._screen, 0)

    def move(self, x: int, y: int) -> None:
        """The mouse goes there."""
        self._test.XTestFakeMotionEvent(self._screen, -1, x, y, ctypes.c_ulong(0))
        self._done()

    def button(self, number: int, down: bool) -> None:
        """A button of the mouse, or (4 and 5) its wheel."""
        self._test.XTestFakeButtonEvent(self._screen, number, down, ctypes.c_ulong(0))
        self._done()

    def key(self, name: str, down: bool) -> None:
        """A key by its X name; a capital brings its Shift along."""
        named = {"ctrl": "Control_L", "shift": "Shift_L", "alt": "Alt_L"}.get(name, name)
        sign = ctypes.c_ulong(self._x11.XStringToKeysym(named.encode("ascii")))
        code = self._x11.XKeysymToKeycode(self._screen, sign)
        assert code, f"no key of this screen is {name!r}"
        codes = [code]
        if self._x11.XkbKeycodeToKeysym(self._screen, code, 0, 0) != sign.value:
            codes.insert(0 if down else 1, self._x11.XKeysymToKeycode(self._screen, ctypes.c_ulong(0xFFE1)))
        for each in codes:
            self._test.XTestFakeKeyEvent(self._screen, each, down, ctypes.c_ulong(0))
        self._done()

    def focus(self, window: int) -> None:
        """Give a window the keyboard."""
        self._x11.XSetInputFocus(self._screen, ctypes.c_ulong(window), 2, ctypes.c_ulong(0))
        self._done()


class Desk:
    """The window, and a hand on mouse and keyboard."""

    def __init__(self) -> None:
        import dearpygui.dearpygui as dpg

        from gui.toolkit.jobs import Jobs
        from gui.toolkit.keys import KeyGate
        from gui.toolkit.window import FrameLoop, find_glfw

        class CountingGate(KeyGate):
            """The keyboard as it is, and how often a key of it went down or up."""

            heard = 0

            def heard_key(self, window: int, code: int, scan: int, action: int, bits: int) -> None:
                """One more."""
                self.heard += 1
                super().heard_key(window, code, scan, action, bits)

        self.dpg = dpg
        dpg.create_context()
        dpg.configure_app(manual_callback_management=True)
        dpg.create_viewport(title="knowledge tests", width=WIDTH, height=HEIGHT, x_pos=0, y_pos=0, vsync=False)
        dpg.setup_dearpygui()
        self.window = int(dpg.add_window(no_scrollbar=True, no_title_bar=True, no_move=True, no_resize=True))
        with dpg.theme() as bare, dpg.theme_component(dpg.mvAll):
            dpg.add_theme_style(dpg.mvStyleVar_WindowPadding, 0, 0)
            dpg.add_theme_style(dpg.mvStyleVar_WindowBorderSize, 0)
        dpg.bind_item_theme(self.window, bare)
        dpg.set_primary_window(self.window, True)
        dpg.show_viewport()
        self.jobs = Jobs()
        self.ticks: list[Callable[[], object]] = []
        self.glfw = find_glfw()
        self.gate = CountingGate()
        self.loop = FrameLoop(self.jobs, self._tick, glfw=self.glfw, drawn=self.gate.drawn)
        self.look: Any = None
        self.page = 0
        self._window_id = 0
        self._mouse_at = (0, 0)
        self._clicked_at = ((0, 0), 0.0)  # where, and when
        self.hand = Hand()
        self.frames(4)
        self.gate.listen(self.glfw)

    def fresh(self, scale: float = 1.0, theme: str = "dark") -> None:
        """An empty page with a look of its own, bound as a host would bind the panel's root."""
        from gui.toolkit.styles import PALETTES
        from gui.toolkit.theme import Look

        self.look = Look(self.jobs, PALETTES[theme], scale)
        self.look.gate = self.gate
        self.page = int(self.dpg.add_child_window(parent=self.window, border=False, width=-1, height=-1))
        self.look.bind(self.page)
        self.focus()

    def clear(self) -> None:
        """Take everything away again."""
        if self.page:
            self.dpg.delete_item(self.page)
            self.look.dispose()
        self.page, self.look = 0, None
        self.ticks.clear()
        self.jobs.errors.clear()
        self.jobs.on_error = None
        self.move(WIDTH + 60, HEIGHT + 60)
        self.frames(2)

    def _tick(self) -> float | None:
        wanted = bool(self.look.tick()) if self.look is not None else False
        for tick in self.ticks:
            wanted = bool(tick()) or wanted
        return 0.0 if wanted else None

    def frames(self, count: int = 3) -> None:
        """Draw so many frames now."""
        for _ in range(count):
            self.loop.frame()

    def until(self, true: Callable[[], object], frames: int | None = None) -> bool:
        """Draw until `true()` is, as long as patience lasts or so many frames at the most; whether it became true. The
        longer it takes, the more time there is between frames: who draws holds the lock of the interpreter, which the
        worker that is waited for gives back some thousand times."""
        end, drawn = time.monotonic() + PATIENCE_SECONDS, 0
        while not true():
            if drawn == frames or time.monotonic() > end:
                return False
            self.loop.frame()
            drawn += 1
            time.sleep(min(0.002 + 0.0005 * drawn, 0.02))
        return True

    def middle(self, item: Target) -> tuple[int, int]:
        """Where the middle of an item is on the screen, or (of what is drawn: `place()`) a place of the window."""
        left, top = self.dpg.get_item_rect_min(item) if isinstance(item, int) else item()
        width, height = self.dpg.get_item_rect_size(item) if isinstance(item, int) else (0, 0)
        x, y = self.dpg.get_viewport_pos()
        return int(x + left + width / 2), int(y + top + height / 2)

    def drawn(self, item: int) -> list[dict[str, Any]]:
        """The shapes and words that a drawing shows, as Dear PyGui has them."""
        found = map(self.dpg.get_item_configuration, self._below(item))
        return [one for one in found if one["show"] and set(one) & SHAPES]

    def _below(self, item: int) -> list[int]:
        return [one for below in self.dpg.get_item_children(item, 2) or () for one in (below, *self._below(below))]

    def point(self, item: Target) -> tuple[int, int]:
        """Put the mouse on the middle of an item, and follow it while it moves: a dialog that changes its height is in
        the middle of the window again four frames later, and nobody clicks what is still on its way."""
        for _ in range(20):
            place = self.middle(item)
            self.move(*place)
            self.frames(1)
            if self.middle(item) == place:
                break
        return place

    def xdotool(self, *words: str) -> None:
        """Run xdotool, for what `hand` cannot, and let the window see what it did."""
        subprocess.run(["xdotool", *words], check=True, timeout=PATIENCE_SECONDS, stdout=subprocess.DEVNULL)
        time.sleep(0.02)

    def notice(self, noticed: Callable[[], object], seconds: float = NOTICED_SECONDS) -> bool:
        """Draw until the window has noticed what the hand did: the screen is a program of its own, and can be late.
        Whether it has."""
        end = time.monotonic() + seconds
        while not noticed():
            if time.monotonic() > end:
                return False
            self.frames(1)
            time.sleep(0.002)
        return True

    def move(self, x: int, y: int) -> None:
        """Put the mouse somewhere on the screen."""
        self.hand.move(x, y)
        self._mouse_at = (x, y)
        left, top = (int(part) for part in self.dpg.get_viewport_pos())
        if not (left <= x < left + WIDTH and top <= y < top + HEIGHT):
            time.sleep(0.02)
            self.frames(3)
            return
        seen = [x - left, y - top]
        self.frames(1)
        if not self.notice(lambda: [int(part) for part in self.dpg.get_mouse_pos(local=False)] == seen, 0.2):
            # GLFW does not notice a mouse that comes back to where it left the window.
            self.hand.move(x - 1, y)
            self.hand.move(x, y)
            self.notice(lambda: [int(part) for part in self.dpg.get_mouse_pos(local=False)] == seen)
        self.frames(2)

    def button(self, button: int, down: bool) -> None:
        """Press a button of the mouse, or let it go."""
        self.hand.button(button, down)
        named = {1: self.dpg.mvMouseButton_Left, 2: self.dpg.mvMouseButton_Middle, 3: self.dpg.mvMouseButton_Right}
        self.frames(1)
        self.notice(lambda: self.dpg.is_mouse_button_down(named[button]) is down)
        self.frames(1)

    def click(self, item: Target, button: int = 1, times: int = 1) -> None:
        """Click the middle of an item."""
        self.point(item)
        self._click(button, times)

    def click_at(self, x: int, y: int, button: int = 1, times: int = 1) -> None:
        """Click a place of the screen."""
        self.move(x, y)
        self._click(button, times)

    def _click(self, button: int, times: int) -> None:
        if times > 1:  # as quick as a hand, however slow the frames are: a double click must not become two
            for _ in range(times):
                self.hand.button(button, True)
                self.hand.button(button, False)
            self.frames(4 * times + 3)
        else:  # and two that are meant as two must not become a double click
            places = zip(self._mouse_at, self._clicked_at[0], ONE_PLACE, strict=True)
            if all(abs(now - then) < near for now, then, near in places):
                time.sleep(max(0.0, self._clicked_at[1] + TWO_CLICKS_SECONDS - time.monotonic()))
            self.button(button, True)
            self.button(button, False)
            self.frames(4)
        self._clicked_at = (self._mouse_at, time.monotonic())

    def drag(self, item: Target, by: int) -> None:
        """Drag an item to the right by so many pixels (to the left when negative)."""
        x, y = self.point(item)
        self.button(1, True)
        self.frames(3)
        for part in (by // 2, by):
            self.move(x + part, y)
        self.button(1, False)
        self.frames(4)

    def wheel(self, item: Target, clicks: int) -> None:
        """Turn the wheel over an item, down when positive."""
        self.point(item)
        for _ in range(abs(clicks)):
            self.hand.button(5 if clicks > 0 else 4, True)
            self.hand.button(5 if clicks > 0 else 4, False)
        self.frames(abs(clicks) + 3)

    def type_text(self, text: str) -> None:
        """Type letters."""
        for letter in text:
            self.press("space" if letter == " " else letter)

    def press(self, keys: str) -> None:
        """Press a key by its X name: `Escape`, `Return`, `Down`, `ctrl+k`."""
        *held, last = keys.split("+")
        before = self.gate.heard
        for key in held:
            self.hand.key(key, True)
        if held:
            self._heard(before + len(held))
        self.hand.key(last, True)
        self._heard(before + len(held) + 1)
        self.frames(1)
        for key in (last, *reversed(held)):
            self.hand.key(key, False)
        self._heard(before + 2 * len(held) + 2)
        self.frames(2)

    def _heard(self, count: int) -> None:
        """Draw until the window has heard so many keys go down or up; where nobody counts them, one frame."""
        self.frames(1)
        if self.gate.listens:
            self.notice(lambda: self.gate.heard >= count)

    def resize(self, width: int = WIDTH, height: int = HEIGHT) -> None:
        """Another size of the window."""
        self.dpg.set_viewport_width(width)
        self.dpg.set_viewport_height(height)
        self.until(lambda: self.dpg.get_viewport_client_width() == width)
        self.frames(2)

    def focus(self) -> None:
        """Give the window the keyboard: without a window manager nobody does, and a program of another test that had
        it gives it back to nobody."""
        if not self._window_id:
            search = ["xdotool", "search", "--name", "knowledge tests"]
            found = subprocess.run(
                search, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False
            ).stdout.split()
            self._window_id = int(found[-1]) if found else 0
        if self._window_id:
            self.hand.focus(self._window_id)
        self.frames(3)

    def show(self, on: bool) -> None:
        """Put the window on the screen, or take it away as a window manager does when it is minimised."""
        self.xdotool("windowmap" if on else "windowunmap", "--sync", str(self._window_id))
        if on:
            self.frames(3)
            self.focus()

    def screenshot(self, path: Path) -> Path:
        """Write what is on the screen now as a PNG file."""
        self.frames(3)
        path.parent.mkdir(parents=True, exist_ok=True)
        self.dpg.output_frame_buffer(str(path))
        for _ in range(20):
            self.frames(2)
            if path.exists() and path.stat().st_size:
                break
        return path

    def items(self) -> int:
        """How many items there are in all."""
        return len(self.dpg.get_all_items())


_open: list[Desk] = []
_screens: list[subprocess.Popen[bytes]] = []


def _start_screen() -> None:
    if not shutil.which("Xvfb"):
        if os.environ.get("DISPLAY"):
            return
        pytest.skip("the panel's window is not tested here: Xvfb is not installed")
    read, write = os.pipe()
    # -r: a key that is held while a slow frame is drawn types one letter and not four.
    command = ["Xvfb", "-displayfd", str(write), "-screen", "0", SCREEN, "-noreset", "-nolisten", "tcp", "-r"]
    screen = subprocess.Popen(command, pass_fds=[write], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    atexit.register(screen.terminate)
    _screens.append(screen)
    os.close(write)
    with os.fdopen(read) as answer:
        number = answer.readline().strip()
    if not number:
        pytest.skip("the panel's window is not tested here: Xvfb did not start")
    os.environ["DISPLAY"] = f":{number}"


def open_screen() -> None:
    """A screen for windows; skips the test where there is none to be had."""
    if not sys.platform.startswith("linux"):
        pytest.skip("the panel's window is tested under Linux with Xvfb")
    if not shutil.which("xdotool"):
        pytest.skip("the panel's window is not tested here: xdotool is not installed")
    if not _screens and (not os.environ.get("DISPLAY") or os.environ.get("PYTEST_XDIST_WORKER")):
        _start_screen()


def open_desk(*, paints: bool = True) -> Desk:
    """The one window of this process, opened when first wanted; where nothing `paints`, its pixels stay black."""
    if not _open:
        open_screen()
        before = os.environ.get("GALLIUM_NOOP")
        if not paints:
            os.environ["GALLIUM_NOOP"] = "1"  # read once, with the first window; programs that we start paint
        _open.append(Desk())
        if not paints:
            os.environ.pop("GALLIUM_NOOP") if before is None else os.environ.update(GALLIUM_NOOP=before)
        atexit.register(_open[0].dpg.destroy_context)
    return _open[0]


@pytest.fixture(name="desk")
def desk_fixture() -> Iterator[Desk]:
    """The window with an empty page."""
    opened = open_desk(paints=False)
    opened.fresh()
    yield opened
    opened.clear()
