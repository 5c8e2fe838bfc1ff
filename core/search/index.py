"""Opens the index, and brings it up to date with the files that its entries come from.

As long as a file has the state (size, times, inode) under which it was read, it is not opened; else its sha256 decides
whether its entries are read again. Every opening looks at each source and reads the entries of those that changed.
Writers take turns behind a lock; an index that must be made again is made beside the old one and renamed, so that a
reader has a whole one at any time. Where the cache folder cannot be used, or somebody holds the lock and does not let
go, the index is made in memory, for this one time.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count, islice
from pathlib import Path
from typing import NamedTuple, TypeAlias

from core.base import files, locks
from core.base.entry import SearchSource
from core.base.result import ErrorInfo, KnowledgeError, Ok, attempt
from core.search import store
from core.search.words import Stems

SETTLED_NS = 2_000_000_000
"""A file written less than this before it was read may be written again within one tick of its clock: look again."""
UNREADABLE = "unreadable"
"""What stands for the sha256 of a file that cannot be read."""


class Look(NamedTuple):
    """One source as it is now: the state to remember ("" when it must be looked at again), the sha256 of its bytes, and
    the bytes, None where there are none; `problem` says why it cannot be read."""

    state: str
    sha256: str
    data: bytes | None = None
    problem: str = ""


def look(source: SearchSource, known: store.Held | None) -> Look | None:
    """One source as it is now; None when nothing changed since it became known."""
    try:
        state = store.state_of(source.path)
        if known is not None and known.state and known.state == state:
            return None
        if not state:
            return None if known is not None and not known.sha256 and not known.problem else Look("", "")
        started = time.time_ns()
        data = (source.read or files.read_or_empty)(Path(os.path.realpath(source.path)))
        young = started - int(state.split()[1]) < SETTLED_NS
        if source.read is not None or young or store.state_of(source.path) != state:
            state = ""
        found = Look(state, hashlib.sha256(data).hexdigest(), data)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        found = Look("", UNREADABLE, problem=f"{source.path} cannot be read, so it is not searched: {why}")
    is_known = known is not None and (known.state, known.sha256) == found[:2]
    return None if is_known else found


LOCK_SECONDS = 10.0
_Stored: TypeAlias = "tuple[object, ...]"


@dataclass
class Index:
    """An open index. `problems` name the sources that could not be read; `note` says why it is in memory ("": it is
    not)."""

    database: sqlite3.Connection
    stems: Stems
    problems: list[ErrorInfo] = field(default_factory=list)
    note: str = ""

    def close(self) -> None:
        """Let the file go."""
        self.database.close()


def open_index(
    folder: Path, sources: Callable[[], Sequence[SearchSource]], *, editor_wait: float = LOCK_SECONDS
) -> Index:
    """The index in `folder`, made or brought up to date as far as needed; at worst it is made in memory and says so.
    `sources` lists what there is; whoever writes lists it again while they hold the lock, for what an older list does
    not have would be taken out. `editor_wait` is how many seconds to wait for another writer. Raises what `sources`
    raises, and nothing else."""
    listed = sources()
    try:
        if (index := _opened(folder, listed)) is not None:
            return index
        with locks.locked(folder / store.LOCK, work="search", editor_wait=editor_wait):
            listed = sources()
            if (index := _opened(folder, listed, write=True)) is not None:
                return index
            return _index(store.made(folder, store.TABLES, store.VERSION, partial(_fill, listed)))
    except (OSError, sqlite3.Error) as error:
        busy = isinstance(error, locks.LockHeldError)
        why = "another program is writing it" if busy else getattr(error, "strerror", None) or str(error)
        index = _index(store.made_at(":memory:", store.TABLES, store.VERSION, partial(_fill, listed)))
        index.note = f"the search index cannot be kept in {folder} ({why}); it was made in memory for this one search"
        return index


def _opened(folder: Path, sources: Sequence[SearchSource], *, write: bool = False) -> Index | None:
    """The index as the sources are now; None for one that cannot be trusted, and for one in which something must be
    changed, unless the caller may `write`."""
    database = store.opened(folder, store.VERSION) if store.is_sealed(folder) else None
    if database is None:
        return None
    try:
        changes = list(islice(_changes(database, sources), None if write else 1))
        if changes and write:
            database.execute("BEGIN IMMEDIATE")
            _bring_in(database, changes)
            database.execute("COMMIT")
            store.seal(folder)
        if write or not changes:
            return _index(database)
    except sqlite3.Error:
        pass
    except BaseException:
        database.close()
        raise
    database.close()
    return None


def _index(database: sqlite3.Connection) -> Index:
    return Index(database, Stems(), [ErrorInfo("not-searched", problem) for problem in store.held_problems(database)])


# --- writing ---------------------------------------------------------------------------------------------------------


class Change(NamedTuple):
    """A source that is not as the index knows it; `source` is None for one that is gone, `known` for a new one."""

    source: SearchSource | None
    known: store.Held | None
    seen: Look


def _changes(database: sqlite3.Connection, sources: Sequence[SearchSource]) -> Iterator[Change]:
    held = store.held_sources(database)
    for source in sources:
        known = held.pop(source.name, None)
        seen = look(source, known)
        if seen is not None:
            yield Change(source, known, seen)
    for gone in held.values():
        yield Change(None, gone, Look("", ""))


def _bring_in(database: sqlite3.Connection, changes: Iterable[Change]) -> None:
    """Let the entries be those of the sources."""
    free = count(database.execute("SELECT coalesce(max(id), 0) + 1 FROM sources").fetchone()[0])
    for source, known, seen in changes:
        if source is None:
            assert known is not None
            store.drop_source(database, known.id)
            continue
        if known is not None and known.sha256 == seen.sha256:
            store.put_source(database, known._replace(state=seen.state))
            continue
        read = attempt(source.entries, seen.data) if seen.data is not None else Ok(())
        rows = [] if isinstance(read, KnowledgeError) else [store.stored(entry) for entry in read.value]
        problem = str(read.error) if isinstance(read, KnowledgeError) else seen.problem
        number = known.id if known is not None else next(free)
        store.put_source(database, store.Held(number, source.name, seen.state, seen.sha256, problem))
        store.add(database, number, rows if known is None else _replace(database, number, rows))
    store.count(database)


def _replace(database: sqlite3.Connection, source: int, rows: Sequence[_Stored]) -> list[_Stored]:
    """Make the entries of one source those of `rows`, touching only what differs; returns those to be added."""
    waiting: dict[tuple[str, str, str], list[store.Row]] = {}
    for row in reversed(store.rows_of(database, source)):
        waiting.setdefault(store.searched(row[1:]), []).append(row)
    new = []
    for wanted in rows:
        same = waiting.get(store.searched(wanted))
        if not same:
            new.append(wanted)
            continue
        old = same.pop()
        if old[1:] != wanted:
            store.change(database, old, wanted)
    store.remove(database, [row for rest in waiting.values() for row in rest])
    return new


def _fill(sources: Sequence[SearchSource], database: sqlite3.Connection) -> None:
    _bring_in(database, _changes(database, sources))
    for index in store.INDICES:  # faster than keeping them while it grows
        database.execute(index)
