"""Small drawings: a bar divided into segments, progress. Drawn once, then only moved."""

from __future__ import annotations

from collections.abc import Sequence

import dearpygui.dearpygui as dpg

from gui.toolkit.drawing import Pen
from gui.toolkit.theme import Look

Part = tuple[float, str]
"""One segment: how much, and in which colour."""


class SegmentBar:
    """How a whole is divided, as wide as `parent`; what is not used stays empty."""

    def __init__(self, look: Look, parent: int, *, height: float) -> None:
        self._look, self._height, self._width = look, height, 0.0
        self._parts: Sequence[Part] = ()
        self._total = 1.0
        self.item = int(dpg.add_drawlist(10, look.px(height), parent=parent))
        self._pen = Pen(look, self.item)
        look.follow(parent, self._fit)
        look.on_change(self._restyle)

    def set(self, parts: Sequence[Part], total: float) -> None:
        """Show `parts` of `total`."""
        self._parts, self._total = parts, max(total, 1e-9)
        self._draw()

    def _fit(self, width: float, _height: float) -> None:
        self._width = width
        self._draw()

    def _restyle(self) -> None:
        self._pen.forget()
        self._draw()

    def _draw(self) -> None:
        px, height, x = self._look.px, self._look.px(self._height), 0.0
        if self._width <= 0:
            return
        dpg.configure_item(self.item, width=int(self._width), height=height)
        self._pen.begin()
        self._pen.box(0, 0, self._width, height, "field", px(3))
        for value, color in self._parts:
            end = min(x + self._width * value / self._total, self._width)
            if end - x >= 1:
                self._pen.box(x, 0, max(end - px(2), x + 1), height, color, px(3))
            x = end
        self._pen.end()


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
