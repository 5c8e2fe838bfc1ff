"""Vectors of the turns in the index of conversations: what is meant, where the words differ. Optional, as those of
entries are (`vectors`), and by the same embedder.

They lie in the same database, a byte for each number, and leave it in the transaction in which their turn leaves every
answer (`conversations.forget`; the turn itself is erased later). What is embedded is what was put into the index:
cleared of secrets and shortened. Turns of tools get none: they would be two
thirds of all, and what a tool gave back means nothing by itself. A build takes the lock only while it writes, so that
neither a search nor a look waits for the embedder; one that is stopped loses a batch at most.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from core.base import locks
from core.base.entry import Embed
from core.base.installed import how_to_install
from core.base.result import KnowledgeError
from core.search import conversations, store
from core.search.vectors import TEXT_CHARACTERS, Nearness, embed_all, nearness

if TYPE_CHECKING:
    from core.search.conversations import Database

BATCH = 128
"""This many turns are embedded, then written."""
BLOCK = 32_768
"""This many vectors are compared at once."""
_LAST = ("9999", 1 << 62)


class Made(NamedTuple):
    """How many turns can be found by meaning, and how many still cannot."""

    turns: int
    waiting: int


def text_of(speaker: str, text: str) -> str:
    """What of a turn is embedded."""
    return (f"{speaker}: {text}" if speaker else text)[:TEXT_CHARACTERS]


def build(
    folder: Path,
    name: str,
    embed: Embed,
    step: Callable[[int, int], None] = lambda done, total: None,
    cancelled: Callable[[], bool] = lambda: False,
    wait: float = 10.0,
) -> Made:
    """Make the vectors that are missing, those of the newest turns first. `name` says whose they are: another
    embedder's are thrown away. `step` hears how many were made of how many. Raises KnowledgeError when the embedder
    fails, when numpy is not there, or when another program writes the index for longer than `wait` seconds."""
    try:
        import numpy  # noqa: F401
    except ImportError:
        raise KnowledgeError("no-numpy", "numpy is not installed", hint=how_to_install("vectors")) from None
    done, total, after = 0, 0, _LAST
    ready: list[tuple[int, str, str, bytes]] = []
    while True:
        try:
            with locks.locked(folder / store.LOCK, work="vectors", editor_wait=wait):
                database = conversations.open_sealed(folder)
                if database is None:
                    raise KnowledgeError(
                        "no-index", "no conversations are in the index", hint="run 'knowledge search --build'"
                    )
                try:
                    if not done and not ready:
                        _prepare(database, folder, name)
                    if ready and not are_there(database, name):
                        raise KnowledgeError("busy", "another program makes the vectors of another embedder")
                    if ready:
                        with conversations.writing(database, folder):
                            _put(database, ready)
                    made = counted(database)
                    total = total or made.waiting
                    rows = [] if cancelled() else _missing(database, after)
                    if not rows and made.waiting and ready and not cancelled():  # what a look brought meanwhile
                        rows = _missing(database, _LAST)
                finally:
                    database.close()
        except Exception as error:
            if not (isinstance(error, locks.LockHeldError | OSError) or conversations.is_trouble(error)):
                raise
            raise KnowledgeError("busy", f"the vectors of conversations cannot be written: {error}") from error
        if not rows:
            return made
        vectors = embed_all([text_of(speaker, text) for _, _, speaker, text in rows], embed)
        ready = [(row[0], row[2], row[3], packed(one)) for row, one in zip(rows, vectors, strict=True)]
        after = (rows[-1][1], rows[-1][0])
        done += len(rows)
        step(min(done, total), total)


def packed(vector: bytes) -> bytes:
    """A unit vector of float32 as one scale and a byte for each number; its direction hardly moves."""
    import numpy

    row = numpy.frombuffer(vector, "<f4")
    scale = max(float(numpy.abs(row).max(initial=0.0)), 1e-9) / 127
    return numpy.float32(scale).tobytes() + numpy.rint(row / scale).astype(numpy.int8).tobytes()


_COUNT = (
    "SELECT count(*) FROM turns WHERE role <> 'tool'"
    " AND EXISTS (SELECT 1 FROM conversations WHERE conversations.id = thread)"
)


def counted(database: Database) -> Made:
    """How many turns have a vector, and how many could."""
    have = database.execute("SELECT count(*) FROM vectors").fetchone()[0]
    could = database.execute(_COUNT).fetchone()[0]
    return Made(have, max(0, could - have))


def are_there(database: Database, name: str) -> bool:
    """Whether turns have vectors of this embedder."""
    return conversations.remembered(database, "embedder") == name


def near(database: Database, name: str, vector: Sequence[float]) -> Nearness | None:
    """How near each turn is to a vector; None where there are none of this embedder, or they say nothing about it."""
    import numpy

    if not are_there(database, name):
        return None
    query = numpy.asarray(vector, "<f4")
    kind = numpy.dtype([("scale", "<f4"), ("row", "i1", len(query))])
    ids: list[int] = []
    parts: list[Any] = []
    rows = database.execute("SELECT turn, vector FROM vectors ORDER BY turn")
    while block := rows.fetchmany(BLOCK):
        whole = [row for row in block if len(row[1]) == kind.itemsize]
        held = numpy.frombuffer(b"".join(row[1] for row in whole), kind)
        parts.append((held["row"].astype(numpy.float32) @ query) * held["scale"])
        ids += [row[0] for row in whole]
    return nearness(numpy.array(ids, numpy.int64), numpy.concatenate(parts)) if parts else None


def _prepare(database: Database, folder: Path, name: str) -> None:
    """The list of turns that may have one, and no vectors of another embedder."""
    if are_there(database, name):
        return
    with conversations.writing(database, folder):
        database.execute("CREATE INDEX IF NOT EXISTS spoken ON turns(date DESC, id DESC) WHERE role <> 'tool'")
        database.execute("DELETE FROM vectors")
        conversations.remember(database, "embedder", name)


def _missing(database: Database, after: tuple[str, int]) -> list[tuple[int, str, str, str]]:
    """The next turns without a vector: id, day, speaker, text."""
    sql = (
        "SELECT id, date, speaker, text FROM turns WHERE role <> 'tool' AND (date, id) < (?, ?)"
        " AND NOT EXISTS (SELECT 1 FROM vectors WHERE turn = id)"
        " AND EXISTS (SELECT 1 FROM conversations WHERE conversations.id = thread) ORDER BY date DESC, id DESC LIMIT ?"
    )
    return [tuple(row) for row in database.execute(sql, (*after, BATCH))]


def _put(database: Database, rows: Sequence[tuple[int, str, str, bytes]]) -> None:
    """Write vectors, each only while its turn says what was embedded: meanwhile a look may have taken it out."""
    sql = (
        "INSERT OR REPLACE INTO vectors SELECT id, ?4 FROM turns WHERE id = ?1 AND speaker = ?2 AND text = ?3"
        " AND EXISTS (SELECT 1 FROM conversations WHERE conversations.id = thread)"
    )
    database.executemany(sql, rows)
