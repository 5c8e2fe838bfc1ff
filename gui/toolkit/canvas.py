"""A tall drawing that scrolls: only what is near the sight is drawn, with items that are made once and used again.

All lengths here are pixels of the screen. `paint(pen, top, bottom)` draws what stands between two heights of the whole;
it is asked again only when the sight comes near the edge of what was painted, or when something has changed. Between,
the wheel costs nothing: the drawing stands at its height in the scrolled content and moves with it.

`Heights` says where rows of different heights stand, of which only those near the sight were measured.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Callable, Hashable, Sequence
from itertools import accumulate

import dearpygui.dearpygui as dpg

from gui.toolkit.drawing import Pen
from gui.toolkit.theme import Look

OVERSCAN = 500
"""This many unscaled pixels above and below the sight are painted, too."""
NEAR = 120
TRIES = 5


class Canvas:
    """The scrolled child window with its drawing. `settle(scroll, tall)` says, before a picture, how high the whole is
    and where the scroll belongs now (heights that were guessed may have become exact); `on_click(x, y, when)`
    hears clicks in places of the whole, with `time.monotonic()`; `on_size(before)` hears of another size (or scale:
    then `before` is no width at all), `on_moved()` of another scroll, size or picture. With `bar` there is a scroll
    bar."""

    def __init__(
        self,
        look: Look,
        *,
        settle: Callable[[float, float], tuple[float, float]],
        paint: Callable[[Pen, float, float], object],
        on_click: Callable[[float, float, float], object],
        on_size: Callable[[tuple[int, int]], object],
        on_moved: Callable[[], object] = lambda: None,
        bar: bool = False,
    ) -> None:
        self._look, self._settle, self._paint = look, settle, paint
        self._on_click, self._on_size, self._on_moved = on_click, on_size, on_moved
        self._bar = bar
        self.width = self.tall = 0
        self.item = 0
        self.pictures = 0
        """How often it was painted: what a test counts instead of frames a second."""
        self._from, self._to = 0.0, -1.0
        self._dirty = True

    def build(self, parent: int, pad: tuple[float, float] | None = None) -> int:
        """Make all items; once. Returns the scrolled child window; with a frame around it where there is a `pad`, as
        its style has it in unscaled pixels."""
        look, frame, self._pad = self._look, pad is not None, pad or (0.0, 0.0)
        self.item = look.window(
            int(dpg.add_child_window(parent=parent, border=frame, width=-1, height=-1, no_scrollbar=not self._bar))
        )
        look.theme(self.item, "flow")
        self.scroller = Scroll(self.item)
        self._rest = int(dpg.add_spacer(parent=self.item, height=1, width=1))
        self._group = int(dpg.add_group(parent=self.item, pos=[0, 0]))
        self.drawn = int(dpg.add_drawlist(10, 10, parent=self._group))
        self.pen = Pen(look, self.drawn)
        clicks = look.own(int(dpg.add_handler_registry()))  # child windows hear of no click, the mouse does
        dpg.add_mouse_click_handler(dpg.mvMouseButton_Left, parent=clicks, callback=self._clicked)
        look.follow(self.item, self._fit)
        look.every_tick(self.tick)
        look.on_change(self._restyle)
        return self.item

    @property
    def scroll(self) -> float:
        """The height of the whole at the upper edge of the sight."""
        return self.scroller.at if self.item else 0.0

    def go(self, y: float) -> None:
        """Bring a height of the whole to the upper edge; the picture is there before the frame is."""
        self.scroller.go(y)
        self.renew()

    def renew(self) -> None:
        """Something has changed: paint again before the next frame."""
        self._dirty = True

    def mouse(self) -> tuple[float, float] | None:
        """The place of the whole that the mouse is at, None for elsewhere."""
        if not dpg.is_item_hovered(self.item):
            return None
        x, y = dpg.get_mouse_pos(local=False)
        left, top = dpg.get_item_rect_min(self.drawn)
        # The drawing begins at its height of the whole, wherever the scroll has brought it.
        return x - left, y - top + self._from

    def in_window(self, x: float, y: float) -> tuple[int, int]:
        """Where a place of the whole stands in the window, for whoever points at it."""
        left, top = dpg.get_item_rect_min(self.drawn)
        return int(left + x), int(top + y - self._from)

    def tick(self) -> bool:
        """Before each frame; true when it moved or was painted."""
        if self.width <= 0 or self.tall <= 0:
            return False
        moved = self.scroller.tick()
        if not moved and not self._dirty:
            return False
        scroll = self.scroller.at
        near = self._look.px(NEAR)
        inside = self._from + (near if self._from > 0 else 0) <= scroll and scroll + self.tall + near <= self._to
        if self._dirty or not inside:
            self._picture()
        self._on_moved()
        return True

    def _picture(self) -> None:
        self._dirty = False
        total, scroll = self._settle(self.scroller.at, self.tall)
        if abs(scroll - self.scroller.at) >= 1:
            self.scroller.go(scroll)
        over = self._look.px(OVERSCAN)
        top = max(0.0, float(int(scroll) - over))
        bottom = min(max(total, scroll + self.tall), scroll + self.tall + over)
        dpg.configure_item(self._rest, height=max(1, int(total)))
        dpg.configure_item(self._group, pos=[self._look.px(self._pad[0]), self._look.px(self._pad[1]) + int(top)])
        dpg.configure_item(self.drawn, width=max(1, self.width), height=max(1, int(bottom - top)))
        self.pen.begin(top)
        self._paint(self.pen, top, bottom)
        self.pen.end()
        # Where the whole ends, there is nothing to come near to.
        self._from, self._to = top, bottom if bottom < total else float("inf")
        self.pictures += 1

    def _fit(self, width: float, height: float) -> None:
        if (int(width), int(height)) != (self.width, self.tall):
            before, self.width, self.tall = (self.width, self.tall), int(width), int(height)
            self._on_size(before)
            self.renew()

    def _restyle(self) -> None:
        self._on_size((-1, self.tall))
        self.renew()

    def _clicked(self) -> None:
        self._look.jobs.post(self._pointed, time.monotonic())

    def _pointed(self, when: float) -> None:
        place = self.mouse()
        if place is not None:
            self._on_click(*place, when)


class Heights:
    """Heights of rows and their tops, in whole pixels.

    `begin` takes a guess for every row; `measure` replaces guesses by what `exactly(at)` says (None: the guess is
    exact). What was measured once is remembered by `name(at)`, so that rows which come back need no guess.
    """

    def __init__(self, exactly: Callable[[int], int | None], name: Callable[[int], Hashable]) -> None:
        self._exactly, self._name = exactly, name
        self.heights: list[int] = []
        self.tops: list[int] = [0]
        self.lead = 0  # what is empty above the first row
        self._exact: set[int] = set()
        self._known: dict[Hashable, int] = {}

    @property
    def total(self) -> int:
        """The height of all rows together."""
        return self.tops[-1]

    def forget(self) -> None:
        """Everything has another width now: nothing that was measured holds."""
        self._known.clear()

    def begin(self, guesses: Sequence[int]) -> None:
        """Other rows. A height that is remembered is taken before its guess."""
        self._exact.clear()
        self.heights = list(guesses)
        if self._known:
            for at in range(len(self.heights)):
                known = self._known.get(self._name(at))
                if known is not None:
                    self.heights[at] = known
                    self._exact.add(at)
        self.sum_up()

    def fix(self, at: int, height: int) -> None:
        """Give one row a height that is not measured, until `begin`."""
        self._exact.add(at)
        self.heights[at] = height
        self.sum_up()

    def measure(self, start: int, end: int) -> bool:
        """Exact heights for the rows from `start` to before `end`; true when a guess among them was wrong."""
        changed = False
        for at in range(max(0, start), min(end, len(self.heights))):
            if at in self._exact:
                continue
            height = self._exactly(at)
            if height is None:
                break
            self._exact.add(at)
            self._known[self._name(at)] = height
            if height != self.heights[at]:
                self.heights[at] = height
                changed = True
        if changed:
            self.sum_up()
        return changed

    def settle(self, scroll: float, tall: float, over: float) -> float:
        """Measure what is in sight, with `over` more above and below; the scroll at which the first row in sight stays
        where it is."""
        for _ in range(TRIES):
            first = self.at(scroll)
            offset = scroll - self.tops[first]
            if not self.measure(self.at(scroll - over), self.at(scroll + tall + over) + 1):
                break
            scroll = self.tops[first] + offset
        return scroll

    def at(self, y: float) -> int:
        """The row that stands at a height, the first or the last one beyond the ends; 0 when there is none."""
        return max(0, min(bisect_right(self.tops, y) - 1, len(self.heights) - 1))

    def sum_up(self) -> None:
        """The tops, of heights that have changed."""
        self.tops = list(accumulate(self.heights, initial=self.lead))


class Scroll:
    """The scroll of a child window. Dear PyGui takes another one over with the next frame, and only as far as the
    content reaches by then: it is asked for again until it is so, `TRIES` times."""

    def __init__(self, item: int) -> None:
        self._item = item
        self._seen = -1.0
        self._wanted: tuple[float, int] | None = None  # what was asked for, and how often still

    @property
    def at(self) -> float:
        """Where it stands, or will stand with the next frame; pixels of the screen."""
        return self._wanted[0] if self._wanted is not None else float(dpg.get_y_scroll(self._item))

    def go(self, to: float) -> None:
        """Bring it elsewhere."""
        self._wanted = (max(0.0, to), TRIES)
        dpg.set_y_scroll(self._item, max(0.0, to))

    def tick(self) -> bool:
        """Before each frame; true when it moved, has to be asked for again, or stands elsewhere than was asked for."""
        now, elsewhere = float(dpg.get_y_scroll(self._item)), False
        if self._wanted is not None:
            wanted, tries = self._wanted
            elsewhere = now != wanted
            self._wanted = (wanted, tries - 1) if tries > 0 and abs(now - wanted) > 1 else None
            if self._wanted is not None:
                dpg.set_y_scroll(self._item, wanted)
        moved, self._seen = now != self._seen or elsewhere, now
        return moved
