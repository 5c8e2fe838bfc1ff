"""What usage teaches about ranking: in this source, which features of a chunk tell that it will help.

In one source the answer stands right behind what matches a question, in another it is the title that tells. The weights
of `core/search` are the same for all; here each source gets small corrections, learned from questions whose chunks were
recorded as helpful or not. They hold for documents that nobody has used yet, so that is how they are judged: each
document's questions are foretold with corrections learned without it, and only a gain beyond chance is kept.

A verdict may be wrong, so none is believed: one of the chunks shown is taken to answer, the likelier the higher its
score, and what is made likely is what people said of all of them (a softmax with noisy labels). Between the scores the
distances are learned too: a score that is too sure of itself would call every win far down the list a mistake.

Plain numbers and a fixed order: the same traces give the same weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import add, mul
from typing import Any, NamedTuple, TypeAlias

from sqlalchemy import Connection, select

from core.library import schema
from core.library.rows import in_parts
from core.search.weights import NAMES

Weights: TypeAlias = Mapping[str, float]
"""Feature -> what is added to its weight."""

NEEDED = 20
"""From fewer questions about a source nothing is learned."""
LATEST = 500
"""This many questions, the latest, are learned from."""
LOOKED = 60
"""Among so many candidates of a question those are looked for that somebody told about."""
WRONG = 0.1
"""This many verdicts are taken to be wrong."""
PRIORS = (40.0, 160.0)
"""Corrections weigh as much against as so many questions weigh for them: of few questions little is learned. The one
that foretells verdicts on other documents better is taken; the weak one only from `MIN_WEAK_PRIOR_QUESTIONS` on: what
foretells verdicts on the few that are shown may be wrong about all others."""
MIN_WEAK_PRIOR_QUESTIONS = 150
FOLDS, ROUNDS, STEP = 4, 60, 0.05
SURE = 2.0
"""A gain must be larger than its standard error so many times."""
LEAST_SCALE = 0.2
"""By no less are scores multiplied."""


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
    """Corrections for one source. `gain` is what they add to the log likelihood of a question's verdicts, beside what
    other distances between the scores add, on average over documents that they were not learned from."""

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
    priors = PRIORS if len(usable) >= MIN_WEAK_PRIOR_QUESTIONS else PRIORS[1:]
    gains: dict[float, list[float]] = {prior: [] for prior in priors}
    for number in range(FOLDS):
        others = [one for one in usable if fold[one.document] != number]
        left_out = [one for one in usable if fold[one.document] == number]
        rescaled = fitted(others, math.inf)
        for prior, found in gains.items():
            model = fitted(others, prior)
            found += [_likelihood(one, model) - _likelihood(one, rescaled) for one in left_out]
    best = max((_mean_if_sure(found), prior) for prior, found in gains.items())
    if best[0] <= 0:
        return None
    model = fitted(usable, best[1])
    weights = {name: round(weight / model.scale, 5) for name, weight in model.weights.items()}
    return Learned(weights, len(usable), round(best[0], 4))


def _mean_if_sure(gains: Sequence[float]) -> float:
    mean = sum(gains) / len(gains)
    error = math.sqrt(sum((gain - mean) ** 2 for gain in gains) / max(1, len(gains) - 1) / len(gains))
    return mean if mean > SURE * error else 0.0


def shares(scores: Sequence[float]) -> list[float]:
    """Scores, which are logarithms of odds, as shares of one."""
    top = max(scores)
    odds = [math.exp(score - top) for score in scores]
    whole = sum(odds)
    return [odd / whole for odd in odds]


class Model(NamedTuple):
    """What makes verdicts likely: scores times `scale`, and what `weights` add to them."""

    weights: Weights
    scale: float


def odds_of(lesson: Lesson) -> list[float]:
    """How much likelier the verdicts of a lesson are if this chunk answers the question."""
    right = (1 - WRONG) / WRONG
    return [right if helped else 1 / right for helped in lesson.helped]


def _likelihood(lesson: Lesson, model: Model) -> float:
    changes = adjust(model.weights, lesson.rows)
    now = shares([score * model.scale + more for score, more in zip(lesson.scores, changes, strict=True)])
    return math.log(sum(map(mul, now, odds_of(lesson))))


def fitted(lessons: Sequence[Lesson], prior: float) -> Model:
    """The corrections under which what was said of the lessons is likeliest, each held near 0 by the prior (with an
    infinite one only the scale is fitted), by Adam over all questions at once."""
    size = _spread([one.rows for one in lessons])
    used = [at for at, one in enumerate(size) if one > 1e-3] if prior < math.inf else []
    sizes = [1.0, *(size[at] for at in used)]
    groups = []
    for one in lessons:
        features = [[score, *(row[at] for at in used)] for score, row in zip(one.scores, one.rows, strict=True)]
        means = [sum(column) / len(column) for column in zip(*features, strict=True)]
        rows = [[(x - mean) / by for x, mean, by in zip(row, means, sizes, strict=True)] for row in features]
        groups.append((rows, list(zip(*rows, strict=True)), odds_of(one)))
    weights = [LEAST_SCALE, *(0.0 for _ in used)]  # the first is that of the score: verdicts speak first
    first, second = [0.0] * len(weights), [0.0] * len(weights)
    for turn in range(1, ROUNDS + 1):
        slope = [0.0, *(-prior * weight for weight in weights[1:])]
        for rows, columns, odds in groups:
            now = shares([sum(map(mul, row, weights)) for row in rows])
            meant = list(map(mul, now, odds))
            whole = sum(meant)
            wrong = [one / whole - share for one, share in zip(meant, now, strict=True)]
            for at, column in enumerate(columns):
                slope[at] += sum(map(mul, column, wrong))
        for at, value in enumerate(slope):
            value /= len(groups)
            first[at] += 0.1 * (value - first[at])
            second[at] += 0.02 * (value * value - second[at])
            weights[at] += STEP * first[at] / (1 - 0.9**turn) / (math.sqrt(second[at] / (1 - 0.98**turn)) + 1e-8)
        weights[0] = max(weights[0], LEAST_SCALE)
    named = {NAMES[at]: weight / size[at] for at, weight in zip(used, weights[1:], strict=True)}
    return Model(named, weights[0])


def _spread(tables: Iterable[Sequence[Sequence[float]]]) -> list[float]:
    """The standard deviation of each column among the chunks of a question."""
    count = 0
    squares: list[float] = []
    for rows in tables:
        count += len(rows)
        of_rows = []
        for column in zip(*rows, strict=True):
            mean = sum(column) / len(column)
            of_rows.append(sum((value - mean) ** 2 for value in column))
        squares = list(map(add, squares, of_rows)) if squares else of_rows
    return [math.sqrt(square / count) for square in squares]


# --- from traces ------------------------------------------------------------------------------------------------------

GOOD = ("win", "partial")
Rank: TypeAlias = Callable[[str], Sequence[tuple[str, float, Sequence[float]]]]
"""A question -> its candidates, best first: chunk, score, features."""


def questions(connection: Connection) -> list[tuple[str, dict[str, bool]]]:
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
    return [(query, verdicts) for (query, _use), verdicts in found.items()][-LATEST:]


def lessons_of(connection: Connection, rank: Rank) -> dict[str, list[Lesson]]:
    """Source -> the lessons of the questions of which something was recorded."""
    c, d = schema.chunk.c, schema.document.c
    of_chunk: dict[str, tuple[str, str]] = {}
    lessons: dict[str, list[Lesson]] = {}
    for query, verdicts in questions(connection):
        if not any(verdicts.values()):
            continue
        candidates = list(rank(query))
        for part in in_parts(sorted({key for key, *_ in candidates} - of_chunk.keys())):
            asked = select(c.id, c.document_id, d.source_profile_id).join(schema.document, d.id == c.document_id)
            for row in connection.execute(asked.where(c.id.in_(part))):
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
