"""Opens the index, and brings it up to date with the files that its entries come from.

As long as a file has the state (size, times, inode) under which it was read, it is not opened; else its sha256 decides
whether its entries are read again. Every opening looks at each source and reads the entries of those that changed.
Writers take turns behind a lock; an index that must be made again is made beside the old one and renamed, so that a
reader has a whole one at any time. Where the cache folder cannot be used, or somebody holds the lock and does not let
go, the index is made in memory, for this one time.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
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
    stems = Stems()
    listed = sources()
    index = _as_it_is(folder, listed, stems)
    if index is not None:
        return index
    try:
        with locks.locked(folder / store.LOCK, work="search", editor_wait=editor_wait):
            listed = sources()
            return _updated(folder, listed, stems) or _made(folder, listed, stems)
    except (OSError, sqlite3.Error) as error:
        busy = isinstance(error, locks.LockHeldError)
        why = "another program is writing it" if busy else getattr(error, "strerror", None) or str(error)
        index = _filled(":memory:", listed, stems)
        index.note = f"the search index cannot be kept in {folder} ({why}); it was made in memory for this one search"
        return index


# --- the index as it is ----------------------------------------------------------------------------------------------


def _sealed(folder: Path) -> sqlite3.Connection | None:
    """The index as a database; None for one that was not written to its end, cannot be opened or is of another
    version."""

    if not store.is_sealed(folder):
        return None
    database = None
    with contextlib.suppress(sqlite3.Error):
        database = store.connect(folder / store.FILE)
        if store.is_sound(database):
            return database
    if database is not None:
        database.close()
    return None


def _as_it_is(folder: Path, sources: Sequence[SearchSource], stems: Stems) -> Index | None:
    """The index, when it is sound and no source changed."""
    database = _sealed(folder)
    if database is None:
        return None
    try:
        held = store.held_sources(database)
        known = held.keys() == {source.name for source in sources}
        if known and all(look(source, held[source.name]) is None for source in sources):
            return Index(database, stems, _problems(database))
    except sqlite3.Error:
        pass
    database.close()
    return None


def _problems(database: sqlite3.Connection) -> list[ErrorInfo]:
    return [ErrorInfo("not-searched", problem) for problem in store.held_problems(database)]


# --- writing ---------------------------------------------------------------------------------------------------------


def _updated(folder: Path, sources: Sequence[SearchSource], stems: Stems) -> Index | None:
    """The index with every change of the sources brought in; None when it cannot be trusted."""
    database = _sealed(folder)
    if database is None:
        return None
    try:
        database.execute("BEGIN IMMEDIATE")
        touched = _bring_in(database, sources)
        database.execute("COMMIT" if touched else "ROLLBACK")
    except sqlite3.Error:
        database.close()
        return None
    except BaseException:
        database.close()
        raise
    if touched:
        store.seal(folder)
    return Index(database, stems, _problems(database))


def _bring_in(database: sqlite3.Connection, sources: Sequence[SearchSource]) -> bool:
    """Let the entries be those of the sources; whether anything was written."""
    held = store.held_sources(database)
    touched = False
    free = max((row.id for row in held.values()), default=0) + 1
    next_row = store.next_id(database)
    for source in sources:
        known = held.pop(source.name, None)
        seen = look(source, known)
        if seen is None:
            continue
        touched = True
        problem = seen.problem
        number, free = (known.id, free) if known is not None else (free, free + 1)
        if known is not None and known.sha256 == seen.sha256:
            problem = known.problem
        else:
            read = attempt(source.entries, seen.data) if seen.data is not None else Ok(())
            rows = [] if isinstance(read, KnowledgeError) else [store.stored(entry) for entry in read.value]
            problem = str(read.error) if isinstance(read, KnowledgeError) else problem
            rows = rows if known is None else _replace(database, number, rows)
            next_row = store.add(database, number, rows, next_row)
        store.put_source(database, store.Held(number, source.name, seen.state, seen.sha256, problem))
    for gone in held.values():
        store.drop_source(database, gone.id)
        touched = True
    if touched:
        store.count(database)
    return touched


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


def _made(folder: Path, sources: Sequence[SearchSource], stems: Stems) -> Index:
    """A new index in place of whatever was there. The caller holds the lock."""
    for left in folder.glob(f".{store.FILE}.*{files.TEMPORARY_MARK}*"):
        files.discard(left)
    temporary = files.write_temporary(folder / store.FILE, b"", 0o600)  # SQLite would let others read what it makes
    try:
        _filled(temporary, sources, stems).close()
        fd = files.open_regular(temporary, os.O_RDWR)
        try:
            files.sync(fd)
        finally:
            os.close(fd)
        for ending in ("-journal", "-wal", "-shm"):  # what belonged to the old file must not be played into the new
            files.discard(folder / f"{store.FILE}{ending}")
        files.replace_file(temporary, folder / store.FILE)
    finally:
        files.discard(temporary)
    store.seal(folder)
    database = store.connect(folder / store.FILE)
    return Index(database, stems, _problems(database))


def _filled(place: Path | str, sources: Sequence[SearchSource], stems: Stems) -> Index:
    database = store.connect(place, make=True)
    database.execute("BEGIN")
    _bring_in(database, sources)
    store.finish(database)
    database.execute("COMMIT")
    return Index(database, stems, _problems(database))
