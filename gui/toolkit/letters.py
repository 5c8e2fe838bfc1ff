"""Words that are as wide as their room: cut, and then they end with "…", or broken into lines.

Every text of the panel that may be too wide comes through here, measured with the font that draws it. Dear PyGui's own
wrapping is not used: it breaks inside "4,096" and after "https://github.". Whoever has an item whose words follow its
room (`Fitting`) sets them with `dpg.set_value` as ever; before the next frame they are fitted.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate

import dearpygui.dearpygui as dpg

Wide = Callable[[str], float]
"""How wide a piece of one line is. Widths add up: that of "ab" is that of "a" and that of "b"."""

ELLIPSIS = "…"
TIP_CELLS = 60  # letters in a line of a tooltip
GUESS = 8.0  # pixels of a letter in a font that is not there yet
_SAMPLE = 64  # Dear PyGui rounds a width up to a whole pixel; of that many letters that does not matter
_WIDE = r"\u2e80-\u2fff\u3005-\u30ff\u3400-\u9fff\uf900-\ufaff\uff10-\uffef"
_CLOSING = r"、。，．・：；？！）」』】〉》〕ー々,.!?;:)\]}"
_ATOMS = re.compile(
    r"\d{1,2}\s(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\s\d{4}\b[.,;:!?)]*|"  # and a day with its month
    r"\d[\d.,]*\s(?:bytes?|tokens?|[KMG]?B|%|min|s|h|d)\b[.,;:!?)]*|"  # a number stays with its unit
    rf"[{_WIDE}][{_CLOSING}]*|\s+|[^\s{_WIDE}]+"
)
"""Pieces of a text that a line may end behind: a word, blanks, one letter of a script without blanks."""
_MARKS = "-_.=&?,"
JOINER = "\u200d"


def cut(words: str, room: float, wide: Wide) -> str:
    """Words that end with "…" where they do not fit into the room; one line, none where not even two letters fit."""
    if wide(words) <= room:
        return words
    low, high = 0, len(words)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if wide(words[:middle].rstrip() + ELLIPSIS) <= room else (low, middle - 1)
    return words[:low].rstrip(" ·,;:–-") + ELLIPSIS if low > 1 else ""


def shortened(words: str, letters: int = 120) -> str:
    """Words cut to a number of letters, for a sentence about them."""
    return words if len(words) <= letters else words[: letters - 1].rstrip() + ELLIPSIS


def cut_path(path: str, room: float, wide: Wide) -> str:
    """A path that loses its middle where it does not fit: the beginning and, above all, the name of the file stay."""
    if wide(path) <= room:
        return path
    folder, slash, name = path.rpartition("/")
    tail = ELLIPSIS + slash + name
    left = room - wide(tail)
    if left < 0:  # the name alone is too long: its end tells more than its middle
        end = name[-min(8, len(name) // 3) :] if len(name) > 11 else ""
        begin = cut(name.removesuffix(end), room - wide(end), wide)
        return begin + end if begin else cut(name, room, wide)
    kept = 0
    while kept < len(folder) and wide(folder[: kept + 1]) <= left:
        kept += 1
    return folder[:kept] + tail


def parted(text: str, at: int) -> bool:
    """Whether a line may end there, or a caret stand: not within what people see as one letter."""
    if at <= 0 or at >= len(text):
        return True
    letter, before = text[at], text[at - 1]
    if letter.isascii():
        return True
    if letter == JOINER or "\U0001f3fb" <= letter <= "\U0001f3ff" or unicodedata.category(letter) in ("Mn", "Me", "Mc"):
        return False
    if before == JOINER:
        return ord(letter) < 0x2190  # parts of an emoji; between other letters it only shapes them
    if _is_flag(letter) and _is_flag(before):
        first = at - 1
        while first > 0 and _is_flag(text[first - 1]):
            first -= 1
        return (at - first) % 2 == 0
    return True


def _is_flag(letter: str) -> bool:
    return "\U0001f1e6" <= letter <= "\U0001f1ff"


def broken(text: str, offsets: Sequence[float], room: float, hang: float = 0.0) -> list[tuple[int, int]]:
    """The one line of a text in parts that fit into a room, those after the first into `hang` less; every letter is in
    one of them, and blanks may reach over the edge. `offsets[at]` is the length of all letters before a place.

    It is broken at blanks and between the letters of scripts that have none; a word that is wider than the room by
    itself after "/" where it has one, then after another mark, then anywhere."""
    rows: list[tuple[int, int]] = []
    begin, left = 0, room
    for found in _ATOMS.finditer(text):
        first, last = found.span()
        if found[0].isspace() or offsets[last] - offsets[begin] <= left:
            continue
        if first > begin:
            rows.append((begin, first))
            begin, left = first, room - hang
        while begin < last and offsets[last] - offsets[begin] > left:
            cut = _cut(text, offsets, begin, last, left)
            rows.append((begin, cut))
            begin, left = cut, room - hang
    rows.append((begin, len(text)))
    return rows


def _cut(text: str, offsets: Sequence[float], begin: int, last: int, room: float) -> int:
    """Where one word ends for a row that has not room for all of it."""
    end = bisect_right(offsets, offsets[begin] + room, begin + 1, last) - 1
    while end > begin and not parted(text, end):
        end -= 1
    if end == begin:  # not even one letter fits
        end += 1
        while not parted(text, end):
            end += 1
        return end
    for marks, least in ((" ", begin), ("/\\", begin), (_MARKS, (begin + end) // 2)):
        at = max(text.rfind(mark, least, end) for mark in marks)
        if at >= least:
            return at + 1
    return end


def wrapped(words: str, room: float, wide: Wide) -> str:
    """Words broken into lines that fit (`broken`)."""
    lines = []
    for one in words.split("\n"):
        offsets = list(accumulate(map(wide, one), initial=0.0))
        parts = [one[begin:end].rstrip() for begin, end in broken(one, offsets, room)]
        lines += [part.removesuffix("·").rstrip() for part in parts[:-1]]  # what parts two words parts no two lines
        lines.append(parts[-1])
    return "\n".join(lines)


def cells(words: str) -> float:
    """The width of a line in letters, wide ones counted twice: for what is broken before its font can be asked."""
    return float(sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in words))


def tip_words(words: str) -> str:
    """Words for a tooltip, in lines of at most `TIP_CELLS` letters."""
    return wrapped(words, TIP_CELLS, cells)


class Letters:
    """How wide letters are in each font; every letter is measured once. Dear PyGui cannot measure in a font before it
    has drawn a frame: until then widths are guessed, and `Look.tick` lays everything out again when they are known."""

    def __init__(self) -> None:
        self._known: dict[int, dict[str, float]] = {}
        self._guessed: set[int] = set()
        self._came = 0

    def came(self) -> int:
        """How often fonts came in which widths had been guessed."""
        known = {font for font in self._guessed if not dpg.does_item_exist(font) or dpg.get_text_size("a", font=font)}
        self._guessed -= known
        self._came += bool(known)
        return self._came

    def wide(self, font: int) -> Wide:
        """What measures lines in a font, in pixels of the screen."""
        known = self._known.setdefault(font, {})

        def measure(words: str) -> float:
            total = 0.0
            for letter in words:
                width = known.get(letter)
                if width is None:
                    size = dpg.get_text_size(letter * _SAMPLE, font=font)
                    if size is None:
                        self._guessed.add(font)
                        return GUESS * len(words)
                    width = known[letter] = size[0] / _SAMPLE
                total += width
            return total

        return measure


LETTERS = Letters()
"""Fonts are shared by all panels of a process, and so are their widths."""


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

    def forget(self) -> None:
        """Fonts or words have another size now."""
        for one in self._items.values():
            one.room = 0.0

    def clear(self) -> None:
        """Know no item any more."""
        self._items.clear()

    def tick(self) -> bool:
        """Before each frame; true when something was set again."""
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
        return changed

    def _fit(self, item: int, one: Fitted) -> bool:
        wide = LETTERS.wide(self._font(one.role))
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
