"""The ground on which the histories are played: one home, one step of it, and what must hold afterwards.

Every step of the program is a command line (`Told`); what leads inside stands in `stand_ins`, and the disk itself.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime, tzinfo
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import patch

from hypothesis.stateful import RuleBasedStateMachine, initialize

from core.base import disk
from core.knowledge.swap import EDITOR_WAIT
from tests.cli_call import call
from tests.faults.fault import Counter as Faults
from tests.faults.fault import Fault
from tests.harvest_world import FakeModel, World
from tests.histories.look import (
    Look,
    changed_by_command,
    changed_by_harvest,
    look,
    plan_lines,
    snapshot,
    torn,
)
from tests.histories.person import Person

STEPS: Counter[str] = Counter()
"""How often each step was taken in this process, for the report of a campaign."""
PLACE = "/dev/shm" if os.path.isdir("/dev/shm") else None
HURRIED = {"missing": 0, "settle": 0, "swap_file": 0, "sleep": lambda _: None}
"""Nobody waits for an editor."""


@contextmanager
def stand_ins(model: FakeModel | None, clock: datetime | None, wait: dict[str, Any]) -> Iterator[None]:
    """The seams: who stands in for the language model that the settings name, what time it is (None: what it is), and
    how long a run waits for an editor."""

    class Clock(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return clock if clock is not None else datetime.now(tz)

    with ExitStack() as stack:
        stack.enter_context(patch("core.commands.workspace.datetime", Clock))
        stack.enter_context(patch.dict(vars(EDITOR_WAIT), wait))
        if model is not None:
            stack.enter_context(patch("core.commands.harvest.connect_or_refuse", lambda *_: model))
        yield


@dataclass(frozen=True)
class Told:
    """What a command line gave: its exit status, its JSON document (None where it was refused) and its errors."""

    code: int
    document: Any
    err: str


SETTINGS = """[ai_settings.knowledge]
provider = "command"
command = ["nobody"]
file_roots = ["{folder}"]
max_run_tokens = 0
trash_days = 14
digest_max_bytes = 4096
jobs = 1
"""


class Face:
    """One home and the command line in front of it. Used as a context: inside, the folders of the user are there."""

    def __init__(self, folder: Path, wait: dict[str, Any] = HURRIED) -> None:
        self.world, self.wait = World(folder), wait
        self.config = folder / "config.toml"
        self.config.write_text(SETTINGS.format(folder=folder))
        names = {"HOME": "", "USERPROFILE": "", **{f"XDG_{name}_HOME": name.lower() for name in _XDG}}
        self._places = patch.dict(os.environ, {name: str(folder / below) for name, below in names.items()})

    def __enter__(self) -> Face:
        self._places.start()
        return self

    def __exit__(self, *rest: object) -> None:
        self._places.stop()

    def knowledge(self, *words: str, model: FakeModel | None = None, now: bool = False) -> Told:
        """One command line, asked for its JSON. `now`: at the time that it is, not at that of the world."""
        place = ("--home", str(self.world.paths.home), "--config", str(self.config), "--json")
        with stand_ins(model, None if now else self.world.clock, self.wait):
            code, out, err = call(*words, *place)
        assert "unexpected" not in err and "Traceback" not in err, err
        return Told(code, json.loads(out) if out else None, err)

    def listed(self, *words: str) -> list[Any]:
        """What a command lists."""
        told = self.knowledge(*words)
        assert told.code == 0 and isinstance(told.document, list), told
        return told.document

    def harvest(self, model: FakeModel, *words: str) -> Told:
        return self.knowledge("harvest", "--apply", *words, model=model)


_XDG = ("CACHE", "CONFIG", "DATA", "STATE")


class Between:
    """Stands in for `disk.perform`: before the `at`-th change of the disk somebody else does something."""

    def __init__(self, at: int, act: Callable[[], None]) -> None:
        self.at, self.act, self.seen, self.busy = at, act, 0, False

    def __call__(self, name: str, call: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        if not self.busy and name in disk.CHANGING:
            self.seen += 1
            if self.seen == self.at:
                self.busy = True
                self.act()
                self.busy = False
        return call(*arguments, **named)


class Ground(RuleBasedStateMachine):
    """One home, and how a step is taken there: whole, killed, or with somebody else in the middle of it."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="histories-", dir=PLACE))
        self.face = Face(self.folder)
        self.world = self.face.world
        self.person = Person(self.world.paths)
        self.left: Counter[str] = Counter()
        self.touched: set[str] = set()
        self.numbers, self.hexes, self.talks = count(1), count(1), count(1)
        self.hurt = False
        self.stack = ExitStack()
        self.stack.enter_context(self.face)
        self.stack.enter_context(patch("secrets.token_hex", lambda size=3: f"{next(self.hexes):06x}"))

    @initialize()
    def home(self) -> None:
        self.world.paths.conversations.mkdir(parents=True)
        (self.folder / "code.py").write_text("pass\n")

    # --- the end ---

    def teardown(self) -> None:
        try:
            self._come_to_rest()
        finally:
            self.stack.close()
            shutil.rmtree(self.folder, ignore_errors=True)

    def _come_to_rest(self) -> None:
        """A run mends what is left, and a further one changes nothing."""
        STEPS["histories"] += 1
        if not self.world.paths.conversations.is_dir():
            return
        self._harvest(self._model())
        self._harvest(self._model())
        before = snapshot(self.world.paths.home)
        self._harvest(self._model())
        after = snapshot(self.world.paths.home)
        changed = [name for name in before | after if before.get(name) != after.get(name)]
        assert not changed, f"a further run changed {changed}"
        left = [path.name for path in self.world.paths.home.rglob("*.knowledge-tmp")]
        assert not left, left

    # --- how a step is taken ---

    def _step(self, name: str) -> None:
        STEPS[name] += 1
        STEPS["steps"] += 1

    def _conversations(self) -> list[Path]:
        return sorted(self.world.paths.conversations.glob("talk-*"))

    def _model(self) -> FakeModel:
        first = next(self.numbers) * 100

        def answer(number: int, prompt: str) -> dict[str, Any]:
            at = first + number
            return {
                "facts": [
                    f"Fact {at}",
                    f"Fact {at} again",
                    ("The port is 80", "the PORT is 80.", "port is `80`")[at % 3],
                ],
                "decisions": [{"statement": f"Choice {at}", "quote": "words that nobody said at all"}] * (at % 2)
                + [f"Decision {at}"],
                "tasks_open": [f"Open {at}"],
                "tasks_done": [f"Done {at}"] * (at % 2),
                "files": [{"path": str(self.folder / "code.py"), "note": f"Note {at}"}] * (at % 2),
            }

        return FakeModel(answer)

    def _look(self) -> Look:
        return look(self.world.paths)

    def _harvest(self, model: FakeModel) -> None:
        before = self._look()
        told = self.face.harvest(model)
        assert told.document is not None, told
        wrong = changed_by_harvest(before, self._look())
        self.hurt = False
        self._check(wrong)

    def _killed(self, at: int, kind: str, work: Callable[[], object], command: bool = False) -> None:
        before = self._look()

        def run() -> None:
            with patch.object(disk, "perform", Faults(Fault(at, kind))):
                work()

        ended = in_child(run)
        assert ended in (0, -9), f"the run itself ended with {ended}"
        self.hurt = True
        after = self._look()
        wrong = changed_by_command(before, after, self.touched) if command else only_added(before, after)
        self._check(wrong, resting=False)

    def _interrupted(self, at: int, act: Callable[[], None]) -> None:
        seen = [self._look()]

        def with_look() -> None:
            act()
            seen.append(self._look())

        with patch.object(disk, "perform", Between(at, with_look)):
            told = self.face.harvest(self._model())
        assert told.document is not None, told
        self._check(only_added(seen[-1], self._look()), resting=False)

    def _command(self, name: str, kill: int | None, *words: str) -> None:
        self._step(name if kill is None else f"{name}, killed")

        def work() -> None:
            self.face.knowledge(*words)

        if kill is not None:
            self._killed(kill, "after", work, command=True)
            return
        before = self._look()
        work()
        self._check(changed_by_command(before, self._look(), self.touched), resting=not self.hurt)

    def _check(self, wrong: list[str], *, resting: bool = True) -> None:
        now = self._look()
        wrong = list(wrong)
        plans: dict[str, list[tuple[str, ...]]] | None = None
        for sha, number in self.left.items():
            if now.held[sha] > number:
                wrong.append(f"{now.held[sha]} instead of {number} copies of {sha[:8]}")
            if now.held[sha] < number:
                plans = plan_lines(self.world.paths) if plans is None else plans
                if sha not in plans:
                    wrong.append(f"a copy of {sha[:8]} is gone, and nothing proves what it taught")
        wrong += [f"a conversation nobody wrote: {sha[:8]}" for sha in now.held if now.held[sha] and not self.left[sha]]
        if resting:
            wrong += torn(now)
        assert not wrong, "\n".join(wrong)


def only_added(before: Look, after: Look) -> list[str]:
    """In the middle of a run, or beside somebody else: at least nothing that stood there is gone."""
    wrong = []
    for name in before.texts:
        if name not in after.texts:
            wrong.append(f"{name} is gone")
            continue
        lost = Counter(before.lines(name)) - Counter(after.lines(name))
        last = before.lines(name)[-1]
        wrong += [f"{name} lost {line!r}" for line in lost if line and line != last]
    return wrong


def in_child_whole(work: Callable[[], object]) -> None:
    ended = in_child(work)
    assert ended == 0, f"the other process ended with {ended}"


def in_child(work: Callable[[], object]) -> int:
    """Run `work` in a process of its own; 0 when it came to its end, -9 when it was killed."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException:  # noqa: BLE001 - the child must not go on as if it were the tests
            traceback.print_exc()
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
