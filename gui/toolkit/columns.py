"""The columns of a big table as plain data: their cells, how keys move through its rows, and how wide they are.

Widths are taken from where the cells stand, and put back at the next start. Dear PyGui tells no column's width: two
neighbours' cells do, and the first column (an icon, never resized) tells what padding and border add.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass

import dearpygui.dearpygui as dpg

from gui.toolkit.theme import Look

Cell = str | tuple[str, str]  # a text, or a text and the name of its colour


@dataclass(frozen=True)
class Column:
    """One column. `width` in unscaled pixels, 0 shares what is left by `weight`.

    `role` is the font. `chars` > 0 sets text to the right, in so many letters of the mono font. `color` is for cells
    that bring none. A table narrower than `least` unscaled pixels leaves the column out. `descending_first` is for
    sizes and ages; `sorted_first` marks the one column that the rows are sorted by at the beginning.
    """

    key: str
    title: str
    width: float = 0
    weight: float = 1.0
    role: str = "text"
    chars: int = 0
    color: str = "text"
    sortable: bool = True
    descending_first: bool = False
    sorted_first: bool = False
    least: float = 0

    def shown(self, cell: Cell) -> tuple[str, str]:
        """Text and colour as they are drawn: one line, set to the right where the column wants it."""
        words, color = (cell, self.color) if isinstance(cell, str) else cell
        if "\n" in words or "\0" in words:  # a foreign name must not make a row taller than the others
            words = words.replace("\n", " ").replace("\0", " ")
        return words.rjust(self.chars) if self.chars else words, color


def moved_to(key: str, now: int | None, count: int, page: int) -> int | None:
    """The position that a key moves to from `now` among `count` rows; None for a key that does not move."""
    steps = {"Up": -1, "Down": 1, "Page up": -page, "Page down": page, "Home": -count, "End": count}
    if key not in steps or not count:
        return None
    if now is None:
        return count - 1 if key == "End" else 0
    return max(0, min(count - 1, now + steps[key]))


CHANGED = 1.5  # pixels; less is rounding


def wide(column: Column, remembered: Mapping[str, float], px: Callable[[float], int]) -> float:
    """What a column begins with: pixels of the screen for a fixed one, a share for one that stretches."""
    width = remembered.get(column.key, 0.0)
    if column.width:
        return px(width if 10 <= width <= 2000 and column.title else column.width)
    return width if width > 0 else column.weight


def measured(
    columns: Sequence[Column], lefts: Mapping[int, float], end: float, scale: float, before: Mapping[str, float]
) -> dict[str, float]:
    """Widths in unscaled pixels by key, from where the shown columns begin (`lefts`, by number) and the table ends.

    A column that stretches and is left out at the moment keeps its share beside the others.
    """
    shown = sorted(lefts)
    if len(shown) < 2 or shown[0] != 0 or not columns[0].width:
        return {}
    between = lefts[shown[1]] - lefts[0] - columns[0].width * scale
    found: dict[str, float] = {}
    for number, after in zip(shown, [*shown[1:], None], strict=True):
        column = columns[number]
        if not column.title or (after is None and column.width):
            continue  # the icon, and a fixed one at the end, which gives way to none
        right = end if after is None else lefts[after] - between
        found[column.key] = round(max(right - lefts[number], 10) / scale, 1)
    stretched = [column for column in columns if not column.width and column.title]
    seen = [column for column in stretched if column.key in found]
    shares = sum(before.get(column.key, column.weight) for column in seen)
    for column in stretched:
        if column.key not in found and shares:
            all_seen = sum(found[one.key] for one in seen)
            found[column.key] = round(before.get(column.key, column.weight) * all_seen / shares, 1)
    return found


class ColumnWidths:
    """The widths of one table's columns, also those that the user has dragged.

    `lefts()` tells where the cells of a row in sight begin, by the number of their column. They are looked at when the
    mouse goes down and after it came up; `on_widths` hears what was dragged, in unscaled pixels by the column's key.
    """

    def __init__(
        self,
        look: Look,
        columns: Sequence[Column],
        widths: Mapping[str, float],
        lefts: Callable[[], Mapping[int, float]],
        on_widths: Callable[[dict[str, float]], object] | None,
    ) -> None:
        self._look, self._columns, self._widths = look, tuple(columns), dict(widths)
        self._lefts, self._on_widths = lefts, on_widths
        self._table = 0.0  # how wide the table is
        self.left_out: frozenset[str] = frozenset()
        """Columns that are not shown, however wide the table is, by their keys."""
        self._before: Mapping[int, float] | None = None
        self._wait = 0

    def columns_now(self) -> list[tuple[Column, float]]:
        """Every column with the width, or the share, that it has now in pixels of the screen."""
        return [(column, wide(column, self._widths, self._look.px)) for column in self._columns]

    def fit(self, items: Mapping[int, Column], width: float) -> None:
        """The table is so wide now: columns for which it is too narrow are left out."""
        self._table = width
        for item, column in items.items():
            there = column.key not in self.left_out
            dpg.configure_item(item, show=there and width >= self._look.px(column.least))

    def resize(self, items: Mapping[int, Column], sort: tuple[str, bool] | None) -> None:
        """Give the columns their widths at another scale, sorted as they are."""
        for item, column in items.items():
            now = sort if sort is not None and sort[0] == column.key else None
            down = now[1] if now else column.descending_first
            dpg.configure_item(
                item, init_width_or_weight=wide(column, self._widths, self._look.px), default_sort=now is not None,
                prefer_sort_descending=down, prefer_sort_ascending=not down,
            )  # fmt: skip

    def tick(self) -> None:
        """Before each frame."""
        if self._on_widths is None:
            return
        down = dpg.is_mouse_button_down(dpg.mvMouseButton_Left)
        if down and self._before is None:
            self._before = dict(self._lefts())
        elif not down and self._before is not None:
            self._wait += 1
            if self._wait < 3:  # the frame after the release shows where they are
                return
            now, before = self._lefts(), self._before
            self._before, self._wait = None, 0
            if before.keys() == now.keys() and any(abs(now[at] - before[at]) > CHANGED for at in now):
                self._dragged(now, self._on_widths)

    def _dragged(self, lefts: Mapping[int, float], tell: Callable[[dict[str, float]], object]) -> None:
        end = lefts[0] + self._table - self._look.px(26)  # padding of both sides, and the scroll bar
        found = measured(self._columns, lefts, end, self._look.scale, self._widths)
        if found:
            self._widths.update(found)
            tell(found)


def remembered_widths(places: Mapping[str, float], table: str) -> dict[str, float]:
    """The widths of the columns of a table among what is remembered (`Shell.places`)."""
    start = f"table.{table}."
    return {name.removeprefix(start): width for name, width in places.items() if name.startswith(start)}


def remembering(places: MutableMapping[str, float], table: str) -> Callable[[Mapping[str, float]], None]:
    """What remembers other widths of a table, for `BigTable`'s `on_widths`."""
    return lambda found: places.update({f"table.{table}.{key}": width for key, width in found.items()})
