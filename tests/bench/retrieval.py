"""How well the search finds what answers a question: recall@5, recall@10 and MRR, without a judge (`make retrieval`).

Ours is the search for conversations as a user gets it: the entries of a set are the turns of the index, and
`conversation_query.answer` is asked, with vectors where an embedder is named. The floor beside it is bare FTS5 with the
porter tokenizer, the OR of the question's words without stop words, on the same texts. `recall` is the share of the
answering entries (or threads) that are among the first k, averaged over the questions; `any` counts a question as found
when one of them is. "within": an index for each conversation; "pooled": one for the whole set.

    python -m tests.bench.retrieval [SET …] [--within | --pooled] [--embedder minilm]
"""

from __future__ import annotations

import argparse
import os
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from core.base.entry import Embed, Entry
from core.base.result import Ok, attempt
from core.search import kept_vectors
from core.search.candidates import EVERYTHING
from core.search.conversation_query import answer
from core.search.conversations import HEADING, Held, Piece, open_or_make, put, writing
from core.search.kept_vectors import embed_one
from core.search.query import Answer
from core.search.words import STOP_WORDS, words_of
from tests.bench.minilm import minilm
from tests.bench.retrieval_sets import POOLED, SETS, Asked, Collection, is_there

if TYPE_CHECKING:
    from core.search.conversations import Database

DEPTH = 10
EMBEDDER = "minilm"
PUBLISHED = (
    "published, LoCoMo sessions within one conversation: MemPalace (large embedding, hybrid) recall@10 92.4;"
    " deja-vu, any evidence, recall@5 85.7, MRR 0.766"
)
GOALS = {("locomo", "within", "entries"): (78.0, 86.0), ("locomo", "within", "threads"): (94.0, 97.0)}
Finder = Callable[[Asked], Sequence[str]]


class Score(NamedTuple):
    """Percentages; `queries` is how many questions stand behind them, `spread` the standard deviation of recall@10
    over the collections."""

    recall5: float
    recall10: float
    any5: float
    any10: float
    mrr: float
    queries: int
    spread: float


def scored(groups: Iterable[Iterable[tuple[Sequence[str], frozenset[str]]]]) -> Score:
    """Judge answers (best first) against what was wanted, collection by collection."""
    rows: list[tuple[float, float, float, float, float]] = []
    by_group = []
    for group in groups:
        start = len(rows)
        for got, wanted in group:
            first5, first10 = wanted & set(got[:5]), wanted & set(got[:DEPTH])
            rank = next((1 / at for at, key in enumerate(got[:DEPTH], start=1) if key in wanted), 0.0)
            share5, share10 = len(first5) / len(wanted), len(first10) / len(wanted)
            rows.append((share5, share10, float(bool(first5)), float(bool(first10)), rank))
        if len(rows) > start:
            by_group.append(100 * statistics.fmean(row[1] for row in rows[start:]))
    means = [100 * statistics.fmean(column) for column in zip(*rows, strict=True)]
    return Score(*means, len(rows), statistics.pstdev(by_group))


class Shelf(NamedTuple):
    """An index of conversations with the entries of a set: a turn for each, a conversation for each thread; `keys` are
    those of the entries by the number of the conversation and the position, `threads` the names by that number."""

    database: Database
    keys: dict[tuple[int, int], str]
    threads: dict[int, str]


@contextmanager
def shelf(entries: Sequence[Entry], embed: Embed | None = None) -> Iterator[Shelf]:
    """The index that a user's search would ask if these were their conversations."""
    talks: dict[str, list[Entry]] = {}
    for entry in entries:
        talks.setdefault(entry.thread, []).append(entry)
    keys, threads = {}, {}
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # a thousand small indexes wait for the disk else
    with tempfile.TemporaryDirectory(prefix="knowledge-retrieval-", dir=memory) as place:
        folder = Path(place)
        database = open_or_make(folder)
        with writing(database, folder):
            for number, (name, turns) in enumerate(talks.items(), start=1):
                threads[number] = name
                keys |= {(number, turn.position): turn.key for turn in turns if turn.position != HEADING}
                row = Held(number, name, "kept", name, "set", project=turns[0].project, turns=len(turns))
                pieces = [Piece(turn.position, turn.role, turn.date, turn.text, turn.title) for turn in turns]
                put(database, row, pieces)
        if embed is not None:
            kept_vectors.build(folder, EMBEDDER, embed)
        yield Shelf(database, keys, threads)
        database.close()


def meaning(database: Database, text: str, embed: Embed | None) -> Mapping[int, float] | None:
    """What vectors say about a question."""
    query = attempt(embed_one, text, embed) if embed is not None else None
    return kept_vectors.near(database, EMBEDDER, query.value) if isinstance(query, Ok) else None


@contextmanager
def ours(entries: Sequence[Entry], embed: Embed | None = None) -> Iterator[tuple[Finder, Finder]]:
    """The product's search over these entries: for turns and for conversations; with `embed`, by meaning too."""
    with shelf(entries, embed) as (database, keys, threads):

        @cache
        def answered(text: str) -> Answer:
            return answer(database, text, EVERYTHING, DEPTH, meaning(database, text, embed))

        def find(asked: Asked) -> list[str]:
            rows = [one.seen.row for one in answered(asked.text).ranked[: 3 * DEPTH]]
            found = [keys[int(row.thread), row.position] for row in rows if row.position != HEADING]
            return [key for key in found if key != asked.own][:DEPTH]

        def find_threads(asked: Asked) -> list[str]:
            return [threads[int(hit.thread)] for hit in answered(asked.text).threads]

        yield find, find_threads


