"""The editor of one bullet, in the place of its row, and what it asks when the file was changed meanwhile."""

from __future__ import annotations

from collections.abc import Callable

import dearpygui.dearpygui as dpg

from gui.icons import icon as icon_of
from gui.theme import Look
from gui.views.knowledge_rows import broken, joined
from gui.widgets import Button, field, text
from gui.widgets_layout import box, lowered

LINE, PADDING = 16, 12
LEAST, MOST = 2, 9
ROOM = 10 + 8 + 28 + 10  # around the field: above, between, the row of buttons, below
BELOW = 10  # below a sentence
AROUND = 12 + 24 + 12 + 8  # beside a sentence: the frame, the sign
THEIRS = 120  # characters of the other text that are shown


class BulletEditor:
    """One field with Save and Cancel; a second row of buttons when the file was changed outside.

    `on_save(text)` hears the words as one line, `on_cancel()` that nothing is to be done; `on_choice(which)` hears
    `theirs`, `again` or `copy`. `on_height()` is called when it wants another height (`height`, unscaled pixels);
    `room()` is the width that it has, in pixels of the screen.
    """

    def __init__(
        self,
        look: Look,
        *,
        on_save: Callable[[str], object],
        on_cancel: Callable[[], object],
        on_choice: Callable[[str], object],
        on_height: Callable[[], object],
        room: Callable[[], float],
    ) -> None:
        self._look = look
        self._on_save, self._on_cancel, self._on_choice, self._on_height = on_save, on_cancel, on_choice, on_height
        self.open = False
        self.asking = False
        self.before = self._typed = ""
        self._lines = LEAST
        self._room = room
        self._focus = 0
        self._said = 0.0  # how high the sentence is, with what is below it
        self.field = 0

    def build(self, parent: int) -> None:
        """Make all items inside the overlay of a list; once."""
        look = self._look
        inside = box(look, parent, "editor")
        self.field = field(look, inside, lines=2)
        self._question = int(dpg.add_group(horizontal=True, parent=inside, show=False))
        text(look, self._question, icon_of("triangle-alert"), "text", "edited")
        self._sentence = text(look, self._question, "", "text", "text", wrap=True)
        self._ways = row = int(dpg.add_group(horizontal=True, parent=inside, show=False))
        self.choices = {
            "again": Button(look, row, "Try again on the new text", lambda: self._on_choice("again"), icon="redo-2",
                            tip="Look the bullet up in the file as it is now, and put your words there",
                            shortcut="Ctrl+Enter"),
            "theirs": Button(look, row, "Show theirs", lambda: self._on_choice("theirs"), icon="eye",
                             tip="Leave the file as it is; your words can be brought back", shortcut="Esc"),
            "copy": Button(look, row, "Copy mine", lambda: self._on_choice("copy"), icon="copy",
                           tip="Put your words on the clipboard", shortcut="Ctrl+Shift+C"),
        }  # fmt: skip
        self._row = int(dpg.add_group(horizontal=True, parent=inside))
        self.save = Button(look, self._row, "Save", self._save, icon="check", kind="primary", shortcut="Ctrl+Enter")
        self.cancel = Button(look, self._row, "Cancel", self._on_cancel, kind="ghost", shortcut="Esc")
        self._note = text(look, lowered(look, self._row, 8), "", "small", "hint")
        look.every_tick(self.tick)

    @property
    def height(self) -> float:
        """How high it wants to be, in unscaled pixels."""
        return self._lines * LINE + PADDING + ROOM + self._said

    @property
    def words(self) -> str:
        """What stands in it, as one line."""
        return joined(str(dpg.get_value(self.field)))

    @property
    def typed(self) -> str:
        """What stood in it before the last frame: Esc makes the field forget what was typed."""
        return joined(self._typed)

    def begin(self, words: str, note: str, save: str = "Save", *, mine: str | None = None) -> None:
        """Open it over `words`; `mine` are other words to begin with."""
        self.open, self.before = True, joined(words)
        self.save.set_label(save)
        dpg.set_value(self._note, note)
        shown = broken(words if mine is None else mine, self._fits)
        dpg.set_value(self.field, shown)
        self._typed = shown
        self._lines = max(LEAST, min(MOST, shown.count("\n") + 1))
        self._look.size(self.field, height=self._lines * LINE + PADDING)
        self.settle()
        self._focus = 2

    def ask(self, sentence: str) -> None:
        """Say why it was refused, with the three ways out."""
        self.asking = True
        self._say(sentence)

    def refuse(self, sentence: str) -> None:
        """Say why it cannot be saved as it is, in as many lines as that takes; it can be mended and saved."""
        self.asking = False
        dpg.set_value(self._note, "")
        self._say(sentence)

    def settle(self) -> None:
        """Take the sentence away."""
        self.asking = False
        self._say("")

    def _say(self, sentence: str) -> None:
        dpg.set_value(self._sentence, sentence)
        room = self._room() - self._look.px(AROUND)
        size = dpg.get_text_size(sentence, wrap_width=room, font=self._look.font_id("text")) if sentence else None
        tall = size[1] / self._look.scale if size else LINE
        self._said = max(LINE, tall) + BELOW if sentence else 0
        self._show()

    def tell(self, note: str) -> None:
        """Other words beside the buttons."""
        dpg.set_value(self._note, note)

    def close(self) -> None:
        """Nothing is edited any more."""
        self.open = self.asking = False

    def press(self, key: str) -> bool:
        """Ctrl+Enter saves, Esc cancels; while it asks, they mean its choices. True when the key was used."""
        if key in ("Ctrl+Enter", "Ctrl+Keypad Enter"):
            if self.asking:
                self._on_choice("again")
            else:
                self._save()
            return True
        if key == "Esc":
            if self.asking:
                self._on_choice("theirs")
            else:
                self._on_cancel()
            return True
        if key == "Ctrl+Shift+C" and self.asking:
            self._on_choice("copy")
            return True
        return False

    def tick(self) -> bool:
        """Give the field the keyboard once it stands; true while that is to come."""
        if self.open:
            self._typed = str(dpg.get_value(self.field))
        if not self._focus or not self.open:
            return False
        self._focus -= 1
        if not self._focus:
            dpg.focus_item(self.field)
        return True

    def _save(self) -> None:
        self._on_save(self.words)

    def _show(self) -> None:
        dpg.configure_item(self._question, show=self._said > 0)
        dpg.configure_item(self._ways, show=self.asking)
        dpg.configure_item(self._row, show=not self.asking)
        self._on_height()

    def _fits(self, words: str) -> bool:
        size = dpg.get_text_size(words, font=self._look.font_id("text"))
        return not size or size[0] <= self._room() - self._look.px(48)


def shortened(words: str) -> str:
    """Words for a sentence about them."""
    return words if len(words) <= THEIRS else words[: THEIRS - 1].rstrip() + "…"
