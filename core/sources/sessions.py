"""The conversations inside other tools' databases, exports and folders, as artifacts: `path#id`, each with its hash.

Nothing is ever taken out of a store; that a conversation was harvested stands in our ledger alone.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
import time
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.base.markdown import sanitise_name
from core.base.ready import kept_ready
from core.base.result import ErrorInfo
from core.base.secrets.redact import redact
from core.sources import archive
from core.sources.artifact import Artifact, HashCache, Survey
from core.sources.tools import EXPORTS, known_as

if TYPE_CHECKING:
    from core.conversations.collections.export_file import OpenExport
    from core.conversations.collections.opencode_files import OpenFolder
    from core.conversations.collections.store_file import StoredSession
    from core.conversations.collections.stores import OpenStore

EXPORT_ENDINGS = (".json", ".zip")
"""A store whose name ends like this is an export of a chat service; any other file is a database."""
TITLE_CHARACTERS = 60
_MARK = "#"
_DATABASE = ".db"
_UNFIT = re.compile(r"[/\\\[\]<>`#*|\x00-\x1f\x7f]")


class StoreCache:
    """The stores that a run has open. Several threads may ask; one is answered after the other.

    What an export holds is kept ready while its file is as it was: to list it again, it need not be read.
    """

    def __init__(self, copies: Path) -> None:
        """`copies` is a folder of ours in the cache folder; beside it is kept what exports hold."""
        self._copies = copies
        self._lock = threading.Lock()
        self._listed: dict[str, tuple[list[Artifact], list[str]]] = {}
        self._open: dict[str, tuple[OpenStore | OpenExport | OpenFolder, dict[str, StoredSession]]] = {}

    def __enter__(self) -> StoreCache:
        return self

    def __exit__(self, *raised: object) -> None:
        for store, _ in self._open.values():
            store.close()
        self._open.clear()

    def listed(self, store: Artifact) -> tuple[list[Artifact], list[str]]:
        """The conversations of a store, and what of it was skipped, in words. Raises OSError."""
        with self._lock:
            if store.path not in self._listed:
                if store.path.lower().endswith(EXPORT_ENDINGS):
                    name = f"export-{hashlib.sha256(os.fsencode(store.path)).hexdigest()[:16]}"
                    place = self._copies.with_name("ready") / name
                    seen = [store.mtime_ns, store.dev]  # which the list has from the scan
                    made = kept_ready(place, [Path(store.path)], lambda: self._look(store), asked=seen, read=_as_listed)
                else:
                    made = self._look(store)
                self._listed[store.path] = made
            return self._listed[store.path]

    def _look(self, store: Artifact) -> tuple[list[Artifact], list[str]]:
        held, rows = self._store(store.path)
        if held.kind in EXPORTS:
            return _of_export(store._replace(source=str(held.kind)), list(rows.values())), list(held.notes)
        return [_artifact(store, row) for row in rows.values()], list(held.notes)

    def content(self, item: Artifact) -> bytes:
        """One conversation in its canonical form. Raises OSError, FileNotFoundError when it is gone."""
        if item.kept:
            return archive.content(Path(item.kept))
        path, id = _parts(item)
        with self._lock:
            store, known = self._store(path)
            session = known.get(id) or next((row for row in store.sessions() if row.id == id), None)
            if session is None:
                raise FileNotFoundError(f"it is not in {path} any more")
            return store.content(session)

    def _store(self, path: str) -> tuple[OpenStore | OpenExport | OpenFolder, dict[str, StoredSession]]:
        if path not in self._open:
            store = self._opened(path)
            try:
                self._open[path] = (store, {row.id: row for row in store.sessions()})
            except OSError:
                store.close()
                raise
        return self._open[path]

    def _opened(self, path: str) -> OpenStore | OpenExport | OpenFolder:
        if path.lower().endswith(EXPORT_ENDINGS):
            from core.conversations.collections.export_file import OpenExport

            return OpenExport(path)
        if os.path.isdir(path):
            from core.conversations.collections.opencode_files import OpenFolder

            return OpenFolder(path)
        from core.conversations.collections.stores import OpenStore

        return OpenStore(path)


def list_sessions(stores: Sequence[Artifact], opened: StoreCache, named: Collection[str] = ()) -> Survey:
    """The conversations of these stores; one that cannot be read is told and passed over. `named` are paths that the
    person named: there it is an error."""
    found = Survey()
    for store in stores:
        try:
            artifacts, notes = opened.listed(store)
            found.artifacts += artifacts
            found.notes += notes
        except OSError as error:
            why = str(error.strerror or error)
            if store.path in named:
                hint = "see that the file is whole and that you may read it"
                found.errors.append(ErrorInfo("unreadable", why, store.path, hint))
            else:
                found.notes.append(f"{store.path}: {why}")
    _keep_newest(found)
    return found


def _keep_newest(found: Survey) -> None:
    """Two exports of one account hold the same conversations, and a tool that moved to a database leaves its files
    behind: only the newest state of each is read. What stands in the database is the newer one, whatever the times."""

    def rank(item: Artifact) -> tuple[bool, int, int]:
        return item.path.rpartition(_MARK)[0].endswith(_DATABASE), item.mtime_ns, item.size

    newest: dict[str, Artifact] = {}
    twice = 0
    for item in found.artifacts:
        key = known_as(item.path, item.source)
        other = newest.get(key)
        twice += other is not None and item.source in EXPORTS
        if other is None or rank(item) > rank(other):
            newest[key] = item
    if twice:
        found.notes.append(f"{twice} conversations stand in several exports; the newest state of each is read")
    found.artifacts = list(newest.values())


def hash_sessions(rows: list[Artifact], opened: StoreCache, cache: HashCache) -> dict[str, str]:
    """sha256 of each conversation's canonical form, by path; those that cannot be read are left out."""
    hashes, wanted = cache.known(rows)
    for item in wanted:
        started = time.time_ns()
        try:
            hashes[item.path] = hashlib.sha256(opened.content(item)).hexdigest()
        except OSError:
            continue
        cache.put(item, hashes[item.path], started)
    return hashes


