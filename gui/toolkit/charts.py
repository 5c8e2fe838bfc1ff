"""Small drawings: a bar divided into segments, bars of the last days, progress. Drawn once, then only moved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import dearpygui.dearpygui as dpg

from gui.toolkit.layout import trailing_row
from gui.toolkit.letters import END
from gui.toolkit.theme import Look
from gui.toolkit.widgets import text


@dataclass(frozen=True)
class Part:
    """One segment: what it stands for, how much, in which colour, and the amount in words."""

    label: str
    value: float
    color: str
    words: str = ""


class SegmentBar:
    """How a whole is divided, as wide as `container`; what is not used stays empty. `most` segments at the most."""

    def __init__(self, look: Look, parent: int, container: int, *, height: float = 12, most: int = 10) -> None:
        self._look, self._height, self._most = look, height, most
        self._width = 0.0
        self._parts: Sequence[Part] = ()
        self._total = 1.0
        self._mark = 0.0
        self.item = int(dpg.add_drawlist(10, look.px(height), parent=parent))
        self._track = int(dpg.draw_rectangle((0, 0), (0, 0), parent=self.item))
        self._segments = [int(dpg.draw_rectangle((0, 0), (0, 0), parent=self.item)) for _ in range(most)]
        self._line = int(dpg.draw_line((0, 0), (0, 0), parent=self.item))
        look.follow(container, self._fit)
        look.on_change(self.draw)

    def set(self, parts: Sequence[Part], total: float, mark: float = 0.0) -> None:
        """Show `parts` of `total`, and a thin line at `mark` (0: none)."""
        self._parts, self._total, self._mark = parts[: self._most], max(total, 1e-9), mark
        self.draw()

    def _fit(self, width: float, _height: float) -> None:
        self._width = width
        self.draw()

    def draw(self) -> None:
        """Put every segment in its place."""
        look, height, width = self._look, self._look.px(self._height), self._width
        if width <= 0:
            return
        gap, rounding = look.px(2), look.px(3)
        dpg.configure_item(self.item, width=int(width), height=height)
        ground = look.rgba("field")
        dpg.configure_item(self._track, pmax=(width, height), fill=ground, color=ground, rounding=rounding)
        x = 0.0
        for number, item in enumerate(self._segments):
            part = self._parts[number] if number < len(self._parts) else None
            length = width * part.value / self._total if part else 0.0
            end = min(x + length, width)
            if part is None or end - x < 1:
                dpg.configure_item(item, show=False)
            else:
                color = look.rgba(part.color)
                right = max(end - gap, x + 1)
                dpg.configure_item(
                    item, show=True, pmin=(x, 0), pmax=(right, height), fill=color, color=color, rounding=rounding
                )
            x = end
        at = width * min(self._mark / self._total, 1.0)
        dpg.configure_item(
            self._line, show=self._mark > 0, p1=(at, 0), p2=(at, height), color=look.rgba("muted"), thickness=look.px(1)
        )


class Legend:
    """The names and amounts of a `SegmentBar`, one line each, `most` lines."""

    def __init__(self, look: Look, parent: int, most: int = 10) -> None:
        self._look = look
        group = look.theme(int(dpg.add_group(parent=parent)), "tight")
        self._rows: list[tuple[int, int, int, int]] = []
        for _ in range(most):
            holder = int(dpg.add_group(parent=group, show=False))
            left, right = trailing_row(look, holder, 2)
            square = text(look, left, "■", "small")
            name = text(look, left, "", "small", "muted", fit=END)
            self._rows.append((holder, square, name, text(look, right, "", "mono", "muted")))

    def set(self, parts: Sequence[Part]) -> None:
        """Show these parts."""
        for number, (holder, square, name, amount) in enumerate(self._rows):
            part = parts[number] if number < len(parts) else None
            dpg.configure_item(holder, show=part is not None)
            if part is not None:
                self._look.tint(square, part.color)
                dpg.set_value(name, part.label)
                dpg.set_value(amount, part.words or f"{part.value:,.0f}")


class Progress:
    """A thin bar with words under no mouse: `fraction` 0 to 1. The words stand beside it, so that they never hide."""

    def __init__(self, look: Look, parent: int, *, width: float = 220) -> None:
        self.item = int(dpg.add_progress_bar(default_value=0.0, parent=parent))
        look.size(self.item, width=width, height=8)
        look.theme(self.item, "progress")

    def set(self, fraction: float) -> None:
        """How far it is; values outside of 0 to 1 are cut."""
        dpg.set_value(self.item, min(max(fraction, 0.0), 1.0))

    def show(self, on: bool) -> None:
        """Whether it is there at all."""
        dpg.configure_item(self.item, show=on)
