"""A home that can be put back, again and again, to the state before a command; and that command, run for real."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import tempfile
from collections import Counter as Count
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

from core.base import disk
from core.cli.main import main
from core.commands.workspace import Workspace, open_workspace
from core.knowledge.swap import EDITOR_WAIT
from tests.harvest_world import FakeModel, World, ordinary, sha256

OLD_DAYS = 30
"""How long before now a scenario's past lies: longer than the grace period of the trash."""

Rows = dict[str, Any]


def rich(store: Store, number: int) -> Rows:
    """An answer with a row for most files, one note on a file and one on a file that is nowhere."""
    note = {"path": str(store.folder / "code.py"), "note": f"note {number}"}
    return {**ordinary(number, ""), "files": [note, {"path": "/nowhere", "note": f"lost {number}"}]}


def plain(store: Store, number: int) -> Rows:
    """An answer with one row for a file that is appended to and one for tasks.md."""
    return {"facts": [f"Fact {number} about the cache"], "tasks_open": [f"Write part {number}"]}


@dataclass(frozen=True)
class Scenario:
    """What stands on the disk (`build`), and what a user then does (`act`, an exit status), at whose every operation
    a fault is put. `adapt` runs whenever the state is put back: for what depends on inodes.

    `answer` makes the rows of a model's answer from a number that no other answer has. `days` is how long ago the past
    lies. `again` is what the user does after a crash before the next harvest; `drained` says that this harvest leaves
    no conversation in its place; `may_go` are lines that the act takes out or changes by intent; `wrong` finds what
    else is wrong at the end, `wrong_then` after `again`.
    """

    name: str
    build: Callable[[Store], None]
    act: Callable[[Store], int]
    answer: Callable[[Store, int], Rows] = rich
    adapt: Callable[[Store], None] = lambda store: None
    again: Callable[[Store], int] | None = None
    drained: bool = True
    days: int = OLD_DAYS
    may_go: Callable[[Store], set[str]] = lambda store: set()
    wrong: Callable[[Store], list[str]] = lambda store: []
    wrong_then: Callable[[Store], list[str]] = lambda store: []


Kept = list[tuple[str, bytes | None, int, int]]
"""All that is below a folder: path, bytes (None for a folder), permissions, time of change in nanoseconds."""


def keep(folder: Path) -> Kept:
    """Remember a folder; every folder stands before what is in it."""
    kept: Kept = []
    for root, folders, names in os.walk(folder):
        for name in [*folders, *names]:
            path = f"{root}/{name}"
            found = os.lstat(path)
            data = None if name in folders else Path(path).read_bytes()
            kept.append((path, data, found.st_mode & 0o7777, found.st_mtime_ns))
    return kept


def look(folder: Path) -> dict[str, bytes]:
    """The bytes of every file below a folder, by its path in it."""
    skipped = len(str(folder)) + 1
    found = {}
    for root, _, names in os.walk(folder):
        for name in names:
            with open(f"{root}/{name}", "rb") as file:
                found[f"{root}/{name}"[skipped:]] = file.read()
    return found


def held(seen: dict[str, bytes]) -> Count[str]:
    """The conversations that exist, in their place or in the trash, by hash."""
    talks = ("home/conversations/talk-", "home/conversations/.trash/")
    splits = "home/conversations/.trash/split."
    return Count(sha256(data) for name, data in seen.items() if name.startswith(talks) and not name.startswith(splits))


