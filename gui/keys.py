"""Keyboard shortcuts as a table of plain data; plain letters rest while somebody types."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

MODIFIERS = ("Ctrl", "Alt", "Shift")

# Names as a person reads them -> names of Dear PyGui's constants.
KEY_NAMES: dict[str, str] = {
    **{letter: f"mvKey_{letter}" for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"},
    **{f"F{number}": f"mvKey_F{number}" for number in range(1, 13)},
    "Enter": "mvKey_Return",
    "Keypad Enter": "mvKey_NumPadEnter",
    "Esc": "mvKey_Escape",
    "Tab": "mvKey_Tab",
    "Space": "mvKey_Spacebar",
    "Backspace": "mvKey_Back",
    "Delete": "mvKey_Delete",
    "Up": "mvKey_Up",
    "Down": "mvKey_Down",
    "Left": "mvKey_Left",
    "Right": "mvKey_Right",
    "Home": "mvKey_Home",
    "End": "mvKey_End",
    "Page up": "mvKey_Prior",
    "Page down": "mvKey_Next",
    "/": "mvKey_Slash",
    "Plus": "mvKey_Plus",
    "Minus": "mvKey_Minus",
    ",": "mvKey_Comma",
    ".": "mvKey_Period",
}

# Further keys, as numbers of Dear ImGui: Dear PyGui's own constants for plus and the page keys are numbers that never
# come, and the keypad has keys of its own. On most keyboards plus is above the equals sign, with or without Shift.
EQUALS = 602
OTHER_KEYS: dict[int, str] = {
    EQUALS: "Plus",
    626: "Plus",
    625: "Minus",
    517: "Page up",
    518: "Page down",
    **{612 + number: str(number) for number in range(10)},
}

# The numbers of GLFW, where the keys come from it (gui/key_gate.py), and what a character is called as a key.
GLFW_NAMES: dict[int, str] = {
    **{ord(name): name for name in "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/,."},
    **{289 + number: f"F{number}" for number in range(1, 13)},
    **{320 + number: str(number) for number in range(10)},
    32: "Space", 45: "Minus", 61: "Plus", 256: "Esc", 257: "Enter", 258: "Tab", 259: "Backspace", 261: "Delete",
    262: "Right", 263: "Left", 264: "Down", 265: "Up", 266: "Page up", 267: "Page down", 268: "Home", 269: "End",
    333: "Minus", 334: "Plus", 335: "Keypad Enter",
}  # fmt: skip
LETTER_NAMES = {" ": "Space", "+": "Plus", "-": "Minus"}

LETTERS = frozenset(f"{shift}{letter}" for shift in ("", "Shift+") for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
"""Letters as a view hears them (`gui/view.py`)."""

# These go to a text field when one has the keyboard, also together with Shift.
TYPING_KEEPS = frozenset(KEY_NAMES) - {f"F{number}" for number in range(1, 13)} - {"Esc"}
# A text field uses these with Ctrl itself: select all, copy, cut, paste, undo, redo, and moves by words.
TYPING_KEEPS_CTRL = frozenset("ACVXYZ") | {"Left", "Right", "Up", "Down", "Home", "End", "Backspace", "Delete"}


@dataclass(frozen=True)
class Shortcut:
    """`key` is a name of `KEY_NAMES`; `command` names what is posted; `modifiers` is a subset of `MODIFIERS`.

    `typing` is true for the few that must work in a text field even though it would use the key itself.
    """

    key: str
    command: str
    description: str
    modifiers: tuple[str, ...] = ()
    typing: bool = False

    @property
    def label(self) -> str:
        """How it is written in tooltips and in the list of keys: `Ctrl+Shift+K`."""
        return "+".join([*(name for name in MODIFIERS if name in self.modifiers), self.key])


def find(
    shortcuts: Iterable[Shortcut], key: str, modifiers: frozenset[str] = frozenset(), typing: bool = False
) -> Shortcut | None:
    """The shortcut that this key press means, or None; `typing` tells that a text field has the keyboard."""
    for shortcut in shortcuts:
        if shortcut.key != key or frozenset(shortcut.modifiers) != modifiers:
            continue
        if typing and not shortcut.typing and belongs_to_text(key, modifiers):
            return None
        return shortcut
    return None


def belongs_to_text(key: str, modifiers: frozenset[str]) -> bool:
    """True when a text field wants this key press for itself."""
    if "Ctrl" in modifiers:
        return key in TYPING_KEEPS_CTRL
    return key in TYPING_KEEPS and "Alt" not in modifiers


def is_letter(name: str, modifiers: frozenset[str]) -> bool:
    """True for a key press that writes a character: what does so is never a command while somebody types."""
    return (len(name) == 1 or name in ("Space", "Plus", "Minus")) and not modifiers & {"Ctrl", "Alt"}


def label_of(shortcuts: Iterable[Shortcut], command: str) -> str:
    """The label of the first shortcut for a command, "" when it has none."""
    return next((shortcut.label for shortcut in shortcuts if shortcut.command == command), "")
