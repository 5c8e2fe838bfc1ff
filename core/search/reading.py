"""Reads candidates: how often each has the words of a query, and the other things that ranking wants to know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.search.candidates import Candidates
from core.search.store import DOCUMENT, Row
from core.search.terms import Query
from core.search.when import FAR, Closeness, closeness
from core.search.words import Stems, words_of

TITLE, ABOUT = 0.5, 0.3
"""What a word counts in a title, and in tags, source and date."""
READ_CHARACTERS = 20_000
WINDOW = 20
"""The words of a passage that are taken to speak of one thing."""


@dataclass(slots=True)
class Seen:
    """What was seen of one candidate: how often it has each term (weighted), its length in words, and the
    marks that the features need. Of a passage of a document `together` is what the terms say that stand closest
    together."""

    row: Row
    counts: list[float]
    length: int
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
    texts = [words_of(row.text[:READ_CHARACTERS]) for row in rows]
    abouts = [words_of(f"{row.tags} {row.provenance}") for row in rows]
    titles = {title: words_of(title) for title in {row.title for row in rows}}
    words = set[str]().union(*texts, *abouts, *titles.values())
    telling = stems.telling(words, where)
    known = stems.learn(query.words)
    called = stems.telling(words, {known[word]: word for word in query.words})
    named = {title: bool(parts) and all(word in called for word in parts) for title, parts in titles.items()}
    made = []
    for row, text, about in zip(rows, texts, abouts, strict=True):
        counts, matched = [0.0] * len(query.terms), set[str]()
        for share, parts in ((1.0, text), (TITLE, titles[row.title]), (ABOUT, about)):
            for word in parts:
                if word in telling:
                    matched.add(word)
                    for at, weight in telling[word]:
                        counts[at] += weight * share
        asks = row.text.rstrip().endswith(("?", "？"))
        dated = closeness(query.moments, row.date) if query.moments else FAR
        together = _together(query, text, telling) if row.kind == DOCUMENT else 0.0
        made.append(Seen(row, counts, len(text), named[row.title], asks, matched, dated, together))
    return made


def _together(query: Query, text: Sequence[str], telling: Mapping[str, Sequence[tuple[int, float]]]) -> float:
    """The most that terms within one window of a text are worth. `telling` has (term, weight) for each word that
    matches."""
    hits = [(place, *one) for place, word in enumerate(text) for one in telling.get(word, ())]
    most = 0.0
    for first, (begin, _, _) in enumerate(hits):
        has: dict[int, float] = {}
        for place, at, weight in hits[first:]:
            if place - begin >= WINDOW:
                break
            has[at] = max(has.get(at, 0.0), weight)
        most = max(most, sum(query.terms[at].pull * weight for at, weight in has.items()))
    return most
