"""What stands in the place of one row of a flowing list: an editor, say."""

from __future__ import annotations

from collections.abc import Hashable

import dearpygui.dearpygui as dpg

from gui.theme import Look


class Cover:
    """A child window over the row `key` (None: over no one), `height` pixels of the screen high."""

    def __init__(self, look: Look, parent: int) -> None:
        self.key: Hashable | None = None
        self.height = 0
        self.item = int(dpg.add_child_window(parent=parent, show=False, border=False, no_scrollbar=True, pos=[0, 0]))
        look.theme(self.item, "row-on")

    def over(self, key: Hashable | None, height: int = 0) -> None:
        """Cover another row, or none."""
        self.key, self.height = key, height
        if key is None:
            dpg.configure_item(self.item, show=False)

    def put(self, top: int | None, width: int) -> None:
        """Its place among the rows; None while its row is not in the list."""
        if top is not None:
            dpg.configure_item(self.item, show=True, pos=[0, top], width=width, height=self.height)
        elif self.key is not None:
            dpg.configure_item(self.item, show=False)
