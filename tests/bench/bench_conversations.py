"""The index of conversations: its first build, one grown session, and a query beside bare FTS5 on the same turns.

The conversations are made up below $TMPDIR, in Claude Code's format, and removed again: some 100 KB each, most of it
what tools gave back. `python -m tests.bench.bench_conversations 10000` makes 1 GB of them.
"""

from __future__ import annotations

import json
import os
import random
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from unittest.mock import patch

from core.base.result import Ok, attempt
from core.commands.conversations import find
from core.commands.transcript import index_folder, where_of
from core.commands.workspace import Workspace, open_workspace
from core.conversation_index import look
from core.search.candidates import EVERYTHING
from core.search.conversation_query import conversations
from core.search.conversations import open_sealed
from tests.bench import Row, answered, printed, seconds_of
from tests.bench.bench_search import bare_query, made_words

ROOT = Path(__file__).resolve().parents[2]
CONVERSATIONS = 300
QUERIES = 40
LARGE = 500_000
"""From so many turns on queries are compared: what the ranking costs grows no further, what the table costs does."""


def made_transcript(dice: random.Random, words: list[str], weights: list[float], number: int) -> bytes:
    """One session as Claude Code writes it, of 20 KB to 400 KB."""
    folder = f"/srv/work/project-{number % 40}"
    rows: list[bytes] = []
    at = 1_760_000_000 + number * 3000

    def say(count: int) -> str:
        return " ".join(dice.choices(words, weights, k=count))

    def add(kind: str, content: object, more: dict[str, object] | None = None) -> None:
        nonlocal at
        at += 17
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(at))
        value = {
            "parentUuid": None, "isSidechain": False, "cwd": folder,
            "sessionId": f"{number:08x}-0000-4000-8000-{number:012x}",
            "gitBranch": "main", "type": kind, "message": {"role": kind, "content": content},
            "uuid": f"u{number}-{len(rows)}", "timestamp": stamp, **(more or {}),
        }  # fmt: skip
        rows.append(json.dumps(value).encode() + b"\n")

    for _ in range(dice.randint(3, 16)):
        add("user", say(dice.randint(5, 60)))
        for _ in range(dice.randint(1, 5)):
            call = f"t{len(rows)}"
            path = f"{folder}/src/{dice.choice(words)}.py"
            given = {"command": f"pytest -q {path}"} if dice.random() < 0.5 else {"file_path": path}
            name = "Bash" if "command" in given else "Read"
            text = {"type": "text", "text": say(dice.randint(10, 80))}
            add("assistant", [text, {"type": "tool_use", "id": call, "name": name, "input": given}])
            lines = "\n".join(say(9) for _ in range(dice.randint(3, 60)))
            given_back = {"stdout": lines, "stderr": "", "interrupted": False}  # the tool writes it twice
            add("user", [{"type": "tool_result", "tool_use_id": call, "content": lines}], {"toolUseResult": given_back})
        add("assistant", [{"type": "text", "text": say(dice.randint(20, 200))}])
    return b"".join(rows)


def made_world(folder: Path, number: int) -> int:
    """This many conversations below a home folder; returns their bytes."""
    dice, words = random.Random(5), made_words(20_000)
    weights = [1 / (rank + 10) for rank in range(len(words))]
    cumulative: list[float] = []
    total = 0.0
    for weight in weights:
        total += weight
        cumulative.append(total)
    size = 0
    for at in range(number):
        place = folder / f".claude/projects/p{at % 40}"
        place.mkdir(parents=True, exist_ok=True)
        data = made_transcript(_Quick(dice, cumulative), words, weights, at)
        (place / f"{at:08x}-0000-4000-8000-000000000000.jsonl").write_bytes(data)
        size += len(data)
    return size


class _Quick(random.Random):
    """Dice that choose by sums which are counted once, and not for every word."""

    def __init__(self, dice: random.Random, sums: list[float]) -> None:
        super().__init__(dice.random())
        self._sums = sums

    def choices(self, population, weights=None, *, cum_weights=None, k=1):  # type: ignore[no-untyped-def]
        return super().choices(population, cum_weights=self._sums, k=k)


def figures(number: int = CONVERSATIONS) -> Iterator[Row]:
    """Ratios to bare FTS5, and milliseconds of one grown session beyond a commit."""
    with tempfile.TemporaryDirectory(prefix="knowledge-bench-") as place:
        folder = Path(place)
        own = {f"XDG_{name}_HOME": str(folder / name.lower()) for name in ("CACHE", "CONFIG", "DATA")}
        with patch.dict(os.environ, HOME=place, **own):
            yield from _figures(folder, number)


