"""Answers a query: candidates, their ranks, the same statement once, and for each hit why it was found.

What shares too little with a query is no hit. Two kinds of queries bring too much. One name with punctuation
(`session_store.py`, `C++`) falls into words, and some of them are in every second text: an ending, a single letter, a
number. And the numbers of a date (`on 21 November`) stand in the source of everything that was said on some 21st. What
has nothing but these is left out, unless the letters of the query stand in it as they were typed. A piece of a
conversation stays: what is around it may speak for it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

from core.base.choices import ENTRY_KINDS
from core.base.entry import Entry
from core.search.candidates import EVERYTHING, SMALL, Candidates, Filters, Talk, find, nearest, neighbours, talks
from core.search.index import Index
from core.search.rank import Features
from core.search.reading import READ_CHARACTERS, Seen, see_all
from core.search.store import Row, one_state
from core.search.terms import Query, parse_query, phrases_in
from core.search.when import moments_of
from core.search.words import Stems, folded, spaced

NEAR_SAID, NEAR_SURE = 2.0, 3.5
"""From so many deviations on, that an entry is near by vector is a reason; and so near it is as good a hit without the
words as others are with them: of 119 questions about real pages, of the hits among the first five with less than a
fifth of what was asked for in them 3 of 18 answered from there on, 3 of 52 below; of all hits 82 of 595."""
EXACT = "exact: "
WEAK = "weak: "
"""Begins the reason that says that a hit has less than half of the words. Of 315 questions about real sessions the best
hit was that weak in 13 % where it answered, and in 64 % where the answer was not there at all."""
NEAR_DATE = 0.1
"""As close to a date as this (`Closeness`) is a reason: some three weeks."""
SHORT, ENDING = 2, 4
"""Among several words of a name one of so few letters says nothing, nor does the last, behind a dot, of so few."""

_NAME = re.compile(r"[^\W_][._/\\:+#@~$-]+[^\W_]|[^\W_][+#]+\Z|\A[.@#$/\\~-]+[^\W_]|_")
_SPLIT = re.compile(r'[\s"]')


def is_name(query: Query) -> bool:
    """Whether a query is one name whose punctuation belongs to it. A date is none, nor is what is written without
    spaces, each character of which is a word."""
    text = query.text
    return bool(
        _NAME.search(text) and not _SPLIT.search(text) and not query.moments and query.words and spaced(text) == text
    )


def reasons(query: Query, seen: Seen, literal: str, how: str, near: float) -> tuple[str, ...]:
    """What matched, the strongest first; nothing for an entry that is no hit. `literal`: the letters that stand in it
    as they were typed; `how` it came (`Candidates.how`); `near` it is by vector."""
    row, why = seen.row, []
    numbers = _numbers(query)
    meant = how == "vector" or near >= NEAR_SAID
    words = sorted(word for word in seen.words if word not in numbers)
    if literal:
        why.append(f"{EXACT}{literal}")
    if words and not literal and is_name(query) and not _has_all(query, seen):
        if row.thread or _says_enough(query, seen):
            why.append(f"part of the name: {', '.join(words)}")
    elif words:
        why.append(f"words: {', '.join(words)}")
        has = sum(1 for count in seen.counts if count)
        if not (literal or meant) and has * 2 < len(query.terms):
            why.append(f"{WEAK}{has} of {len(query.terms)} words")
    if seen.titled:
        why.append("title")
    if seen.dated.within:
        why.append(f"date: {row.date}")
    if how == "prefix":
        why.append(f"begins like: {', '.join(term.word for term in query.terms if not term.found)}")
    elif how == "part" and not literal:
        why.append(f"part of a word: {query.literal}")
    elif how == "beside" and not words:
        why.append("beside a match")
    if meant:
        why.append("alike in meaning")
    if not why and max(seen.dated) >= NEAR_DATE:
        why.append(f"near the date: {row.date}")
    if not why and query.moments and _names_the_date(query, row):
        why.append("names the date")
    if not why and (row.thread or not (seen.words or _is_number_alone(query, row))):
        why.append("related")
    return tuple(why)


def _is_number_alone(query: Query, row: Row) -> bool:
    """Whether an entry in whose text nothing was seen can only have been found by a number in its date: the whole text
    was read, and the query has such numbers."""
    numbers = bool(query.moments) or (is_name(query) and any(term.word.isdigit() for term in query.terms))
    return numbers and len(row.text) <= READ_CHARACTERS


def _has_all(query: Query, seen: Seen) -> bool:
    """Whether every word of a name is there; those that are but fragments, such as numbers, side by side. One word is
    never all of it: its punctuation was to be looked for too."""
    if len(query.terms) < 2 or not all(seen.counts):
        return False
    return seen.joined or not all(_is_fragment(query, at) for at in range(len(query.terms)))


def _says_enough(query: Query, seen: Seen) -> bool:
    """Whether an entry has, whole or within a longer word, a word of the name that is more than a fragment."""
    text = ""
    for at, term in enumerate(query.terms):
        if not _is_fragment(query, at):
            text = text or folded(f"{seen.row.title}\n{seen.row.text}")
            if seen.counts[at] or term.word in text:
                return True
    return False


def _is_fragment(query: Query, at: int) -> bool:
    word = query.terms[at].word
    if len(query.terms) == 1:
        return len(word) == 1
    is_ending = len(word) <= ENDING and query.text.lower().endswith(f".{word}")
    return len(word) <= SHORT or word.isdigit() or is_ending


def _numbers(query: Query) -> Collection[str]:
    """The words of a query that are numbers of its dates."""
    said: set[str] = set()
    for moment in query.moments:
        for number in filter(None, moment):
            said |= {str(number), f"{number:02}", *(f"{number}{end}" for end in ("st", "nd", "rd", "th"))}
    return said.intersection(query.words)


def _names_the_date(query: Query, row: Row) -> bool:
    """Whether the text itself names a date that was asked for: what is planned is named before."""
    named: Sequence[tuple[int, int, int]] = moments_of(row.text)
    return any(
        all(not one or not other or one == other for one, other in zip(asked, moment, strict=True))
        for asked in query.moments
        for moment in named
    )


LITERAL, PHRASE, PART, PREFIX = 6.0, 8.0, 2.0, 1.0
"""What it adds to a score that an entry has the query letter by letter, a phrase in quotation marks, the letters inside
longer words, a word that begins so. A literal is worth what it says: as many letters as it covers, up to this."""
LITERAL_CHARACTERS = 12
LONG_WORDS, LONG_COST = 200, 4.0
"""A text that stands alone loses so much with each e-fold beyond so many words: it has every word somewhere, and takes
long to read."""
KEPT_FROM = 1000
"""Where not every entry may be told, at least so many are looked at."""
BEST_NEAR = 50
"""This many of the nearest by vector may become candidates."""
Near: TypeAlias = Mapping[int, float]
_COMING = {"part": PART, "prefix": PREFIX}
_PLACE_OF_KIND = {kind: place for place, kind in enumerate(ENTRY_KINDS)}
BESIDE_IN_SMALL_INDEX, BESIDE_IN_LARGE_INDEX = 60, 10
"""The neighbours of at most this many of the best candidates may become hits too."""


@dataclass(frozen=True)
class Hit:
    """One thing that was found. `score`: higher is better, comparable within one answer. `why` says what matched;
    `confirmations` are the sources of the same statement elsewhere. `near` it is by vector, in standard deviations from
    the mean of the index, 0 where nothing tells; from `NEAR_SURE` on that alone makes a firm hit."""

    entry: Entry
    score: float
    why: tuple[str, ...]
    confirmations: tuple[str, ...] = ()
    near: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Stable keys for `--json`."""
        entry = self.entry
        return {
            "kind": entry.kind,
            "key": entry.key,
            "title": entry.title or None,
            "text": entry.text,
            "score": round(self.score, 4),
            "why": list(self.why),
            "provenance": entry.provenance or None,
            "confirmations": list(self.confirmations),
            "date": entry.date or None,
            "tags": list(entry.tags),
            "project": entry.project or None,
            "path": entry.path or None,
        }


