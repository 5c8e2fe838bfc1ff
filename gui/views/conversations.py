"""The view of the conversations: what became of each, over a strip of the last year; filtered by weeks and by chips,
sorted by any column. At its left, what a harvest reads.

First the entries as rows that can be filtered and sorted, as plain functions, fit for a hundred thousand; then the
view.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import dearpygui.dearpygui as dpg

from core.base.result import Ok, Result
from core.commands.history.ledger import LedgerRow
from core.commands.history.trash import trash_restore
from core.commands.panel.titles import Called, FirstRows, called
from core.knowledge.run_state import INTERRUPTED, RunState
from gui.shell import GATHER, Shell
from gui.state import Selection, State
from gui.toolkit.columns import Cell, Column, remembered_widths, remembering
from gui.toolkit.dialogs import Menu, MenuRow
from gui.toolkit.icons import icon
from gui.toolkit.layout import ChipRow, box
from gui.toolkit.messages import EmptyState
from gui.toolkit.table import BigTable
from gui.toolkit.theme import Look
from gui.toolkit.typeset import lettered
from gui.toolkit.widgets import Button
from gui.views.list_view import SIDEWAYS, FilteredView, beside
from gui.views.looks import (
    OTHER,
    STATUSES,
    capital,
    day_words,
    joined,
    plain_name,
    seconds_of,
    short_folder,
    since,
    tile,
)
from gui.views.sources import SourcesColumn
from gui.views.strip import Strip

NAMELESS: Mapping[str, Called] = {}

COLUMNS = (
    Column("status", "", 26),
    Column("tool", "", 30, color="hint", role="mono", least=400),
    Column("name", "Conversation", 0, 3.4),
    Column("project", "Project", 0, 1.0, color="muted", least=560),
    Column("why", "Why", 0, 5.0, color="muted", sortable=False),
    Column("items", "Bullets", 66, role="mono", chars=5, descending_first=True),
    Column("place", "Where", 68, color="muted", least=700),
    Column("model", "Read by", 116, color="muted", least=820),
    Column("day", "Day", 66, color="hint", descending_first=True, least=640),
    Column("when", "When", 66, role="mono", chars=6, color="hint", descending_first=True, sorted_first=True, least=340),
)
SAME = ("tool", "project", "items", "place", "model")
"""Columns that are left out while they say the same on every row."""
UNREAD = frozenset({"harvest-failed", "too-large"})
"""Statuses that have a reason; it stands in the table while only they are shown, in the place of `READ_BY`."""
READ_BY = frozenset({"items", "place", "model", "project", "day"})


@dataclass(frozen=True)
class Row:
    """One entry as the table shows it. `items` is -1 where nothing was harvested, and `held` of them are held back, not
    written; `when` in seconds since 1970, `day` that of the conversation."""

    key: str
    status: str
    name: str
    project: str
    items: int
    place: str
    model: str
    when: float
    path: str = ""
    error: str = ""
    held: int = 0
    tool: str = ""
    day: str = ""
    file: str = ""


@dataclass(frozen=True)
class Wish:
    """What the user wants to see: statuses (none: all), days from `first` to `last` (ISO dates, "" for all), and an
    order."""

    statuses: frozenset[str] = frozenset()
    first: str = ""
    last: str = ""
    sort: str = "when"
    descending: bool = True


def row_of(key: str, entry: Mapping[str, Any], names: Mapping[str, Called] = NAMELESS) -> Row:
    """One entry of the ledger as a row. Foreign values in it show as nothing, and break nothing."""
    path = str(entry.get("path") or "")
    _, held = counted(entry)
    known = called(entry, names.get(key))
    return Row(
        key, status_of(entry), name_of(key, entry, names), project_of(entry, names.get(key)),
        items_of(entry), place_of(entry), model_of(entry), seconds_of(entry.get("at")), path,
        str(entry.get("error") or entry.get("last_error") or ""), held, known.tool, known.day, file_of(entry),
    )  # fmt: skip


def name_of(key: str, entry: Mapping[str, Any], names: Mapping[str, Called] = NAMELESS) -> str:
    """What a user calls a conversation: its title, else its own name."""
    return called(entry, names.get(key)).title or plain_name(file_of(entry)) or key


def file_of(entry: Mapping[str, Any]) -> str:
    """A conversation's own name."""
    return str(entry.get("name") or "") or os.path.basename(str(entry.get("path") or ""))


