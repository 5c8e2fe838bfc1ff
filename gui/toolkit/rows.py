"""Short lines, drawn: an icon, words, and what stands at the right, in one column or two; a click tells which."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import dearpygui.dearpygui as dpg

from gui.toolkit.drawing import Drawing
from gui.toolkit.icons import icon as icon_of
from gui.toolkit.letters import LETTERS, cut
from gui.toolkit.theme import Look
from gui.toolkit.typeset import lettered

PITCH, GAP, ICON = 24, 24, 24  # unscaled pixels: a line, what is between two columns, the room of an icon


@dataclass(frozen=True)
class Line:
    """One line: `aside` at the right, in `tone`. `key` is what a click tells. `tip` is shown beside the mouse."""

    words: str
    key: tuple[str, str]
    icon: str = ""
    color: str = "hint"
    tone: str = "muted"
    aside: str = ""
    aside_tone: str = "hint"
    tip: str = ""


class Rows:
    """Lines in `parent`. `on_pick(key)` hears a click."""

    def __init__(
        self, look: Look, parent: int, on_pick: Callable[[tuple[str, str]], object], *, columns: int = 1
    ) -> None:
        self._look, self._on_pick, self._columns = look, on_pick, columns
        self.lines: Sequence[Line] = ()
        self._over: int | None = None
        self.drawing = Drawing(look, parent, PITCH, self._draw)
        clicks = look.own(int(dpg.add_handler_registry()))
        dpg.add_mouse_click_handler(
            dpg.mvMouseButton_Left, parent=clicks, callback=lambda: look.jobs.post(self._clicked)
        )
        look.every_tick(self.tick)

    def set(self, lines: Sequence[Line]) -> None:
        """Show these lines."""
        self.lines, self._over = tuple(lines), None
        dpg.configure_item(self.drawing.holder, show=bool(lines))
        self._look.size(self.drawing.holder, height=PITCH * max(1, self._down))
        self.drawing.redraw()

    @property
    def _down(self) -> int:
        return -(-len(self.lines) // self._columns)

    def _box(self, at: int) -> tuple[float, float, float]:
        """Left, top and width of a line in pixels; columns are filled one after the other."""
        column, row = divmod(at, max(1, self._down))
        gap = self._look.px(GAP) if self._columns > 1 else 0
        wide = (self.drawing.width - gap * (self._columns - 1)) / self._columns
        return column * (wide + gap), row * self._look.px(PITCH), wide

    def _draw(self, drawing: Drawing) -> None:
        px = self._look.px
        for at, line in enumerate(self.lines):
            x, y, wide = self._box(at)
            if at == self._over:
                drawing.below.box(x - px(4), y, x + wide + px(4), y + px(PITCH), "hover@45", px(4))
            inside = x
            if line.icon:
                drawing.below.words(x, y + px(5), icon_of(line.icon), "small", line.color)
                inside += px(ICON)
            long = drawing.below.words(x + wide, y + px(5), line.aside, "small", line.aside_tone, right=True)
            room = x + wide - inside - (long + px(8) if line.aside else 0)
            drawing.below.words(inside, y + px(5), lettered(line.words), "small", line.tone, room=max(room, 1))
        over = self._over
        if over is not None and over < len(self.lines):
            line, wide_of = self.lines[over], LETTERS.wide(self._look.font_id("small"))
            if line.tip:
                drawing.bubble(cut(lettered(line.tip), drawing.width - px(24), wide_of))

    def _at_mouse(self) -> int | None:
        place = self.drawing.mouse()
        if place is None:
            return None
        for at in range(len(self.lines)):
            x, y, wide = self._box(at)
            if x <= place[0] <= x + wide and y <= place[1] < y + self._look.px(PITCH):
                return at
        return None

    def tick(self) -> bool:
        """Follow the mouse; true when the line under it is another one."""
        if not self.lines:
            return False
        over = self._at_mouse()
        if over == self._over:
            return False
        self._over = over
        self.drawing.redraw()
        return True

    def _clicked(self) -> None:
        at = self._at_mouse()
        if at is not None:
            self._on_pick(self.lines[at].key)
