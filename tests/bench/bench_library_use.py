"""What retrieving costs among 100,000 chunks, as a multiple of a bare FTS5 query and one scan of all vectors."""

from __future__ import annotations

import random
import statistics
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy

from core.base.result import Ok, attempt
from core.library import rows, schema
from core.library.database import Library, open_library
from core.library.records import Chunk, Document, SourceProfile, UsageTrace, new_id
from core.library.searched import sources
from core.library.use.retrieve import retrieve
from core.library.use.vectors import Embedder
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
    """A library of that many chunks in documents of 20, with vectors and some traces, and questions for it."""
    opened = open_library(str(folder / "library.db"))
    library, chance = opened, random.Random(7)
    words = vocabulary(chance)
    source = SourceProfile(new_id(), "bench", "docs", NOW, NOW)
    numbers = numpy.random.default_rng(7)
    ids: list[str] = []
    with library.writing() as connection:
        rows.put(connection, schema.source_profile, rows.row_of(source))
        for first in range(0, chunks, 20):
            document = new_id()
            rows.add_document(
                connection, Document(document, f"d{first}", "note", f"d{first}", f"{first}", NOW, source.id)
            )
            part = [Chunk(new_id(), document, text(chance, words, 25), at) for at in range(20)]
            rows.add_chunks(connection, part)
            ids += [one.id for one in part]
        for start in range(0, chunks, 5000):
            matrix = numbers.standard_normal((min(5000, chunks - start), DIMENSIONS)).astype("<f4")
            matrix /= numpy.linalg.norm(matrix, axis=1, keepdims=True)
            vectors: list[dict[str, Any]] = [
                {"chunk_id": key, "model": "bench", "dimensions": DIMENSIONS, "vector": vector.tobytes()}
                for key, vector in zip(ids[start : start + 5000], matrix, strict=True)
            ]
            connection.execute(schema.embedding.insert(), vectors)
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


def compared(library: Library, questions: list[str]) -> tuple[float, float]:
    """Medians in milliseconds: retrieving, and a bare FTS5 query with a scan of all vectors."""
    vector = numpy.random.default_rng(3).standard_normal(DIMENSIONS).astype("<f4")
    vector /= numpy.linalg.norm(vector)
    embedder = Embedder("bench", lambda texts: [vector.tolist() for _ in texts])
    with library.reading() as connection:
        blobs = connection.execute(schema.embedding.select().order_by(schema.embedding.c.chunk_id)).all()
    matrix = numpy.frombuffer(b"".join(row.vector for row in blobs), "<f4").reshape(-1, DIMENSIONS)
    assert library.path is not None
    index = open_index(library.path.parent / "cache", sources(library.path))

    def bare(question: str) -> None:
        words = [word for word in words_of(question) if word not in STOP_WORDS]
        match = " OR ".join(f'"{word}"' for word in words)
        sql = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank LIMIT 10"
        index.database.execute(sql, (match,)).fetchall()
        near = matrix @ vector
        numpy.argpartition(-near, 10)[:10]

    def whole(question: str) -> None:
        found = attempt(retrieve, library, question, now=NOW, index=index, embedder=embedder)
        assert isinstance(found, Ok) and found.value.dossiers, found

    for question in questions[:3]:
        bare(question)
        whole(question)
    # In turns, so that both meet the same moods of the machine.
    took = [[1000 * seconds_of(partial(work, question)) for work in (whole, bare)] for question in questions]
    index.close()
    ours, floor = (statistics.median(times) for times in zip(*took, strict=True))
    return ours, floor


def figures() -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="knowledge-library-") as folder:
        library, questions = filled(Path(folder))
        ours, bare = compared(library, questions)
        library.close()
    yield f"retrieve among {CHUNKS:,} chunks: {ours:.1f} ms; bare FTS5 and a scan: {bare:.1f} ms", ours / bare, 2.0


if __name__ == "__main__":
    printed(figures())
