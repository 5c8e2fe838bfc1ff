"""One row of a flowing list: what it says, and the items of the pool that show it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import dearpygui.dearpygui as dpg

from gui.toolkit.icons import icon as icon_of
from gui.toolkit.letters import LETTERS, cut, wrapped
from gui.toolkit.theme import Look

LEFT, ICON, RIGHT, TOP, GAP, BOTTOM = 12, 24, 14, 9, 4, 10
LEAST = 64  # of a small line that is cut: less says nothing
SMALL, BUTTON = 14, 28
ASIDE, ASIDE_FROM = 330, 760
"""In a list so wide at the least, where it is wished, the small line stands at the right of the text, so wide."""
HIDDEN = (-1, -1, -1)
LETTER = 7.7  # a usual width of a letter of the text font, for guesses


@dataclass(frozen=True)
class FlowRow:
    """One row: `text` wraps, `meta` is the small pale line below it ("": none), `icon` stands in front in `color`.

    `key` says which row it is, also after the list was read again. `can` names the actions that are offered for it.
    `marks` are parts of the text to shade, as (line, first letter, letter after the last): the text must be broken into
    lines that fit (`broken`), and the list be made with room for marks. `code` are parts of the text, as (first letter,
    letter after the last), that are code: they get a ground of their own, wherever the lines break.
    """

    key: Hashable
    text: str
    meta: str = ""
    icon: str = ""
    color: str = "accent"
    text_color: str = "text"
    can: frozenset[str] = frozenset()
    marks: tuple[tuple[int, int, int], ...] = ()
    code: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class RowAction:
    """A small button that is shown at the row under the mouse, or else at the selected one; `label` are words on it."""

    name: str
    icon: str
    tip: str
    shortcut: str = ""
    label: str = ""


SEPARATOR = "  ·  "


@dataclass
class Slot:
    """One row of the pool: its items, and what they show (None: hidden)."""

    item: int
    icon: int
    text: int
    meta: int
    line: int
    index: int | None = None
    row: FlowRow | None = None
    fitted: str = ""
    crowded: int = 0  # how wide the buttons are that stand at this row, in pixels of the screen
    place: tuple[int, int, int] = HIDDEN  # top, height, width in pixels of the screen
    ground: int = 0  # what the marks are drawn on
    marks: tuple[int, ...] = ()
    aside: bool = False  # whether the small line may stand at the right
    role: str = "text"
    wrapped: bool = False

    def fill(self, look: Look, row: FlowRow, place: tuple[int, int, int]) -> None:
        """Show `row` at `place`; changes only what differs."""
        if self.place != place:
            top, tall, width = place
            dpg.configure_item(self.item, show=True, pos=[0, top], width=width, height=tall)
            dpg.configure_item(self.line, pos=[0, tall - 1])
            if self.ground:
                dpg.configure_item(self.ground, width=width, height=max(1, tall - look.px(10)))
            self.wrapped = self.wrapped and self.place[2] == width
            self.place = place
            self.fitted = ""
            self._put_meta(look, row)
            self._mark(look, row)
        elif self.row is None or (self.row.marks, self.row.code, self.row.text) != (row.marks, row.code, row.text):
            self._mark(look, row)
        old, self.row = self.row, row
        if (old is row or old == row) and self.wrapped:
            self._fit_meta(look, row)
            return
        if old is None or old.text != row.text or not self.wrapped:
            self._wrap(look, row)
        self._fit_meta(look, row)
        if old is None or old.icon != row.icon:
            dpg.set_value(self.icon, icon_of(row.icon) if row.icon else "")
        look.tint(self.text, row.text_color)
        look.tint(self.icon, row.color)

    def _wrap(self, look: Look, row: FlowRow) -> None:
        """The text in lines that fit."""
        lines = lines_of(look, row, self.place[2], self.role, self.aside)
        self.wrapped = lines is not None
        dpg.set_value(self.text, row.text if lines is None else lines)

    def _mark(self, look: Look, row: FlowRow) -> None:
        """Shade the marked parts of the text, and put a ground under code."""
        marks, lines = row.marks, row.text.split("\n")
        if row.code:
            shown = lines_of(look, row, self.place[2], self.role, self.aside) or row.text
            marks, lines = coded_places(shown, row), shown.split("\n")
        font = look.font_id("text")
        left, top, line = look.px(LEFT + ICON), look.px(TOP), look.px(16)
        for number, item in enumerate(self.marks):
            at = marks[number] if number < len(marks) else None
            sizes = [dpg.get_text_size(lines[at[0]][:end], font=font) for end in at[1:]] if at is not None else []
            if at is None or not all(sizes):
                dpg.configure_item(item, show=False)
                continue
            look.tint(item, "hit@40" if row.marks else "field", "fill")
            y = top + at[0] * line
            low, high = (left + sizes[0][0] - 1, y - 1), (left + sizes[1][0] + 1, y + line)
            dpg.configure_item(item, show=True, pmin=low, pmax=high, rounding=look.px(3))

    def _put_meta(self, look: Look, row: FlowRow) -> None:
        """The small line below the text, or where there is room and it is wished, at its right."""
        beside = aside_of(look, self.place[2], self.aside)
        left = self.place[2] - beside if beside else look.px(LEFT + ICON)
        top = look.px(TOP) if beside else self.place[1] - look.px(BOTTOM) - look.px(SMALL)
        own = measured(look, row, self.place[2], self.role, self.aside)
        if own is not None and not beside:  # a row may be higher than what it says
            top = min(top, own - look.px(BOTTOM) - look.px(SMALL))
        dpg.configure_item(self.meta, pos=[left, top])

    def crowd(self, look: Look, width: int) -> None:
        """Buttons of this width came to this row, or (0) left it."""
        if width != self.crowded and self.row is not None:
            self.crowded = width
            self._fit_meta(look, self.row)

    def _fit_meta(self, look: Look, row: FlowRow) -> None:
        """The small line, cut where the row ends, or where its buttons begin while they are there."""
        wanted = f"{self.crowded} {row.meta}"
        if wanted == self.fitted:
            return
        beside = aside_of(look, self.place[2], self.aside)
        room = (beside or self.place[2] - look.px(LEFT + ICON)) - look.px(RIGHT) - self.crowded
        words, wide = row.meta, LETTERS.wide(look.font_id("small"))
        if wide is not None:
            while (
                not beside and wide(words) > room and SEPARATOR in words
            ):  # whole parts go first, the last one before the others
                words = words.rpartition(SEPARATOR)[0]
            words = cut(words, room, wide) if wide(words) <= room or room >= look.px(LEAST) else ""
        self.fitted = wanted if wide is not None else ""
        dpg.set_value(self.meta, words)

    def hide(self) -> None:
        """Show nothing."""
        if self.place != HIDDEN:
            self.place = HIDDEN
            dpg.configure_item(self.item, show=False)

    def restyle(self, look: Look) -> None:
        """Put what does not depend on the row right for another scale."""
        self.hide()  # one that is not needed any more must not stay where it was
        self.place, self.wrapped = HIDDEN, False
        dpg.configure_item(self.icon, pos=[look.px(LEFT), look.px(TOP)])
        dpg.configure_item(self.text, pos=[look.px(LEFT + ICON), look.px(TOP)])


def make_slot(look: Look, parent: int, role: str, marks: int = 0, aside: bool = False) -> Slot:
    """The items of one row of the pool, hidden; with room for so many marks in its text."""
    item = int(
        dpg.add_child_window(
            parent=parent, border=False, show=False, no_scrollbar=True, no_scroll_with_mouse=True, pos=[0, 0]
        )
    )
    look.theme(look.window(item), "row-off")
    ground = int(dpg.add_drawlist(10, 10, parent=item, pos=[0, 0])) if marks else 0
    shades = tuple(
        int(dpg.draw_rectangle((0, 0), (1, 1), color=(0, 0, 0, 0), parent=ground, show=False)) for _ in range(marks)
    )
    icon = int(dpg.add_text("", parent=item))
    words = int(dpg.add_text("", parent=item))
    if role != "text":
        look.font(words, role)
    meta = look.tint(look.font(int(dpg.add_text("", parent=item)), "small"), "hint")
    line = int(dpg.add_separator(parent=item, pos=[0, 0]))
    slot = Slot(item, icon, words, meta, line, ground=ground, marks=shades, role=role, aside=aside)
    slot.restyle(look)
    return slot


def aside_of(look: Look, width: int, aside: bool) -> int:
    """How wide the small line is that stands at the right of the text, 0 where it stands below it."""
    return look.px(ASIDE) if aside and width >= look.px(ASIDE_FROM) else 0


def wrap_of(look: Look, width: int, aside: bool = False) -> int:
    """How wide the text of a row may be, in pixels of the screen."""
    return max(40, width - look.px(LEFT + ICON + RIGHT) - aside_of(look, width, aside))


def frame_of(look: Look, has_meta: bool) -> int:
    """The height of a row without its text, in pixels of the screen."""
    return look.px(TOP) + look.px(BOTTOM) + (look.px(GAP) + look.px(SMALL) if has_meta else 0)


def guessed(look: Look, rows: Sequence[FlowRow], width: int, aside: bool = False) -> list[int]:
    """Heights of rows in a list so wide, by their number of letters; pixels of the screen."""
    line, letters = look.px(16), max(4.0, wrap_of(look, width, aside) / (LETTER * look.scale))
    below = not aside_of(look, width, aside)
    with_meta, without = frame_of(look, below) + line, frame_of(look, False) + line
    return [
        (with_meta if row.meta else without) + line * (int(len(row.text) / letters) + row.text.count("\n"))
        for row in rows
    ]


def measured(look: Look, row: FlowRow, width: int, role: str, aside: bool = False) -> int | None:
    """The height of one row; None while its font is not there to measure with."""
    lines = lines_of(look, row, width, role, aside)
    size = dpg.get_text_size(lines, font=look.font_id(role)) if lines is not None else None
    below = bool(row.meta) and not aside_of(look, width, aside)
    return frame_of(look, below) + max(int(size[1]), look.px(16)) if size else None


def lines_of(look: Look, row: FlowRow, width: int, role: str, aside: bool = False) -> str | None:
    """The text of a row in lines that fit into a list so wide; None while its font is not there to measure with."""
    wide = LETTERS.wide(look.font_id(role))
    return wrapped(row.text, wrap_of(look, width, aside), wide) if wide is not None else None


def coded_places(shown: str, row: FlowRow) -> tuple[tuple[int, int, int], ...]:
    """Where the code of a row stands in its text as it was broken into lines, as marks: a break took the place of a
    blank, or came between two letters."""
    marks: list[tuple[int, int, int]] = []
    spans = iter(row.code)
    span = next(spans, None)
    line = column = at = begin = 0
    for letter in shown:
        if span is None:
            break
        if letter == "\n":
            if span[0] < at and column > begin:
                marks.append((line, begin, column))
            line, column, begin = line + 1, 0, 0
            at += 1 if at < len(row.text) and row.text[at] in " \n" else 0
            continue
        if at == span[0]:
            begin = column
        at, column = at + 1, column + 1
        if at == span[1]:
            marks.append((line, begin, column))
            span = next(spans, None)
    return tuple(marks)


def matching(rows: Sequence[FlowRow], words: str) -> Sequence[FlowRow]:
    """The rows in which every one of the words stands, in the text or below it; small and capital letters are one."""
    found = rows
    for word in words.casefold().split():
        found = [row for row in found if word in row.text.casefold() or word in row.meta.casefold()]
    return found
