"""The settings: every key in the groups of the shipped config.toml, with its comment, value and where that is from.

First the settings as rows, as plain functions; then one of them (a switch, a choice or a field), then the view.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import dearpygui.dearpygui as dpg

from core.base.config import SHIPPED_FILE
from core.base.result import ErrorInfo
from core.commands.panel.settings import Explained, shipped_help
from core.commands.settings import Settings, SettingValue
from gui.shell import Shell
from gui.state import State
from gui.toolkit.icons import icon
from gui.toolkit.layout import Sight, box, card, lowered, space, spread
from gui.toolkit.letters import END, PATH
from gui.toolkit.theme import Look
from gui.toolkit.widgets import Button, Toggle, hint, say_hint, section, text, text_field
from gui.views.list_view import MOVES, FilteredView, has_words, stepped
from gui.views.looks import short_folder


@dataclass(frozen=True)
class SettingRow:
    """One setting as it is shown: `value` as it is typed, `origin` in a word or two, `own` when somebody has set it."""

    key: str
    group: str
    help: str
    kind: str
    choices: tuple[str, ...]
    value: str
    origin: str
    origin_path: str
    own: bool


def setting_rows(settings: Settings, help_rows: Sequence[Explained], shipped: str) -> list[SettingRow]:
    """Every setting in the order of the shipped file; one without an explanation comes last."""
    values = {row.key: row for row in settings.settings}
    rows = [_row(values[one.key], one, shipped) for one in help_rows if one.key in values]
    known = {row.key for row in rows}
    plain = (Explained(row.key, "Others", "", "text", row.accepted, ()) for row in settings.settings)
    return rows + [_row(values[one.key], one, shipped) for one in plain if one.key not in known]


def _row(value: SettingValue, one: Explained, shipped: str) -> SettingRow:
    own = value.origin != shipped
    origin = origin_words(value.origin) if own else "default"
    shown = typed(value.value, one.kind)
    return SettingRow(value.key, one.group, one.help, one.kind, one.choices, shown, origin, value.origin, own)


def typed(value: Any, kind: str) -> str:
    """A value as a user types it into its field."""
    if kind == "bool":
        return "true" if value else "false"
    if kind == "list":
        return json.dumps(list(value), ensure_ascii=False)
    if kind == "number":
        return f"{value:g}"
    return str(value)


def origin_words(path: str) -> str:
    """The file that a value comes from, from the user's home where that is short, else its folder and name."""
    place, near = Path(path), short_folder(path)
    return near if near.startswith("~") and near.count("/") < 4 else f"{place.parent.name}/{place.name}"


def set_words(kind: str, words: str) -> str:
    """What was typed, as `config_set` reads it: a text in quotes, so that none is taken for something else."""
    return json.dumps(words, ensure_ascii=False) if kind == "text" else words


def help_words(words: str) -> str:
    """The comment of a setting as a paragraph; indented lines stay lines of their own, with what goes on further in.

    A full stop after a straight quote could be wrapped alone to the next line, so quotes are curly where they are not
    part of a list."""
    lines: list[str] = []
    before = 0  # how far in the line before begins
    for line in words.splitlines():
        far = len(line) - len(line.lstrip())
        listed, goes_on = far >= 2, bool(lines) and (far > before >= 2 or far == before < 2)
        if goes_on and line.strip():
            lines[-1] += f" {line.strip()}"
        else:
            lines.append(("    " if listed else "") + re.sub(r"\s{2,}", "  –  ", line.strip()))
            before = far
    return "\n".join(re.sub(r'"([^"\n]*)"', "“\\1”", line) if "[" not in line else line for line in lines)


def next_choice(row: SettingRow, step: int) -> str:
    """The choice `step` places after the present one; the last one stays the last."""
    at = row.choices.index(row.value) + step if row.value in row.choices else 0
    return row.choices[min(max(at, 0), len(row.choices) - 1)]


FIELD_WIDTH = 250
FIELD_WIDTHS = {"int": 130.0, "number": 130.0, "list": 330.0, "text": 250.0}


