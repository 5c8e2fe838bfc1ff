"""Ranks candidates. Each gets a handful of features, and its score is their weighted sum.

The features of an entry by itself are BM25 over its words and how much of the query it covers. A turn of a
conversation is also judged by what stands around it: an answer often repeats no word of the question before it.
Features and weights are in weights.py, by name; no entry has any weight of its own. An entry that stands alone, and so
does a passage of a document, is its own thread, so that it is not behind for having none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from operator import mul

from core.search.candidates import Talk
from core.search.reading import Seen
from core.search.store import DOCUMENT, Row
from core.search.terms import Query
from core.search.weights import (
    ALIKE_THREAD_WEIGHTS,
    ALIKE_WEIGHTS,
    HYBRID_THREAD_WEIGHTS,
    HYBRID_WEIGHTS,
    THREAD_WEIGHTS,
    WEIGHTS,
    Alike,
    Marks,
    ThreadAlike,
    ThreadMarks,
)
from core.search.when import FAR, Closeness

K1, B = 1.0, 0.4
"""BM25: how soon a repeated word says nothing new, and how much a long text must repeat it."""
PASSAGE_B, TOGETHER = 0.75, 0.4
"""The same for a passage of a document, which is long where it was not parted; and what it counts beside that if words
of the question stand close together in it. Chosen on half of 120 questions about real pages, judged on the other."""
AROUND_K1 = 1.5
"""The same for a whole thread and for what stands around an entry."""
REACH = 10
"""The places up to which a neighbour speaks for an entry, the less the farther away it is."""
_FADED = [(step, 1 - abs(step) / (REACH + 1)) for step in range(-REACH, REACH + 1)]
LONG_WORDS = 60
NO_MASS = -8.0
"""The least mass of a thread, below its best of all."""


def _bm25(counts: Sequence[float], worths: Sequence[float], bend: float, k1: float = K1) -> float:
    return sum([worth * count / (count + bend) for worth, count in zip(worths, counts, strict=False) if count]) * (
        k1 + 1
    )


def _covered(counts: Sequence[float], worths: Sequence[float]) -> float:
    return sum([worth for worth, count in zip(worths, counts, strict=True) if count])


class Features:
    """The features of all candidates of one query: `of` gives those of one, `of_threads` those of threads, once the
    entries have scores. `near` (entry -> how near) is empty where there are no vectors; where there are, `of_near` and
    `of_near_thread` give more. `talks` are those of threads in which tools work: what was said stands side by side
    there, past what they did."""

    def __init__(
        self,
        query: Query,
        seen: Sequence[Seen],
        near: Mapping[int, float] | None = None,
        talks: Mapping[str, Talk] | None = None,
    ) -> None:
        self.query = query
        self.seen = seen
        self.worths = [term.pull for term in query.terms]
        self.total = query.pull
        self.mean = max(1.0, sum(one.length for one in seen) / max(1, len(seen)))
        self.talks = talks or {}
        self.places = {(one.row.thread, self._at(one.row)): one for one in seen if not one.row.alone}
        self.matches = {one.row.id: self._match(one) for one in seen}
        self.exchanges = self._exchange_sums()
        self.around = self._sums_around()
        self.threads = self._thread_sums()
        self.near = near or {}
        self.near_thread: dict[str, list[float]] = {}
        for one in seen if near else ():
            self.near_thread.setdefault(one.row.thread, []).append(self.near.get(one.row.id, 0.0))
        for held in self.near_thread.values():
            held.sort(reverse=True)

    def _match(self, one: Seen) -> float:
        b = PASSAGE_B if one.row.kind == DOCUMENT else B
        bend = K1 * (1 - b + b * (one.length + 1) / (self.mean + 1))
        return (_bm25(one.counts, self.worths, bend) + TOGETHER * one.together) / self.total

    def _at(self, row: Row) -> float:
        """Where an entry stands among what was said in its thread."""
        place = self.talks[row.thread].get(row.position) if row.thread in self.talks else None
        return place.at if place is not None else row.position

    def _exchange_sums(self) -> dict[tuple[str, int], tuple[list[float], float]]:
        """(thread, number of the exchange) -> how often each term stands in it, what tools gave back included, and the
        best match of a turn of it."""
        sums: dict[tuple[str, int], tuple[list[float], float]] = {}
        for one in self.seen if self.talks else ():
            place = self.talks.get(one.row.thread, {}).get(one.row.position)
            if place is not None:
                held, best = sums.get((one.row.thread, place.exchange), ([0.0] * len(self.worths), 0.0))
                held = [mine + more for mine, more in zip(held, one.counts, strict=True)]
                sums[one.row.thread, place.exchange] = held, max(best, self.matches[one.row.id])
        return sums

    def _sums_around(self) -> dict[tuple[str, float], list[float]]:
        """Place -> how often each term stands around it, what is farther away counting less."""
        sums: dict[tuple[str, float], list[float]] = {}
        places, width = self.places, len(self.worths)
        for (thread, position), one in places.items():
            found = [(at, count) for at, count in enumerate(one.counts) if count]
            if not found:
                continue
            for step, share in _FADED:
                place = (thread, position + step)
                if place in places:
                    held = sums.get(place)
                    if held is None:
                        held = sums[place] = [0.0] * width
                    for at, count in found:
                        held[at] += share * count
        return sums

    def _thread_sums(self) -> dict[str, tuple[float, float, float]]:
        """Thread -> BM25 of the whole, the best match of a piece, BM25 over the pieces whose title is in the query."""
        sums: dict[str, list[float]] = {}
        own: dict[str, list[float]] = {}
        best: dict[str, float] = {}
        for one in self.seen:
            thread = one.row.thread
            if not thread:
                continue
            best[thread] = max(best.get(thread, 0.0), self.matches[one.row.id])
            for table in (sums, own) if one.titled else (sums,):
                held = table.setdefault(thread, [0.0] * len(self.worths))
                for at, count in enumerate(one.counts):
                    held[at] += count
        number = len(sums)
        worths = []
        for at in range(len(self.worths)):
            having = sum(1 for counts in sums.values() if counts[at])
            worths.append(math.log(1 + (number - having + 0.5) / (having + 0.5)))
        total = sum(worths) or 1.0
        return {
            thread: (
                _bm25(counts, worths, AROUND_K1, AROUND_K1) / total,
                best[thread],
                _bm25(own.get(thread, ()), worths, AROUND_K1, AROUND_K1) / total,
            )
            for thread, counts in sums.items()
        }

    def score(self, one: Seen) -> float:
        """One number, higher is better."""
        if not self.near:
            return weighted(self.of(one), WEIGHTS)
        return weighted(self.of(one), HYBRID_WEIGHTS) + weighted(self.of_near(one), ALIKE_WEIGHTS)

    def of_near(self, one: Seen) -> Alike:
        """What vectors add."""
        near = self.near.get(one.row.id, 0.0)
        if one.row.alone:
            return Alike(near, near, near, near)
        at = self._at(one.row)
        beside = [self.places.get((one.row.thread, at + step)) for step in (-1, 1)]
        before, after = (self.near.get(other.row.id, 0.0) if other is not None else 0.0 for other in beside)
        return Alike(near, before, after, self.near_thread[one.row.thread][0])

    def of(self, one: Seen) -> Marks:
        """The features of one entry that its words and its place give."""
        row, worths, total = one.row, self.worths, self.total
        match, titled = self.matches[row.id], float(one.titled)
        if row.alone:
            return Marks(
                match, titled, pair=_covered(one.counts, worths) / total, around=match, thread_best=match,
                dated=one.dated.within, dated_after=one.dated.after, exchange=match, exchange_best=match,
            )  # fmt: skip
        thread, place, places, matches = row.thread, self._at(row), self.places, self.matches
        beside = []
        for step in (-1, 1, -2, 2, -3, 3):
            other = places.get((thread, place + step))
            beside.append(matches[other.row.id] if other is not None else 0.0)
        before = places.get((thread, place - 1))
        pair = list(map(max, one.counts, before.counts)) if before is not None else one.counts
        sums = self.around.get((thread, place))
        around = _bm25(sums, worths, AROUND_K1, AROUND_K1) / total if sums is not None else 0.0
        talk = self.talks[thread].get(row.position) if thread in self.talks else None
        if talk is None:
            exchange, exchange_best = around, max(match, *beside)
        else:
            held, exchange_best = self.exchanges[thread, talk.exchange]
            exchange = _bm25(held, worths, AROUND_K1, AROUND_K1) / total
        asked = float(before is not None and before.asks)
        long = math.log(min(one.length, LONG_WORDS) + 1)
        return Marks(
            match, titled, beside[0], beside[1], beside[2], beside[3],
            pair=_covered(pair, worths) / total,
            around=around,
            thread_best=self.threads[thread][1],
            asks=float(one.asks),
            asked=asked,
            asked_match=asked * beside[0],
            long=long,
            long_titled=long * titled,
            first=float(row.position < 2),
            dated=one.dated.within,
            dated_after=one.dated.after,
            exchange=exchange,
            exchange_best=exchange_best,
            request=float(row.role == "user"),
            closing=float(talk is not None and talk.closing),
        )  # fmt: skip

    def of_threads(self, scores: Mapping[str, Sequence[float]]) -> dict[str, ThreadMarks]:
        """The features of threads whose entries have these `scores`, best first."""
        top = max((best[0] for best in scores.values()), default=0.0)
        dated: dict[str, Closeness] = {}
        for one in self.seen if self.query.moments else ():
            held = dated.get(one.row.thread, FAR)
            dated[one.row.thread] = Closeness(*map(max, held, one.dated))
        made = {}
        for name, own in scores.items():
            mass = math.log(sum(math.exp(score - top) for score in own))
            whole = self.threads[name]
            made[name] = ThreadMarks(own[0] - top, max(mass, NO_MASS), whole[0], whole[2], *dated.get(name, FAR))
        return made

    def of_near_thread(self, name: str) -> ThreadAlike:
        """What vectors add of a thread."""
        near = self.near_thread[name]
        return ThreadAlike(near[0], sum(near[:3]) / len(near[:3]))

    def score_threads(self, scores: Mapping[str, Sequence[float]]) -> dict[str, float]:
        """One number for each thread, higher is better."""
        made = self.of_threads(scores)
        if not self.near:
            return {name: weighted(marks, THREAD_WEIGHTS) for name, marks in made.items()}
        return {
            name: weighted(marks, HYBRID_THREAD_WEIGHTS) + weighted(self.of_near_thread(name), ALIKE_THREAD_WEIGHTS)
            for name, marks in made.items()
        }


def weighted(features: tuple[float, ...], weights: tuple[float, ...]) -> float:
    """The score: one number, higher is better."""
    return float(sum(map(mul, features, weights)))