def _parts(item: Artifact) -> tuple[str, str]:
    """The path of the store that a session is in, and the session's id there. Both may hold a `#`: where a database's
    session is named by its id, that id is cut off the end of the path."""
    if item.source in EXPORTS:  # the name tells the title; an id of an export never holds a `#`
        path, _, id = item.path.rpartition(_MARK)
        return path, id
    id = item.name.partition("/")[2]
    return item.path[: -len(id) - len(_MARK)], id


def _as_listed(kept: Any) -> tuple[list[Artifact], list[str]]:
    rows, notes = kept
    return [Artifact(*row) for row in rows], [str(note) for note in notes]


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


def _of_export(store: Artifact, rows: list[StoredSession]) -> list[Artifact]:
    """Each under its title and the end of its id: titles repeat, and ids of one day begin alike."""
    named: dict[str, Artifact] = {}
    for row in rows:
        item = _artifact(store, row)
        name = _name(store.source, row, row.id[-8:])
        name = name if name not in named else _name(store.source, row, row.id)
        named[name] = item._replace(name=name)
    return list(named.values())


def _name(source: str, row: StoredSession, id: str) -> str:
    """A title is the service's or the user's text: one line, without what a path or a provenance is made of, and not
    at all if it holds a secret."""
    title = " ".join(_UNFIT.sub(" ", row.title).split())[:TITLE_CHARACTERS].strip()
    if title:
        title = title if redact(title).text == title else ""
    return sanitise_name(f"{source}/{title} {id}" if title else f"{source}/{row.id}")


def _log_ns(path: str) -> int:
    try:
        return os.stat(f"{path}-wal").st_mtime_ns
    except OSError:
        return 0
