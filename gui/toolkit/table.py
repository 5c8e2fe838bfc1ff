"""The big table: about forty rows that are filled again while the user scrolls over a hundred thousand.

Dear PyGui's own clipper needs an item for every cell. Here a pool of rows stands between two empty rows that are as
tall as everything above and below; sorting and filtering exchange a list of indexes and never touch an item.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import dearpygui.dearpygui as dpg

from gui.toolkit.keys import MOUSE, moved_to
from gui.toolkit.letters import LETTERS, Wide, cut
from gui.toolkit.theme import Look
from gui.toolkit.widgets import hint, say_hint

Cell = str | tuple[str, str]  # a text, or a text and the name of its colour


@dataclass(frozen=True)
class Column:
    """One column. `width` in unscaled pixels, 0 shares what is left by `weight`.

    `role` is the font. `chars` > 0 sets text to the right, in so many letters of the mono font. `color` is for cells
    that bring none. A table narrower than `least` unscaled pixels leaves the column out. `descending_first` is for
    sizes and ages; `sorted_first` marks the one column that the rows are sorted by at the beginning.
    """

    key: str
    title: str
    width: float = 0
    weight: float = 1.0
    role: str = "text"
    chars: int = 0
    color: str = "text"
    sortable: bool = True
    descending_first: bool = False
    sorted_first: bool = False
    least: float = 0

    def shown(self, cell: Cell) -> tuple[str, str]:
        """Text and colour as they are drawn: one line, set to the right where the column wants it."""
        words, color = (cell, self.color) if isinstance(cell, str) else cell
        if "\n" in words or "\0" in words:  # a foreign name must not make a row taller than the others
            words = words.replace("\n", " ").replace("\0", " ")
        return words.rjust(self.chars) if self.chars else words, color


MONO_LOWER = 2  # the small letters of figures stand on the line of the others


@dataclass(frozen=True)
class PoolRow:
    """One row on the screen: the table's row, what hears the mouse, one text a column, the text of its tooltip or 0."""

    item: int
    selectable: int
    texts: tuple[int, ...]
    tip: int = 0


def make_table(
    look: Look, parent: int, columns: Sequence[Column], on_sort: Callable[..., object]
) -> tuple[int, dict[int, Column]]:
    """The table without rows, and its columns by their items."""
    table = int(
        dpg.add_table(
            parent=parent, height=-1, header_row=True, freeze_rows=1, scrollY=True, sortable=True,
            sort_tristate=True, hideable=True, borders_innerH=True, borders_innerV=True, pad_outerX=True,
            policy=dpg.mvTable_SizingStretchProp, no_saved_settings=True, callback=on_sort,
        )
    )  # fmt: skip
    look.theme(table, "table")
    made: dict[int, Column] = {}
    for column in columns:
        item = int(
            dpg.add_table_column(
                parent=table,
                label=column.title,
                width_fixed=column.width > 0,
                width_stretch=column.width <= 0,
                init_width_or_weight=look.px(column.width) or column.weight,
                no_sort=not column.sortable,
                default_sort=column.sorted_first,
                prefer_sort_descending=column.descending_first,
                prefer_sort_ascending=not column.descending_first,
            )
        )
        made[item] = column
    return table, made


def make_row(
    look: Look, table: int, before: int, columns: Sequence[Column], slot: int, clicked: Any, clicks: int, tipped: bool
) -> PoolRow:
    """One hidden row in front of the item `before`; `clicks` is the registry of its other mouse buttons."""
    row = int(dpg.add_table_row(parent=table, before=before, show=False))
    texts: list[int] = []
    selectable = 0
    for number, column in enumerate(columns):
        parent = row
        if number == 0:
            parent = int(dpg.add_group(parent=row, horizontal=True, horizontal_spacing=0.01))
            selectable = int(dpg.add_selectable(parent=parent, span_columns=True, callback=clicked, user_data=slot))
            dpg.bind_item_handler_registry(selectable, clicks)
        elif column.role == "mono":
            parent = look.theme(int(dpg.add_group(parent=row)), "no-gap")
            look.size(int(dpg.add_spacer(parent=parent)), height=MONO_LOWER)
        item = int(dpg.add_text("", parent=parent))
        if column.role != "text":
            look.font(item, column.role)
        texts.append(item)
    tip = 0
    if tipped:
        tip = hint(look, selectable, "")
    return PoolRow(row, selectable, tuple(texts), tip)


