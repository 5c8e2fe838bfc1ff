"""The index file of conversations: one row a turn, in the same full-text table and under the same names as the entries
of the store, so that the same queries and the same ranking run over both.

It is a projection as the other index is, and far larger: it is never made in one go. Whoever holds its lock adds what
is new, commits, and seals what it wrote (`store.seal`). A file that another program touched, or that was being written
when the power went, is looked through once: a whole one is sealed again, a damaged one is thrown away.

A view gives turns the names of the other index's table; a turn's title is who speaks, where there is a name. What the
view tells of a conversation is looked up only where it is asked for. A conversation that is gone is out of every answer
the moment its row is, however long the words of its turns take to be taken out: whoever asks finds no conversation to
them.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from core.base import files
from core.search import CONVERSATIONS_VERSION, store
from core.search.words import TOKENIZER, spaced, storable

Database = sqlite3.Connection

VERSION = CONVERSATIONS_VERSION
HEADING = -1
"""The position of a conversation's heading: its title, project and branch, which can be found as its turns can."""

_TABLES = f"""
CREATE TABLE conversations(
    id INTEGER PRIMARY KEY, path TEXT UNIQUE, state TEXT, name TEXT, source TEXT, tool TEXT, title TEXT, folder TEXT,
    project TEXT, branch TEXT, started TEXT, ended TEXT, turns INTEGER, bytes INTEGER, cut INTEGER, cut_turn INTEGER,
    edge TEXT, secrets INTEGER, trash INTEGER, session TEXT, problem TEXT, state_end TEXT
);
CREATE TABLE turns(
    id INTEGER PRIMARY KEY, thread INTEGER, position INTEGER, role TEXT, date TEXT, text TEXT, speaker TEXT
);
CREATE TABLE commands(
    thread INTEGER, position INTEGER, key TEXT, words TEXT, failed INTEGER, error TEXT, line TEXT, wrong INTEGER
);
CREATE TABLE courses(thread INTEGER PRIMARY KEY, course TEXT, characters INTEGER);
CREATE TABLE vectors(turn INTEGER PRIMARY KEY, vector BLOB);
CREATE TABLE counted(entries INTEGER);
INSERT INTO counted VALUES (0);
CREATE TABLE known(key TEXT PRIMARY KEY, value TEXT);
CREATE VIRTUAL TABLE words USING fts5(title, text, about, content='', tokenize="{TOKENIZER}");
CREATE VIRTUAL TABLE stems USING fts5vocab(words, row);
CREATE INDEX by_thread ON turns(thread, position, role);
CREATE INDEX by_command ON commands(key, thread);
CREATE INDEX by_error ON commands(error, thread) WHERE error <> '';
CREATE INDEX of_thread ON commands(thread, position);
CREATE INDEX by_day ON conversations(ended);
CREATE INDEX by_project ON conversations(project, ended);
CREATE VIEW entries AS
    SELECT id, 'conversation' AS kind, '' || thread AS key, speaker AS title, text, date, '' AS provenance, '' AS tags,
        (SELECT project FROM conversations WHERE conversations.id = thread) AS project, '' AS path, thread, position,
        role, (SELECT source FROM conversations WHERE conversations.id = thread) AS source
    FROM turns;
CREATE VIEW said AS SELECT thread, characters FROM courses;
"""


class Held(NamedTuple):
    """One conversation as the index knows it. `state` is that of its file when it was read ("" when it must be looked
    at again), `source` where it was found and `tool` the format it is in. `folder` is where the session worked,
    `project` the same place without work trees. `started` and `ended` are ISO 8601 or "". `turns` and `bytes` are those
    of the file. A grown one is read on from the byte `cut`, where the turn `cut_turn` begins and before which stands
    what `edge` is a hash of; 0 for one that is read again. `secrets` were replaced in it. `session` is the tool's own
    id of it; `problem` says why its words are not here, "" when they are; `state_end` how the session stood at its
    end (`ran.read_end`)."""

    id: int
    path: str
    state: str
    name: str
    source: str
    tool: str = ""
    title: str = ""
    folder: str = ""
    project: str = ""
    branch: str = ""
    started: str = ""
    ended: str = ""
    turns: int = 0
    bytes: int = 0
    cut: int = 0
    cut_turn: int = 0
    edge: str = ""
    secrets: int = 0
    trash: int = 0
    session: str = ""
    problem: str = ""
    state_end: str = ""


