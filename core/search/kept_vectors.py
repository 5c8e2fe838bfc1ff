"""The vectors of an index, of entries and passages or of turns: what is meant, where the words differ. Optional, and
all by one embedder.

They lie in the index's own database, a byte for each number, and leave it in the transaction in which their entry does,
those of turns when their conversation leaves every answer (`conversations.forget`; the turn itself is erased later).
What is embedded is what was put into the index: cleared of secrets and shortened. What tools gave back gets none: that
would be two thirds of all, and means nothing by itself. A build takes the lock only while it writes, so that neither a
search nor a look waits for the embedder; one that is stopped loses a batch at most.
"""

from __future__ import annotations

import contextlib
import math
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from core.base import locks
from core.base.entry import Embed
from core.base.result import KnowledgeError
from core.search import conversations, store

if TYPE_CHECKING:
    from core.search.conversations import Database

AT_ONCE = 64
"""The texts that are embedded in one call."""
TEXT_CHARACTERS = 2000
"""The characters of a text that are embedded."""
BATCH, SMALL_BATCH = 128, 8
"""This many texts are embedded, then written; fewer where there is little time."""
BLOCK = 256
"""This many vectors are compared at once: they stay in the processor's cache. 32,768 took three times as long."""
_LAST = ("9999", 1 << 62)


class Made(NamedTuple):
    """How many turns or entries can be found by meaning, and how many still cannot."""

    turns: int
    waiting: int


def text_of(title: str, text: str) -> str:
    """What of an entry is embedded; the title of a turn is who speaks."""
    return (f"{title}: {text}" if title and title != text else text)[:TEXT_CHARACTERS]


def build(
    folder: Path,
    name: str,
    embed: Embed,
    step: Callable[[int, int], None] = lambda done, total: None,
    cancelled: Callable[[], bool] = lambda: False,
    wait: float = 10.0,
    seconds: float = math.inf,
    beside: Path | None = None,
) -> Made:
    """Make the vectors that the index in a folder lacks, for about `seconds`, the newest first. `name` says
    whose they are: another embedder's are thrown away. An index in the folder `beside` gives its own of the same
    entries. `step` hears how many were made of how many. Raises KnowledgeError when the embedder fails, when numpy is
    not there, or when another program writes the index for longer than `wait` seconds."""
    try:
        import numpy  # noqa: F401
    except ImportError:
        from core.base.installed import how_to_install  # it starts programs, and most searches have no vectors

        raise KnowledgeError("no-numpy", "numpy is not installed", hint=how_to_install("vectors")) from None
    until, size = time.monotonic() + seconds, BATCH if seconds == math.inf else SMALL_BATCH
    with _held(folder, wait) as database:
        _prepare(database, folder, name, beside)
        made = counted(database)
        rows = [] if cancelled() else _missing(database, _LAST, size)
    done, total = 0, made.waiting
    while rows:
        vectors = embed_all([text_of(speaker, text) for _, _, speaker, text in rows], embed)
        ready = [(row[0], row[2], row[3], packed(one)) for row, one in zip(rows, vectors, strict=True)]
        done += len(rows)
        step(min(done, total), total)
        with _held(folder, wait) as database:
            if not are_there(database, name):
                raise KnowledgeError("busy", "another program makes the vectors of another embedder")
            with conversations.writing(database, folder):
                _put(database, ready)
            made = counted(database)
            if cancelled() or time.monotonic() > until:
                break
            rows = _missing(database, (rows[-1][1], rows[-1][0]), size)
            if not rows and made.waiting:  # what a look brought meanwhile
                rows = _missing(database, _LAST, size)
    return made


@contextlib.contextmanager
def _held(folder: Path, wait: float) -> Iterator[Database]:
    """The index in a folder, for its one writer. Raises KnowledgeError where there is none, or it cannot be written."""
    try:
        with locks.locked(folder / store.LOCK, work="vectors", editor_wait=wait):
            database = store.opened(folder, store.VERSION, conversations.VERSION) if store.is_sealed(folder) else None
            if database is None:
                hint = "run 'knowledge search --build'"
                raise KnowledgeError("no-index", "there is no index whose vectors could be kept", hint=hint)
            with contextlib.closing(database):
                yield database
    except (OSError, sqlite3.Error) as error:
        raise KnowledgeError("busy", f"the vectors cannot be written: {error}") from error


def packed(vector: bytes) -> bytes:
    """A unit vector of float32 as one scale and a byte for each number; its direction hardly moves."""
    import numpy

    row = numpy.frombuffer(vector, "<f4")
    scale = max(float(numpy.abs(row).max(initial=0.0)), 1e-9) / 127
    return numpy.float32(scale).tobytes() + numpy.rint(row / scale).astype(numpy.int8).tobytes()


def _holds_turns(database: Database) -> bool:
    return bool(database.execute("PRAGMA user_version").fetchone()[0] == conversations.VERSION)


def _could(database: Database) -> str:
    """The condition for an entry that may have a vector."""
    spoken = " AND thread IN (SELECT id FROM conversations)"
    return f"role <> 'tool'{spoken if _holds_turns(database) else ''}"


def counted(database: Database) -> Made:
    """How many turns or entries have a vector, and how many could."""
    have = database.execute("SELECT count(*) FROM vectors").fetchone()[0]
    could = database.execute(f"SELECT count(*) FROM entries WHERE {_could(database)}").fetchone()[0]
    return Made(have, max(0, could - have))


