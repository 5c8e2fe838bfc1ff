"""The conversations inside other tools' databases, as artifacts: `path#id`, each with a hash of its own.

Nothing is ever taken out of a store; that a conversation was harvested stands in our ledger alone.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from core.harvest.artifact import Artifact
from core.harvest.hashes import HashCache

if TYPE_CHECKING:
    from core.conversations.session import StoredSession
    from core.conversations.stores import OpenStore

_MARK = "#"


@dataclass
class Sessions:
    """What a look into stores found. `notes` tell in words which store could not be read."""

    artifacts: list[Artifact] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class Shelf:
    """The stores that a run has open. Several threads may ask; one is answered after the other."""

    def __init__(self, copies: Path) -> None:
        """`copies` is a folder of ours, for a store that can only be read as a copy."""
        self._copies = copies
        self._lock = threading.Lock()
        self._open: dict[str, tuple[OpenStore, dict[str, StoredSession]]] = {}

    def __enter__(self) -> Shelf:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for store, _ in self._open.values():
            store.close()
        self._open.clear()

    def sessions(self, store: Artifact) -> list[Artifact]:
        """The conversations of a store. Raises OSError."""
        with self._lock:
            return [_artifact(store, row) for row in self._store(store.path)[1].values()]

    def content(self, item: Artifact) -> bytes:
        """One conversation in its canonical form. Raises OSError, FileNotFoundError when it is gone."""
        path, id = _parts(item)
        with self._lock:
            store, known = self._store(path)
            session = known.get(id) or store.session(id)
            if session is None:
                raise FileNotFoundError(f"it is not in {path} any more")
            return store.content(session)

    def _store(self, path: str) -> tuple[OpenStore, dict[str, StoredSession]]:
        if path not in self._open:
            from core.conversations.stores import OpenStore

            store = OpenStore(path, self._copies)
            try:
                self._open[path] = (store, {row.id: row for row in store.sessions()})
            except OSError:
                store.close()
                raise
        return self._open[path]


def list_sessions(stores: Sequence[Artifact], shelf: Shelf) -> Sessions:
    """The conversations of these stores; one that cannot be read is told and passed over."""
    found = Sessions()
    for store in stores:
        try:
            found.artifacts += shelf.sessions(store)
        except OSError as error:
            found.notes.append(f"{store.path}: {error.strerror or error}")
    return found


def hash_sessions(rows: list[Artifact], shelf: Shelf, cache: HashCache) -> dict[str, str]:
    """sha256 of each conversation's canonical form, by path; those that cannot be read are left out."""
    hashes, wanted = cache.known(rows)
    for item in wanted:
        started = time.time_ns()
        try:
            hashes[item.path] = hashlib.sha256(shelf.content(item)).hexdigest()
        except OSError:
            continue
        cache.put(item, hashes[item.path], started)
    return hashes


def _parts(item: Artifact) -> tuple[str, str]:
    """The store's path and the session's id. The name ends with the id, so a `#` in either is no harm."""
    id = item.name.partition("/")[2]
    return item.path[: -len(id) - len(_MARK)], id


def _artifact(store: Artifact, row: StoredSession) -> Artifact:
    path = f"{store.path}{_MARK}{row.id}"
    updated = int(row.updated * 1e9)
    # The cache of hashes knows a file by its inode and times; a session has none, so its id and its own time stand for
    # them. Without a time of its own it is as old as the store.
    key = int.from_bytes(hashlib.sha256(os.fsencode(path)).digest()[:7], "big")
    changed = updated or max(store.mtime_ns, _log_ns(store.path))
    return Artifact(
        path, f"{store.source}/{row.id}", "session", row.size, changed, changed, key, store.dev, "", store.source
    )


def _log_ns(path: str) -> int:
    try:
        return os.stat(f"{path}-wal").st_mtime_ns
    except OSError:
        return 0