class Piece(NamedTuple):
    """One turn to be found: its number (from 0; `HEADING` for the heading), who spoke, the local day, the words; the
    name of who spoke in a talk of several people, "" between a user and an assistant."""

    position: int
    role: str
    date: str
    text: str
    speaker: str = ""


_HELD = ", ".join(Held._fields)
_PIECES = f"SELECT {', '.join(Piece._fields)} FROM turns WHERE thread = ?"
READ = "problem = '' AND turns > 0"


# --- opening ---------------------------------------------------------------------------------------------------------


def open_sealed(folder: Path) -> Database | None:
    """The index as its last writer left it; None when there is none, or nobody may rely on it."""
    return store.opened(folder, VERSION) if store.is_sealed(folder) else None


def open_unsealed(folder: Path) -> Database | None:
    """The index while another program writes it; None when there is none that can be read."""
    return store.opened(folder, VERSION) if files.exists(folder / store.FILE) else None


def open_or_make(folder: Path) -> Database:
    """The index, looked through where it is not as we left it, or a new one. The caller holds the lock. Raises OSError
    and sqlite3.Error."""
    found = open_sealed(folder)
    if found is None and (found := open_unsealed(folder)) is not None:
        if _is_whole(found):
            store.seal(folder)
        else:
            found.close()
            found = None
    return found or store.made(folder, _TABLES, VERSION)


Trouble = sqlite3.Error
"""What the index raises, whatever is wrong with it."""


def is_damage(error: Exception) -> bool:
    """Whether trouble says that the file is damaged, and not that it is busy or the disk full."""
    words = str(error)
    busy = ("locked", "busy", "full", "readonly", "unable to open", "interrupted")
    return isinstance(error, Trouble) and not any(one in words for one in busy)


def throw_away(folder: Path) -> None:
    """Remove a damaged index. The caller holds the lock."""
    for ending in ("", "-journal", "-wal", "-shm"):
        files.discard(folder / f"{store.FILE}{ending}")
    files.discard(folder / store.SEAL)


def _is_whole(database: Database) -> bool:
    try:
        if database.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
            return False
        database.execute("INSERT INTO words(words) VALUES ('integrity-check')")
        turns = database.execute("SELECT count(*) FROM turns").fetchone()[0]
        return bool(turns == database.execute("SELECT count(*) FROM words_docsize").fetchone()[0])
    except sqlite3.Error:
        return False


@contextlib.contextmanager
def writing(database: Database, folder: Path) -> Iterator[None]:
    """One transaction, sealed when it is committed. The caller holds the lock."""
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
        database.execute("COMMIT")
    except BaseException:
        if database.in_transaction:
            database.execute("ROLLBACK")
        raise
    store.seal(folder)


def scour(database: Database, folder: Path) -> None:
    """Let nothing of what was taken out stay in the file. The caller holds the lock."""
    database.execute("INSERT INTO words(words) VALUES ('optimize')")
    database.execute("VACUUM")
    store.seal(folder)


# --- conversations ---------------------------------------------------------------------------------------------------


class Known(NamedTuple):
    """What a look wants to know of every conversation."""

    path: str
    id: int
    state: str
    name: str
    source: str
    trash: int


def known(database: Database) -> dict[str, Known]:
    """Every conversation by its path."""
    rows = database.execute("SELECT path, id, state, name, source, trash FROM conversations")
    return {row[0]: Known(*row) for row in rows}


def held(database: Database, ids: Sequence[int]) -> dict[int, Held]:
    """What is known of these conversations, by id."""
    found: dict[int, Held] = {}
    for start in range(0, len(ids), 400):
        part = ids[start : start + 400]
        marks = ", ".join("?" * len(part))
        rows = database.execute(f"SELECT {_HELD} FROM conversations WHERE id IN ({marks})", part)
        found |= {row[0]: Held(*row) for row in rows}
    return found


def named(database: Database, name: str) -> list[Held]:
    """The conversations of that name or at that path."""
    rows = database.execute(f"SELECT {_HELD} FROM conversations WHERE name = ? OR path = ?", (name, name))
    return [Held(*row) for row in rows]