def _figures(folder: Path, number: int) -> Iterator[Row]:
    size = made_world(folder, number)
    time.sleep(2.1)  # files that were just written would be looked at twice
    program = [sys.executable, "-m", "core", "search", "--build"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    began = time.perf_counter()
    done = subprocess.run(program, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    took = time.perf_counter() - began
    estimate = next((line for line in done.stderr.splitlines() if "about" in line), "")
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    opened = open_workspace("", None, os.environ, folder)
    workspace = opened
    held = sum(path.stat().st_size for path in index_folder(workspace).iterdir())
    print(f"     {number:,} conversations, {size / 1e6:.0f} MB: built in {took:.0f} s, {size / took / 1e6:.1f} MB/s")
    print(f"     said before: {estimate}")
    print(f"     {held / 1e6:.0f} MB in the cache, {memory / 1e6:.0f} MB of memory at its peak; {done.stdout.strip()}")
    yield "conversations: bytes of the index / bytes of the files", held / size, 0.6
    yield "conversations: peak of memory in MB", memory / 1e6, 300
    yield from _queries(workspace, folder)
    yield from _grown(workspace, folder)


def _queries(workspace: Workspace, folder: Path) -> Iterator[Row]:
    database = open_sealed(index_folder(workspace))
    assert database is not None
    bare = sqlite3.connect(folder / "bare.db", isolation_level=None)
    bare.execute("CREATE TABLE rows(id INTEGER PRIMARY KEY, thread INTEGER, position INTEGER, date TEXT, text TEXT)")
    bare.execute(
        "CREATE VIRTUAL TABLE words USING fts5(text, content='rows', content_rowid='id', tokenize='porter unicode61')"
    )
    bare.execute("BEGIN")
    rows = database.execute("SELECT id, thread, position, date, text FROM turns")
    began = time.perf_counter()
    bare.executemany("INSERT INTO rows VALUES (?, ?, ?, ?, ?)", rows)
    bare.execute("INSERT INTO words(words) VALUES ('rebuild')")
    bare.execute("COMMIT")
    turns = database.execute("SELECT count(*) FROM turns").fetchone()[0]
    print(f"     bare FTS5 over the same {turns:,} turns: {time.perf_counter() - began:.0f} s")

    def ours(text: str) -> object:
        return conversations(database, text, EVERYTHING, 10)

    dice, words = random.Random(3), made_words(20_000)
    for name, pool in (("words of every kind", words[:6000]), ("frequent words", words[:200])):
        asked = [" ".join(dice.sample(pool, 3)) for _ in range(QUERIES)]
        for text in asked:  # once for the caches of both
            ours(text)
            bare_query(bare, text)
        one, other = answered(asked, ours, partial(bare_query, bare))
        print(f"     query of three {name}: {one * 1000:.1f} ms, bare {other * 1000:.1f} ms")
        if turns > LARGE:
            yield f"conversations: query of three {name} / bare FTS5", one / other, 1.5
    bare.close()
    database.close()


def _grown(workspace: Workspace, folder: Path) -> Iterator[Row]:
    """A session gets a question; the next look has it. What the look costs with nothing new is measured by itself,
    beside asking for each file once, which nothing that follows the files can do without."""
    where, _ = where_of(workspace)

    def looked() -> tuple[float, float]:
        """Seconds of the processor, and by the clock."""
        spent = time.process_time()
        took = seconds_of(lambda: look(where, 5.0)[0].close())  # type: ignore[union-attr]
        return time.process_time() - spent, took

    files = sorted((folder / ".claude/projects").rglob("*.jsonl"))
    probe = sqlite3.connect(folder / "probe.db", isolation_level=None)
    probe.execute("CREATE TABLE one(text TEXT)")
    idle, grown, commits, asked = [], [], [], []
    looked()
    for at in range(7):
        time.sleep(2.2)  # until the file of the last round counts as settled
        looked()
        idle.append(looked())
        spent = time.process_time()
        for path in files:
            os.lstat(path)
        asked.append(time.process_time() - spent)
        path = files[at * len(files) // 7]
        row = json.loads(path.read_bytes().rstrip().split(b"\n")[-1])
        row["message"] = {"role": "user", "content": f"grownword{at} and some more of it"}
        row["type"], row["uuid"] = "user", f"grown{at}"
        with path.open("ab") as file:
            file.write(json.dumps(row).encode() + b"\n")
        grown.append(looked())
        probe.execute("BEGIN IMMEDIATE")
        probe.execute("INSERT INTO one VALUES ('x')")
        commits.append(seconds_of(lambda: probe.execute("COMMIT")))
    found = attempt(find, workspace, "grownword6")
    assert isinstance(found, Ok) and len(found.value.hits) == 1, found
    probe.close()
    spent, least = statistics.median(row[0] for row in idle), statistics.median(asked)
    with_one = statistics.median(row[0] for row in grown)
    clock = statistics.median(
        row[1] - other[1] - commit for row, other, commit in zip(grown, idle, commits, strict=True)
    )
    print(f"     a look at {len(files):,} files with nothing new: {spent * 1000:.0f} ms of processor time, lstat alone"
          f" {least * 1000:.0f}; with one grown session {with_one * 1000:.0f}; a bare commit"
          f" {statistics.median(commits) * 1000:.0f} ms by the clock")  # fmt: skip
    yield "conversations: processor ms of one grown session, beyond a look", (with_one - spent) * 1000, 50
    yield "conversations: ms by the clock of one grown session, beyond a look and a commit", clock * 1000, 50
    yield "conversations: a look with nothing new / one lstat for each file, processor time", spent / least, 6


if __name__ == "__main__":
    printed(figures(int(sys.argv[1]) if len(sys.argv) > 1 else CONVERSATIONS))
