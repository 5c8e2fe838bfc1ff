"""A team's library: which chunks may be meant, as PostgreSQL finds them by words (tsvector) and by meaning (pgvector).

A library in a file is searched through the one index of `core/search`; this server has one of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, and_, func, or_, select, text

from core.base.entry import Embed
from core.base.result import KnowledgeError
from core.library import schema
from core.library.copies import fill_near, has_near
from core.library.database import Library
from core.library.rows import put_new
from core.library.searched import titled
from core.search.candidates import READABLE, Candidates, gather
from core.search.kept_vectors import embed_all, embed_one, text_of
from core.search.terms import TEXTS, Query, query_of, spelled
from core.search.words import Stems, forms, words_of

_c, _d, _e = schema.chunk.c, schema.document.c, schema.embedding.c
Keep = Callable[[Candidates, Iterable[Any], str], None]
"""Adds rows of chunks to candidates, with how they came ("": by their words)."""
# Each in a statement of its own: together they would read every row.
_NUMBER_RANGE = select(
    select(func.min(_c.number)).scalar_subquery().label("least"),
    select(func.max(_c.number)).scalar_subquery().label("most"),
)
# No list of its stems is kept: they are gathered from chunks that have one which begins so.
_BEGINNING = text("SELECT word, ndoc FROM ts_stat(:chunks) WHERE word LIKE :begins")
_SAYING = text(
    "SELECT concat_ws(' ', heading, content) FROM chunk WHERE words @@ to_tsquery('simple', :match) LIMIT :most"
)
_HAVING = "SELECT words FROM chunk WHERE words @@ to_tsquery('simple', '{}:*') LIMIT 20000"


def understand(connection: Connection, asked: str, stems: Stems) -> Query:
    """Any text as a query against the chunks of this library."""
    words = set(words_of(asked))
    words |= {other for word in words for other in forms().get(word, ())}
    known = stems.learn(words)
    spellings = {known[word]: word for word in sorted(words)}  # a stem -> a word that has it
    query = query_of(asked, partial(_places, connection, spellings), stems)
    return spelled(query, partial(_between, connection), partial(_texts_with, connection), stems)


def _between(connection: Connection, first: str, _last: str) -> Iterable[Any]:
    """Stems that begin with the letters `first`, each with how many chunks have it."""
    return connection.execute(_BEGINNING, {"chunks": _HAVING.format(first), "begins": f"{first}%"})


def _texts_with(connection: Connection, stem: str) -> Iterable[str]:
    """What some of the chunks say that have a stem."""
    return connection.execute(_SAYING, {"match": lexeme(stem), "most": TEXTS}).scalars()


def _number_of_chunks(connection: Connection) -> int:
    """About how many chunks there are, without counting them: their numbers are given one after the other."""
    least, most = connection.execute(_NUMBER_RANGE).one()
    return 0 if most is None or least is None else int(most) - int(least) + 1


def _places(connection: Connection, spellings: Mapping[str, str], stems: Sequence[str]) -> tuple[int, dict[str, int]]:
    """PostgreSQL brings words to stems in a way of its own: it is asked with a word."""
    asked = [
        f"SELECT {at} AS at, count(*) AS number FROM chunk WHERE words @@ to_tsquery('english', :word_{at})"
        for at in range(len(stems))
    ]
    if not asked:
        return _number_of_chunks(connection), {}
    values = {f"word_{at}": lexeme(spellings.get(stem, stem)) for at, stem in enumerate(stems)}
    found = connection.execute(text(" UNION ALL ".join(asked)), values)
    return _number_of_chunks(connection), {stems[at]: number for at, number in found}


_WEIGHTS, _DAY_FIRST = "{0.1, 0.2, 0.4, 1.0}", "{0.02, 1.0, 0.02, 0.02}"
"""What words count in the text, the day, the summary and the heading; where a date is asked for, what was written then
stands before what only names it, of which there may be hundreds."""


# --- candidates -------------------------------------------------------------------------------------------------------


def find(connection: Connection, query: Query, limit: int, rows: Select[Any], keep: Keep) -> Candidates:
    """The chunks that may be meant, in the steps in which `core/search` looks for entries. `rows` selects what `keep`
    adds."""
    found = Candidates({}, {})
    matches = text("chunk.words @@ to_tsquery('english', :match)")

    def take(match: str, most: int, how: str) -> None:
        weights = _DAY_FIRST if how == "dated" else _WEIGHTS
        order = text(f"ts_rank('{weights}', chunk.words, to_tsquery('english', :match), 1) DESC, chunk.number")
        asked = rows.where(matches).order_by(order).limit(most)
        keep(found, connection.execute(asked, {"match": _tsquery(match)}), how)

    def take_parts(most: int) -> None:
        if query.entries <= READABLE or len(query.words) < 2:  # in a large library only for a single word
            has = or_(*(column.icontains(query.literal, autoescape=True) for column in (_c.content, _c.heading)))
            keep(found, connection.execute(rows.where(has).order_by(_c.number).limit(most)), "part")

    gather(found, query, limit, take, take_parts)
    return found


def lexeme(word: str) -> str:
    """One word as PostgreSQL's query language quotes it."""
    return "'" + word.replace("\\", "").replace("'", "") + "'"


