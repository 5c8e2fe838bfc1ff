"""What Dear PyGui lacks of a layout: rows with a right side, cards, chips that wrap, and columns side by side that give
way in a narrow window."""

from __future__ import annotations

from collections.abc import Callable

import dearpygui.dearpygui as dpg

from gui.toolkit.letters import LETTERS, cut
from gui.toolkit.theme import Look
from gui.toolkit.widgets import hint, text, tip_of


def spread(look: Look, parent: int, lower: float = 0) -> tuple[int, int]:
    """A row with a left and a right side: two horizontal groups. The right one stays at the right edge.

    `lower` moves the right side down, for a small text beside a tall one.
    """
    table = int(
        dpg.add_table(
            parent=parent, header_row=False, policy=dpg.mvTable_SizingFixedFit, no_pad_outerX=True, pad_outerX=False,
            no_saved_settings=True,
        )
    )  # fmt: skip
    look.theme(table, "bare-table")
    for stretch in (True, False):
        dpg.add_table_column(parent=table, width_stretch=stretch, width_fixed=not stretch)
    row = dpg.add_table_row(parent=table)
    sides = []
    for down in (0.0, lower):
        cell = look.theme(int(dpg.add_group(parent=row)), "no-gap")
        if down:
            space(look, cell, down)
        sides.append(look.theme(int(dpg.add_group(horizontal=True, parent=cell)), "gap"))
    return sides[0], sides[1]


def lowered(look: Look, parent: int, by: float) -> int:
    """A horizontal group whose content stands `by` pixels lower than its row."""
    column = look.theme(int(dpg.add_group(parent=parent)), "no-gap")
    look.size(int(dpg.add_spacer(parent=column)), height=by)
    return look.theme(int(dpg.add_group(horizontal=True, parent=column)), "gap")


def gap(look: Look, parent: int, width: float) -> int:
    """Empty room between two parts of a row."""
    return look.size(int(dpg.add_spacer(parent=parent)), width=width)


def space(look: Look, parent: int, height: float) -> int:
    """An empty line of a given height (the distance between items comes on top of it)."""
    return look.size(int(dpg.add_spacer(parent=parent)), height=height)


def box(
    look: Look, parent: int, style: str = "pane", *, width: float = -1, height: float = -1, scroll: bool = False,
    show: bool = True,
) -> int:  # fmt: skip
    """A child window in a style of `styles.py` (`pane`, `card`, `bar`, `well`, `clear`) with that style's padding.

    It fills what is left, unless given lengths; `height` 0 fits the content.
    """
    item = int(
        dpg.add_child_window(
            parent=parent,
            show=show,
            border=style not in ("clear", "bar", "foot", "root", "gutter"),
            always_use_window_padding=True,
            auto_resize_y=height == 0,
            no_scrollbar=not scroll,
            no_scroll_with_mouse=not scroll,
        )
    )
    look.theme(look.window(item), style)
    return look.size(item, width=width, **({"height": height} if height else {}))


CHIP_WIDTH = 190  # of the name on a chip, at the most


def card(look: Look, parent: int, title: str, aside: str) -> tuple[int, int]:
    """A framed part with a title, as high as what is in it: the child window to put things into, and the pale text at
    the right of the title."""
    item = box(look, parent, "card", height=0)
    left, right = spread(look, item, lower=1)
    text(look, left, title, "strong", "muted")
    return item, text(look, right, aside, "small", "hint")


class Chip:
    """A round filter with a count that can be on or off; a click turns it over and calls `on_click()`."""

    def __init__(
        self, look: Look, parent: int, name: str, color: str, on_click: Callable[[], object], tip: str = ""
    ) -> None:
        self._look, self._color, self._on_click = look, color, on_click
        self.name = name
        self.on = False
        self.count = 0
        self.item = int(dpg.add_button(label=name, parent=parent, callback=self._clicked))
        look.font(self.item, "small")
        look.theme(self.item, f"chip:{color}")
        self.tip = tip_of(hint(look, self.item, tip)) if tip else 0
        """Its tooltip: an item of its own that stands behind it."""

    def _clicked(self) -> None:
        self._look.jobs.post(self._toggle)

    def _toggle(self) -> None:
        self.set_on(not self.on)
        self._on_click()

    def set_on(self, on: bool) -> None:
        """Show it pressed or not, without calling anybody."""
        self.on = on
        self._look.theme(self.item, f"chip-on:{self._color}" if on else f"chip:{self._color}")

    def set_count(self, count: int) -> None:
        """The number after the name; a long name is cut."""
        self.count = count
        wide = LETTERS.wide(self._look.font_id("small"))
        name = cut(self.name, self._look.px(CHIP_WIDTH), wide)
        dpg.configure_item(self.item, label=f"{name}  {count:,}")


