"""Fits the weights of `core/search/weights.py` on LoCoMo, and says what they are worth where they were not fitted.

Every candidate of every question gets its features from the product itself. A listwise softmax is fitted to the turns
that answer, then one to the sessions, with the scores of the turns as the first weights give them. What is reported
comes from leaving one conversation out: each is ranked by weights that never saw it. What is printed last, to be put
into `weights.py`, is fitted on all of them.

    python -m tests.bench.retrieval_fit [--embedder minilm] [--without NAME …]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from core.base.result import Ok
from core.base.search_entry import Embed, SearchSource
from core.search import query as searching
from core.search import rank
from core.search.candidates import EVERYTHING
from core.search.index import open_index
from core.search.vectors import embed_one, local_embedder, open_vectors
from core.search.weights import NAMES, NEAR_NAMES, NEAR_THREAD_NAMES, THREAD_NAMES
from tests.bench.retrieval import scored
from tests.bench.retrieval_sets import FOLDER, Collection, locomo

Table = Any
"""A numpy array of floats: a row for each candidate, a column for each feature."""
ROUNDS, STEP, SHRINK = 160, 0.08, 1e-3
KEPT = 150
"""So many candidates of a question are fitted on: the best by the weights that stand in `weights.py`."""


@dataclass
class Question:
    """One question with everything that can be found for it."""

    rows: Table
    keys: list[str]
    threads: list[str]
    wanted: frozenset[str]
    wanted_threads: frozenset[str]
    features: rank.Features

    def thread_rows(self, scores: Table) -> tuple[list[str], Table]:
        """The threads with their features, once the entries have these scores."""
        held: dict[str, list[float]] = {}
        for at in np.argsort(-scores, kind="stable"):
            held.setdefault(self.threads[at], []).append(float(scores[at]))
        made = self.features.of_threads(held)
        return list(made), np.array(list(made.values()))


def questions(collection: Collection, embed: Embed | None) -> Iterator[Question]:
    """All questions of one conversation that have any candidate."""
    thread_of = {entry.key: entry.thread for entry in collection.entries}
    with tempfile.TemporaryDirectory(prefix="knowledge-fit-") as folder:
        path = Path(folder) / "source"
        path.write_text("x", encoding="ascii")
        cache = Path(folder) / "cache"
        index = open_index(cache, [SearchSource("all", path, lambda _: Ok(collection.entries))])
        vectors = open_vectors(cache, index.database, "fit", embed) if embed is not None else None
        assert vectors is None or isinstance(vectors, Ok), vectors
        for asked in collection.asked:
            near = None
            if embed is not None and vectors is not None:
                meant = embed_one(asked.text, embed)
                assert isinstance(meant, Ok), meant
                near = vectors.value.near(meant.value)
            _, _, ranked, features = searching.rank_all(index, asked.text, EVERYTHING, 10, near)
            if not ranked:
                continue
            seen = [one.seen for one in ranked]
            rows = [features.of(one) + (features.of_near(one) if near else []) for one in seen]
            yield Question(
                np.array(rows),
                [one.row.key for one in seen],
                [one.row.thread for one in seen],
                asked.answers,
                frozenset(thread_of[key] for key in asked.answers),
                features,
            )
        index.close()


def fit(groups: Sequence[tuple[Table, list[int]]], rounds: int = ROUNDS) -> Table:
    """Weights that make the wanted rows of each group likely: a softmax over the group, by Adam from nothing."""
    width = groups[0][0].shape[1]
    weights, mean, spread = np.zeros(width), np.zeros(width), np.zeros(width)
    for number in range(1, rounds + 1):
        slope = np.zeros(width)
        for rows, wanted in groups:
            scores = rows @ weights
            odds = np.exp(scores - scores.max())
            slope += rows[wanted].mean(0) - (odds / odds.sum()) @ rows
        slope = slope / len(groups) - SHRINK * weights
        mean = 0.9 * mean + 0.1 * slope
        spread = 0.99 * spread + 0.01 * slope * slope
        weights = weights + STEP * (mean / (1 - 0.9**number)) / (np.sqrt(spread / (1 - 0.99**number)) + 1e-8)
    return weights


def fit_entries(asked: Sequence[Question]) -> Table:
    """Weights for entries, as they stand in `weights.py`."""
    size = np.concatenate([one.rows for one in asked]).std(0) + 1e-9
    groups = []
    for one in asked:  # the rows come ranked by the product
        wanted = [at for at, key in enumerate(one.keys[:KEPT]) if key in one.wanted]
        if wanted:
            groups.append((one.rows[:KEPT] / size, wanted))
    return fit(groups) / size


def fit_threads(asked: Sequence[Question], weights: Table) -> Table:
    """Weights for threads, given those for entries."""
    made = [(one, *one.thread_rows(one.rows @ weights)) for one in asked]
    size = np.concatenate([rows for _, _, rows in made]).std(0) + 1e-9
    groups = []
    for one, names, rows in made:
        wanted = [at for at, name in enumerate(names) if name in one.wanted_threads]
        if wanted:
            groups.append((rows / size, wanted))
    return fit(groups, 120) / size


def ranked_by(one: Question, weights: Table, thread_weights: Table) -> tuple[list[str], list[str]]:
    """The keys of the entries, and the threads, best first."""
    scores = one.rows @ weights
    names, rows = one.thread_rows(scores)
    order = np.argsort(-(rows @ thread_weights), kind="stable")
    return [one.keys[at] for at in np.argsort(-scores, kind="stable")], [names[at] for at in order]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what held-out conversations get, and the weights fitted on all."""
    parser = argparse.ArgumentParser(prog="retrieval_fit")
    parser.add_argument("--embedder", default="", metavar="NAME", help="with vectors: minilm")
    parser.add_argument("--without", nargs="*", default=[], metavar="FEATURE", help="what is a feature worth?")
    options = parser.parse_args(arguments)
    if not (FOLDER / "locomo").is_dir():
        print("LoCoMo is not beside the project: nothing is fitted")
        return 0
    embed = None
    if options.embedder:
        loaded = local_embedder(options.embedder)
        assert isinstance(loaded, Ok), loaded
        embed = loaded.value
    names = NAMES + (NEAR_NAMES if embed else ())
    thread_names = THREAD_NAMES + (NEAR_THREAD_NAMES if embed else ())
    talks = [list(questions(one, embed)) for one in locomo()]
    for one in (one for talk in talks for one in talk):
        one.rows[:, [at for at, name in enumerate(names) if name in options.without]] = 0
    entries, threads = [], []
    for at, talk in enumerate(talks):
        others = [one for number, rest in enumerate(talks) for one in rest if number != at]
        weights = fit_entries(others)
        thread_weights = fit_threads(others, weights)
        answers = [ranked_by(one, weights, thread_weights) for one in talk]
        entries.append([(got, one.wanted) for (got, _), one in zip(answers, talk, strict=True)])
        threads.append([(got, one.wanted_threads) for (_, got), one in zip(answers, talk, strict=True)])
        for unit, rows in (("turns", entries[-1]), ("sessions", threads[-1])):
            part = scored([rows])
            print(f"  left out {at + 1}: {unit:<8} r@5 {part.recall5:.1f}  r@10 {part.recall10:.1f}", flush=True)
    for unit, groups in (("turns", entries), ("sessions", threads)):
        whole = scored(groups)
        print(f"{unit:<8} left out: r@5 {whole.recall5:.2f}  r@10 {whole.recall10:.2f}  MRR {whole.mrr / 100:.3f}"
              f"  {whole.queries} questions, spread {whole.spread:.1f}")  # fmt: skip
    everything = [one for talk in talks for one in talk]
    weights = fit_entries(everything)
    thread_weights = fit_threads(everything, weights)
    for title, known, values in (("entries", names, weights), ("threads", thread_names, thread_weights)):
        print(f"{title}, fitted on all:", dict(zip(known, np.round(values, 3).tolist(), strict=True)))
        print(", ".join(f"{value:.3f}" for value in values))
    return 0


if __name__ == "__main__":
    sys.exit(main())
