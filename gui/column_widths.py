"""How wide the columns of a table are: taken from where their cells stand, and put back at the next start.

Dear PyGui tells no column's width. Two neighbours' cells do, and the first column (an icon, never resized) tells what
padding and border add.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping, Sequence

import dearpygui.dearpygui as dpg

from gui.columns import Column

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


class WidthWatch:
    """Looks where the cells stand when the mouse goes down and after it came up; tells when a column was dragged."""

    def __init__(self, lefts: Callable[[], Mapping[int, float]], moved: Callable[[], object]) -> None:
        self._lefts, self._moved = lefts, moved
        self._before: Mapping[int, float] | None = None
        self._wait = 0

    def tick(self) -> None:
        """Before each frame."""
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
                self._moved()


def remembered_widths(places: Mapping[str, float], table: str) -> dict[str, float]:
    """The widths of the columns of a table among what is remembered (`Shell.places`)."""
    start = f"table.{table}."
    return {name.removeprefix(start): width for name, width in places.items() if name.startswith(start)}


def remembering(places: MutableMapping[str, float], table: str) -> Callable[[Mapping[str, float]], None]:
    """What remembers other widths of a table, for `BigTable`'s `on_widths`."""
    return lambda found: places.update({f"table.{table}.{key}": width for key, width in found.items()})