class ChipRow:
    """Chips in a row that wraps at the width of `container` (the child window around it)."""

    LINES = 4

    def __init__(self, look: Look, parent: int, container: int) -> None:
        self._look = look
        self.item = look.theme(int(dpg.add_group(parent=parent)), "chips")
        self._lines = [int(dpg.add_group(horizontal=True, parent=self.item)) for _ in range(self.LINES)]
        for line in self._lines[1:]:
            dpg.configure_item(line, show=False)
        self.chips: list[Chip] = []
        self._placed: list[int] = []
        self._width = 0.0
        look.follow(container, self._fit)
        look.every_tick(self._wrap)

    def add(self, name: str, color: str, on_click: Callable[[], object], tip: str = "") -> Chip:
        """One more chip, at the end."""
        chip = Chip(self._look, self._lines[0], name, color, on_click, tip)
        self.chips.append(chip)
        self._placed.append(0)
        return chip

    def _fit(self, width: float, _height: float) -> None:
        self._width = width

    def _wrap(self) -> bool:
        """Wrap again when a count made a chip wider; true when one moved."""
        if self._width <= 0:
            return False
        gap, used, line, moved = self._look.px(6), 0.0, 0, False
        for number, chip in enumerate(self.chips):
            width = dpg.get_item_rect_size(chip.item)[0]
            if used and used + width > self._width and line + 1 < self.LINES:
                line, used = line + 1, 0.0
            used += width + gap
            if self._placed[number] != line:
                moved = True
                self._placed[number] = line
        if moved:
            for number, chip in enumerate(self.chips):
                dpg.move_item(chip.item, parent=self._lines[self._placed[number]])
                if chip.tip:  # it stands behind its chip; left alone at the start of a line it would push that in
                    dpg.move_item(chip.tip, parent=self._lines[self._placed[number]])
            for number, item in enumerate(self._lines):
                dpg.configure_item(item, show=number <= line)
        return moved


class Columns:
    """Two columns that fill `parent` (a child window), lengths in unscaled pixels: of a whole so wide `side` has
    `width(whole)` where that leaves `main` what it wants (`good`), else less, and gives way where `main` has not its
    `least`. With `left` the side stands there, and what is too tall in it can be moved."""

    GAP = 8

    def __init__(
        self, look: Look, parent: int, width: Callable[[float], float], side_least: float, least: float, *,
        good: float = 0, left: bool = False,
    ) -> None:  # fmt: skip
        self._look, self._width, self._side_least, self._least, self._good = look, width, side_least, least, good
        self._inside = (0.0, 0.0)
        self.shown = True
        """Whether the side is wished for."""
        self.crowded = False
        """The side is hidden for the time being, because the window is too narrow for both."""
        row = look.theme(int(dpg.add_group(horizontal=True, parent=parent)), "columns")
        first, second = box(look, row, "clear", scroll=left), box(look, row, "clear")
        self.side, self.main = (first, second) if left else (second, first)
        look.follow(parent, self._fit)

    def show(self, on: bool) -> None:
        """Hide the side, or bring it back as wide as it was."""
        self.shown = on
        self._fit(*self._inside)

    def _fit(self, width: float, height: float) -> None:
        if width <= 0:
            return
        self._inside = (width, height)
        px, gap, left = self._look.px, self._look.px(self.GAP), int(width)
        self.crowded = self.shown and px(self._side_least + self.GAP + self._least) > width
        there = self.shown and not self.crowded
        dpg.configure_item(self.side, show=there)
        if there:
            room, wished = left - gap - px(max(self._good, self._least)), px(self._width(width / self._look.scale))
            side = max(px(self._side_least), min(wished, room))
            dpg.configure_item(self.side, width=side, height=int(height))
            left -= side + gap
        dpg.configure_item(self.main, width=max(left, 1), height=int(height))