@contextmanager
def floor(entries: list[Entry]) -> Iterator[tuple[Finder, Finder]]:
    """Bare FTS5 over the same texts, and over whole threads."""
    database = sqlite3.connect(":memory:")
    whole: dict[str, list[str]] = {}
    entries = [entry for entry in entries if entry.position != HEADING]
    for entry in entries:
        whole.setdefault(entry.thread, []).append(f"{entry.title} {entry.text}")
    tables = {
        "entries": [(entry.key, f"{entry.title} {entry.text}") for entry in entries],
        "threads": [(name, " ".join(texts)) for name, texts in whole.items()],
    }
    for table, rows in tables.items():
        database.execute(f"CREATE VIRTUAL TABLE {table} USING fts5(key UNINDEXED, text, tokenize='porter unicode61')")
        database.executemany(f"INSERT INTO {table} VALUES (?, ?)", rows)

    def finder(table: str) -> Finder:
        def find(asked: Asked) -> list[str]:
            words = [word for word in words_of(asked.text) if word not in STOP_WORDS] or words_of(asked.text)
            match = " OR ".join(f'"{word}"' for word in dict.fromkeys(words))
            sql = f"SELECT key FROM {table} WHERE {table} MATCH ? ORDER BY rank LIMIT ?"
            found = [row[0] for row in database.execute(sql, (match, DEPTH + 1))] if match else []
            return [key for key in found if key != asked.own][:DEPTH]

        return find

    yield finder("entries"), finder("threads")
    database.close()


def pools(collections: list[Collection], pooled: bool) -> list[tuple[list[Entry], list[Asked]]]:
    """What is indexed together, with the questions put to it."""
    if not pooled:
        return [(one.entries, one.asked) for one in collections if one.asked]
    return [
        ([entry for one in collections for entry in one.entries], [row for one in collections for row in one.asked])
    ]


def measured(name: str, pooled: bool, embedder: str = "") -> Iterator[tuple[str, str, Score]]:
    """(unit, whose, score) for one set."""
    collections = list(SETS[name]())
    groups = pools(collections, pooled)
    of_entry = {entry.key: entry.thread for one in collections for entry in one.entries}
    by_threads = len({entry.thread for entry in groups[0][0]}) > 1
    makers = {"bare FTS5": floor, "ours": ours}
    if embedder:
        makers[f"+{embedder}"] = partial(ours, embed=minilm())
    for whose, make in makers.items():
        answers: dict[str, list[list[tuple[Sequence[str], frozenset[str]]]]] = {"entries": [], "threads": []}
        for entries, asked in groups:
            with make(entries) as (find, threads):
                answers["entries"].append([(find(one), one.answers) for one in asked])
                if by_threads and name != "molweni":
                    wanted = [frozenset(of_entry[key] for key in one.answers) for one in asked]
                    answers["threads"].append([(threads(one), keys) for one, keys in zip(asked, wanted, strict=True)])
        for unit, rows in answers.items():
            if rows:
                yield unit, whose, scored(rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 1 where a goal is missed, 0 where the sets are not there."""
    parser = argparse.ArgumentParser(prog="retrieval")
    parser.add_argument("sets", nargs="*", default=[], metavar="SET", help=", ".join(SETS))
    parser.add_argument("--within", action="store_true", help="only within one conversation")
    parser.add_argument("--pooled", action="store_true", help="only all conversations together")
    parser.add_argument("--embedder", default="", choices=("", "minilm"), help="also with vectors")
    options = parser.parse_args(arguments)
    scopes = [scope for scope in ("within", "pooled") if getattr(options, scope)] or ["within", "pooled"]
    present = [name for name in options.sets or SETS if is_there(name)]
    if not present:
        print("no retrieval sets beside the project: nothing is measured")
        return 0
    print(
        f"{'set':<10} {'scope':<7} {'unit':<8} {'who':<10} {'r@5':>6} {'r@10':>6} {'any@5':>6} {'any@10':>6} {'MRR':>6}"
    )
    missed = 0
    for name in present:
        for scope in ["pooled"] if name in POOLED else scopes:
            began = time.perf_counter()
            for unit, whose, score in measured(name, scope == "pooled", options.embedder):
                goal = GOALS.get((name, scope, unit)) if whose != "bare FTS5" else None
                short = goal is not None and (score.recall5 < goal[0] or score.recall10 < goal[1])
                missed += short
                note = f"  goal {goal[0]:g} / {goal[1]:g}: {'MISSED' if short else 'met'}" if goal else ""
                print(
                    f"{name:<10} {scope:<7} {unit:<8} {whose:<10} {score.recall5:6.1f} {score.recall10:6.1f}"
                    f" {score.any5:6.1f} {score.any10:6.1f} {score.mrr / 100:6.3f}"
                    f"  {score.queries} questions, spread {score.spread:.1f}{note}",
                    flush=True,
                )
            print(f"{'':<10} {time.perf_counter() - began:.0f} s")
    print(PUBLISHED)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
