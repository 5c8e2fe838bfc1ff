"""Reads candidates: how often each has the words of a query, and the other things that ranking wants to know.

Of a plain ASCII text only words that begin like one that is looked for are brought to their stems; that sees the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from core.search.candidates import Candidates
from core.search.store import DOCUMENT, Row
from core.search.terms import Query
from core.search.when import FAR, Closeness, closeness
from core.search.words import Stems, words_of

TITLE, ABOUT = 0.5, 0.3
"""What a word counts in a title, and in tags, source and date."""
READ_CHARACTERS = 20_000
WINDOW = 20
"""So many words of a passage say one thing."""
ENDING = 2
"""A stem may differ from the beginning of its word in so many of its last letters (`valence`, `valenci`)."""

Placed: TypeAlias = "list[tuple[str, int]]"
"""Words with their places, counted in words."""


@dataclass(slots=True)
class Seen:
    """What was seen of one candidate: how often it has each term (weighted), its length in words, whether some terms
    stand `joined` as in the query, and the marks that the features need. Of a passage of a document `together` is what
    the terms say that stand closest together."""

    row: Row
    counts: list[float]
    length: int
    joined: bool
    titled: bool
    asks: bool
    words: set[str]
    dated: Closeness = FAR
    together: float = 0.0


def see_all(query: Query, found: Candidates, stems: Stems) -> list[Seen]:
    """Read all candidates."""
    where: dict[str, list[tuple[int, float]]] = {}
    for at, term in enumerate(query.terms):
        for stem, weight in term.stems.items():
            where.setdefault(stem, []).append((at, weight))
    rows = list(found.rows.values())
    read = _read(rows, _beginnings(where))
    titles = {title: words_of(title) for title in {row.title for row in rows}}
    words = set(query.words).union(*titles.values())
    for placed, _, about in read:
        words.update(about)
        words.update([word for word, _ in placed])
    known = stems.learn(words)
    telling = {word: where[known[word]] for word in words if known[word] in where}
    asked = {known[word] for word in query.words}
    named = {title: bool(parts) and all(known[word] in asked for word in parts) for title, parts in titles.items()}
    return [
        _seen(query, row, placed, length, named[row.title], ((TITLE, titles[row.title]), (ABOUT, about)), telling)
        for row, (placed, length, about) in zip(rows, read, strict=True)
    ]


def _read(rows: Sequence[Row], begins: tuple[str, ...]) -> list[tuple[Placed, int, list[str]]]:
    """For each row the words of its text that may be looked for, how many words it has in all, and the words of its
    tags and source."""
    made = []
    for row in rows:
        text, about = row.text[:READ_CHARACTERS], words_of(f"{row.tags} {row.provenance}")
        words = words_of(text)
        plain = text.isascii()
        placed = [(word, at) for at, word in enumerate(words) if not plain or word.startswith(begins)]
        made.append((placed, len(text.split()) if plain else len(words), about))
    return made


def _beginnings(stems: Iterable[str]) -> tuple[str, ...]:
    """How the words of an ASCII text begin that may have one of these stems."""
    return tuple({stem[: max(min(2, len(stem)), len(stem) - ENDING)] for stem in stems if stem.isascii()})


def _seen(
    query: Query,
    row: Row,
    text: Placed,
    length: int,
    titled: bool,
    beside: Sequence[tuple[float, Sequence[str]]],
    telling: Mapping[str, list[tuple[int, float]]],
) -> Seen:
    """What one candidate has. `telling` are the words that match: (term, weight) for each."""
    counts = [0.0] * len(query.terms)
    matched: set[str] = set()
    joined, before, before_place = False, -2, -9
    for word, place in text:
        if word not in telling:
            continue
        matched.add(word)
        for at, weight in telling[word]:
            counts[at] += weight
            joined |= at == before + 1 and place - before_place <= 2
            before, before_place = at, place
    for share, words in beside:
        for word in words:
            if word in telling:
                matched.add(word)
                for at, weight in telling[word]:
                    counts[at] += weight * share
    asks = row.text.rstrip().endswith(("?", "？"))
    dated = closeness(query.moments, row.date) if query.moments else FAR
    together = 0.0
    if row.kind == DOCUMENT:
        together = _together(query, [(place, *one) for word, place in text for one in telling.get(word, ())])
    return Seen(row, counts, length, joined, titled, asks, matched, dated, together)


def _together(query: Query, hits: Sequence[tuple[int, int, float]]) -> float:
    """The most that terms within one window are worth; `hits` are (place, term, weight), by place."""
    most = 0.0
    for first, (begin, _, _) in enumerate(hits):
        has: dict[int, float] = {}
        for place, at, weight in hits[first:]:
            if place - begin >= WINDOW:
                break
            has[at] = max(has.get(at, 0.0), weight)
        most = max(most, sum(query.terms[at].worth * weight for at, weight in has.items()))
    return most
