"""What a harvest costs beside what it cannot do without: reading and hashing every byte, a synced record for each
conversation, the calls of the model; and that a store costs no more for each conversation when it is large."""

from __future__ import annotations

import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from core.base import disk, files
from tests.bench import ROUNDS, Row, ratio, seconds_of, tell
from tests.harvest_world import FakeModel, World, ordinary

CONVERSATIONS = 10_000
BYTES = 40_000
HARVESTS = 250


@contextmanager
def place() -> Iterator[Path]:
    """A folder for a while."""
    with tempfile.TemporaryDirectory(prefix="knowledge-bench-") as folder:
        yield Path(folder)


def figures() -> Iterator[Row]:
    with place() as folder:
        yield from dry_run_figures(folder)
    yield from commit_figures()
    yield from growth_figures()
    yield from waiting_figures()


# --- the dry run -----------------------------------------------------------------------------------------------------


def dry_run_figures(folder: Path) -> Iterator[Row]:
    """A new process each time: what a user waits for."""
    home = folder / "home"
    make_conversations(home / "conversations")
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache"), "XDG_CONFIG_HOME": str(folder / "config")}
    environment["PYTHONPYCACHEPREFIX"] = str(folder / "compiled")  # as an installed program has it
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    root = Path(__file__).resolve().parents[2]
    words = [sys.executable, "-m", "core", "harvest", "--home", str(home)]
    place = str(home / "conversations")

    def dry_run() -> None:
        done = subprocess.run(words, cwd=root, env=environment, capture_output=True, text=True, check=True)
        assert f"harvest:{CONVERSATIONS}" in done.stdout, done.stdout

    def dry_run_anew() -> None:
        shutil.rmtree(folder / "cache", ignore_errors=True)
        dry_run()

    def hash_all() -> None:
        command = f"find '{place}' -type f -print0 | xargs -0 openssl dgst -sha256 > /dev/null"
        subprocess.run(command, shell=True, check=True)

    def list_all() -> None:
        with open(os.devnull, "w") as nowhere:
            subprocess.run(["find", place, "-printf", "%p %s %T@ %i\\n"], stdout=nowhere, check=True)

    dry_run()
    name = f"dry run of {CONVERSATIONS} conversations of {BYTES // 1000} KB"
    yield f"{name} / openssl dgst -sha256 of them", ratio(dry_run_anew, hash_all), 1.3
    yield f"{name}, unchanged / find -printf", ratio(dry_run, list_all), 6


