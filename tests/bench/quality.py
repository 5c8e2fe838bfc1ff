"""How good is a harvest? `make quality` prints the tables for the offline distiller; `make quality PROVIDER=openai`
puts a model beside it, with `STYLES="one_call per_category"` and `PROMPTS="a.md b.md"` each way of asking on its own.

Labels are read from `../shared/corpus/labels` (or `LABELS=folder` of the same shape). The offline models were trained
on some of them, so by default each document is judged by models that never saw it (five folds, split by document);
`--shipped` takes the weights in assets/models as they are: right for labels that they were not trained on.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.offline.models import Models, shipped_models
from core.offline.rules import distil_offline
from tests.bench.quality_labels import CORPUS, SETS, Case, LabelSet, fold_of, sessions_of
from tests.bench.quality_models import model_ways
from tests.bench.quality_score import Cleanliness, Distiller, Score, every_unit, keyword_grep, near, score, texts
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
    """P, R and F1 of the distiller, the range of its F1 among the folds, F1 of a keyword grep and of taking all."""
    yield f"{'labels':28}  texts marked      P    R    F1      folds    grep every"
    for row in rows:
        got, marked = row.score, row.score.right + row.score.missed
        yield (
            f"{row.labels.name:28} {row.cases:6} {marked:6}   {got.precision:4.2f} {got.recall:4.2f} {got.f1:5.3f}"
            f"  {row.spread[0]:.2f}-{row.spread[1]:.2f}   {row.keyword.f1:5.3f} {row.every.f1:5.3f}"
        )


def clean_table(name: str, cases: Sequence[Case], distiller: Distiller) -> Iterator[str]:
    """Over real coding conversations: items without support in the source, repeated ones, conversations without any;
    and how much of what an independent model noted about a session is among the items (silver, not truth)."""
    clean = Cleanliness()
    silver: dict[str, Score] = {}
    for case in cases:
        harvested = distiller(case)
        clean.add(harvested, "\n".join(turn.text for turn in case.conversation.turns))
        for category in case.gold:
            got = score(case, category, texts(harvested.get(category, ()), category), near)
            silver.setdefault(category, Score()).add(got)
    yield (
        f"{name}: {clean.conversations} conversations, {clean.items} items, "
        f"junk {clean.junk / max(1, clean.items):.1%}, repeated {clean.repeated / max(1, clean.items):.1%}, "
        f"empty {clean.empty / max(1, clean.conversations):.1%}"
    )
    for category, got in silver.items():
        marked = got.right + got.missed
        counted = f"{marked:4} noted, {got.right + got.wrong:4} items"
        yield f"  silver {category:12} {counted}   P {got.precision:.2f} R {got.recall:.2f}"


def main(words: Sequence[str]) -> int:
    asked = _arguments(words)
    if not asked.labels.is_dir():
        print(f"no labels in {asked.labels}: nothing was measured")
        return 0
    distillers = [offline(shipped_models())]
    if not asked.shipped:
        examples = all_examples(asked.labels)
        distillers = [offline(models_without(fold, examples)) for fold in range(FOLDS)]
    _print("offline", distillers, asked)
    if asked.provider:
        ways = model_ways(asked.provider, asked.model, asked.styles.split(), asked.prompts.split(), asked.config)
        for name, distiller in ways:
            _print(name, [distiller], asked)
    return 0


def _print(name: str, distillers: Sequence[Distiller], asked: argparse.Namespace) -> None:
    rows = []
    for labels in SETS:
        if asked.only in labels.name:
            rows.append(measure(labels, _some(list(labels.read(asked.labels)), asked.limit), distillers))
    print(f"\n{name}\n" + "\n".join(table(rows)), flush=True)
    if not asked.only:
        sessions = _some(list(sessions_of(asked.labels.parent / "conversations")), asked.limit)
        print("\n".join(clean_table(name, sessions, distillers[0])), flush=True)


def _some(cases: Sequence[Case], limit: int) -> Sequence[Case]:
    """Evenly taken from all, so that a small number still sees every part of a set; 0 is all."""
    return cases[:: max(1, len(cases) // limit)][:limit] if limit else cases


def _arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="quality", description="measure harvests against labels")
    parser.add_argument("--labels", type=Path, default=CORPUS / "labels")
    parser.add_argument("--shipped", action="store_true", help="the shipped weights instead of cross-validation")
    parser.add_argument("--limit", type=int, default=0, help="as many texts of each set")
    parser.add_argument("--only", default="", help="sets whose name holds this")
    parser.add_argument(
        "--provider", default="", help="a provider to measure as well; loopback is the model of make test-model"
    )
    parser.add_argument("--model", default="")
    parser.add_argument("--config", type=Path, help="the settings with the model's address; yours by default")
    parser.add_argument("--styles", default="one_call", help="one_call, per_category, or both")
    parser.add_argument("--prompts", default="", help="files to take instead of the shipped prompt of the style")
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
