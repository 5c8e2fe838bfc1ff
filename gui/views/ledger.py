"""The view of the ledger: what became of every conversation, filtered by chips and words, sorted by any column.

First the entries as rows that can be filtered and sorted, as plain functions, fit for a hundred thousand; then the
view.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import dearpygui.dearpygui as dpg

from core.base.figures import age
from core.base.order import in_order
from core.base.result import Ok, Result
from core.commands.history import LedgerRow
from core.commands.trash import trash_restore
from gui.quiet import let_go, quietly
from gui.shell import GATHER, Shell
from gui.state import State
from gui.toolkit.columns import Cell, Column, remembered_widths, remembering
from gui.toolkit.dialogs import Menu, MenuRow
from gui.toolkit.icons import icon
from gui.toolkit.layout import ChipRow, box
from gui.toolkit.messages import EmptyState
from gui.toolkit.table import BigTable
from gui.toolkit.theme import Look
from gui.views.list_view import MOVES, FilteredView
from gui.views.looks import OTHER, STATUSES, seconds_of, short_folder, short_name

COLUMNS = (
    Column("status", "", 26),
    Column("name", "Conversation", 0, 2.0),
    Column("folder", "Folder", 0, 0.9, color="hint", least=720),
    Column("items", "Items", 62, role="mono", chars=5, descending_first=True),
    Column("place", "Now", 62, color="muted", least=430),
    Column("model", "Read by", 116, color="muted", least=580),
    Column("when", "When", 56, role="mono", chars=6, color="hint", descending_first=True, sorted_first=True, least=340),
)


@dataclass(frozen=True)
class Row:
    """One entry: what the table shows and what it is sorted by. `items` is -1 where nothing was harvested, and `held`
    of them are held back, not written; `when` in seconds since 1970; `words` is what the text filter looks into, in
    small letters."""

    key: str
    status: str
    name: str
    folder: str
    items: int
    place: str
    model: str
    when: float
    words: str
    path: str = ""
    error: str = ""
    held: int = 0


@dataclass(frozen=True)
class Ledger:
    """All rows, and how many there are of each status."""

    rows: tuple[Row, ...] = ()
    counts: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Wish:
    """What the person wants to see: statuses (none: all), a text, and an order."""

    statuses: frozenset[str] = frozenset()
    text: str = ""
    sort: str = "when"
    descending: bool = True


def rows_of(entries: Sequence[LedgerRow]) -> Ledger:
    """One row an entry, in the order given. Foreign values in an entry show as nothing, and break nothing."""
    rows = tuple(row_of(entry.key, entry.entry) for entry in entries)
    counts: dict[str, int] = {}
    for row in rows:
        counts[row.status] = counts.get(row.status, 0) + 1
    return Ledger(rows, tuple(counts.items()))


def row_of(key: str, entry: dict[str, Any]) -> Row:
    """One entry of the ledger as a row."""
    path = str(entry.get("path") or "")
    status = str(entry.get("status") or "unknown")
    written, held = counted(entry)
    items = written + held if status == "harvested" or held or _numbers(entry.get("items")) else -1
    model = str(entry.get("model") or entry.get("provider") or "")
    when = seconds_of(entry.get("at"))
    folder, name = os.path.split(path)
    folder = os.path.basename(folder)
    words = f"{path}\n{model}\n{key}".lower()
    error = str(entry.get("error") or entry.get("last_error") or "")
    where = place_of(entry)
    return Row(key, status, short_name(name) or key, folder, items, where, model, when, words, path, error, held)


def counted(entry: Mapping[str, Any]) -> tuple[int, int]:
    """How many items of a conversation were written into the knowledge files, and how many are held back."""
    held = entry.get("quarantined")
    return sum(_numbers(entry.get("items"))), held if isinstance(held, int) else 0


def _numbers(found: object) -> list[int]:
    return [number for number in found.values() if isinstance(number, int)] if isinstance(found, dict) else []


def place_of(entry: dict[str, Any]) -> str:
    """Where the conversation is now, in a word."""
    if entry.get("status") == "pruned":
        return "gone"
    if not entry.get("deleted"):
        return "kept"
    return "in trash" if entry.get("trash") else "gone"


def arrange(found: Ledger, wish: Wish) -> list[int]:
    """The numbers of the rows that are wanted, in the order wanted. Equal ones keep the order of the ledger."""
    rows = found.rows
    wanted: list[int] = list(range(len(rows)))
    if wish.statuses:
        wanted = [number for number in wanted if rows[number].status in wish.statuses]
    if words := wish.text.lower().split():
        wanted = [number for number in wanted if all(word in rows[number].words for word in words)]
    if wish.sort:
        wanted = in_order(wanted, SORTS[wish.sort](rows), reverse=wish.descending)
    return wanted


SORTS: dict[str, Any] = {
    "status": lambda rows: lambda number: rows[number].status,
    "name": lambda rows: lambda number: rows[number].name.casefold(),
    "folder": lambda rows: lambda number: rows[number].folder.casefold(),
    "items": lambda rows: lambda number: rows[number].items,
    "place": lambda rows: lambda number: rows[number].place,
    "model": lambda rows: lambda number: rows[number].model,
    "when": lambda rows: lambda number: rows[number].when,
}


def cell(row: Row, column: int, now: float) -> Cell:
    """What stands in one cell."""
    _, sign, color, _ = STATUSES.get(row.status, OTHER)
    if column == 0:
        return icon(sign), color
    if column == 1:
        return row.name
    if column == 2:
        return row.folder
    if column == 3 and row.held and row.held == row.items:
        return f"{row.items:,}", "edited"
    if column == 3:
        return ("–", "hint") if row.items < 0 else (f"{row.items:,}", "text" if row.items else "hint")
    if column == 4:
        return (row.place, "muted" if row.place == "in trash" else "hint")
    if column == 5:
        return row.model
    return age(row.when, now)


def tip(row: Row) -> str:
    """What the tooltip of a row says: its status in a word, what is held back, why it failed, and the path."""
    status = STATUSES.get(row.status, OTHER).name
    held = f"{row.items - row.held:,} items written, {row.held:,} held back in quarantine.md" if row.held else ""
    return "\n".join(part for part in (status, held, row.error[:600], short_folder(row.path)) if part)


def chip_counts(found: Ledger) -> dict[str, int]:
    """How many entries each chip stands for; the usual statuses are always there."""
    counts = dict.fromkeys(STATUSES, 0)
    for status, number in found.counts:
        counts[status if status in STATUSES else "unknown"] = counts.get(status, 0) + number
    return counts


def wished(wish: Wish, statuses: Collection[str] | None = None, text: str | None = None) -> Wish:
    """The same wish with other statuses or another text."""
    return Wish(
        wish.statuses if statuses is None else frozenset(statuses),
        wish.text if text is None else text,
        wish.sort,
        wish.descending,
    )


AT_ONCE = 3000
"""So many entries are arranged between two frames; more go to the worker."""


class LedgerView(FilteredView):
    """All entries of the ledger. Selecting one shows it in the inspector; Enter opens the conversation."""

    name = "ledger"
    keys = (("Enter", "Open the conversation"), ("M", "What can be done with a line"))
    FILTER = "Filter by name, folder or model"
    TYPING_KEYS = (*MOVES, "Enter")

    def __init__(self, look: Look, shell: Shell) -> None:
        super().__init__(look, shell)
        self.ledger = Ledger()
        self.wish = Wish()
        self._seen: object = None
        self._empty: bool | None = None
        self._ticket = 0
        self._now = time.time()
        self._minute = 0

    def build(self, parent: int) -> None:
        """Make chips, filter, table and the empty state."""
        look = self._look
        self._chip_row = ChipRow(look, parent, parent)
        self.all = self._chip_row.add("All", "muted", self._all)
        self.chips = {
            status: self._chip_row.add(name, color, partial(self._toggle, status))
            for status, (name, _, color, _) in STATUSES.items()
        }
        self.all.set_on(True)
        self.at_rest = self.all.item
        self.add_filter(parent)
        self._full = box(look, parent, "clear")
        self.table = BigTable(
            look,
            COLUMNS,
            self._cell,
            on_select=self._select,
            on_open=self._open,
            on_context=self._context,
            on_sort=self._sort,
            tip=lambda row: tip(self.ledger.rows[row]),
            widths=remembered_widths(self._shell.places, self.name),
            on_widths=remembering(self._shell.places, self.name),
        )
        self.table.build(self._full)
        self._teach = EmptyState(
            look,
            parent,
            parent,
            icon="database",
            title="Nothing harvested yet",
            words="Every conversation that a harvest looks at gets a line here:\n"
            "what it gave, where it is now, and how to bring it back.",
            command="knowledge harvest --apply",
            action="Harvest…",
            on_action=lambda: self._shell.run("harvest"),
        )
        self._menu = Menu(look)
        self._shell.layers.append(self._menu.key)

    def refresh(self, state: State) -> None:
        """Take a new ledger over, keep the place, follow a selection made elsewhere."""
        snapshot = state.snapshot
        if snapshot is None:
            return
        if snapshot.ledger is not self._seen:
            self._seen = snapshot.ledger
            self._order(snapshot.ledger)
        self._shell.rows_shown(len(self.table.rows), len(self.ledger.rows), self.name)
        minute = int(time.time() // 60)
        if minute != self._minute:
            self._minute, self._now = minute, time.time()
            self.table.refresh()
        selected = state.selected
        if selected.kind == "conversation" and self._selected_key() != selected.key:
            self.table.select(next((at for at, row in enumerate(self.ledger.rows) if row.key == selected.key), None))
        elif selected.kind != "conversation" and self.table.selected is not None:
            self.table.select(None)

    def do(self, key: str) -> bool:
        """What can be done with the selected line."""
        at = self.table.selected
        if key == "M" and at is not None:
            self._context(at, self.table.place_of(at))
        return key == "M" and at is not None

    def move(self, key: str) -> bool:
        """A key for the rows."""
        return self.table.press(key)

    # --- what is shown ---

    def _cell(self, row: int, column: int) -> Any:
        return cell(self.ledger.rows[row], column, self._now)

    def _selected_key(self) -> str:
        at = self.table.selected
        return self.ledger.rows[at].key if at is not None and at < len(self.ledger.rows) else ""

    def _order(self, entries: Any = None) -> None:
        """Filter and sort anew; with `entries`, make new rows first."""
        self._ticket += 1
        ticket, wish, ledger = self._ticket, self.wish, self.ledger
        if len(entries if entries is not None else ledger.rows) <= AT_ONCE:
            made = rows_of(entries) if entries is not None else ledger
            self._show(made, arrange(made, wish), entries is not None)
            return

        def work(_job: object) -> tuple[Ledger, list[int]]:
            with quietly(large=True, stays=entries is not None):
                made = rows_of(entries) if entries is not None else ledger
                return made, arrange(made, wish)

        def done(result: Result[Any]) -> None:
            if not isinstance(result, Ok):
                self._shell.error(result.error)
            elif ticket == self._ticket:
                made, order = result.value
                self._show(made, order, entries is not None)
            elif entries is not None:  # a click came in between: its order is wanted, with these rows
                self.ledger = result.value[0]
                self._order()

        self._shell.submit("Arranging the ledger", work, done, lane=GATHER)

    def _show(self, ledger: Ledger, order: list[int], same_place: bool) -> None:
        key = self._selected_key()
        if ledger is not self.ledger:
            let_go(self.ledger.rows)
        self.ledger, self._now = ledger, time.time()
        counts = chip_counts(ledger)
        self.all.set_count(len(ledger.rows))
        for status, chip in self.chips.items():
            chip.set_count(counts[status])
        if key:
            self.table.selected = next((at for at, row in enumerate(ledger.rows) if row.key == key), None)
        self.table.set_rows(order, keep_place=same_place)
        self._shell.rows_shown(len(order), len(ledger.rows), self.name)
        empty = not ledger.rows
        if empty != self._empty:
            self._empty = empty
            dpg.configure_item(self._full, show=not empty)
            dpg.configure_item(self.filter, show=not empty)
            self._teach.show(empty)

    # --- what the person does ---

    def _toggle(self, status: str, _on: bool) -> None:
        statuses = set(self.wish.statuses)
        statuses.symmetric_difference_update({status})
        self.wish = wished(self.wish, statuses=statuses)
        self.all.set_on(not statuses)
        self._order()

    def _all(self, _on: bool) -> None:
        self.wish = wished(self.wish, statuses=())
        for chip in self.chips.values():
            chip.set_on(False)
        self.all.set_on(True)
        self._order()

    def arrange(self, keep: bool) -> None:
        """Filter and sort anew."""
        self.wish = wished(self.wish, text=self.words)
        self._order()

    def _sort(self, key: str, descending: bool) -> None:
        usual = Wish()
        self.wish = Wish(self.wish.statuses, self.wish.text, key or usual.sort, descending if key else usual.descending)
        self._order()

    def _select(self, row: int) -> None:
        self._shell.select("conversation", self.ledger.rows[row].key)

    def _open(self, row: int) -> None:
        self._open_row(self.ledger.rows[row])

    def _open_row(self, row: Row) -> None:
        snapshot = self._shell.state.snapshot
        entry = next((one.entry for one in snapshot.ledger if one.key == row.key), {}) if snapshot else {}
        path = str(entry.get("path") or "")
        trash = entry.get("trash")
        if row.place == "in trash" and isinstance(trash, dict) and trash:
            path = str(self._shell.workspace.paths.trash / next(iter(trash)))
        self._shell.open_path(path)

    def _context(self, index: int, place: tuple[float, float] | None = None) -> None:
        row = self.ledger.rows[index]
        lines = []
        if row.place == "in trash":
            lines.append(MenuRow("Restore from trash", "archive-restore", lambda: self.restore(row)))
        if row.place != "gone":
            lines.append(MenuRow("Open conversation", "external-link", lambda: self._open_row(row), "Enter"))
        lines.append(MenuRow("Copy hash", "hash", lambda: self._shell.copy(row.key, "The hash is on the clipboard")))
        lines.append(MenuRow("Copy name", "copy", lambda: self._shell.copy(row.name, "The name is on the clipboard")))
        if row.status in STATUSES:
            name = STATUSES[row.status].name.lower()
            lines.append(MenuRow(f"Only {name}", "funnel", lambda: self._only(row.status)))
        self._menu.open(lines, place)

    def _only(self, status: str) -> None:
        self.wish = wished(self.wish, statuses=(status,))
        for name, chip in self.chips.items():
            chip.set_on(name == status)
        self.all.set_on(False)
        self._order()

    def restore(self, row: Row) -> None:
        """Bring the conversation of a row back from the trash to its old place."""
        self._shell.write(
            f"{row.name}",
            lambda workspace: trash_restore(workspace, row.key),
            said=f"{row.name} is back in its place",
        )
