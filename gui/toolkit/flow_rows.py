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
SHARE, THICK, ASIDE = 56, 5, 10  # the bar before the small line: its length, its height, and what is beside it
HIDDEN = (-1, -1, -1)
LETTER = 7.7  # a usual width of a letter of the text font, for guesses


@dataclass(frozen=True)
class FlowRow:
    """One row: `text` wraps, `meta` is the small pale line below it ("": none), `icon` stands in front in `color`.

    `key` says which row it is, also after the list was read again. `can` names the actions that are offered for it.
    `marks` are parts of the text to shade, as (line, first letter, letter after the last): the text must be broken into
    lines that fit (`broken`), and the list be made with room for marks. `share` (0.0 to 1.0) is drawn as a bar in front
    of the small line, in a list made with `shares`; None: no bar.
    """

    key: Hashable
    text: str
    meta: str = ""
    icon: str = ""
    color: str = "accent"
    text_color: str = "text"
    can: frozenset[str] = frozenset()
    marks: tuple[tuple[int, int, int], ...] = ()
    share: float | None = None


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
    bar: tuple[int, ...] = ()  # the share: its whole length, and the part of it that is full
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
            self._mark(look, row)
            self._draw_share(look, row)
        elif self.row is None or self.row.marks != row.marks or self.row.text != row.text:
            self._mark(look, row)
        if self.row is None or (self.row.share, self.row.color) != (row.share, row.color):
            self._draw_share(look, row)
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
        lines = lines_of(look, row, self.place[2], self.role)
        self.wrapped = lines is not None
        dpg.set_value(self.text, row.text if lines is None else lines)

    def _mark(self, look: Look, row: FlowRow) -> None:
        """Shade the marked parts of the text."""
        lines, font = row.text.split("\n") if row.marks else [], look.font_id("text")
        left, top, line = look.px(LEFT + ICON), look.px(TOP), look.px(16)
        for number, item in enumerate(self.marks):
            at = row.marks[number] if number < len(row.marks) else None
            sizes = [dpg.get_text_size(lines[at[0]][:end], font=font) for end in at[1:]] if at is not None else []
            if at is None or not all(sizes):
                dpg.configure_item(item, show=False)
                continue
            y = top + at[0] * line
            low, high = (left + sizes[0][0] - 1, y - 1), (left + sizes[1][0] + 1, y + line)
            dpg.configure_item(item, show=True, pmin=low, pmax=high, rounding=look.px(3))

    def _draw_share(self, look: Look, row: FlowRow) -> None:
        """Put the small line in its place, with the bar in front of it where the row has a share."""
        left, top = look.px(LEFT + ICON), self.place[1] - look.px(BOTTOM) - look.px(SMALL)
        dpg.configure_item(self.meta, pos=[left + self._beside(look, row), top])
        for item in self.bar:
            dpg.configure_item(item, show=row.share is not None)
        if not self.bar or row.share is None:
            return
        track, full = self.bar
        long, thick = look.px(SHARE), look.px(THICK)
        y = top + (look.px(SMALL) - thick) // 2 + look.px(1)
        part = max(thick, round(long * min(1.0, row.share))) if row.share > 0 else 0
        for item, length in ((track, long), (full, part)):
            dpg.configure_item(
                item, pmin=(left, y), pmax=(left + length, y + thick), rounding=thick / 2, show=length > 0
            )
        look.tint(full, row.color, "fill")

    def _beside(self, look: Look, row: FlowRow) -> int:
        return look.px(SHARE + ASIDE) if self.bar and row.share is not None else 0

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
        room = self.place[2] - look.px(LEFT + ICON + RIGHT) - self._beside(look, row) - self.crowded
        words, wide = row.meta, LETTERS.wide(look.font_id("small"))
        if wide is not None:
            while wide(words) > room and SEPARATOR in words:  # whole parts go first, the last one before the others
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


def make_slot(look: Look, parent: int, role: str, marks: int = 0, shares: bool = False) -> Slot:
    """The items of one row of the pool, hidden; with room for so many marks in its text, and for a bar."""
    item = int(
        dpg.add_child_window(
            parent=parent, border=False, show=False, no_scrollbar=True, no_scroll_with_mouse=True, pos=[0, 0]
        )
    )
    look.theme(look.window(item), "row-off")
    ground = int(dpg.add_drawlist(10, 10, parent=item, pos=[0, 0])) if marks or shares else 0
    drawn = tuple(
        int(dpg.draw_rectangle((0, 0), (1, 1), color=(0, 0, 0, 0), parent=ground, show=False))
        for _ in range(marks + 2 * shares)
    )
    shades, bar = drawn[:marks], drawn[marks:]
    for shade in shades:
        look.tint(shade, "hit@40", "fill")
    for part in bar[:1]:
        look.tint(part, "hover", "fill")
    icon = int(dpg.add_text("", parent=item))
    words = int(dpg.add_text("", parent=item))
    if role != "text":
        look.font(words, role)
    meta = look.tint(look.font(int(dpg.add_text("", parent=item)), "small"), "hint")
    line = int(dpg.add_separator(parent=item, pos=[0, 0]))
    slot = Slot(item, icon, words, meta, line, ground=ground, marks=shades, bar=bar, role=role)
    slot.restyle(look)
    return slot


def wrap_of(look: Look, width: int) -> int:
    """How wide the text of a row may be, in pixels of the screen."""
    return max(40, width - look.px(LEFT + ICON + RIGHT))


def frame_of(look: Look, has_meta: bool) -> int:
    """The height of a row without its text, in pixels of the screen."""
    return look.px(TOP) + look.px(BOTTOM) + (look.px(GAP) + look.px(SMALL) if has_meta else 0)


def guessed(look: Look, rows: Sequence[FlowRow], width: int) -> list[int]:
    """Heights of rows in a list so wide, by their number of letters; pixels of the screen."""
    line, letters = look.px(16), max(4.0, wrap_of(look, width) / (LETTER * look.scale))
    with_meta, without = frame_of(look, True) + line, frame_of(look, False) + line
    return [
        (with_meta if row.meta else without) + line * (int(len(row.text) / letters) + row.text.count("\n"))
        for row in rows
    ]


def measured(look: Look, row: FlowRow, width: int, role: str) -> int | None:
    """The height of one row; None while its font is not there to measure with."""
    lines = lines_of(look, row, width, role)
    size = dpg.get_text_size(lines, font=look.font_id(role)) if lines is not None else None
    return frame_of(look, bool(row.meta)) + max(int(size[1]), look.px(16)) if size else None


def lines_of(look: Look, row: FlowRow, width: int, role: str) -> str | None:
    """The text of a row in lines that fit into a list so wide; None while its font is not there to measure with."""
    wide = LETTERS.wide(look.font_id(role))
    return wrapped(row.text, wrap_of(look, width), wide) if wide is not None else None


def matching(rows: Sequence[FlowRow], words: str) -> Sequence[FlowRow]:
    """The rows in which every one of the words stands, in the text or below it; small and capital letters are one."""
    wanted = words.casefold().split()
    if not wanted:
        return rows
    found = rows
    for word in wanted:
        found = [row for row in found if word in row.text.casefold() or word in row.meta.casefold()]
    return found
