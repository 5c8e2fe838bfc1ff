"""The strip at the right of the reader: the whole conversation in small, where the sight is, what was harvested and
what was found. A click or a drag goes there."""

from __future__ import annotations

from collections.abc import Callable

import dearpygui.dearpygui as dpg

from gui.toolkit.canvas import Canvas
from gui.toolkit.drawing import Pen
from gui.toolkit.theme import Look
from gui.views.looks import CATEGORIES
from gui.views.reader_rows import CALL, CODE, HEAD, NOTE, OUTPUT, Piece
from gui.views.reader_sheet import Sheet

BIN, EDGE, MARK = 3, 8, 9
MAX_PLACES_LIT = 300


def look_of(piece: Piece) -> tuple[str, float]:
    """Colour and length (of the whole width) of a piece in small."""
    if piece.kind == CALL:
        return ("failed", 0.45) if piece.state == "failed" else ("hint@30", 0.3 if piece.state == NOTE else 0.45)
    if piece.kind in (CODE, OUTPUT):
        return "ramp:2@28", 0.7
    if piece.state == "user":
        return "accent@55", 1.0
    return ("hint@45", 0.9) if piece.kind != HEAD else ("hint@20", 0.3)


class ReaderMap:
    """Draws the strip; asked for another picture by `renew`. `on_share(share)` hears where a click or a drag points, as
    a share (0.0 to 1.0) of the whole."""

    def __init__(self, look: Look, sheet: Sheet, canvas: Canvas, on_share: Callable[[float], object]) -> None:
        self._look, self._sheet, self._canvas, self._on_share = look, sheet, canvas, on_share
        self.width = self.tall = 0
        self._dirty, self._held = True, False

    def build(self, parent: int) -> None:
        """Make the drawing; once."""
        look = self._look
        self.item = int(dpg.add_drawlist(10, 10, parent=parent))
        self._pen = Pen(look, self.item)
        look.follow(parent, self._fit)
        look.every_tick(self.tick)
        look.on_change(self.renew)

    def renew(self) -> None:
        """Something has changed."""
        self._dirty = True

    def _fit(self, width: float, height: float) -> None:
        self.width, self.tall = int(width), int(height)
        dpg.configure_item(self.item, width=max(1, self.width), height=max(1, self.tall))
        self.renew()

    def tick(self) -> bool:
        """Before each frame: follow a mouse that is held down here, and draw what has changed."""
        if not self._sheet.script.pieces or self.width <= 0:
            self._held = False
            return False
        down = bool(dpg.is_mouse_button_down(dpg.mvMouseButton_Left))
        if down and not self._held and dpg.is_item_hovered(self.item):
            self._held = True
        self._held = self._held and down
        if self._held:
            top = dpg.get_item_rect_min(self.item)[1]
            share = (dpg.get_mouse_pos(local=False)[1] - top) / max(1.0, self._drawn())
            self._on_share(min(1.0, max(0.0, share)))
        if not self._dirty:
            return self._held
        self._dirty = False
        self._draw()
        return True

    def _drawn(self) -> float:
        """How much of the strip stands for the conversation: a short one does not fill it."""
        return float(min(self.tall, max(1, self._sheet.heights.total)))

    def _draw(self) -> None:
        sheet, px, pen = self._sheet, self._look.px, self._pen
        pen.begin(0.0)
        heights, pieces = sheet.heights, sheet.script.pieces
        total = heights.total
        if pieces and total > 0:
            drawn, step = self._drawn(), max(2, px(BIN))
            scale = drawn / total
            left, right = px(EDGE + 12), self.width - px(EDGE + 8)
            for y in range(0, int(drawn), step):
                color, long = look_of(pieces[heights.at((y + step / 2) / scale)])
                pen.box(left, y, left + max(2.0, (right - left) * long), y + step - 1, color)
            top, tall = self._canvas.scroll * scale, self._canvas.tall * scale
            pen.box(1, top, self.width - 2, min(top + max(tall, px(8)), self.tall - 1), "accent@14", px(4), "accent@60")
            for mark in sheet.script.marks:
                at = heights.tops[mark.piece] * scale
                color = CATEGORIES[mark.category].color
                pen.box(px(4), at, px(4 + MARK), at + px(3), color, px(1))
            every = max(1, len(sheet.places) // MAX_PLACES_LIT)
            for place in sheet.places[::every]:
                at = heights.tops[place.piece] * scale
                pen.box(self.width - px(4 + MARK), at, self.width - px(4), at + px(2), "edited")
        pen.end()
