"""Another program's SQLite file, opened so that nothing is written beside it, also while its owner writes; and what a
list shows of a conversation in it.

SQLite makes the files of its write-ahead log (`-wal`, `-shm`) when a database in that mode is opened and they are not
there, even for reading (https://www.sqlite.org/wal.html, "Read-Only Databases"). So:

- no write-ahead log mode: plain `mode=ro`; a reader's lock makes the owner wait for moments only;
- the log's two files are there, so the owner is at work or was killed: `mode=ro` uses what is there;
- else what is in the one file is read as `immutable`. If the owner begins to write meanwhile, the file or its folder
  shows it, and what was read is thrown away (`StoreChangedError`). What stands in a log without its index is read when
  the owner was there again.
"""

from __future__ import annotations

import errno
import json
import os
import sqlite3
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple
from urllib.parse import quote

from core.base import files
from core.conversations.turns import clean, iso_time

WAIT_SECONDS = 5.0
_MAGIC = b"SQLite format 3\0"
_WAL_MODE = 2


# --- what a store holds ----------------------------------------------------------------------------------------------


class StoredSession(NamedTuple):
    """`updated` is seconds since 1970 (0.0: not told), `size` bytes of what was said as the owner stores it.

    `folder` is the working folder, `delegated` that an assistant opened the session for a sub-agent.
    """

    id: str
    title: str = ""
    folder: str = ""
    updated: float = 0.0
    size: int = 0
    delegated: bool = False


def text(value: Any) -> str:
    """A column that should hold text; bytes are UTF-8."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return clean(value) if isinstance(value, str) else ""


def number(value: Any) -> int:
    """A column that should hold a number."""
    return value if isinstance(value, int) else int(value) if isinstance(value, float) and abs(value) < 1e18 else 0


def seconds(value: Any) -> float:
    """A time of any kind (seconds, milliseconds, ISO 8601 with or without a zone, which is UTC then) since 1970."""
    stamp = iso_time(value)
    try:
        found = datetime.fromisoformat(stamp)
    except ValueError:
        return 0.0
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def parsed(value: Any) -> Any:
    """The JSON in a column; None for what is none."""
    try:
        return json.loads(text(value), strict=False)
    except (ValueError, RecursionError):
        return None


# --- the file --------------------------------------------------------------------------------------------------------


class StoreError(OSError):
    """A store cannot be read; `strerror` says why in words, `filename` which."""

    def __init__(self, why: str, path: str) -> None:
        super().__init__(errno.EIO, why, path)


class StoreChangedError(StoreError):
    """The owner wrote while the store was read: ask again."""


class StoreFile:
    """An open store. Every query is one look: rows that the owner adds later are seen by the next one. Not for several
    threads at once."""

    def __init__(self, path: str) -> None:
        """Raises OSError."""
        self.path = path
        self._before: tuple[object, ...] | None = None
        address = f"file:{quote(os.fsencode(path))}?mode=ro"
        if _is_wal(path) and not all(os.path.lexists(f"{path}-{part}") for part in ("wal", "shm")):
            self._before = _state(path)
            address += "&immutable=1"
        try:
            self._connection = sqlite3.connect(
                address, uri=True, timeout=WAIT_SECONDS, isolation_level=None, check_same_thread=False
            )
            for statement in ("query_only = 1", "trusted_schema = 0", "cell_size_check = 1", "mmap_size = 0"):
                self._connection.execute(f"PRAGMA {statement}")
            self._tables = self._columns()
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise StoreError(f"the database cannot be read: {error}", path) from error
        self._connection.text_factory = lambda data: data.decode("utf-8", "replace")

    def _columns(self) -> dict[str, frozenset[str]]:
        names = [str(row[0]) for row in self._connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        asked = "SELECT name FROM pragma_table_info(?)"
        return {name: frozenset(str(row[0]) for row in self._connection.execute(asked, (name,))) for name in names}

    def has(self, table: str, *columns: str) -> bool:
        """Whether there is such a table with all these columns."""
        return table in self._tables and self._tables[table].issuperset(columns)

    def column(self, table: str, *names: str) -> str:
        """The first of these columns that the table has, else the SQL for none."""
        return next((f'"{name}"' for name in names if self.has(table, name)), "NULL")

    def rows(self, query: str, values: Sequence[object] = ()) -> Iterator[tuple[Any, ...]]:
        """The rows of a query, one at a time. Raises StoreError."""
        try:
            yield from self._connection.execute(query, values)
        except (sqlite3.Error, OverflowError, UnicodeDecodeError) as error:
            raise StoreError(f"the database cannot be read: {error}", self.path) from error
        if self._before is not None and _state(self.path) != self._before:
            raise StoreChangedError("the database was written while it was read", self.path)

    def close(self) -> None:
        self._connection.close()


def _is_wal(path: str) -> bool:
    """Whether the file's header says that it is used with a write-ahead log. Raises OSError for what is no database."""
    with os.fdopen(files.open_regular(path), "rb") as file:
        head = file.read(100)
    if head[:16] != _MAGIC or len(head) < 100:
        raise StoreError("this is no SQLite database", path)
    return head[18] == _WAL_MODE or head[19] == _WAL_MODE


def _state(path: str) -> tuple[object, ...]:
    found = os.stat(path)
    log = os.path.lexists(f"{path}-wal") and os.path.getsize(f"{path}-wal") > 0
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, log)