def remarks(text: str, whys: Sequence[Sequence[str]]) -> list[str]:
    """What is to be said of an answer as a whole, by the reasons of its hits: a phrase in quotation marks that stands
    in none, and that all are weak."""
    said = [one.removeprefix(EXACT) for why in whys for one in why if one.startswith(EXACT)]
    lost = [phrase for phrase in phrases_in(text) if not any(phrase in one for one in said)]
    rows = [f'nothing says "{phrase}" as it stands; its words were looked for one by one' for phrase in lost if whys]
    if whys and all(any(one.startswith(WEAK) for one in why) for why in whys):
        rows.append("all hits are weak: each has less than half of the words, so what was asked may not be here")
    return rows


class Ranked(NamedTuple):
    """One candidate with its score, and the letters of the query that stand in it as they were typed."""

    seen: Seen
    score: float
    literal: str


def search(
    index: Index,
    text: str,
    filters: Filters = EVERYTHING,
    limit: int = 10,
    near: Near | None = None,
    keep: Callable[[Entry], bool] | None = None,
) -> list[Hit]:
    """The best `limit` entries for a query, best first. Any text is a query; an empty one finds nothing. `near` is what
    vectors say (`Vectors.near`): it brings candidates of its own and is one more reason among the others. What `keep`
    refuses is no hit, and confirms none."""
    query, found, ranked, _ = rank_all(index, text, filters, limit if keep is None else max(limit, KEPT_FROM), near)
    hits: list[Hit] = []
    at: dict[str, int] = {}
    for one in ranked:
        row = one.seen.row
        if keep is not None and not keep(row.entry()):
            continue
        same = "" if row.thread else folded(row.text).rstrip(" .")
        if same and same in at:
            known, entry = hits[at[same]], row.entry()
            sources = (*known.confirmations, entry.provenance or entry.path)
            own = known.entry.provenance or known.entry.path
            more = tuple(source for source in dict.fromkeys(sources) if source and source != own)
            hits[at[same]] = replace(known, confirmations=more)
        elif len(hits) < limit:
            near_by = (near or {}).get(row.id, 0.0)
            why = reasons(query, one.seen, one.literal, found.how.get(row.id, ""), near_by)
            if not why:
                continue
            if same:
                at[same] = len(hits)
            hits.append(Hit(row.entry(), one.score, why, (), near_by))
    return hits