def named_like(database: Database, part: str, limit: int) -> list[Held]:
    """Conversations in whose name, or in whose tool's own id, a text stands, the newest first."""
    sql = f"SELECT {_HELD} FROM conversations WHERE instr(name, ?1) OR instr(session, ?1) ORDER BY ended DESC LIMIT ?2"
    return [Held(*row) for row in database.execute(sql, (part, limit))]


def put(
    database: Database,
    row: Held,
    pieces: Iterable[Piece],
    kept: int = HEADING,
    commands: Iterable[tuple[object, ...]] = (),
    course: str = "",
) -> None:
    """Insert a conversation, or replace what is known of it, with its turns and `commands` (rows of `Ran`) from the
    position `kept` on. The heading is always written again. A turn that says what it said before keeps its vector.
    `course` is for the next look (`course_of`)."""
    marks = ", ".join("?" * len(row))
    values = [storable(value) if isinstance(value, str) else value for value in row]
    database.execute(f"INSERT OR REPLACE INTO conversations({_HELD}) VALUES ({marks})", values)
    known = _remove(database, row.id, kept)
    number = database.execute("SELECT coalesce(max(id), 0) FROM turns").fetchone()[0] + 1
    turns, words, vectors = [], [], []
    for id, piece in enumerate(pieces, start=number):
        text, speaker = storable(piece.text), storable(piece.speaker)
        turns.append((id, row.id, piece.position, piece.role, piece.date, text, speaker))
        words.append((id, spaced(speaker), spaced(text), piece.date))
        if known and (speaker, text) in known:
            vectors.append((id, known[speaker, text]))
    database.executemany("INSERT INTO turns VALUES (?, ?, ?, ?, ?, ?, ?)", turns)
    database.executemany("INSERT INTO words(rowid, title, text, about) VALUES (?, ?, ?, ?)", words)
    if vectors:
        database.executemany("INSERT INTO vectors VALUES (?, ?)", vectors)
    rows = [[storable(one) if isinstance(one, str) else one for one in made] for made in commands]
    database.executemany(f"INSERT INTO commands VALUES ({row.id}, ?, ?, ?, ?, ?, ?, ?)", rows)
    said = "SELECT sum(length(text)) FROM turns WHERE thread = ?1"
    database.execute(f"INSERT OR REPLACE INTO courses VALUES (?1, ?2, ({said}))", (row.id, course))
    database.execute("UPDATE counted SET entries = entries + ?", (len(turns),))


def course_of(database: Database, id: int) -> str:
    """What was left with a conversation when it was put in, "" for nothing."""
    row = database.execute("SELECT course FROM courses WHERE thread = ?", (id,)).fetchone()
    return row[0] if row is not None else ""


def next_id(database: Database) -> int:
    """An id that no conversation has, nor any turn whose conversation is gone."""
    sql = "SELECT max(coalesce((SELECT max(id) FROM conversations), 0), coalesce((SELECT max(thread) FROM turns), 0))"
    number: int = database.execute(sql).fetchone()[0]
    return number + 1


def forget(database: Database, ids: Sequence[int]) -> None:
    """Take conversations out of every answer, and the vectors of their turns with them. Their turns stay until they are
    `erased`."""
    database.executemany("DELETE FROM conversations WHERE id = ?", [(id,) for id in ids])
    for table in ("commands", "courses"):
        database.executemany(f"DELETE FROM {table} WHERE thread = ?", [(id,) for id in ids])
    if database.execute("SELECT 1 FROM vectors LIMIT 1").fetchone() is not None:
        sql = "DELETE FROM vectors WHERE turn IN (SELECT id FROM turns WHERE thread = ?)"
        database.executemany(sql, [(id,) for id in ids])


def forgotten(database: Database) -> list[int]:
    """Threads of which only turns are left."""
    sql = "SELECT DISTINCT thread FROM turns WHERE thread NOT IN (SELECT id FROM conversations)"
    return [row[0] for row in database.execute(sql)]


def erase(database: Database, thread: int) -> None:
    """Take the turns of a thread out."""
    _remove(database, thread, HEADING)