class Editor:
    """One setting with its field: built once, changed by `show`."""

    def __init__(self, look: Look, parent: int, row: SettingRow, change: Callable[[str, str, str], object]) -> None:
        self._look, self._change = look, change
        self.key, self.kind = row.key, row.kind
        self.row = row
        self.box = box(look, parent, "setting", height=0)
        holder = look.theme(int(dpg.add_group(parent=self.box)), "tight")
        left, right = spread(look, holder)
        text(look, lowered(look, left, 6), row.key, "strong", fit=END)
        origin = lowered(look, right, 7)
        self._origin = text(look, origin, "", "small", "hint")
        self._origin_tip = hint(look, self._origin, "")
        text(look, holder, help_words(row.help), "small", "hint", True)
        line = int(dpg.add_group(horizontal=True, parent=holder))
        self.toggle: Toggle | None = None
        self.item = 0
        if row.kind == "bool":
            self.toggle = Toggle(look, line, "", self._switched)
            self.item = self.toggle.item
        elif row.choices:
            self.item = int(dpg.add_combo(list(row.choices), parent=line, callback=self._chosen))
            look.size(self.item, width=170)
        else:
            self.item = text_field(look, line, width=FIELD_WIDTHS.get(row.kind, FIELD_WIDTH), placeholder="empty")
            left_handler = look.own(int(dpg.add_item_handler_registry()))
            dpg.add_item_deactivated_after_edit_handler(parent=left_handler, callback=self._left)
            dpg.bind_item_handler_registry(self.item, left_handler)
        self._problem = text(look, lowered(look, line, 6), "", "small", "failed", wrap=True)
        dpg.configure_item(self._problem, show=False)

    def show(self, row: SettingRow) -> None:
        """Show value and origin as they are on disk."""
        self.row = row
        if self.toggle is not None:
            self.toggle.set_on(row.value == "true")
            self.toggle.set_label("on" if row.value == "true" else "off")
        elif not dpg.is_item_active(self.item):
            dpg.set_value(self.item, row.value)
        dpg.set_value(self._origin, f"{icon('file-pen')}  {row.origin}" if row.own else row.origin)
        say_hint(self._origin_tip, row.origin_path)
        self._look.tint(self._origin, "accent" if row.own else "hint")
        self.refuse(None)

    def refuse(self, error: ErrorInfo | None) -> None:
        """A sentence beside the field that says why a value was not taken; None takes it away."""
        dpg.set_value(self._problem, f"{icon('circle-alert')}  {error}" if error is not None else "")
        dpg.configure_item(self._problem, show=error is not None)

    def mark(self, on: bool) -> None:
        """Whether it is the one that the keys are for."""
        self._look.theme(self.box, "setting-on" if on else "setting")

    def flip(self) -> None:
        """The switch, by a key."""
        if self.toggle is not None:
            self.toggle.set_on(not self.toggle.on)
            self._switched(self.toggle.on)

    def choose(self, words: str) -> None:
        """One of the choices, by a key."""
        if words != str(dpg.get_value(self.item)):
            dpg.set_value(self.item, words)
            self._change(self.key, self.kind, words)

    def _switched(self, on: bool) -> None:
        self._change(self.key, self.kind, "true" if on else "false")

    def _chosen(self, _sender: int, words: str) -> None:
        self._look.jobs.post(self._change, self.key, self.kind, words)

    def _left(self) -> None:
        self._look.jobs.post(self._typed)

    def _typed(self) -> None:
        words = str(dpg.get_value(self.item))
        if words != self.row.value:
            self._change(self.key, self.kind, words)


