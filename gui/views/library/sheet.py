"""Draws what stands beside the rows of the library (`rows.sheet`): wrapped words, code, bars.

One drawing for good: its items are taken from pools. Its height follows what is on it; the box around it scrolls.
"""

from __future__ import annotations

from collections.abc import Sequence

import dearpygui.dearpygui as dpg

from core.commands.panel.library import OUTCOMES
from gui.toolkit.drawing import Drawing, Layer
from gui.toolkit.flow_rows import draw_lines
from gui.toolkit.layout import box
from gui.toolkit.letters import LETTERS, wrapped
from gui.toolkit.theme import ROLES, Look
from gui.toolkit.typeset import lines_of_words
from gui.views.library import rows
from gui.views.reader_rows import inline

LABEL = 92  # the column of labels, in unscaled pixels, as all that follow
LINE, THIN, GAP, PADDING = 1.36, 8, 7, 4
BAR, FIGURE = 9, 132


class Sheet:
    """The drawing in a box that scrolls."""

    def __init__(self, look: Look, parent: int) -> None:
        self._look = look
        self.blocks: Sequence[rows.Block] = ()
        self.box = box(look, parent, "clear", scroll=True)
        self.drawing = Drawing(look, self.box, 40, self._draw)
        self._fonts = False
        look.every_tick(self.tick)

    def set(self, blocks: Sequence[rows.Block]) -> None:
        """Show these, from the top when they are others."""
        if blocks != self.blocks:
            self.blocks = blocks
            dpg.set_y_scroll(self.box, 0)
            self.drawing.redraw()

    def tick(self) -> bool:
        """Draw again as soon as there are fonts to measure with."""
        if self._fonts or LETTERS.wide(self._look.font_id("text")) is None:
            return False
        self._fonts = True
        self.drawing.redraw()
        return True

    # --- drawing ---

    def _draw(self, drawing: Drawing) -> None:
        y, px = float(self._look.px(PADDING)), self._look.px
        for block in self.blocks:
            if isinstance(block, rows.Words):
                y = self._words(drawing, block, y)
            elif isinstance(block, rows.Rule):
                drawing.below.rect(0, y + px(THIN) / 2, drawing.width, 1, "line")
                y += px(THIN) + px(GAP)
            else:
                y = self._figure(drawing, block, y)
        drawing.set_height(max(40.0, y / self._look.scale + PADDING))

    def _tall(self, role: str) -> float:
        return float(round(ROLES[role][1] * self._look.scale * LINE))

    def _words(self, drawing: Drawing, block: rows.Words, y: float) -> float:
        wide, px = LETTERS.wide(self._look.font_id(block.role)), self._look.px
        left = px(LABEL) if block.label else 0
        if block.label:
            drawing.below.words(0, y + px(1), block.label, "hint", "small", room=left - px(8))
        if wide is None:
            return y
        room = max(px(60), drawing.width - left - px(2))
        if block.role == "text":
            y = coded_words(self._look, drawing.below, left, y, block.words, room, block.color, self._tall("text"))
            return y + px(GAP) * (0.6 if block.label else 0.3)
        for line in wrapped(block.words, room, wide).split("\n"):
            drawing.below.words(left, y, line, block.color, block.role)
            y += self._tall(block.role)
        return y + px(GAP) * (0.6 if block.label else 0.3)

    def _figure(self, drawing: Drawing, block: rows.Bar | rows.Stack, y: float) -> float:
        """A name at the left, its drawing in the middle, its figure at the right; in a narrow sheet the name above."""
        px, tall = self._look.px, self._tall("small")
        narrow = drawing.width < px(360)
        label = drawing.width if narrow else max(px(LABEL), min(px(170), drawing.width * 0.3))
        color = block.color if isinstance(block, rows.Stack) else "muted"
        drawing.below.words(0, y, block.label, color, "small", room=label - px(8) - (px(60) if narrow else 0))
        left = 0.0 if narrow else float(label)
        top = y + (tall if narrow else 0)
        figure = 0.0
        if block.figure:
            figure = drawing.below.words(drawing.width - px(2), y, block.figure, color, "small",
                                        room=px(FIGURE), right=True) + px(12)  # fmt: skip
        right = drawing.width - px(2) if narrow else drawing.width - max(figure, px(70))
        room, middle = max(px(20), right - left), top + (tall - px(BAR)) / 2
        if isinstance(block, rows.Bar):
            drawing.below.rect(left, middle, room, px(BAR) - px(2), "field", px(3))
            if block.share > 0:
                drawing.below.rect(left, middle, max(px(3), room * block.share), px(BAR) - px(2), block.color, px(3))
        else:
            whole, x = max(1, sum(block.numbers.values())), left
            for outcome in OUTCOMES:
                long = room * block.numbers.get(outcome, 0) / whole
                if long:
                    drawing.below.rect(
                        x, middle, max(px(2), long - px(2)), px(BAR), rows.OUTCOME_LOOKS[outcome].color, px(2)
                    )
                x += long
        return top + tall + px(GAP) * 0.7


def coded_words(
    look: Look, layer: Layer, x: float, y: float, words: str, room: float, color: str, pitch: float
) -> float:
    """Words that wrap, lines `pitch` apart; what stands in backticks as code on a plate. Where they end."""
    text, styles = inline(words)

    def measure(said: str, role: str) -> float:
        wide = LETTERS.wide(look.font_id(role))
        return wide(said) if wide is not None else 0.0

    lines = lines_of_words(text, styles, room, measure)
    draw_lines(look, layer.pen, lines, text, x, y, pitch, color)
    return y + pitch * len(lines)
