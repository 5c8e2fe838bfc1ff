"""Which chunks may be meant: those that the one search index names, of a library in a file, or that PostgreSQL finds.

What comes out are rows as the search index has them, for the ranking of `core/search`. So both give one ranking,
whatever a database's own idea of relevance is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Connection, select

from core.library import schema
from core.library.rows import among
from core.library.searched import titled
from core.library.use import postgresql
from core.search import candidates
from core.search.candidates import NEAR, Candidates, Filters
from core.search.index import Index
from core.search.query import BEST_NEAR
from core.search.store import DOCUMENT, Row
from core.search.terms import Query, parse_query
from core.search.words import Stems

_c, _d = schema.chunk.c, schema.document.c
_COLUMNS = (
    _c.number, _c.id, _c.heading, _c.content, _c.day, _d.title, _d.source, _c.document_id, _c.position, _d.status,
)  # fmt: skip
# Whether a document is active is looked at row by row: asked in the statement, it may be what the database begins with.
_ROWS = select(*_COLUMNS).join(schema.document, _d.id == _c.document_id)


def understand(connection: Connection, index: Index | None, asked: str, stems: Stems) -> Query:
    """Any text as a query against what is searched: the index, or, without one, the chunks in PostgreSQL."""
    if index is not None:
        return parse_query(asked, index.database, stems)
    return postgresql.understand(connection, asked, stems)


def find(
    connection: Connection, index: Index | None, query: Query, limit: int, near: Mapping[int, float]
) -> Candidates:
    """The chunks that may be meant by their words, dates, letters and meaning. `near` says by the numbers of rows how
    near they are, the nearest first."""
    if index is None:
        found = postgresql.find(connection, query, limit, _ROWS, keep)
        best = [number for number, how in list(near.items())[:BEST_NEAR] if how >= NEAR and number not in found.rows]
        keep(found, connection.execute(_ROWS.where(_c.number.in_(best))), "vector")
        return found
    narrowed = connection.get_execution_options().get("narrowed")
    told = tuple(connection.execute(select(_d.id)).scalars()) if narrowed else None
    filters = Filters(kinds=(DOCUMENT,), threads=told)
    found = candidates.find(index.database, query, filters, limit)
    candidates.nearest(index.database, found, near, filters, BEST_NEAR)
    return found


def keep(found: Candidates, rows: Iterable[Any], how: str = "", *, sign: int = 1) -> None:
    """Add chunks of active documents, as the search index has them."""
    for number, key, heading, content, day, title, source, document, position, status in rows:
        if status == "active" and sign * number not in found.rows:
            name = titled(title, heading)
            row = Row(sign * number, DOCUMENT, key, name, content, day, "", "", "", source, document, position)
            found.rows[row.id] = row
            if how:
                found.how[row.id] = how


def add_ids(connection: Connection, found: Candidates, ids: Iterable[str]) -> None:
    """Add chunks by id, as brought. In a library in a file, whose other rows have numbers of the index, theirs are
    below zero."""
    known = {row.key for row in found.rows.values()}
    sign = -1 if connection.dialect.name == "sqlite" else 1
    rows = among(connection, _ROWS, _c.id, (one for one in ids if one not in known))
    keep(found, rows, "brought", sign=sign)
