"""The full-text side of the library: which chunks may be meant, on SQLite (FTS5) and on PostgreSQL (tsvector).

What comes out are candidates for the ranking of `core/search`, which reads their texts itself. So both databases give
one ranking, whatever their own idea of relevance is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, func, select, text

from core.library import schema
from core.library.rows import in_parts
from core.search.candidates import (
    RANKED_IN_LARGE_INDEX,
    RANKED_IN_SMALL_INDEX,
    READABLE,
    SMALL,
    Candidates,
    Choice,
    choices,
    match_choice,
    spelling_is_open,
)
from core.search.store import Row
from core.search.terms import Query, Term, match_prefix, query_of, spelled
from core.search.when import Moment, match_dates, spelled_dates
from core.search.words import Stems, forms, words_of

_c, _d = schema.chunk.c, schema.document.c
_COLUMNS = (
    _c.number, _c.id, _c.heading, _c.content, _c.day, _d.title, _d.source, _c.document_id, _c.position, _d.status,
)  # fmt: skip
# Whether a document is active is looked at row by row: asked in the statement, it may be what the database begins with.
_ROWS = select(*_COLUMNS).join(schema.document, _d.id == _c.document_id)
_NAMES = "c.number, c.id, c.heading, c.content, c.day, d.title, d.source, c.document_id, c.position, d.status"
_MATCHING = (
    f"SELECT {_NAMES} FROM "
    "(SELECT rowid FROM chunk_words WHERE chunk_words MATCH :match{} ORDER BY +rank LIMIT :wanted) best "
    "CROSS JOIN chunk c ON c.number = best.rowid JOIN document d ON d.id = c.document_id"
)
_FTS = text(_MATCHING.format(""))
# The words of all chunks are in one table: what may not be told must not take the place of what may (told.py).
_FTS_NARROWED = text(_MATCHING.format(" AND +rowid IN (SELECT number FROM told_chunk)"))
# Each in a statement of its own: together they would read every row.
_NUMBER_RANGE = select(
    select(func.min(_c.number)).scalar_subquery().label("least"),
    select(func.max(_c.number)).scalar_subquery().label("most"),
)
PLACES = 64
"""This many neighbours are asked for in one statement."""
# Joined with a list of places: a condition that a pair is among pairs would make SQLite read the whole table.
_BESIDE = text(
    f"WITH place(document_id, position) AS (VALUES {', '.join(f'(:d{at}, :p{at})' for at in range(PLACES))}) "
    f"SELECT {_NAMES} FROM place CROSS JOIN chunk c JOIN document d ON d.id = c.document_id "
    "WHERE c.document_id = place.document_id AND c.position = place.position"
)
_PLACES = text("SELECT term, doc FROM chunk_stems WHERE term IN :stems").bindparams(bindparam("stems", expanding=True))

_BETWEEN = text("SELECT term, doc FROM chunk_stems WHERE term >= :first AND term < :last LIMIT 50000")
# PostgreSQL keeps no list of its stems: they are gathered from chunks that have one which begins so.
_BEGINNING = text("SELECT word, ndoc FROM ts_stat(:chunks) WHERE word LIKE :begins")
_HAVING = "SELECT words FROM chunk WHERE words @@ to_tsquery('simple', '{}:*') LIMIT 20000"


def understand(connection: Connection, asked: str, stems: Stems) -> Query:
    """Any text as a query against the chunks of this library."""
    if connection.dialect.name == "sqlite":
        query = query_of(asked, partial(_places, connection), stems)
    else:
        query = query_of(asked, partial(_places_postgresql, connection, _spellings_of(asked, stems)), stems)
    return spelled(query, partial(_between, connection), stems)


def _between(connection: Connection, first: str, last: str) -> Iterable[Any]:
    """Stems from the letters `first` up to `last`, each with how many chunks have it."""
    if connection.dialect.name == "sqlite":
        return connection.execute(_BETWEEN, {"first": first, "last": last})
    return connection.execute(_BEGINNING, {"chunks": _HAVING.format(first), "begins": f"{first}%"})


def _number_of_chunks(connection: Connection) -> int:
    """About how many chunks there are, without counting them: their numbers are given one after the other."""
    least, most = connection.execute(_NUMBER_RANGE).one()
    return 0 if most is None or least is None else int(most) - int(least) + 1


def _places(connection: Connection, stems: Sequence[str]) -> tuple[int, dict[str, int]]:
    rows = connection.execute(_PLACES, {"stems": list(stems)}) if stems else ()
    return _number_of_chunks(connection), {row[0]: row[1] for row in rows}


def _spellings_of(asked: str, stems: Stems) -> dict[str, str]:
    """Stem -> a word that has it, of the words of a query and their other forms."""
    words = set(words_of(asked))
    words |= {other for word in words for other in forms().get(word, ())}
    known = stems.learn(words)
    return {known[word]: word for word in sorted(words)}


def _places_postgresql(
    connection: Connection, spellings: Mapping[str, str], stems: Sequence[str]
) -> tuple[int, dict[str, int]]:
    """PostgreSQL brings words to stems in a way of its own: it is asked with a word."""
    asked = [
        f"SELECT {at} AS at, count(*) AS number FROM chunk WHERE words @@ to_tsquery('english', :word_{at})"
        for at in range(len(stems))
    ]
    if not asked:
        return _number_of_chunks(connection), {}
    values = {f"word_{at}": _lexeme(spellings.get(stem, stem)) for at, stem in enumerate(stems)}
    found = connection.execute(text(" UNION ALL ".join(asked)), values)
    return _number_of_chunks(connection), {stems[at]: number for at, number in found}


# --- candidates -------------------------------------------------------------------------------------------------------


def row_of(found: Any) -> Row:
    """A chunk as the ranking sees it: its document is its thread, and the title of that what is known about it."""
    number, key, heading, content, day, title, source, document, position = found
    return Row(number, "document", key, heading, content, day, title, "", "", source, document, position)


def find(connection: Connection, query: Query, limit: int) -> Candidates:
    """The chunks that may be meant, in the steps in which `core/search` looks for entries: what shares words with a
    query, was written on a date that it names, has a word that begins so, or its letters inside words."""
    found = Candidates({}, {})
    wanted = max(RANKED_IN_SMALL_INDEX if query.entries <= SMALL else RANKED_IN_LARGE_INDEX, limit * 2)
    terms = [term for term in query.terms if term.found]
    language = _FTS5 if connection.dialect.name == "sqlite" else _TSQUERY
    for choice in choices(query, terms) if terms else ():
        _take(connection, found, language.choice(choice), wanted)
        if len(found.rows) >= limit:
            break
    dated = language.dates(query.moments)
    if dated:
        both = [language.both(dated, language.choice(Choice(terms, [])))] if terms else []
        for match in (*both, dated):
            _take(connection, found, match, wanted // 2, "dated")
    if len(found.rows) < limit:
        lost = [term for term in query.terms if not term.found and len(term.word) > 2]
        if lost:
            _take(connection, found, language.prefix(lost), wanted, "prefix")
    if query.literal and spelling_is_open(query, found, limit):
        _take_parts(connection, found, query, wanted)
    return found


def _keep(found: Candidates, rows: Iterable[Any], how: str = "") -> None:
    for given in rows:
        if given[-1] == "active" and given[0] not in found.rows:
            found.rows[given[0]] = row_of(given[:-1])
            if how:
                found.how[given[0]] = how


def _take(connection: Connection, found: Candidates, match: str, wanted: int, how: str = "") -> None:
    if connection.dialect.name == "sqlite":
        asked = _FTS_NARROWED if connection.get_execution_options().get("narrowed") else _FTS
        _keep(found, connection.execute(asked, {"match": match, "wanted": wanted}), how)
        return
    asked = text("chunk.words @@ to_tsquery('english', :match)")
    order = text("ts_rank(chunk.words, to_tsquery('english', :match), 1) DESC, chunk.number")
    _keep(found, connection.execute(_ROWS.where(asked).order_by(order).limit(wanted), {"match": match}), how)


def _take_parts(connection: Connection, found: Candidates, query: Query, wanted: int) -> None:
    """Chunks that have the letters of a query anywhere, inside words too; in a large library only for a single word."""
    if query.entries > READABLE and len(query.words) > 1:
        return
    has = _c.content.icontains(query.literal, autoescape=True) | _c.heading.icontains(query.literal, autoescape=True)
    _keep(found, connection.execute(_ROWS.where(has).order_by(_c.number).limit(wanted)), "part")


class _Language(NamedTuple):
    """How a database is asked for words: a choice, dates, both of two, words that begin like terms."""

    choice: Callable[[Choice], str]
    dates: Callable[[Sequence[Moment]], str]
    both: Callable[[str, str], str]
    prefix: Callable[[Sequence[Term]], str]


def _lexeme(word: str) -> str:
    """One word as PostgreSQL's query language quotes it."""
    return "'" + word.replace("\\", "").replace("'", "") + "'"


