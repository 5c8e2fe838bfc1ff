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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from core.base import files, locks
from core.base.entry import SearchSource
from core.base.result import ErrorInfo, KnowledgeError, attempt
from core.search import store
from core.search.words import Stems

SETTLED_NS = 2_000_000_000
"""A file written less than this before it was read may be written again within one tick of its clock: look again."""


@dataclass(frozen=True)
class Look:
    """One source as it is now: the state to remember ("" when it must be looked at again), hash, rows or a problem."""

    state: str
    sha256: str
    rows: list[tuple[object, ...]] | None
    problem: str = ""


def look(source: SearchSource, known: store.Held | None, before: Look | None = None) -> Look | None:
    """One source as it is now; None when nothing changed since it became known. `before`: what a look a moment ago saw,
    whose rows (None: those that were known then) stand for the same bytes."""
    try:
        state = store.state_of(source.path)
        if known is not None and known.state and known.state == state:
            return None
        if not state:
            gone = Look("", "", [])
            return None if known is not None and not known.sha256 and not known.problem else gone
        started = time.time_ns()
        data = (source.read or files.read_or_empty)(Path(os.path.realpath(source.path)))
        if (
            source.read is not None
            or store.state_of(source.path) != state
            or started - int(state.split()[1]) < SETTLED_NS
        ):
            state = ""
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        return Look("", "unreadable", [], f"{source.path} cannot be read, so it is not searched: {why}")
    sha256 = hashlib.sha256(data).hexdigest()
    if known is not None and known.sha256 == sha256:
        return Look(state, sha256, None, known.problem)
    if before is not None and before.rows is not None and before.sha256 == sha256:
        return Look(state, sha256, before.rows, before.problem)
    result = attempt(source.entries, data)
    if isinstance(result, KnowledgeError):
        return Look(state, sha256, [], str(result.error))
    return Look(state, sha256, [store.stored(entry) for entry in result.value])


def is_same(source: SearchSource, known: store.Held, looks: dict[str, Look]) -> bool:
    """Whether a source is as it is known; `looks` gets what was seen of one that had to be read."""
    seen = look(source, known)
    if seen is None:
        return True
    looks[source.name] = seen
    return (seen.rows is None and not seen.state and not known.state) or (seen.sha256 == known.sha256 == "unreadable")


def differences(folder: Path, sources: Sequence[SearchSource]) -> list[str]:
    """How the index on disk differs from what the files say, as sentences; [] when it does not or there is none.
    Reads every file and every entry, and changes nothing."""

    if not files.exists(folder / store.FILE):
        return []
    if not store.is_sealed(folder):
        return ["the search index is not as the program left it"]
    found: list[str] = []
    try:
        with contextlib.closing(store.connect(folder / store.FILE)) as database:
            if not store.is_sound(database):
                return ["the search index is from another version"]
            if database.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
                return ["the search index is damaged"]
            held = store.held_sources(database)
            for source in sources:
                known = held.pop(source.name, None)
                seen = look(source, None)
                there = [tuple(row[1:]) for row in store.rows_of(database, known.id)] if known else []
                wanted = (seen.rows if seen is not None else None) or []
                # No `known` was given, so there is a look, and it has rows or none.
                more, less = len(set(wanted) - set(there)), len(set(there) - set(wanted))
                if sorted(map(repr, there)) != sorted(map(repr, wanted)):
                    found.append(f"{source.path.name} has changed since the last search ({more} new, {less} gone)")
            found += [f"{name.rpartition(':')[2]} is still in the index but is no longer searched" for name in held]
            counted = database.execute("SELECT count(*) FROM entries").fetchone()[0]
            words = database.execute("SELECT count(*) FROM words_docsize").fetchone()[0]
            if counted != words:
                found.append(f"the search index has {counted} entries and words of {words}")
    except (OSError, sqlite3.Error) as error:
        return [f"the search index cannot be read: {error}"]
    return found


LOCK_SECONDS = 10.0


@dataclass
class Index:
    """An open index. `problems` name the sources that could not be read; `note` says why it is in memory ("": it is
    not). `rebuilt` says that it was made again, `changed` how many entries were added, removed or rewritten."""

    database: sqlite3.Connection
    stems: Stems
    problems: list[ErrorInfo] = field(default_factory=list)
    note: str = ""
    rebuilt: bool = False
    changed: int = 0

    def close(self) -> None:
        """Let the file go."""
        self.database.close()


