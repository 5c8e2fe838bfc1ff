"""100,000 entries: query, one update and a rebuild beside bare FTS5 on the same rows, in the same run; and queries to
100,000 turns of real talk, where it lies beside the project.

Bare FTS5 is one external-content table with the porter tokenizer, its rows inserted in one transaction and queried by
`a OR b OR c ORDER BY rank LIMIT 10`, the texts fetched. It has no filters, no provenance, no check of its sources.
"""

from __future__ import annotations

import random
import shutil
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from core.base.entry import Entry, SearchSource
from core.search.candidates import EVERYTHING
from core.search.conversation_query import answer
from core.search.index import open_index
from core.search.query import search
from core.search.words import STOP_WORDS, words_of
from tests.bench import Row, answered, printed, seconds_of
from tests.bench.retrieval import shelf
from tests.bench.retrieval_sets import SETS, is_there

ENTRIES = 100_000
IN_ONE_FILE = 200
QUERIES = 60
ROUNDS = 3


def made_words(number: int = 30_000) -> list[str]:
    """Words of two to four syllables; those in front are used most, as in any language."""
    dice = random.Random(7)
    syllables = [a + b for a in "bcdfghklmnprstvw" for b in ("a", "e", "i", "o", "u", "an", "er", "ing")]
    words: dict[str, None] = {}
    while len(words) < number:
        words["".join(dice.choice(syllables) for _ in range(dice.randint(2, 4)))] = None
    return list(words)


def made_texts(number: int) -> list[str]:
    """Statements of about 123 characters."""
    dice, words = random.Random(11), made_words()
    weights = [1 / (rank + 10) for rank in range(len(words))]
    chosen = iter(dice.choices(words, weights, k=number * 16))
    return [" ".join(next(chosen) for _ in range(16)) for _ in range(number)]


def parsed(at: int, data: bytes) -> Sequence[Entry]:
    """The entries of one file of the bench: a line each."""
    return [
        Entry("bullet", f"{at}:{number}", "", line, "2026-06-12", f"[from: talk-{at}, 2026-06-12]")
        for number, line in enumerate(data.decode("ascii").split("\n"), start=1)
    ]


def _bare(path: Path, texts: Sequence[str]) -> sqlite3.Connection:
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("CREATE TABLE rows(id INTEGER PRIMARY KEY, key TEXT, text TEXT, date TEXT, provenance TEXT)")
    database.execute(
        "CREATE VIRTUAL TABLE words USING fts5(text, provenance, content='rows', content_rowid='id', "
        "tokenize='porter unicode61')"
    )
    database.execute("BEGIN")
    rows = []
    for number, text in enumerate(texts, start=1):
        file, at = divmod(number, IN_ONE_FILE)
        rows.append((number, f"{file}:{at}", text, "2026-06-12", f"[from: talk-{file}, 2026-06-12]"))
    database.executemany("INSERT INTO rows VALUES (?, ?, ?, ?, ?)", rows)
    database.executemany(
        "INSERT INTO words(rowid, text, provenance) VALUES (?, ?, ?)", ((r[0], r[2], r[4]) for r in rows)
    )
    database.execute("COMMIT")
    return database


def bare_query(database: sqlite3.Connection, text: str) -> None:
    match = " OR ".join(f'"{word}"' for word in text.split())
    database.execute(
        "SELECT rows.* FROM words JOIN rows ON rows.id = words.rowid WHERE words MATCH ? ORDER BY rank LIMIT 10",
        (match,),
    ).fetchall()


def _bare_update(database: sqlite3.Connection, text: str) -> tuple[float, float]:
    """Seconds for one insert with its commit, and for the commit of one row alone."""
    began = time.perf_counter()
    database.execute("BEGIN")
    number = database.execute("INSERT INTO rows(text) VALUES (?)", (text,)).lastrowid
    database.execute("INSERT INTO words(rowid, text) VALUES (?, ?)", (number, text))
    committed = time.perf_counter()
    database.execute("COMMIT")
    end = time.perf_counter()
    return end - began, end - committed


