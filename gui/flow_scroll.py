"""Where a scrolled child window stands, and how it is brought elsewhere."""

from __future__ import annotations

import dearpygui.dearpygui as dpg

TRIES = 5


class Scroll:
    """The scroll of a child window. Dear PyGui takes another one over with the next frame, and only as far as the
    content reaches by then: it is asked for again until it is so, `TRIES` times."""

    def __init__(self, item: int) -> None:
        self._item = item
        self._seen = -1.0
        self._wanted: tuple[float, int] | None = None  # what was asked for, and how often still

    @property
    def at(self) -> float:
        """Where it stands, or will stand with the next frame; pixels of the screen."""
        return self._wanted[0] if self._wanted is not None else float(dpg.get_y_scroll(self._item))

    def go(self, to: float) -> None:
        """Bring it elsewhere."""
        self._wanted = (max(0.0, to), TRIES)
        dpg.set_y_scroll(self._item, max(0.0, to))

    def tick(self) -> bool:
        """Before each frame; true when it moved, or has to be asked for again."""
        now, asked = float(dpg.get_y_scroll(self._item)), False
        if self._wanted is not None:
            wanted, tries = self._wanted
            if abs(now - wanted) <= 1 or tries <= 0:
                self._wanted = None
            else:
                self._wanted = (wanted, tries - 1)
                dpg.set_y_scroll(self._item, wanted)
                asked = True
        moved, self._seen = now != self._seen or asked, now
        return moved
