"""One setting of the view of the settings: its name, its comment, and a switch, a choice or a field for its value."""

from __future__ import annotations

from collections.abc import Callable

import dearpygui.dearpygui as dpg

from core.base.result import ErrorInfo
from gui.toolkit.icons import icon
from gui.toolkit.layout import box, lowered, spread
from gui.toolkit.letters import END
from gui.toolkit.theme import Look
from gui.toolkit.widgets import Toggle, hint, say_hint, text, text_field
from gui.views.settings_rows import SettingRow, help_words

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
