"""A long list of wrapped texts: rows of different heights, some thirty of them made, however many there are.

Every row of the pool is a small child window that stands at its own place in the scrolled content; an empty item gives
the content its height. Heights come from measuring the text before it is drawn: exactly for what is in sight, by a
guess for the rest. When a guess above the first visible row proves wrong, the scroll moves along, so nothing jumps.

`Heights` says where rows stand, `Scroll` where the list does; `RowBar` holds the small buttons of one row, made once
and shown at whichever row is meant, and `Cover` is what stands in the place of a row: an editor, say.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Callable, Hashable, Sequence
from itertools import accumulate

import dearpygui.dearpygui as dpg

from gui.toolkit.flow_rows import BUTTON, FlowRow, RowAction, Slot, guessed, make_slot, measured
from gui.toolkit.keys import moved_to
from gui.toolkit.theme import Look
from gui.toolkit.widgets import Button

OVERSCAN = 3
DOUBLE_SECONDS = 0.5
SIGN = 16  # how wide an icon is


class FlowList:
    """A list of `FlowRow`. `on_select(row)` hears a click or a move by key, `on_open(row)` a double click or Enter,
    `on_action(name, row)` a click on one of `actions`; all on the interface thread."""

    def __init__(
        self,
        look: Look,
        *,
        actions: Sequence[RowAction] = (),
        on_select: Callable[[FlowRow], object] | None = None,
        on_open: Callable[[FlowRow], object] | None = None,
        on_action: Callable[[str, FlowRow], object] | None = None,
        role: str = "text",
        aside: bool = False,
    ) -> None:
        self._look, self._role, self._aside = look, role, aside
        self._specs = tuple(actions)
        self._on_select, self._on_open, self._on_action = on_select, on_open, on_action
        self.rows: Sequence[FlowRow] = ()
        self.selected: Hashable | None = None
        self.slots: list[Slot] = []
        self.holder = 0
        self._index: dict[Hashable, int] = {}
        self.heights = Heights(
            self._exactly, lambda at: (self.rows[at].text, self.rows[at].code, bool(self.rows[at].meta))
        )
        self.width = self._tall = 0
        self._hovered: int | None = None
        self._last_click: tuple[Hashable, float] = (None, 0.0)
        self._places: tuple[tuple[int, ...], int] = ((), 0)

    def build(self, parent: int, height: int = -1) -> int:
        """Make all items; once. Returns the scrolled child window."""
        look = self._look
        self.holder = look.window(int(dpg.add_child_window(parent=parent, border=False, height=height, width=-1)))
        look.theme(self.holder, "flow")
        self._scroll = Scroll(self.holder)
        for style in ("row-off", "row-over", "row-on"):
            look.theme_id(style)  # made now, so that the mouse makes no item later
        self._rest = int(dpg.add_spacer(parent=self.holder, height=1, width=1))
        clicks = look.own(int(dpg.add_handler_registry()))  # child windows hear of no click, the mouse does
        dpg.add_mouse_click_handler(dpg.mvMouseButton_Left, parent=clicks, callback=self._clicked)
        self._pool = int(dpg.add_group(parent=self.holder))
        self.bar = RowBar(look, self.holder, self._specs, self._act)
        self._cover = Cover(look, self.holder)
        look.follow(self.holder, self._fit)
        look.every_tick(self.tick)
        look.on_change(self._restyle)
        return self.holder

    # --- what is shown ---

    def set_rows(self, rows: Sequence[FlowRow], keep_place: bool = False) -> None:
        """Show these rows; from the top, unless `keep_place`: then the first row in sight stays where it is."""
        first = self.heights.at(self._scroll.at) if keep_place and self.rows else None
        anchor = None
        if first is not None:
            anchor = (self.rows[first].key, self._scroll.at - self.heights.tops[first])
        self.rows = rows
        self._index = {row.key: at for at, row in enumerate(rows)}
        self._guess()
        if anchor is not None and anchor[0] in self._index:
            self._scroll.go(self.heights.tops[self._index[anchor[0]]] + anchor[1])
        elif not keep_place:
            self._scroll.go(0.0)
        self._layout()

    def select(self, key: Hashable | None, scroll: bool = True) -> None:
        """Mark a row (None: no one) and bring it into sight; calls nobody."""
        self.selected = key
        if scroll and key in self._index:
            self.bring(self._index[key])
        self._layout()

    def row(self, key: Hashable | None) -> FlowRow | None:
        """The row of that key, None when it is not in the list."""
        at = self._index.get(key)
        return self.rows[at] if at is not None else None

    @property
    def current(self) -> FlowRow | None:
        """The selected row, if it is in the list."""
        return self.row(self.selected)

    @property
    def overlay(self) -> int:
        """The item that `cover` puts in the place of a row, to be filled once."""
        return self._cover.item

    def bring(self, at: int) -> None:
        """Scroll just so far that the row at a position is in sight."""
        if self._tall <= 0:
            return
        self.heights.measure(at - 40, at + 40)
        scroll = self._scroll.at
        top, bottom = self.heights.tops[at], self.heights.tops[at + 1] - self._tall
        wanted = min(scroll, top) if top < scroll else max(scroll, bottom)
        if wanted != scroll:
            self._scroll.go(float(min(wanted, top)))

    def press(self, key: str) -> bool:
        """Move the selection: Up, Down, Page up, Page down, Home, End; Enter opens. True when the key was used."""
        now = self._index.get(self.selected) if self.selected is not None else None
        if key == "Enter" and now is not None:
            self._tell(self._on_open, now)
            return self._on_open is not None
        page = max(1, sum(1 for slot in self.slots if slot.index is not None) - 2 * OVERSCAN - 1)
        target = moved_to(key, now, len(self.rows), page)
        if target is None:
            return False
        self._choose(target)
        return True

    def leave(self, key: Hashable) -> None:
        """Choose the neighbour of a selected row that is about to go, so that the keys can go on from there."""
        at = self._index.get(key)
        if key == self.selected and at is not None and len(self.rows) > 1:
            self._choose(at + 1 if at + 1 < len(self.rows) else at - 1)

    def cover(self, key: Hashable, height: float) -> None:
        """Put the overlay (`self.overlay`: an editor, say) in the place of a row, `height` unscaled pixels high."""
        self._cover.over(key, self._look.px(height))
        self._guess()
        at = self._index.get(key)
        if at is not None:
            self.bring(at)
        self._layout()

    def uncover(self) -> None:
        """Take the overlay away."""
        if self._cover.key is not None:
            self._cover.over(None)
            self._guess()
            self._layout()

    def slot_of(self, key: Hashable) -> Slot | None:
        """The row of the pool that shows a key now."""
        at = self._index.get(key)
        return next((slot for slot in self.slots if slot.index == at), None) if at is not None else None

    # --- heights ---

    def _guess(self) -> None:
        """Heights of all rows, guessed where they were not measured before."""
        self.heights.begin(guessed(self._look, self.rows, self.width, self._role, self._aside))
        covered = self._index.get(self._cover.key)
        if covered is not None:
            self.heights.fix(covered, self._cover.height)
        self._stand()

    def stand_at(self, tops: Sequence[int], total: int) -> None:
        """Put each row at the height of something beside the list, in pixels of the screen, the first one first; one
        that has no room there comes below the one before it. All of it is `total` high at the least."""
        self._places = (tuple(tops), total)
        self._guess()
        self._layout()

    @property
    def scroll(self) -> Scroll:
        """The scroll of the list, for whoever keeps another one beside it."""
        return self._scroll

    def _stand(self) -> None:
        tops, total = self._places
        if len(tops) != len(self.rows) or not tops:
            self.heights.lead = 0
            self.heights.sum_up()
            return
        self.heights.lead = top = tops[0]
        for at, until in enumerate([*tops[1:], total]):
            own = self._exactly(at) or self.heights.heights[at]
            self.heights.fix(at, max(own, until - top))
            top += self.heights.heights[at]

    def _exactly(self, at: int) -> int | None:
        return measured(self._look, self.rows[at], self.width, self._role, self._aside)

    def _layout(self) -> None:
        """Put the rows in sight into their places; makes no item unless the window has grown."""
        if self.width <= 0 or self._tall <= 0:
            return
        heights = self.heights
        for _ in range(TRIES):
            scroll = self._scroll.at
            first = heights.at(scroll)
            offset = scroll - heights.tops[first]
            start, end = heights.window(scroll, self._tall, OVERSCAN)
            if not heights.measure(start, end):
                break
            if heights.tops[first] + offset != scroll:
                self._scroll.go(heights.tops[first] + offset)
        if end - start > len(self.slots):
            number = end - start + 2 * OVERSCAN - len(self.slots)
            self.slots += [make_slot(self._look, self._pool, self._role, self._aside) for _ in range(number)]
        dpg.configure_item(self._rest, height=max(1, heights.total))
        for slot in self.slots:
            slot.index = None
        covered = self._index.get(self._cover.key)
        for at in range(start, end):
            slot = self.slots[at % len(self.slots)]
            slot.index = at
            row = self.rows[at] if at != covered else FlowRow(self.rows[at].key, "")
            slot.fill(self._look, row, (heights.tops[at], heights.heights[at], self.width))
        for slot in self.slots:
            if slot.index is None:
                slot.hide()
        self._cover.put(heights.tops[covered] if covered is not None else None, self.width)
        self._mark()

    # --- mouse and marks ---

    def tick(self) -> bool:
        """Follow the scroll and the mouse; before each frame. True when something moved."""
        if self.width <= 0:
            return False
        unread = any(slot.index is not None and slot.row is None for slot in self.slots)  # its fonts were not there yet
        moved = self._scroll.tick() or unread
        if moved:
            self._layout()
        over = self._under_mouse()
        if over is None and self._hovered is not None and self.bar.is_used():
            over = self._hovered
        if over != self._hovered:
            self._hovered = over
            self._mark()
            moved = True
        return moved

    def _mark(self) -> None:
        """Show which row is selected and which is under the mouse, and the buttons at one of them."""
        chosen = self._index.get(self.selected) if self.selected is not None else None
        for slot in self.slots:
            if slot.index is not None:
                on, over = slot.index == chosen, slot.index == self._hovered
                self._look.theme(slot.item, "row-on" if on else "row-over" if over else "row-off")
        at = self._hovered if self._hovered is not None else chosen
        here = next((one for one in self.slots if one.index == at), None) if at is not None else None
        row = self.rows[at] if at is not None and at < len(self.rows) else None
        if row is not None and row.key == self._cover.key:
            row = None
        for slot in self.slots:
            slot.crowd(self._look, self.bar.width(row.can) if slot is here and row is not None else 0)
        if here is None or row is None:
            self.bar.hide()
        else:
            self.bar.show(row.can, self.width, here.place[0] + here.place[1])

    def _fit(self, width: float, height: float) -> None:
        """Another size: the first row in sight stays there, and so does the chosen one, if it was in sight."""
        chosen, scroll = self._index.get(self.selected), self._scroll.at
        seen = chosen is not None and scroll <= self.heights.tops[chosen] < scroll + self._tall
        self._tall = int(height)
        if int(width) != self.width:
            first = self.heights.at(scroll) if self.rows and self.width > 0 else None
            self.width = int(width)
            self.heights.forget()
            self.bar.fit(self.width)
            self._guess()
            if first is not None:
                self._scroll.go(float(self.heights.tops[first]))
        if chosen is not None and seen:
            self.bring(chosen)
        self._layout()

    def _restyle(self) -> None:
        """After a change of palette or scale: everything is measured again."""
        self.heights.forget()
        for slot in self.slots:
            slot.restyle()
        self._guess()
        self.bar.forget()
        self._layout()

    # --- what Dear PyGui calls, perhaps on its own thread: it only posts ---

    def _clicked(self) -> None:
        self._look.jobs.post(self._pointed, time.monotonic())

    def _pointed(self, when: float) -> None:
        at = self._under_mouse()
        if at is None or at >= len(self.rows):
            return
        key = self.rows[at].key
        double = self._last_click[0] == key and when - self._last_click[1] < DOUBLE_SECONDS
        self._last_click = (key, 0.0 if double else when)
        if double:
            self._tell(self._on_open, at)
        else:
            self._choose(at)

    def _under_mouse(self) -> int | None:
        shown = (slot for slot in self.slots if slot.index is not None)
        return next((slot.index for slot in shown if dpg.is_item_hovered(slot.item)), None)

    def _choose(self, at: int) -> None:
        self.select(self.rows[at].key)
        self._tell(self._on_select, at)

    def _tell(self, listener: Callable[[FlowRow], object] | None, at: int) -> None:
        if listener is not None:
            listener(self.rows[at])

    def _act(self, name: str) -> None:
        at = self._hovered if self._hovered is not None else self._index.get(self.selected)
        if at is not None and at < len(self.rows) and self._on_action is not None:
            self._on_action(name, self.rows[at])


class Heights:
    """Heights of rows and their tops, in whole pixels.

    `begin` takes a guess for every row; `measure` replaces guesses by what `exactly(at)` says (None: it cannot be
    measured yet). What was measured once is remembered by `name(at)`, so that rows which come back need no guess.
    """

    def __init__(self, exactly: Callable[[int], int | None], name: Callable[[int], Hashable]) -> None:
        self._exactly, self._name = exactly, name
        self.heights: list[int] = []
        self.tops: list[int] = [0]
        self.lead = 0  # what is empty above the first row
        self._exact: set[int] = set()
        self._known: dict[Hashable, int] = {}

    def __len__(self) -> int:
        return len(self.heights)

    @property
    def total(self) -> int:
        """The height of all rows together."""
        return self.tops[-1]

    def forget(self) -> None:
        """Everything has another width now: nothing that was measured holds."""
        self._known.clear()

    def begin(self, guesses: Sequence[int]) -> None:
        """Other rows. A height that is remembered is taken before its guess."""
        self._exact.clear()
        self.heights = list(guesses)
        if self._known:
            for at in range(len(self.heights)):
                known = self._known.get(self._name(at))
                if known is not None:
                    self.heights[at] = known
                    self._exact.add(at)
        self.sum_up()

    def fix(self, at: int, height: int) -> None:
        """Give one row a height that is not measured, until `begin`."""
        self._exact.add(at)
        self.heights[at] = height
        self.sum_up()

    def measure(self, start: int, end: int) -> bool:
        """Exact heights for the rows from `start` to before `end`; true when a guess among them was wrong."""
        changed = False
        for at in range(max(0, start), min(end, len(self.heights))):
            if at in self._exact:
                continue
            height = self._exactly(at)
            if height is None:
                break
            self._exact.add(at)
            self._known[self._name(at)] = height
            if height != self.heights[at]:
                self.heights[at] = height
                changed = True
        if changed:
            self.sum_up()
        return changed

    def at(self, y: float) -> int:
        """The row that stands at a height, the first or the last one beyond the ends; 0 when there is none."""
        return max(0, min(bisect_right(self.tops, y) - 1, len(self.heights) - 1))

    def window(self, scroll: float, tall: float, more: int) -> tuple[int, int]:
        """The rows in sight, with `more` on both sides: from the first to before the second number."""
        if not self.heights:
            return 0, 0
        return max(0, self.at(scroll) - more), min(len(self.heights), self.at(scroll + tall) + 1 + more)

    def sum_up(self) -> None:
        """The tops, of heights that have changed."""
        self.tops = list(accumulate(self.heights, initial=self.lead))


HEIGHT, MARGIN = 24, 6


class RowBar:
    """Buttons at the lower right of a row. `on_click(name)` hears which one."""

    def __init__(
        self, look: Look, parent: int, actions: Sequence[RowAction], on_click: Callable[[str], object]
    ) -> None:
        self._look = look
        self._labels = {action.name: action.label for action in actions}
        self._bare = {action.name for action in actions if not action.icon}
        self._shown: tuple[object, ...] = ()
        self._room = 0
        self.item = look.window(
            int(dpg.add_child_window(parent=parent, show=False, border=False, no_scrollbar=True, pos=[0, 0]))
        )
        look.theme(self.item, "clear")
        line = look.theme(int(dpg.add_group(horizontal=True, parent=self.item)), "row-buttons")
        self.buttons = {
            action.name: Button(
                look,
                line,
                action.label,
                lambda name=action.name: on_click(name),  # type: ignore[misc]
                icon=action.icon,
                kind="row-action",
                tip=action.tip,
                shortcut=action.shortcut,
            )
            for action in actions
        }

    def show(self, can: frozenset[str], right: int, bottom: int) -> None:
        """Show the buttons named in `can`, their lower right corner at a place of the content; none: hide."""
        names = tuple(name for name in self._labels if name in can)
        shown: tuple[object, ...] = (names, right, bottom) if names else ()
        if shown == self._shown:
            return
        self._shown = shown
        if not names:
            dpg.configure_item(self.item, show=False)
            return
        px, labelled = self._look.px, self._labelled(can)
        for name, button in self.buttons.items():
            button.show(name in names)
            button.words(labelled)
        wide = self.width(can) + px(MARGIN)
        place = [right - wide - px(MARGIN), bottom - px(HEIGHT) - 2]
        dpg.configure_item(self.item, show=True, pos=place, width=wide, height=px(HEIGHT))

    def fit(self, room: int) -> None:
        """A row is so wide, in pixels of the screen: buttons that would not fit with their words keep their icons."""
        self._room = room

    def _labelled(self, can: frozenset[str]) -> bool:
        return not self._room or self._long(can, True) + 3 * self._look.px(MARGIN) <= self._room

    def width(self, can: frozenset[str]) -> int:
        """How wide the buttons named in `can` are together, in pixels of the screen."""
        return self._long(can, self._labelled(can))

    def _long(self, can: frozenset[str], labelled: bool) -> int:
        look, wide = self._look, 0
        for name, label in self._labels.items():
            if name in can:
                label = label if labelled or name in self._bare else ""
                beside = "" if name in self._bare else "  "  # of the icon
                words = dpg.get_text_size(beside + label, font=look.font_id("text")) if label else None
                wide += look.px(BUTTON - (SIGN if name in self._bare else 0)) + (int(words[0]) if words else 0)
        return wide

    def hide(self) -> None:
        """Show nothing."""
        self.show(frozenset(), 0, 0)

    def forget(self) -> None:
        """Let the next `show` set everything again, after a change of scale."""
        self._shown = (None,)

    def is_used(self) -> bool:
        """Whether the mouse is over it. While a button is pressed, no window counts as being under the mouse."""
        held = any(dpg.is_item_active(button.item) for button in self.buttons.values())
        return held or bool(dpg.is_item_hovered(self.item))


class Cover:
    """A child window over the row `key` (None: over no one), `height` pixels of the screen high."""

    def __init__(self, look: Look, parent: int) -> None:
        self.key: Hashable | None = None
        self.height = 0
        self.item = look.window(
            int(dpg.add_child_window(parent=parent, show=False, border=False, no_scrollbar=True, pos=[0, 0]))
        )
        look.theme(self.item, "row-on")

    def over(self, key: Hashable | None, height: int = 0) -> None:
        """Cover another row, or none."""
        self.key, self.height = key, height
        if key is None:
            dpg.configure_item(self.item, show=False)

    def put(self, top: int | None, width: int) -> None:
        """Its place among the rows; None while its row is not in the list."""
        if top is not None:
            dpg.configure_item(self.item, show=True, pos=[0, top], width=width, height=self.height)
        elif self.key is not None:
            dpg.configure_item(self.item, show=False)


TRIES = 5


class Scroll:
    """The scroll of a child window. Dear PyGui takes another one over with the next frame, and only as far as the
    content reaches by then: it is asked for again until it is so, `TRIES` times."""

    def __init__(self, item: int) -> None:
        self._item = item
        self._seen = -1.0
        self._wanted: tuple[float, int] | None = None  # what was asked for, and how often still

    @property
    def at(self) -> float:
        """Where it stands, or will stand with the next frame; pixels of the screen."""
        return self._wanted[0] if self._wanted is not None else float(dpg.get_y_scroll(self._item))

    def go(self, to: float) -> None:
        """Bring it elsewhere."""
        self._wanted = (max(0.0, to), TRIES)
        dpg.set_y_scroll(self._item, max(0.0, to))

    def tick(self) -> bool:
        """Before each frame; true when it moved, has to be asked for again, or stands elsewhere than was asked for."""
        now, elsewhere = float(dpg.get_y_scroll(self._item)), False
        if self._wanted is not None:
            wanted, tries = self._wanted
            elsewhere = now != wanted
            self._wanted = (wanted, tries - 1) if tries > 0 and abs(now - wanted) > 1 else None
            if self._wanted is not None:
                dpg.set_y_scroll(self._item, wanted)
        moved, self._seen = now != self._seen or elsewhere, now
        return moved
