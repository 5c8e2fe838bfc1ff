"""An editor in the place of a row: a field with Save and Cancel, and the sentence that says why it was not saved.

Its words are a `TextArea`: they wrap while they are written, and undo, words and selection work as in any editor.
"""

from __future__ import annotations

from collections.abc import Callable

import dearpygui.dearpygui as dpg

from gui.toolkit.icons import icon as icon_of
from gui.toolkit.layout import box, lowered
from gui.toolkit.letters import END, LETTERS, wrapped
from gui.toolkit.text_area import PADDING, ROW, TextArea
from gui.toolkit.theme import Look
from gui.toolkit.widgets import Button, text

LINE = 16
ROOM = 10 + 8 + 28 + 10  # around the field: above, between, the row of buttons, below
BELOW = 10  # below a sentence
AROUND = 12 + 24 + 12 + 8  # beside a sentence: the frame, the sign
BESIDE = 52  # beside the words of the field: frames, padding, the scroll bar


LEAST, MOST = 2, 9
"""So many rows the field is high."""


class Editor:
    """One editor, made once and opened over one thing after the other.

    `on_save()` hears that it is to be saved, `on_cancel()` that nothing is to be done. `on_height()` is called when it
    wants another height (`height`, unscaled pixels); `room()` is the width that it has, in pixels of the screen;
    `pasted(words)` is what comes in of words that are pasted.
    """

    def __init__(
        self,
        look: Look,
        *,
        on_save: Callable[[], object],
        on_cancel: Callable[[], object],
        on_height: Callable[[], object],
        room: Callable[[], float],
        pasted: Callable[[str], str] = str,
    ) -> None:
        self._look, self._room = look, room
        self._on_save, self._on_cancel, self._on_height = on_save, on_cancel, on_height
        self.open = False
        self.before = ""
        self.typed = ""
        """What stood in it before the last frame: Esc makes a field forget what was typed."""
        self._lines = LEAST
        self._said = 0.0  # how high the sentence is, with what is below it
        self.area = TextArea(look, room=lambda: room() - look.px(BESIDE), pasted=pasted)

    def build(self, parent: int) -> None:
        """Make all items inside the overlay of a list; once."""
        look = self._look
        inside = box(look, parent, "editor")
        self.area.build(inside)
        self._question = int(dpg.add_group(horizontal=True, parent=inside, show=False))
        text(look, self._question, icon_of("triangle-alert"), "text", "edited")
        self.sentence = text(look, self._question, "", "text", "text", wrap=True)
        row = int(dpg.add_group(horizontal=True, parent=inside))
        self.save = Button(look, row, "Save", self._on_save, icon="check", kind="primary", shortcut="Ctrl+Enter")
        self.cancel = Button(look, row, "Cancel", self._on_cancel, kind="ghost", shortcut="Esc")
        self.note = text(look, lowered(look, row, 8), "", "small", "hint", fit=END)
        look.every_tick(self.tick)

    @property
    def height(self) -> float:
        """How high it wants to be, in unscaled pixels."""
        return self._lines * ROW + 2 * PADDING + ROOM + self._said

    @property
    def words(self) -> str:
        """The words that stand in it."""
        return self.area.words.strip()

    def begin(self, words: str, note: str, save: str = "Save", *, mine: str | None = None) -> None:
        """Open it over `words`; `mine` are other words to begin with."""
        self.open = True
        self.area.begin(words)
        self.before = self.words
        self.save.set_label(save)
        dpg.set_value(self.note, note)
        if mine is not None:
            self.area.begin(mine)
        self.typed = self.words
        self._make_room()
        self._say("")
        self._look.keys_to(self.area.field)

    def refuse(self, sentence: str) -> None:
        """Say why it cannot be saved as it is, in as many lines as that takes; it can be mended and saved."""
        dpg.set_value(self.note, "")
        self._say(sentence)

    def tell(self, note: str) -> None:
        """Other words beside the buttons."""
        dpg.set_value(self.note, note)

    def close(self) -> None:
        """Nothing is edited any more."""
        self.open = False

    def leave(self) -> None:
        """Its words are being saved: the next keys are for what comes after it."""
        self._look.leaving = self.area.field
        dpg.configure_item(self.area.field, enabled=False)

    def take_back(self) -> None:
        """They are saved, or were refused."""
        self._look.leaving = 0
        dpg.configure_item(self.area.field, enabled=True)

    def press(self, key: str) -> bool:
        """Ctrl+Enter saves, and so does Enter in the field; Esc cancels; the rest is for the words. True when it was
        used."""
        ends = ("Enter", "Keypad Enter") if self._look.typing() else ()
        if key in ("Ctrl+Enter", "Ctrl+Keypad Enter", *ends):
            self._on_save()
        elif key == "Esc":
            self._on_cancel()
        else:
            return self.area.press(key)
        return True

    def tick(self) -> bool:
        """Remember what stands in it (see `typed`), draw it and let it grow; true when there is something new."""
        if not self.open:
            return False
        self.typed = self.words
        drawn, before = self.area.tick(), self._lines
        self._make_room()
        if self._lines != before:
            self._on_height()
        return drawn or self._lines != before

    def _make_room(self) -> None:
        self._lines = max(LEAST, min(MOST, self.area.rows))
        self.area.set_rows(self._lines)

    def _say(self, sentence: str) -> None:
        dpg.set_value(self.sentence, sentence)
        room = self._room() - self._look.px(AROUND)
        wide = LETTERS.wide(self._look.font_id("text"))
        lines = wrapped(sentence, room, wide).count("\n") + 1 if wide is not None else 1
        self._said = max(LINE, lines * LINE) + BELOW if sentence else 0
        dpg.configure_item(self._question, show=self._said > 0)
        self._on_height()
