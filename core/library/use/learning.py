"""What usage teaches about ranking: in this source, which features of a chunk tell that it will help.

In one source the answer stands right behind what matches a question, in another it is the title that tells. The weights
of `core/search` are the same for all; here each source gets small corrections, learned from questions whose chunks were
recorded as helpful or not. They hold for documents that nobody has used yet, so that is how they are judged: each
document's questions are ranked with corrections learned without it, and only a gain that is no accident is kept.

Plain numbers and a fixed order: the same traces give the same weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import mul
from typing import Any, TypeAlias

from sqlalchemy import Connection, select

from core.library import schema
from core.search.weights import NAMES

Weights: TypeAlias = Mapping[str, float]
"""Feature -> what is added to its weight."""

NEEDED = 20
"""From fewer questions about a source nothing is learned."""
LATEST = 500
"""So many questions, the latest, are learned from."""
DEPTH = 30
"""So many candidates of a question are learned from: those that were shown, and some that were ranked behind them."""
FOLDS, ROUNDS, STEP, SHRINK, TRUSTED = 4, 10, 0.1, 0.01, 150
"""With so many questions (TRUSTED) half of what was learned is applied; less with fewer, more with more."""
SURE = 1.0
"""A gain must be larger than its standard error so many times."""
FAINT = 1e-3


@dataclass(frozen=True)
class Lesson:
    """One question about one source: candidates in their order with the scores and features that they had, which of
    them helped, which were told about at all, and the document of the first that helped."""

    scores: Sequence[float]
    rows: Sequence[Sequence[float]]
    helped: Sequence[bool]
    judged: Sequence[bool]
    document: str


@dataclass(frozen=True)
class Learned:
    """Corrections for one source. `gain` is what they add to the share of pairs that are in the right order, in
    documents that they were not learned from."""

    weights: Weights
    uses: int
    gain: float


def adjust(weights: Weights, rows: Sequence[Sequence[float]]) -> list[float]:
    """What to add to the scores of candidates of one source with these features. The sum is 0: no source gets ahead of
    another one by it."""
    values = [weights.get(name, 0.0) for name in NAMES]
    raw = [sum(map(mul, row, values)) for row in rows]
    mean = sum(raw) / len(raw) if raw else 0.0
    return [value - mean for value in raw]


def learned_weights(connection: Connection) -> dict[str, Weights]:
    """Source -> its corrections."""
    asked = select(schema.ranking.c.source_profile_id, schema.ranking.c.weights)
    return {row.source_profile_id: row.weights for row in connection.execute(asked) if row.weights}


def learn(lessons: Sequence[Lesson]) -> Learned | None:
    """Corrections from the lessons of one source; None where there are too few, or nothing sure was to be learned."""
    usable = [one for one in lessons if any(one.helped) and not all(one.helped)]
    if len(usable) < NEEDED:
        return None
    fold = {document: at % FOLDS for at, document in enumerate(dict.fromkeys(one.document for one in usable))}
    if len(fold) < FOLDS:
        return None
    gains = []
    for number in range(FOLDS):
        train = [one for one in usable if fold[one.document] != number]
        weights = fitted(train)
        for one in usable:
            if fold[one.document] == number:
                changed = [score + more for score, more in zip(one.scores, adjust(weights, one.rows), strict=True)]
                gains.append(_order_of(one, changed) - _order_of(one, one.scores))
    mean = sum(gains) / len(gains)
    error = math.sqrt(sum((gain - mean) ** 2 for gain in gains) / max(1, len(gains) - 1) / len(gains))
    if mean <= SURE * error or mean < FAINT:
        return None
    return Learned(fitted(usable), len(usable), round(mean, 4))


def _order_of(lesson: Lesson, scores: Sequence[float]) -> float:
    """The share of pairs of a chunk that helped and one that did not, of those that somebody told about, in which the
    one that helped stands first."""
    good = [scores[at] for at, judged in enumerate(lesson.judged) if judged and lesson.helped[at]]
    bad = [scores[at] for at, judged in enumerate(lesson.judged) if judged and not lesson.helped[at]]
    right = sum((one > other) + (one == other) / 2 for one in good for other in bad)
    return right / (len(good) * len(bad)) if good and bad else 0.0


def fitted(lessons: Sequence[Lesson]) -> dict[str, float]:
    """Corrections that make what helped likely among the candidates: a softmax over each question, by Adagrad."""
    width = len(NAMES)
    size = _spread(lessons, width)
    used = [at for at in range(width) if size[at] > FAINT]
    groups = []
    for one in lessons:
        rows = [[row[at] / size[at] for at in used] for row in one.rows]
        number = sum(one.helped)
        groups.append((list(one.scores), rows, [helped / number for helped in one.helped]))
    weights, seen = [0.0] * len(used), [0.01] * len(used)
    for _round in range(ROUNDS):
        for scores, rows, wanted in groups:
            now = [score + sum(map(mul, row, weights)) for score, row in zip(scores, rows, strict=True)]
            top = max(now)
            odds = [math.exp(score - top) for score in now]
            whole = sum(odds)
            slope = [-SHRINK * weight for weight in weights]
            for odd, share, row in zip(odds, wanted, rows, strict=True):
                wrong = share - odd / whole
                if abs(wrong) > FAINT:
                    for at, value in enumerate(row):
                        slope[at] += wrong * value
            for at, value in enumerate(slope):
                seen[at] += value * value
                weights[at] += STEP * value / math.sqrt(seen[at])
    trust = len(lessons) / (len(lessons) + TRUSTED)
    return {NAMES[at]: round(trust * weight / size[at], 5) for at, weight in zip(used, weights, strict=True)}


def _spread(lessons: Iterable[Lesson], width: int) -> list[float]:
    """The standard deviation of each feature over all candidates."""
    count, sums, squares = 0, [0.0] * width, [0.0] * width
    for lesson in lessons:
        for row in lesson.rows:
            count += 1
            for at, value in enumerate(row):
                sums[at] += value
                squares[at] += value * value
    if not count:
        return [0.0] * width
    return [math.sqrt(max(0.0, squares[at] / count - (sums[at] / count) ** 2)) for at in range(width)]


# --- from traces ------------------------------------------------------------------------------------------------------

GOOD = ("win", "partial")
Rank: TypeAlias = Callable[[str], Sequence[tuple[str, float, Sequence[float]]]]
"""A question -> its candidates, best first: chunk, score, features."""


def questions(connection: Connection, latest: int = LATEST) -> list[tuple[str, dict[str, bool]]]:
    """The latest questions with recorded outcomes, oldest first: the question, chunk -> whether it helped. What was
    said of a chunk last counts."""
    t, j = schema.usage_trace.c, schema.trace_chunk.c
    asked = (
        select(t.query, t.session_id, t.retrieval_id, t.outcome, j.chunk_id)
        .join(schema.trace_chunk, j.trace_id == t.id)
        .where(t.query != "")
        .order_by(t.timestamp, t.id, j.position)
    )
    found: dict[tuple[str, Any], dict[str, bool]] = {}
    for row in connection.execute(asked):
        about = found.setdefault((row.query, row.retrieval_id or row.session_id), {})
        about[row.chunk_id] = row.outcome in GOOD
    return [(query, told) for (query, _use), told in found.items()][-latest:]


def lessons_of(connection: Connection, rank: Rank) -> dict[str, list[Lesson]]:
    """Source -> the lessons of the questions of which something was recorded."""
    c, d = schema.chunk.c, schema.document.c
    of_chunk: dict[str, tuple[str, str]] = {}
    lessons: dict[str, list[Lesson]] = {}
    for query, told in questions(connection):
        if not any(told.values()):
            continue
        candidates = list(rank(query))
        new = sorted({key for key, *_ in candidates} - of_chunk.keys())
        for start in range(0, len(new), 500):
            asked = select(c.id, c.document_id, d.source_profile_id).join(schema.document, d.id == c.document_id)
            for row in connection.execute(asked.where(c.id.in_(new[start : start + 500]))):
                of_chunk[row.id] = (row.document_id, row.source_profile_id or "")
        by_source: dict[str, list[tuple[str, float, Sequence[float]]]] = {}
        for one in candidates:
            by_source.setdefault(of_chunk[one[0]][1], []).append(one)
        for source, rows in by_source.items():
            head = rows[:DEPTH]
            helped = [told.get(key, False) for key, *_ in head]
            if source and any(helped):
                first = next(key for (key, *_), good in zip(head, helped, strict=True) if good)
                judged = [key in told for key, *_ in head]
                scores, features = [row[1] for row in head], [row[2] for row in head]
                lessons.setdefault(source, []).append(Lesson(scores, features, helped, judged, of_chunk[first][0]))
    return lessons
