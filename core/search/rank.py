"""Ranks candidates. Each gets a handful of features, and its score is their weighted sum.

The features of an entry by itself are BM25 over its words and how much of the query it covers. A piece of a
conversation or a document is also judged by what stands around it: an answer often repeats no word of the question
before it. The weights are in weights.py; no entry has any weight of its own. An entry that stands alone is its own
thread, so that it is not behind for having none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from operator import mul

from core.search.reading import Seen
from core.search.terms import Query
from core.search.weights import ALONE, DATED, HYBRID_THREAD_WEIGHTS, HYBRID_WEIGHTS, THREAD_WEIGHTS, WEIGHTS
from core.search.when import FAR, Closeness

K1, B = 1.0, 0.4
"""BM25: how soon a repeated word says nothing new, and how much a long text must repeat it."""
THREAD_K1, THREAD_B = 1.5, 0.6
SMOOTH = 0.5
"""What a word of a neighbour counts for an entry."""
LONG_WORDS = 60
NOTHING, NO_MASS = -6.0, -8.0
"""What a thread is given for pieces that it does not have, below its best of all."""


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
    of a thread, in the order of THREAD_NAMES, once the entries have scores. `near` (entry -> how near) is empty where
    there are no vectors; where there are, four more features follow."""

    def __init__(
        self, query: Query, seen: Sequence[Seen], lengths: Mapping[str, int], near: Mapping[int, float] | None = None
    ) -> None:
        self.query = query
        self.seen = seen
        self.worths = [term.worth for term in query.terms]
        self.total = query.worth
        self.mean = max(1.0, sum(one.length for one in seen) / max(1, len(seen)))
        self.places = {(one.row.thread, one.row.position): one for one in seen if one.row.thread}
        self.matches = {one.row.id: self._match(one) for one in seen}
        self.threads = self._thread_sums(lengths)
        self.near = near or {}
        self.near_thread: dict[str, list[float]] = {}
        for one in seen if near else ():
            self.near_thread.setdefault(one.row.thread, []).append(self.near.get(one.row.id, 0.0))
        for held in self.near_thread.values():
            held.sort(reverse=True)
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

    def score(self, one: Seen) -> float:
        """One number, higher is better."""
        if not self.near:
            return weighted(self.of(one), WEIGHTS) if one.row.thread else self._score_alone(one)
        return weighted([*self.of(one), *self.of_near(one)], HYBRID_WEIGHTS)

    def _score_alone(self, one: Seen) -> float:
        """`weighted(self.of(one), WEIGHTS)` for an entry without a thread, most of whose features are the same few."""
        match = self.matches[one.row.id]
        cover = _covered(one.counts, self.worths) / self.total
        score = ALONE["best_thread"] + ALONE["match"] * match + ALONE["cover"] * cover
        score += ALONE["cover2"] * cover * cover + ALONE["near"] * min(one.near / self.total, 2.0)
        if one.titled:
            score += ALONE["titled"] + ALONE["titled_match"] * match + ALONE["titled_cover"] * cover
        if one.dated is not FAR:
            score += weighted(one.dated, DATED)
        return score

    def of_near(self, one: Seen) -> list[float]:
        """The features that vectors add, in the order of NEAR_NAMES."""
        near = self.near.get(one.row.id, 0.0)
        if not one.row.thread:
            return [near, near, near, near]
        beside = [self._beside(one, step) for step in (-1, 1)]
        around = [self.near.get(other.row.id, 0.0) if other is not None else 0.0 for other in beside]
        return [near, *around, self.near_thread[one.row.thread][0]]

    def of(self, one: Seen) -> list[float]:
        """The features of one entry that its words and its place give."""
        match = self.matches[one.row.id]
        cover = _covered(one.counts, self.worths) / self.total
        near = min(one.near / self.total, 2.0)
        titled = float(one.titled)
        if not one.row.thread:
            return [match, cover, cover * cover, titled, titled * match, titled * cover, 0, 0, 0, 0, cover, cover,
                    match, match, cover, 0, 0, 0, 0, 0, 0, near, 1.0, 0, 0, 0, 0, 0, *one.dated]  # fmt: skip
        around = {step: self._beside(one, step) for step in (-3, -2, -1, 1, 2)}
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
            float(one.row.position < 2), beside[-3], long * match, titled * float(self.query.when and one.times),
            *one.dated,
        ]  # fmt: skip

    def of_threads(self, scores: Mapping[str, Sequence[float]]) -> dict[str, list[float]]:
        """The features of threads whose entries have these `scores`, best first: in the order of THREAD_NAMES, with
        vectors those of NEAR_THREAD_NAMES behind them."""
        top = max((best[0] for best in scores.values()), default=0.0)
        dated: dict[str, Closeness] = {}
        for one in self.seen if self.query.moments else ():
            held = dated.get(one.row.thread, FAR)
            dated[one.row.thread] = Closeness(*map(max, held, one.dated))
        made = {}
        for name, own in scores.items():
            best = [score - top for score in own]
            first = [*best[:5], NOTHING, NOTHING, NOTHING, NOTHING][:5]
            mass = math.log(sum(map(math.exp, best)))
            broad = 2 * math.log(sum(math.exp(score / 2) for score in best))
            made[name] = [
                *self.threads[name], *first[:3], max(mass, NO_MASS), max(broad, NO_MASS), sum(first) / 5,
                *dated.get(name, FAR),
            ]  # fmt: skip
            if self.near:
                near = self.near_thread[name]
                made[name] += [near[0], sum(near[:3]) / len(near[:3]), sum(near[:8]) / len(near[:8])]
        return made

    def score_threads(self, scores: Mapping[str, Sequence[float]]) -> dict[str, float]:
        """One number for each thread, higher is better."""
        weights = HYBRID_THREAD_WEIGHTS if self.near else THREAD_WEIGHTS
        return {name: weighted(made, weights) for name, made in self.of_threads(scores).items()}


def weighted(features: Sequence[float], weights: Mapping[str, float]) -> float:
    """The score: one number, higher is better."""
    return float(sum(map(mul, features, weights.values())))
