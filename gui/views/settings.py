"""What most people change, in plain words: a line a setting, saved at once. The settings file has the rest.

First the settings as rows, as plain functions; then one of them (a switch, a choice or a field), then the view.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import dearpygui.dearpygui as dpg

from core.base.figures import count
from core.base.result import ErrorInfo
from core.base.settings import SETTINGS
from core.commands.settings import Settings
from core.commands.sources import title_of
from gui.shell import Shell, View
from gui.state import State
from gui.toolkit.icons import icon
from gui.toolkit.layout import box, lowered, spread
from gui.toolkit.letters import END, PATH
from gui.toolkit.theme import Look
from gui.toolkit.widgets import Button, Toggle, choices, say, text, text_field
from gui.views.list_view import MOVES, stepped
from gui.views.looks import short_folder

WIDTH, FIELD, CHOICE = 760, 130, 250  # unscaled pixels
NARROW = 600
"""In a view narrower than this a choice or a field stands below its sentence, which has no room beside it."""
LETS_GO = 12
"""The frames within which a field lets go of the keyboard at Esc."""
NAMED: dict[str, tuple[str, str]] = {
    "digest_enabled": ("Every new conversation starts with the digest",
                       "Off: it starts with your own words in context.md only."),
    "digest_max_bytes": ("The largest digest, in bytes",
                         "The lines that save most get the room; the files keep the rest."),
    "digest_scope": ("A conversation gets what was learned in",
                     "Yours: what you prefer or wrote yourself, and how your computer behaves."),
    "provider": ("Who reads the conversations",
                 "The rules are free; a model finds more, and the file says which one."),
    "max_month_price": ("The most that a model may cost in a month, in US dollars",
                        "A harvest stops before it would cost more; 0 is no limit."),
    "redact": ("Passwords and keys are replaced before anyone reads",
               "In what is kept, in what is searched and in what is sent."),
    "reclaim": ("What was harvested goes to the trash", "It stays there for {}."),
}  # fmt: skip
"""The settings that are shown, with a sentence and what it means; the look of the window is one more."""
FOR_GOOD = "It is gone for good at once, for trash_days is 0."
CHOICES: Mapping[str, Mapping[str, str]] = {
    "digest_scope": {"project": "its own project", "both": "its own project, and yours",
                     "global": "all projects"},
    "provider": {"offline": "fixed rules, on this computer", "openai": "OpenAI, or a server like it",
                 "ollama": "Ollama", "anthropic": "Anthropic", "gemini": "Gemini",
                 "command": "a program of your own", "local": "a model file on this computer"},
    "reclaim": {"never": "never", "model": "once a model has read it", "always": "always"},
}  # fmt: skip
"""What a choice is called; a tool by its own name."""
_CHOICE = re.compile(r'"([^"]*)"')


@dataclass(frozen=True)
class SettingRow:
    """One setting: its key, the sentence and what it means, its kind, its choices, and the value as it is typed."""

    key: str
    words: str
    about: str
    kind: str
    choices: tuple[str, ...]
    value: str


def setting_rows(settings: Settings) -> list[SettingRow]:
    """The settings that are shown, in their order."""
    known = {row.key: row for row in SETTINGS}
    values = {row.key: row.value for row in settings.settings}
    rows = []
    days = values["trash_days"]
    for key, (words, about) in NAMED.items():
        if key == "reclaim":
            about = about.format(count(days, "day")) if days else FOR_GOOD
        kind = known[key].kind
        choices = tuple(_CHOICE.findall(known[key].accepted)) if kind == "text" else ()
        rows.append(SettingRow(key, words, about, kind, choices, typed(values[key], kind)))
    return rows


def shown(key: str, value: str) -> str:
    """A value of a setting as a user reads it."""
    return {"true": "on", "false": "off", "": "empty"}.get(value) or CHOICES.get(key, {}).get(value) or title_of(value)


def typed(value: Any, kind: str) -> str:
    """A value as a user types it into its field."""
    if kind == "bool":
        return "true" if value else "false"
    return f"{value:g}" if kind == "number" else str(value)


def set_words(kind: str, words: str) -> str:
    """What was typed, as `config_set` reads it: a text in quotes, so that none is taken for something else."""
    return json.dumps(words, ensure_ascii=False) if kind == "text" else words


class Editor:
    """One setting with its field: built once, changed by `show`."""

    def __init__(self, look: Look, parent: int, row: SettingRow, change: Callable[[str, str, str], object]) -> None:
        self._look, self._change, self.row = look, change, row
        self.box = box(look, parent, "setting", height=0)
        left, right = spread(look, self.box)
        words = look.theme(int(dpg.add_group(parent=left)), "tight")
        text(look, words, row.words, wrap=True)
        self._about = text(look, words, row.about, "small", "hint", wrap=True)
        self._below = int(dpg.add_group(parent=words))
        self._problem = text(look, words, "", "small", "failed", wrap=True)
        dpg.configure_item(self._problem, show=False)
        side = self._beside = lowered(look, right, 4)
        self.toggle: Toggle | None = None
        if row.kind == "bool":
            self.toggle = Toggle(look, side, "", self._switched)
            self.item = self.toggle.item
        elif row.choices:
            self._values = {shown(row.key, value): value for value in row.choices}
            self.item = choices(look, side, list(self._values), self._chosen, CHOICE)
        else:
            self.item = text_field(look, side, width=FIELD, placeholder="empty")
            left_handler = look.own(int(dpg.add_item_handler_registry()))
            dpg.add_item_deactivated_after_edit_handler(
                parent=left_handler, callback=lambda: look.jobs.post(self._typed)
            )
            dpg.bind_item_handler_registry(self.item, left_handler)

    def show(self, row: SettingRow) -> None:
        """Show the value as it is on disk."""
        self.row = row
        dpg.set_value(self._about, row.about)
        if self.toggle is not None:
            self.toggle.set_on(row.value == "true")
        elif not dpg.is_item_active(self.item):
            dpg.set_value(self.item, shown(row.key, row.value) if row.choices else row.value)
        self.refuse(None)

    def narrow(self, on: bool) -> None:
        """Whether there is no room for a field beside the sentence; a switch always has it."""
        if self.toggle is None:
            dpg.move_item(self.item, parent=self._below if on else self._beside)

    def refuse(self, error: ErrorInfo | None) -> None:
        """A sentence below that says why a value was not taken; None takes it away."""
        say(self._problem, f"{icon('circle-alert')}  {error}" if error is not None else "")

    def mark(self, on: bool) -> None:
        """Whether it is the one that the keys are for."""
        self._look.theme(self.box, "setting-on" if on else "setting")

    def flip(self) -> None:
        """The switch, by a key."""
        if self.toggle is not None:
            self.toggle.set_on(not self.toggle.on)
            self._switched(self.toggle.on)

    def choose(self, value: str) -> None:
        """One of the choices, by a key."""
        words = shown(self.row.key, value)
        if words != str(dpg.get_value(self.item)):
            dpg.set_value(self.item, words)
            self._chosen(words)

    def _chosen(self, words: str) -> None:
        self._change(self.row.key, self.row.kind, self._values[words])

    def _switched(self, on: bool) -> None:
        self._change(self.row.key, self.row.kind, "true" if on else "false")

    def _typed(self) -> None:
        words = str(dpg.get_value(self.item))
        if words != self.row.value:
            self._change(self.row.key, self.row.kind, words)
        else:
            self.refuse(None)


class SettingsView(View):
    """The settings as a page. A value is written when its field is left or Enter is pressed; Esc takes back what was
    typed."""

    name = "settings"
    keys = (
        ("Up, Down", "Another setting"),
        ("Space", "Turn a switch"),
        ("Left, Right", "Another choice"),
        ("Enter", "Type a value; in its field, write it"),
        ("O", "Open the settings file, which has all of them"),
    )

    def __init__(self, look: Look, shell: Shell) -> None:
        super().__init__(look, shell)
        self.editors: dict[str, Editor] = {}
        self.rows: Sequence[SettingRow] = ()
        self.chosen = ""
        self._seen: object = None
        self._narrow = False

    def build(self, parent: int) -> None:
        """Make the page; the fields come with the first settings that are read, once."""
        look = self._look
        self._page = box(look, parent, "clear", scroll=True)
        self._card = box(look, self._page, "settings", height=0)
        look.follow(parent, self._fit)
        left, right = spread(look, self._page)
        self.open = Button(look, left, "", self._shell.open_settings, icon="external-link", kind="link", shortcut="O",
                           tip="Open the settings file in the system's editor")  # fmt: skip
        self._file = text(look, lowered(look, right, 7), "", "small", "hint", fit=PATH)

    def _fit(self, width: float, _height: float) -> None:
        dpg.configure_item(self._card, width=min(int(width), self._look.px(WIDTH)))
        narrow = width < self._look.px(NARROW)
        if narrow != self._narrow:
            self._narrow = narrow
            for one in self.editors.values():
                one.narrow(narrow)

    def refresh(self, state: State) -> None:
        """Show the settings of the snapshot."""
        if state.snapshot is None or state.snapshot.settings is self._seen:
            return
        self._seen = settings = state.snapshot.settings
        self.rows = setting_rows(settings)
        fresh = not self.editors
        if fresh:
            look = self._look
            holder = look.theme(int(dpg.add_group(parent=self._card)), "no-gap")
            self.editors = {row.key: Editor(look, holder, row, self._change) for row in self.rows}
            for editor in self.editors.values():
                editor.narrow(self._narrow)
            row, right = spread(look, box(look, holder, "setting", height=0))
            text(look, lowered(look, row, 6), "Appearance", fit=END)
            for name, words, sign in (("theme", "Light or dark", "sun"), ("scale.down", "Smaller", "minus"),
                                      ("scale.reset", "100 %", ""), ("scale.up", "Larger", "plus")):  # fmt: skip
                Button(look, right, words, partial(self._shell.run, name), icon=sign,
                       shortcut=self._shell.actions[name].shortcut if name in self._shell.actions else "")  # fmt: skip
        for one in self.rows:
            if fresh or one != self.editors[one.key].row:  # else what was refused stands there until it is mended
                self.editors[one.key].show(one)
        rest = count(len(settings.settings) - len(self.rows), "more setting")
        self.open.set_label(f"{rest}, in {short_folder(str(settings.writable)).rpartition('/')[2]}")
        dpg.set_value(self._file, f"kept in {short_folder(str(settings.writable))}")

    def press(self, key: str, typing: bool) -> bool:
        """The keys of the view; while a value is typed, its field has all of them."""
        if key == "Esc":  # its field lets go of what was typed, and of what was refused before
            self._look.jobs.post(self._put_back)
        if typing:
            return False
        if key in (*MOVES, "Home", "End") and self.rows:
            self._choose(stepped([row.key for row in self.rows], self.chosen, key))
            return True
        if key == "O":
            self._shell.open_settings()
            return True
        return bool(self.chosen) and self._act(key, self.editors[self.chosen])

    def _put_back(self, tries: int = LETS_GO) -> None:
        """Every value as it is on disk; a field that still has the keyboard lets go of it some frames later."""
        if tries and any(dpg.is_item_active(one.item) for one in self.editors.values() if one.toggle is None):
            self._look.jobs.post(self._put_back, tries - 1)
            return
        for one in self.editors.values():
            one.show(one.row)

    def _choose(self, key: str) -> None:
        for name in {self.chosen, key} - {""}:
            self.editors[name].mark(name == key)
        self.chosen = key
        page, box = self._page, self.editors[key].box  # all are in the page from the beginning, so their places hold
        top, tall = dpg.get_item_pos(self._card)[1] + dpg.get_item_pos(box)[1], dpg.get_item_rect_size(box)[1]
        room, scroll = dpg.get_item_rect_size(page)[1], dpg.get_y_scroll(page)
        dpg.set_y_scroll(page, min(max(scroll, top + tall - room), top))

    def _act(self, key: str, editor: Editor) -> bool:
        if editor.toggle is not None:
            if key == "Space":
                editor.flip()
            return key == "Space"
        if editor.row.choices:
            if key in ("Left", "Right"):
                editor.choose(stepped(editor.row.choices, editor.row.value, "Down" if key == "Right" else "Up"))
            return key in ("Left", "Right")
        if key == "Enter":
            self._look.keys_to(editor.item)
        return key == "Enter"

    def _change(self, key: str, kind: str, words: str) -> None:
        """Write one value, with the sha256 of the file that was seen. A refusal stands below its sentence, and what
        was typed stays in its field, which keeps the keyboard: the next keys are its correction."""
        editor = self.editors[key]

        def failed(error: ErrorInfo) -> None:
            if editor.toggle is None and not editor.row.choices:
                self._look.keys_to(editor.item)
            else:
                editor.show(editor.row)
            editor.refuse(error)

        self._shell.change_setting(
            key,
            set_words(kind, words),
            set_words(kind, editor.row.value),
            lambda value: f"{editor.row.words}: {shown(key, json.loads(value) if kind == 'text' else value)}",
            failed,
            lambda _value: editor.refuse(None),
        )
