"""Answers a query: candidates, their ranks, the same statement once, and for each hit why it was found."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

from core.base.choices import ENTRY_KINDS
from core.base.entry import Entry, as_fact, statement_key
from core.search.candidates import (
    EVERYTHING,
    SMALL,
    Candidates,
    Filters,
    Talk,
    find,
    lengths,
    nearest,
    neighbours,
    talks,
)
from core.search.index import Index
from core.search.rank import Features
from core.search.reading import Seen, see_all
from core.search.store import Row, one_state
from core.search.terms import Query, parse_query, phrases_in
from core.search.words import Stems, folded

NEAR_SAID = 2.0
"""The standard deviations above the mean from which nearness by vector is told as a reason."""
NEAR_SURE = 3.5
"""Those from which an entry without the words is as good a hit as others with them. Of 119 questions about real pages:
among the first five hits with less than a fifth of the words 3 of 18 answered from there on, and 3 of 52 below; of all
hits 82 of 595."""
EXACT = "exact: "
WEAK = "weak: "
"""Begins the reason that says that a hit has less than half of the words. Of 315 questions about real sessions the best
hit was that weak in 13 % where it answered, and in 64 % where the answer was not there at all."""


def reasons(
    query: Query, seen: Seen, literal: str, how: str, near: float, asked: tuple[int, int] | None = None
) -> tuple[str, ...]:
    """What matched, the strongest first. `literal`: the letters that stand in it as they were typed; `how` it came
    (`Candidates.how`); `near` it is by vector. Where some terms are guesses `asked` is how many of the others its
    thread has, and how many there are."""
    has, of = asked or (sum(1 for count in seen.counts if count), len(query.terms))
    row, why = seen.row, []
    meant = how == "vector" or near >= NEAR_SAID
    words = sorted(seen.words)
    if literal:
        why.append(f"{EXACT}{literal}")
    if words and query.name and not literal:
        why.append(f"part of the name: {', '.join(words)}")
    elif words:
        why.append(f"words: {', '.join(words)}")
        if not (literal or meant) and has * 2 < of:
            why.append(f"{WEAK}{has} of {of} words")
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
    if not why and how == "dated":
        why.append("names the date")
    return tuple(why) or ("related",)


LITERAL, PHRASE, PART, PREFIX = 6.0, 8.0, 2.0, 1.0
"""What is added to the score of an entry that has the query letter by letter, a phrase in quotation marks, the letters
inside longer words, or a word that begins with them."""
LITERAL_CHARACTERS = 12
"""A literal of this length or more is worth all of `LITERAL`, a shorter one a part of it."""
LONG_WORDS = 200
"""The words above which a text that stands alone is long: it has every word somewhere, and takes long to read."""
LONG_COST = 4.0
"""What such a text loses each time it is longer by a factor of e."""
THREAD_CHARACTERS = 1000
"""The characters above which a conversation is long."""
THREAD_COST = 0.5
"""What a conversation loses each time it is longer by a factor of e. Of 218 questions to everything the right one came
first for 180, without this for 167; between 0.3 and 0.7 for 178 to 182."""
KEPT_FROM = 1000
"""The fewest entries that are looked at where not every one may be told."""
BEST_NEAR = 50
"""The nearest entries by vector that may become candidates."""
Near: TypeAlias = Mapping[int, float]
_COMING = {"part": PART, "prefix": PREFIX}
_PLACE_OF_KIND = {kind: place for place, kind in enumerate(ENTRY_KINDS)}
FACT, LINES = "fact", ("bullet", "note")
"""The kinds of which one may only repeat what the others say."""
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
    stands: Callable[[Entry], bool] | None = None,
) -> list[Hit]:
    """The best `limit` entries for a query, best first. Any text is a query; an empty one finds nothing. `near` is what
    vectors say (`Vectors.near`): it brings candidates of its own and is one more reason among the others. What `keep`
    refuses is no hit, and confirms none. A fact that only says what a line says stands in no place of its own: the line
    is the hit, in the better place of the two. Of any other `stands` is asked, as long as there is room for it."""
    looked_at = limit if keep is None else max(limit, KEPT_FROM)
    while True:
        hits, left_out, seen = _hits(index, text, filters, limit, near, keep, stands, looked_at)
        if len(hits) == limit or not left_out or seen < looked_at:
            return hits
        looked_at = max(KEPT_FROM, 4 * looked_at)


def _hits(
    index: Index,
    text: str,
    filters: Filters,
    limit: int,
    near: Near | None,
    keep: Callable[[Entry], bool] | None,
    stands: Callable[[Entry], bool] | None,
    looked_at: int,
) -> tuple[list[Hit], bool, int]:
    """The same of about as many candidates as are to be `looked_at`, whether any of them does not stand, and how many
    there were."""
    query, found, ranked, _ = rank_all(index, text, filters, looked_at, near)
    left_out, seen = False, len(ranked)
    if keep is not None:
        ranked = [one for one in ranked if keep(one.seen.row.entry())]
    lines: dict[str, Ranked] = {}
    for one in ranked:
        if one.seen.row.kind in LINES:
            lines.setdefault(statement_key(as_fact(one.seen.row.text.partition("\n")[0])), one)
    hits: list[Hit] = []
    at: dict[str, int] = {}
    for place in ranked:
        row, one = place.seen.row, place
        same = "" if row.thread else statement_key(row.text)
        if row.kind == FACT and same:
            one = lines.get(same, place)
            same = statement_key(one.seen.row.text)
        if same and same in at:
            known, entry = hits[at[same]], row.entry()
            sources = (*known.confirmations, entry.provenance or entry.path)
            own = known.entry.provenance or known.entry.path
            more = tuple(source for source in dict.fromkeys(sources) if source and source != own)
            hits[at[same]] = replace(known, confirmations=more)
        elif len(hits) < limit:
            if row.kind == FACT and one is place and stands is not None and not stands(row.entry()):
                left_out = True
                continue
            number = one.seen.row.id
            near_by = (near or {}).get(number, 0.0)
            why = reasons(query, one.seen, one.literal, found.how.get(number, ""), near_by)
            if same:
                at[same] = len(hits)
            confirmed = (row.provenance,) if one is not place and row.provenance else ()
            hits.append(Hit(one.seen.row.entry(), place.score, why, confirmed, near_by))
    return hits, left_out, seen


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

    query: Query
    ranked: list[Ranked]
    threads: list[ThreadHit]


def rank_threads(
    index: Index,
    text: str,
    filters: Filters = EVERYTHING,
    limit: int = 10,
    near: Near | None = None,
    likely: str = "",
) -> Answer:
    """The threads (conversations, documents) that a query is about, with what each was found by. What stands beside a
    match speaks for its thread; it is no hit itself. `likely` are words that the answer probably has: they find what
    shares none with the query, which is in another language at times. Of 162 first questions of six players the right
    session came first for 140 with them and for 129 without, and stood in the answer for 148 and for 137."""
    terms, asked_for = 0, None
    if likely and (own_query := parse_query(text, index.database, index.stems)).literal and not own_query.name:
        # Whoever names one thing has said which.
        terms, text, asked_for = len(own_query.terms), f"{text} {likely}", own_query
    query, found, ranked, features = rank_all(index, text, filters, limit, near, asked_for)
    scores: dict[str, list[float]] = {}
    own: dict[str, list[Ranked]] = {}
    for one in ranked:
        row = one.seen.row
        if row.thread:
            scores.setdefault(row.thread, []).append(one.score)
            if found.how.get(row.id) != "beside":
                own.setdefault(row.thread, []).append(one)
    long = lengths(index.database, scores)
    fits = {
        thread: score - THREAD_COST * math.log(long[thread] + THREAD_CHARACTERS)
        for thread, score in features.score_threads(scores).items()
    }
    hits: list[ThreadHit] = []
    for thread, score in sorted(fits.items(), key=lambda row: (-row[1], row[0])):
        if thread not in own or len(hits) >= limit:
            continue
        best = own[thread][0]
        number = best.seen.row.id
        near_by = (near or {}).get(number, 0.0)
        has = max(sum(map(bool, one.seen.counts[:terms])) for one in own[thread]) if terms else 0
        asked = (has, terms) if terms else None
        why = reasons(query, best.seen, best.literal, found.how.get(number, ""), near_by, asked)
        positions = tuple(one.seen.row.position for one in own[thread] if one.seen.words)
        hits.append(ThreadHit(thread, score, best, why, positions))
    return Answer(query, ranked, hits)


def rank_all(
    index: Index, text: str, filters: Filters, limit: int, near: Near | None, asked_for: Query | None = None
) -> tuple[Query, Candidates, list[Ranked], Features]:
    """Everything that may be meant, best first, with what the ranking saw of it. Dates and phrases are those of what
    was `asked_for`, where the text has more than that."""
    with one_state(index.database):
        query = parse_query(text, index.database, index.stems)
        if asked_for is not None:
            query = replace(query, moments=asked_for.moments, phrases=asked_for.phrases)
        if not query.literal:
            return query, Candidates({}, {}), [], Features(query, [], {})
        found = find(index.database, query, filters, limit)
        if near:
            nearest(index.database, found, near, filters, BEST_NEAR)
        best = BESIDE_IN_SMALL_INDEX if query.entries <= SMALL else BESIDE_IN_LARGE_INDEX
        held = talks(index.database, found)
        neighbours(index.database, found, list(found.rows.values())[:best], held)
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
    for one in seen:
        literal, bonus = _letters(query, one.row)
        bonus += _COMING.get(found.how.get(one.row.id, ""), 0.0)
        if one.length > LONG_WORDS and not one.row.thread:
            bonus -= LONG_COST * math.log(one.length / LONG_WORDS)
        ranked.append(Ranked(one, features.score(one) + bonus, literal))
    # Between equal scores: what is newer, then kinds in their order; nothing depends on when it was indexed.
    ranked.sort(key=lambda one: order(one.seen.row))
    ranked.sort(key=lambda one: (one.score, one.seen.row.date), reverse=True)
    return ranked, features


def _order(row: Row) -> tuple[int, str, str, int]:
    return _PLACE_OF_KIND.get(row.kind, len(ENTRY_KINDS)), row.key, row.text, row.position


def _letters(query: Query, row: Row) -> tuple[str, float]:
    """Which letters of the query stand in an entry as they were typed, and what that is worth."""
    text = folded(f"{row.title}\n{row.text}")
    said = [phrase for phrase in query.phrases if phrase in text]
    bonus = PHRASE * len(said)
    if (len(query.words) > 1 or query.exact) and query.literal in text:
        return query.literal, bonus + LITERAL * min(1.0, len(query.literal) / LITERAL_CHARACTERS)
    return "; ".join(said), bonus
