"""One row of a flowing list: what it says, and the items of the pool that show it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import dearpygui.dearpygui as dpg

from gui.icons import icon as icon_of
from gui.theme import Look

LEFT, ICON, RIGHT, TOP, GAP, BOTTOM = 12, 24, 14, 9, 4, 10
SMALL, BUTTON = 14, 28
HIDDEN = (-1, -1, -1)


@dataclass(frozen=True)
class FlowRow:
    """One row: `text` wraps, `meta` is the small pale line below it ("": none), `icon` stands in front in `color`.

    `key` says which row it is, also after the list was read anew. `can` names the actions that are offered for it.
    `marks` are parts of the text to shade, as (line, first letter, letter after the last): the text must be broken into
    lines that fit (`broken`), and the list be made with room for marks.
    """

    key: Hashable
    text: str
    meta: str = ""
    icon: str = ""
    color: str = "accent"
    text_color: str = "text"
    can: frozenset[str] = frozenset()
    marks: tuple[tuple[int, int, int], ...] = ()


@dataclass(frozen=True)
class RowAction:
    """A small button that is shown at the row under the mouse, or else at the selected one."""

    name: str
    icon: str
    tip: str
    shortcut: str = ""


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
    crowded: bool = False  # whether the buttons stand at this row
    place: tuple[int, int, int] = HIDDEN  # top, height, width in pixels of the screen
    ground: int = 0  # what the marks are drawn on
    marks: tuple[int, ...] = ()

    def fill(self, look: Look, row: FlowRow, place: tuple[int, int, int]) -> None:
        """Show `row` at `place`; changes only what differs."""
        if self.place != place:
            top, tall, width = place
            dpg.configure_item(self.item, show=True, pos=[0, top], width=width, height=tall)
            dpg.configure_item(self.text, wrap=wrap_of(look, width))
            dpg.configure_item(self.meta, pos=[look.px(LEFT + ICON), tall - look.px(BOTTOM) - look.px(SMALL)])
            dpg.configure_item(self.line, pos=[0, tall - 1])
            if self.marks:
                dpg.configure_item(self.ground, width=width, height=max(1, tall - look.px(10)))
            self.place = place
            self.fitted = ""
            self._mark(look, row)
        elif self.row is None or self.row.marks != row.marks or self.row.text != row.text:
            self._mark(look, row)
        old, self.row = self.row, row
        if old is row or old == row:
            self._fit_meta(look, row)
            return
        if old is None or old.text != row.text:
            dpg.set_value(self.text, row.text)
        self._fit_meta(look, row)
        if old is None or old.icon != row.icon:
            dpg.set_value(self.icon, icon_of(row.icon) if row.icon else "")
        look.tint(self.text, row.text_color)
        look.tint(self.icon, row.color)

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

    def crowd(self, look: Look, on: bool) -> None:
        """The buttons came to this row, or left it."""
        if on != self.crowded and self.row is not None:
            self.crowded = on
            self._fit_meta(look, self.row)

    def _fit_meta(self, look: Look, row: FlowRow) -> None:
        """The small line, cut where the row ends, or where its buttons begin while they are there."""
        buttons = len(row.can) if self.crowded else 0
        wanted = f"{buttons} {row.meta}"
        if wanted == self.fitted:
            return
        room = self.place[2] - look.px(LEFT + ICON + RIGHT) - look.px(BUTTON) * buttons
        words, font = row.meta, look.font_id("small")
        size = dpg.get_text_size(words, font=font)
        while size and size[0] > room and SEPARATOR in words:  # whole parts go first, the last one before the others
            words = words.rpartition(SEPARATOR)[0]
            size = dpg.get_text_size(words, font=font)
        if size and size[0] > room:
            words = words[: max(4, int(len(words) * room / size[0]) - 1)].rstrip(" ·") + "…"
        self.fitted = wanted if size else ""
        dpg.set_value(self.meta, words)

    def hide(self) -> None:
        """Show nothing."""
        if self.place != HIDDEN:
            self.place = HIDDEN
            dpg.configure_item(self.item, show=False)

    def restyle(self, look: Look) -> None:
        """Put what does not depend on the row right for another scale."""
        self.place = HIDDEN
        dpg.configure_item(self.icon, pos=[look.px(LEFT), look.px(TOP)])
        dpg.configure_item(self.text, pos=[look.px(LEFT + ICON), look.px(TOP)])


def make_slot(look: Look, parent: int, role: str, marks: int = 0) -> Slot:
    """The items of one row of the pool, hidden; with room for so many marks in its text."""
    item = int(
        dpg.add_child_window(
            parent=parent, border=False, show=False, no_scrollbar=True, no_scroll_with_mouse=True, pos=[0, 0]
        )
    )
    look.theme(item, "row-off")
    ground = int(dpg.add_drawlist(10, 10, parent=item, pos=[0, 0])) if marks else 0
    shades = tuple(
        int(dpg.draw_rectangle((0, 0), (1, 1), color=(0, 0, 0, 0), parent=ground, show=False)) for _ in range(marks)
    )
    for shade in shades:
        look.tint(shade, "edited@32", "fill")
    icon = int(dpg.add_text("", parent=item))
    words = int(dpg.add_text("", parent=item, wrap=10))
    if role != "text":
        look.font(words, role)
    meta = look.tint(look.font(int(dpg.add_text("", parent=item)), "small"), "hint")
    line = int(dpg.add_separator(parent=item, pos=[0, 0]))
    slot = Slot(item, icon, words, meta, line, ground=ground, marks=shades)
    slot.restyle(look)
    return slot


def wrap_of(look: Look, width: int) -> int:
    """How wide the text of a row may be, in pixels of the screen."""
    return max(40, width - look.px(LEFT + ICON + RIGHT))


def frame_of(look: Look, has_meta: bool) -> int:
    """The height of a row without its text, in pixels of the screen."""
    return look.px(TOP) + look.px(BOTTOM) + (look.px(GAP) + look.px(SMALL) if has_meta else 0)