class ThreadHit(NamedTuple):
    """One thread that a query is about. `best` is its best entry among those that pass the filters, `why` the reasons
    for it; `positions` are the places in the thread where words of the query stand, best first."""

    thread: str
    score: float
    best: Ranked
    why: tuple[str, ...]
    positions: tuple[int, ...]


class Answer(NamedTuple):
    """What a query is about: all that may be meant, and the threads, best first."""

    ranked: list[Ranked]
    threads: list[ThreadHit]


def rank_threads(
    index: Index, text: str, filters: Filters = EVERYTHING, limit: int = 10, near: Near | None = None
) -> Answer:
    """The threads (conversations, documents) that a query is about, with what each was found by. What stands beside a
    match speaks for its thread; it is no hit itself."""
    query, found, ranked, features = rank_all(index, text, filters, limit, near)
    scores: dict[str, list[float]] = {}
    own: dict[str, list[Ranked]] = {}
    for one in ranked:
        row = one.seen.row
        if row.thread:
            scores.setdefault(row.thread, []).append(one.score)
            if found.how.get(row.id) != "beside":
                own.setdefault(row.thread, []).append(one)
    hits: list[ThreadHit] = []
    for thread, score in sorted(features.score_threads(scores).items(), key=lambda row: (-row[1], row[0])):
        if thread not in own or len(hits) >= limit:
            continue
        best = own[thread][0]
        number = best.seen.row.id
        why = reasons(query, best.seen, best.literal, found.how.get(number, ""), (near or {}).get(number, 0.0))
        positions = tuple(one.seen.row.position for one in own[thread] if one.seen.words)
        hits.append(ThreadHit(thread, score, best, why, positions))
    return Answer(ranked, hits)


