"""A text that is being written: its letters, caret, selection and what can be undone, as plain data and functions.

A place in a text is a number of characters from its beginning. The caret only stands between whole letters as people
see them: an accent, or the parts of one emoji, are never parted. `Layout` says which part of the text stands in which
row of a given width; every character is in exactly one row, so that a place has one point on the screen. Lengths are
in whatever unit the widths are in that a caller gives.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import NamedTuple

from gui.toolkit.letters import broken, parted

STEPS = 400
"""This many changes can be undone."""

Step = tuple[str, int, int]
"""A text, its caret and its anchor, to come back to."""


@dataclass(frozen=True)
class Draft:
    """What is written and where: the selection is between `anchor` and `caret`, empty where they are the same.

    `upstream` tells that a caret at a soft end of a row stands there and not before the row below; `goal` is the
    length that moves up and down keep; `run` names the kind of change that the next one of its kind adds to.
    """

    text: str = ""
    caret: int = 0
    anchor: int = 0
    upstream: bool = False
    goal: float | None = None
    past: tuple[Step, ...] = ()
    future: tuple[Step, ...] = ()
    run: str = ""

    @property
    def selection(self) -> tuple[int, int]:
        """Where it begins and ends."""
        return min(self.caret, self.anchor), max(self.caret, self.anchor)

    @property
    def selected(self) -> str:
        """The letters between anchor and caret."""
        begin, end = self.selection
        return self.text[begin:end]


# --- letters and words ------------------------------------------------------------------------------------------------


def letter_after(text: str, at: int) -> int:
    """Where the letter ends that begins there."""
    return _behind(text, min(at + 1, len(text)))


def letter_before(text: str, at: int) -> int:
    """Where the letter begins that ends there."""
    return _before(text, max(at - 1, 0))


def _kind(letter: str) -> str:
    if letter.isspace():
        return " "
    if letter.isalnum() or letter == "_" or unicodedata.category(letter)[0] == "M":
        return "w"
    return "."


def word_after(text: str, at: int) -> int:
    """Where the next word begins."""
    at = _end_of_run(text, at) if at < len(text) and _kind(text[at]) != " " else at
    while at < len(text) and _kind(text[at]) == " ":
        at += 1
    return _behind(text, at)


def word_before(text: str, at: int) -> int:
    """Where the word begins that the place is in, or behind."""
    while at > 0 and _kind(text[at - 1]) == " ":
        at -= 1
    return _before(text, _begin_of_run(text, at - 1) if at > 0 else at)


def word_at(text: str, at: int) -> tuple[int, int]:
    """The word, blank or marks that a place is in: what two clicks select."""
    if not text:
        return 0, 0
    at = min(at, len(text) - 1)
    return _before(text, _begin_of_run(text, at)), _behind(text, _end_of_run(text, at))


def _begin_of_run(text: str, at: int) -> int:
    kind = _kind(text[at])
    while at > 0 and _kind(text[at - 1]) == kind:
        at -= 1
    return at


def _end_of_run(text: str, at: int) -> int:
    kind = _kind(text[at])
    while at < len(text) and _kind(text[at]) == kind:
        at += 1
    return at


def _behind(text: str, at: int) -> int:
    """The next place where a caret may stand."""
    while not parted(text, at):
        at += 1
    return at


def _before(text: str, at: int) -> int:
    """The last place before where a caret may stand."""
    while not parted(text, at):
        at -= 1
    return at


# --- changes ----------------------------------------------------------------------------------------------------------


def typed(draft: Draft, words: str, run: str = "type") -> Draft:
    """Words in the place of the selection. Letters that are typed one after the other are undone word by word."""
    if not words and draft.caret == draft.anchor:
        return draft
    begin, end = draft.selection
    at = begin + len(words)
    new_word = bool(words) and not words[0].isspace() and begin > 0 and draft.text[begin - 1].isspace()
    return _changed(draft, draft.text[:begin] + words + draft.text[end:], at, run, begin != end or new_word)


def erased(draft: Draft, to: int) -> Draft:
    """Without the selection, or what is between the caret and a place."""
    begin, end = draft.selection if draft.caret != draft.anchor else (min(draft.caret, to), max(draft.caret, to))
    if begin == end:
        return draft
    return _changed(draft, draft.text[:begin] + draft.text[end:], begin, "erase", draft.caret != draft.anchor)


def _changed(draft: Draft, text: str, caret: int, run: str, apart: bool) -> Draft:
    goes_on = bool(run) and run == draft.run and not apart
    past = draft.past if goes_on else (*draft.past, (draft.text, draft.caret, draft.anchor))[-STEPS:]
    caret = _behind(text, caret)
    return Draft(text, caret, caret, past=past, run=run)


def undone(draft: Draft) -> Draft:
    """As it was before the last change."""
    if not draft.past:
        return draft
    text, caret, anchor = draft.past[-1]
    now = (draft.text, draft.caret, draft.anchor)
    return Draft(text, caret, anchor, past=draft.past[:-1], future=(*draft.future, now))


def redone(draft: Draft) -> Draft:
    """As it was before the last `undone`."""
    if not draft.future:
        return draft
    text, caret, anchor = draft.future[-1]
    now = (draft.text, draft.caret, draft.anchor)
    return Draft(text, caret, anchor, past=(*draft.past, now)[-STEPS:], future=draft.future[:-1])


def moved(draft: Draft, to: int, hold: bool = False, *, upstream: bool = False, goal: float | None = None) -> Draft:
    """The caret somewhere else; with `hold` the selection reaches there."""
    to = _before(draft.text, min(max(to, 0), len(draft.text)))
    anchor = draft.anchor if hold else to
    return replace(draft, caret=to, anchor=anchor, upstream=upstream, goal=goal, run="")


def spanned(draft: Draft, begin: int, end: int) -> Draft:
    """A part of it selected, the caret at its end."""
    return replace(moved(draft, end), anchor=begin)


# --- rows -------------------------------------------------------------------------------------------------------------


class Row(NamedTuple):
    """A part of the text in one row."""

    begin: int
    end: int


@dataclass(frozen=True)
class Layout:
    """A text in rows that fit into a room. `offsets[at]` is the length of all letters before a place."""

    text: str
    offsets: Sequence[float]
    rows: tuple[Row, ...]

    def row_of(self, at: int, upstream: bool = False) -> int:
        """The row that a caret stands in."""
        number = bisect_right(self.rows, at, key=lambda row: row.begin) - 1
        if upstream and number > 0 and self.rows[number].begin == at == self.rows[number - 1].end:
            return number - 1
        return number

    def point(self, at: int, upstream: bool = False) -> tuple[int, float]:
        """The row of a caret, and how far from its beginning it stands."""
        number = self.row_of(at, upstream)
        return number, self.offsets[at] - self.offsets[self.rows[number].begin]

    def place(self, number: int, far: float) -> tuple[int, bool]:
        """The place in a row that is nearest to a length from its beginning, and whether it is its soft end."""
        row = self.rows[min(max(number, 0), len(self.rows) - 1)]
        at = row.begin
        while at < row.end:
            after = letter_after(self.text, at)
            if (self.offsets[at] + self.offsets[after]) / 2 - self.offsets[row.begin] > far:
                break
            at = after
        at = min(at, row.end)
        return at, at == row.end > row.begin


def laid(text: str, room: float, measure: Callable[[str], float]) -> Layout:
    """The rows of a text (`broken`). `measure(letter)` is the width of a letter."""
    offsets = list(accumulate(map(measure, text), initial=0.0))
    return Layout(text, offsets, tuple(Row(*part) for part in broken(text, offsets, room)))


# --- keys -------------------------------------------------------------------------------------------------------------


def after_key(draft: Draft, key: str, layout: Layout, page: int = 1) -> Draft | None:
    """What a key makes of it (`Ctrl+Shift+Left`, names as in `keys.py`); None for a key that does nothing to a text.

    Without the clipboard, which is the system's. `page` is the number of rows in sight.
    """
    *held, name = key.split("+")
    control, hold = "Ctrl" in held, "Shift" in held
    if "Alt" in held:
        return None
    if control and name in ("Z", "Y"):
        return redone(draft) if name == "Y" or hold else undone(draft)
    if control and name == "A":
        return spanned(draft, 0, len(draft.text))
    text, caret = draft.text, draft.caret
    if name == "Backspace":
        return erased(draft, (word_before if control else letter_before)(text, caret))
    if name == "Delete":
        return erased(draft, (word_after if control else letter_after)(text, caret))
    if name in ("Left", "Right"):
        if draft.caret != draft.anchor and not hold and not control:
            return moved(draft, draft.selection[name == "Right"])
        ways = (word_before, word_after) if control else (letter_before, letter_after)
        return moved(draft, ways[name == "Right"](text, caret), hold)
    number, far = layout.point(caret, draft.upstream)
    if name in ("Home", "End"):
        if control:
            return moved(draft, 0 if name == "Home" else len(text), hold)
        to = layout.rows[number][name == "End"]
        if to == caret:  # at the end of its row already: on to that of the whole
            to = len(text) if name == "End" else 0
        return moved(draft, to, hold, upstream=name == "End")
    steps = {"Up": -1, "Down": 1, "Page up": -max(1, page - 1), "Page down": max(1, page - 1)}
    if name in steps and not control:
        goal = draft.goal if draft.goal is not None else far
        wanted = number + steps[name]
        if wanted < 0 or wanted >= len(layout.rows):
            return moved(draft, 0 if wanted < 0 else len(text), hold, goal=goal)
        to, upstream = layout.place(wanted, goal)
        return moved(draft, to, hold, upstream=upstream, goal=goal)
    return None
