"""The editor of one memory, in the place of its row: several lines, tags, where it belongs, and what it asks when the
file was changed meanwhile."""

from __future__ import annotations

from collections.abc import Callable

import dearpygui.dearpygui as dpg

from gui.icons import icon as icon_of
from gui.theme import Look
from gui.views.memories_rows import unwrapped, wrapped
from gui.widgets import Button, Toggle, field, text
from gui.widgets_layout import box, lowered

LINE, PADDING = 16, 12
LEAST, MOST = 4, 14
ROOM = 10 + 8 + 28 + 10  # around the field: above, between, the row of buttons, below
TAGS = 28 + 8
QUESTION_LINE, LETTERS = 16, 64  # a sentence, and how many letters surely stand on one of its lines
TAGS_WIDTH = 300


class MemoryEditor:
    """A field with Save and Cancel; for a new memory also its tags and its place. `on_save(text)`, `on_cancel()`;
    `on_choice(which)` hears `again`, `theirs` or `copy`. `on_height()` is called when it wants another height
    (`height`, unscaled pixels); `room()` is its width in pixels of the screen."""

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
        self._room = room
        self.open = self.asking = self.new = False
        self.before = self._typed = self._typed_tags = self._asked = ""
        self._lines = LEAST
        self._focus = 0

    def build(self, parent: int) -> None:
        """Make all items inside the overlay of a list; once."""
        look = self._look
        inside = box(look, parent, "editor")
        self.field = field(look, inside, lines=LEAST)
        self._tags_row = int(dpg.add_group(horizontal=True, parent=inside))
        self.tags = field(look, self._tags_row, placeholder=f"{icon_of('tag')}  Tags, with commas between",
                          width=TAGS_WIDTH)  # fmt: skip
        self.scope = Toggle(look, self._tags_row, "Only in this project", lambda _on: None,
                            tip="Save it into the project around this folder instead of your home")  # fmt: skip
        self._scope_row = dpg.get_item_parent(self.scope.item)
        self._question = int(dpg.add_group(parent=inside, show=False))
        row = int(dpg.add_group(horizontal=True, parent=self._question))
        text(look, row, icon_of("triangle-alert"), "text", "edited")
        self.sentence = text(look, row, "", "text", "text", wrap=True)
        row = int(dpg.add_group(horizontal=True, parent=self._question))
        self.choices = {
            "again": Button(look, row, "Put mine there", lambda: self._on_choice("again"), icon="redo-2",
                            tip="Write your words over what stands in the file now", shortcut="Ctrl+Enter"),
            "theirs": Button(look, row, "Keep theirs", lambda: self._on_choice("theirs"), icon="eye",
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
        asked = 8 + QUESTION_LINE * (len(self._asked) // LETTERS + 1) if self.asking else 0
        return self._lines * LINE + PADDING + ROOM + (TAGS if self.new else 0) + asked

    @property
    def words(self) -> str:
        """What stands in it."""
        return unwrapped(str(dpg.get_value(self.field)))

    @property
    def tag_words(self) -> str:
        """What stands in the field of the tags."""
        return str(dpg.get_value(self.tags))

    @property
    def typed(self) -> tuple[str, str]:
        """Text and tags as they stood before the last frame: Esc makes a field forget what was typed."""
        return unwrapped(self._typed), self._typed_tags

    def begin(
        self, words: str, note: str, *, new: bool, project: bool = False, mine: str | None = None, tags: str = ""
    ) -> None:
        """Open it over `words`; `mine` are other words to begin with. A `new` one has tags, and a place where there is
        a `project`."""
        self.open, self.before, self.new = True, words, new
        self.save.set_label("Save it" if new else "Save")
        dpg.configure_item(self._tags_row, show=new)
        dpg.configure_item(self._scope_row, show=project)
        dpg.set_value(self.tags, tags)
        self._typed_tags = tags
        dpg.set_value(self._note, note)
        shown = wrapped(words if mine is None else mine, self._fits)
        dpg.set_value(self.field, shown)
        self._typed = shown
        self._lines = max(LEAST, min(MOST, shown.count("\n") + 2))
        self._look.size(self.field, height=self._lines * LINE + PADDING)
        self.settle()
        self._focus = 2

    def ask(self, sentence: str) -> None:
        """Say why it was refused, with the three ways out."""
        self.asking, self._asked = True, sentence
        dpg.set_value(self.sentence, sentence)
        self._show()

    def settle(self) -> None:
        """Take the question away."""
        self.asking = False
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
            self._typed, self._typed_tags = str(dpg.get_value(self.field)), self.tag_words
        if not self._focus or not self.open:
            return False
        self._focus -= 1
        if not self._focus:
            dpg.focus_item(self.field)
        return True

    def _save(self) -> None:
        self._on_save(self.words)

    def _show(self) -> None:
        dpg.configure_item(self._question, show=self.asking)
        dpg.configure_item(self._row, show=not self.asking)
        self._on_height()

    def _fits(self, words: str) -> bool:
        size = dpg.get_text_size(words, font=self._look.font_id("text"))
        return not size or size[0] <= self._room() - self._look.px(52)
