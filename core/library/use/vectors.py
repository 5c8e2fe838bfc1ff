"""Vectors of chunks: made where they are missing, kept in the library, compared with a question.

SQLite keeps bytes, and all of them are compared in memory; PostgreSQL compares them itself where it has pgvector. Both
give how near a chunk is in standard deviations from the mean, which is what the ranking takes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import NamedTuple

from sqlalchemy import Connection, and_, func, select, text

from core.base.entry import Embed
from core.library import schema
from core.library.copies import fill_near, has_near
from core.library.database import Library
from core.library.rows import put_new
from core.search.candidates import NEAR
from core.search.query import BEST_NEAR
from core.search.vectors import Matrix, embed_all, embed_one

AT_ONCE = 64
SAMPLE = 5000
"""On PostgreSQL mean and spread are those of that many vectors."""
_c, _e = schema.chunk.c, schema.embedding.c


@dataclass
class Embedder:
    """Who makes vectors: `model` names it, and vectors of another one are not compared. The matrix of a library is
    `held` as long as this object, and read again when there are newer chunks; up to which number all chunks have a
    vector is known too (`whole`). Chunks are numbered one after the other, and their words do not change."""

    model: str
    embed: Embed
    held: dict[str, tuple[int, Matrix | None]] = field(default_factory=dict)
    whole: dict[str, int] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)


def fill_vectors(library: Library, embedder: Embedder) -> int:
    """Make the vectors that chunks lack; how many were made. A part that is done stays done."""
    made, key = 0, str(library.engine.url)
    with library.reading() as connection:
        newest = _newest(connection)
        known = embedder.whole.get(key, 0)
        if newest == known:
            return 0
        joined = and_(_e.chunk_id == _c.id, _e.model == embedder.model)
        asked = select(_c.id, _c.heading, _c.content).outerjoin(schema.embedding, joined)
        asked = asked.where(_e.chunk_id.is_(None), _c.number > known).order_by(_c.number)
        missing = connection.execute(asked).all()
    for start in range(0, len(missing), AT_ONCE):
        part = missing[start : start + AT_ONCE]
        texts = [f"{row.heading}: {row.content}" if row.heading else row.content for row in part]
        vectors = embed_all(texts, embedder.embed)
        with library.writing() as connection:
            there = set(connection.execute(select(_c.id).where(_c.id.in_([row.id for row in part]))).scalars())
            rows = [
                {"chunk_id": row.id, "model": embedder.model, "dimensions": len(vector) // 4, "vector": vector}
                for row, vector in zip(part, vectors, strict=True)
                if row.id in there
            ]
            made += put_new(connection, schema.embedding, rows)
            fill_near(connection)
    embedder.whole[key] = newest
    return made


def _newest(connection: Connection) -> int:
    """The number of the newest chunk."""
    return connection.execute(select(func.max(_c.number))).scalar() or 0


def _shown(vector: Sequence[float]) -> str:
    return "[" + ",".join(f"{number:.7g}" for number in vector) + "]"


class Near(NamedTuple):
    """How near chunks are to a question, by number, as far as that is `known`; `best` are the nearest."""

    known: Mapping[int, float]
    best: list[int]


def near(connection: Connection, library: Library, query: str, embedder: Embedder) -> Near | None:
    """How near the chunks are to a question; None where nothing can be compared."""
    vector = embed_one(query, embedder.embed)
    if not library.is_sqlite and has_near(connection):
        return _near_postgresql(connection, vector, embedder.model)
    matrix = _matrix(connection, library, embedder)
    found = matrix.near(vector) if matrix is not None else None
    return _near(found, found.best(BEST_NEAR)) if found is not None else None


def _near(known: Mapping[int, float], nearest: Sequence[int]) -> Near:
    return Near(known, [number for number in nearest if known[number] >= NEAR])


def _matrix(connection: Connection, library: Library, embedder: Embedder) -> Matrix | None:
    joined = select(_c.number, _e.vector, _e.dimensions).join(schema.chunk, _c.id == _e.chunk_id)
    ours = _e.model == embedder.model
    newest, key = _newest(connection), str(library.engine.url)
    with embedder.lock:
        held = embedder.held.get(key)
        if held is None or held[0] != newest:
            rows = connection.execute(joined.where(ours).order_by(_c.number)).all()
            width = max((row.dimensions for row in rows), default=0)
            made = Matrix([row.number for row in rows], [row.vector for row in rows], width) if width else None
            held = embedder.held[key] = (newest, made)
        return held[1]


_STATS = text(
    "SELECT avg(s), stddev_pop(s) FROM (SELECT 1 - (near <=> CAST(:v AS vector)) AS s FROM embedding "
    "WHERE model = :m AND dimensions = :d AND near IS NOT NULL LIMIT :n) sampled"
)
_BEST = text(
    "SELECT c.number, 1 - (e.near <=> CAST(:v AS vector)) AS s FROM embedding e JOIN chunk c ON c.id = e.chunk_id "
    "WHERE e.model = :m AND e.dimensions = :d AND e.near IS NOT NULL ORDER BY e.near <=> CAST(:v AS vector), c.number "
    "LIMIT :n"
)
KNOWN_POSTGRESQL = 1000
"""This many of the nearest are told; what is farther away is not near."""


def _near_postgresql(connection: Connection, vector: Sequence[float], model: str) -> Near | None:
    values = {"v": _shown(vector), "m": model, "d": len(vector)}
    mean, spread = connection.execute(_STATS, {**values, "n": SAMPLE}).one()
    if mean is None or not spread or spread <= 1e-9:
        return None
    rows = connection.execute(_BEST, {**values, "n": KNOWN_POSTGRESQL}).all()
    known = {row.number: (row.s - mean) / spread for row in rows}
    return _near(known, list(known)[:BEST_NEAR])
