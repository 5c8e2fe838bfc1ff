"""The ledger as rows that can be filtered and sorted: plain functions, fit for a hundred thousand entries."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core.base.figures import age
from core.base.order import in_order
from core.commands.history import LedgerRow
from gui.columns import Cell, Column
from gui.icons import icon
from gui.views.files_rows import short_folder

# status of an entry -> (name on the chip, icon, colour)
STATUS_LOOKS: dict[str, tuple[str, str, str]] = {
    "harvested": ("Harvested", "circle-check", "harvested"),
    "harvest-failed": ("Failed", "circle-x", "failed"),
    "deleted-unharvested": ("Deleted", "file-x", "deleted"),
    "too-large": ("Too large", "weight", "too-large"),
    "pruned": ("Pruned", "archive", "muted"),
}
OTHER = ("Other", "circle-question-mark", "hint")

_HEX = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_UUID = re.compile(rf"\A{_HEX}-|-{_HEX}\Z")

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


def short_name(name: str) -> str:
    """The name of a conversation without the UUID at its end or beginning; the whole name is in the inspector."""
    return _UUID.sub("", name) or name


def place_of(entry: dict[str, Any]) -> str:
    """Where the conversation is now, in a word."""
    if entry.get("status") == "pruned":
        return "gone"
    if not entry.get("deleted"):
        return "kept"
    return "in trash" if entry.get("trash") else "gone"


def seconds_of(when: object) -> float:
    """ISO 8601 as seconds since 1970, 0 for anything else."""
    try:
        return datetime.fromisoformat(when).timestamp() if isinstance(when, str) else 0.0
    except (ValueError, OverflowError, OSError):
        return 0.0


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
    _, sign, color = STATUS_LOOKS.get(row.status, OTHER)
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
    status = STATUS_LOOKS.get(row.status, OTHER)[0]
    held = f"{row.items - row.held:,} items written, {row.held:,} held back in quarantine.md" if row.held else ""
    return "\n".join(part for part in (status, held, row.error[:600], short_folder(row.path)) if part)


def chip_counts(found: Ledger) -> dict[str, int]:
    """How many entries each chip stands for; the usual statuses are always there."""
    counts = dict.fromkeys(STATUS_LOOKS, 0)
    for status, number in found.counts:
        counts[status if status in STATUS_LOOKS else "unknown"] = counts.get(status, 0) + number
    return counts


def wished(wish: Wish, statuses: Collection[str] | None = None, text: str | None = None) -> Wish:
    """The same wish with other statuses or another text."""
    return Wish(
        wish.statuses if statuses is None else frozenset(statuses),
        wish.text if text is None else text,
        wish.sort,
        wish.descending,
    )
