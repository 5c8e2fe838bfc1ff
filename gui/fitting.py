"""Items whose words follow their room: paragraphs that wrap, lines and paths that are cut, fields that hint.

Whoever has such an item sets its words with `dpg.set_value` as ever; before the next frame they are fitted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import dearpygui.dearpygui as dpg

from gui.letters import LETTERS, Wide, cut, cut_path, wrapped

LINES, END, PATH, FIELD = "lines", "end", "path", "field"
_HOW: dict[str, Callable[[str, float, Wide], str]] = {LINES: wrapped, END: cut, PATH: cut_path, FIELD: cut_path}
LEAST = 24  # pixels that a paragraph takes even where there is less


@dataclass
class Fitted:
    """One item: its whole words, what of them is shown, and for how much room."""

    how: str
    role: str
    raw: str = ""
    shown: str | None = None
    room: float = 0.0
    active: bool = False
    holder: int = 0  # what it is looked for in; 0: always
    group: int = -1  # the group that it stands in, 0 for none, -1 before anybody looked


class Fitting:
    """All such items of one panel. `font(role)` is the font item of a role."""

    def __init__(self, font: Callable[[str], int]) -> None:
        self._font = font
        self._items: dict[int, Fitted] = {}
        self._holder = 0
        self._hints: dict[int, tuple[str, float, float]] = {}  # field -> its words, padding, the width they are cut for

    def add(self, item: int, how: str, role: str) -> int:
        """Fit the words of an item from now on: `LINES`, `END`, `PATH`, or `FIELD` (a path that can be copied, whole
        while it has the keyboard)."""
        self._items[item] = Fitted(how, role, holder=self._holder)
        return item

    @contextmanager
    def inside(self, holder: int) -> Iterator[None]:
        """What is added meanwhile stands in `holder`, and is not looked at while that is hidden."""
        before, self._holder = self._holder, holder
        try:
            yield
        finally:
            self._holder = before

    def hint(self, field: int, words: str, padding: float) -> None:
        """Cut what an empty field says where it is narrower than that; a key that is named at its end goes first."""
        self._hints[field] = (words, padding, 0.0)

    def words(self, item: int) -> str:
        """All the words of an item, also where it shows less."""
        one, value = self._items.get(item), str(dpg.get_value(item))
        return one.raw if one is not None and value == one.shown else value

    def forget(self) -> None:
        """Fonts or words have another size now."""
        for one in self._items.values():
            one.room = 0.0
        self._hints = {field: (words, padding, 0.0) for field, (words, padding, _) in self._hints.items()}

    def clear(self) -> None:
        """Know no item any more."""
        self._items.clear()
        self._hints.clear()

    def tick(self) -> bool:
        """Before each frame; true when something was set anew."""
        changed = False
        shown = {holder: dpg.is_item_shown(holder) for holder in {one.holder for one in self._items.values()} if holder}
        for item, one in self._items.items():
            if not shown.get(one.holder, True):
                continue
            value = dpg.get_value(item)
            fresh = value != one.shown
            if fresh:
                one.raw = one.shown = str(value)
            room = room_of(item, one)
            if room is None and not (fresh and one.room):
                continue
            if fresh or (room is not None and abs(room - one.room) > 0.5):
                one.room = room if room is not None else one.room
                changed = self._fit(item, one) or changed
        for field, (words, padding, width) in self._hints.items():
            state = dpg.get_item_state(field)
            if state.get("visible") and state["rect_size"][0] != width:
                changed = self._fit_hint(field, words, padding, state["rect_size"][0]) or changed
        return changed

    def _fit_hint(self, field: int, words: str, padding: float, width: float) -> bool:
        wide = LETTERS.wide(self._font("text"))
        if wide is None:
            return True
        self._hints[field] = (words, padding, width)
        room = width - 2 * padding
        dpg.configure_item(field, hint=words if wide(words) <= room else cut(words.rstrip("/ "), room, wide))
        return True

    def _fit(self, item: int, one: Fitted) -> bool:
        wide = LETTERS.wide(self._font(one.role))
        if wide is None:
            one.room = 0.0
            return True
        words = one.raw if one.active else _HOW[one.how](one.raw, max(one.room, LEAST if one.how == LINES else 1), wide)
        if words == one.shown:
            return False
        one.shown = words
        dpg.set_value(item, words)
        return True


def room_of(item: int, one: Fitted) -> float | None:
    """How wide an item may be where it stands, in pixels of the screen; None while it is out of sight."""
    state = dpg.get_item_state(item)
    if not state.get("visible"):
        return None
    if one.how == FIELD:
        active = bool(state.get("active"))
        if active != one.active:
            one.active, one.room = active, 0.0
        return float(state["rect_size"][0]) - 4
    if one.group < 0:
        parent = dpg.get_item_parent(item) or 0
        one.group = parent if dpg.get_item_type(parent) == "mvAppItemType::mvGroup" else 0
    left: float = state["rect_min"][0]
    # Where the next line begins, and what is left of it, is what Dear PyGui tells.
    begin = dpg.get_item_state(one.group)["rect_min"][0] if one.group else left
    return float(begin + state["content_region_avail"][0] - left - 1)
