"""Columns and cells of the big table as plain data, and how the keys move through its rows."""

from __future__ import annotations

from dataclasses import dataclass

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
