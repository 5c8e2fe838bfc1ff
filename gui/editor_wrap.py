"""Lines of an editor that are broken while they are written: Dear PyGui's fields slide sideways instead.

A field that is being written in takes no other text from us. But what is typed comes through our hands
(`gui/key_gate.py`): a space near the edge becomes a space and the break that the editor makes itself when it opens, and
a text from the clipboard is typed in, broken. Without the gate a field slides as Dear PyGui lets it.
"""

from __future__ import annotations

from collections.abc import Callable

import dearpygui.dearpygui as dpg

from gui.theme import Look

HELD = (dpg.mvKey_LControl, dpg.mvKey_RControl)
EDGE = "a word of eighteen"
"""So much room is left for the word after the last space of a line."""


def place_after(before: str, now: str) -> int:
    """Where a text was changed: the end of what is new in it, counted in characters."""
    least = min(len(before), len(now))
    begun = next((at for at in range(least) if before[at] != now[at]), least)
    most, same = least - begun, 0
    while same < most and before[len(before) - 1 - same] == now[len(now) - 1 - same]:
        same += 1
    return len(now) - same


class Wrapping:
    """Watches one field while it is open. `fits(line)` tells whether a line has room; `soft` is the break that can be
    taken out again; `shown(words, fits)` breaks words as the editor does."""

    def __init__(
        self,
        look: Look,
        soft: str,
        fits: Callable[[str], bool],
        shown: Callable[[str, Callable[[str], bool]], str],
    ) -> None:
        self._look, self._soft, self._fits, self._shown = look, soft, fits, shown
        self._text = ""
        self._line = ""

    def begin(self, words: str) -> None:
        """The field was opened over these words."""
        self._text, self._line = words, ""
        self._look.gate.pastes = True

    def end(self) -> None:
        """It was closed."""
        self._look.gate.turn, self._look.gate.pastes = "", False

    def tick(self, now: str) -> bool:
        """Before each frame; `now` stands in the field. True when it has another number of lines."""
        gate = self._look.gate
        if gate.pasted and not any(dpg.is_key_down(key) for key in HELD):  # with Ctrl held no field takes letters
            words, gate.pasted, gate.turn = (dpg.get_clipboard_text() or "") * gate.pasted, 0, ""
            gate.replay(self._broken(words))
        if now == self._text:
            return False
        before, self._text = self._text, now
        at = place_after(before, now)
        self._line = now[now.rfind("\n", 0, at) + 1 : at]
        gate.turn = "" if self._fits(self._line + EDGE) else self._soft
        return now.count("\n") != before.count("\n")

    def _broken(self, words: str) -> str:
        """A text from elsewhere, broken so that it goes on in the line where it is put."""
        words = words.replace("\r", "").replace("\t", " ")
        begun = self._line
        shown = self._shown(begun + words, self._fits)
        return shown[len(begun) :] if shown.startswith(begun) else self._shown(words, self._fits)
