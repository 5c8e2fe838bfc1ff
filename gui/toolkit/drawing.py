"""Drawings that are told again what is on them, and make no item for that: `begin`, then boxes, lines and words, then
`end`.

Every shape takes the next item of a pool; what is left over is hidden, and one that is drawn again where it was costs
nothing. Items are made when a drawing first needs more than it has. All lengths are pixels of the screen: who draws
measures the room that there is.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterator, Sequence

import dearpygui.dearpygui as dpg

from gui.toolkit.letters import LETTERS, cut
from gui.toolkit.theme import ROLES, Look
from gui.toolkit.typeset import ROLE_OF, Line, Style

NOTHING = "none@0"


class _Pool:
    """Items of one kind, with what each of them shows (None: it is hidden)."""

    def __init__(self, make: Callable[[], int]) -> None:
        self._make = make
        self._items: list[int] = []
        self._shown: list[Hashable] = []
        self.used = 0

    def next(self, wanted: Hashable) -> int | None:
        """The item that is to show this; None where it does already."""
        at = self.used
        self.used += 1
        if at == len(self._items):
            self._items.append(self._make())
            self._shown.append(None)
        if self._shown[at] == wanted:
            return None
        self._shown[at] = wanted
        return self._items[at]

    def hide_rest(self) -> None:
        for at in range(self.used, len(self._items)):
            if self._shown[at] is not None:
                self._shown[at] = None
                dpg.configure_item(self._items[at], show=False)

    def forget(self) -> None:
        self._shown = [0] * len(self._items)


class Pen:
    """Draws boxes, lines and words in a drawing, by height of the whole; what is drawn later lies over what was drawn
    before it, and words over all else of one pen."""

    def __init__(self, look: Look, drawing: int) -> None:
        layer = int(dpg.add_draw_layer(parent=drawing))
        shapes, self._words = int(dpg.add_draw_node(parent=layer)), int(dpg.add_draw_node(parent=layer))
        self._look = look
        self._boxes = _Pool(lambda: int(dpg.draw_rectangle((0, 0), (1, 1), parent=shapes, show=False)))
        self._lines = _Pool(lambda: int(dpg.draw_line((0, 0), (1, 1), parent=shapes, show=False)))
        self._by_role: dict[str, _Pool] = {}
        self._base = 0.0
        self._sizes: dict[str, int] = {}
        look.on_change(self._forget)

    def _pools(self) -> list[_Pool]:
        return [self._boxes, self._lines, *self._by_role.values()]

    def begin(self, base: float = 0.0) -> None:
        """A new picture whose upper edge stands at a height of the whole."""
        self._base = base
        for pool in self._pools():
            pool.used = 0
        self._sizes = {role: max(6, round(size * self._look.scale)) for role, (_, size) in ROLES.items()}

    def box(self, x0: float, y0: float, x1: float, y1: float, fill: str, rounding: float = 0, line: str = "",
            thick: float = 1.0) -> None:  # fmt: skip
        """A rectangle, with a `line` around it where one is named; with no `fill` that line alone."""
        y0, y1 = y0 - self._base, y1 - self._base
        item = self._boxes.next((x0, y0, x1, y1, fill, rounding, line, thick))
        if item is not None:
            half = 0.5 if line else 0.0
            dpg.configure_item(
                item, pmin=(x0 + half, y0 + half), pmax=(x1 + half, y1 + half), rounding=rounding, thickness=thick,
                fill=self._look.rgba(fill or NOTHING), color=self._look.rgba(line or NOTHING), show=True,
            )  # fmt: skip

    def line(self, x0: float, y0: float, x1: float, y1: float, color: str) -> None:
        """A straight line."""
        y0, y1 = y0 - self._base, y1 - self._base
        item = self._lines.next((x0, y0, x1, y1, color))
        if item is not None:
            dpg.configure_item(item, p1=(x0, y0), p2=(x1, y1), color=self._look.rgba(color), show=True)

    def words(self, x: float, y: float, words: str, role: str = "text", color: str = "text", *, room: float = 0,
              right: bool = False, middle: bool = False) -> float:  # fmt: skip
        """A line of text, its upper left corner given: cut to `room`; `right`: it ends at `x`; `middle`: it stands
        around it. How wide it is, where one of these asks for that."""
        long = 0.0
        if room or right or middle:
            wide = LETTERS.wide(self._look.font_id(role))
            words = cut(words, room, wide) if room else words
            long = wide(words)
            x -= long if right else long / 2 if middle else 0
        if role not in self._by_role:
            self._by_role[role] = _Pool(
                lambda: self._look.font(int(dpg.draw_text((0, 0), "", size=10, parent=self._words, show=False)), role)
            )
        y -= self._base
        item = self._by_role[role].next((x, y, words, color))
        if item is not None:
            dpg.configure_item(item, pos=(x, y), text=words, size=self._sizes[role], color=self._look.rgba(color),
                               show=True)  # fmt: skip
        return long

    def end(self) -> None:
        """Hide what this picture has not used."""
        for pool in self._pools():
            pool.hide_rest()

    def _forget(self) -> None:
        """After a change of palette or scale: everything is set again."""
        for pool in self._pools():
            pool.forget()


Mark = tuple[int, int, str, str]
"""A part of a text on a ground of its own: first letter, letter after the last, colour, colour of a line around it."""


def draw_line(
    look: Look, pen: Pen, line: Line, text: str, x: float, y: float, pitch: float, color: str,
    marks: Sequence[Mark] = (), colours: Sequence[Style] = (),
) -> None:  # fmt: skip
    """One line of a text, `pitch` high: code on a plate, marks on their ground, `colours` (in the order of the letters)
    in place of `color`."""
    px = look.px
    for run in line:
        role = ROLE_OF[run.style]
        wide = LETTERS.wide(look.font_id(role))
        left, end = x + run.x, x + run.x + wide(text[run.begin : run.end])
        if run.style == "code" and text[run.begin : run.end].strip():
            pen.box(left - px(3), y, end + px(3), y + pitch - px(1), "code-ground", px(4))
        for begin, stop, fill, edge in marks:
            first, last = max(begin, run.begin), min(stop, run.end)
            if first < last:
                low = left + wide(text[run.begin : first])
                high = low + wide(text[first:last])
                pen.box(low - 1, y, high + 1, y + pitch - px(1), fill, px(3), edge)
        top = y + (pitch - px(15 if role == "mono" else 16)) // 2
        for begin, stop, tint in tinted(run.begin, run.end, colours, color):
            if text[begin:stop].strip():
                pen.words(left + wide(text[run.begin : begin]), top, text[begin:stop], role, tint)


def tinted(begin: int, end: int, colours: Sequence[Style], plain: str) -> Iterator[Style]:
    """A part of a text in parts of one colour; `plain` is that of what has none."""
    for first, last, tint in colours[max(0, bisect_left(colours, (begin, -1, "")) - 1) :]:
        if first >= end:
            break
        if last <= begin:
            continue
        if begin < first:
            yield begin, first, plain
        yield max(begin, first), min(last, end), tint
        begin = min(last, end)
    if begin < end:
        yield begin, end, plain


class Drawing:
    """One drawing in a child window of its own; `draw(drawing)` is called whenever its size, the palette or the scale
    changed, or `redraw` was asked for. A second layer on top (`over`) is for what follows the mouse."""

    def __init__(self, look: Look, parent: int, height: float, draw: Callable[[Drawing], object]) -> None:
        self._look, self._draw = look, draw
        self.width = self.tall = 0.0
        self.holder = look.window(int(dpg.add_child_window(parent=parent, border=False, no_scrollbar=True, width=-1)))
        look.theme(self.holder, "clear")
        look.size(self.holder, height=height)
        self.item = int(dpg.add_drawlist(10, 10, parent=self.holder))
        self.below = Pen(look, self.item)
        self.over = Pen(look, self.item)
        look.follow(self.holder, self._fit)

    def redraw(self) -> None:
        """Draw all of it again."""
        if self.width <= 0 or not dpg.is_item_shown(self.holder):
            return
        self.below.begin()
        self.over.begin()
        self._draw(self)
        self.below.end()
        self.over.end()

    def mouse(self) -> tuple[float, float] | None:
        """Where the mouse is on it, None for elsewhere."""
        if not dpg.is_item_hovered(self.holder):
            return None
        x, y = dpg.get_mouse_pos(local=False)
        left, top = dpg.get_item_rect_min(self.item)
        return (x - left, y - top) if 0 <= x - left <= self.width and 0 <= y - top <= self.tall else None

    def bubble(self, words: str) -> None:
        """Words on a plate beside the mouse."""
        place, px = self.mouse(), self._look.px
        if place is None:
            return
        wide = self.over.words(-9999, 0, words, "small", right=True) + px(20)
        x = min(max(place[0] + px(14), 0), self.width - wide)
        y = place[1] + px(18) if place[1] + px(46) < self.tall else place[1] - px(38)
        self.over.box(x, y, x + wide, y + px(26), "pressed", px(6), "line", 1.5 * self._look.scale)
        self.over.words(x + px(10), y + px(5), words, "small")

    def _fit(self, width: float, height: float) -> None:
        self.width, self.tall = width, height
        dpg.configure_item(self.item, width=int(width), height=int(height))
        self.redraw()


Part = tuple[float, str]
"""One segment: how much, and in which colour."""


class SegmentBar:
    """How a whole is divided, as wide as `parent`; what is not used stays empty."""

    def __init__(self, look: Look, parent: int, *, height: float) -> None:
        self._look, self._height, self._width = look, height, 0.0
        self._parts: Sequence[Part] = ()
        self._total = 1.0
        self.item = int(dpg.add_drawlist(10, look.px(height), parent=parent))
        self._pen = Pen(look, self.item)
        look.follow(parent, self._fit)

    def set(self, parts: Sequence[Part], total: float) -> None:
        """Show `parts` of `total`."""
        self._parts, self._total = parts, max(total, 1e-9)
        self._draw()

    def _fit(self, width: float, _height: float) -> None:
        self._width = width
        self._draw()

    def _draw(self) -> None:
        px, height, x = self._look.px, self._look.px(self._height), 0.0
        if self._width <= 0:
            return
        dpg.configure_item(self.item, width=int(self._width), height=height)
        self._pen.begin()
        self._pen.box(0, 0, self._width, height, "field", px(3))
        for value, color in self._parts:
            end = min(x + self._width * value / self._total, self._width)
            if end - x >= 1:
                self._pen.box(x, 0, max(end - px(2), x + 1), height, color, px(3))
            x = end
        self._pen.end()