def _tsquery(match: str) -> str:
    """What SQLite's full-text table is asked for, in PostgreSQL's words."""

    def quoted(found: re.Match[str]) -> str:
        words = " <-> ".join(map(lexeme, found["words"].split()))
        return f"({words})" if found["begins"] is None else f"{words}:*"

    return _QUOTED.sub(quoted, match).replace(" OR ", " | ").replace(" AND ", " & ")


_QUOTED = re.compile(r'"(?P<words>[^"]*)"(?P<begins> \*)?')


# --- meaning ----------------------------------------------------------------------------------------------------------

AT_ONCE = 64
SAMPLE = 5000
"""The vectors of which mean and spread are taken."""
KNOWN = 1000
"""This many of the nearest are told; what is farther away is not near."""
_STATS = text(
    "SELECT avg(s), stddev_pop(s) FROM (SELECT 1 - (near <=> CAST(:v AS vector)) AS s FROM embedding "
    "WHERE model = :m AND dimensions = :d AND near IS NOT NULL LIMIT :n) sampled"
)
_BEST = text(
    "SELECT c.number, 1 - (e.near <=> CAST(:v AS vector)) AS s FROM embedding e JOIN chunk c ON c.id = e.chunk_id "
    "WHERE e.model = :m AND e.dimensions = :d AND e.near IS NOT NULL ORDER BY e.near <=> CAST(:v AS vector), c.number "
    "LIMIT :n"
)


class Embedder(NamedTuple):
    """Who makes vectors: `model` names it, and vectors of another one are not compared."""

    model: str
    embed: Embed


def fill_vectors(library: Library, embedder: Embedder) -> int:
    """Make the vectors that chunks lack; how many were made. A part that is done stays done. Raises KnowledgeError
    where the server has no pgvector."""
    made = 0
    with library.reading() as connection:
        if not has_near(connection):
            raise KnowledgeError("no-pgvector", "the server cannot compare meanings: it has no pgvector")
        joined = and_(_e.chunk_id == _c.id, _e.model == embedder.model)
        asked = select(_c.id, _d.title, _c.heading, _c.content).join(schema.document, _d.id == _c.document_id)
        asked = asked.outerjoin(schema.embedding, joined).where(_e.chunk_id.is_(None)).order_by(_c.number)
        missing = connection.execute(asked).all()
    for start in range(0, len(missing), AT_ONCE):
        part = missing[start : start + AT_ONCE]
        vectors = embed_all([text_of(titled(row.title, row.heading), row.content) for row in part], embedder.embed)
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


def near(connection: Connection, query: str, embedder: Embedder) -> dict[int, float]:
    """Number of a chunk -> how near it is to a question, in standard deviations from the mean, the nearest first; {}
    where nothing can be compared."""
    vector = embed_one(query, embedder.embed)
    shown = "[" + ",".join(f"{number:.7g}" for number in vector) + "]"
    values = {"v": shown, "m": embedder.model, "d": len(vector)}
    mean, spread = connection.execute(_STATS, {**values, "n": SAMPLE}).one()
    if mean is None or not spread or spread <= 1e-9:
        return {}
    return {row.number: (row.s - mean) / spread for row in connection.execute(_BEST, {**values, "n": KNOWN})}
