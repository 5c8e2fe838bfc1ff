"""Hears key presses and says which command they mean: dialogs first, then what has the focus, then the shortcuts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import dearpygui.dearpygui as dpg

from gui.keys import EQUALS, KEY_NAMES, OTHER_KEYS, Shortcut, find
from gui.theme import Look

REPEATED = frozenset({"Up", "Down", "Left", "Right", "Page up", "Page down"})
"""These go on while they are held. A switch must not flicker, and Enter not confirm one dialog after the other."""

Layer = Callable[[str, frozenset[str], bool], bool]


class Keyboard:
    """One for a panel. `layers` are asked from the last to the first; one that returns True keeps the key press.

    A layer gets the name of the key (`gui/keys.py`), the modifiers that are down, and whether a text field has the
    keyboard. Without a taker, `on_command` hears the command of the shortcut. `active()` tells whether the panel is
    the part of the host that the person works in.
    """

    def __init__(
        self,
        look: Look,
        shortcuts: Sequence[Shortcut],
        on_command: Callable[[str], object],
        active: Callable[[], bool] = lambda: True,
    ) -> None:
        self._look, self._shortcuts, self._on_command, self._active = look, tuple(shortcuts), on_command, active
        self.layers: list[Layer] = []
        self._names = {getattr(dpg, constant): name for name, constant in KEY_NAMES.items() if hasattr(dpg, constant)}
        self._names |= OTHER_KEYS
        self._modifiers = {
            "Ctrl": (dpg.mvKey_LControl, dpg.mvKey_RControl),
            "Alt": (dpg.mvKey_LAlt, dpg.mvKey_RAlt),
            "Shift": (dpg.mvKey_LShift, dpg.mvKey_RShift),
        }
        self._held: set[int] = set()
        look.every_tick(self._let_go)
        self.registry = look.own(int(dpg.add_handler_registry()))
        dpg.add_key_press_handler(parent=self.registry, callback=self._pressed)

    def _pressed(self, _sender: int, key: int | Sequence[int]) -> None:
        code = key if isinstance(key, int) else key[0]
        name = self._names.get(code)
        if name is None or (code in self._held and name not in REPEATED):
            return
        self._held.add(code)
        # Read here, with the frame that saw the key: a frame later a quick finger has let go of Ctrl.
        down = frozenset(word for word, keys in self._modifiers.items() if any(dpg.is_key_down(one) for one in keys))
        if code == EQUALS:
            down -= {"Shift"}
        self._look.jobs.post(self.press, name, down, self._look.typing())

    def _let_go(self) -> None:
        """Forget the keys that are up again."""
        self._held = {code for code in self._held if dpg.is_key_down(code)}

    def press(self, name: str, modifiers: frozenset[str] = frozenset(), typing: bool = False) -> bool:
        """What a key press does; true when somebody took it."""
        if not self._active():
            return False
        for layer in reversed(self.layers):
            if layer(name, modifiers, typing):
                return True
        shortcut = find(self._shortcuts, name, modifiers, typing)
        if shortcut is None:
            return False
        self._on_command(shortcut.command)
        return True
