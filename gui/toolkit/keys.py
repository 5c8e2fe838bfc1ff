"""Key presses: how they are called, which command they mean, how they come from GLFW before Dear ImGui sees them, and
whether they are ours at all.

Shortcuts are a table of plain data; plain letters rest while somebody types.

Dear ImGui takes one tap of a key a frame, and throws characters away while no text field is active; a field that is
asked to take the keyboard has it two frames later. On a busy machine that is half a word. GLFW, inside Dear PyGui's
wheel, tells of every key before it does: `KeyGate` hears it, keeps the keys that write (Dear ImGui gets only their
characters, and only while a field is active), and hands all of them to the panel in the order in which they came.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import dearpygui.dearpygui as dpg

from gui.toolkit.window import Glfw

MODIFIERS = ("Ctrl", "Alt", "Shift")

# Names as a user reads them -> names of Dear PyGui's constants.
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
    "Insert": "mvKey_Insert",
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

# The numbers of GLFW, where the keys come from it (`KeyGate`), and what a character is called as a key.
GLFW_NAMES: dict[int, str] = {
    **{ord(name): name for name in "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/,."},
    **{289 + number: f"F{number}" for number in range(1, 13)},
    **{320 + number: str(number) for number in range(10)},
    32: "Space", 45: "Minus", 61: "Plus", 256: "Esc", 257: "Enter", 258: "Tab", 259: "Backspace", 260: "Insert",
    261: "Delete", 262: "Right", 263: "Left", 264: "Down", 265: "Up", 266: "Page up", 267: "Page down", 268: "Home",
    269: "End", 333: "Minus", 334: "Plus", 335: "Keypad Enter",
}  # fmt: skip
LETTER_NAMES = {" ": "Space", "+": "Plus", "-": "Minus"}

LETTERS = frozenset(f"{shift}{letter}" for shift in ("", "Shift+") for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
"""Letters as a view hears them (`gui/shell.py`)."""

# These go to a text field when one has the keyboard, also together with Shift.
TYPING_KEEPS = frozenset(KEY_NAMES) - {f"F{number}" for number in range(1, 13)} - {"Esc"}
# A text field uses these with Ctrl itself: select all, copy, cut, paste, undo, redo, and moves by words.
TYPING_KEEPS_CTRL = frozenset("ACVXYZ") | {
    "Left", "Right", "Up", "Down", "Home", "End", "Backspace", "Delete", "Insert",
}  # fmt: skip


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


RELEASE, PRESS, REPEAT = 0, 1, 2
SHIFT, CONTROL, ALT, SUPER = 1, 2, 4, 8
COMMANDS = {SHIFT: "Shift", ALT: "Alt", SUPER if sys.platform == "darwin" else CONTROL: "Ctrl"}
"""Which bit of GLFW is which modifier; Command is what Ctrl is elsewhere."""
WRITING = range(32, 163)  # GLFW's numbers of the keys that write
KEYPAD = range(320, 335)  # and those of the keypad, without its Enter
NOT_KEPT = frozenset({256, 258, *range(340, 349)})  # Esc, Tab and the modifiers, also while a drawn text is written
_CHAR = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint)
_KEY = ctypes.CFUNCTYPE(None, ctypes.c_void_p, *[ctypes.c_int] * 4)


@dataclass
class Press:
    """A key that went down: GLFW's numbers of it, its modifiers as bits, and the characters that came of it."""

    code: int
    scan: int = 0
    bits: int = 0
    repeated: bool = False
    letters: list[int] = field(default_factory=list)

    @property
    def modifiers(self) -> frozenset[str]:
        """By their names in a shortcut."""
        return frozenset(name for bit, name in COMMANDS.items() if self.bits & bit)

    @property
    def words(self) -> str:
        """What it writes."""
        return "".join(map(chr, self.letters))


