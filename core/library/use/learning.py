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
LOOKED = 60
"""Among so many candidates of a question those are looked for that somebody told about."""
WRONG = 0.1
"""So many verdicts are taken to be wrong. A win far down the list is then more likely a mistake than a discovery, for
most chunks there are no answers: without this, a tenth of wrong verdicts makes what is learned worse than nothing."""
PRIOR = 25.0
"""Corrections weigh as much against as so many questions weigh for them: of few questions little is learned."""
FOLDS, ROUNDS, STEP = 4, 40, 0.05
SURE = 0.5
"""A gain must be larger than its standard error so many times: the prior holds back what is chance already."""
FAINT = 1e-4


@dataclass(frozen=True)
class Lesson:
    """One question about one source: the chunks that somebody told about in their order, with the scores and features
    that they had, which of them helped, and the document of the first that did."""

    scores: Sequence[float]
    rows: Sequence[Sequence[float]]
    helped: Sequence[bool]
    document: str


@dataclass(frozen=True)
class Learned:
    """Corrections for one source. `gain` is what they add to the log likelihood of a question's verdicts, on average
    over documents that they were not learned from."""

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
        weights = fitted([one for one in usable if fold[one.document] != number])
        for one in usable:
            if fold[one.document] == number:
                wanted = believed(one)
                changed = [score + more for score, more in zip(one.scores, adjust(weights, one.rows), strict=True)]
                gains.append(_likelihood(wanted, changed) - _likelihood(wanted, one.scores))
    mean = sum(gains) / len(gains)
    error = math.sqrt(sum((gain - mean) ** 2 for gain in gains) / max(1, len(gains) - 1) / len(gains))
    if mean <= SURE * error or mean < FAINT:
        return None
    return Learned(fitted(usable), len(usable), round(mean, 4))


def shares(scores: Sequence[float]) -> list[float]:
    """Scores, which are logarithms of odds, as shares of one."""
    top = max(scores)
    odds = [math.exp(score - top) for score in scores]
    whole = sum(odds)
    return [odd / whole for odd in odds]


def believed(lesson: Lesson) -> list[float]:
    """How likely it is of each chunk that it helped: what was said of it, which may be wrong, beside how likely its
    score made it."""
    made = []
    for share, helped in zip(shares(lesson.scores), lesson.helped, strict=True):
        share = min(max(share, 1e-3), 0.95)
        right, wrong = (1 - WRONG, WRONG) if helped else (WRONG, 1 - WRONG)
        made.append(share * right / (share * right + (1 - share) * wrong))
    return made


def _likelihood(wanted: Sequence[float], scores: Sequence[float]) -> float:
    return sum(share * math.log(max(one, 1e-12)) for share, one in zip(wanted, shares(scores), strict=True))


def fitted(lessons: Sequence[Lesson]) -> dict[str, float]:
    """Corrections that make what helped likely: a softmax over each question, each correction held near 0 by the same
    prior, by Adam over all questions at once."""
    size = _spread(lessons)
    used = [at for at, one in enumerate(size) if one > 1e-3]
    groups = []
    for one in lessons:
        means = [sum(row[at] for row in one.rows) / len(one.rows) for at in used]
        rows = [[(row[at] - mean) / size[at] for at, mean in zip(used, means, strict=True)] for row in one.rows]
        groups.append((one.scores, rows, list(zip(*rows, strict=True)), believed(one)))
    weights, first, second = [0.0] * len(used), [0.0] * len(used), [0.0] * len(used)
    for turn in range(1, ROUNDS + 1):
        slope = [-PRIOR * weight for weight in weights]
        for scores, rows, columns, wanted in groups:
            now = shares([score + sum(map(mul, row, weights)) for score, row in zip(scores, rows, strict=True)])
            whole = sum(wanted)
            wrong = [share - one * whole for share, one in zip(wanted, now, strict=True)]
            for at, column in enumerate(columns):
                slope[at] += sum(map(mul, column, wrong))
        for at, value in enumerate(slope):
            value /= len(groups)
            first[at] += 0.1 * (value - first[at])
            second[at] += 0.02 * (value * value - second[at])
            weights[at] += STEP * first[at] / (1 - 0.9**turn) / (math.sqrt(second[at] / (1 - 0.98**turn)) + 1e-8)
    return {NAMES[at]: round(weight / size[at], 5) for at, weight in zip(used, weights, strict=True)}


def _spread(lessons: Iterable[Lesson]) -> list[float]:
    """The standard deviation of each feature among the chunks of a question."""
    count, squares = 0, [0.0] * len(NAMES)
    for lesson in lessons:
        count += len(lesson.rows)
        for at, column in enumerate(zip(*lesson.rows, strict=True)):
            mean = sum(column) / len(column)
            squares[at] += sum((value - mean) ** 2 for value in column)
    return [math.sqrt(square / count) if count else 0.0 for square in squares]


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
    return [(query, verdicts) for (query, _use), verdicts in found.items()][-latest:]


def lessons_of(connection: Connection, rank: Rank) -> dict[str, list[Lesson]]:
    """Source -> the lessons of the questions of which something was recorded."""
    c, d = schema.chunk.c, schema.document.c
    of_chunk: dict[str, tuple[str, str]] = {}
    lessons: dict[str, list[Lesson]] = {}
    for query, verdicts in questions(connection):
        if not any(verdicts.values()):
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
            judged = [row for row in rows if row[0] in verdicts]
            helped = [verdicts[key] for key, *_ in judged]
            if source and any(helped):
                first = judged[helped.index(True)][0]
                scores, features = [row[1] for row in judged], [row[2] for row in judged]
                lessons.setdefault(source, []).append(Lesson(scores, features, helped, of_chunk[first][0]))
    return lessons