def are_there(database: Database, name: str) -> bool:
    """Whether the vectors are of this embedder."""
    return conversations.remembered(database, "embedder") == name


def near(database: Database, name: str, vector: Sequence[float]) -> dict[int, float]:
    """Turn or entry -> how near it is to a vector, in standard deviations from the mean; {} where none are of this
    embedder, or they say nothing of it."""
    import numpy

    if not are_there(database, name):
        return {}
    query = numpy.asarray(vector, "<f4")
    kind = numpy.dtype([("scale", "<f4"), ("row", "i1", len(query))])
    ids: list[int] = []
    parts: list[Any] = []
    rows = database.execute("SELECT turn, vector FROM vectors ORDER BY turn")
    while block := rows.fetchmany(BLOCK):
        block = [row for row in block if len(row[1]) == kind.itemsize]
        ids += [row[0] for row in block]
        held = numpy.frombuffer(b"".join([row[1] for row in block]), kind)
        parts.append((held["row"].astype(numpy.float32) @ query) * held["scale"])
    products = numpy.concatenate(parts) if parts else numpy.zeros(0)
    spread = float(products.std()) if parts else 0.0
    if not math.isfinite(spread) or spread <= 1e-9:
        return {}
    return dict(zip(ids, ((products - products.mean()) / spread).tolist(), strict=True))


def _prepare(database: Database, folder: Path, name: str, beside: Path | None) -> None:
    """No vectors of another embedder, those that the index `beside` has; of turns, the list of those that may have
    one."""
    if not are_there(database, name):
        with conversations.writing(database, folder):
            if _holds_turns(database):
                spoken = "CREATE INDEX IF NOT EXISTS spoken ON turns(date DESC, id DESC) WHERE role <> 'tool'"
                database.execute(spoken)
            database.execute("DELETE FROM vectors")
            conversations.remember(database, "embedder", name)
    if beside is not None and beside != folder and store.is_sealed(beside):
        database.execute("ATTACH ? AS beside", (str(beside / store.FILE),))
        with conversations.writing(database, folder):
            database.execute(_TAKEN, (name,))
        database.execute("DETACH beside")


_TAKEN = (
    "INSERT OR IGNORE INTO vectors SELECT own.id, vector FROM entries own JOIN beside.entries other"
    " USING (kind, key, title, text) JOIN beside.vectors ON turn = other.id"
    " WHERE EXISTS (SELECT 1 FROM beside.known WHERE key = 'embedder' AND value = ?)"
)


def _missing(database: Database, after: tuple[str, int], most: int) -> list[tuple[int, str, str, str]]:
    """The next ones without a vector: id, day, title, text."""
    sql = (
        f"SELECT id, date, title, text FROM entries WHERE {_could(database)} AND (date, id) < (?, ?)"
        " AND NOT EXISTS (SELECT 1 FROM vectors WHERE turn = id) ORDER BY date DESC, id DESC LIMIT ?"
    )
    return [tuple(row) for row in database.execute(sql, (*after, most))]


def _put(database: Database, rows: Sequence[tuple[int, str, str, bytes]]) -> None:
    """Write vectors, each only while its entry says what was embedded: meanwhile a look may have taken it out."""
    sql = (
        "INSERT OR REPLACE INTO vectors SELECT id, ?4 FROM entries WHERE id = ?1 AND title = ?2 AND text = ?3"
        f" AND {_could(database)}"
    )
    database.executemany(sql, rows)


# --- an embedder, which is foreign and checked ------------------------------------------------------------------------


def embed_all(texts: Sequence[str], embed: Embed) -> list[bytes]:
    """A unit vector for each text, as little-endian float32."""
    return [row.astype("<f4").tobytes() for row in _embedded(texts, embed)]


def embed_one(text: str, embed: Embed) -> Sequence[float]:
    """The unit vector of a query."""
    found: Sequence[float] = _embedded([text], embed)[0].tolist()
    return found


def _embedded(texts: Sequence[str], embed: Embed) -> Any:
    """A numpy matrix of unit vectors. What comes back is foreign: it is checked before it is used."""
    import numpy

    parts: list[Any] = []
    for start in range(0, len(texts), AT_ONCE):
        part = [text[:TEXT_CHARACTERS] for text in texts[start : start + AT_ONCE]]
        made = embed(part)
        try:
            matrix = numpy.asarray(made, numpy.float32)
        except (ValueError, TypeError, OverflowError):
            matrix = numpy.zeros((0, 0), numpy.float32)
        if matrix.ndim != 2 or len(matrix) != len(part) or matrix.shape[1] == 0 or not numpy.isfinite(matrix).all():
            raise KnowledgeError(
                "bad-vectors", "the embedder answered with something that is not a vector for each text"
            )
        if parts and parts[0].shape[1] != matrix.shape[1]:
            raise KnowledgeError("bad-vectors", "the embedder answered with vectors of different lengths")
        lengths = numpy.linalg.norm(matrix, axis=1, keepdims=True)
        parts.append(matrix / numpy.where(lengths > 0, lengths, 1))
    return numpy.concatenate(parts) if parts else numpy.zeros((0, 0), numpy.float32)
