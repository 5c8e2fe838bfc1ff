"""Buttons in a row that becomes too narrow for their words: the icons stay, from the last one on."""

from __future__ import annotations

from collections.abc import Sequence

from gui.letters import LETTERS
from gui.styles import FRAME
from gui.theme import Look
from gui.widgets import Button

GAP = 8


class ButtonRow:
    """Watches buttons in a row as wide as `container`, where `taken` unscaled pixels are for something else."""

    def __init__(self, look: Look, container: int, buttons: Sequence[Button], taken: float = 0) -> None:
        self._look, self._buttons, self._taken = look, buttons, taken
        self._width = 0.0
        look.follow(container, self._follow)

    def _follow(self, width: float, _height: float) -> None:
        self._width = width
        self.fit()

    def fit(self) -> None:
        """Give words to as many as there is room for; call it when other buttons are shown, or other words."""
        wide = LETTERS.wide(self._look.font_id("text"))
        if self._width <= 0 or wide is None:
            return
        shown = [button for button in self._buttons if button.shown]
        around = self._look.px(2 * FRAME[0] + GAP)
        used = sum(wide(button.label) + around for button in shown) - self._look.px(GAP)
        for button in reversed(shown):
            fits = used <= self._width - self._look.px(self._taken)
            button.words(fits)
            if not fits:
                used -= wide(button.label) - self._look.px(18)
