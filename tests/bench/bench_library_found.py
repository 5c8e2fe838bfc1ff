"""How many questions about a real library find the passage that answers among the first five, beside bare FTS5.

The documents are this project's own pages, and those beside the project where they are there. The questions
(`library_questions.jsonl`) were written from their pages, each kind in one go before any of it was asked: 60 in other
words than the page has, 60 in near ones, as somebody asks who half remembers it. Each names its page and what the
answering passage says; one whose page is not there, or does not say it any more, is left out.

    python -m tests.bench.bench_library_found [--embedder minilm] [--all]
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from core.base.entry import Entry
from core.library.database import open_library
from core.library.ingest import Wanted, ingest
from core.library.prepare import Way
from core.library.searched import entries, shelves, sources
from core.library.use.retrieve import retrieve
from core.search import kept_vectors
from core.search.index import open_index
from core.search.kept_vectors import embed_one
from core.search.query import search
from tests.bench import Row, printed
from tests.bench.minilm import minilm
from tests.bench.retrieval import EMBEDDER, floor
from tests.bench.retrieval_sets import Asked

PROJECT = Path(__file__).parents[2]
QUESTIONS = Path(__file__).with_name("library_questions.jsonl")
FIRST = 5
NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)
MORE = 4
"""So many more than bare FTS5 are wanted."""
KINDS = ("other words", "near words")
"""Every second question of each was looked at while the ranking was made, the others once, at the end."""
Finder = Callable[[str], Sequence[str]]


class Question(NamedTuple):
    """What is asked, in what `kind` of words, and the ids of the passages that answer."""

    kind: str
    text: str
    answers: frozenset[str]


def pages() -> list[Path]:
    """Every page of the project, and of what lies beside it."""
    beside = [PROJECT.parent / "shared" / name for name in ("design", "review", "seeds")]
    own = [path for path in PROJECT.rglob("*.md") if not any(part.startswith(".") for part in path.parts)]
    return sorted([*own, *(path for folder in beside for path in folder.glob("*.md"))])


def asked(chunks: Sequence[Entry]) -> list[Question]:
    """The questions that these chunks can answer."""
    rows = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    made = []
    for row in rows:
        page, says = str(_place(row["page"])), " ".join(row["says"].split())
        answers = [one.key for one in chunks if one.path == page and says in " ".join(one.text.split())]
        made += [Question(row["kind"], row["asked"], frozenset(answers))] if answers else []
    return made


def _place(page: str) -> Path:
    return PROJECT.parent / page if page.startswith("shared/") else PROJECT / page


def found(questions: Sequence[Question], find: Finder) -> list[bool]:
    """For each question whether one of the first five answers."""
    return [bool(one.answers & set(find(one.text)[:FIRST])) for one in questions]


def measured(folder: Path) -> tuple[int, dict[str, list[bool]], list[Question]]:
    """How many chunks there are, who found what, and the questions."""
    library = open_library(str(folder / "library.db"))
    ingest(library, Wanted([str(path) for path in pages()], PROJECT), Way(), now=lambda: NOW)
    assert library.path is not None
    chunks = [one for begin, mark in shelves(library.path).items() for one in entries(library.path, begin, mark)]
    questions = asked(chunks)
    with closing(open_index(folder / "cache", lambda: sources(library.path))) as index, floor(chunks) as (bare, _):
        who: dict[str, Finder] = {
            "bare FTS5": lambda text: bare(Asked(text, frozenset())),
            "search": lambda text: [hit.entry.key for hit in search(index, text, limit=FIRST)],
            "retrieve": lambda text: [
                one.chunk.id for one in retrieve(library, text, now=NOW, index=index, limit=FIRST, log=False).dossiers
            ],
        }
        if EMBEDDER in sys.argv:
            embed = minilm()
            kept_vectors.build(folder / "cache", EMBEDDER, embed)

            def meant(text: str) -> Sequence[str]:
                near = kept_vectors.near(index.database, EMBEDDER, embed_one(text, embed))
                return [hit.entry.key for hit in search(index, text, limit=FIRST, near=near)]

            who[f"search with {EMBEDDER}"] = meant
        scores = {name: found(questions, find) for name, find in who.items()}
    library.close()
    return len(chunks), scores, questions


def figures() -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="knowledge-library-") as folder:
        number, scores, questions = measured(Path(folder))
    for half, name in enumerate(("the half that was looked at", "the half that was left out")):
        kept = [at for kind in KINDS for at in [at for at, one in enumerate(questions) if one.kind == kind][half::2]]
        said = []
        for who, hits in scores.items():
            firsts = [sum(hits[at] for at in kept if questions[at].kind == kind) for kind in KINDS]
            said.append(f"{who} {sum(firsts)} ({firsts[0]} in {KINDS[0]})")
        by_words = [hits for who, hits in scores.items() if EMBEDDER not in who]
        best = max(sum(hits[at] for at in kept) for hits in by_words)
        wanted = sum(scores["bare FTS5"][at] for at in kept) + MORE
        what = f"{name}, {len(kept)} questions about {number:,} passages, in the first five: {', '.join(said)}"
        yield f"{what}; wanted by words: {MORE} more", float(wanted - best), 0.0
    if "--all" in sys.argv:
        for at, one in enumerate(questions):
            print(" ".join("+" if hits[at] else "-" for hits in scores.values()), one.text)


if __name__ == "__main__":
    printed(figures())
