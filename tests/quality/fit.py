"""Makes the weights with which a harvest by rules selects: `python -m tests.quality.fit [--left-out] [FOLDER ...]`.

Reads the labels in `worth.jsonl`: for each session the units that readers looked at, by their hashes, each with the
mean of what they said (1 worth a line, 0.5 perhaps, 0 not) and the kind of those that are worth it; no text. Finds the
units in the corpus (and in sessions below the given folders), and writes `assets/worth.tsv`.

`--left-out` fits once without each repository and prints what the weights of the others would have selected of it: the
only figures that say something of sessions that nobody labelled.

Logistic regression with an L1 and an L2 penalty, by coordinates in a fixed order: the same labels give the same
weights. A unit of a repository with many counts less (by the root), so that no project rules.
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
from core.rules.features import Scene, features
from core.rules.session import read_session
from core.rules.units import units_of
from core.rules.worth import BIAS, LEAST, MAX_LINES, WEIGHTS, says_same, stands
from tests.corpus import CORPUS
from tests.quality.sheets import unit_hash

LABELS = Path(__file__).with_name("worth.jsonl")
LEAST_UNITS, LEAST_REPOSITORIES = 4, 2
"""A feature counts from so many units of so many repositories on."""
LASSO, RIDGE, RIDGE_OF_KINDS, ROUNDS, CLOSE = 1.0, 33.0, 6.0, 40, 0.004
RULES = ("decision", "preference")


class Row(NamedTuple):
    """A labelled unit: its repository and file, how much it is worth (0 to 1), its kind, features and text."""

    repository: str
    file: str
    worth: float
    kind: str
    features: frozenset[str]
    text: str


def labelled(folders: Sequence[Path]) -> Iterator[Row]:
    """The labelled units of the sessions that are here, those that can be no line left out."""
    for line in LABELS.read_text(encoding="utf-8").splitlines():
        label = json.loads(line)
        path = next((path for folder in folders if (path := folder / label["file"]).is_file()), None)
        if path is None:
            continue
        session = read_session(read_conversation(path.name, path.read_bytes()))
        units = units_of(session)
        scene = Scene(session, units)
        for unit in units:
            name = unit_hash(unit)
            if name in label["units"] and stands(unit):
                worth, kind = label["units"][name], label["kinds"].get(name, "")
                found = frozenset(features(unit, scene))
                yield Row(label["repository"], label["file"], worth, kind, found, unit.text)


def fit(rows: Sequence[Row], answers: Sequence[float], most_ridge: float = RIDGE) -> dict[str, float]:
    """The weights that make `answers` (0 to 1) most likely; none of them but the bias is free."""
    units: Counter[str] = Counter()
    where: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        units.update(row.features)
        for name in row.features:
            where[name].add(row.repository)
    known = sorted(name for name in units if units[name] >= LEAST_UNITS and len(where[name]) >= LEAST_REPOSITORIES)
    columns: dict[str, list[int]] = {name: [] for name in known}
    for at, row in enumerate(rows):
        for name in row.features & columns.keys():
            columns[name].append(at)
    columns = {BIAS: list(range(len(rows))), **columns}
    sizes = Counter(row.repository for row in rows)
    scale = len(rows) / sum(1 / math.sqrt(sizes[row.repository]) for row in rows)
    counts = [scale / math.sqrt(sizes[row.repository]) for row in rows]
    weights, sums = dict.fromkeys(columns, 0.0), [0.0] * len(rows)
    for _ in range(ROUNDS):
        moved = 0.0
        for name, column in columns.items():
            lasso, ridge = (0.0, 0.0) if name == BIAS else (LASSO, most_ridge)
            slope, curve = ridge * weights[name], ridge + 1e-6
            for at in column:
                likely = 1 / (1 + math.exp(-sums[at]))
                slope += counts[at] * (likely - answers[at])
                curve += counts[at] * likely * (1 - likely)
            wanted = weights[name] - slope / curve
            step = math.copysign(max(0.0, abs(wanted) - lasso / curve), wanted) - weights[name]
            step = max(-1.0, min(1.0, step))
            if step:
                weights[name] += step
                moved = max(moved, abs(step))
                for at in column:
                    sums[at] += step
        if moved < CLOSE:
            break
    return {name: weight for name, weight in weights.items() if abs(weight) >= 0.0005}


def probability(weights: dict[str, float], row: Row) -> float:
    """How likely these weights hold a unit to be worth a line."""
    total = weights.get(BIAS, 0.0) + math.fsum(weights.get(name, 0.0) for name in row.features)
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


def left_out(rows: Sequence[Row]) -> Iterator[str]:
    """What each repository would have got from weights that the others made, by thresholds."""
    rated: list[tuple[float, Row]] = []
    for name in sorted({row.repository for row in rows}):
        others = [row for row in rows if row.repository != name]
        weights = fit(others, [row.worth for row in others])
        rated += [(probability(weights, row), row) for row in rows if row.repository == name]
    kept = Counter(row.repository for row in rows if row.kind)
    for least in sorted({0.1, 0.15, 0.2, 0.25, 0.3, 0.4, LEAST}):
        chosen = list(_chosen(rated, least))
        good, by = (Counter(row.repository for row in part) for part in ([row for row in chosen if row.kind], chosen))
        perhaps = sum(row.worth > 0 for row in chosen)
        recall = sum(good[name] / count for name, count in kept.items()) / max(1, len(kept))
        yield (
            f"from {least}: {len(chosen)} lines of {len(by)} repositories; worth it by some reader "
            f"{sum(good.values()) / max(1, len(chosen)):.0%}, with perhaps {perhaps / max(1, len(chosen)):.0%}; "
            f"found of what is worth it, mean of {len(kept)} repositories {recall:.0%}"
        )


def _chosen(rated: Sequence[tuple[float, Row]], least: float) -> Iterator[Row]:
    """What a harvest would take: the best of each session, nothing twice."""
    taken: dict[str, list[Row]] = defaultdict(list)
    for rate, row in sorted(rated, key=lambda one: -one[0]):
        mine = taken[row.file]
        if rate >= least and len(mine) < MAX_LINES and not any(says_same(row.text, other.text) for other in mine):
            mine.append(row)
            yield row


def main() -> None:
    """Write the weights, or print what repositories would have got that were left out."""
    parser = argparse.ArgumentParser(prog="python -m tests.quality.fit", description=main.__doc__)
    parser.add_argument("--left-out", action="store_true")
    parser.add_argument("folders", nargs="*", type=Path)
    given = parser.parse_args()
    rows = list(labelled([CORPUS / "conversations", *given.folders]))
    if given.left_out:
        for line in left_out(rows):
            print(line, flush=True)
        return
    kept = [row for row in rows if row.kind]
    parts = (
        fit(rows, [row.worth for row in rows]),
        fit(kept, [float(row.kind in RULES) for row in kept], RIDGE_OF_KINDS),
    )
    names = sorted({name for part in parts for name in part})
    lines = ["# feature, worth a line, a rule: log-odds, made by `python -m tests.quality.fit`"]
    lines += ["\t".join((name, *(f"{part.get(name, 0.0):.3f}" for part in parts))) for name in names]
    WEIGHTS.write_text("\n".join(lines) + "\n", encoding="utf-8")
    sys.stdout.write(f"{len(names)} features of {len(rows)} units, {len(kept)} worth a line\n")


if __name__ == "__main__":
    main()
