"""Vectors of chunks: made where they are missing, kept in the library, compared with a question.

SQLite keeps bytes, and all of them are compared here; PostgreSQL compares them itself where it has pgvector. Both
give how near a chunk is in standard deviations from the mean, which is what the ranking takes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, and_, select, text

from core.base.entry import Embed
from core.library import schema
from core.library.copies import fill_near, has_near
from core.library.database import Library
from core.library.rows import put_new
from core.search.candidates import NEAR
from core.search.kept_vectors import BLOCK
from core.search.query import BEST_NEAR
from core.search.vectors import Nearness, embed_all, embed_one, nearest_in

AT_ONCE = 64
SAMPLE = 5000
"""On PostgreSQL mean and spread are those of that many vectors."""
_c, _e = schema.chunk.c, schema.embedding.c


class Embedder(NamedTuple):
    """Who makes vectors: `model` names it, and vectors of another one are not compared."""

    model: str
    embed: Embed


def fill_vectors(library: Library, embedder: Embedder) -> int:
    """Make the vectors that chunks lack; how many were made. A part that is done stays done."""
    made = 0
    with library.reading() as connection:
        joined = and_(_e.chunk_id == _c.id, _e.model == embedder.model)
        asked = select(_c.id, _c.heading, _c.content).outerjoin(schema.embedding, joined)
        asked = asked.where(_e.chunk_id.is_(None)).order_by(_c.number)
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
    return made


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
    found = _nearness(connection, vector, embedder.model)
    return _near(found, found.best(BEST_NEAR)) if found is not None else None


def _near(known: Mapping[int, float], nearest: Sequence[int]) -> Near:
    return Near(known, [number for number in nearest if known[number] >= NEAR])


def _nearness(connection: Connection, vector: Sequence[float], model: str) -> Nearness | None:
    """How near every chunk is, compared here."""
    asked = select(_c.number, _e.vector).join(schema.chunk, _c.id == _e.chunk_id).order_by(_c.number)
    asked = asked.where(_e.model == model, _e.dimensions == len(vector)).execution_options(yield_per=BLOCK)
    return nearest_in(connection.execute(asked).partitions(), vector)


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