def open_index(
    folder: Path, sources: Sequence[SearchSource], *, anew: bool = False, editor_wait: float = LOCK_SECONDS
) -> Index:
    """The index in `folder`, made or brought up to date as far as needed; `anew` makes it in any case. Never fails: at
    worst it is made in memory and says so. `editor_wait` is how many seconds to wait for another writer."""

    stems = Stems()
    looks: dict[str, Look] = {}
    if not anew:
        index = _as_it_is(folder, sources, stems, looks)
        if index is not None:
            return index
    try:
        with locks.locked(folder / store.LOCK, work="search", editor_wait=editor_wait):
            if not anew:
                index = _updated(folder, sources, stems, looks)
                if index is not None:
                    return index
            return _made(folder, sources, stems)
    except (OSError, sqlite3.Error) as error:
        busy = isinstance(error, locks.LockHeldError)
        why = "another program is writing it" if busy else getattr(error, "strerror", None) or str(error)
        index = _filled(":memory:", sources, stems)
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


def _as_it_is(folder: Path, sources: Sequence[SearchSource], stems: Stems, looks: dict[str, Look]) -> Index | None:
    """The index, when it is sound and no source changed. Else `looks` gets what was read to know."""

    database = _sealed(folder)
    if database is None:
        return None
    try:
        held = store.held_sources(database)
        if held.keys() == {source.name for source in sources} and all(
            is_same(source, held[source.name], looks) for source in sources
        ):
            return Index(database, stems, _problems(database))
    except sqlite3.Error:
        pass
    database.close()
    return None


def _problems(database: sqlite3.Connection) -> list[ErrorInfo]:
    return [ErrorInfo("not-searched", problem) for problem in store.held_problems(database)]


# --- writing ---------------------------------------------------------------------------------------------------------


def _updated(folder: Path, sources: Sequence[SearchSource], stems: Stems, looks: Mapping[str, Look]) -> Index | None:
    """The index with every change of the sources brought in; None when it cannot be trusted."""

    database = _sealed(folder)
    if database is None:
        return None
    try:
        database.execute("BEGIN IMMEDIATE")
        changed, touched = _bring_in(database, sources, looks)
        database.execute("COMMIT" if touched else "ROLLBACK")
    except sqlite3.Error:
        database.close()
        return None
    except BaseException:
        database.close()
        raise
    if touched:
        store.seal(folder)
    return Index(database, stems, _problems(database), changed=changed)


def _bring_in(
    database: sqlite3.Connection, sources: Sequence[SearchSource], looks: Mapping[str, Look]
) -> tuple[int, bool]:
    """How many entries changed, and whether anything was written. `looks`: what was seen a moment ago."""
    held = store.held_sources(database)
    changed, touched = 0, False
    free = max((row.id for row in held.values()), default=0) + 1
    for source in sources:
        known = held.pop(source.name, None)
        seen = look(source, known, looks.get(source.name))
        if seen is None:
            continue
        touched = True
        number = known.id if known is not None else free
        free += known is None
        if seen.rows is not None:
            changed += _replace(database, number, seen.rows)
        store.put_source(database, store.Held(number, source.name, seen.state, seen.sha256, seen.problem))
    for gone in held.values():
        store.drop_source(database, gone.id)
        changed, touched = changed + 1, True
    if changed:
        store.count(database)
    return changed, touched


def _replace(database: sqlite3.Connection, source: int, rows: Sequence[tuple[object, ...]]) -> int:
    """Make the entries of one source those of `rows`, touching only what differs."""
    waiting: dict[tuple[str, str, str], list[store.Row]] = {}
    for row in reversed(store.rows_of(database, source)):
        waiting.setdefault(store.searched(row[1:]), []).append(row)
    new, changed = [], 0
    for wanted in rows:
        same = waiting.get(store.searched(wanted))
        if not same:
            new.append(wanted)
            continue
        old = same.pop()
        if old[1:] != wanted:
            store.change(database, old, wanted)
            changed += 1
    gone = [row for rest in waiting.values() for row in rest]
    store.remove(database, gone)
    store.add(database, source, new, store.next_id(database))
    return changed + len(gone) + len(new)


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
    index = Index(database, stems, _problems(database), rebuilt=True)
    index.changed = store.counted(database)
    return index


def _filled(place: Path | str, sources: Sequence[SearchSource], stems: Stems) -> Index:
    database = store.connect(place, make=True)
    database.execute("BEGIN")
    free = 1
    for number, source in enumerate(sources, start=1):
        seen = look(source, None)
        assert seen is not None and seen.rows is not None
        free = store.add(database, number, seen.rows, free)
        store.put_source(database, store.Held(number, source.name, seen.state, seen.sha256, seen.problem))
    store.finish(database)
    store.count(database)
    database.execute("COMMIT")
    return Index(database, stems, _problems(database), rebuilt=True, changed=free - 1)
