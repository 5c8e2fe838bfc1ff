"""The view of the ledger: what became of every conversation, filtered by chips and words, sorted by any column."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import dearpygui.dearpygui as dpg

from core.base.result import Ok, Result
from core.commands.trash import trash_restore
from gui.quiet import let_go, quietly
from gui.shell import GATHER, Shell
from gui.state import State
from gui.toolkit.columns import remembered_widths, remembering
from gui.toolkit.dialogs import Menu, MenuRow
from gui.toolkit.icons import icon
from gui.toolkit.layout import ChipRow, box
from gui.toolkit.messages import EmptyState
from gui.toolkit.table import BigTable
from gui.toolkit.theme import Look
from gui.toolkit.widgets import text_field
from gui.views.ledger_rows import (
    COLUMNS,
    Ledger,
    Row,
    Wish,
    arrange,
    cell,
    chip_counts,
    rows_of,
    tip,
    wished,
)
from gui.views.looks import STATUSES

AT_ONCE = 3000
"""So many entries are arranged between two frames; more go to the worker."""


class LedgerView:
    """All entries of the ledger. Selecting one shows it in the inspector; Enter opens the conversation."""

    name = "ledger"
    keys = (("Enter", "Open the conversation"), ("M", "What can be done with a line"))

    def __init__(self, look: Look, shell: Shell) -> None:
        self._look, self._shell = look, shell
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
        self.filter = text_field(
            look,
            parent,
            placeholder=f"{icon('funnel')}  Filter by name, folder or model      /",
            on_change=self._filter,
        )
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
            self._arrange(snapshot.ledger)
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

    def press(self, key: str, typing: bool) -> bool:
        """Moves in the table; / goes to the filter, Esc leaves and empties it."""
        if key == "/" and not typing:
            self._look.keys_to(self.filter)
            return True
        if key == "Esc" and (typing or self.wish.text):
            dpg.set_value(self.filter, "")
            self._filter("")
            dpg.focus_item(self.all.item)
            return True
        if typing and key not in ("Up", "Down", "Page up", "Page down", "Enter"):
            return False
        if key == "M" and self.table.selected is not None:
            self._context(self.table.selected, self.table.place_of(self.table.selected))
            return True
        return self.table.press(key)

    def dispose(self) -> None:
        """Nothing lives outside of the parent but the menu, which the look deletes."""

    # --- what is shown ---

    def _cell(self, row: int, column: int) -> Any:
        return cell(self.ledger.rows[row], column, self._now)

    def _selected_key(self) -> str:
        at = self.table.selected
        return self.ledger.rows[at].key if at is not None and at < len(self.ledger.rows) else ""

    def _arrange(self, entries: Any = None) -> None:
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
                self._arrange()

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
        self._arrange()

    def _all(self, _on: bool) -> None:
        self.wish = wished(self.wish, statuses=())
        for chip in self.chips.values():
            chip.set_on(False)
        self.all.set_on(True)
        self._arrange()

    def _filter(self, words: str) -> None:
        self.wish = wished(self.wish, text=words)
        self._arrange()

    def _sort(self, key: str, descending: bool) -> None:
        usual = Wish()
        self.wish = Wish(self.wish.statuses, self.wish.text, key or usual.sort, descending if key else usual.descending)
        self._arrange()

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
        self._arrange()

    def restore(self, row: Row) -> None:
        """Bring the conversation of a row back from the trash to its old place."""
        self._shell.write(
            f"{row.name}",
            lambda workspace: trash_restore(workspace, row.key),
            said=f"{row.name} is back in its place",
        )