class KeyGate:
    """One for a window, made by whoever owns the window. In somebody else's window nobody calls `listen`: the keys then
    come from Dear PyGui, and what is typed before a field is active is lost.

    GLFW calls `heard_key` and `heard_letter` while a frame is drawn, so these touch nothing but lists. A text that is
    drawn by us (editor.py) takes all its keys from the panel: Dear ImGui hears none of them.
    """

    def __init__(self) -> None:
        self.on_press: list[Callable[[Press], object]] = []
        self._library: Any = None
        self._window: Any = None
        self._before: tuple[Any, Any] = (None, None)
        self._heard: list[Press] = []
        self._quiet: set[int] = set()  # keys that are down and that Dear ImGui has not heard of
        self._active: dict[int, tuple[bool, bool]] = {}
        self._passing = self._keeping = False
        self._hears: tuple[Any, Any] = (_CHAR(self.heard_letter), _KEY(self.heard_key))  # GLFW keeps no reference

    def listen(self, glfw: Glfw | None) -> None:
        """Begin, once the window is there; without GLFW's functions nothing changes."""
        library = glfw.library if glfw is not None else None
        try:
            for call in (library.glfwSetCharCallback, library.glfwSetKeyCallback):  # type: ignore[union-attr]
                call.restype, call.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_void_p]
            library.glfwGetKeyName.restype = ctypes.c_char_p  # type: ignore[union-attr]
        except AttributeError:
            return
        self._library, self._window = library, library.glfwGetCurrentContext()  # type: ignore[union-attr]
        if self._window:
            letters, keys = self._set(*(ctypes.cast(call, ctypes.c_void_p) for call in self._hears))
            self._before = (_CHAR(letters) if letters else None, _KEY(keys) if keys else None)

    def _set(self, letters: Any, keys: Any) -> tuple[Any, Any]:
        library = self._library
        return library.glfwSetCharCallback(self._window, letters), library.glfwSetKeyCallback(self._window, keys)

    @property
    def listens(self) -> bool:
        """Whether the keys come from here."""
        return bool(self._window)

    def close(self) -> None:
        """Give the keyboard back to Dear PyGui; before its window goes."""
        if self._window:
            self._set(*(ctypes.cast(call, ctypes.c_void_p) if call else None for call in self._before))
        self._window = None

    # --- what GLFW calls ---

    def heard_key(self, window: int, code: int, scan: int, action: int, bits: int) -> None:
        """A key: kept in its order; Dear ImGui hears of it unless it only writes."""
        writes = bool(self.on_press) and (code in WRITING or code in KEYPAD)  # while a panel hears them
        if action == RELEASE:
            quiet = code in self._quiet
            self._quiet.discard(code)
        else:
            self._heard.append(Press(code, scan, bits, action == REPEAT))
            quiet = code not in NOT_KEPT if self._keeping else writes and not bits & (CONTROL | ALT | SUPER)
            quiet = quiet and (action == PRESS or code in self._quiet)
            if quiet:
                self._quiet.add(code)
        if not quiet and self._before[1]:
            self._before[1](window, code, scan, action, bits)

    def heard_letter(self, _window: int, letter: int) -> None:
        """A character: for the field that is active, or kept with its key."""
        if self._passing or not self.on_press:
            self._write(letter)
        else:
            if not self._heard:  # some are put together out of keys that went down before
                self._heard.append(Press(0))
            self._heard[-1].letters.append(letter)

    def _write(self, letter: int) -> None:
        if self._before[0]:
            self._before[0](self._window, letter)

    # --- for the loop and the panel ---

    def drawn(self) -> None:
        """After each frame: Dear ImGui has seen what was heard; now the panel does."""
        heard, self._heard = self._heard, []
        for press in heard:
            for call in self.on_press:
                call(press)

    def name_of(self, press: Press) -> str:
        """The name of a key in `KEY_NAMES`, "" for one without. A key that writes is what it writes, on whatever
        keyboard: a slash is a slash. Where it writes no Latin letter, or is held with Ctrl, it is what the keyboard
        calls it, and else what stands there on an American one."""
        if press.letters and not press.bits & (CONTROL | ALT | SUPER):
            name = LETTER_NAMES.get(press.words, press.words.upper())
            if name in KEY_NAMES:
                return name
        if press.code in WRITING and self._library is not None:
            named = (self._library.glfwGetKeyName(press.code, press.scan) or b"").decode("utf-8", "replace").upper()
            if named and named.isascii() and named in KEY_NAMES:
                return named
        return GLFW_NAMES.get(press.code, "")

    def tell(self, look: int, active: bool, drawn: bool = False) -> None:
        """Before each frame: whether a field of that look has the keyboard, and whether it is for a drawn text."""
        self._active[look] = (active and not drawn, drawn)
        self._passing, self._keeping = (any(one[at] for one in self._active.values()) for at in (0, 1))

    def forget(self, look: int) -> None:
        """A look that is gone."""
        self._active.pop(look, None)

    def take(self) -> str:
        """What was typed and has not been handed out yet; it is nobody else's then."""
        words = "".join(press.words for press in self._heard)
        for press in self._heard:
            press.letters.clear()
        return words

    def replay(self, words: str) -> None:
        """Type into the field that is active now."""
        for letter in words:
            self._write(ord(letter))