def project_of(entry: Mapping[str, Any], known: Called | None = None) -> str:
    """The project that a conversation was held in, by its last folder; where nobody knows, the folder it lies in, if
    that is not simply the home's."""
    folder = os.path.basename(os.path.dirname(str(entry.get("path") or "")))
    return called(entry, known).project_name or (folder if folder != "conversations" else "")


def status_of(entry: Mapping[str, Any]) -> str:
    return str(entry.get("status") or "unknown")


def model_of(entry: Mapping[str, Any]) -> str:
    return str(entry.get("model") or entry.get("provider") or "")


def items_of(entry: Mapping[str, Any]) -> int:
    """How many items it gave, -1 where nothing was harvested."""
    written, held = counted(entry)
    gave = entry.get("status") == "harvested" or held or _numbers(entry.get("items"))
    return written + held if gave else -1


def counted(entry: Mapping[str, Any]) -> tuple[int, int]:
    """How many items of a conversation were written into the knowledge files, and how many are held back."""
    held = entry.get("quarantined")
    return sum(_numbers(entry.get("items"))), held if isinstance(held, int) else 0


def _numbers(found: object) -> list[int]:
    return [number for number in found.values() if isinstance(number, int)] if isinstance(found, dict) else []


def place_of(entry: Mapping[str, Any]) -> str:
    """Where the conversation is now, in a word."""
    if entry.get("status") == "pruned":
        return "removed"
    if not entry.get("deleted"):
        return "in place"
    return "in trash" if entry.get("trash") else "removed"


def arrange(entries: Sequence[LedgerRow], wish: Wish, names: Mapping[str, Called] = NAMELESS) -> list[int]:
    """The numbers of the entries that are wanted, in the order wanted. Equal ones keep the order of the ledger, which
    comes with the newest first."""
    wanted: Iterable[int] = range(len(entries))
    if wish.statuses:
        wanted = [at for at in wanted if status_of(entries[at].entry) in wish.statuses]
    if wish.first:
        wanted = [at for at in wanted if wish.first <= day_of(entries[at], names) <= wish.last]
    if (wish.sort, wish.descending) in (("", False), ("", True), ("when", True)):
        return list(wanted)
    key = sorts(names)[wish.sort]
    return sorted(wanted, key=lambda at: key(entries[at]), reverse=wish.descending)


def day_of(row: LedgerRow, names: Mapping[str, Called] = NAMELESS) -> str:
    """The day of a conversation as an ISO date, "" where nobody knows."""
    return called(row.entry, names.get(row.key)).day[:10]


def sorts(names: Mapping[str, Called]) -> dict[str, Callable[[LedgerRow], Any]]:
    """What each column is sorted by."""
    return {
        "status": lambda row: status_of(row.entry),
        "tool": lambda row: tile(called(row.entry, names.get(row.key)).tool),
        "name": lambda row: name_of(row.key, row.entry, names).casefold(),
        "project": lambda row: project_of(row.entry, names.get(row.key)).casefold(),
        "items": lambda row: items_of(row.entry),
        "place": lambda row: place_of(row.entry),
        "model": lambda row: model_of(row.entry),
        "day": lambda row: called(row.entry, names.get(row.key)).day,
        "when": lambda row: str(row.entry.get("at") or ""),
    }


