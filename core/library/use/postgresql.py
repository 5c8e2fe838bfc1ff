"""The full text of a team's library: which chunks may be meant, as PostgreSQL finds them (tsvector).

A library in a file is searched through the one index of `core/search`; this server has one of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from sqlalchemy import Connection, Select, func, select, text

from core.library import schema
from core.search.candidates import (
    RANKED_IN_LARGE_INDEX,
    RANKED_IN_SMALL_INDEX,
    READABLE,
    SMALL,
    Candidates,
    Choice,
    choices,
    spelling_is_open,
)
from core.search.terms import Query, Term, query_of, spelled
from core.search.when import Moment, spelled_dates
from core.search.words import Stems, forms, words_of

_c = schema.chunk.c
Keep = Callable[[Candidates, Iterable[Any], str], None]
"""Adds rows of chunks to candidates, with how they came ("": by their words)."""
# Each in a statement of its own: together they would read every row.
_NUMBER_RANGE = select(
    select(func.min(_c.number)).scalar_subquery().label("least"),
    select(func.max(_c.number)).scalar_subquery().label("most"),
)
# No list of its stems is kept: they are gathered from chunks that have one which begins so.
_BEGINNING = text("SELECT word, ndoc FROM ts_stat(:chunks) WHERE word LIKE :begins")
_HAVING = "SELECT words FROM chunk WHERE words @@ to_tsquery('simple', '{}:*') LIMIT 20000"


def understand(connection: Connection, asked: str, stems: Stems) -> Query:
    """Any text as a query against the chunks of this library."""
    query = query_of(asked, partial(_places, connection, _spellings_of(asked, stems)), stems)
    return spelled(query, partial(_between, connection), stems)


def _between(connection: Connection, first: str, _last: str) -> Iterable[Any]:
    """Stems that begin with the letters `first`, each with how many chunks have it."""
    return connection.execute(_BEGINNING, {"chunks": _HAVING.format(first), "begins": f"{first}%"})


def _number_of_chunks(connection: Connection) -> int:
    """About how many chunks there are, without counting them: their numbers are given one after the other."""
    least, most = connection.execute(_NUMBER_RANGE).one()
    return 0 if most is None or least is None else int(most) - int(least) + 1


def _spellings_of(asked: str, stems: Stems) -> dict[str, str]:
    """Stem -> a word that has it, of the words of a query and their other forms."""
    words = set(words_of(asked))
    words |= {other for word in words for other in forms().get(word, ())}
    known = stems.learn(words)
    return {known[word]: word for word in sorted(words)}


def _places(connection: Connection, spellings: Mapping[str, str], stems: Sequence[str]) -> tuple[int, dict[str, int]]:
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


def find(connection: Connection, query: Query, limit: int, rows: Select[Any], keep: Keep) -> Candidates:
    """The chunks that may be meant, in the steps in which `core/search` looks for entries: what shares words with a
    query, was written on a date that it names, has a word that begins so, or its letters inside words. `rows` selects
    what `keep` adds."""
    found = Candidates({}, {})
    wanted = max(RANKED_IN_SMALL_INDEX if query.entries <= SMALL else RANKED_IN_LARGE_INDEX, limit * 2)
    terms = [term for term in query.terms if term.found]

    def take(match: str, most: int, how: str = "") -> None:
        asked = text("chunk.words @@ to_tsquery('english', :match)")
        order = text("ts_rank(chunk.words, to_tsquery('english', :match), 1) DESC, chunk.number")
        keep(found, connection.execute(rows.where(asked).order_by(order).limit(most), {"match": match}), how)

    for choice in choices(query, terms) if terms else ():
        take(_choice(choice), wanted)
        if len(found.rows) >= limit:
            break
    dated = _dates(query.moments)
    if dated:
        both = [f"({dated}) & ({_choice(Choice(terms, []))})"] if terms else []
        for match in (*both, dated):
            take(match, wanted // 2, "dated")
    if len(found.rows) < limit:
        lost = [term for term in query.terms if not term.found and len(term.word) > 2]
        if lost:
            take(" | ".join(f"{_lexeme(term.word)}:*" for term in lost), wanted, "prefix")
    readable = query.entries <= READABLE or len(query.words) < 2  # in a large library only for a single word
    if query.literal and readable and spelling_is_open(query, found, limit):
        has = [column.icontains(query.literal, autoescape=True) for column in (_c.content, _c.heading)]
        keep(found, connection.execute(rows.where(has[0] | has[1]).order_by(_c.number).limit(wanted)), "part")
    return found


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
