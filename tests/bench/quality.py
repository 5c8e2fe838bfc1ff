"""How good is a harvest? `make quality` prints the table for the offline distiller, `make quality PROVIDER=openai` for
a model; with `STYLES="one_call per_category"` or `PROMPT=file` two ways of asking stand side by side.

Labels are read from `../shared/corpus/labels` (or `LABELS=folder` of the same shape). The offline models were trained on
some of these labels, so by default each document is judged by models that never saw it (five folds, split by document);
`--shipped` takes the weights in assets/models as they are, which is right for labels that they were not trained on.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.harvest.offline import distil_offline
from core.harvest.offline_weights import Models, shipped_models
from tests.bench.quality_labels import CORPUS, SETS, Case, LabelSet, fold_of
from tests.bench.quality_score import Distiller, Score, every_unit, keyword_grep, score, texts
from tests.bench.train_offline import FOLDS, all_examples, models_without


@dataclass(frozen=True)
class Row:
    """One line of the table: a set with the scores of the distiller and of the two baselines, and the lowest and the
    highest F1 among the folds."""

    labels: LabelSet
    cases: int
    score: Score
    keyword: Score
    every: Score
    spread: tuple[float, float]


def offline(models: Models | None = None) -> Distiller:
    return lambda case: distil_offline(case.conversation, models)


def measure(labels: LabelSet, cases: Sequence[Case], distillers: Sequence[Distiller]) -> Row:
    """`distillers` are one for each fold, or a single one for all."""
    total, keyword, every = Score(), Score(), Score()
    folds = [Score() for _ in range(FOLDS)]
    for case in cases:
        fold = fold_of(case.document, FOLDS)
        harvested = distillers[fold % len(distillers)](case)
        got = score(case, labels.category, texts(harvested.get(labels.category, ()), labels.category))
        total.add(got)
        folds[fold].add(got)
        keyword.add(score(case, labels.category, keyword_grep(case, labels.category)))
        every.add(score(case, labels.category, every_unit(case, labels.category)))
    ones = [fold.f1 for fold in folds if fold.right + fold.missed] or [0.0]
    return Row(labels, len(cases), total, keyword, every, (min(ones), max(ones)))


def table(rows: Sequence[Row]) -> Iterator[str]:
    yield f"{'labels':28} {'texts':>6} {'marked':>6}   {'P':>4} {'R':>4} {'F1':>5}  {'folds':>9}   {'grep':>5} {'every':>5}"
    for row in rows:
        found = row.score
        yield (
            f"{row.labels.name:28} {row.cases:6} {found.right + found.missed:6}   {found.precision:4.2f} {found.recall:4.2f} "
            f"{found.f1:5.3f}  {row.spread[0]:.2f}-{row.spread[1]:.2f}   {row.keyword.f1:5.3f} {row.every.f1:5.3f}"
        )


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="quality")
    parser.add_argument("--labels", type=Path, default=CORPUS / "labels")
    parser.add_argument("--shipped", action="store_true", help="the shipped weights instead of cross-validation")
    parser.add_argument("--limit", type=int, default=0, help="as many texts of each set")
    parser.add_argument("--only", default="", help="sets whose name holds this")
    asked = parser.parse_args(words)
    if not asked.labels.is_dir():
        print(f"no labels in {asked.labels}: nothing was measured")
        return 0
    distillers = [offline(shipped_models())]
    if not asked.shipped:
        examples = all_examples(asked.labels)
        distillers = [offline(models_without(fold, examples)) for fold in range(FOLDS)]
    rows = []
    for labels in SETS:
        if asked.only in labels.name:
            cases = list(labels.read(asked.labels))
            rows.append(
                measure(labels, cases[:: max(1, len(cases) // asked.limit)] if asked.limit else cases, distillers)
            )
    print("\n".join(table(rows)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
