"""A list in a tall drawing: which row is chosen, which one the mouse is at, its small buttons, keys and clicks.

`Listing` is what all lists have in common; its rows are drawn by who derives from it: here `FlowList`, rows of wrapped
texts of different heights, in table.py `BigTable`. `RowBar` holds the small buttons of one row, made once and shown at
whichever row is meant; what covers a row stands in its place: an editor, say.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any, Generic, Self, TypeVar

import dearpygui.dearpygui as dpg

from gui.toolkit.canvas import OVERSCAN, Canvas, Heights
from gui.toolkit.drawing import Pen
from gui.toolkit.flow_rows import BUTTON, FlowRow, RowAction, draw_row, guessed, height_of, lines_of
from gui.toolkit.keys import moved_to
from gui.toolkit.theme import Look
from gui.toolkit.typeset import Line
from gui.toolkit.widgets import Button, hint, say_hint, tip_of

DOUBLE_SECONDS = 0.5
PLACE = 60, 16  # on a row: behind its sign, on its first line; unscaled pixels
LAID = 2000
"""This many rows stay laid out."""

T = TypeVar("T")


class Listing(Generic[T]):
    """Rows of `T`. `on_select(row)` hears a click or a move by key, `on_open(row)` a double click or Enter;
    both on the interface thread. `tip(row)` is what a tooltip says of a row, "" for
    nothing."""

    def __init__(
        self,
        look: Look,
        *,
        on_select: Callable[[T], object] | None = None,
        on_open: Callable[[T], object] | None = None,
        tip: Callable[[T], str] | None = None,
    ) -> None:
        self._look, self._tip = look, tip
        self._on_select, self._on_open = on_select, on_open
        self.rows: Sequence[T] = ()
        self.selected: Any = None  # the key of a row
        self.holder = 0
        self.heights = Heights(self._exactly, self._name)
        self.over: int | None = None  # the place of the row under the mouse
        self._index: dict[Hashable, int] | None = None
        self._awaited: Hashable = None  # the key of a row to bring into sight once there is a size
        self._last_click: tuple[Hashable, float] = (None, 0.0)
        self._pointer: object = None  # where the mouse was when it came to a row
        self.canvas = Canvas(look, settle=self._settle, paint=self._paint, on_click=self._clicked,
                             on_size=self._sized, bar=True)  # fmt: skip

    # --- what differs ---

    def _key(self, row: T) -> Hashable:
        """What names a row, also after the rows were read again."""
        return row

    def _is_head(self, row: T) -> bool:
        """Whether a row is the head of others, which the keys pass over."""
        return False

    def _guesses(self) -> Sequence[int]:
        """Heights of all rows in pixels of the screen; guessed where `_exactly` knows better."""
        raise NotImplementedError

    def _exactly(self, at: int) -> int | None:
        """The height of one row, None where the guess is exact."""
        return None

    def _name(self, at: int) -> Hashable:
        """What the height of a row depends on beside the width."""
        return None

    def _draw(self, pen: Pen, at: int, y: int, tall: int) -> None:
        """Draw a row whose top stands at `y`."""
        raise NotImplementedError

    def _place_parts(self) -> None:
        """Put what lies over the rows into its place."""

    def _stays(self) -> bool:
        """Whether the mouse is at something that belongs to the row it was at."""
        return False

    # --- the same for all ---

    def build(self, parent: int) -> Self:
        """Make all items; once."""
        self._look.every_tick(self.tick)
        self.holder = self.canvas.build(parent)
        self._tip_words = hint(self._look, self.holder, "") if self._tip is not None else 0
        return self

    @property
    def width(self) -> int:
        """How wide a row is, in pixels of the screen."""
        return self.canvas.width

    def set_rows(self, rows: Sequence[T], keep_place: bool = False) -> None:
        """Show these rows; from the top, unless `keep_place`: then the first row in sight stays where it is."""
        scroll, anchor = self.canvas.scroll, None
        if keep_place and self.rows:
            first = self.heights.at(scroll)
            anchor = (self._key(self.rows[first]), scroll - self.heights.tops[first])
        self.rows, self._index, self.over = rows, None, None
        self.guess()
        kept = self.position(anchor[0]) if anchor is not None else None
        if anchor is not None and kept is not None:
            if self.heights.tops[kept] + anchor[1] != scroll:
                self.canvas.go(self.heights.tops[kept] + anchor[1])
        elif not keep_place:
            self._awaited = None
            self.canvas.go(0.0)

    def position(self, key: Hashable | None) -> int | None:
        """Where the row of a key stands in the present order; None when it is not among them."""
        if key is None:
            return None
        if self._index is None:
            self._index = {self._key(row): at for at, row in enumerate(self.rows)}
        return self._index.get(key)

    def row(self, key: Hashable | None) -> T | None:
        """The row of that key, None when it is not in the list."""
        at = self.position(key)
        return self.rows[at] if at is not None else None

    @property
    def current(self) -> T | None:
        """The selected row, if it is in the list."""
        return self.row(self.selected)

    def select(self, key: Hashable | None, scroll: bool = True) -> None:
        """Mark a row (None: no one) and bring it into sight; calls nobody."""
        self.selected = key
        at = self.position(key)
        if scroll and at is not None:
            self.bring(at)
        self.canvas.renew()

    def bring(self, at: int) -> None:
        """Scroll just so far that the row at a position is in sight; as soon as the list has a size."""
        if self.canvas.tall <= 0:
            self._awaited = self._key(self.rows[at])
            return
        self.heights.measure(at - 40, at + 40)
        scroll = self.canvas.scroll
        top, bottom = self.heights.tops[at], self._foot(at) - self.canvas.tall
        wanted = min(scroll, top) if top < scroll else max(scroll, bottom)
        if wanted != scroll:
            self.canvas.go(float(min(wanted, top)))

    def press(self, key: str) -> bool:
        """Move the selection: Up, Down, Page up, Page down, Home, End; Enter opens. True when the key was used."""
        now = self.position(self.selected)
        if key == "Enter" and now is not None:
            self._tell(self._on_open, now)
            return self._on_open is not None
        target = moved_to(key, now, len(self.rows), max(1, len(self.in_sight()) - 1))
        if target is None:
            return False
        ways = [range(target, len(self.rows)), range(target, -1, -1)]
        if key in ("Up", "End"):
            ways.reverse()
        target = next((at for way in ways for at in way if not self._is_head(self.rows[at])), None)
        if target is not None:
            at = target
            while at > 0 and self._is_head(self.rows[at - 1]):
                at -= 1
            self.bring(at)  # the head of its group comes into sight with it
            self._choose(target)
        return True

    def place_of(self, key: Hashable) -> tuple[int, int]:
        """Where a row stands in the window, in pixels of the screen: a place on its first line."""
        at = self.position(key) or 0
        return self.canvas.in_window(self._look.px(PLACE[0]), self.heights.tops[at] + self._look.px(PLACE[1]))

    def in_sight(self) -> list[T]:
        """The rows that can be seen, the first one first."""
        scroll, heights = self.canvas.scroll, self.heights
        if not self.rows or self.canvas.tall <= 0:
            return []
        return list(self.rows[heights.at(scroll) : heights.at(scroll + self.canvas.tall - 1) + 1])

    def guess(self) -> None:
        """Other rows, or another width: their heights."""
        self.heights.begin(self._guesses())
        self.canvas.renew()

    def tick(self) -> bool:
        """Follow the mouse; before each frame. True when it is at another row."""
        over = self._at_mouse()
        if over is None and self.over is not None and self._stays():
            over = self.over
        if over == self.over:
            return False
        self.over = over
        if self._tip_words and self._tip is not None:
            self._tell_tip(self._tip(self.rows[over]) if over is not None else "")
        self.canvas.renew()
        return True

    def _tell_tip(self, words: str) -> None:
        """Another row is under the mouse. Where it came there by itself, no tooltip until the mouse moves on."""
        before, self._pointer = self._pointer, dpg.get_mouse_pos(local=False)
        say_hint(self._tip_words, words)
        if words and before == self._pointer:
            self._look.hush(tip_of(self._tip_words))

    def _at_mouse(self) -> int | None:
        place = self.canvas.mouse() if self.rows and self.holder else None
        if place is None or not self.heights.lead <= place[1] < self.heights.total:
            return None
        return self.heights.at(place[1])

    def _settle(self, scroll: float, tall: float) -> tuple[float, float]:
        scroll = self.heights.settle(scroll, tall, self._look.px(OVERSCAN))
        return self.heights.total, min(scroll, max(0.0, self.heights.total - tall))

    def _paint(self, pen: Pen, top: float, bottom: float) -> None:
        heights, chosen = self.heights, self.position(self.selected)
        if self.rows:
            for at in range(heights.at(top), min(heights.at(bottom) + 1, len(self.rows))):
                y, tall = heights.tops[at], heights.heights[at]
                if at in (chosen, self.over):
                    fill = "selected" if at == chosen else "hover@45"
                    pen.box(0, y, self.width, self._foot(at), fill, self._look.px(4))
                self._draw(pen, at, y, tall)
        self._place_parts()

    def _foot(self, at: int) -> int:
        """Where a row ends."""
        return self.heights.tops[at] + self.heights.heights[at]

    def _sized(self, before: tuple[int, int]) -> None:
        """Another size: the first row in sight stays there, and so does the chosen one, if it was in sight."""
        chosen, scroll = self.position(self.selected), self.canvas.scroll
        seen = chosen is not None and scroll <= self.heights.tops[chosen] < scroll + before[1]
        if before[0] != self.width:
            first = self.heights.at(scroll) if self.rows and before[0] else None
            self.heights.forget()
            self.guess()
            if first is not None:
                self.canvas.go(float(self.heights.tops[first]))
        if chosen is not None and seen:
            self.bring(chosen)
        awaited, self._awaited = self.position(self._awaited), None
        if awaited is not None:
            self.bring(awaited)

    def _clicked(self, _x: float, y: float, when: float) -> None:
        if not self.rows or not self.heights.lead <= y < self.heights.total:
            return
        at = self.heights.at(y)
        key = self._key(self.rows[at])
        double = self._last_click[0] == key and when - self._last_click[1] < DOUBLE_SECONDS
        self._last_click = (key, 0.0 if double else when)
        if double:
            self._tell(self._on_open, at)
        else:
            self._choose(at)

    def _choose(self, at: int) -> None:
        self.select(self._key(self.rows[at]))
        self._tell(self._on_select, at)

    def _tell(self, listener: Callable[[T], object] | None, at: int) -> None:
        if listener is not None:
            listener(self.rows[at])


class FlowList(Listing[FlowRow]):
    """A list of `FlowRow`. `on_action(name, row)` hears a click on one of `actions`."""

    def __init__(
        self,
        look: Look,
        *,
        actions: Sequence[RowAction] = (),
        on_select: Callable[[FlowRow], object] | None = None,
        on_open: Callable[[FlowRow], object] | None = None,
        on_action: Callable[[str, FlowRow], object] | None = None,
        aside: bool = False,
    ) -> None:
        super().__init__(look, on_select=on_select, on_open=on_open)
        self._aside, self._specs, self._on_action = aside, tuple(actions), on_action
        self._lines: dict[Hashable, tuple[Line, ...]] = {}
        self._places: tuple[tuple[int, ...], int] = ((), 0)
        self._covered: Hashable | None = None
        self._cover_height = 0

    def build(self, parent: int) -> Self:
        super().build(parent)
        self.bar = RowBar(self._look, self.holder, self._specs, self._act)
        self.overlay = over_rows(self._look, self.holder, "row-on")
        """The item that `cover` puts in the place of a row, to be filled once."""
        return self

    def leave(self, key: Hashable) -> None:
        """Choose the neighbour of a selected row that is about to go, so that the keys can go on from there."""
        at = self.position(key)
        if key == self.selected and at is not None and len(self.rows) > 1:
            self._choose(at + 1 if at + 1 < len(self.rows) else at - 1)

    def cover(self, key: Hashable, height: float) -> None:
        """Put the overlay (`self.overlay`: an editor, say) in the place of a row, `height` unscaled pixels high."""
        self._covered, self._cover_height = key, self._look.px(height)
        self.guess()
        at = self.position(key)
        if at is not None:
            self.bring(at)

    def uncover(self) -> None:
        """Take the overlay away."""
        if self._covered is not None:
            self._covered = None
            dpg.configure_item(self.overlay, show=False)
            self.guess()

    def stand_at(self, tops: Sequence[int], total: int) -> None:
        """Put each row at the height of something beside the list, in pixels of the screen, the first one first; one
        that has no room there comes below the one before it. All of it is `total` high at the least."""
        self._places = (tuple(tops), total)
        self.guess()

    def guess(self) -> None:
        super().guess()
        covered = self.position(self._covered)
        if covered is not None:
            self.heights.fix(covered, self._cover_height)
        tops, total = self._places
        if len(tops) != len(self.rows) or not tops:
            self.heights.lead = 0
            self.heights.sum_up()
            return
        self.heights.lead = top = tops[0]
        for at, until in enumerate([*tops[1:], total]):
            self.heights.fix(at, max(self._exactly(at), until - top))
            top += self.heights.heights[at]

    def _key(self, row: FlowRow) -> Hashable:
        return row.key

    def _is_head(self, row: FlowRow) -> bool:
        return row.head

    def _guesses(self) -> Sequence[int]:
        return guessed(self._look, self.rows, self.width, self._aside)

    def _name(self, at: int) -> Hashable:
        row = self.rows[at]
        return row.text, row.code, row.strong, bool(row.meta)

    def _exactly(self, at: int) -> int:
        return height_of(self._look, self.rows[at], len(self._laid(at)), self.width, self._aside)

    def _laid(self, at: int) -> tuple[Line, ...]:
        """The lines of a row."""
        name, row = self._name(at), self.rows[at]
        lines = self._lines.get(name)
        if lines is None:
            if len(self._lines) > LAID:
                self._lines.clear()
            lines = self._lines[name] = lines_of(self._look, row.drawn(), self.width, self._aside)
        return lines

    def _sized(self, before: tuple[int, int]) -> None:
        if before[0] != self.width:
            self._lines.clear()
        super()._sized(before)

    def _draw(self, pen: Pen, at: int, y: int, tall: int) -> None:
        row, lines = self.rows[at], self._laid(at)
        if row.key == self._covered:
            return
        foot = self._foot(at) - 1
        pen.line(0, foot, self.width, foot, "line")
        crowd = self.bar.width(row.can) if at == self._barred() else 0
        draw_row(self._look, pen, row.drawn(), lines, y, self.width, self._aside, crowd)

    def _foot(self, at: int) -> int:
        """Where a row ends; what comes below it may stand at a height of its own, further down."""
        own = self._exactly(at) if self.rows[at].key != self._covered else None
        return self.heights.tops[at] + own if own else super()._foot(at)

    def _barred(self) -> int | None:
        """The row that the small buttons stand at: the one under the mouse, else the chosen one."""
        return self.over if self.over is not None else self.position(self.selected)

    def _place_parts(self) -> None:
        at, heights = self._barred(), self.heights
        row = self.rows[at] if at is not None and at < len(self.rows) else None
        if row is None or at is None or row.key == self._covered:
            self.bar.show(frozenset(), 0, 0)
        else:
            self.bar.show(row.can, self.width, self._foot(at))
        covered = self.position(self._covered)
        if covered is not None:
            dpg.configure_item(self.overlay, show=True, pos=[0, heights.tops[covered]], width=self.width,
                               height=self._cover_height)  # fmt: skip
        elif self._covered is not None:  # its row is not in the list
            dpg.configure_item(self.overlay, show=False)

    def _stays(self) -> bool:
        return self.bar.is_used()

    def _act(self, name: str) -> None:
        at = self._barred()
        if at is not None and at < len(self.rows) and self._on_action is not None:
            self._on_action(name, self.rows[at])


HEIGHT, MARGIN = 24, 6


class RowBar:
    """Buttons at the lower right of a row. `on_click(name)` hears which one."""

    def __init__(
        self, look: Look, parent: int, actions: Sequence[RowAction], on_click: Callable[[str], object]
    ) -> None:
        self._look = look
        self._shown: tuple[object, ...] = (None,)
        self.item = over_rows(look, parent, "clear")
        line = look.theme(int(dpg.add_group(horizontal=True, parent=self.item)), "row-buttons")
        self.buttons = {
            one.name: Button(look, line, "", partial(on_click, one.name), icon=one.icon, kind="row-action",
                             tip=one.tip, shortcut=one.shortcut)
            for one in actions
        }  # fmt: skip

    def show(self, can: frozenset[str], right: int, bottom: int) -> None:
        """Show the buttons named in `can`, their lower right corner at a place of the content; none: hide."""
        names = can & self.buttons.keys()
        shown = (names, right, bottom, self._look.scale) if names else ()
        if shown == self._shown:
            return
        self._shown = shown
        px, wide = self._look.px, self.width(can) + self._look.px(MARGIN)
        for name, button in self.buttons.items():
            button.show(name in names)
        place = [right - wide - px(MARGIN), bottom - px(HEIGHT) - 2]
        dpg.configure_item(self.item, show=bool(names), pos=place, width=wide, height=px(HEIGHT))

    def width(self, can: frozenset[str]) -> int:
        """How wide the buttons named in `can` are together, in pixels of the screen."""
        return self._look.px(BUTTON) * len(can & self.buttons.keys())

    def is_used(self) -> bool:
        """Whether the mouse is over it. While a button is pressed, no window counts as being under the mouse."""
        held = any(dpg.is_item_active(button.item) for button in self.buttons.values())
        return held or bool(dpg.is_item_hovered(self.item))


def over_rows(look: Look, parent: int, style: str) -> int:
    """A child window that is put over the rows of a list, hidden."""
    item = int(dpg.add_child_window(parent=parent, show=False, border=False, no_scrollbar=True, pos=[0, 0]))
    return look.theme(look.window(item), style)