def rank_all(
    index: Index, text: str, filters: Filters, limit: int, near: Near | None
) -> tuple[Query, Candidates, list[Ranked], Features]:
    """Everything that may be meant, best first, with what the ranking saw of it."""
    with one_state(index.database):
        return _rank_all(index, text, filters, limit, near)


def _rank_all(
    index: Index, text: str, filters: Filters, limit: int, near: Near | None
) -> tuple[Query, Candidates, list[Ranked], Features]:
    query = parse_query(text, index.database, index.stems)
    if not query.literal:
        return query, Candidates({}, {}), [], Features(query, [], {})
    found = find(index.database, query, filters, limit)
    if near:
        nearest(index.database, found, near, filters, BEST_NEAR)
    best = BESIDE_IN_SMALL_INDEX if query.entries <= SMALL else BESIDE_IN_LARGE_INDEX
    held = talks(index.database, found)
    neighbours(index.database, found, list(found.rows.values())[:best], talks=held)
    return query, found, *rank_found(query, found, index.stems, near, held)


def rank_found(
    query: Query,
    found: Candidates,
    stems: Stems,
    near: Near | None,
    talks: Mapping[str, Talk] | None = None,
    order: Callable[[Row], tuple[Any, ...]] | None = None,
) -> tuple[list[Ranked], Features]:
    """Candidates from wherever they come, best first, with what the ranking saw of them. Of equal scores the newer
    comes first; `order` says which of equals as old, where kind and key do not tell."""
    order = order or _order
    # In the order of their places: sums of fractions depend on their order, and copies shall have equal scores.
    seen = sorted(see_all(query, found, stems), key=lambda one: one.row.position)
    features = Features(query, seen, near, talks)
    ranked = []
    spelled = query.phrases or len(query.words) > 1 or query.exact
    first = "" if query.phrases else query.literal.partition(" ")[0]
    for one in seen:
        literal, bonus = _letters(query, one.row, first) if spelled else ("", 0.0)
        if found.how:
            bonus += _COMING.get(found.how.get(one.row.id, ""), 0.0)
        if one.length > LONG_WORDS and not one.row.thread:
            bonus -= LONG_COST * math.log(one.length / LONG_WORDS)
        ranked.append(Ranked(one, features.score(one) + bonus, literal))
    # Between equal scores: kinds in their order, then what is newer; nothing depends on when it was indexed.
    ranked.sort(key=itemgetter(1), reverse=True)
    start = 0
    for at in range(1, len(ranked) + 1):
        if at == len(ranked) or ranked[at].score != ranked[start].score:
            if at - start > 1:
                same = sorted(ranked[start:at], key=lambda one: order(one.seen.row))
                ranked[start:at] = sorted(same, key=lambda one: one.seen.row.date, reverse=True)
            start = at
    return ranked, features


def _order(row: Row) -> tuple[int, str, str, int]:
    return _PLACE_OF_KIND.get(row.kind, len(ENTRY_KINDS)), row.key, row.text, row.position


def _letters(query: Query, row: Row, first: str) -> tuple[str, float]:
    """Which letters of the query stand in an entry as they were typed, and what that is worth. Without `first`, the
    beginning of what is looked for, there can be none."""
    text = f"{row.title}\n{row.text}"
    if first not in text.lower() and text.isascii():
        return "", 0.0
    text = folded(text)
    bonus, said = 0.0, ""
    for phrase in query.phrases:
        if phrase in text:
            bonus, said = bonus + PHRASE, f"{said}; {phrase}" if said else phrase
    if query.literal in text and (len(query.words) > 1 or query.exact):
        worth = min(len(query.literal), LITERAL_CHARACTERS) / LITERAL_CHARACTERS
        bonus, said = bonus + LITERAL * worth, query.literal
    return said, bonus
