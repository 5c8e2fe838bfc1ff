"""A drawing that is told anew what is on it, and makes no item for that: `begin`, then shapes and words, then `end`.

Every shape takes the next item of a pool; what is left over is hidden. Items are made when a drawing first needs more
than it has. All lengths are pixels of the screen: who draws measures the room that there is.
"""

from __future__ import annotations

from collections.abc import Callable

import dearpygui.dearpygui as dpg

from gui.toolkit.letters import LETTERS, cut
from gui.toolkit.theme import ROLES, Look

NOTHING = (0, 0, 0, 0)


class Canvas:
    """One drawing in a child window of its own; `draw(canvas)` is called whenever its size, the palette or the scale
    changed, or `redraw` was asked for. A second layer on top (`over`) is for what follows the mouse."""

    def __init__(self, look: Look, parent: int, height: float, draw: Callable[[Canvas], object]) -> None:
        self._look, self._draw, self._height = look, draw, height
        self.width = self.tall = 0.0
        self.holder = int(dpg.add_child_window(parent=parent, border=False, no_scrollbar=True, width=-1))
        look.theme(self.holder, "clear")
        look.size(self.holder, height=height)
        self.item = int(dpg.add_drawlist(10, 10, parent=self.holder))
        self.below = Layer(look, self.item)
        self.over = Layer(look, self.item)
        look.follow(self.holder, self._fit)
        look.on_change(self.redraw)

    def set_height(self, height: float) -> None:
        """Another height, in unscaled pixels."""
        if height != self._height:
            self._height = height
            self._look.size(self.holder, height=height)

    def redraw(self) -> None:
        """Draw all of it anew."""
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
        wide = self.over.words(-9999, 0, words, "text", "small") + px(20)
        x = min(max(place[0] + px(14), 0), self.width - wide)
        y = place[1] + px(18) if place[1] + px(46) < self.tall else place[1] - px(38)
        self.over.rect(x, y, wide, px(26), "pressed", px(6), edge="line")
        self.over.words(x + px(10), y + px(5), words, "text", "small")

    def _fit(self, width: float, height: float) -> None:
        self.width, self.tall = width, height
        dpg.configure_item(self.item, width=int(width), height=int(height))
        self.redraw()


class Layer:
    """Shapes and words of one layer, pooled."""

    def __init__(self, look: Look, parent: int) -> None:
        self._look = look
        self._layer = int(dpg.add_draw_layer(parent=parent))
        self._plates = int(dpg.add_draw_node(parent=self._layer))
        self._letters = int(dpg.add_draw_node(parent=self._layer))
        self._pools: dict[str, list[int]] = {"rect": [], "words": [], "line": []}
        self._used: dict[str, int] = {}
        self._shown: dict[str, int] = {"rect": 0, "words": 0, "line": 0}
        self._roles: dict[int, str] = {}

    def begin(self) -> None:
        """Nothing is on it."""
        self._used = {"rect": 0, "words": 0, "line": 0}

    def end(self) -> None:
        """Hide what was not taken."""
        for kind, items in self._pools.items():
            for item in items[self._used[kind] : self._shown[kind]]:
                dpg.configure_item(item, show=False)
            self._shown[kind] = self._used[kind]

    def rect(self, x: float, y: float, wide: float, tall: float, color: str, rounding: float = 0,
             edge: str = "") -> None:  # fmt: skip
        """A filled rectangle; `edge` is the colour of a line around it."""
        fill = self._look.rgba(color) if color else NOTHING
        item = self._next("rect", lambda: dpg.draw_rectangle((0, 0), (1, 1), parent=self._plates))
        dpg.configure_item(
            item, show=True, pmin=(x, y), pmax=(x + wide, y + tall), fill=fill,
            color=self._look.rgba(edge) if edge else NOTHING, rounding=rounding, thickness=self._look.scale * 1.5,
        )  # fmt: skip

    def line(self, x: float, y: float, right: float, bottom: float, color: str, thick: float = 1.0) -> None:
        """A line."""
        item = self._next("line", lambda: dpg.draw_line((0, 0), (1, 1), parent=self._plates))
        dpg.configure_item(
            item, show=True, p1=(x, y), p2=(right, bottom), color=self._look.rgba(color), thickness=thick
        )

    def words(self, x: float, y: float, words: str, color: str, role: str = "small", *, room: float = 0,
              right: bool = False, middle: bool = False) -> float:  # fmt: skip
        """Words at a place, cut to `room`; `right`: they end at `x`; `middle`: they stand around it. How wide they
        are."""
        wide = LETTERS.wide(self._look.font_id(role))
        if wide is None:
            return 0.0
        said = cut(words, room, wide) if room else words
        long = wide(said)
        item = self._next("words", lambda: dpg.draw_text((0, 0), "", parent=self._letters))
        if self._roles.get(item) != role:
            self._roles[item] = role
        dpg.bind_item_font(item, self._look.font_id(role))
        left = x - long if right else x - long / 2 if middle else x
        size = self._look.px(ROLES[role][1])
        dpg.configure_item(item, show=True, pos=(left, y), text=said, color=self._look.rgba(color), size=size)
        return float(long)

    def _next(self, kind: str, make: Callable[[], int | str]) -> int:
        pool, at = self._pools[kind], self._used[kind]
        if at == len(pool):
            pool.append(int(make()))
        self._used[kind] = at + 1
        self._shown[kind] = max(self._shown[kind], at + 1)
        return pool[at]
