"""All keys of the panel, from the same table that makes them work."""

from __future__ import annotations

from collections.abc import Iterable

import dearpygui.dearpygui as dpg

from gui.keys import Shortcut
from gui.shell import Shell
from gui.theme import Look
from gui.widgets_dialog import Dialog
from gui.widgets_layout import box
from gui.widgets_lines import Line, Lines

EVERYWHERE = (
    ("Up, Down, Page up, Page down", "Move in a list"),
    ("Enter", "Open what is selected; confirm a dialog"),
    ("/", "Filter the list"),
    ("Esc", "Close a dialog, leave a field, empty the filter"),
    ("Right click", "What can be done with a line"),
)


def key_lines(shortcuts: Iterable[Shortcut]) -> list[Line]:
    """One line a command with all its keys, then what works in every list."""
    labels: dict[str, list[str]] = {}
    words: dict[str, str] = {}
    for shortcut in shortcuts:
        labels.setdefault(shortcut.command, []).append(shortcut.label)
        words.setdefault(shortcut.command, shortcut.description)
    lines = [Line("", "accent", words[command], "  or  ".join(keys)) for command, keys in labels.items()]
    return lines + [Line("", "accent", what, key) for key, what in EVERYWHERE]


class KeysDialog:
    """A window with all keys; Esc or Enter closes it."""

    def __init__(self, look: Look, shell: Shell, shortcuts: Iterable[Shortcut]) -> None:
        self._look, self._shell, self._lines = look, shell, key_lines(shortcuts)

    def build(self) -> None:
        """Make it, hidden."""
        self.dialog = Dialog(self._look, "Keys", "Close", lambda: True, icon="keyboard", width=560)
        dpg.configure_item(self.dialog.cancel_button.item, show=False)
        Lines(self._look, box(self._look, self.dialog.body, "well", height=0), len(self._lines)).set(self._lines)
        self._shell.layers.append(self.dialog.key)

    def open(self) -> None:
        """Show it."""
        self.dialog.open()
