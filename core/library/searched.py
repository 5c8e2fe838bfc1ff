"""The documents of a library in a file, as the one search index reads them: a row for each chunk.

It is read with what Python has, since a hook and a search that every agent calls wait for no database layer. What a
library in PostgreSQL holds is asked for there.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from core.base import files
from core.base.entry import Entry, SearchSource
from core.base.result import disk_errors
from core.search.store import DOCUMENT

NAME = "documents::library.db"
BUSY_SECONDS = 2.0
_FOUND = "LEFT JOIN location l ON l.document_id = d.id"
_PLACE = "coalesce(min(l.project), ''), coalesce(min(l.source), d.source)"
# Chunks are numbered one after the other; what one says changes with its document alone.
_DOCUMENTS = (
    f"SELECT d.id, d.content_sha256, d.title, {_PLACE}, c.newest, c.number FROM document d {_FOUND} JOIN "
    "(SELECT document_id, max(number) AS newest, count(*) AS number FROM chunk GROUP BY document_id) c "
    "ON c.document_id = d.id WHERE d.status = 'active' GROUP BY d.id ORDER BY d.id"
)
_CHUNKS = (
    f"SELECT c.id, d.title, c.heading, c.content, c.day, {_PLACE}, d.id, c.position "
    f"FROM document d {_FOUND} JOIN chunk c ON c.document_id = d.id "
    "WHERE d.status = 'active' AND d.id >= ? AND d.id < ? GROUP BY c.id ORDER BY d.id, c.position"
)


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """The file, for reading alone. Raises OSError where it cannot be read, or is of another version."""
    try:
        with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=BUSY_SECONDS)) as opened:
            yield opened
    except sqlite3.Error as error:
        raise OSError(0, f"{error} ('knowledge library list' brings an older one up to date)", str(path)) from error


def file_at(url: str) -> Path | None:
    """The file that an address of a library names (a path, also `sqlite:///…`); None for a server."""
    scheme, found, rest = url.partition("://")
    if found and scheme != "sqlite":
        return None
    return Path(os.path.abspath(os.path.expanduser(rest.removeprefix("/") if found else url)))


def sources(path: Path) -> list[SearchSource]:
    """What an index reads of the library in a file; [] where there is none. It was cleared of secrets when it was
    taken in."""
    if not files.exists(path):
        return []
    try:
        parts = shelves(path)
    except OSError:  # the index names it, and why
        return [SearchSource(NAME, path, partial(entries, path, "  "), lambda _: b"".join(shelves(path).values()))]
    return [
        SearchSource(f"{NAME}:{begin}", path, partial(entries, path, begin), partial(_mark, mark))
        for begin, mark in parts.items()
    ]


def _mark(mark: bytes, _path: Path) -> bytes:
    return mark


def shelves(path: Path) -> dict[str, bytes]:
    """The documents in up to 256 parts, by how their ids begin, each with what stands for its chunks: another one where
    a document of it came, changed, moved or went. So a new document makes none of the others be read again. Raises
    OSError."""
    made: dict[str, Any] = {}
    with _opened(path) as library:
        for row in library.execute(_DOCUMENTS):
            made.setdefault(row[0][:2], hashlib.sha256()).update(repr(row).encode("utf-8", "surrogatepass"))
    return {begin: mark.digest() for begin, mark in made.items()}


def entries(path: Path, begin: str, _data: bytes) -> Sequence[Entry]:
    """A row for each chunk of a part: `key` is its id, `path` where its document was found first."""
    with disk_errors("unreadable", "the library cannot be searched", path), _opened(path) as library:
        return [
            Entry(DOCUMENT, key, titled(title, heading), text, day, "", (), project, source, document, position)
            for key, title, heading, text, day, project, source, document, position in library.execute(
                _CHUNKS, (begin, begin[:1] + chr(ord(begin[1]) + 1))
            )
        ]


def is_gone(source: str) -> bool:
    """Whether the file that a document was read from is not there any more; a conversation may lie inside one."""
    known = "://" in source or "[redacted:" in source  # a page, or a name in which a secret was replaced
    return not (known or os.path.exists(source) or os.path.exists(source.rpartition("#")[0]))


def titled(title: str, heading: str) -> str:
    """The document, and the way to a part of it."""
    return heading if heading.partition(" > ")[0] == title else " > ".join(filter(None, (title, heading)))


def entries_around(path: Path, chunk: str, around: int) -> list[Entry]:
    """A chunk, with those `around` it in its document; [] where there is none. Raises OSError and
    KnowledgeError."""
    with _opened(path) as library:
        found = library.execute("SELECT document_id, position FROM chunk WHERE id = ?", (chunk,)).fetchone()
    if found is None:
        return []
    inside = [one for one in entries(path, found[0][:2], b"") if one.thread == found[0]]
    return [one for one in inside if abs(one.position - found[1]) <= around]
