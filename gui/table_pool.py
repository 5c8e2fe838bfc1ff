"""The rows of a big table that are there at all: a few dozen, filled again and again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import dearpygui.dearpygui as dpg

from gui.columns import Cell, Column
from gui.letters import LETTERS, Wide, cut
from gui.table_rows import PoolRow
from gui.theme import Look
from gui.widgets import say_hint

LOOKS = 4  # frames between two looks for a row in sight


class Pool:
    """Rows with what each of them shows. `make(slot)` makes one more, hidden; `cell(row, column)` and `tip(row)` are
    those of the table."""

    def __init__(
        self,
        look: Look,
        columns: Sequence[Column],
        make: Callable[[int], PoolRow],
        cell: Callable[[int, int], Cell],
        tip: Callable[[int], str] | None,
    ) -> None:
        self._look, self._columns, self._make, self._cell, self._tip = look, columns, make, cell, tip
        self._rows: list[PoolRow] = []
        self._shown: list[list[tuple[str, str] | None]] = []  # text and colour of every cell; empty: the row is hidden
        self._rooms: dict[int, int] = {}  # how wide the cells of a column are, by its number
        self._wide: list[Wide | None] = [None] * len(columns)
        self._seen: PoolRow | None = None  # a row that was in sight
        self._looked = -1

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[PoolRow]:
        return iter(self._rows)

    def __getitem__(self, slot: int) -> PoolRow:
        return self._rows[slot]

    def grow(self, count: int) -> None:
        """Make rows until there are so many."""
        for slot in range(len(self._rows), count):
            self._rows.append(self._make(slot))
            self._shown.append([])

    def fill(self, slot: int, index: int | None) -> None:
        """Show a row of the caller's data, or none; changes only what differs."""
        row, shown = self._rows[slot], self._shown[slot]
        if index is None:
            if shown:
                self._shown[slot] = []
                dpg.configure_item(row.item, show=False)
            return
        if not shown:
            shown = self._shown[slot] = [None] * len(self._columns)
            dpg.configure_item(row.item, show=True)
        for number, column in enumerate(self._columns):
            words, color = column.shown(self._cell(index, number))
            before = shown[number]
            if before == (words, color):
                continue
            if before is None or before[0] != words:
                dpg.set_value(row.texts[number], self._cut(number, words))
            if before is None or before[1] != color:
                dpg.configure_item(row.texts[number], color=self._look.rgba(color))
            shown[number] = (words, color)
            if number == 0 and self._tip is not None:
                say_hint(row.tip, self._tip(index))

    def _cut(self, number: int, words: str) -> str:
        """What fits into a column of the words of a cell; figures are never cut."""
        room, wide = self._rooms.get(number), self._wide[number]
        if room is None or wide is None or self._columns[number].chars:
            return words
        return cut(words, room, wide)

    def measure(self) -> bool:
        """Take the widths of the columns from the screen; true when one has changed and the cells must be cut anew."""
        row = self._seen
        if row is None or not dpg.get_item_state(row.texts[0]).get("visible"):
            self._looked += 1
            if self._looked % LOOKS:  # a table out of sight must cost nothing
                return False
            row = self._seen = next(
                (one for one in self._rows if dpg.get_item_state(one.texts[0]).get("visible")), None
            )
            if row is None:
                return False
        states = [dpg.get_item_state(item) for item in row.texts]
        rooms = {at: int(state["content_region_avail"][0]) for at, state in enumerate(states)
                 if at and state.get("visible")}  # fmt: skip
        if rooms == self._rooms:
            return False
        self._rooms = rooms
        self._wide = [LETTERS.wide(self._look.font_id(column.role)) for column in self._columns]
        self.forget()
        return True

    def forget(self) -> None:
        """Set every text and colour anew at the next `fill`, after a change of palette."""
        self._shown = [[None] * len(self._columns) if shown else [] for shown in self._shown]

    def lefts(self) -> dict[int, float]:
        """Where the cells of a row in sight begin, by the number of their column."""
        for row in self._rows:
            states = [dpg.get_item_state(item) for item in row.texts]
            if states[0].get("visible"):
                return {number: state["rect_min"][0] for number, state in enumerate(states) if state.get("visible")}
        return {}

    def pitch(self) -> float:
        """The height of a row, from two neighbours on the screen; 0.0 while there are none."""
        for row, below in zip(self._rows, self._rows[1:], strict=False):
            one, other = dpg.get_item_state(row.texts[0]), dpg.get_item_state(below.texts[0])
            if one.get("visible") and other.get("visible"):
                return float(max(0.0, other["rect_min"][1] - one["rect_min"][1]))
        return 0.0
