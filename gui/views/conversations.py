"""The view of the conversations: what became of each, over a strip of the last year; filtered by weeks and by chips,
sorted by any column. At its left, what a harvest reads.

First the entries as rows that can be filtered and sorted, as plain functions, fit for a hundred thousand; then the
view.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import PurePath
from typing import Any

import dearpygui.dearpygui as dpg

from core.base.figures import count, seconds_of
from core.commands.history.ledger import LedgerRow
from core.commands.panel.ledger_rows import LedgerRows, own_name
from core.commands.panel.overview import WAITING
from core.commands.panel.titles import NO_TOOL, Called, called
from gui.shell import Shell
from gui.state import NO_ROWS, Selection, State
from gui.toolkit.icons import icon
from gui.toolkit.layout import ChipRow, box
from gui.toolkit.messages import EmptyState, Teach
from gui.toolkit.table import BigTable, Cell, Column
from gui.toolkit.theme import Look
from gui.toolkit.typeset import lettered
from gui.toolkit.widgets import Button
from gui.views.list_view import SIDEWAYS, FilteredView, beside
from gui.views.looks import (
    CATEGORIES,
    NO_PROJECT,
    NOT_HARVESTED,
    OTHER,
    STATUSES,
    ago,
    capital,
    day_words,
    joined,
    plain_name,
    short_folder,
)
from gui.views.sources import SourcesColumn
from gui.views.start import known_counts
from gui.views.strip import Strip

COLUMNS = (
    Column("status", "", 26),
    Column("name", "Conversation", 0, 3.0),
    Column("tool", "Tool", 92, color="hint", least=620),
    Column("gave", "What it gave", 0, 1.8, color="muted"),
    Column("ends", "Kept", 120, color="hint", least=520),
    Column("day", "Day", 66, color="hint", least=340),
    Column("when", "Read", 82, color="hint", least=1000),
)


@dataclass(frozen=True)
class Row:
    """One entry as the table shows it. `gave` are items by category, and `held` of them are held back, not written;
    `when` it was read in seconds since 1970, `day` that of the conversation."""

    status: str
    name: str
    gave: Mapping[str, int]
    held: int
    place: str
    when: float
    path: str
    error: str
    tool: str
    day: str
    file: str

    @property
    def items(self) -> int:
        """How many items it gave, -1 where nothing was harvested."""
        number = sum(self.gave.values()) + self.held
        return number if number or self.gave or self.status == "harvested" else -1


@dataclass(frozen=True)
class Wish:
    """What the user wants to see: statuses (none: all), days from `first` to `last` (ISO dates, "" for all)."""

    statuses: frozenset[str] = frozenset()
    first: str = ""
    last: str = ""


def row_of(key: str, entry: Mapping[str, Any]) -> Row:
    """One entry of the ledger as a row. Foreign values in it show as nothing, and break nothing."""
    known = called(entry)
    path, name = str(entry.get("path") or ""), own_name(entry)
    items, held = entry.get("items"), entry.get("quarantined")
    items = items if isinstance(items, dict) else {}
    gave = {category: number for category, number in items.items() if isinstance(number, int)}
    return Row(
        str(entry.get("status") or "unknown"), known.title or plain_name(name) or key, gave,
        held if isinstance(held, int) else 0, place_of(entry), seconds_of(entry.get("at")), path,
        str(entry.get("error") or entry.get("last_error") or ""), known.tool, known.day, name,
    )  # fmt: skip


def place_of(entry: Mapping[str, Any]) -> str:
    """Where the conversation is now, in a word."""
    if entry.get("status") == "pruned":
        return "removed"
    if not entry.get("deleted"):
        return "in place"
    return "in trash" if entry.get("trash") else "removed"


def wanted_rows(rows: LedgerRows, wish: Wish) -> Iterable[int]:
    """The numbers of the conversations that are wanted, in the order of the ledger: the newest first."""
    wanted: Iterable[int] = range(len(rows))
    if wish.statuses:
        wanted = [at for at in wanted if rows.statuses[at] in wish.statuses]
    if wish.first:
        wanted = [at for at in wanted if wish.first <= rows.days[at][:10] <= wish.last]
    return wanted


@dataclass(frozen=True)
class Group:
    """The head over the conversations of a project: its name, how many they are, and how many items they gave."""

    name: str
    number: int
    gave: int


def grouped(rows: LedgerRows, order: Iterable[int]) -> tuple[list[int], list[Group]]:
    """The order by project: the one with the newest conversation first, in each what waits, what has no day, then the
    newest day. A head is the number -1 for the first group, -2 for the second; where nobody knows a project is none."""
    by_project: dict[str, list[int]] = {}
    names = {folder: PurePath(folder).name for folder in {*rows.projects}}
    # A tilde is behind every date: one text as the key sorts 100,000 in 60 ms, a tuple in 260.
    order = sorted(order, key=lambda at: "~~" if rows.statuses[at] == WAITING else rows.days[at] or "~", reverse=True)
    for at in order:
        by_project.setdefault(names[rows.projects[at]], []).append(at)
    if not any(by_project):
        return [at for members in by_project.values() for at in members], []
    nowhere = by_project.pop("", [])
    found = [*by_project.items(), *([("", nowhere)] if nowhere else [])]
    heads = [Group(name or NO_PROJECT, len(members), sum(rows.written[at] for at in members))
             for name, members in found]  # fmt: skip
    return [at for head, (_, members) in enumerate(found, start=1) for at in (-head, *members)], heads


def gave_words(row: Row) -> Cell:
    """How many items of which kind a conversation gave; why it was not read."""
    if row.status == WAITING:
        return NOT_HARVESTED, "accent"
    if row.error and row.status != "harvested":
        return lettered(capital(row.error.partition("\n")[0])), "muted"
    if row.items <= 0:
        return ("–", "hint") if row.items < 0 else ("nothing new", "hint")
    kinds = [*((CATEGORIES[name].icon, row.gave.get(name, 0)) for name in CATEGORIES), ("shield", row.held)]
    words = "   ".join(f"{icon(sign)} {number:,}" for sign, number in kinds if number)
    return words, "edited" if row.held == row.items else "muted"


def ends_words(end: float, now: float) -> Cell:
    """In how many days its tool deletes a conversation, `end` in seconds since 1970; nothing for 0.0."""
    days = int((end - now) // 86_400)
    if not end:
        return ""
    return ("gone today" if days < 1 else f"gone in {count(days, 'day')}"), "edited" if days <= 3 else "hint"


def head_cell(group: Group, column: int) -> Cell:
    """What stands in one cell of the head of a group."""
    name = f"{lettered(group.name)}  ·  {count(group.number, 'conversation')}"
    words: dict[str, Cell] = {"status": (icon("folder"), "hint"), "name": (name, "accent"),
                              "gave": (count(group.gave, "bullet"), "hint")}  # fmt: skip
    return words.get(COLUMNS[column].key, "")


def cell(row: Row, column: int, now: float, end: float = 0.0) -> Cell:
    """What stands in one cell; `end` is when its tool deletes the conversation."""
    _, sign, color, _ = STATUSES.get(row.status, OTHER)
    name = COLUMNS[column].key
    if name == "status":
        return icon(sign), color
    if name == "gave":
        return gave_words(row)
    if name == "ends":
        return ends_words(end, now)
    if name == "when":
        return ago(row.when, now)
    return {"tool": Called(tool=row.tool).tool_title, "day": day_words(row.day), "name": lettered(row.name)}[name]


def tip(row: Row) -> str:
    """What the tooltip of a row says: its status in a word, where it is, what it gave, why it failed, and the path."""
    status = STATUSES.get(row.status, OTHER).name
    held = f"{row.items - row.held:,} written, {row.held:,} held back in quarantine.md" if row.held else ""
    kinds = (
        (row.gave.get(name, 0), looks.noun, " done" if name == "tasks_done" else "")
        for name, looks in CATEGORIES.items()
    )
    gave = joined(*(f"{count(number, noun)}{done}" for number, noun, done in kinds if number))
    about = joined(status, Called(tool=row.tool).tool_title, row.day, "" if row.place == "in place" else row.place)
    name = row.name if row.name != plain_name(row.file) else ""
    return "\n".join(part for part in (name, about, gave, held, row.error[:600], short_folder(row.path)) if part)


NONE = Teach("funnel", "No conversation is of these weeks and statuses", "Esc shows all of them again.", "", "Show all")
TEACH = Teach(
    "database",
    "Nothing harvested yet",
    "What became of each conversation stands here once a harvest has read it,\nand what it taught in files of yours.",
)
UNREADABLE = Teach(
    "database",
    "The ledger cannot be read",
    "It says what became of each conversation. Your bullets are not touched.\n"
    "“Repair…” at the top right mends it from the plans that prove it.",
)


class ConversationsView(FilteredView):
    """All entries of the ledger. Enter opens the reader."""

    name = "conversations"
    keys = (
        ("Enter", "Read the conversation"),
        ("H", "Harvest this conversation alone"),
        ("Left, Right", "Another status"),
        ("Comma, point", "The week before, the week after"),
        ("Esc", "All weeks again"),
    )

    def __init__(self, look: Look, shell: Shell) -> None:
        super().__init__(look, shell)
        self.entries = NO_ROWS
        self.wish = Wish()
        self._read: tuple[Sequence[LedgerRow], object] = ((), ())  # what waits, and the ledger: of them they are made
        self._groups: list[Group] = []
        self._ends: Mapping[str, float] = {}
        self._rows: dict[int, Row] = {}
        self._now = time.time()
        self._minute = 0
        self._wanted: object = None
        self.side = SourcesColumn(look, shell)

    def build(self, parent: int) -> None:
        look = self._look
        self._top = int(dpg.add_group(parent=parent))
        self.strip = Strip(look, self._top, self._weeks)
        chips = ChipRow(look, self._top, parent)
        self.all = chips.add("All", "muted", self._only)
        self.chips = {
            status: chips.add(name, color, partial(self._toggle, status))
            for status, (name, _, color, _) in STATUSES.items()
        }
        self.all.set_on(True)
        self.at_rest = self.all.item
        self._span = Button(look, self._top, "", self.strip.clear, icon="x", kind="link", tip="All weeks again",
                            shortcut="Esc")  # fmt: skip
        self._span.show(False)
        self._full = box(look, parent, "clear")
        self.table = BigTable(
            look, COLUMNS, self._cell, on_select=self._select, on_open=self._open,
            tip=lambda at: tip(self.row(at)) if at >= 0 else "", head=lambda at: at < 0,
        ).build(self._full)  # fmt: skip
        self._teach = EmptyState(look, parent, TEACH)
        self._none = EmptyState(look, self._full, NONE, self.clear)

    def waits(self, state: State) -> bool:
        """Until the first rows of the ledger are there."""
        return state.snapshot is None and state.first_rows is None

    def refresh(self, state: State) -> None:
        """Take a new ledger over, keep the place, follow a selection made elsewhere."""
        snapshot = state.snapshot
        if snapshot is None:
            if state.first_rows is not None:
                self._take((), state.first_rows)
            return
        wanted = state.of("wanted")
        if isinstance(wanted, Selection) and wanted is not self._wanted:
            self._wanted = wanted
            if wanted.kind == "status":
                self.strip.clear()
                self._only(wanted.key)
        looked = snapshot.overview
        if self._ends is not looked.ends:
            self._ends = looked.ends
            self._leave_out()
        self._take(looked.waiting, snapshot.ledger)
        self._teach.tell(UNREADABLE if known_counts(snapshot) is None else TEACH)
        minute = int(time.time() // 60)
        if minute != self._minute:
            self._minute, self._now = minute, time.time()
            self.table.refresh()
        selected = state.selected
        if selected.kind == "conversation" and self._selected_key() != selected.key:
            self.table.select(self._place_of(selected))
        elif selected.kind != "conversation" and self._selected_key():  # the cursor on what waits selects nothing
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
        if key == "H" and at is not None and at >= 0:
            self.harvest(self.row(at))
        elif key in (",", ".") and self.entries:
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
            row = self._rows[at] = row_of(*self.entries[at])
        return row

    def _cell(self, at: int, column: int) -> Any:
        if at < 0:
            return head_cell(self._groups[-at - 1], column)
        row = self.row(at)
        return cell(row, column, self._now, self._ends.get(row.path, 0.0) if row.place == "in place" else 0.0)

    def _selected_key(self) -> str:
        at = self.table.selected
        return self.entries[at].key if at is not None and 0 <= at < len(self.entries) else ""

    def _place_of(self, selected: Selection) -> int | None:
        """Where the conversation stands that is selected, None for none."""
        return self.entries.place_of(selected.key) if selected.kind == "conversation" else None

    def _take(self, waiting: Sequence[LedgerRow], ledger: LedgerRows) -> None:
        """What waits or the ledger may be another one."""
        if self._read[0] is waiting and self._read[1] is ledger:
            return
        at = self.table.selected
        held = self.row(at).path if at is not None and at >= 0 and not self.entries[at].key else None
        self._read = (waiting, ledger)
        self.entries = ledger.behind(waiting) if waiting else ledger
        self._rows.clear()
        self.strip.set(self.entries.by_day)
        counts = Counter(self.entries.statuses)
        self.all.set_count(len(self.entries))
        for status, chip in self.chips.items():
            chip.set_count(counts[status])
            dpg.configure_item(chip.item, show=counts[status] > 0 or status in self.wish.statuses)
        again = next((at for at, one in enumerate(waiting) if held is not None and one.entry["path"] == held), None)
        self.table.selected = again if again is not None else self._place_of(self._shell.state.selected)
        self._order(keep=True)

    def _order(self, keep: bool = False) -> None:
        """Filter and group what was read last; with `keep` what is in sight stays where it is."""
        entries = self.entries
        order, self._groups = grouped(entries, wanted_rows(entries, self.wish))
        self._now = time.time()
        self._leave_out()
        self.table.set_rows(order, keep_place=keep)
        self._none.show(not order and bool(entries))
        dpg.configure_item(self.table.item, show=bool(order) or not entries)
        for item in (self._full, self._top):
            dpg.configure_item(item, show=bool(entries))
        self._teach.show(not entries)

    def _leave_out(self) -> None:
        """Columns in which nothing would stand."""
        known = {"tool": any(tool not in NO_TOOL for tool in self.entries.tools), "ends": self._ends}
        self.table.leave_out({column for column, there in known.items() if not there})

    # --- what the user does ---

    def _weeks(self, first: str, last: str) -> None:
        """Only the conversations of these days; "" for all."""
        words = f"{day_words(first)} to {day_words(last)}" if first else ""
        self._span.show(bool(words))
        self._span.set_label(words)
        self._wish(first=first, last=last)

    def _toggle(self, status: str) -> None:
        self._only(*(self.wish.statuses ^ {status}))

    def _only(self, *statuses: str) -> None:
        """Entries of these statuses; of all without one."""
        for status, chip in self.chips.items():
            chip.set_on(status in statuses)
            if status in statuses:
                dpg.configure_item(chip.item, show=True)
        self.all.set_on(not statuses)
        self._wish(statuses=frozenset(statuses))

    def _wish(self, **parts: Any) -> None:
        self.wish = replace(self.wish, **parts)
        self._order()

    def _select(self, at: int) -> None:
        if at >= 0 and (key := self.entries[at].key):
            self._shell.select("conversation", key)
        elif 0 <= at < len(self._read[0]):  # it waits and has no key yet; nor has a row that has gone from the file
            self._shell.select()

    def _open(self, at: int) -> None:
        """Read it; of what nobody has read, what a harvest would do."""
        if at >= 0 and (key := self.entries[at].key):
            self._shell.read(key=key)
        elif at >= 0 and self.row(at).status == WAITING:
            self._shell.run("harvest")

    def harvest(self, row: Row) -> None:
        """A dry run of one conversation; of one that lies in a database with others, of its tool."""
        there = any(map(os.path.exists, (row.path, row.path.rpartition("#")[0])))
        if row.place != "in place" or not there:
            self._shell.toast("It is not in its place any more, so no harvest can read it", icon="info", color="accent")
        elif not os.path.isfile(row.path):
            self._shell.run(f"harvest.{row.tool}") or self._shell.run("harvest")
        else:
            self._shell.put({"one": row.path})
            self._shell.run("harvest.one")
