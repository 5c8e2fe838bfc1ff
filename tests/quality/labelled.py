"""What readers said of the units that a harvest by rules selects: `python -m tests.quality.labelled [FOLDER ...]`.

Reads the labels in `worth.jsonl`: for each session the units that readers looked at, by their hashes, each with a
letter (`MEANS`); no text. Strict sessions were read as a judge reads what a harvest gave: is the line right, is it
worth keeping; the others by three readers who said which units are worth a line. Finds the units in the corpus (and in
sessions below the given folders), and prints by repository and in all how many of each letter are selected, beside all
units that can be a line wherever they stand.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from core.conversations.read import read_conversation
from core.rules.session import read_session
from core.rules.units import Unit, units_of
from core.rules.worth import best, candidates, line_of
from tests.corpus import CORPUS
from tests.quality.sheets import unit_hash

LABELS = Path(__file__).with_name("worth.jsonl")
MEANS = {
    "y": "worth it",
    "s": "worth it in part, or to some readers",
    "m": "perhaps",
    "r": "right, not worth it",
    "w": "weak",
    "x": "wrong",
}


class Row(NamedTuple):
    """A labelled unit: its repository, its file, whether it was read strictly, its label, the line that it makes, and
    whether the rules select it."""

    repository: str
    file: str
    strict: bool
    label: str
    unit: Unit
    line: str
    selected: bool


def labelled(folders: Sequence[Path]) -> Iterator[Row]:
    """The labelled units of the sessions that are here, those that can be no line left out."""
    for said in LABELS.read_text(encoding="utf-8").splitlines():
        label = json.loads(said)
        path = next((path for folder in folders if (path := folder / label["file"]).is_file()), None)
        if path is None:
            continue
        session = read_session(read_conversation(path.name, path.read_bytes()))
        chosen = {unit for unit, _ in best(candidates(session))}
        units = [unit for unit in units_of(session) if unit.place != "user" and unit.kind != "check"]
        for at, unit in enumerate(units):
            letter, line = label["units"].get(unit_hash(unit)), line_of(units, at)
            if letter and line:
                yield Row(label["repository"], label["file"], label["strict"], letter, unit, line, unit in chosen)


def told(name: str, rows: Sequence[Row]) -> str:
    """One line about these units."""
    chosen, every = (Counter(row.label for row in mine) for mine in ([r for r in rows if r.selected], rows))
    number = max(1, chosen.total())
    shares = {"worth it": "ys", "with perhaps": "ysm", "wrong": "x"}
    said = ", ".join(f"{kind} {sum(chosen[one] for one in of) / number:.0%}" for kind, of in shares.items())
    found = f"of {every['y'] + every['s']} worthy {chosen['y'] + chosen['s']}"
    return f"{name:44} {chosen.total():4} of {len(rows):5} selected; {said}; {found}"


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="python -m tests.quality.labelled", description=main.__doc__)
    parser.add_argument("folders", nargs="*", type=Path)
    given = parser.parse_args()
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in labelled([CORPUS / "conversations", *given.folders]):
        groups[row.repository].append(row)
        groups["all, read strictly" if row.strict else "all, by three readers"].append(row)
    lines = [told(name, rows) for name, rows in sorted(groups.items(), key=lambda row: row[0].startswith("all"))]
    sys.stdout.write("\n".join([*lines, ", ".join(f"{letter}: {means}" for letter, means in MEANS.items())]) + "\n")


if __name__ == "__main__":
    main()
