"""Whether the files that entries come from are still as the index knows them. Only looks; index.py writes.

As long as a file has the state (size, times, inode) under which it was read, it is not opened; else its sha256 decides
whether its entries are read again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from core.base import files
from core.base.result import Err
from core.base.search_entry import SearchSource
from core.search import store

SETTLED_NS = 2_000_000_000
"""A file written less than this before it was read may be written again within one tick of its clock: look again."""


@dataclass(frozen=True)
class Look:
    """One source as it is now: the state to remember ("" when it must be looked at again), hash, rows or a problem."""

    state: str
    sha256: str
    rows: list[tuple[object, ...]] | None
    problem: str = ""


def look(source: SearchSource, known: store.Held | None) -> Look | None:
    """One source as it is now; None when nothing changed since it became known."""
    try:
        state = store.state_of(source.path)
        if known is not None and known.state and known.state == state:
            return None
        if not state:
            gone = Look("", "", [])
            return None if known is not None and not known.sha256 and not known.problem else gone
        started = time.time_ns()
        data = files.read_or_empty(os.path.realpath(source.path))
        if store.state_of(source.path) != state or started - int(state.split()[1]) < SETTLED_NS:
            state = ""
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        return Look("", "unreadable", [], f"{source.path} cannot be read, so it is not searched: {why}")
    sha256 = hashlib.sha256(data).hexdigest()
    if known is not None and known.sha256 == sha256:
        return Look(state, sha256, None, known.problem)
    result = source.entries(data)
    if isinstance(result, Err):
        return Look(state, sha256, [], str(result.error))
    return Look(state, sha256, [store.stored(entry) for entry in result.value])


def is_same(source: SearchSource, known: store.Held, same: dict[str, str]) -> bool:
    """Whether a source is as it is known; `same` gets the state of one that needed no reading."""
    seen = look(source, known)
    if seen is None:
        same[source.name] = known.state
        return True
    return (seen.rows is None and not seen.state and not known.state) or (seen.sha256 == known.sha256 == "unreadable")


def differences(folder: Path, sources: Sequence[SearchSource]) -> list[str]:
    """How the index on disk differs from what the files say, as sentences; [] when it does not or there is none.
    Reads every file and every entry, and changes nothing."""
    import sqlite3

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
