"""Makes the weights with which a harvest by rules selects: `python -m tests.quality.fit [--left-out] [FOLDER ...]`.

Reads the labels in `worth.jsonl`: for each session the units that readers looked at, by their hashes, each with a
letter (`VALUES`); no text. Strict sessions were read as a judge reads what a harvest gave: is the line right, is it
worth keeping; the others by three readers who said which units are worth a line. Finds the units in the corpus (and in
sessions below the given folders), and writes `assets/worth.tsv`.

`--left-out` fits without each owner's repositories and prints what the weights of the others would have selected of
them, by thresholds and lines a session: the only figures that say something of sessions that nobody labelled.

Logistic regression with an L2 penalty, by coordinates in a fixed order: the same labels give the same weights. A unit
of an owner with many counts less (by the root), so that no project rules.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from core.conversations.read import read_conversation
from core.rules.session import read_session
from core.rules.units import Unit
from core.rules.worth import BIAS, LEAST, MAX_LINES, WEIGHTS, best, candidates, holds, last_work, probability
from tests.corpus import CORPUS
from tests.quality.sheets import unit_hash

LABELS = Path(__file__).with_name("worth.jsonl")
VALUES = {"y": 1.0, "s": 0.75, "m": 0.35, "r": 0.15, "w": 0.0, "x": 0.0}
"""What a label counts: worth it (yes; in part, or some readers), perhaps, right but not worth it, weak, wrong."""
OF_LENIENT = 0.6
"""What a unit counts of a session that was not read strictly."""
RIDGE, ROUNDS, CLOSE = 10.0, 60, 0.001


class Row(NamedTuple):
    """A labelled unit: whose it is, its file, whether it was read strictly, its label, the line that it makes, the
    features of that, and whether no file was changed after it."""

    owner: str
    file: str
    strict: bool
    label: str
    unit: Unit
    line: str
    features: frozenset[str]
    late: bool


def labelled(folders: Sequence[Path]) -> Iterator[Row]:
    """The labelled units of the sessions that are here, those that can be no line left out."""
    for said in LABELS.read_text(encoding="utf-8").splitlines():
        label = json.loads(said)
        path = next((path for folder in folders if (path := folder / label["file"]).is_file()), None)
        if path is None:
            continue
        owner = label["repository"].partition("__")[0]
        session = read_session(read_conversation(path.name, path.read_bytes()))
        since = last_work(session)
        for unit, line, features in candidates(session):
            if letter := label["units"].get(unit_hash(unit)):
                yield Row(owner, label["file"], label["strict"], letter, unit, line, features, unit.turn >= since)


def fit(rows: Sequence[Row]) -> dict[str, float]:
    """The weights that make the labels most likely; none of them but the bias is free."""
    columns: dict[str, list[int]] = defaultdict(list, {BIAS: list(range(len(rows)))})
    for at, row in enumerate(rows):
        for name in sorted(row.features):
            columns[name].append(at)
    answers = [VALUES[row.label] for row in rows]
    sizes = Counter(row.owner for row in rows)
    counts = [(1 if row.strict else OF_LENIENT) / math.sqrt(sizes[row.owner]) for row in rows]
    scale = len(rows) / sum(counts)
    weights, sums = dict.fromkeys(sorted(columns), 0.0), [0.0] * len(rows)
    for _ in range(ROUNDS):
        moved = 0.0
        for name in weights:
            ridge = 1e-6 if name == BIAS else RIDGE
            slope, curve = ridge * weights[name], ridge
            for at in columns[name]:
                likely = 1 / (1 + math.exp(-sums[at]))
                slope += scale * counts[at] * (likely - answers[at])
                curve += scale * counts[at] * likely * (1 - likely)
            step = max(-1.0, min(1.0, -slope / curve))
            weights[name] += step
            moved = max(moved, abs(step))
            for at in columns[name]:
                sums[at] += step
        if moved < CLOSE:
            break
    return weights


def left_out(rows: Sequence[Row]) -> Iterator[str]:
    """What each owner's sessions would have got from weights that the others made."""
    rated: list[tuple[float, Row]] = []
    for owner in sorted({row.owner for row in rows}):
        weights = fit([row for row in rows if row.owner != owner])
        rated += [(probability(row.features, weights), row) for row in rows if row.owner == owner]
    for strict in (True, False):
        mine = [one for one in rated if one[1].strict == strict]
        kept = Counter(row.owner for _, row in mine if row.label == "y")
        for most in sorted({1, 2, 3, MAX_LINES}):
            for least in sorted({0.3, 0.4, 0.45, LEAST}):
                head = f"{'strictly read' if strict else 'others'}, at most {most}, from {least}"
                yield _told(list(_chosen(mine, least, most)), kept, head)


def _chosen(rated: Sequence[tuple[float, Row]], least: float, most: int) -> Iterator[Row]:
    """What a harvest would take: the best of each session, nothing twice."""
    files: dict[str, list[tuple[float, Row]]] = defaultdict(list)
    for rate, row in rated:
        if row.late:
            files[row.file].append((rate, row))
    for mine in files.values():
        rows = {id(row.unit): row for _, row in mine}
        for _, unit, _ in best(((rate, row.unit, row.line) for rate, row in mine), least, most):
            if holds(rows[id(unit)].line):
                yield rows[id(unit)]


def _told(chosen: Sequence[Row], kept: Counter[str], head: str) -> str:
    labels = Counter(row.label for row in chosen)
    found = Counter(row.owner for row in chosen if row.label == "y")
    number = max(1, len(chosen))
    shares = {
        "worth": sum(labels[letter] for letter in "ys"),
        "with perhaps": sum(labels[letter] for letter in "ysm"),
        "right": sum(labels[letter] for letter in "ysmr"),
        "wrong": labels["x"],
    }
    told = ", ".join(f"{name} {count / number:.0%}" for name, count in shares.items())
    recall = sum(found[name] / count for name, count in kept.items()) / max(1, len(kept))
    return (
        f"{head}: {len(chosen)} lines of {len({row.owner for row in chosen})} owners; {told}; of the yeses {recall:.0%}"
    )


def main() -> None:
    """Write the weights, or print what owners would have got that were left out."""
    parser = argparse.ArgumentParser(prog="python -m tests.quality.fit", description=main.__doc__)
    parser.add_argument("--left-out", action="store_true")
    parser.add_argument("folders", nargs="*", type=Path)
    given = parser.parse_args()
    rows = list(labelled([CORPUS / "conversations", *given.folders]))
    if given.left_out:
        for line in left_out(rows):
            print(line, flush=True)
        return
    weights = fit(rows)
    lines = ["# feature, worth a line: log-odds, made by `python -m tests.quality.fit`"]
    lines += [f"{name}\t{weight:.3f}" for name, weight in weights.items()]
    WEIGHTS.write_text("\n".join(lines) + "\n", encoding="utf-8")
    sys.stdout.write(f"{len(weights)} features of {len(rows)} units\n")


if __name__ == "__main__":
    main()
