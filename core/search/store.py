"""The index file: one SQLite database with the entries, where each came from, and a full-text table over them.

It is a projection. A file that is missing, half-written, damaged, from another version or touched by another program is
thrown away and made again. How a touched one is known: after each write of ours `search.seal` beside it records the
state of the file (size, times, inode); any other state is nobody's promise.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from core.base import files
from core.base.entry import Entry
from core.search import ENTRIES_VERSION
from core.search.words import TOKENIZER, spaced, storable

VERSION = ENTRIES_VERSION
FILE, SEAL, LOCK = "search.db", "search.seal", "search.lock"
TAG_MARK = "\n"
Fill = Callable[[sqlite3.Connection], None]
"""Puts the first rows into a new index."""
DOCUMENT = "document"
"""The kind of a passage of a document."""

TABLES = f"""
CREATE TABLE sources(
    id INTEGER PRIMARY KEY, name TEXT UNIQUE, state TEXT, sha256 TEXT, problem TEXT
);
CREATE TABLE entries(
    id INTEGER PRIMARY KEY, source INTEGER, kind TEXT, key TEXT, title TEXT, text TEXT, date TEXT, provenance TEXT,
    tags TEXT, project TEXT, path TEXT, thread TEXT, position INTEGER, role TEXT
);
CREATE VIEW said AS SELECT thread, length(text) AS characters FROM entries;
CREATE TABLE vectors(turn INTEGER PRIMARY KEY, vector BLOB);
CREATE TABLE known(key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE counted(entries INTEGER);
INSERT INTO counted VALUES (0);
CREATE VIRTUAL TABLE words USING fts5(title, text, about, content='', tokenize="{TOKENIZER}");
CREATE VIRTUAL TABLE stems USING fts5vocab(words, row);
"""
INDICES = (
    "CREATE INDEX by_source ON entries(source)",
    "CREATE INDEX by_kind ON entries(kind, role)",
    "CREATE INDEX by_thread ON entries(thread, position) WHERE thread <> ''",
)
COLUMNS = "id, kind, key, title, text, date, provenance, tags, project, path, thread, position, role"


class Row(NamedTuple):
    """One stored entry. `tags` stand between line breaks."""

    id: int
    kind: str
    key: str
    title: str
    text: str
    date: str
    provenance: str
    tags: str
    project: str
    path: str
    thread: str
    position: int
    role: str = ""

    @property
    def alone(self) -> bool:
        """Whether nothing around it speaks for it: a passage of a document was cut so that it says a thing of its own.
        Of 120 questions about this project's pages 68 find theirs so, 59 by what stands around it."""
        return not self.thread or self.kind == DOCUMENT

    def entry(self) -> Entry:
        """What was put in."""
        tags = tuple(tag for tag in self.tags.split(TAG_MARK) if tag)
        return Entry(*self[1:7], tags, *self[8:])


class Held(NamedTuple):
    """What the index knows of one source: `state` of its file when it was read ("" for none), the sha256 of its bytes,
    and the sentence of what was wrong with it."""

    id: int
    name: str
    state: str
    sha256: str
    problem: str


# --- opening ---------------------------------------------------------------------------------------------------------


def connect(path: Path | str) -> sqlite3.Connection:
    """Open an index file."""
    database = sqlite3.connect(path, timeout=10, isolation_level=None, check_same_thread=False)
    try:
        database.execute("PRAGMA cache_size = -32000")
        database.execute("PRAGMA mmap_size = 268435456")
    except BaseException:
        database.close()
        raise
    return database


def made(folder: Path, tables: str, version: int, fill: Fill = lambda database: None) -> sqlite3.Connection:
    """A new index in place of whatever was there, filled before anybody sees it. The caller holds the lock. Raises
    OSError and sqlite3.Error."""
    for left in folder.glob(f".{FILE}.*{files.TEMPORARY_MARK}*"):
        files.discard(left)
    temporary = files.write_temporary(folder / FILE, b"", 0o600)  # SQLite would let others read what it makes
    try:
        made_at(temporary, tables, version, fill).close()
        fd = files.open_regular(temporary, os.O_RDWR)
        try:
            files.sync(fd)
        finally:
            os.close(fd)
        for ending in ("-journal", "-wal", "-shm"):  # what belonged to the old file must not be played into the new
            files.discard(folder / f"{FILE}{ending}")
        files.replace_file(temporary, folder / FILE)
    finally:
        files.discard(temporary)
    seal(folder)
    return connect(folder / FILE)


def made_at(place: Path | str, tables: str, version: int, fill: Fill) -> sqlite3.Connection:
    """A new index in an empty file, or in memory."""
    database = connect(place)
    unsafe = "PRAGMA page_size = 8192; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF"  # half of it is nobody's
    database.executescript(f"{unsafe}; PRAGMA user_version = {version}; {tables}")
    database.execute("INSERT INTO words(words, rank) VALUES ('hashsize', 16777216)")
    database.execute("BEGIN")
    fill(database)
    database.execute("COMMIT")
    return database


def opened(folder: Path, *versions: int) -> sqlite3.Connection | None:
    """The index in a folder, where there is one of these versions that can be opened."""
    database = None
    try:
        database = connect(folder / FILE)
        if database.execute("PRAGMA user_version").fetchone()[0] in versions:
            return database
    except sqlite3.Error:
        pass
    if database is not None:
        database.close()
    return None


def state_of(path: Path) -> str:
    """Which file stands there and in what state: changes with every write, whatever sets its time back. "" for none.
    Raises OSError when it cannot be looked at."""
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return ""
    return f"{found.st_size} {found.st_mtime_ns} {found.st_ctime_ns} {found.st_ino}"


def is_sealed(folder: Path) -> bool:
    """Whether the index file is as our last write left it."""
    try:
        state = state_of(folder / FILE)
    except OSError:
        return False
    return bool(state) and files.read_object(folder / SEAL) == {"version": VERSION, "state": state}


def seal(folder: Path) -> None:
    """Record the state of the index file after a write."""
    files.write_cache(folder / SEAL, json.dumps({"version": VERSION, "state": state_of(folder / FILE)}).encode("ascii"))


@contextlib.contextmanager
def one_state(database: sqlite3.Connection) -> Iterator[None]:
    """Several statements that read see one state of the index, and need not lock the file and look at it each."""
    database.execute("BEGIN")
    try:
        yield
    finally:
        if database.in_transaction:  # SQLite ends it by itself where the file is damaged
            database.execute("ROLLBACK")


# --- rows ------------------------------------------------------------------------------------------------------------


def held_sources(database: sqlite3.Connection) -> dict[str, Held]:
    """All sources by name."""
    rows = database.execute("SELECT id, name, state, sha256, problem FROM sources")
    return {row[1]: Held(*row) for row in rows}


def held_problems(database: sqlite3.Connection) -> list[str]:
    """The sentences of what is wrong with sources."""
    return [row[0] for row in database.execute("SELECT problem FROM sources WHERE problem <> '' ORDER BY id")]


def put_source(database: sqlite3.Connection, held: Held) -> None:
    """Insert or replace what is known of a source."""
    database.execute("INSERT OR REPLACE INTO sources(id, name, state, sha256, problem) VALUES (?, ?, ?, ?, ?)", held)


def drop_source(database: sqlite3.Connection, source: int) -> None:
    """Forget a source and its entries."""
    remove(database, rows_of(database, source))
    database.execute("DELETE FROM sources WHERE id = ?", (source,))


def rows_of(database: sqlite3.Connection, source: int) -> list[Row]:
    """The entries of one source."""
    rows = database.execute(f"SELECT {COLUMNS} FROM entries WHERE source = ? ORDER BY id", (source,))
    return [Row(*row) for row in rows]


def stored(entry: Entry) -> tuple[object, ...]:
    """The columns of an entry, from kind on."""
    kind, key, title, text, date, provenance, tags, project, path, thread, position, role = entry
    marked = f"\n{TAG_MARK.join(tag.casefold() for tag in tags)}\n" if tags else ""
    row = (kind, key, title, text, date, provenance, marked, project, path, thread)
    return (*map(storable, row), position, role)


def searched(row: Sequence[object]) -> tuple[str, str, str]:
    """What of a stored row (from kind on) goes into the full-text table: title, text, and what is known about it."""
    about = f"{row[6]} {row[5]} {row[4]}" if row[4] or row[5] or row[6] else ""
    return spaced(str(row[2])), spaced(str(row[3])), spaced(about)


def add(database: sqlite3.Connection, source: int, rows: Iterable[Sequence[object]]) -> None:
    """Insert stored rows (`stored`)."""
    entries, words = [], []
    first = database.execute("SELECT coalesce(max(id), 0) + 1 FROM entries").fetchone()[0]
    for number, row in enumerate(rows, start=first):
        entries.append((number, source, *row))
        words.append((number, *searched(row)))
    database.executemany(f"INSERT INTO entries VALUES ({', '.join('?' * 14)})", entries)
    database.executemany("INSERT INTO words(rowid, title, text, about) VALUES (?, ?, ?, ?)", words)


def remove(database: sqlite3.Connection, rows: Iterable[Row]) -> None:
    """Take entries out. The full-text table must be given the same words again."""
    for row in rows:
        database.execute(
            "INSERT INTO words(words, rowid, title, text, about) VALUES ('delete', ?, ?, ?, ?)",
            (row.id, *searched(row[1:])),
        )
        database.execute("DELETE FROM entries WHERE id = ?", (row.id,))
        database.execute("DELETE FROM vectors WHERE turn = ?", (row.id,))


def change(database: sqlite3.Connection, old: Row, new: Sequence[object]) -> None:
    """Rewrite what is not searched of an entry."""
    database.execute(
        "UPDATE entries SET kind=?, key=?, title=?, text=?, date=?, provenance=?, tags=?, project=?, path=?, thread=?,"
        " position=?, role=? WHERE id = ?",
        (*new, old.id),
    )


def count(database: sqlite3.Connection) -> None:
    """Record how many entries there are, which every query wants to know at once."""
    database.execute("UPDATE counted SET entries = (SELECT count(*) FROM entries)")


def counted(database: sqlite3.Connection) -> int:
    """How many entries there are."""
    number: int = database.execute("SELECT entries FROM counted").fetchone()[0]
    return number


def places_of(database: sqlite3.Connection, stems: Sequence[str]) -> tuple[int, dict[str, int]]:
    """How many entries there are, and how many have each of these stems (none: not in it), in one statement."""
    marks = ", ".join("?" * len(stems))
    sql = f"SELECT entries, '' FROM counted UNION ALL SELECT doc, term FROM stems WHERE term IN ({marks})"
    places = {stem: number for number, stem in database.execute(sql, stems)}
    return places.pop(""), places


def discard_holding(folder: Path, holds: Callable[[str], bool]) -> list[str]:
    """Throw away every file below the cache folder in which a text is that `holds` knows, an index with what lies
    beside it: they are made again. Their paths, relative to the folder."""
    gone: dict[Path, None] = {}
    for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
        if path.is_file() and not path.is_symlink() and is_holding(path, holds):
            beside = path.parent.glob(f"{path.stem}.*") if path.suffix in (".db", ".seal") else [path]
            gone.update(dict.fromkeys([path, *beside, *path.parent.glob(f"{path.name}-*")]))
    for path in gone:
        files.discard(path)
    return [path.relative_to(folder).as_posix() for path in gone if path.suffix != ".lock"]


def is_holding(path: Path, holds: Callable[[str], bool]) -> bool:
    """Whether a file has it. A database is asked for its texts; of any other file, and of a damaged one, the bytes are
    read as text, of a copy of the store those that were packed."""
    address = f"{path.as_uri()}?mode=ro"
    with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(address, uri=True)) as database:
        names = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
        tables = [name for (name,) in database.execute(names)]
        rows = (row for name in tables for row in database.execute(f'SELECT * FROM "{name}"'))
        return any(holds(one) for row in rows for one in row if isinstance(one, str))
    import gzip  # for who removes a text for good

    data = files.read_or_empty(path)
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8", "replace")
    return holds(text) or ("\\" in text and holds(text.replace('\\"', '"').replace("\\n", "\n")))