def moved_to(key: str, now: int | None, count: int, page: int) -> int | None:
    """The position that a key moves to from `now` among `count` rows; None for a key that does not move."""
    steps = {"Up": -1, "Down": 1, "Page up": -page, "Page down": page, "Home": -count, "End": count}
    if key not in steps or not count:
        return None
    if now is None:
        return count - 1 if key == "End" else 0
    return max(0, min(count - 1, now + steps[key]))


# --- whose the keyboard is -------------------------------------------------------------------------------------------

TRIES, EVERY = 12, 4
"""Frames in which the root may take the keyboard, and how often it asks: it has it two frames after it was asked."""
MOUSE = (dpg.mvMouseButton_Left, dpg.mvMouseButton_Right, dpg.mvMouseButton_Middle)
CLICK = 4
"""Frames that a window has taken the keyboard in after it was clicked."""
UNSURE = 3
"""Frames in which nobody may have the keyboard while one window of ours hands it to another."""


class Focus:
    """Whose the keyboard is; one for a panel. `root` is the child window that everything else lies in, `windows` are
    all of them.

    Dear ImGui gives the keyboard to one window at a time, and only in a window of its own does a part of a host's
    program act on keys: a field of the host's, its tabs, its questions are windows that nobody here knows of. Tab leads
    from such a field into one of ours. That is no wish to work here: only a click gives us the keyboard, or the host.

    A window that is hidden while it has the keyboard leaves it to nobody for a frame, and Dear ImGui then picks any
    window: what was ours is taken back. A press that falls into such a frame waits (`mine` is None).
    """

    def __init__(self) -> None:
        self.root = 0
        self.windows: list[int] = []
        self.alone = False
        """Nothing but the panel is in this window."""
        self._last = self._frame = self._left = self._clicked = 0
        self._asks = False
        self._mine: bool | None = False

    def take(self) -> None:
        """Give the panel the keyboard, with the next frames."""
        self._mine, self._left, self._asks = None, TRIES, True

    def back(self) -> None:
        """A window of ours that lay over the rest is closed: if it had the keyboard, the root gets it, for what had it
        before may be hidden by now."""
        if self.mine() is not False:
            self.take()

    def mine(self) -> bool | None:
        """Whether one of our windows has the keyboard; None while that shows with the next frames only."""
        frame = dpg.get_frame_count()
        if frame == self._frame:
            return self._mine
        self._frame = frame
        touched = any(dpg.is_mouse_button_clicked(one) or dpg.is_mouse_button_released(one) for one in MOUSE)
        self._clicked = CLICK if touched else max(0, self._clicked - 1)
        has = self._has() if self.alone or self._clicked or self._mine is not False else 0
        if has:
            self._last, self._mine = has, True
        elif self._mine and self._was_hidden(self._last):
            self.take()
        elif self._mine:
            self._mine, self._left, self._asks = None, UNSURE, False
        elif self._mine is None and self._left:
            self._left -= 1
        else:
            self._mine = False
        return self._mine

    def tick(self, wanted: bool) -> bool:
        """Before each frame; `wanted`: a field of ours is about to have the keyboard. True while a frame is needed."""
        if self.mine() is None and self._asks and self._left % EVERY == 0 and not wanted:
            dpg.focus_item(self.root)
        return self._mine is None

    def _has(self) -> int:
        """The window of ours that has the keyboard, 0 for none; most often it is the last one."""
        return next((one for one in (self._last, *self.windows) if one and dpg.is_item_focused(one)), 0)

    def _was_hidden(self, item: int) -> bool:
        """Whether we hid a window inside of the root, or what it lies in: after a popup Dear ImGui itself gives the
        keyboard to what was clicked, and where the host hides the root, the keyboard is the host's."""
        hidden = False
        while item and item != self.root:
            hidden = hidden or not dpg.is_item_shown(item)
            item = dpg.get_item_parent(item) or 0
        return hidden and item == self.root