LOOKS = 4  # frames between two looks for a row in sight


class Pool:
    """Rows with what each of them shows. `make(slot)` makes one more, hidden; `cell(row, column)` and `tip(row)` are
    those of the table."""

    def __init__(
        self,
        look: Look,
        columns: Sequence[Column],
        make: Callable[[int], PoolRow],
        cell: Callable[[int, int], Cell],
        tip: Callable[[int], str] | None,
    ) -> None:
        self._look, self._columns, self._make, self._cell, self._tip = look, columns, make, cell, tip
        self._rows: list[PoolRow] = []
        self._shown: list[list[tuple[str, str] | None]] = []  # text and colour of every cell; empty: the row is hidden
        self._rooms: dict[int, int] = {}  # how wide the cells of a column are, by its number
        self._wide: list[Wide | None] = [None] * len(columns)
        self._seen: PoolRow | None = None  # a row that was in sight
        self._looked = -1
        self._index: dict[int, int | None] = {}  # slot -> what it shows

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[PoolRow]:
        return iter(self._rows)

    def __getitem__(self, slot: int) -> PoolRow:
        return self._rows[slot]

    def grow(self, count: int) -> None:
        """Make rows until there are so many."""
        for slot in range(len(self._rows), count):
            self._rows.append(self._make(slot))
            self._shown.append([])

    def fill(self, slot: int, index: int | None) -> None:
        """Show a row of the caller's data, or none; changes only what differs."""
        row, shown = self._rows[slot], self._shown[slot]
        other, changed = self._index.get(slot) != index, False
        self._index[slot] = index
        if other and row.tip and dpg.is_item_hovered(row.selectable):
            tooltip = dpg.get_item_parent(dpg.get_item_parent(row.tip) or 0) or 0
            self._look.hush(int(tooltip))  # it is of the row that was under the mouse
        if index is None:
            if shown:
                self._shown[slot] = []
                dpg.configure_item(row.item, show=False)
            return
        if not shown:
            shown = self._shown[slot] = [None] * len(self._columns)
            dpg.configure_item(row.item, show=True)
        for number, column in enumerate(self._columns):
            words, color = column.shown(self._cell(index, number))
            before = shown[number]
            if before == (words, color):
                continue
            if before is None or before[0] != words:
                dpg.set_value(row.texts[number], self._cut(number, words))
            if before is None or before[1] != color:
                dpg.configure_item(row.texts[number], color=self._look.rgba(color))
            shown[number], changed = (words, color), True
        if self._tip is not None and (other or changed):
            say_hint(row.tip, self._tip(index))

    def _cut(self, number: int, words: str) -> str:
        """What fits into a column of the words of a cell; figures are never cut."""
        room, wide = self._rooms.get(number), self._wide[number]
        if room is None or wide is None or self._columns[number].chars:
            return words
        return cut(words, room, wide)

    def measure(self) -> bool:
        """Take the widths of the columns from the screen; true when one has changed and the cells must be cut again."""
        row = self._seen
        if row is None or not dpg.get_item_state(row.texts[0]).get("visible"):
            self._looked += 1
            if self._looked % LOOKS:  # a table out of sight must cost nothing
                return False
            row = self._seen = next(
                (one for one in self._rows if dpg.get_item_state(one.texts[0]).get("visible")), None
            )
            if row is None:
                return False
        states = [dpg.get_item_state(item) for item in row.texts]
        rooms = {at: int(state["content_region_avail"][0]) for at, state in enumerate(states)
                 if (at or not self._columns[0].width) and state.get("visible")}  # fmt: skip
        if rooms == self._rooms:
            return False
        self._rooms = rooms
        self._wide = [LETTERS.wide(self._look.font_id(column.role)) for column in self._columns]
        self.forget()
        return True

    def forget(self) -> None:
        """Set every text and colour again at the next `fill`, after a change of palette."""
        self._shown = [[None] * len(self._columns) if shown else [] for shown in self._shown]

    def pitch(self) -> float:
        """The height of a row, from two neighbours on the screen; 0.0 while there are none."""
        for row, below in zip(self._rows, self._rows[1:], strict=False):
            one, other = dpg.get_item_state(row.texts[0]), dpg.get_item_state(below.texts[0])
            if one.get("visible") and other.get("visible"):
                return float(max(0.0, other["rect_min"][1] - one["rect_min"][1]))
        return 0.0


