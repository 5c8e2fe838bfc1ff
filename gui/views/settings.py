"""The settings: every key in the groups of the shipped config.toml, with its comment, value and where that is from."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dearpygui.dearpygui as dpg

from core.base.result import ErrorInfo
from core.commands.setting_help import Explained, shipped_help
from core.commands.settings import Settings, SettingValue, config_set
from gui.fitting import END, PATH
from gui.icons import icon
from gui.shell import Shell
from gui.state import State
from gui.theme import Look
from gui.views.files_rows import short_folder
from gui.widgets import Button, Toggle, field, hint, say_hint, section, text
from gui.widgets_layout import box, card, lowered, space, spread

FIELD_WIDTH = 250
FIELD_WIDTHS = {"int": 130.0, "number": 130.0, "list": 330.0, "text": 250.0}


@dataclass(frozen=True)
class SettingRow:
    """One setting as it is shown: `value` as it is typed, `origin` in a word or two, `own` when it is not shipped."""

    key: str
    group: str
    help: str
    kind: str
    choices: tuple[str, ...]
    value: str
    origin: str
    origin_path: str
    own: bool
    accepted: str


def setting_rows(settings: Settings, help_rows: Sequence[Explained], shipped: str) -> list[SettingRow]:
    """Every setting in the order of the shipped file; one without an explanation comes last."""
    values = {row.key: row for row in settings.settings}
    rows = [_row(values[one.key], one, shipped) for one in help_rows if one.key in values]
    known = {row.key for row in rows}
    plain = (Explained(row.key, "Others", "", "text", row.accepted, ()) for row in settings.settings)
    return rows + [_row(values[one.key], one, shipped) for one in plain if one.key not in known]


def _row(value: SettingValue, one: Explained, shipped: str) -> SettingRow:
    own = value.origin != shipped
    origin = origin_words(value.origin) if own else "shipped"
    return SettingRow(
        value.key, one.group, one.help, one.kind, one.choices, typed(value.value, one.kind), origin, value.origin, own,
        value.accepted,
    )  # fmt: skip


def typed(value: Any, kind: str) -> str:
    """A value as a person types it into its field."""
    if kind == "bool":
        return "true" if value else "false"
    if kind == "list":
        return json.dumps(list(value), ensure_ascii=False)
    if kind == "number":
        return f"{value:g}"
    return str(value)


def origin_words(path: str) -> str:
    """The file that a value comes from, short: its folder and its name."""
    place = Path(path)
    return f"{place.parent.name}/{place.name}"


def set_words(kind: str, words: str) -> str:
    """What was typed, as `config_set` reads it: a text in quotes, so that none is taken for something else."""
    return json.dumps(words, ensure_ascii=False) if kind == "text" else words


def help_words(words: str) -> str:
    """The comment of a setting as a paragraph; indented lines stay lines of their own.

    A full stop after a straight quote could be wrapped alone to the next line, so quotes are curly where they are not
    part of a list."""
    lines: list[str] = []
    for line in words.splitlines():
        listed = line.startswith("  ")
        if not lines or listed or not line.strip():
            lines.append(("    " if listed else "") + re.sub(r"\s{2,}", "  –  ", line.strip()))
        else:
            lines[-1] += f" {line.strip()}"
    return "\n".join(re.sub(r'"([^"\n]*)"', "“\\1”", line) if "[" not in line else line for line in lines)


class Editor:
    """One setting with its field: built once, changed by `show`."""

    def __init__(self, look: Look, parent: int, row: SettingRow, change: Callable[[str, str, str], object]) -> None:
        self._look, self._change = look, change
        self.key, self.kind = row.key, row.kind
        self.row = row
        holder = look.theme(int(dpg.add_group(parent=parent)), "tight")
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
            self.item = field(look, line, width=FIELD_WIDTHS.get(row.kind, FIELD_WIDTH), placeholder="empty")
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


class SettingsView:
    """All settings. A value is written when its field is left or Enter is pressed; Esc takes back what was typed."""

    name = "settings"

    def __init__(self, look: Look, shell: Shell) -> None:
        self._look, self._shell = look, shell
        self.editors: dict[str, Editor] = {}
        self._seen: object = None
        self._page = 0

    def build(self, parent: int) -> None:
        """Make the page; the fields come with the first settings that are read, once."""
        look = self._look
        left, right = spread(look, parent)
        self._file = text(look, lowered(look, left, 7), "", "mono", "hint", fit=PATH)
        Button(look, right, "Open file", self._shell.open_settings, icon="external-link", kind="ghost",
               tip="Open the settings file in the system's editor")  # fmt: skip
        self._page = box(look, parent, "clear", scroll=True)

    def refresh(self, state: State) -> None:
        """Show the settings of the snapshot."""
        settings = state.snapshot.settings if state.snapshot is not None else None
        if settings is None:
            return
        self._shell.rows_shown(len(settings.settings), len(settings.settings))
        if settings is self._seen:
            return
        self._seen = settings
        from core.base.config import SHIPPED_FILE

        rows = setting_rows(settings, shipped_help(), str(SHIPPED_FILE))
        if not self.editors:
            self._make(rows)
        for row in rows:
            self.editors[row.key].show(row)
        dpg.set_value(self._file, f"Changes go to {short_folder(str(settings.writable))}")

    def _make(self, rows: Sequence[SettingRow]) -> None:
        look, group, parent = self._look, None, self._page
        for row in rows:
            if row.group != group:
                group = row.group
                title, _, words = group.partition(": ")
                if parent != self._page:
                    space(look, self._page, 2)
                section(look, self._page, title, words)
                parent = card(look, self._page).item
            else:
                space(look, parent, 4)
            self.editors[row.key] = Editor(look, parent, row, self._change)

    def press(self, _key: str, _typing: bool) -> bool:
        """The fields have the keys."""
        return False

    def dispose(self) -> None:
        """Nothing lives outside of the parent."""

    def _change(self, key: str, kind: str, words: str) -> None:
        """Write one value, with the sha256 of the file that was seen; a refusal stands beside its field."""
        editor, snapshot = self.editors[key], self._shell.state.snapshot
        seen = snapshot.settings_sha if snapshot is not None and snapshot.settings_sha else None

        def failed(error: ErrorInfo) -> None:
            if editor.toggle is not None:
                editor.toggle.set_on(editor.row.value == "true")
            elif editor.row.choices:
                dpg.set_value(editor.item, editor.row.value)
            editor.refuse(error)

        self._shell.write(
            key,
            lambda workspace: config_set(workspace, key, set_words(kind, words), seen),
            done=lambda _settings: editor.refuse(None),
            failed=failed,
            said=f"{key} = {words or 'empty'}",
        )