def talk(number: int) -> tuple[list[Entry], list[str]]:
    """Turns of real conversations, repeated until there are so many, and three telling words of each question."""
    turns, asked = [], []
    dice = random.Random(5)
    for name in ("locomo", "friendsqa", "qmsum", "coding"):
        for one in SETS[name]() if is_there(name) else ():
            turns += one.entries
            for question in one.asked:
                words = [word for word in words_of(question.text) if word not in STOP_WORDS and len(word) > 2]
                asked += [" ".join(dice.sample(words, 3))] if len(words) > 2 else []
    copies = range(-(-number // len(turns))) if turns else ()
    every = [
        turn._replace(key=f"{copy}:{turn.key}", thread=f"{copy}:{turn.thread}") for copy in copies for turn in turns
    ]
    return every[:number], asked


def turn_figures(folder: Path) -> Iterator[Row]:
    """The ratio of a query for conversations to bare FTS5 on the same turns."""
    turns, asked = talk(ENTRIES)
    if not turns:
        print("     no real talk beside the project: queries to it are not measured")
        return
    bare = _bare(folder / "talk.db", [f"{turn.title} {turn.text}" for turn in turns])
    chosen = random.Random(7).sample(asked, QUERIES)
    with shelf(turns) as (database, _, _):
        one, other = answered(chosen, lambda text: answer(database, text, EVERYTHING, 10), partial(bare_query, bare))
    bare.close()
    print(f"     query of three words to {len(turns):,} turns: {one * 1000:.2f} ms, bare {other * 1000:.2f} ms")
    yield "search: conversations by three words, real turns / bare FTS5", one / other, 1.5


def figures() -> Iterator[Row]:
    """Ratios to bare FTS5, and the milliseconds that an update takes beyond a commit."""
    with tempfile.TemporaryDirectory(prefix="knowledge-bench-") as folder:
        yield from turn_figures(Path(folder))
        yield from _figures(Path(folder))


def _figures(folder: Path) -> Iterator[Row]:
    texts = made_texts(ENTRIES)
    sources = []
    for at in range(ENTRIES // IN_ONE_FILE):
        path = folder / f"{at}.txt"
        path.write_text("\n".join(texts[at * IN_ONE_FILE : (at + 1) * IN_ONE_FILE]), encoding="ascii")
        sources.append(SearchSource(str(at), path, partial(parsed, at)))
    time.sleep(2.1)  # files that were just written would be looked at twice
    ours: list[float] = []
    bare: list[float] = []
    for number in range(ROUNDS):
        shutil.rmtree(folder / "cache", ignore_errors=True)
        ours.append(seconds_of(lambda: open_index(folder / "cache", lambda: sources).close()))
        bare.append(seconds_of(lambda number=number: _bare(folder / f"bare-{number}.db", texts).close()))  # type: ignore[misc]
    print(f"     rebuild {min(ours):.2f} s, bare {min(bare):.2f} s")
    yield "search: rebuild of 100,000 entries / bare FTS5", min(ours) / min(bare), 1.5
    database = sqlite3.connect(folder / "bare-0.db", isolation_level=None)
    index = open_index(folder / "cache", lambda: sources)
    dice, words = random.Random(3), made_words()
    for name, pool in (("words of every kind", words[:6000]), ("frequent words", words[:200])):
        asked = [" ".join(dice.sample(pool, 3)) for _ in range(QUERIES)]
        for text in asked:  # once for the caches of both
            search(index, text)
            bare_query(database, text)
        one, other = answered(asked, partial(search, index), partial(bare_query, database))
        print(f"     query of three {name}: {one * 1000:.2f} ms, bare {other * 1000:.2f} ms")
        yield f"search: query of three {name} / bare FTS5", one / other, 1.5
    index.close()
    beyond, looks = [], []
    for number in range(9):
        path = sources[number * 50].path
        path.write_text(path.read_text("ascii") + f"\n{texts[number]} again", encoding="ascii")
        took = seconds_of(lambda: open_index(folder / "cache", lambda: sources).close())
        _, commit = _bare_update(database, texts[number])
        beyond.append((took - commit) * 1000)
        looks.append(seconds_of(lambda: open_index(folder / "cache", lambda: sources).close()) * 1000)
    print(f"     opening with nothing to do, {len(sources)} files: {statistics.median(looks):.1f} ms")
    yield "search: milliseconds of one update beyond the commit", statistics.median(beyond), 20


if __name__ == "__main__":
    printed(figures())
