"""An editor in the place of a row: a field with Save and Cancel, small fields and a switch where something has them,
and the question that it asks when the file was changed meanwhile.

Its words are a `TextArea`: they wrap while they are written, and undo, words and selection work as in any editor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import dearpygui.dearpygui as dpg

from gui.toolkit.icons import icon as icon_of
from gui.toolkit.layout import box, lowered
from gui.toolkit.letters import END, LETTERS, wrapped
from gui.toolkit.text_area import PADDING, ROW, TextArea
from gui.toolkit.theme import Look
from gui.toolkit.widgets import Button, ButtonRow, Toggle, hint, text, text_field

LINE = 16
ROOM = 10 + 8 + 28 + 10  # around the field: above, between, the row of buttons, below
SMALL_ROW = 28 + 8  # the row of small fields, and what is below it
BELOW = 10  # below a sentence
AROUND = 12 + 24 + 12 + 8  # beside a sentence: the frame, the sign
BESIDE = 52  # beside the words of the field: frames, padding, the scroll bar
THEIRS = 120  # characters of the other text that are shown


@dataclass(frozen=True)
class SmallField:
    """A field of one line below the words: its name, width in unscaled pixels, the label before it, tip and hint."""

    name: str
    width: float
    label: str = ""
    tip: str = ""
    placeholder: str = ""


@dataclass(frozen=True)
class EditorKind:
    """What differs from one editor to another. `again` and `theirs` are label and tip of two of the three ways out.

    With `lines` it is a text with line breaks; without, a single paragraph that Enter saves. The field is `least` to
    `most` rows high, with `spare` empty ones. `small` fields and a `switch` (label and tip) stand below it.
    """

    again: tuple[str, str]
    theirs: tuple[str, str]
    lines: bool = False
    least: int = 2
    most: int = 9
    spare: int = 0
    small: tuple[SmallField, ...] = ()
    switch: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class Typed:
    """What stands in an editor: the words, the small fields by name, the switch."""

    words: str
    small: Mapping[str, str]
    switch: bool = False


class Editor:
    """One editor, made once and opened over one thing after the other.

    `on_save()` hears that it is to be saved, `on_cancel()` that nothing is to be done, `on_choice(which)` hears
    `theirs`, `again` or `copy`. `on_height()` is called when it wants another height (`height`, unscaled pixels);
    `room()` is the width that it has, in pixels of the screen; `pasted(words)` is what comes in of words that are
    pasted.
    """

    def __init__(
        self,
        look: Look,
        kind: EditorKind,
        *,
        on_save: Callable[[], object],
        on_cancel: Callable[[], object],
        on_choice: Callable[[str], object],
        on_height: Callable[[], object],
        room: Callable[[], float],
        pasted: Callable[[str], str] = str,
    ) -> None:
        self._look, self._kind, self._room = look, kind, room
        self._on_save, self._on_cancel, self._on_choice, self._on_height = on_save, on_cancel, on_choice, on_height
        self.open = self.asking = False
        self.before = ""
        self._typed = Typed("", {})
        self._lines = kind.least
        self._wide = False  # whether the row of small fields is there
        self._said = 0.0  # how high the sentence is, with what is below it
        self.area = TextArea(look, lines=kind.lines, room=lambda: room() - look.px(BESIDE), pasted=pasted)
        self.small: dict[str, int] = {}
        self._labels: dict[str, int] = {}
        self.switch: Toggle | None = None

    def build(self, parent: int) -> None:
        """Make all items inside the overlay of a list; once."""
        look, kind = self._look, self._kind
        inside = box(look, parent, "editor")
        self.area.build(inside)
        look.follow(inside, self._fit_small)
        self._small_row = int(dpg.add_group(horizontal=True, parent=inside, show=False))
        for one in kind.small:
            if one.label:
                label = int(dpg.add_group(parent=self._small_row))
                self._labels[one.label] = label
                text(look, lowered(look, label, 7), one.label, "small", "hint")
            self.small[one.name] = text_field(look, self._small_row, placeholder=one.placeholder, width=one.width)
            if one.tip:
                hint(look, self.small[one.name], one.tip)
        if kind.switch[0]:
            self.switch = Toggle(look, self._small_row, kind.switch[0], lambda _on: None, tip=kind.switch[1])
        self._question = int(dpg.add_group(horizontal=True, parent=inside, show=False))
        text(look, self._question, icon_of("triangle-alert"), "text", "edited")
        self.sentence = text(look, self._question, "", "text", "text", wrap=True)
        self._ways = int(dpg.add_group(horizontal=True, parent=inside, show=False))
        copy = ("Copy mine", "Put your words on the clipboard")
        self.choices = {
            name: Button(look, self._ways, label, lambda name=name: self._on_choice(name),  # type: ignore[misc]
                         icon=icon, tip=tip, shortcut=shortcut)
            for name, icon, (label, tip), shortcut in (
                ("again", "redo-2", kind.again, "Ctrl+Enter"),
                ("theirs", "eye", kind.theirs, "Esc"),
                ("copy", "copy", copy, "Ctrl+Shift+C"),
            )
        }  # fmt: skip
        ButtonRow(look, inside, list(self.choices.values()))
        self._row = int(dpg.add_group(horizontal=True, parent=inside))
        self.save = Button(look, self._row, "Save", self._on_save, icon="check", kind="primary", shortcut="Ctrl+Enter")
        self.cancel = Button(look, self._row, "Cancel", self._on_cancel, kind="ghost", shortcut="Esc")
        self.note = text(look, lowered(look, self._row, 8), "", "small", "hint", fit=END)
        look.every_tick(self.tick)

    @property
    def height(self) -> float:
        """How high it wants to be, in unscaled pixels."""
        return self._lines * ROW + 2 * PADDING + ROOM + (SMALL_ROW if self._wide else 0) + self._said

    @property
    def now(self) -> Typed:
        """What stands in it."""
        small = {name: str(dpg.get_value(item)) for name, item in self.small.items()}
        words = self.area.words if self._kind.lines else self.area.words.strip()
        return Typed(words, small, self.switch.on if self.switch is not None else False)

    @property
    def words(self) -> str:
        """The words that stand in it."""
        return self.now.words

    @property
    def typed(self) -> Typed:
        """What stood in it before the last frame: Esc makes a field forget what was typed."""
        return self._typed

    def begin(
        self, words: str, note: str, save: str = "Save", *, mine: str | None = None,
        small: Mapping[str, str] | None = None, switch: bool | None = None,
    ) -> None:  # fmt: skip
        """Open it over `words`; `mine` are other words to begin with. The small fields get `small` (None: they are not
        there), the switch is there unless `switch` is None."""
        self.open = True
        self.area.begin(words)
        self.before = self.words
        self.save.set_label(save)
        dpg.set_value(self.note, note)
        self._wide = small is not None
        dpg.configure_item(self._small_row, show=self._wide)
        for name, value in (small or {}).items():
            dpg.set_value(self.small[name], value)
        if self.switch is not None:
            self.switch.set_on(bool(switch))
            dpg.configure_item(int(dpg.get_item_parent(self.switch.item) or 0), show=switch is not None)
        if mine is not None:
            self.area.begin(mine)
        self._typed = self.now
        self._make_room()
        self.settle()
        self._look.keys_to(self.area.field)

    def ask(self, sentence: str) -> None:
        """Say why it was refused, with the three ways out."""
        self.asking = True
        self._say(sentence)

    def refuse(self, sentence: str) -> None:
        """Say why it cannot be saved as it is, in as many lines as that takes; it can be mended and saved."""
        self.asking = False
        dpg.set_value(self.note, "")
        self._say(sentence)

    def settle(self) -> None:
        """Take the sentence away."""
        self.asking = False
        self._say("")

    def tell(self, note: str) -> None:
        """Other words beside the buttons."""
        dpg.set_value(self.note, note)

    def close(self) -> None:
        """Nothing is edited any more."""
        self.open = self.asking = False

    def leave(self) -> None:
        """Its words are being saved: the next keys are for what comes after it."""
        self._look.leaving = self.area.field
        dpg.configure_item(self.area.field, enabled=False)

    def take_back(self) -> None:
        """They are saved, or were refused."""
        self._look.leaving = 0
        dpg.configure_item(self.area.field, enabled=True)

    def press(self, key: str) -> bool:
        """Ctrl+Enter saves, Esc cancels; while it asks, they mean its choices; the rest is for the words. True when the
        key was used."""
        ends = () if self._kind.lines or self.asking or not self._look.typing() else ("Enter", "Keypad Enter")
        if key in ("Ctrl+Enter", "Ctrl+Keypad Enter", *ends):
            if self.asking:
                self._on_choice("again")
            else:
                self._on_save()
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
        return self.area.press(key)

    def tick(self) -> bool:
        """Remember what stands in it (see `typed`), draw it and let it grow; true when there is something new."""
        if not self.open:
            return False
        self._typed = self.now
        drawn, before = self.area.tick(), self._lines
        self._make_room()
        if self._lines != before:
            self._on_height()
        return drawn or self._lines != before

    def _make_room(self) -> None:
        self._lines = max(self._kind.least, min(self._kind.most, self.area.rows + self._kind.spare))
        self.area.set_rows(self._lines)

    def _fit_small(self, width: float, _height: float) -> None:
        """In a narrow place the small fields lose their labels (their tooltips stay), then the widest gives way."""
        wide, scale = LETTERS.wide(self._look.font_id("small")), self._look.scale
        fields = {self.small[one.name]: float(one.width) for one in self._kind.small}
        if wide is None or not fields:
            return
        room = width / scale - (40 + wide(self._kind.switch[0]) * 1.2 / scale if self.switch is not None else 0)
        spare = room - sum(fields.values()) - 8 * (len(fields) - 1)
        named = sum(wide(label) / scale + 8 for label in self._labels) <= spare
        for item in self._labels.values():
            dpg.configure_item(item, show=named)
        widest = max(fields, key=lambda item: fields[item])
        for item, usual in fields.items():
            self._look.size(item, width=max(60.0, usual + min(0.0, spare)) if item == widest else usual)

    def _say(self, sentence: str) -> None:
        dpg.set_value(self.sentence, sentence)
        room = self._room() - self._look.px(AROUND)
        wide = LETTERS.wide(self._look.font_id("text"))
        lines = wrapped(sentence, room, wide).count("\n") + 1 if wide is not None else 1
        self._said = max(LINE, lines * LINE) + BELOW if sentence else 0
        dpg.configure_item(self._question, show=self._said > 0)
        dpg.configure_item(self._ways, show=self.asking)
        dpg.configure_item(self._row, show=not self.asking)
        self._on_height()


def shortened(words: str) -> str:
    """Words for a sentence about them."""
    return words if len(words) <= THEIRS else words[: THEIRS - 1].rstrip() + "…"
