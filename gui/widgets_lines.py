"""A list of sentences with icons and figures, made once and filled again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import dearpygui.dearpygui as dpg

from gui.icons import icon
from gui.theme import Look
from gui.widgets import text
from gui.widgets_layout import trailing_row


@dataclass(frozen=True)
class Line:
    """One sentence: icon, its colour, words, and a figure at the right."""

    icon: str
    color: str
    words: str
    aside: str = ""


class Lines:
    """Room for `most` sentences; long ones wrap."""

    def __init__(self, look: Look, parent: int, most: int) -> None:
        self._look = look
        group = look.theme(int(dpg.add_group(parent=parent)), "row-lines")
        self._rows: list[tuple[int, int, int, int]] = []
        for _ in range(most):
            holder = int(dpg.add_group(parent=group, show=False))
            left, right = trailing_row(look, holder, 2, 1)
            sign, words = text(look, left, ""), text(look, left, "", wrap=True)
            self._rows.append((holder, sign, words, text(look, right, "", "mono", "muted")))

    def set(self, lines: Sequence[Line]) -> None:
        """Show these; what is too much is left out."""
        for number, (holder, sign, words, aside) in enumerate(self._rows):
            line = lines[number] if number < len(lines) else None
            dpg.configure_item(holder, show=line is not None)
            if line is not None:
                dpg.set_value(sign, icon(line.icon) if line.icon else "")
                self._look.tint(sign, line.color)
                dpg.set_value(words, line.words)
                dpg.set_value(aside, line.aside)
