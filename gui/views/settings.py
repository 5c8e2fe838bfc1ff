"""The settings: every key in the groups of the shipped config.toml, with its comment, value and where that is from."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import dearpygui.dearpygui as dpg

from core.base.result import ErrorInfo
from core.commands.setting_help import shipped_help
from core.commands.settings import config_set
from gui.shell import Shell
from gui.state import State
from gui.toolkit.icons import icon
from gui.toolkit.layout import Sight, box, card, space, spread
from gui.toolkit.letters import PATH
from gui.toolkit.theme import Look
from gui.toolkit.widgets import Button, section, text, text_field
from gui.views.looks import short_folder
from gui.views.settings_editor import Editor
from gui.views.settings_rows import SettingRow, next_choice, rows_with, set_words, setting_rows

PAGE = 5  # settings that Page down goes on


class SettingsView:
    """All settings. A value is written when its field is left or Enter is pressed; Esc takes back what was typed."""

    name = "settings"
    keys = (
        ("Up, Down", "Another setting"),
        ("Space", "Turn a switch"),
        ("Left, Right", "Another choice"),
        ("Enter", "Type a value; in its field, write it"),
        ("/", "Only settings with some words"),
    )

    def __init__(self, look: Look, shell: Shell) -> None:
        self._look, self._shell = look, shell
        self.editors: dict[str, Editor] = {}
        self.rows: list[SettingRow] = []
        self.shown: list[SettingRow] = []
        self.words = ""
        self.chosen = ""
        self._parts: dict[str, int] = {}
        self._cards: dict[str, int] = {}
        self._seen: object = None
        self._page = 0

    def build(self, parent: int) -> None:
        """Make the page; the fields come with the first settings that are read, once."""
        look = self._look
        left, right = spread(look, parent)
        self.filter = text_field(look, left, placeholder=f"{icon('funnel')}  Filter by name or comment      /",
                            on_change=self._filter)  # fmt: skip
        self.open = Button(look, right, "Open file", self._shell.open_settings, icon="external-link", kind="ghost",
               tip="Open the settings file in the system's editor")  # fmt: skip
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
            from core.base.config import SHIPPED_FILE

            self.rows = setting_rows(settings, shipped_help(), str(SHIPPED_FILE))
            if not self.editors:
                self._make(self.rows)
            for row in self.rows:
                self.editors[row.key].show(row)
            dpg.set_value(self._file, f"Changes go to {short_folder(str(settings.writable))}")
            self._narrow()
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

    def _filter(self, words: str) -> None:
        if words != self.words:
            self.words = words
            self._narrow()
            self._shell.change()

    def _narrow(self) -> None:
        self.shown = rows_with(self.rows, self.words)
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
        filtering = typing and dpg.is_item_active(self.filter)
        if key == "Esc" and (filtering or (self.words and not typing)):
            dpg.set_value(self.filter, "")
            self._filter("")
            self._leave_filter()
            return True
        if typing and not filtering:
            return False
        if not typing and key in ("/", "Ctrl+F"):
            self._look.keys_to(self.filter)
            return True
        if key in ("Up", "Down", "Page up", "Page down") or (not typing and key in ("Home", "End")):
            self._step(key)
            return True
        if filtering:
            if key == "Enter":
                self._leave_filter()
            return key == "Enter"
        return bool(self.chosen) and self._act(key, self.editors[self.chosen])

    def _leave_filter(self) -> None:
        dpg.focus_item(self.open.item)

    def _step(self, key: str) -> None:
        names = [row.key for row in self.shown]
        if not names:
            return
        last = len(names) - 1
        now = names.index(self.chosen) if self.chosen in names else -1
        to = {"Up": now - 1, "Down": now + 1, "Page up": now - PAGE, "Page down": now + PAGE, "Home": 0, "End": last}
        self._choose(names[min(max(to[key], 0), last)])

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
