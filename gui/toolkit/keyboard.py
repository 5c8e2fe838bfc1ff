"""Hears key presses and says which command they mean: dialogs first, then what has the focus, then the shortcuts.

A press waits its turn while a field is about to have the keyboard (what is typed goes there first), and while an edit
has not been read back (the next act must be done to the file as it is then)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import dearpygui.dearpygui as dpg

from gui.toolkit.keys import EQUALS, KEY_NAMES, OTHER_KEYS, KeyGate, Press, Shortcut, find, is_letter
from gui.toolkit.theme import Look

REPEATED = frozenset({"Up", "Down", "Left", "Right", "Page up", "Page down"})
"""These go on while they are held. A switch must not flicker, and Enter not confirm one dialog after the other."""

REPEATED_IN_TEXT = REPEATED | {"Backspace", "Delete", "Enter", "Keypad Enter"}
"""What goes on while it is held in a text that is being written."""

SIGNS = frozenset({"/", ",", ".", "Plus", "Minus"})

Layer = Callable[[str, frozenset[str], bool], bool]


class Keyboard:
    """One for a panel. `layers` are asked from the last to the first; one that returns True keeps the key press.

    A layer gets the name of the key (`keys.py`), the modifiers that are down, and whether a text field has the
    keyboard. Without a taker, `on_command` hears the command of the shortcut. `active()` tells whether the keyboard is
    the panel's (None: the next frame shows it, and the press waits), `waits()` whether an edit has not been read back.
    """

    def __init__(
        self,
        look: Look,
        shortcuts: Sequence[Shortcut],
        on_command: Callable[[str], object],
        active: Callable[[], bool | None] = lambda: True,
        waits: Callable[[], bool] = lambda: False,
    ) -> None:
        self._look, self._shortcuts, self._on_command, self._active = look, tuple(shortcuts), on_command, active
        self._waits = waits
        self._later: list[tuple[str, frozenset[str], bool, str]] = []
        self.layers: list[Layer] = []
        self._names = {getattr(dpg, constant): name for name, constant in KEY_NAMES.items() if hasattr(dpg, constant)}
        self._names |= OTHER_KEYS
        self._modifiers = {
            "Ctrl": (dpg.mvKey_LControl, dpg.mvKey_RControl),
            "Alt": (dpg.mvKey_LAlt, dpg.mvKey_RAlt),
            "Shift": (dpg.mvKey_LShift, dpg.mvKey_RShift),
        }
        self._held: set[int] = set()
        self.heard = False
        """A key was pressed since somebody last asked."""
        look.every_tick(self._tick)
        self.registry = look.own(int(dpg.add_handler_registry()))
        dpg.add_key_press_handler(parent=self.registry, callback=self._pressed)
        self._gate: KeyGate | None = None

    def hear(self, gate: KeyGate) -> None:
        """Take the keys from GLFW, where the window is our own."""
        self._gate = gate
        gate.on_press.append(self._heard)

    def dispose(self) -> None:
        """Hear no more."""
        if self._gate is not None:
            self._gate.on_press.remove(self._heard)
            self._gate = None

    def _heard(self, press: Press) -> None:
        self.heard = True
        self._look.jobs.post(self._look.hush)
        name = self._look.gate.name_of(press)
        if (name or press.letters) and (not press.repeated or name in REPEATED_IN_TEXT or press.letters):
            self._look.jobs.post(self._did, press, name, self._look.typing())

    def _did(self, press: Press, name: str, typing: bool) -> None:
        """A press of our own window, in its turn."""
        writer = self._look.writer if typing else None
        if self._look.holding:
            self._look.hold(press.words)
        elif writer is not None and press.letters:
            writer(press.words)
            return
        if name and (not press.repeated or name in (REPEATED_IN_TEXT if writer is not None else REPEATED)):
            self._look.words = press.words
            # On some keyboards a sign needs Shift: then that is part of it.
            self.press(name, press.modifiers - ({"Shift"} if name in SIGNS else set()), typing)
            self._look.words = ""

    def _pressed(self, _sender: int, key: int | Sequence[int]) -> None:
        code = key if isinstance(key, int) else key[0]
        name = self._names.get(code)
        if self._gate is not None and self._gate.listens:
            return
        again = REPEATED_IN_TEXT if self._look.writer is not None else REPEATED
        if name is None or (code in self._held and name not in again):
            return
        self.heard = True
        self._held.add(code)
        self._look.jobs.post(self._look.hush)
        # Read here, with the frame that saw the key: a frame later a quick finger has let go of Ctrl.
        down = frozenset(word for word, keys in self._modifiers.items() if any(dpg.is_key_down(one) for one in keys))
        if code == EQUALS:
            down -= {"Shift"}
        self._look.jobs.post(self.press, name, down, self._look.typing())

    def _tick(self) -> bool:
        """Forget the keys that are up again; do what had to wait."""
        self._held = {code for code in self._held if dpg.is_key_down(code)}
        if not self._later or self._look.holding or self._waits() or self._active() is None:
            return False
        later, self._later = self._later, []
        for *press, words in later:
            if self._look.holding:
                self._look.hold(words)
            self._look.words = words
            self._look.jobs.attempt(self.press, *press)
            self._look.words = ""
        return True

    def forget(self) -> None:
        """Drop the presses that wait: what they would come after was refused."""
        self._later.clear()

    def press(self, name: str, modifiers: frozenset[str] = frozenset(), typing: bool = False) -> bool:
        """What a key press does; true when somebody took it."""
        if self._look.holding:
            if not is_letter(name, modifiers):  # a letter is kept for the field
                self._later.append((name, modifiers, True, self._look.words))
            return True
        mine = self._active()
        if name == "Esc" and self._look.close_list():
            return True
        if mine is False:
            return False
        typing = typing and not self._look.leaving
        if self._later or mine is None or (not typing and self._waits()):
            self._later.append((name, modifiers, typing, self._look.words))
            return True
        for layer in reversed(self.layers):
            if layer(name, modifiers, typing):
                return True
        shortcut = find(self._shortcuts, name, modifiers, typing)
        if shortcut is None:
            return False
        self._on_command(shortcut.command)
        return True
