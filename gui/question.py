"""The one question of a panel: a title, what will happen, and a yes that somebody hears."""

from __future__ import annotations

from collections.abc import Callable

import dearpygui.dearpygui as dpg

from gui.theme import Look
from gui.widgets import text
from gui.widgets_dialog import Dialog


class Question:
    """A dialog that is filled anew for every question. Esc is a no; Enter is a yes, and where something is destroyed
    (`kind` danger) a no as well."""

    def __init__(self, look: Look) -> None:
        self._answer: Callable[[], object] | None = None
        self.dialog = Dialog(look, "", "Yes", self._confirmed, icon="circle-question-mark", width=480)
        self.words = text(look, self.dialog.body, "", wrap=True)

    def ask(self, title: str, words: str, confirm: str, on_confirm: Callable[[], object], kind: str) -> None:
        """Show it; `on_confirm()` is called for a yes, nothing for a no."""
        self._answer = on_confirm
        self.dialog.set_title(title)
        self.dialog.set_kind(kind)
        self.dialog.set_confirm(confirm)
        dpg.set_value(self.words, words)
        self.dialog.open()

    def _confirmed(self) -> None:
        answer, self._answer = self._answer, None
        if answer is not None:
            answer()