def says_the_same(entries: Sequence[LedgerRow], names: Mapping[str, Called]) -> frozenset[str]:
    """The columns that would say one and the same on every row, of those that may be left out."""
    if len(entries) < 2:
        return frozenset()
    keys = sorts(names)

    def same(name: str, rows: Iterable[LedgerRow]) -> bool:
        return all(keys[name](row) == keys[name](entries[0]) for row in rows)

    left = [name for name in SAME if same(name, entries[:FIRST])]  # most differ soon
    kinds = _kinds(entries, names) if {"tool", "project"} & {*left} else entries  # these two take longest
    return frozenset(name for name in left if same(name, entries if name == "items" else kinds))


def _kinds(entries: Sequence[LedgerRow], names: Mapping[str, Called]) -> Collection[LedgerRow]:
    """One entry of each kind: those of one kind say the same in all columns of `SAME` but the items."""
    found: dict[tuple[object, ...], LedgerRow] = {}
    for row in entries:
        get = row.entry.get
        folder = str(get("path") or "").replace("\\", "/").rpartition("/")[0]
        kind = (folder, get("source"), get("format"), get("project"), get("model"), get("provider"),
                get("status"), bool(get("deleted")), bool(get("trash")), names.get(row.key))  # fmt: skip
        try:
            found.setdefault(kind, row)
        except TypeError:  # a list where a text belongs: foreign values are a kind of their own
            found[(row.key,)] = row
    return found.values()


def cell(row: Row, column: int, now: float) -> Cell:
    """What stands in one cell."""
    _, sign, color, _ = STATUSES.get(row.status, OTHER)
    name = COLUMNS[column].key
    if name == "status":
        return icon(sign), color
    if name == "items" and row.held and row.held == row.items:
        return f"{row.items:,}", "edited"
    if name == "items":
        return ("–", "hint") if row.items < 0 else (f"{row.items:,}", "text" if row.items else "hint")
    if name == "place":
        return (row.place, "muted" if row.place == "in trash" else "hint")
    if name == "when":
        return since(row.when, now)
    words = {"why": capital(row.error.partition("\n")[0]), "tool": tile(row.tool), "day": day_words(row.day)}
    return words[name] if name in words else lettered(str(getattr(row, name)))


def tip(row: Row) -> str:
    """What the tooltip of a row says: its status in a word, what is held back, why it failed, and the path."""
    status = STATUSES.get(row.status, OTHER).name
    held = f"{row.items - row.held:,} written, {row.held:,} held back in quarantine.md" if row.held else ""
    tool = Called(tool=row.tool).tool_title
    about = joined(status, tool, row.day)
    name = row.name if row.name != plain_name(row.file) else ""
    return "\n".join(part for part in (name, about, held, row.error[:600], short_folder(row.path)) if part)


def chip_counts(found: Mapping[str, int]) -> dict[str, int]:
    """How many entries each chip stands for, of counts by status; the usual statuses are always there."""
    counts = dict.fromkeys(STATUSES, 0)
    for status, number in found.items():
        counts[status if status in STATUSES else "unknown"] = counts.get(status, 0) + number
    return counts


AT_ONCE = 3000
"""This many entries are arranged between two frames; more go to the worker."""
FIRST = 200
"""This many of the newest are asked first which columns say the same, and no others while a large ledger is read."""
MADE = 400
"""This many rows are kept, of which the table shows some forty."""


TEACH = (
    "Nothing harvested yet",
    "A harvest reads your conversations with AI tools and writes what they taught\n"
    "into files of yours. The button at the top right first shows what it would do.",
)


def teaching(run: RunState | None) -> tuple[str, str]:
    """Title and words of an empty ledger: what a harvest does, or how the one stands that has begun."""
    if run is not None and run.at_work:
        title = "The first harvest is running" if run.work == "harvest" else TEACH[0]
        return title, f"{capital(run.words)}.\nWhat a harvest reads appears here when it has finished."
    if run is not None and run.state == INTERRUPTED:
        return (
            "The first harvest was cut off",
            f"{capital(run.words)}.\n“Finish now” above writes that, and asks no model.",
        )
    return TEACH


