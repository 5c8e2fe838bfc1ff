"""Ranks candidates. Each gets a handful of features, and its score is their weighted sum.

The features of an entry by itself are BM25 over its words and how much of the query it covers. A piece of a
conversation or a document is also judged by what stands around it: an answer often repeats no word of the question
before it. The weights were fitted on questions about conversations with known answers (`make retrieval`: listwise
softmax, every conversation ranked by weights that were fitted without it); they are plain numbers, and no entry has
any weight of its own. An entry that stands alone is its own thread, so that it is not behind for having none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import mul

from core.search.candidates import Found
from core.search.english import TIMES
from core.search.store import Row
from core.search.terms import Query
from core.search.words import Stems, words_of

K1, B = 1.0, 0.4
"""BM25: how soon a repeated word says nothing new, and how much a long text must repeat it."""
THREAD_K1, THREAD_B = 1.5, 0.6
TITLE, ABOUT = 0.5, 0.3
"""What a word counts in a title, and in tags, source and date."""
SMOOTH = 0.5
"""What a word of a neighbour counts for an entry."""
LONG_WORDS = 60
READ_CHARACTERS = 20_000

NAMES = (
    "match", "cover", "cover2", "titled", "titled_match", "titled_cover", "before", "after", "before2", "after2",
    "pair", "window", "smooth", "thread", "thread_cover", "asks", "asked", "asked_match", "long", "long_titled",
    "times", "near", "best_thread", "titled_before",
)  # fmt: skip
WEIGHTS: Mapping[str, float] = dict(
    zip(
        NAMES,
        (
            -0.616,
            5.949,
            -5.212,
            0.574,
            1.222,
            -2.145,
            -1.969,
            0.75,
            2.817,
            1.045,
            5.654,
            -1.205,
            2.529,
            0.092,
            3.528,
            -0.78,
            0.299,
            3.196,
            0.401,
            0.31,
            1.9,
            0.474,
            0.513,
            -1.017,
        ),
        strict=True,
    )
)
THREAD_NAMES = ("thread", "thread_cover", "first", "second", "third", "own", "own_cover")
THREAD_WEIGHTS: Mapping[str, float] = dict.fromkeys(THREAD_NAMES, 0.0) | {"thread": 2.0, "first": 0.3}


@dataclass
class Seen:
    """What was seen of one candidate: how often it has each term (weighted), its length in words, which terms stand
    next to each other as in the query, and the marks that the features need."""

    row: Row
    counts: list[float]
    length: int
    near: float
    titled: bool
    asks: bool
    times: bool
    words: set[str]


def see_all(query: Query, found: Found, stems: Stems) -> list[Seen]:
    """Read all candidates."""
    where: dict[str, list[tuple[int, float]]] = {}
    for at, term in enumerate(query.terms):
        for stem, weight in term.stems.items():
            where.setdefault(stem, []).append((at, weight))
    read = [
        (row, words_of(row.text[:READ_CHARACTERS]), words_of(row.title), words_of(f"{row.tags} {row.provenance}"))
        for row in found.rows.values()
    ]
    words = {word for _, *parts in read for part in parts for word in part}
    known = stems.learn(words)
    telling = {word: where[known[word]] for word in words if known[word] in where}
    asked = {known[word] for word in words_of(query.text) if word in known}
    return [_seen(query, row, text, title, about, telling, known, asked) for row, text, title, about in read]


def _seen(
    query: Query,
    row: Row,
    text: Sequence[str],
    title: Sequence[str],
    about: Sequence[str],
    telling: Mapping[str, list[tuple[int, float]]],
    stems: Mapping[str, str],
    asked: set[str],
) -> Seen:
    """Read one candidate. `telling` are the words that match: (term, weight) for each."""
    counts = [0.0] * len(query.terms)
    matched: set[str] = set()
    near, last, last_place = 0.0, -2, -9
    for place, word in enumerate(text):
        if word not in telling:
            continue
        matched.add(word)
        for at, weight in telling[word]:
            counts[at] += weight
            if at == last + 1 and place - last_place <= 2:
                near += query.terms[at].worth + query.terms[last].worth
            last, last_place = at, place
    for share, words in ((TITLE, title), (ABOUT, about)):
        for word in words:
            if word in telling:
                matched.add(word)
                for at, weight in telling[word]:
                    counts[at] += weight * share
    titled = bool(title) and all(stems[word] in asked for word in title)
    times = query.when and not TIMES.isdisjoint(text)
    return Seen(row, counts, len(text), near, titled, row.text.rstrip().endswith(("?", "？")), times, matched)


def _bm25(counts: Sequence[float], worths: Sequence[float], norm: float, k1: float = K1) -> float:
    total, bend = 0.0, k1 * norm
    for at, count in enumerate(counts):
        if count:
            total += worths[at] * count / (count + bend)
    return total * (k1 + 1)


def _covered(counts: Sequence[float], worths: Sequence[float]) -> float:
    total = 0.0
    for at, count in enumerate(counts):
        if count:
            total += worths[at]
    return total


class Features:
    """The features of all candidates of one query. `of` gives those of one, in the order of NAMES; `of_thread` those
    of a thread, in the order of THREAD_NAMES, once the entries have scores."""

    def __init__(self, query: Query, seen: Sequence[Seen], lengths: Mapping[str, int]) -> None:
        self.query = query
        self.seen = seen
        self.worths = [term.worth for term in query.terms]
        self.total = query.worth
        self.mean = max(1.0, sum(one.length for one in seen) / max(1, len(seen)))
        self.places = {(one.row.thread, one.row.position): one for one in seen if one.row.thread}
        self.matches = {one.row.id: self._match(one) for one in seen}
        self.threads = self._thread_sums(lengths)
        self.best_thread = max((thread[0] for thread in self.threads.values()), default=0.0)

    def _norm(self, length: float) -> float:
        return 1 - B + B * (length + 1) / (self.mean + 1)

    def _match(self, one: Seen) -> float:
        return _bm25(one.counts, self.worths, self._norm(one.length)) / self.total

    def _thread_sums(self, lengths: Mapping[str, int]) -> dict[str, tuple[float, float, float, float]]:
        """thread -> BM25 of the whole, its cover, and the same over the pieces whose title the query names."""
        sums: dict[str, list[float]] = {}
        own: dict[str, list[float]] = {}
        for one in self.seen:
            if not one.row.thread:
                continue
            for table, counts in ((sums, one.counts), (own, one.counts if one.titled else ())):
                held = table.setdefault(one.row.thread, [0.0] * len(self.worths))
                for at, number in enumerate(counts):
                    held[at] += number
        if not sums:
            return {}
        number = len(sums)
        worths = []
        for at in range(len(self.worths)):
            having = sum(1 for counts in sums.values() if counts[at])
            worths.append(math.log(1 + (number - having + 0.5) / (having + 0.5)))
        total = sum(worths) or 1.0
        mean = sum(lengths.get(name, 1) for name in sums) / number
        made = {}
        for name, counts in sums.items():
            norm = 1 - THREAD_B + THREAD_B * lengths.get(name, 1) / mean
            made[name] = (
                _bm25(counts, worths, norm, THREAD_K1) / total,
                _covered(counts, worths) / total,
                _bm25(own[name], worths, norm, THREAD_K1) / total,
                _covered(own[name], worths) / total,
            )
        return made

    def _beside(self, one: Seen, step: int) -> Seen | None:
        return self.places.get((one.row.thread, one.row.position + step))

    def of(self, one: Seen) -> list[float]:
        """The features of one entry."""
        match = self.matches[one.row.id]
        cover = _covered(one.counts, self.worths) / self.total
        near = min(one.near / self.total, 2.0)
        titled = float(one.titled)
        if not one.row.thread:
            return [match, cover, cover * cover, titled, titled * match, titled * cover, 0, 0, 0, 0, cover, cover,
                    match, match, cover, 0, 0, 0, 0, 0, 0, near, 1.0, 0]  # fmt: skip
        around = {step: self._beside(one, step) for step in (-2, -1, 1, 2)}
        beside = {step: self.matches[other.row.id] if other is not None else 0.0 for step, other in around.items()}
        pair, window, smooth, length = list(one.counts), list(one.counts), list(one.counts), float(one.length)
        for step in (-1, 1):
            other = around[step]
            if other is not None:
                length += SMOOTH * other.length
                for at, number in enumerate(other.counts):
                    window[at] += number
                    smooth[at] += SMOOTH * number
                    if step < 0:
                        pair[at] += number
        before = around[-1]
        asked = float(before is not None and before.asks)
        thread = self.threads[one.row.thread]
        long = math.log(min(one.length, LONG_WORDS) + 1)
        smoothed = (
            _bm25(smooth, self.worths, 1 - B + B * (length + 1) / (self.mean * (1 + 2 * SMOOTH) + 1)) / self.total
        )
        return [
            match, cover, cover * cover, titled, titled * match, titled * cover,
            beside[-1], beside[1], beside[-2], beside[2],
            _covered(pair, self.worths) / self.total, _covered(window, self.worths) / self.total, smoothed,
            thread[0], thread[1], float(one.asks), asked, asked * beside[-1], long, long * titled,
            float(self.query.when and one.times), near, float(thread[0] >= self.best_thread), titled * beside[-1],
        ]  # fmt: skip

    def of_thread(self, name: str, scores: Sequence[float]) -> list[float]:
        """The features of a thread whose best entries have `scores`, best first."""
        best = [*scores[:3], 0.0, 0.0, 0.0]
        thread = self.threads[name]
        return [thread[0], thread[1], best[0], best[1], best[2], thread[2], thread[3]]


def weighted(features: Sequence[float], weights: Mapping[str, float]) -> float:
    """The score: one number, higher is better."""
    return float(sum(map(mul, features, weights.values())))
