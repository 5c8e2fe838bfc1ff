"""Does retrieval get better with use? Recall@10 after 0, 100 and 1,000 traces, on questions that no trace saw.

Each set of `retrieval/` becomes a library: each session, scene or dialogue is a document, each turn a chunk. Some
collections are for use, the others are never used. A simulated person asks training questions about the former, and
records for what is shown: `win` with the chunks that answer, `miss` with the others; of every ten verdicts one is
wrong. Then the library is consolidated. Recall is measured on questions of the latter (documents and questions that no
trace saw) and on other questions of the former (questions that no trace saw). `plain` is `core.search` on the same
texts.

    python -m tests.bench.library_learning [--questions N] [--seed N]
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from core.base.result import Ok
from core.base.search_entry import SearchEntry, SearchSource
from core.library import rows
from core.library.database import Library, open_library
from core.library.records import Chunk, Document, SourceProfile, new_id
from core.library.use.consolidate import consolidate
from core.library.use.retrieve import retrieve
from core.library.use.usage import record
from core.search.index import open_index
from core.search.query import search
from tests.bench.retrieval_sets import FOLDER, SETS, Asked

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
STEPS = (0, 100, 1000)
WRONG = 0.1
SHARES = {"locomo": 10, "friendsqa": 400, "molweni": 1000, "qmsum": 12}
"""So many collections of a set, at most."""
DEPTH = 10
KINDS = ("unseen documents", "documents in use")


class Question(NamedTuple):
    """One question with the keys of what answers it, of a set."""

    name: str
    asked: Asked


class World(NamedTuple):
    """Everything in one library: chunk -> key of its entry, and the questions by what they are for."""

    entries: list[SearchEntry]
    ids: dict[str, str]
    training: list[Question]
    seen: list[Question]
    unseen: list[Question]


def build(library: Library, sets: Sequence[str], most: int, seed: int) -> World:
    """Fill the library, and part the questions: for use, for documents in use, for the others."""
    chance = random.Random(seed)
    entries: list[SearchEntry] = []
    ids: dict[str, str] = {}
    training, seen, unseen = [], [], []
    for name in sets:
        collections = list(SETS[name]())
        chance.shuffle(collections)
        collections = [one for one in collections if one.asked][: SHARES.get(name, 20)]
        source = SourceProfile(new_id(), name, "conversation", NOW, NOW)
        with library.writing() as connection:
            rows.add_profile(connection, source)
        for number, collection in enumerate(collections):
            shelved = [
                one._replace(key=f"{name}:{one.key}", thread=f"{name}:{one.thread}") for one in collection.entries
            ]
            entries += shelved
            _shelve(library, source.id, shelved, ids)
            asked = [Question(name, _named(name, one)) for one in collection.asked]
            chance.shuffle(asked)
            if number < max(1, len(collections) * 2 // 5):
                unseen += asked
            else:
                training += asked[: len(asked) * 4 // 5]
                seen += asked[len(asked) * 4 // 5 :]
    for part in (training, seen, unseen):
        chance.shuffle(part)
    return World(entries, ids, training, _even(seen, most), _even(unseen, most))


def _named(name: str, asked: Asked) -> Asked:
    own = f"{name}:{asked.own}" if asked.own else ""
    return Asked(asked.text, frozenset(f"{name}:{key}" for key in asked.answers), own)


def _even(questions: Sequence[Question], most: int) -> list[Question]:
    """As many of each set, as far as there are."""
    chosen: list[Question] = []
    for name in sorted({one.name for one in questions}):
        chosen += [one for one in questions if one.name == name][:most]
    return chosen


def _shelve(library: Library, source: str, entries: Sequence[SearchEntry], ids: dict[str, str]) -> None:
    threads: dict[str, list[SearchEntry]] = {}
    for one in entries:
        threads.setdefault(one.thread, []).append(one)
    with library.writing() as connection:
        for thread, turns in threads.items():
            document = new_id()
            raw = "\n".join(one.text for one in turns)
            day = next((one.date for one in turns if one.date), "")
            written = datetime.fromisoformat(day).replace(tzinfo=UTC) if day else None
            rows.add_document(
                connection,
                Document(document, thread, "conversation", thread.rpartition(":")[2], f"{thread}\n{raw}", NOW, source,
                         written_at=written),
            )  # fmt: skip
            chunks = []
            for one in turns:
                ids[one.key] = new_id()
                chunks.append(Chunk(ids[one.key], document, one.text or "-", one.position, heading=one.title))
            rows.add_chunks(connection, chunks)


def recall(library: Library, world: World, questions: Sequence[Question]) -> tuple[float, dict[str, float]]:
    """Recall@10 in per cent, over all and by set."""
    keys = {chunk: key for key, chunk in world.ids.items()}
    by_set: dict[str, list[float]] = {}
    for one in questions:
        found = retrieve(library, one.asked.text, now=NOW, limit=DEPTH + 1, log=False)
        assert isinstance(found, Ok), found
        got = [keys[row.chunk.id] for row in found.value.dossiers]
        by_set.setdefault(one.name, []).append(_share([key for key in got if key != one.asked.own], one.asked))
    return _means(by_set)


def _share(got: Sequence[str], asked: Asked) -> float:
    return 100 * len(asked.answers & set(got[:DEPTH])) / len(asked.answers)


def _means(by_set: dict[str, list[float]]) -> tuple[float, dict[str, float]]:
    means = {name: statistics.fmean(values) for name, values in by_set.items()}
    return statistics.fmean(value for values in by_set.values() for value in values), means


def plain(world: World, questions: Sequence[Question]) -> tuple[float, dict[str, float]]:
    """The same of `core.search`."""
    by_set: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(prefix="knowledge-learning-") as folder:
        path = Path(folder) / "source"
        path.write_text("x", encoding="ascii")
        index = open_index(Path(folder) / "cache", [SearchSource("all", path, lambda _: Ok(world.entries))])
        for one in questions:
            got = [hit.entry.key for hit in search(index, one.asked.text, limit=DEPTH + 1)]
            by_set.setdefault(one.name, []).append(_share([key for key in got if key != one.asked.own], one.asked))
        index.close()
    return _means(by_set)


def use(library: Library, world: World, questions: Sequence[Question], traces: int, done: int, seed: int) -> int:
    """Ask and record until there are so many traces; `done` are there already. Which question comes next is returned
    with their number by the caller's count: two traces a question."""
    chance = random.Random(seed + done)
    keys = {chunk: key for key, chunk in world.ids.items()}
    at = NOW
    for number in range(done // 2, len(questions)):
        if done >= traces:
            break
        one = questions[number]
        at += timedelta(seconds=1)
        found = retrieve(library, one.asked.text, now=at, limit=DEPTH, session_id=f"session {number // 8}")
        assert isinstance(found, Ok)
        shown = [row.chunk.id for row in found.value.dossiers if keys[row.chunk.id] != one.asked.own]
        good = [chunk for chunk in shown if (keys[chunk] in one.asked.answers) != (chance.random() < WRONG)]
        for chunks, outcome in ((good, "win"), ([chunk for chunk in shown if chunk not in good], "miss")):
            if chunks:
                told = record(library, session_id=f"session {number // 8}", chunk_ids=chunks, now=at, outcome=outcome,
                              task_type=found.value.task_type, retrieval_id=found.value.id)  # fmt: skip
                assert isinstance(told, Ok), told
        done += 2
    return done


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 1 where retrieval fell behind plain search or did not rise."""
    parser = argparse.ArgumentParser(prog="library_learning")
    parser.add_argument("--questions", type=int, default=150, help="test questions of each set and kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sets", nargs="*", default=list(SHARES))
    options = parser.parse_args(arguments)
    sets = [name for name in options.sets if (FOLDER / name).is_dir()]
    if not sets:
        print("no retrieval sets beside the project: nothing is measured")
        return 0
    figures: dict[str, list[list[float]]] = {kind: [] for kind in KINDS}
    print(f"{'set':<10} {'traces':>7} {'questions on':<18} recall@10", flush=True)
    for name in sets:
        for kind, row in measured(name, options.questions, options.seed).items():
            figures[kind].append(row)
    behind = risen = False
    for kind, rows_of in figures.items():
        means = [statistics.fmean(column) for column in zip(*rows_of, strict=True)]
        for label, mean in zip(("plain", *map(str, STEPS)), means, strict=True):
            _print("all", label, kind, mean)
        behind |= min(means[1:]) < means[0] - 0.25
        risen |= means[-1] > means[1] and kind == KINDS[0]
    print(f"at least plain search: {'MISSED' if behind else 'met'}")
    print(f"rising on unseen documents: {'met' if risen else 'MISSED'}")
    return int(behind or not risen)


def measured(name: str, most: int, seed: int) -> dict[str, list[float]]:
    """Kind of question -> recall of plain search and after each step, for one set in a library of its own."""
    with tempfile.TemporaryDirectory(prefix="knowledge-learning-") as folder:
        opened = open_library(str(Path(folder) / "library.db"))
        assert isinstance(opened, Ok), opened
        library = opened.value
        world = build(library, [name], most, seed)
        kinds = dict(zip(KINDS, (world.unseen, world.seen), strict=True))
        figures = {kind: [plain(world, questions)[0]] for kind, questions in kinds.items()}
        for kind in kinds:
            _print(name, "plain", kind, figures[kind][0], f"{len(kinds[kind])} questions, {len(world.entries)} chunks")
        done = 0
        for step in STEPS:
            began = time.perf_counter()
            done = use(library, world, world.training, step, done, seed)
            learned = consolidate(library, now=NOW + timedelta(days=1))
            assert isinstance(learned, Ok)
            told = "; ".join(one.what for one in learned.value.of("ranking"))
            took = time.perf_counter() - began
            for kind, questions in kinds.items():
                figures[kind].append(recall(library, world, questions)[0])
                _print(name, str(done), kind, figures[kind][-1], told)
            print(f"{'':<18} {took:.0f} s for use and consolidation", flush=True)
        library.close()
    return figures


def _print(name: str, traces: str, kind: str, found: float, note: str = "") -> None:
    bar = "#" * round(found / 2)
    print(f"{name:<10} {traces:>7} {kind:<18} {found:6.2f}  {bar:<50} {note}".rstrip(), flush=True)


if __name__ == "__main__":
    sys.exit(main())
