"""A tall drawing that scrolls: only what is near the sight is drawn, with items that are made once and used again.

All lengths here are pixels of the screen. `paint(pen, top, bottom)` draws what stands between two heights of the whole;
it is asked again only when the sight comes near the edge of what was painted, or when something has changed. Between,
the wheel costs nothing: the drawing stands at its height in the scrolled content and moves with it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

import dearpygui.dearpygui as dpg

from gui.toolkit.flow import Scroll
from gui.toolkit.theme import ROLES, Look

OVERSCAN = 500
"""So many unscaled pixels above and below the sight are painted, too."""
NEAR = 120


class Pen:
    """Draws boxes and words by height of the whole; what is drawn later lies over what was drawn before it, and words
    over all boxes. A thing that is drawn again where it was costs nothing."""

    def __init__(self, look: Look, boxes: int, words: int) -> None:
        self._look, self._boxes, self._words = look, boxes, words
        self._made_boxes: list[int] = []
        self._box_now: list[Hashable] = []
        self._made_words: dict[str, list[int]] = {}
        self._words_now: dict[str, list[Hashable]] = {}
        self._used_boxes = 0
        self._used_words: dict[str, int] = {}
        self._base = 0.0
        self._sizes: dict[str, int] = {}

    def begin(self, base: float) -> None:
        """A new picture whose upper edge stands at a height of the whole."""
        self._base, self._used_boxes, self._used_words = base, 0, {}
        self._sizes = {role: max(6, round(size * self._look.scale)) for role, (_, size) in ROLES.items()}

    def box(self, x0: float, y0: float, x1: float, y1: float, fill: str, rounding: float = 0, line: str = "") -> None:
        """A rectangle, with a `line` around it where one is named."""
        at = self._used_boxes
        self._used_boxes += 1
        if at == len(self._made_boxes):
            self._made_boxes.append(int(dpg.draw_rectangle((0, 0), (1, 1), parent=self._boxes, show=False)))
            self._box_now.append(None)
        y0, y1 = y0 - self._base, y1 - self._base
        wanted = (x0, y0, x1, y1, fill, rounding, line)
        if self._box_now[at] != wanted:
            self._box_now[at] = wanted
            half = 0.5 if line else 0.0
            dpg.configure_item(
                self._made_boxes[at], pmin=(x0 + half, y0 + half), pmax=(x1 + half, y1 + half), rounding=rounding,
                fill=self._look.rgba(fill), color=self._look.rgba(line or "none@0"), show=True,
            )  # fmt: skip

    def words(self, x: float, y: float, words: str, role: str = "text", color: str = "text") -> None:
        """A line of text, its upper left corner given."""
        made, now = self._made_words.setdefault(role, []), self._words_now.setdefault(role, [])
        at = self._used_words.get(role, 0)
        self._used_words[role] = at + 1
        if at == len(made):
            item = int(dpg.draw_text((0, 0), "", size=10, parent=self._words, show=False))
            made.append(self._look.font(item, role))
            now.append(None)
        wanted = (x, y - self._base, words, color)
        if now[at] != wanted:
            now[at] = wanted
            dpg.configure_item(made[at], pos=(x, y - self._base), text=words, size=self._sizes[role],
                               color=self._look.rgba(color), show=True)  # fmt: skip

    def end(self) -> None:
        """Hide what this picture has not used."""
        for at in range(self._used_boxes, len(self._made_boxes)):
            if self._box_now[at] is not None:
                self._box_now[at] = None
                dpg.configure_item(self._made_boxes[at], show=False)
        for role, made in self._made_words.items():
            now = self._words_now[role]
            for at in range(self._used_words.get(role, 0), len(made)):
                if now[at] is not None:
                    now[at] = None
                    dpg.configure_item(made[at], show=False)

    def forget(self) -> None:
        """After a change of palette or scale: everything is set anew."""
        self._box_now = [0] * len(self._made_boxes)
        self._words_now = {role: [0] * len(made) for role, made in self._made_words.items()}


class Canvas:
    """The scrolled child window with its drawing. `settle(scroll, tall)` says, before a picture, how high the whole is
    and where the scroll belongs now (heights that were guessed may have become exact); `on_click(x, y)` hears clicks in
    places of the whole; `on_moved()` hears of another scroll, size or picture."""

    def __init__(
        self,
        look: Look,
        *,
        settle: Callable[[float, float], tuple[float, float]],
        paint: Callable[[Pen, float, float], object],
        on_click: Callable[[float, float], object],
        on_size: Callable[[float], object],
        on_moved: Callable[[], object],
    ) -> None:
        self._look, self._settle, self._paint = look, settle, paint
        self._on_click, self._on_size, self._on_moved = on_click, on_size, on_moved
        self.width = self.tall = 0
        self.item = 0
        self.pictures = 0
        """How often it was painted: what a test counts instead of frames a second."""
        self._from, self._to = 0.0, -1.0
        self._dirty = True

    def build(self, parent: int) -> int:
        """Make all items; once. Returns the scrolled child window."""
        look = self._look
        self.item = int(dpg.add_child_window(parent=parent, border=False, width=-1, height=-1, no_scrollbar=True))
        look.theme(self.item, "flow")
        self._scroll = Scroll(self.item)
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
        return self._scroll.at

    def go(self, y: float) -> None:
        """Bring a height of the whole to the upper edge; the picture is there before the frame is."""
        self._scroll.go(y)
        self.renew()

    def renew(self) -> None:
        """Something has changed: paint anew before the next frame."""
        self._dirty = True

    def tick(self) -> bool:
        """Before each frame; true when it moved or was painted."""
        if self.width <= 0 or self.tall <= 0:
            return False
        moved = self._scroll.tick()
        if not moved and not self._dirty:
            return False
        scroll = self._scroll.at
        near = self._look.px(NEAR)
        inside = self._from + (near if self._from > 0 else 0) <= scroll and scroll + self.tall + near <= self._to
        if self._dirty or not inside:
            self._picture()
        self._on_moved()
        return True

    def _picture(self) -> None:
        total, scroll = self._settle(self._scroll.at, self.tall)
        if abs(scroll - self._scroll.at) >= 1:
            self._scroll.go(scroll)
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
