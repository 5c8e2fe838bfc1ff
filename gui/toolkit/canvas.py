"""A tall drawing that scrolls: only what is near the sight is drawn, with items that are made once and used again.

All lengths here are pixels of the screen. `paint(pen, top, bottom)` draws what stands between two heights of the whole;
it is asked again only when the sight comes near the edge of what was painted, or when something has changed. Between,
the wheel costs nothing: the drawing stands at its height in the scrolled content and moves with it.
"""

from __future__ import annotations

from collections.abc import Callable

import dearpygui.dearpygui as dpg

from gui.toolkit.drawing import Pen
from gui.toolkit.flow import Scroll
from gui.toolkit.theme import Look

OVERSCAN = 500
"""This many unscaled pixels above and below the sight are painted, too."""
NEAR = 120


class Canvas:
    """The scrolled child window with its drawing. `settle(scroll, tall)` says, before a picture, how high the whole is
    and where the scroll belongs now (heights that were guessed may have become exact); `on_click(x, y)` hears clicks in
    places of the whole; `on_moved()` hears of another scroll, size or picture. With `bar` there is a scroll bar."""

    def __init__(
        self,
        look: Look,
        *,
        settle: Callable[[float, float], tuple[float, float]],
        paint: Callable[[Pen, float, float], object],
        on_click: Callable[[float, float], object],
        on_size: Callable[[float], object],
        on_moved: Callable[[], object],
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

    def build(self, parent: int) -> int:
        """Make all items; once. Returns the scrolled child window."""
        look = self._look
        self.item = look.window(
            int(dpg.add_child_window(parent=parent, border=False, width=-1, height=-1, no_scrollbar=not self._bar))
        )
        look.theme(self.item, "flow")
        self.scroller = Scroll(self.item)
        self._rest = int(dpg.add_spacer(parent=self.item, height=1, width=1))
        self._group = int(dpg.add_group(parent=self.item, pos=[0, 0]))
        self._list = int(dpg.add_drawlist(10, 10, parent=self._group))
        boxes = int(dpg.add_draw_layer(parent=self._list))
        words = int(dpg.add_draw_layer(parent=self._list))
        self.pen = Pen(look, boxes, words)
        clicks = look.own(int(dpg.add_handler_registry()))
        dpg.add_mouse_click_handler(dpg.mvMouseButton_Left, parent=clicks, callback=self._clicked)
        look.follow(self.item, self._fit)
        look.every_tick(self.tick)
        look.on_change(self._restyle)
        return self.item

    @property
    def scroll(self) -> float:
        """The height of the whole at the upper edge of the sight."""
        return self.scroller.at

    def go(self, y: float) -> None:
        """Bring a height of the whole to the upper edge; the picture is there before the frame is."""
        self.scroller.go(y)
        self.renew()

    def renew(self) -> None:
        """Something has changed: paint again before the next frame."""
        self._dirty = True

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
        total, scroll = self._settle(self.scroller.at, self.tall)
        if abs(scroll - self.scroller.at) >= 1:
            self.scroller.go(scroll)
        over = self._look.px(OVERSCAN)
        top = max(0.0, float(int(scroll) - over))
        bottom = min(max(total, scroll + self.tall), scroll + self.tall + over)
        dpg.configure_item(self._rest, height=max(1, int(total)))
        dpg.configure_item(self._group, pos=[0, int(top)])
        dpg.configure_item(self._list, width=max(1, self.width), height=max(1, int(bottom - top)))
        self.pen.begin(top)
        self._paint(self.pen, top, bottom)
        self.pen.end()
        # Where the whole ends, there is nothing to come near to.
        self._from, self._to = top, bottom if bottom < total else float("inf")
        self._dirty = False
        self.pictures += 1

    def _fit(self, width: float, height: float) -> None:
        if (int(width), int(height)) != (self.width, self.tall):
            other = int(width) != self.width
            self.width, self.tall = int(width), int(height)
            if other:
                self._on_size(width)
            self.renew()

    def _restyle(self) -> None:
        self.pen.forget()
        self._on_size(self.width)
        self.renew()

    def _clicked(self) -> None:
        self._look.jobs.post(self._pointed)

    def _pointed(self) -> None:
        if not dpg.is_item_hovered(self.item):
            return
        x, y = dpg.get_mouse_pos(local=False)
        left, top = dpg.get_item_rect_min(self._list)
        # The drawing begins at its height of the whole, wherever the scroll has brought it.
        self._on_click(x - left, y - top + self._from)