@dataclass(frozen=True)
class Arranged:
    """What the worker answers: the order, and of another ledger also the counts by status, and the columns that say
    one thing on every row; `here` are those of the rows that are wanted."""

    order: list[int]
    here: frozenset[str] = frozenset()
    counts: Mapping[str, int] = field(default_factory=dict)
    same: frozenset[str] = frozenset()


class ConversationsView(FilteredView):
    """All entries of the ledger. Enter opens the reader."""

    name = "conversations"
    keys = (
        ("Enter", "Read the conversation"),
        ("M", "What can be done with a line"),
        ("Left, Right", "Another status"),
        ("Comma, point", "The week before, the week after"),
        ("Esc", "All weeks again"),
    )

    def __init__(self, look: Look, shell: Shell) -> None:
        super().__init__(look, shell)
        self.entries: Sequence[LedgerRow] = []
        self.wish = Wish()
        self._seen: Sequence[LedgerRow] = []  # what was read last
        self._names: Mapping[str, Called] = {}
        self._rows: dict[int, Row] = {}
        self._same: frozenset[str] = frozenset()
        self._empty: bool | None = None
        self._ticket = 0
        self._now = time.time()
        self._minute = 0
        self._wanted: object = None
        self.side = SourcesColumn(look, shell)

    def build(self, parent: int) -> None:
        look = self._look
        self._top = int(dpg.add_group(parent=parent))
        self.strip = Strip(look, self._top, self._weeks)
        self._chip_row = ChipRow(look, self._top, parent)
        self.all = self._chip_row.add("All", "muted", self._all)
        self.chips = {
            status: self._chip_row.add(name, color, partial(self._toggle, status))
            for status, (name, _, color, _) in STATUSES.items()
        }
        self.all.set_on(True)
        self.at_rest = self.all.item
        self._span = Button(look, self._top, "", self.strip.clear, icon="x", kind="link", tip="All weeks again",
                            shortcut="Esc")  # fmt: skip
        self._span.show(False)
        self._full = box(look, parent, "clear")
        self.table = BigTable(
            look, COLUMNS, self._cell, on_select=self._select, on_open=self._open, on_context=self._context,
            on_sort=self._sort, tip=lambda at: tip(self.row(at)),
            widths=remembered_widths(self._shell.places, self.name),
            on_widths=remembering(self._shell.places, self.name),
        )  # fmt: skip
        self.table.build(self._full)
        self._teach = EmptyState(look, parent, parent, icon="database", title=TEACH[0], words=TEACH[1])
        self._none = EmptyState(
            look, self._full, self._full, icon="funnel", title="No conversation is of these weeks and statuses",
            words="Esc shows all of them again.", action="Show all", on_action=self.clear,
        )  # fmt: skip
        self._taught = TEACH
        self._menu = Menu(look)
        self._shell.layers.append(self._menu.key)

    def waits(self, state: State) -> bool:
        """Until the first rows of the ledger are there."""
        return state.snapshot is None and state.first_rows is None

    def refresh(self, state: State) -> None:
        """Take a new ledger over, keep the place, follow a selection made elsewhere."""
        snapshot = state.snapshot
        if snapshot is None:
            if state.first_rows is not None and state.first_rows is not self.entries:
                self._begin(state.first_rows)
            return
        wanted = state.of("wanted")
        if isinstance(wanted, Selection) and wanted is not self._wanted:
            self._wanted = wanted
            if wanted.kind == "status":
                self.strip.clear()
                self._only(wanted.key)
        if snapshot.ledger is not self._seen or snapshot.titles.by_key is not self._names:
            self._seen, self._names = snapshot.ledger, snapshot.titles.by_key
            self.strip.set(snapshot.titles.days)
            self._order(fresh=True)
        self._teach_state(state)
        minute = int(time.time() // 60)
        if minute != self._minute:
            self._minute, self._now = minute, time.time()
            self.table.refresh()
        selected = state.selected
        if isinstance(self.entries, FirstRows):
            return  # to find one of them is to read all: that waits for the whole ledger
        if selected.kind == "conversation" and self._selected_key() != selected.key:
            self.table.select(self._place_of(selected))
        elif selected.kind != "conversation" and self.table.selected is not None:
            self.table.select(None)

    @property
    def filtered(self) -> bool:
        """Whether something is left out."""
        return bool(self.wish.first or self.wish.statuses)

    def clear(self) -> None:
        """All weeks, and every status."""
        self._only()
        self.strip.clear()

    def do(self, key: str) -> bool:
        at = self.table.selected
        if key == "M" and at is not None:
            self._context(at, self.table.place_of(at))
        elif key in (",", "."):
            self.strip.step(1 if key == "." else -1)
        elif key in SIDEWAYS:
            there = ["", *(status for status, chip in self.chips.items() if dpg.is_item_shown(chip.item))]
            now = next(iter(self.wish.statuses), "")
            status = beside(there, now, SIDEWAYS[key])
            self._only(*([status] if status else []))
        else:
            return False
        return True

    def move(self, key: str) -> bool:
        return self.table.press(key)

    # --- what is shown ---

    def row(self, at: int) -> Row:
        """An entry as the table shows it, made when it comes into sight."""
        row = self._rows.get(at)
        if row is None:
            if len(self._rows) >= MADE:
                self._rows.clear()
            row = self._rows[at] = row_of(self.entries[at].key, self.entries[at].entry, self._names)
        return row

    def _cell(self, row: int, column: int) -> Any:
        return cell(self.row(row), column, self._now)

    def _selected_key(self) -> str:
        at = self.table.selected
        return self.entries[at].key if at is not None and at < len(self.entries) else ""

    def _place_of(self, selected: Selection) -> int | None:
        """Where the conversation stands that is selected, None for none."""
        if selected.kind != "conversation" or isinstance(self.entries, FirstRows):
            return None
        return next((at for at, row in enumerate(self.entries) if row.key == selected.key), None)

    def _begin(self, rows: FirstRows) -> None:
        """Show a large ledger at once. Until it has been read whole, the order stays the usual one."""
        self._seen, self._names = [], rows.names
        self._ticket += 1  # what is arranged at the moment is of another home
        self.table.leave_out(says_the_same(rows[:FIRST], rows.names) | {"why"})
        self._show(rows, range(len(rows)), chip_counts(rows.counts), fresh=True)

    def _order(self, fresh: bool = False) -> None:
        """Filter and sort again what was read last; `fresh`: it is another ledger, or other titles."""
        if isinstance(self.entries, FirstRows) and not self._seen and not fresh:
            return  # with the whole ledger comes what is wished by then
        self._ticket += 1
        ticket, wish, entries, names = self._ticket, self.wish, self._seen, self._names
        fresh = fresh or entries is not self.entries

        def work() -> Arranged:
            order = arrange(entries, wish, names)
            # Of one status many columns say one thing (the failed have no tool).
            here = says_the_same([entries[at] for at in order], names) if wish.statuses else frozenset[str]()
            if not fresh:
                return Arranged(order, here)
            counts = chip_counts(Counter(status_of(row.entry) for row in entries))
            return Arranged(order, here, counts, says_the_same(entries, names))

        def done(result: Result[Any]) -> None:
            if not isinstance(result, Ok):
                self._shell.error(result.error)
            elif ticket == self._ticket:
                found: Arranged = result.value
                if fresh:
                    self._same = found.same
                reasons = bool(wish.statuses) and wish.statuses <= UNREAD
                self.table.leave_out(self._same | found.here | (READ_BY if reasons else {"why"}))
                self._show(entries, found.order, found.counts, fresh)

        if len(entries) <= AT_ONCE:
            done(Ok(work()))
        else:
            self._shell.submit("Arranging the conversations", lambda _job: work(), done, lane=GATHER)

    def _show(self, entries: Sequence[LedgerRow], order: Sequence[int], counts: Mapping[str, int], fresh: bool) -> None:
        self._now = time.time()
        if fresh:
            self.entries = entries
            self._rows.clear()
            self.all.set_count(len(entries))
            for status, chip in self.chips.items():
                chip.set_count(counts.get(status, 0))
                dpg.configure_item(chip.item, show=counts.get(status, 0) > 0 or status in self.wish.statuses)
            self.table.selected = self._place_of(self._shell.state.selected)
        self.table.set_rows(order, keep_place=fresh)
        self._none.show(not order and bool(entries))
        dpg.configure_item(self.table.item, show=bool(order) or not entries)
        self._teach_state(self._shell.state)
        empty = not entries
        if empty != self._empty:
            self._empty = empty
            for item in (self._full, self._top):
                dpg.configure_item(item, show=not empty)
            self._teach.show(empty)

    def _teach_state(self, state: State) -> None:
        """What an empty ledger says: what a harvest does, or how the one stands that has begun."""
        run = state.snapshot.overview.status.stands.run if state.snapshot is not None else None
        teach = teaching(run)
        if teach != self._taught:
            self._taught = teach
            self._teach.tell(teach[1], title=teach[0])

    # --- what the user does ---

    def _weeks(self, first: str, last: str) -> None:
        """Only the conversations of these days; "" for all."""
        words = f"{day_words(first)} to {day_words(last)}" if first else ""
        self._span.show(bool(words))
        self._span.set_label(words)
        self._wish(first=first, last=last)

    def _toggle(self, status: str, _on: bool) -> None:
        self._only(*(self.wish.statuses ^ {status}))

    def _all(self, _on: bool) -> None:
        self._only()

    def _only(self, *statuses: str) -> None:
        """Entries of these statuses; of all without one."""
        for status, chip in self.chips.items():
            chip.set_on(status in statuses)
            if status in statuses:
                dpg.configure_item(chip.item, show=True)
        self.all.set_on(not statuses)
        self._wish(statuses=frozenset(statuses))

    def _sort(self, key: str, descending: bool) -> None:
        usual = Wish()
        self._wish(sort=key or usual.sort, descending=descending if key else usual.descending)

    def _wish(self, **parts: Any) -> None:
        self.wish = replace(self.wish, **parts)
        self._order()

    def _select(self, at: int) -> None:
        if key := self.entries[at].key:  # a row that has gone from the file meanwhile has none
            self._shell.select("conversation", key)

    def _open(self, at: int) -> None:
        if key := self.entries[at].key:
            self._shell.read(key=key)

    def _context(self, index: int, place: tuple[float, float] | None = None) -> None:
        row = self.row(index)
        if not row.key:
            return
        lines = []
        if row.place == "in trash":
            lines.append(MenuRow("Restore from trash", "archive-restore", lambda: self.restore(row)))
        if row.place != "removed":
            lines.append(MenuRow("Read conversation", "book-open", lambda: self._open(index), "Enter"))
        lines.append(MenuRow("Copy hash", "hash", lambda: self._shell.copy(row.key, "The hash is on the clipboard")))
        lines.append(MenuRow("Copy name", "copy", lambda: self._shell.copy(row.name, "The name is on the clipboard")))
        if row.status in STATUSES:
            name = STATUSES[row.status].name.lower()
            lines.append(MenuRow(f"Only {name}", "funnel", lambda: self._only(row.status)))
        self._menu.open(lines, place)

    def restore(self, row: Row) -> None:
        """Bring the conversation of a row back from the trash to its old place."""
        said = f"{row.name} is back in its place"
        self._shell.write(row.name, lambda workspace: trash_restore(workspace, row.key), said=said)
