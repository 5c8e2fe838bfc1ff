"""The dialog of all keys, which reads the tables that make them work."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import dearpygui.dearpygui as dpg

from gui.shell import Shell
from gui.toolkit.dialogs import Dialog
from gui.toolkit.keys import Shortcut
from gui.toolkit.layout import Line, Lines, box, space
from gui.toolkit.theme import Look
from gui.toolkit.widgets import text

KEYS_WIDTH, KEYS_HEIGHT, GAP = 580, 480, 8
STEPS = {"Up": -44, "Down": 44, "Page up": -400, "Page down": 400, "Home": -9999, "End": 9999}
EVERYWHERE = (
    ("Up, Down, Page up, Page down", "Move in a list"),
    ("Enter", "Open what is selected; confirm a dialog"),
    ("/", "Search everything"),
    ("Esc", "Close a dialog, the evidence, leave a field, show all again"),
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


def own_lines(part: object) -> list[Line]:
    """The keys that a view, or the inspector, hears itself; none where it names none."""
    keys: Iterable[tuple[str, str]] = getattr(part, "keys", ())
    return [Line("", "accent", what, key) for key, what in keys]


class KeysDialog:
    """A window with all keys; Esc or Enter closes it."""

    def __init__(self, look: Look, shell: Shell, shortcuts: Iterable[Shortcut]) -> None:
        self._look, self._shell, self._lines = look, shell, key_lines(shortcuts)

    def build(self, parts: Mapping[str, object] | None = None) -> None:
        """Make it, hidden. `parts` are views by their names, each perhaps with `keys`."""
        look = self._look
        self.dialog = Dialog(look, "Keys", "Close", lambda: True, icon="keyboard", width=KEYS_WIDTH)
        dpg.configure_item(self.dialog.cancel_button.item, show=False)
        self._page = box(look, self.dialog.body, "well", height=KEYS_HEIGHT, scroll=True)
        self._part("Everywhere", self._lines)
        for name, part in (parts or {}).items():
            if lines := own_lines(part):
                self._part(name, lines)
        self._shell.layers.append(self._key)

    def _key(self, name: str, modifiers: frozenset[str], typing: bool) -> bool:
        """The arrows move the page; the rest is the dialog's."""
        if self.dialog.is_open and name in STEPS:
            wanted = dpg.get_y_scroll(self._page) + self._look.px(STEPS[name])
            dpg.set_y_scroll(self._page, min(max(0.0, wanted), dpg.get_y_scroll_max(self._page)))
            return True
        return self.dialog.key(name, modifiers, typing)

    def _part(self, name: str, lines: list[Line]) -> None:
        text(self._look, self._page, name, "strong", "muted")
        Lines(self._look, self._page, len(lines)).set(lines)
        space(self._look, self._page, 4)

    def open(self) -> None:
        """Show it; in a low window its page is lower, so that only the page scrolls."""
        self._look.size(self._page, height=min(KEYS_HEIGHT + self.dialog.more, self.dialog.room - GAP))
        self.dialog.open()
