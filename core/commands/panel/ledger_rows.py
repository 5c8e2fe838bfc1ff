"""The ledger as a window shows it, newest first: the columns by which it is filtered and grouped.

Of a hundred thousand entries a window shows forty: what else stands in one is read when somebody looks at it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from typing import Any

from core.base.markdown import sanitise_name
from core.base.ready import state_of
from core.base.result import disk_errors
from core.commands.history.ledger import LedgerRow, ledger
from core.commands.panel.titles import PLAIN_NAME, UNCALLED, Called, called
from core.commands.workspace import Workspace
from core.knowledge.ledger import FORGOTTEN, UNDONE, Entry, LargeLedger, known_entries, read_entry, seen_ledger
from core.knowledge.projects import own_name as own_name
from core.sources.archive import KEY

REMEMBERED = 4000
"""The conversations asked for by name that are remembered."""
TAKEN_BACK = (UNDONE, FORGOTTEN)
"""Statuses whose time is not that of a harvest."""
UNREAD = LedgerRow("", {"name": "Reading…"})
"""What stands for an entry whose file is another one by now, until that is read."""
Walk = Callable[[], Iterable[tuple[int, str, Entry]]]
"""Goes through the entries: where each is, its key and itself."""


class LedgerRows:
    """Conversations, newest first, and columns parallel to them.

    `tools`, `projects` (folders) and `days` (ISO dates) are "" where nobody knows; `written` counts the items that a
    conversation gave. `by_day` and `by_project` count conversations. `newest` is when a harvest made the newest entry
    (ISO 8601, "" for none), and how many conversations failed in its run. `mark` is another one where any conversation
    is called otherwise.
    """

    def __init__(self, walk: Walk, at: Callable[[int], LedgerRow], *, in_order: bool = True) -> None:
        """`at` reads the entry at a place again. Unless they come in order, those with greater keys come last."""
        self._at = at
        self._first: Sequence[LedgerRow] = ()
        self._known: dict[str, Called] = {}
        self.newest, self.mark = ("", 0), 0
        same: dict[Any, Any] = {}  # what is equal is kept once
        columns, times, runs, failed = [list[Any]() for _ in range(5)], list[str](), list[Any](), Counter[Any]()
        begins, keys, words, numbers = array("Q"), array("q"), array("q"), array("I")
        for number, (begin, key, entry) in enumerate(walk()):
            here, status, run = called(entry), str(entry.get("status") or "unknown"), str(entry.get("run") or "")
            shown = (status, here.tool, here.project, here.day, written_of(entry))
            for column, value in zip(columns, shown, strict=True):
                column.append(same.setdefault(value, value))
            begins.append(begin)
            keys.append(hash(key))
            times.append(str(entry.get("at") or ""))
            runs.append(same.setdefault(run, run))
            failed[runs[-1]] += status == "harvest-failed"
            if here is not UNCALLED:
                name = own_name(entry)
                self.mark = hash((self.mark, name, here.title, here.tool, here.day, here.project))
                words.append(hash(name))
                numbers.append(number)
                if not PLAIN_NAME.fullmatch(name):
                    words.append(hash(sanitise_name(name)))
                    numbers.append(number)
        order: Sequence[int] = range(len(times))
        if not in_order:
            # Of one time the greater key first, as the command has them.
            order = array("I", sorted(range(len(times) - 1, -1, -1), key=times.__getitem__, reverse=True))
        read = next((number for number in order if columns[0][number] not in TAKEN_BACK), None)
        if read is not None:
            self.newest = times[read], failed[runs[read]]
        del times, runs
        for at_column, column in enumerate(columns):
            columns[at_column] = [column[number] for number in order]
        self._columns = columns
        self._begins, self._keys = (array(all.typecode, map(all.__getitem__, order)) for all in (begins, keys))
        places = array("I", order)
        for place, number in enumerate(order):
            places[number] = place
        self._named = array("I", map(places.__getitem__, numbers))
        by_place = sorted(range(len(words)), key=self._named.__getitem__)
        by_word = sorted(by_place, key=words.__getitem__)  # of one word the newest first
        self._words, self._named = (array(all.typecode, map(all.__getitem__, by_word)) for all in (words, self._named))
        self._count()

    def _count(self) -> None:
        self.statuses, self.tools, self.projects, self.days, self.written = self._columns
        self.by_day = Counter(day[:10] for day in self.days if day)
        self.by_project = Counter(project for project in self.projects if project)

    def __len__(self) -> int:
        return len(self._columns[0])

    def __getitem__(self, place: int) -> LedgerRow:
        at = range(len(self))[place] - len(self._first)
        return self._first[at + len(self._first)] if at < 0 else self._at(self._begins[at])

    def behind(self, first: Sequence[LedgerRow]) -> LedgerRows:
        """The same behind rows that stand in no ledger."""
        found = copy(self)
        found._first = first
        found._columns = [above + own for above, own in zip(rows_of(first)._columns, self._columns, strict=True)]
        found._count()
        return found

    def place_of(self, key: str) -> int | None:
        """Where the conversation of that key stands, None for none."""
        number = hash(key)
        return self._keys.index(number) + len(self._first) if key and number in self._keys else None

    def called(self, name: str) -> Called:
        """What the newest conversation is called that provenances tell by this name."""
        known = self._known.get(name)
        if known is None:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            known = self._known[name] = self._called(name)
        return known

    def _called(self, name: str) -> Called:
        at = bisect_left(self._words, hash(name))
        if at == len(self._words) or self._words[at] != hash(name):
            return UNCALLED
        entry = self._at(self._begins[self._named[at]]).entry
        return called(entry) if name in (own := own_name(entry), sanitise_name(own)) else UNCALLED


def rows_of(rows: Sequence[LedgerRow]) -> LedgerRows:
    """These rows, which are in order already and are all kept."""
    return LedgerRows(lambda: ((place, *row) for place, row in enumerate(rows)), rows.__getitem__)


def counts_at_once(workspace: Workspace) -> dict[str, int] | None:
    """How many entries of each status a large ledger has; None where reading it is quick, or cannot be read."""
    entries = known_entries(workspace.paths)
    return dict(entries.counts) if isinstance(entries, LargeLedger) else None


def ledger_rows(workspace: Workspace) -> LedgerRows:
    """The ledger as it is now, without what it says of copies in the archive: each is of a conversation that has an
    entry of its own. Raises KnowledgeError where it cannot be read."""
    path, entries = workspace.paths.ledger, seen_ledger(workspace.paths)
    if not isinstance(entries, LargeLedger):
        return rows_of([row for row in ledger(workspace) if not row.key.startswith(KEY)])
    with disk_errors("ledger-unreadable", "the ledger cannot be read", path):
        state = state_of(path.stat())

    def at(begin: int) -> LedgerRow:
        try:
            return LedgerRow(*read_entry(path, state, begin))
        except (OSError, ValueError, RecursionError):
            return UNREAD

    def walk() -> Iterable[tuple[int, str, Entry]]:
        return (row for row in entries.walk() if not row[1].startswith(KEY))

    return LedgerRows(walk, at, in_order=False)


def written_of(entry: Entry) -> int:
    """How many items of a conversation were written."""
    items = entry.get("items")
    return sum(number for number in items.values() if isinstance(number, int)) if isinstance(items, dict) else 0
