"""The dialog of all keys, which reads the tables that make them work."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import dearpygui.dearpygui as dpg

from gui.shell import Shell
from gui.toolkit.dialogs import Dialog
from gui.toolkit.flow import FlowList
from gui.toolkit.flow_rows import FlowRow
from gui.toolkit.keys import Shortcut
from gui.toolkit.layout import box
from gui.toolkit.theme import Look

KEYS_WIDTH, KEYS_HEIGHT, GAP = 580, 480, 8
EVERYWHERE = (
    ("Up, Down, Page up, Page down", "Move in a list"),
    ("Enter", "Open what is selected; confirm a dialog"),
    ("/", "Search everything"),
    ("Esc", "Close a dialog, the evidence, leave a field, show all again"),
)


def keys_of(shortcuts: Iterable[Shortcut]) -> list[tuple[str, str]]:
    """The keys of each command with what it does, then what works in every list."""
    labels: dict[str, list[str]] = {}
    words: dict[str, str] = {}
    for shortcut in shortcuts:
        labels.setdefault(shortcut.command, []).append(shortcut.label)
        words.setdefault(shortcut.command, shortcut.description)
    return [*(("  or  ".join(keys), words[command]) for command, keys in labels.items()), *EVERYWHERE]


def part_rows(name: str, keys: Iterable[tuple[str, str]]) -> list[FlowRow]:
    """A part of the panel and its keys, each before what it does; none where it has none."""
    rows = [FlowRow((name, key, what), f"{key}   {what}", strong=len(key)) for key, what in keys]
    return [FlowRow(name, name, icon="keyboard", color="hint", text_color="muted"), *rows] if rows else []


class KeysDialog:
    """A window with all keys; Esc or Enter closes it."""

    def __init__(self, look: Look, shell: Shell, shortcuts: Iterable[Shortcut]) -> None:
        self._look, self._shell, self._keys = look, shell, keys_of(shortcuts)

    def build(self, parts: Mapping[str, object] | None = None) -> None:
        """Make it, hidden. `parts` are views by their names, each perhaps with `keys`."""
        look = self._look
        self.dialog = Dialog(look, "Keys", "Close", lambda: True, icon="keyboard", width=KEYS_WIDTH)
        dpg.configure_item(self.dialog.cancel_button.item, show=False)
        self._page = box(look, self.dialog.body, "well", height=KEYS_HEIGHT)
        self.list = FlowList(look).build(self._page)
        own = {"Everywhere": self._keys, **{name: getattr(part, "keys", ()) for name, part in (parts or {}).items()}}
        self.list.set_rows([row for name, keys in own.items() for row in part_rows(name, keys)])
        self.dialog.on_room = self._fit
        self._shell.layers.append(self._key)

    def _key(self, name: str, modifiers: frozenset[str], typing: bool) -> bool:
        """The arrows move in the list; the rest is the dialog's."""
        moves = self.dialog.is_open and name != "Enter" and self.list.press(name)
        return moves or self.dialog.key(name, modifiers, typing)

    def _fit(self) -> None:
        """In a low window its page is lower, so that only the list scrolls."""
        self._look.size(self._page, height=min(KEYS_HEIGHT, self.dialog.room - GAP))

    def open(self) -> None:
        """Show it."""
        self.dialog.open()
