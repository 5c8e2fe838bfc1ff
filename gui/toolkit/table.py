"""The big table: columns over rows that somebody else keeps, a hundred thousand as quick as ten.

Filtering exchanges a list of indexes and never touches an item: what is in sight is drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import dearpygui.dearpygui as dpg

from gui.toolkit.drawing import Pen
from gui.toolkit.flow import Listing
from gui.toolkit.layout import box
from gui.toolkit.letters import LETTERS, cut
from gui.toolkit.theme import Look

Cell = str | tuple[str, str]  # a text, or a text and the name of its colour
PITCH, HEAD, PAD = 28, 28, 8
"""The height of a row and of the head, and what is left and right of the words of a cell, in unscaled pixels."""


@dataclass(frozen=True)
class Column:
    """One column. `width` in unscaled pixels, 0 shares what is left by `weight`.

    `color` is for cells that bring none. A table narrower than `least` unscaled pixels leaves the column out.
    """

    key: str
    title: str
    width: float = 0
    weight: float = 1.0
    color: str = "text"
    least: float = 0

    def shown(self, cell: Cell) -> tuple[str, str]:
        """Text and colour as they are drawn: one line."""
        words, color = (cell, self.color) if isinstance(cell, str) else cell
        if "\n" in words or "\0" in words:
            words = words.replace("\n", " ").replace("\0", " ")
        return words, color


class BigTable(Listing[int]):
    """A table. `cell(row, column)` gives what stands in a row (an index of the caller's data) and a column (a number):
    a text, or a text and a colour; `head(row)` tells the heads of others. `set_rows` says which rows are shown and in
    what order."""

    def __init__(
        self,
        look: Look,
        columns: Sequence[Column],
        cell: Callable[[int, int], Cell],
        *,
        on_select: Callable[[int], object] | None = None,
        on_open: Callable[[int], object] | None = None,
        tip: Callable[[int], str] | None = None,
        head: Callable[[int], bool] = lambda _row: False,
    ) -> None:
        super().__init__(look, on_select=on_select, on_open=on_open, tip=tip)
        self.columns, self._cell, self._head = tuple(columns), cell, head
        self._left_out: frozenset[str] = frozenset()

    def build(self, parent: int) -> Self:
        """Make all items; once."""
        look = self._look
        self.item = box(look, parent, "clear")
        group = look.theme(int(dpg.add_group(parent=self.item)), "no-gap")
        self.head = int(dpg.add_drawlist(10, 10, parent=group))
        self._titles = Pen(look, self.head)
        return super().build(group)

    def leave_out(self, keys: Collection[str]) -> None:
        """Show no column of these keys."""
        self._left_out = frozenset(keys)
        self.refresh()

    def refresh(self) -> None:
        """Ask for the visible cells again."""
        self.canvas.renew()

    def shown(self) -> Iterator[tuple[int, Column, int, int]]:
        """The columns that there is room for: number, column, where its words begin and how wide they may be, in pixels
        of the screen."""
        px = self._look.px
        there = [(at, one) for at, one in enumerate(self.columns)
                 if one.key not in self._left_out and self.width >= px(one.least)]  # fmt: skip
        spare = self.width - sum(px(one.width) + 2 * px(PAD) for _, one in there)
        weights = sum(one.weight for _, one in there if not one.width) or 1.0
        x = 0.0
        for at, one in there:
            wide = px(one.width) if one.width else max(1.0, spare * one.weight / weights)
            yield at, one, int(x) + px(PAD), int(wide)
            x += wide + 2 * px(PAD)

    def _is_head(self, row: int) -> bool:
        return self._head(row)

    def _guesses(self) -> Sequence[int]:
        return [self._look.px(PITCH)] * len(self.rows)

    def _sized(self, before: tuple[int, int]) -> None:
        dpg.configure_item(self.head, width=max(1, self.width), height=self._look.px(HEAD))
        super()._sized(before)

    def _paint(self, pen: Pen, top: float, bottom: float) -> None:
        self._columns = tuple(self.shown())
        self._draw_head()
        super()._paint(pen, top, bottom)

    def _draw(self, pen: Pen, at: int, y: int, tall: int) -> None:
        px, wide = self._look.px, LETTERS.wide(self._look.font_id("text"))
        for number, column, x, room in self._columns:
            words, color = column.shown(self._cell(self.rows[at], number))
            shown = words if column.width and not column.title else cut(words, room, wide)
            pen.words(x, y + px(6), shown, "text", color)
        pen.line(0, y + tall - 1, self.width, y + tall - 1, "line@70")

    def _draw_head(self) -> None:
        px, pen = self._look.px, self._titles
        pen.begin()
        for _, column, x, room in self._columns:
            pen.words(x, px(5), column.title, "text", "muted", room=room)
        pen.line(0, px(HEAD) - 1, self.width, px(HEAD) - 1, "line")
        pen.end()
