"""What a harvest costs beside what it cannot do without: reading and hashing every byte, and syncing every write."""

from __future__ import annotations

import os
import random
import shutil
import stat
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

from core.base import files
from tests.harvest_world import FakeModel, World, ordinary

Row = tuple[str, float, float]
CONVERSATIONS = 10_000
BYTES = 40_000
ROUNDS = 5
HARVESTS = 250


def figures() -> Iterator[Row]:
    folder = Path(tempfile.mkdtemp(prefix="knowledge-bench-"))
    try:
        yield from dry_run_figures(folder)
    finally:
        shutil.rmtree(folder)
    yield from commit_figures()


# --- the dry run -----------------------------------------------------------------------------------------------------


def dry_run_figures(folder: Path) -> Iterator[Row]:
    """A new process each time: what a person waits for."""
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

Write = tuple[str, str, int]
"""append, new or folder; the file; the bytes that were written to it before this sync."""


def commit_figures() -> Iterator[Row]:
    """Time outside the model per conversation beside its durable writes alone, and how many syncs that takes."""
    ratios, most = [], 0.0
    for _ in range(ROUNDS):
        folder = Path(tempfile.mkdtemp(prefix="knowledge-bench-"))
        try:
            writes = recorded_writes(prepared(folder / "counted"))
            ours = timed_harvest(prepared(folder / "ours"))
            floor = timed_writes(folder / "floor", writes)
        finally:
            shutil.rmtree(folder)
        ratios.append(ours / floor)
        most = max(most, len(writes) / HARVESTS)
        tell([ours, floor])
    yield (
        "time of a commit outside the model / as many syncs after writes of equal size",
        statistics.median(ratios),
        1.6,
    )
    yield "syncs for a conversation with lines for 4 files", most, 4 + 4


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


def recorded_writes(world: World) -> list[Write]:
    """What such a run writes and syncs, in its order."""
    writes: list[Write] = []
    sizes: dict[str, int] = {}
    real = files.sync

    def recorded(fd: int, *, data_only: bool = False) -> None:
        path, found = os.readlink(f"/proc/self/fd/{fd}"), os.fstat(fd)
        name = path.rsplit("/", 1)[1]
        if stat.S_ISDIR(found.st_mode):
            writes.append(("folder", "", 0))
        elif files.TEMPORARY_MARK in path:
            writes.append(("new", name.split(".")[1], found.st_size))
        else:
            writes.append(("append", name, max(1, found.st_size - sizes.get(path, found.st_size - 200))))
            sizes[path] = found.st_size
        real(fd, data_only=data_only)

    with patch.object(files, "sync", recorded):
        world.run(FakeModel(answering))
    return writes


def timed_writes(folder: Path, writes: list[Write]) -> float:
    """The same writes and syncs, and nothing else."""
    folder.mkdir()
    place = os.open(folder, os.O_RDONLY)
    fds = {name: os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND) for kind, name, _ in writes if name}
    started = time.perf_counter()
    for kind, name, size in writes:
        if kind == "folder":
            os.fsync(place)
            continue
        fd = fds[name] if kind == "append" else os.open(folder / "new", os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        os.write(fd, b"x" * size)
        os.fsync(fd)
        if kind == "new":
            os.close(fd)
            os.rename(folder / "new", folder / name)
    seconds = time.perf_counter() - started
    for fd in (place, *fds.values()):
        os.close(fd)
    return seconds


def tell(seconds: list[float] | list[list[float]]) -> None:
    """The seconds themselves, for whoever wants to know where they go."""
    if os.environ.get("BENCH_SECONDS"):
        print(seconds, file=sys.stderr)


def ratio(ours: Callable[[], None], floor: Callable[[], None]) -> float:
    """The median of ours over the median of the floor, taken in turns: both see the same neighbours."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        for work, took in zip((ours, floor), times, strict=True):
            started = time.perf_counter()
            work()
            took.append(time.perf_counter() - started)
    tell([[round(second, 3) for second in took] for took in times])
    return statistics.median(times[0]) / statistics.median(times[1])