class SettingsView(FilteredView):
    """All settings. A value is written when its field is left or Enter is pressed; Esc takes back what was typed."""

    name = "settings"
    keys = (
        ("Up, Down", "Another setting"),
        ("Space", "Turn a switch"),
        ("Left, Right", "Another choice"),
        ("Enter", "Type a value; in its field, write it"),
        ("/", "Only settings with some words"),
    )

    FILTER = "Filter by name or comment"
    TYPING_KEYS = (*MOVES, "Enter")

    def __init__(self, look: Look, shell: Shell) -> None:
        super().__init__(look, shell)
        self.editors: dict[str, Editor] = {}
        self.rows: list[SettingRow] = []
        self.shown: list[SettingRow] = []
        self.chosen = ""
        self._parts: dict[str, int] = {}
        self._cards: dict[str, int] = {}
        self._seen: object = None
        self._page = 0

    def build(self, parent: int) -> None:
        """Make the page; the fields come with the first settings that are read, once."""
        look = self._look
        left, right = spread(look, parent)
        self.add_filter(left)
        self.open = Button(look, right, "Open file", self._shell.open_settings, icon="external-link", kind="ghost",
               tip="Open the settings file in the system's editor")  # fmt: skip
        self.at_rest = self.open.item
        self._file = text(look, parent, "", "small", "hint", fit=PATH)
        space(look, parent, 2)
        self._page = box(look, parent, "clear", scroll=True)
        self._sight = Sight(look, self._page)
        self._nothing = text(look, self._page, "No setting has these words. Esc shows all of them.", "text", "muted")

    def refresh(self, state: State) -> None:
        """Show the settings of the snapshot."""
        settings = state.snapshot.settings if state.snapshot is not None else None
        if settings is None:
            return
        if settings is not self._seen:
            self._seen = settings

            self.rows = setting_rows(settings, shipped_help(), str(SHIPPED_FILE))
            if not self.editors:
                self._make(self.rows)
            for row in self.rows:
                self.editors[row.key].show(row)
            dpg.set_value(self._file, f"Changes go to {short_folder(str(settings.writable))}")
            self.arrange(keep=True)
        self._shell.rows_shown(len(self.shown), len(self.rows))

    def _make(self, rows: Sequence[SettingRow]) -> None:
        look = self._look
        for group, members in groupby(rows, key=lambda row: row.group):
            part = self._parts[group] = int(dpg.add_group(parent=self._page))
            title, _, words = group.partition(": ")
            section(look, part, title, words)
            self._cards[group] = card(look, part, kind="settings").item
            holder = look.theme(int(dpg.add_group(parent=self._cards[group])), "no-gap")
            for row in members:
                self.editors[row.key] = Editor(look, holder, row, self._change)
            space(look, part, 2)

    # --- which are shown, and which one the keys are for ---

    def typed(self, words: str) -> None:
        if words != self.words:
            super().typed(words)
            self._shell.change()

    def arrange(self, keep: bool) -> None:
        """Show the settings that have all the words: in the name, the group, the comment or the value."""
        self.shown = [row for row in self.rows
                      if has_words(" ".join((row.key, row.group, row.help, row.value)), self.words)]  # fmt: skip
        keys, groups = {row.key for row in self.shown}, {row.group for row in self.shown}
        for key, editor in self.editors.items():
            dpg.configure_item(editor.box, show=key in keys)
        for group, part in self._parts.items():
            dpg.configure_item(part, show=group in groups)
        dpg.configure_item(self._nothing, show=bool(self.rows) and not self.shown)
        if self.chosen not in keys:
            self._choose("")

    def _choose(self, key: str) -> None:
        for name in {self.chosen, key} - {""}:
            self.editors[name].mark(name == key)
        self.chosen = key
        if key:
            self._show_chosen()

    def _show_chosen(self) -> None:
        one = self.editors[self.chosen]
        self._sight.show(self._cards[one.row.group], one.box)

    def press(self, key: str, typing: bool) -> bool:
        """The keys of the view; see `keys`. While a value is typed, its field has all of them."""
        return (not typing or bool(dpg.is_item_active(self.filter))) and super().press(key, typing)

    def do(self, key: str) -> bool:
        return bool(self.chosen) and self._act(key, self.editors[self.chosen])

    def move(self, key: str) -> bool:
        """Another setting; Enter leaves the field that filters."""
        if key in (*MOVES, "Home", "End"):
            if self.shown:
                self._choose(stepped([row.key for row in self.shown], self.chosen, key))
            return True
        if key == "Enter" and dpg.is_item_active(self.filter):
            dpg.focus_item(self.at_rest)
            return True
        return False

    def _act(self, key: str, editor: Editor) -> bool:
        if editor.toggle is not None:
            if key == "Space":
                editor.flip()
            return key == "Space"
        if editor.row.choices:
            if key in ("Left", "Right"):
                editor.choose(next_choice(editor.row, 1 if key == "Right" else -1))
            return key in ("Left", "Right")
        if key == "Enter":
            self._show_chosen()
            self._look.keys_to(editor.item)
        return key == "Enter"

    def _change(self, key: str, kind: str, words: str) -> None:
        """Write one value, with the sha256 of the file that was seen; a refusal stands beside its field."""
        editor = self.editors[key]

        def failed(error: ErrorInfo) -> None:
            if editor.toggle is not None:
                editor.toggle.set_on(editor.row.value == "true")
            elif editor.row.choices:
                dpg.set_value(editor.item, editor.row.value)
            editor.refuse(error)

        self._shell.change_setting(
            key,
            set_words(kind, words),
            set_words(kind, editor.row.value),
            lambda value: f"{key} = {(json.loads(value) if kind == 'text' else value) or 'empty'}",
            failed,
            lambda: editor.refuse(None),
        )
