"""What records of use move: a hundred needs on five talks of LoCoMo, honest records on half of them.

Of a need in that half the passage that answers gets a win, and each of the three first that stood before it a miss.
Then the half is asked again in the same words, in other words (`experience_needs.jsonl`: `again`, written from the
question alone before any rank was seen), and the other half as before. Figures are mean reciprocal ranks.

    python -m tests.bench.bench_experience [talk …]
"""

from __future__ import annotations

import json
import re
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from core.library.database import open_library
from core.library.records import UsageTrace, new_id
from core.library.searched import sources
from core.library.use.retrieve import retrieve
from core.library.use.usage import record
from core.search.index import open_index
from tests.bench import Row, printed
from tests.bench.retrieval_sets import FOLDER
from tests.library_shelf import Shelf

NEEDS = Path(__file__).with_name("experience_needs.jsonl")
NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
TURNS, AHEAD, LOOKED = 3, 3, 50
RECORDS = 80
"""At least so many are wanted."""


class Need(NamedTuple):
    """What is asked, the same in other words ("" where it gets no record), and the id of the passage that answers."""

    asked: str
    again: str
    answer: str


def shelved(shelf: Shelf, talks: Sequence[str]) -> list[Need]:
    """Talks in passages of three turns, and the needs that they answer."""
    rows = [json.loads(line) for line in NEEDS.read_text(encoding="utf-8").splitlines()]
    needs = []
    for path in sorted((FOLDER / "locomo").rglob("*.json")):
        if path.stem not in (talks or {row["talk"] for row in rows}):
            continue
        talk = json.loads(path.read_text(encoding="utf-8"))
        where: dict[str, str] = {}
        for name, turns in talk["conversation"].items():
            if not re.fullmatch(r"session_\d+", name):
                continue
            parts = [turns[at : at + TURNS] for at in range(0, len(turns), TURNS)]
            texts = [" ".join(f"{turn['speaker']}: {turn['text']}" for turn in part) for part in parts]
            said = talk["conversation"][f"{name}_date_time"]
            ids = shelf.document(f"{path.stem} {said}", texts, path.stem, kind="conversation", heading=said)
            where |= {turn["dia_id"]: key for part, key in zip(parts, ids, strict=True) for turn in part}
        for row in rows:
            if row["talk"] == path.stem:
                question = talk["qa"][row["question"]]
                needs.append(Need(question["question"], row.get("again", ""), where[question["evidence"][0]]))
    return needs


def figures(talks: Sequence[str] = ()) -> Iterator[Row]:
    """How the three move, and how many records that took."""
    with tempfile.TemporaryDirectory(prefix="knowledge-experience-") as folder:
        library = open_library(str(Path(folder) / "library.db"))
        needs = shelved(Shelf(library), talks)
        assert library.path is not None
        with closing(open_index(Path(folder) / "search", lambda: sources(library.path))) as index:

            def found(text: str) -> list[str]:
                made = retrieve(library, text, now=NOW, index=index, limit=LOOKED, log=False)
                return [one.chunk.id for one in made.dossiers]

            def ranks() -> tuple[list[float], ...]:
                mine, others = ([one for one in needs if bool(one.again) == used] for used in (True, False))
                asked = ([(one.asked, one.answer) for one in mine], [(one.again, one.answer) for one in mine],
                         [(one.asked, one.answer) for one in others])  # fmt: skip
                return tuple(
                    [1 / (ids.index(answer) + 1) if answer in (ids := found(text)) else 0.0 for text, answer in rows]
                    for rows in asked
                )

            before, records = ranks(), 0
            for number, need in enumerate(needs):
                ids = found(need.asked) if need.again else []
                ahead = ids[: ids.index(need.answer)] if need.answer in ids else ids
                told = [(need.answer, "win"), *((key, "miss") for key in ahead[:AHEAD])] if need.again else []
                for key, outcome in told:
                    used = UsageTrace(new_id(), (key,), "", outcome, NOW, f"s{number}", query=need.asked, project="")
                    record(library, used)
                records += len(told)
            after = ranks()
        library.close()
    yield f"records on {len(before[0])} of {len(needs)} needs: {records}", float(RECORDS - records), 0.0
    for name, old, new in zip(("asked again", "in other words", "the other half"), before, after, strict=True):
        one, two = statistics.mean(old), statistics.mean(new)
        moved = [sum(sign * (new[at] - old[at]) > 0 for at in range(len(old))) for sign in (1, -1)]
        said = f"{name}: {one:.3f} before, {two:.3f} after; {moved[0]} rose, {moved[1]} fell"
        yield said, one - two, 0.01 if name == "the other half" else 0.0


if __name__ == "__main__":
    sys.exit(bool(printed(figures(sys.argv[1:]))))
