"""A menu at the mouse: a few things that can be done with what was clicked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import dearpygui.dearpygui as dpg

from gui.theme import Look
from gui.widgets import floating, labelled


@dataclass(frozen=True)
class MenuRow:
    """One line: what it does in words, its icon, the key that does the same ("" for none), and what to do."""

    label: str
    icon: str
    act: Callable[[], object]
    key: str = ""


class Menu:
    """A popup built once for `most` lines; `open(rows)` fills and shows it at the mouse. Esc and a click beside close
    it; Up, Down and Enter work as well."""

    def __init__(self, look: Look, most: int = 8, width: float = 232) -> None:
        self._look = look
        self._rows: Sequence[MenuRow] = ()
        self._at = -1
        self._width = width
        self.item, body = floating(look, "menu", width, popup=True)
        group = look.theme(int(dpg.add_group(parent=body)), "tight")
        self._items = []
        for number in range(most):
            item = int(dpg.add_button(parent=group, label="", width=-1, callback=self._clicked, user_data=number))
            self._items.append(look.theme(item, "menu-row"))

    @property
    def is_open(self) -> bool:
        """Whether it is there: Dear PyGui closes it by itself after a click beside it."""
        return bool(self._rows) and bool(dpg.is_item_shown(self.item))

    def open(self, rows: Sequence[MenuRow], place: tuple[float, float] | None = None) -> None:
        """Show these lines at the mouse, or with the first of them chosen at a place in the window, for the keys."""
        self._rows, self._at = rows[: len(self._items)], -1 if place is None else 0
        for number, item in enumerate(self._items):
            row = self._rows[number] if number < len(self._rows) else None
            dpg.configure_item(item, show=row is not None)
            if row is not None:
                dpg.configure_item(item, label=labelled(row.label, row.icon) + (f"   {row.key}" if row.key else ""))
        self._light()
        x, y = place or dpg.get_mouse_pos(local=False)
        wide, tall = self._look.px(self._width + 14), self._look.px(14 + 31 * len(self._rows))
        left = min(int(x), dpg.get_viewport_client_width() - wide)
        top = min(int(y), dpg.get_viewport_client_height() - tall)
        dpg.configure_item(self.item, show=True, pos=[max(0, left), max(0, top)])

    def close(self) -> None:
        """Hide it."""
        self._rows = ()
        dpg.configure_item(self.item, show=False)

    def key(self, name: str, _modifiers: frozenset[str] = frozenset(), _typing: bool = False) -> bool:
        """A layer of the keyboard: while it is open, every key is its."""
        if not self.is_open:
            return False
        if name == "Esc":
            self.close()
        elif name in ("Up", "Down"):
            self._at = (self._at + (1 if name == "Down" else -1)) % len(self._rows)
            self._light()
        elif name in ("Enter", "Keypad Enter") and self._at >= 0:
            self._do(self._at)
        return True

    def _light(self) -> None:
        for number, item in enumerate(self._items):
            self._look.theme(item, "menu-row-on" if number == self._at else "menu-row")

    def _clicked(self, _sender: int, _value: object, number: int) -> None:
        self._look.jobs.post(self._do, number)

    def _do(self, number: int) -> None:
        row = self._rows[number] if number < len(self._rows) else None
        self.close()
        if row is not None:
            row.act()