@dataclass
class Store:
    """One scenario at one place. `memory` is what `build` remembers for `act`; `talks` counts the conversations by
    hash, `mine` holds the files that were there before, `standing_before` the hashes of conversations that stood in
    their place. `loose_copies` allows a second copy of a conversation: a power cut may keep both names of one that was
    moved.
    """

    scenario: Scenario
    folder: Path
    memory: dict[str, Any] = field(default_factory=dict)
    talks: Count[str] = field(default_factory=Count)
    mine: dict[str, bytes] = field(default_factory=dict)
    _kept: Kept = field(default_factory=list)
    run_number: int = 1
    loose_copies: bool = False

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.world = World(self.folder)
        self.world.clock = datetime.now(UTC) - timedelta(days=self.scenario.days)
        settings = f'provider = "openai"\nfile_roots = ["{self.folder}"]\n'
        (self.folder / "config.toml").write_text(f"[ai_settings.knowledge]\n{settings}")
        self.scenario.build(self)
        self.world.clock = datetime.now(UTC)
        self._kept = keep(self.folder)
        self.mine = look(self.folder)
        self.talks = held(self.mine)
        place = "home/conversations/talk-"
        self.standing_before = {sha256(data) for path, data in self.mine.items() if path.startswith(place)}
        self.may_go = self.scenario.may_go(self)

    def put_back(self, kept: Kept | None = None) -> None:
        """The state before the act, or another one that was kept, byte for byte, with new inodes."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(mode=0o700)
        for path, data, mode, mtime in self._kept if kept is None else kept:
            if data is None:
                os.mkdir(path, mode)
                continue
            fd = os.open(path, os.O_WRONLY | os.O_CREAT, mode)
            os.write(fd, data)
            os.utime(fd, ns=(mtime, mtime))
            os.close(fd)
        if kept is None:
            self.scenario.adapt(self)

    def standing(self) -> list[Path]:
        """The conversations in their place."""
        return sorted(self.world.paths.conversations.glob("talk-*"))

    def model(self) -> FakeModel:
        """A model that says in each run what it has never said before, with a note on a file and one that has none."""
        self.run_number += 1
        number = self.run_number * 100
        return FakeModel(lambda asked, prompt: self.scenario.answer(self, number + asked))

    def command(self, *words: str) -> int:
        """`knowledge WORDS` in this home; its exit status."""
        places = ["--home", str(self.world.paths.home), "--config", str(self.folder / "config.toml")]
        own = {"XDG_CACHE_HOME": str(self.folder / "cache"), "CLAUDE_CONFIG_DIR": str(self.folder / "claude")}
        with patch.dict(os.environ, own):
            return main([*words, *places])

    def harvest(self) -> int:
        """`knowledge harvest --apply` with the model of this run."""
        with patch("core.commands.harvest.connect_or_refuse", lambda *_: self.model()):
            return self.command("harvest", "--apply")

    def workspace(self) -> Workspace:
        """What the panel hands to a command."""
        environment = {"XDG_CACHE_HOME": str(self.folder / "cache")}
        return open_workspace(str(self.world.paths.home), self.folder / "config.toml", environment)


class AtOnce:
    """Stands in for a pool of threads: work is done when it is handed in, so that operations have one order."""

    def __init__(self, *_: Any) -> None:
        pass

    def __enter__(self) -> AtOnce:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def submit(self, work: Callable[..., Any], *arguments: Any) -> Future[Any]:
        done: Future[Any] = Future()
        done.set_result(work(*arguments))
        return done


@contextlib.contextmanager
def quick() -> Iterator[None]:
    """No waiting for editors, no threads, no folder of the machine's own: every point is alike."""
    before = {name: getattr(EDITOR_WAIT, name) for name in ("missing", "settle", "swap_file")}
    with (
        patch("core.harvest.pipeline.ThreadPoolExecutor", AtOnce),
        patch("core.sources.artifact.SETTLED_NS", -(1 << 62)),  # the cache of hashes is always written
        patch("core.commands.harvest._make_ready", lambda *_: None),  # an index in the cache: SQLite writes it
        patch("core.harvest.named_paths.FORBIDDEN_ROOTS", ()),  # the homes of a campaign may lie below /dev/shm
    ):
        for name in before:
            object.__setattr__(EDITOR_WAIT, name, 0.0)
        try:
            yield
        finally:
            for name, value in before.items():
                object.__setattr__(EDITOR_WAIT, name, value)


@contextlib.contextmanager
def performing(perform: Callable[..., Any]) -> Iterator[tuple[io.StringIO, io.StringIO]]:
    """Let `perform` make the system calls, and catch what the command says."""
    out, err = io.StringIO(), io.StringIO()
    with (
        patch.object(disk, "perform", perform),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        yield out, err


def place() -> Path:
    """A folder for a campaign: in memory where there is such a disk."""
    memory = Path("/dev/shm")
    usable = memory.is_dir() and os.access(memory, os.W_OK)
    return Path(tempfile.mkdtemp(prefix="knowledge-faults-", dir=memory if usable else None))