def runs_before(database: Database, thread: int, position: int) -> bool:
    """Whether the last of what a conversation ran and edited before a position is a command."""
    sql = "SELECT key FROM commands WHERE thread = ? AND position < ? ORDER BY position DESC, rowid DESC LIMIT 1"
    row = database.execute(sql, (thread, position)).fetchone()
    return row is not None and row[0] != ""


def _remove(database: Database, thread: int, first: int) -> dict[tuple[str, str], bytes]:
    """Take out the heading of a thread and its turns from `first` on; returns the vectors that they had, by speaker and
    text. The full-text table must be given their words."""
    sql = (
        "SELECT id, text, date, speaker, (SELECT vector FROM vectors WHERE turn = id) FROM turns"
        " WHERE thread = ? AND (position >= ? OR position = ?)"
    )
    rows = database.execute(sql, (thread, first, HEADING)).fetchall()
    database.executemany(
        "INSERT INTO words(words, rowid, title, text, about) VALUES ('delete', ?, ?, ?, ?)",
        [(id, spaced(speaker), spaced(text), date) for id, text, date, speaker, _ in rows],
    )
    database.execute("DELETE FROM commands WHERE thread = ? AND position >= ?", (thread, first))
    ids = [(row[0],) for row in rows]
    database.executemany("DELETE FROM turns WHERE id = ?", ids)
    had = {(speaker, text): vector for _, text, _, speaker, vector in rows if vector is not None}
    if had:
        database.executemany("DELETE FROM vectors WHERE turn = ?", ids)
    database.execute("UPDATE counted SET entries = entries - ?", (len(rows),))
    return had


def texts(database: Database, thread: int, first: int, last: int) -> list[Piece]:
    """The turns of a thread between two positions, in their order."""
    sql = f"{_PIECES} AND position BETWEEN ? AND ? ORDER BY position"
    return [Piece(*row) for row in database.execute(sql, (thread, first, last))]


def turns_at(database: Database, thread: int, positions: Sequence[int]) -> list[Piece]:
    """The turns of a thread at some positions, at most some hundred, in their order."""
    sql = f"{_PIECES} AND position IN ({', '.join('?' * len(positions))}) ORDER BY position"
    return [Piece(*row) for row in database.execute(sql, (thread, *positions))]


def spoken(database: Database, thread: int) -> list[tuple[int, str]]:
    """The positions at which the user and the assistant spoke in a conversation, with which of them it was."""
    sql = (
        "SELECT position, role FROM turns WHERE thread = ? AND position >= 0 AND role IN ('user', 'assistant')"
        " ORDER BY position"
    )
    return database.execute(sql, (thread,)).fetchall()


def positions(database: Database, thread: int, role: str) -> list[int]:
    """The positions of what one of them said in a conversation."""
    sql = "SELECT position FROM turns WHERE thread = ? AND position >= 0 AND role = ? ORDER BY position"
    return [row[0] for row in database.execute(sql, (thread, role))]


def last_position(database: Database, thread: int) -> int:
    """The position at which a conversation ends."""
    found = database.execute("SELECT max(position) FROM turns WHERE thread = ?", (thread,)).fetchone()[0]
    return HEADING if found is None else int(found)


def totals(database: Database) -> tuple[int, int]:
    """How many conversations can be found, and how many turns."""
    found = database.execute(f"SELECT count(*) FROM conversations WHERE {READ}").fetchone()
    return found[0], store.counted(database)


def newest(database: Database, condition: str, values: Sequence[object], limit: int) -> list[Held]:
    """Conversations that fit a condition on `conversations`, the newest first."""
    sql = f"SELECT {_HELD} FROM conversations WHERE {READ} AND {condition} ORDER BY ended DESC, path LIMIT ?"
    return [Held(*row) for row in database.execute(sql, (*values, limit))]


def remembered(database: Database, key: str) -> str:
    """A value that a look left for the next one, "" for none."""
    row = database.execute("SELECT value FROM known WHERE key = ?", (key,)).fetchone()
    return row[0] if row is not None else ""


def remember(database: Database, key: str, value: str) -> None:
    """Leave a value for the next look."""
    database.execute("INSERT OR REPLACE INTO known VALUES (?, ?)", (key, storable(value)))


def file_bytes(folder: Path) -> int:
    """How large the index is on disk."""
    try:
        return os.stat(folder / store.FILE).st_size
    except OSError:
        return 0
