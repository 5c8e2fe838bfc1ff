"""What retrieving costs among 100,000 chunks, as a multiple of a bare FTS5 query and one scan of all vectors."""

from __future__ import annotations

import random
import sqlite3
import statistics
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy
from sqlalchemy import select

from core.base.result import Ok, attempt
from core.library import rows, schema
from core.library.database import Library, open_library
from core.library.records import Chunk, Document, SourceProfile, UsageTrace, new_id
from core.library.searched import sources
from core.library.use.retrieve import retrieve
from core.search import kept_vectors
from core.search.conversations import remember
from core.search.index import open_index
from core.search.words import STOP_WORDS, words_of
from tests.bench import Row, printed, seconds_of

CHUNKS, DIMENSIONS, ROUNDS = 100_000, 256, 30
NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
_SYLLABLES = ("ka", "lo", "mi", "ter", "ron", "sel", "vu", "dan", "pi", "gor", "fen", "tal", "bri", "os", "que", "nim")


def vocabulary(chance: random.Random) -> list[str]:
    """Made-up words, the frequent ones first."""
    return ["".join(chance.choices(_SYLLABLES, k=chance.randint(2, 4))) for _ in range(20_000)]


def text(chance: random.Random, words: list[str], size: int) -> str:
    """Words as they are spread in language: few are frequent."""
    return " ".join(words[min(int(chance.paretovariate(0.6)) - 1, len(words) - 1)] for _ in range(size))


def filled(folder: Path, chunks: int = CHUNKS) -> tuple[Library, list[str]]:
    """A library of that many chunks in documents of 20, with some traces, and questions for it."""
    opened = open_library(str(folder / "library.db"))
    library, chance = opened, random.Random(7)
    words = vocabulary(chance)
    source = SourceProfile(new_id(), "bench", "docs", NOW, NOW)
    ids: list[str] = []
    with library.writing() as connection:
        rows.put(connection, schema.source_profile, source)
        for first in range(0, chunks, 20):
            document = new_id()
            rows.add_document(
                connection, Document(document, f"d{first}", "note", f"d{first}", f"{first}", NOW, source.id)
            )
            part = [Chunk(new_id(), document, text(chance, words, 25), at) for at in range(20)]
            rows.add_chunks(connection, part)
            ids += [one.id for one in part]
        for _ in range(300):
            chosen = tuple(chance.sample(ids, 2))
            query = text(chance, words, 6)
            rows.add_trace(connection, UsageTrace(new_id(), chosen, "debugging", "win", NOW, "s", "", query, "because"))
    questions = []
    while len(questions) < ROUNDS:
        asked = [word for word in text(chance, words, 8).split() if word not in words[:20]]
        if len(asked) >= 3:
            questions.append(" ".join(asked[:4]))
    return library, questions


def with_vectors(database: sqlite3.Connection) -> Any:
    """Give every entry of an index a vector by lot; all of them."""
    numbers = [row[0] for row in database.execute("SELECT id FROM entries ORDER BY id")]
    matrix = numpy.random.default_rng(7).standard_normal((len(numbers), DIMENSIONS)).astype("<f4")
    matrix /= numpy.linalg.norm(matrix, axis=1, keepdims=True)
    rows = zip(numbers, (kept_vectors.packed(row.tobytes()) for row in matrix), strict=True)
    database.execute("BEGIN")
    database.executemany("INSERT INTO vectors VALUES (?, ?)", rows)
    remember(database, "embedder", "bench")
    database.execute("COMMIT")
    return matrix


def compared(library: Library, questions: list[str]) -> tuple[float, float]:
    """Medians in milliseconds: retrieving, and a bare FTS5 query with a scan of all vectors."""
    assert library.path is not None
    index = open_index(library.path.parent / "cache", lambda: sources(library.path))
    matrix = with_vectors(index.database)
    vector = matrix[0]

    def bare(question: str) -> None:
        words = [word for word in words_of(question) if word not in STOP_WORDS]
        match = " OR ".join(f'"{word}"' for word in words)
        sql = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT 10"
        index.database.execute(sql, (match,)).fetchall()
        near = matrix @ vector
        numpy.argpartition(-near, 10)[:10]

    def whole(question: str) -> None:
        near = kept_vectors.near(index.database, "bench", vector)
        found = attempt(retrieve, library, question, now=NOW, index=index, near=near)
        assert isinstance(found, Ok) and found.value.dossiers, found

    for question in questions[:3]:
        bare(question)
        whole(question)
    # In turns, so that both meet the same moods of the machine.
    took = [[1000 * seconds_of(partial(work, question)) for work in (whole, bare)] for question in questions]
    index.close()
    ours, floor = (statistics.median(times) for times in zip(*took, strict=True))
    return ours, floor


def used(folder: Path, uses: int) -> float:
    """Median in milliseconds of retrieving where each of 200 chunks has so many uses."""
    folder.mkdir()
    library, questions = filled(folder, 200)
    chance = random.Random(1)
    with library.writing() as connection:
        for chunk in connection.execute(select(schema.chunk.c.id)).scalars().all():
            for _ in range(uses):
                task, outcome = chance.choice(["debugging", "factual_lookup"]), chance.choice(["win", "miss"])
                rows.add_trace(connection, UsageTrace(new_id(), (chunk,), task, outcome, NOW, "s", notes="because"))
    assert library.path is not None
    index = open_index(library.path.parent / "cache", lambda: sources(library.path))
    took = [
        1000 * seconds_of(partial(attempt, retrieve, library, question, now=NOW, index=index, near={}))
        for question in questions
    ]
    index.close()
    library.close()
    return statistics.median(took)


def figures() -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="knowledge-library-") as folder:
        library, questions = filled(Path(folder))
        ours, bare = compared(library, questions)
        library.close()
    yield f"retrieve among {CHUNKS:,} chunks: {ours:.1f} ms; bare FTS5 and a scan: {bare:.1f} ms", ours / bare, 2.0
    with tempfile.TemporaryDirectory(prefix="knowledge-library-") as folder:
        few, many = (used(Path(folder) / str(uses), uses) for uses in (8, 200))
    yield f"retrieve at 200 uses of each chunk: {many:.1f} ms; at 8: {few:.1f} ms", many / few, 4.0


if __name__ == "__main__":
    printed(figures())
