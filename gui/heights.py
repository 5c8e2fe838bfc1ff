"""Where the rows of a long list stand when each has a height of its own: measured in sight, guessed elsewhere. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable, Sequence
from itertools import accumulate


class Heights:
    """Heights of rows and their tops, in whole pixels.

    `begin` takes a guess for every row; `measure` replaces guesses by what `exactly(at)` says (None: it cannot be
    measured yet). What was measured once is remembered by `name(at)`, so that rows which come back need no guess.
    """

    def __init__(self, exactly: Callable[[int], int | None], name: Callable[[int], Hashable]) -> None:
        self._exactly, self._name = exactly, name
        self.heights: list[int] = []
        self.tops: list[int] = [0]
        self._exact: set[int] = set()
        self._known: dict[Hashable, int] = {}

    def __len__(self) -> int:
        return len(self.heights)

    @property
    def total(self) -> int:
        """The height of all rows together."""
        return self.tops[-1]

    def forget(self) -> None:
        """Everything has another width now: nothing that was measured holds."""
        self._known.clear()

    def begin(self, guesses: Sequence[int]) -> None:
        """Other rows. A height that is remembered is taken before its guess."""
        self._exact.clear()
        self.heights = list(guesses)
        if self._known:
            for at in range(len(self.heights)):
                known = self._known.get(self._name(at))
                if known is not None:
                    self.heights[at] = known
                    self._exact.add(at)
        self._add_up()

    def fix(self, at: int, height: int) -> None:
        """Give one row a height that is not measured, until `begin`."""
        self._exact.add(at)
        self.heights[at] = height
        self._add_up()

    def measure(self, start: int, end: int) -> bool:
        """Exact heights for the rows from `start` to before `end`; true when a guess among them was wrong."""
        changed = False
        for at in range(max(0, start), min(end, len(self.heights))):
            if at in self._exact:
                continue
            height = self._exactly(at)
            if height is None:
                break
            self._exact.add(at)
            self._known[self._name(at)] = height
            if height != self.heights[at]:
                self.heights[at] = height
                changed = True
        if changed:
            self._add_up()
        return changed

    def at(self, y: float) -> int:
        """The row that stands at a height, the first or the last one beyond the ends; 0 when there is none."""
        return max(0, min(bisect_right(self.tops, y) - 1, len(self.heights) - 1))

    def window(self, scroll: float, tall: float, more: int) -> tuple[int, int]:
        """The rows in sight, with `more` on both sides: from the first to before the second number."""
        if not self.heights:
            return 0, 0
        return max(0, self.at(scroll) - more), min(len(self.heights), self.at(scroll + tall) + 1 + more)

    def _add_up(self) -> None:
        self.tops = list(accumulate(self.heights, initial=0))