OVERSCAN = 6  # rows kept ready above and below what is seen
FIRST_POOL = 40


class BigTable:
    """A table over rows that somebody else keeps.

    `cell(row, column)` gives what stands in row `row` (an index of the caller's data) and column `column` (a number):
    a text, or a text and a colour. `set_rows` says which rows are shown and in what order. `on_select(row)` hears a
    click or a move by key, `on_open(row)` a double click or Enter, `on_context(row)` a right click,
    `on_sort(key, descending)` a click on a header; all on the interface thread. `tip(row)` is what a tooltip says of a
    row.
    """

    def __init__(
        self,
        look: Look,
        columns: Sequence[Column],
        cell: Callable[[int, int], Cell],
        *,
        on_select: Callable[[int], object] | None = None,
        on_open: Callable[[int], object] | None = None,
        on_context: Callable[[int], object] | None = None,
        on_sort: Callable[[str, bool], object] | None = None,
        tip: Callable[[int], str] | None = None,
    ) -> None:
        self._look, self.columns, self._tip = look, tuple(columns), tip
        self._on = {"select": on_select, "open": on_open, "context": on_context}
        self._on_sort = on_sort
        self.rows: Sequence[int] = ()
        self.selected: int | None = None  # an index of the caller's data
        first = next((column for column in self.columns if column.sorted_first), None)
        self.sort: tuple[str, bool] | None = (first.key, first.descending_first) if first else None
        self.first = 0  # position of the first row of the pool in `rows`
        self.pitch = 28.0
        self.item = self.holder = 0
        self._tall = self._wide = 0.0
        self._pool = Pool(look, self.columns, self._make_row, cell, tip)
        self._left_out: frozenset[str] = frozenset()
        self._scale = look.scale
        self._lit: int | None = None
        self._scroll = -1.0
        self._heights = (-1, -1)
        self._wanted_scroll: float | None = None
        self._position: dict[int, int] | None = None

    def build(self, parent: int, height: int = -1) -> int:
        """Make all items; once. Returns the table's item."""
        look = self._look
        # A table does not tell its size; the child window around it does.
        self.holder = look.window(
            int(dpg.add_child_window(parent=parent, border=False, height=height, no_scrollbar=True))
        )
        look.theme(self.holder, "clear")
        look.follow(self.holder, self._fit)
        self.item, self._column_items = make_table(look, self.holder, self.columns, self._sorted)
        self._clicks = look.own(int(dpg.add_item_handler_registry()))
        dpg.add_item_double_clicked_handler(dpg.mvMouseButton_Left, parent=self._clicks, callback=self._double)
        dpg.add_item_clicked_handler(dpg.mvMouseButton_Right, parent=self._clicks, callback=self._right)
        self._above = int(dpg.add_table_row(parent=self.item, height=0, show=False))
        self._below = int(dpg.add_table_row(parent=self.item, height=0, show=False))
        self._pool.grow(FIRST_POOL)
        look.every_tick(self.tick)
        look.on_change(self._restyle)
        return self.item

    def set_rows(self, rows: Sequence[int], keep_place: bool = False) -> None:
        """Show these rows (indexes of the caller's data) in this order; from the top, unless `keep_place`."""
        self.rows = rows
        self._position = None
        self._wanted_scroll = None if keep_place else 0.0
        if not keep_place:
            dpg.set_y_scroll(self.item, 0.0)
            self.first = 0
        self.refresh()

    def leave_out(self, keys: Collection[str]) -> None:
        """Show no column of these keys."""
        if frozenset(keys) != self._left_out:
            self._left_out = frozenset(keys)
            self._fit_columns()

    def _fit_columns(self) -> None:
        for item, column in self._column_items.items():
            there = column.key not in self._left_out and self._wide >= self._look.px(column.least)
            dpg.configure_item(item, show=there)

    def refresh(self) -> None:
        """Ask for the visible cells again; makes no item and changes only what differs."""
        pool, count = len(self._pool), len(self.rows)
        self.first = max(0, min(self.first, count - pool))
        self._lengths(count)
        light: int | None = None
        for slot in range(pool):
            position = self.first + slot
            index = self.rows[position] if position < count else None
            if index is not None and index == self.selected:
                light = slot
            self._pool.fill(slot, index)
        self._light(light)

    def select(self, row: int | None, scroll: bool = True) -> None:
        """Mark a row of the caller's data (None: no one), and bring it into view; calls nobody."""
        self.selected = row
        position = self.position(row)
        if scroll and position is not None:
            self._bring(position)
        self.refresh()

    def position(self, row: int | None) -> int | None:
        """Where a row of the caller's data stands in the present order; None when it is filtered out."""
        if row is None:
            return None
        if self._position is None:
            self._position = {index: place for place, index in enumerate(self.rows)}
        return self._position.get(row)

    def press(self, key: str) -> bool:
        """Move the selection: Up, Down, Page up, Page down, Home, End; Enter opens. True when the key was used."""
        now = self.position(self.selected)
        if key == "Enter" and self.selected is not None:
            if now is not None:  # one that is filtered away is not opened
                self._tell("open", self.selected)
            return now is not None
        page = max(1, self.visible_rows() - 1)
        target = moved_to(key, now, len(self.rows), page)
        if target is None:
            return False
        self._choose(self.rows[target])
        return True

    def place_of(self, row: int) -> tuple[float, float] | None:
        """Where the first words of a row of the caller's data stand in the window; None while they are out of sight."""
        at = self.position(row)
        slot = at - self.first if at is not None else -1
        there = [at for at, one in enumerate(self.columns) if one.title and one.key not in self._left_out]
        cell = there[0] if there else 0
        if not 0 <= slot < len(self._pool) or not dpg.get_item_state(self._pool[slot].texts[cell]).get("visible"):
            return None
        left, top = dpg.get_item_rect_min(self._pool[slot].texts[cell])
        return left + self._look.px(24), top + self._look.px(20)

    def visible_rows(self) -> int:
        """How many whole rows are in sight."""
        tall = self._tall - self.pitch  # the header is one row
        return max(1, int(tall // self.pitch)) if tall > 0 else 20

    def tick(self) -> bool:
        """Follow the scroll bar, the wheel and the height; before each frame. True when rows were filled again."""
        if not self.item or not dpg.get_item_state(self.item).get("visible", True):
            return False  # a view that is not open costs nothing
        self._measure()
        # Its rows scroll in a window that Dear PyGui tells nothing of: after a click there the holder has the keyboard.
        if any(map(dpg.is_mouse_button_released, MOUSE)) and any(map(dpg.is_item_hovered, self._column_items)):
            dpg.focus_item(self.holder)
        needed = self.visible_rows() + 2 * OVERSCAN
        if needed > len(self._pool) < len(self.rows):
            self._pool.grow(needed)
            self.refresh()
        scroll = dpg.get_y_scroll(self.item)
        if self._wanted_scroll is not None:
            if abs(scroll - self._wanted_scroll) > 1:
                scroll = self._wanted_scroll
            self._wanted_scroll = None
        if scroll == self._scroll:
            return False
        self._scroll = scroll
        first = int(scroll // self.pitch)
        if self.first <= max(0, first - 1) and first + self.visible_rows() + 1 <= self.first + len(self._pool):
            return False
        self.first = max(0, first - (len(self._pool) - self.visible_rows()) // 2)
        self.refresh()
        return True

    def _fit(self, width: float, height: float) -> None:
        self._wide = width
        self._fit_columns()
        self._tall = height
        self._scroll = -1.0

    def _measure(self) -> None:
        """Take the height of a row, and the widths of columns, from the screen."""
        if self._pool.measure():
            self.refresh()
        pitch = self._pool.pitch()
        if pitch > 0 and pitch != self.pitch:
            self.pitch = pitch
            self._lengths(len(self.rows))

    def _make_row(self, slot: int) -> PoolRow:
        """One more row of the pool, before the lower empty row."""
        return make_row(
            self._look, self.item, self._below, self.columns, slot, self._clicked, self._clicks, self._tip is not None
        )

    def _lengths(self, count: int) -> None:
        """Make the empty rows as tall as what they stand for."""
        above = round(self.first * self.pitch)
        below = round(max(0, count - self.first - len(self._pool)) * self.pitch)
        if (above, below) != self._heights:
            self._heights = (above, below)
            dpg.configure_item(self._above, height=above, show=above > 0)
            dpg.configure_item(self._below, height=below, show=below > 0)

    def _light(self, slot: int | None) -> None:
        """Put the colour of the selection behind one row of the pool."""
        if slot == self._lit:
            return
        if self._lit is not None:
            dpg.unhighlight_table_row(self.item, self._lit + 1)
        if slot is not None:
            dpg.highlight_table_row(self.item, slot + 1, self._look.rgba("selected"))
        self._lit = slot

    def _bring(self, position: int) -> None:
        """Scroll just so far that a position is in sight."""
        scroll = dpg.get_y_scroll(self.item) if self._wanted_scroll is None else self._wanted_scroll
        seen = self.visible_rows()
        top, bottom = position * self.pitch, (position + 1 - seen) * self.pitch
        wanted = min(scroll, top) if top < scroll else max(scroll, bottom)
        if wanted != scroll:
            dpg.set_y_scroll(self.item, wanted)
            self._wanted_scroll = wanted
        first = int(wanted // self.pitch)
        if not (self.first <= first and first + seen < self.first + len(self._pool)):
            self.first = max(0, first - (len(self._pool) - seen) // 2)

    def _restyle(self) -> None:
        """After a change of palette or scale: all colours and columns again, and the height of a row by measure."""
        if self._scale != self._look.scale:
            self._resize()
        self._pool.forget()
        lit, self._lit = self._lit, None
        if lit is not None:
            dpg.unhighlight_table_row(self.item, lit + 1)
        self.refresh()

    def _resize(self) -> None:
        """Other widths for the columns, and the same rows in sight. A table takes the widths of its columns once, when
        it is new; under another label it is new, and sorted as it was."""
        ratio, self._scale = self._look.scale / self._scale, self._look.scale
        for item, column in self._column_items.items():
            now = self.sort if self.sort is not None and self.sort[0] == column.key else None
            down = now[1] if now else column.descending_first
            dpg.configure_item(
                item, init_width_or_weight=self._look.px(column.width) or column.weight, default_sort=now is not None,
                prefer_sort_descending=down, prefer_sort_ascending=not down,
            )  # fmt: skip
        scroll = dpg.get_y_scroll(self.item) * ratio
        dpg.configure_item(self.item, label=f"at {self._scale}")
        dpg.set_y_scroll(self.item, scroll)
        self._wanted_scroll = scroll

    # What Dear PyGui calls, perhaps on its own thread: it only posts.

    def _clicked(self, sender: int, _value: bool, slot: int) -> None:
        self._look.jobs.post(self._pick, sender, slot)

    def _double(self, _sender: int, what: Any) -> None:
        self._look.jobs.post(self._pointed, "open", what[1])

    def _right(self, _sender: int, what: Any) -> None:
        self._look.jobs.post(self._pointed, "context", what[1])

    def _sorted(self, _sender: int, specs: Any) -> None:
        self._look.jobs.post(self._sort, specs)

    def _pick(self, selectable: int, slot: int) -> None:
        dpg.set_value(selectable, False)  # the highlight is ours: the item moves under other rows
        position = self.first + slot
        if position < len(self.rows):
            self._choose(self.rows[position])

    def _pointed(self, what: str, selectable: int) -> None:
        slot = next((number for number, row in enumerate(self._pool) if row.selectable == selectable), None)
        if slot is not None and self.first + slot < len(self.rows):
            row = self.rows[self.first + slot]
            if what == "context" and row != self.selected:
                self._choose(row)
            self._tell(what, row)

    def _choose(self, row: int) -> None:
        self.select(row)
        self._tell("select", row)

    def _tell(self, what: str, row: int) -> None:
        listener = self._on[what]
        if listener is not None:
            listener(row)

    def _sort(self, specs: Any) -> None:
        column = self._column_items.get(specs[0][0]) if specs else None
        sort = (column.key, specs[0][1] < 0) if column else None
        if sort == self.sort:  # the first frame tells the order that is there already
            return
        self.sort = sort
        if self._on_sort is not None:
            self._on_sort(*(self.sort or ("", False)))