def make_conversations(folder: Path) -> None:
    folder.mkdir(parents=True)
    letters = random.Random(1)
    for number in range(CONVERSATIONS):
        text = f"User: talk {number}\n" + f"{letters.random()} words of a conversation\n" * (BYTES // 40)
        (folder / f"talk-{uuid.UUID(int=letters.getrandbits(128), version=4)}").write_text(text[:BYTES])
    time.sleep(2.5)  # files younger than that are hashed again, whatever their times say


# --- committing ------------------------------------------------------------------------------------------------------


def commit_figures() -> Iterator[Row]:
    """Time outside the model per conversation beside one record that is synced for each, as a database without group
    commit would; and how many syncs it takes."""
    ratios, most = [], 0.0
    for _ in range(ROUNDS):
        with place() as folder:
            most = max(most, counted_syncs(prepared(folder / "counted")) / HARVESTS)
            ours = timed_harvest(prepared(folder / "ours"))
            floor = timed_records(folder / "floor")
        ratios.append(ours / floor)
        tell([ours, floor])
    yield "time of a commit outside the model / a synced record of 3 KB for each", statistics.median(ratios), 6
    yield "syncs for a conversation with lines for 4 files", most, 2


def prepared(folder: Path) -> World:
    """A store with files in it, and conversations to harvest."""
    world = World(folder)
    world.converse("first")
    world.run(FakeModel())
    text = "User: why is the build slow?\n\nAssistant: " + "The key of the cache has the date in it. " * 10 + "\n\n"
    for number in range(HARVESTS):
        world.converse(f"User: talk {number}\n{text * 8}")
    os.sync()
    return world


def answering(number: int, prompt: str) -> dict[str, Any]:
    return {**ordinary(number, prompt), "questions": [f"Why is that so, {number}?"], "tasks_done": []}


def timed_harvest(world: World) -> float:
    """Seconds of a whole run with a model that answers at once."""
    started = time.perf_counter()
    report = world.run(FakeModel(answering))
    seconds = time.perf_counter() - started
    assert report.harvested == HARVESTS and not report.errors
    return seconds


def counted_syncs(world: World) -> int:
    """How often such a run waits for the disk."""
    with patch.object(files, "sync", wraps=files.sync) as syncs:
        world.run(FakeModel(answering))
    return syncs.call_count


def timed_records(path: Path) -> float:
    """Seconds for one synced record a conversation, and nothing else."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    started = time.perf_counter()
    for _ in range(HARVESTS):
        os.write(fd, b"x" * 3000)
        os.fdatasync(fd)
    seconds = time.perf_counter() - started
    os.close(fd)
    return seconds


# --- a store that grows ----------------------------------------------------------------------------------------------


def growth_figures() -> Iterator[Row]:
    """Bytes for one conversation of 5 KB, in a small store and in larger ones: nothing is written or read again for
    each of them."""
    first: tuple[float, float] | None = None
    for number in (1000, 4000, *([16_000] if os.environ.get("BENCH_WHOLE") else [])):
        written, read = bytes_for_each(number)
        tell([written, read])
        first = first or (written, read)
        yield f"bytes written for a conversation of 5 KB, {number} in a run / 1000", written / first[0], 1.1
        yield f"bytes read for it, {number} in a run / 1000", read / first[1], 1.1


def bytes_for_each(number: int) -> tuple[float, float]:
    """Bytes written and read for each of that many conversations, each giving a fact, a decision and a task."""
    counted, real = Counter[str](), disk.perform

    def perform(name: str, call: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        done = real(name, call, *arguments, **named)
        if name in ("read", "write"):
            counted[name] += done if name == "write" else len(done)
        return done

    with place() as folder:
        world = World(folder)
        for one in range(number):
            world.converse(f"User: talk {one}\n\nAssistant: " + f"{one} words of a conversation. " * 180)
        with patch.object(disk, "perform", perform):
            assert world.run(FakeModel(answering)).harvested == number
    return counted["write"] / number, counted["read"] / number


# --- slow answers ----------------------------------------------------------------------------------------------------

CALLS, JOBS = 200, 8


def waiting_figures() -> Iterator[Row]:
    """A run whose calls take very different times, beside the calls alone, each begun as soon as a worker is free."""
    letters = random.Random(7)
    seconds = [min(1.0, letters.lognormvariate(-2.6, 1.0)) for _ in range(CALLS)]
    seconds[5] = seconds[150] = 1.0

    def answer(number: int, prompt: str) -> dict[str, Any]:
        time.sleep(seconds[int(prompt.split("talk ")[1].split()[0])])
        return answering(number, prompt)

    ratios = []
    for _ in range(ROUNDS):
        with place() as folder:
            world = World(folder)
            for one in range(CALLS):
                world.converse(f"User: talk {one} \n\nAssistant: Noted.\n")
            started = time.perf_counter()
            assert world.run(FakeModel(answer), jobs=JOBS).harvested == CALLS
            ours = time.perf_counter() - started
        with ThreadPoolExecutor(JOBS) as pool:
            ratios.append(ours / seconds_of(lambda: list(pool.map(time.sleep, seconds))))
        tell(ratios)
    yield f"a run with {JOBS} jobs and answers of uneven length / its calls alone", statistics.median(ratios), 1.25
