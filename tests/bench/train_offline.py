"""Trains the small models of the offline distiller: `python -m tests.bench.train_offline` writes assets/models.

Logistic regression over hashed words, in plain Python, the same result every time. Only label sets whose licence
allows it are read (assets/models/README.md names them), and only weights leave this program, no text.
"""

from __future__ import annotations

import random
import sys
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import exp
from pathlib import Path

from core.offline.models import (
    MODELS_FILE,
    Seen,
    Weights,
    bucket,
    line_features,
    pack,
    question_features,
    request_features,
    unpack,
)
from core.offline.talk import read_talk
from tests.bench.quality_labels import CORPUS, Case, chats, fold_of, mail, minutes, normal, notes

FOLDS = 5
SIZES = {"request": 1 << 15, "decision": 1 << 13, "action": 1 << 13, "unanswered": 1 << 12}
THRESHOLDS = {"request": 0.4, "decision": 0.4, "action": 0.25, "unanswered": 0.5}
EPOCHS = {"request": 10, "decision": 6, "action": 6, "unanswered": 30}
PENALTIES = {"request": 0.001, "decision": 0.0005, "action": 0.0001, "unanswered": 0.003}
FIRST_STEP = 0.05
SPARED = 4  # of the lines far from any answer, one in so many is shown, and counts as many times
VOTES = ("after ", "before ", "soon ", "both ", "again ")


@dataclass(frozen=True)
class Example:
    """Hashed features, the answer, how much it counts, and the document that it is from."""

    features: array[int]
    answer: bool
    weight: float
    document: str


def hashed(features: Sequence[str], size: int) -> array[int]:
    return array("i", sorted({bucket(feature, size) for feature in features}))


def request_examples(labels: Path) -> Iterator[Example]:
    for case in mail(labels):
        sentence, size = case.units[0], SIZES["request"]
        yield Example(hashed(request_features(sentence), size), bool(case.gold["tasks_open"]), 1.0, case.document)


def question_examples(labels: Path) -> Iterator[Example]:
    cases = list(chats(labels))
    total = sum(len(case.units) for case in cases)
    waiting = sum(len(case.gold["questions"]) for case in cases)
    for case in cases:
        talk = read_talk(case.conversation)
        gold = set(map(normal, case.gold["questions"]))
        seen = Seen(talk) if talk else None
        for at, line in enumerate(talk.lines if talk else ()):
            key = normal(line.text)
            if seen and line.text.endswith("?") and case.judged and key in case.judged:
                answer = key in gold
                weight = total / (2 * waiting) if answer else total / (2 * (total - waiting))
                features = hashed(question_features(seen, at), SIZES["unanswered"])
                yield Example(features, answer, weight, case.document)


def line_examples(labels: Path, category: str, name: str) -> Iterator[Example]:
    """Lines of meetings, each as the scribe put it down and again as somebody said it; what was marked is shown once
    more without the votes around it, so that the words alone have to do as well."""
    size = SIZES[name]
    for read in (minutes, notes):
        for spoken in (False, True):
            for case in read(labels, spoken):
                yield from _lines(case, category, size)
    for case in chats(labels):  # nobody resolves anything in a help channel, and what is said there to do is advice
        yield from _lines(case, category, size)


def _lines(case: Case, category: str, size: int) -> Iterator[Example]:
    talk = read_talk(case.conversation)
    if talk is None:
        return
    seen, gold = Seen(talk), set(map(normal, case.gold.get(category, ())))
    answers = [normal(line.text) in gold for line in talk.lines]
    for at, line in enumerate(talk.lines):
        if len(line.text.split()) < 2 or seen.votes[at] or line.text.endswith("?"):
            continue
        near = any(answers[max(0, at - 3) : at + 4])
        if not near and bucket(line.text, 1 << 16) % SPARED:
            continue
        features = line_features(seen, at)
        yield Example(hashed(features, size), answers[at], 1.0 if near else SPARED, case.document)
        if answers[at]:
            plain = [feature for feature in features if not feature.startswith(VOTES)]
            yield Example(hashed(plain, size), True, 0.5, case.document)


EXAMPLES: dict[str, Callable[[Path], Iterator[Example]]] = {
    "request": request_examples,
    "decision": lambda labels: line_examples(labels, "decisions", "decision"),
    "action": lambda labels: line_examples(labels, "tasks_open", "action"),
    "unanswered": question_examples,
}


def train(name: str, examples: Sequence[Example]) -> Weights:
    """Logistic regression with a penalty on large weights, by stochastic steps that become shorter.

    All weights shrink at every step; that is one number (`shrunk`) by which they are multiplied at the end.
    """
    penalty = PENALTIES[name]
    weights = array("d", bytes(8 * SIZES[name]))
    bias, shrunk, number = 0.0, 1.0, 0
    order = random.Random(1)
    shuffled = list(examples)
    for _ in range(EPOCHS[name]):
        order.shuffle(shuffled)
        for example in shuffled:
            number += 1
            rate = FIRST_STEP / (1 + FIRST_STEP * penalty * number)
            total = 0.0
            for at in example.features:
                total += weights[at]
            total = bias + shrunk * total
            step = (1 / (1 + exp(-max(-30.0, min(30.0, total)))) - example.answer) * example.weight * rate
            shrunk *= 1 - rate * penalty
            bias -= step
            step /= shrunk
            for at in example.features:
                weights[at] -= step
    return Weights(array("f", (weight * shrunk for weight in weights)), bias, THRESHOLDS[name])


def all_examples(labels: Path) -> dict[str, list[Example]]:
    return {name: list(read(labels)) for name, read in EXAMPLES.items()}


def models_without(fold: int, examples: dict[str, list[Example]]) -> dict[str, Weights]:
    """Models that never saw the documents of a fold; rounded as the shipped ones are."""
    models = {}
    for name, rows in examples.items():
        models[name] = train(name, [row for row in rows if fold < 0 or fold_of(row.document, FOLDS) != fold])
    return unpack(pack(models))


def main() -> int:
    labels = CORPUS / "labels"
    if not labels.is_dir():
        print("the labels are not beside the project: nothing was trained")
        return 1
    MODELS_FILE.parent.mkdir(parents=True, exist_ok=True)
    text = pack(models_without(-1, all_examples(labels)))
    MODELS_FILE.write_text(text, encoding="utf-8")
    print(f"{MODELS_FILE.name}: {len(text.encode()) / 1000:.1f} KB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