def _any(term: Term) -> str:
    return "(" + " | ".join(_lexeme(word) for word in (term.word, *forms().get(term.word, ()))) + ")"


def _choice(choice: Choice) -> str:
    groups = [" & ".join(_any(term) for term in group) for group in choice.groups]
    return " | ".join([*map(_any, choice.terms), *(f"({one})" for one in groups)])


def _dates(asked: Sequence[Moment]) -> str:
    """The migration marks the words of a day with a C."""
    days = [" <-> ".join(f"'{number}':C" for number in numbers.split()) for numbers in spelled_dates(asked)]
    return " | ".join(f"({day})" for day in days)


_FTS5 = _Language(match_choice, match_dates, "({}) AND ({})".format, match_prefix)
_TSQUERY = _Language(
    _choice, _dates, "({}) & ({})".format, lambda terms: " | ".join(f"{_lexeme(term.word)}:*" for term in terms)
)


def add_numbers(connection: Connection, found: Candidates, numbers: Iterable[int], how: str) -> None:
    """Add chunks by number; those of documents that are not active any more stay away."""
    new = [number for number in numbers if number not in found.rows]
    for part in in_parts(map(str, new)):
        _keep(found, connection.execute(_ROWS.where(_c.number.in_(list(map(int, part))))), how)


def add_ids(connection: Connection, found: Candidates, ids: Iterable[str], how: str) -> None:
    """Add chunks by id, likewise."""
    known = {row.key for row in found.rows.values()}
    for part in in_parts(one for one in ids if one not in known):
        _keep(found, connection.execute(_ROWS.where(_c.id.in_(part))), how)


def add_neighbours(connection: Connection, found: Candidates, hits: Iterable[Row], around: int) -> None:
    """Add what stands beside the given hits in their documents."""
    places = {(row.thread, row.position + step) for row in hits for step in range(-around, around + 1) if step}
    places -= {(row.thread, row.position) for row in found.rows.values()}
    wanted = sorted(place for place in places if place[1] >= 0)
    for start in range(0, len(wanted), PLACES):
        part = wanted[start : start + PLACES]
        part += part[-1:] * (PLACES - len(part))  # always as many: the statement is made once
        values: dict[str, Any] = {f"d{at}": document for at, (document, _) in enumerate(part)}
        values |= {f"p{at}": position for at, (_, position) in enumerate(part)}
        _keep(found, connection.execute(_BESIDE, values), "beside")
