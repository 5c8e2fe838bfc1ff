"""The ground on which the histories are played: one home, one step of it, and what must hold afterwards."""

from __future__ import annotations

import os
import shutil
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import patch

from hypothesis.stateful import RuleBasedStateMachine, initialize

from core.base import disk
from core.base.answer import Answer
from core.base.result import Result
from core.commands.workspace import Workspace, open_workspace
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
        self.world = World(self.folder)
        self.person = Person(self.world.paths)
        self.left: Counter[str] = Counter()
        self.touched: set[str] = set()
        self.numbers, self.hexes, self.talks = count(1), count(1), count(1)
        self.hurt = False
        self._patches = [patch("secrets.token_hex", lambda size=3: f"{next(self.hexes):06x}")]
        for one in self._patches:
            one.start()

    @initialize()
    def home(self) -> None:
        self.world.paths.conversations.mkdir(parents=True)
        (self.folder / "code.py").write_text("pass\n")

    # --- the end ---

    def teardown(self) -> None:
        try:
            self._come_to_rest()
        finally:
            for one in self._patches:
                one.stop()
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

    def _now(self) -> Any:
        return self.world.clock

    def _conversations(self) -> list[Path]:
        return sorted(self.world.paths.conversations.glob("talk-*"))

    def _workspace(self) -> Workspace:
        return open_workspace(
            str(self.world.paths.home), environment={"XDG_CONFIG_HOME": str(self.folder)}, cwd=self.folder
        )

    def _model(self) -> FakeModel:
        first = next(self.numbers) * 100

        def answer(number: int, prompt: str) -> dict[str, Any] | Result[Answer]:
            at = first + number
            return {
                "facts": [f"Fact {at}", f"Fact {at} again"],
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
        self.world.try_run(model)
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
            self.world.try_run(self._model())
        self._check(only_added(seen[-1], self._look()), resting=False)

    def _command(self, name: str, work: Callable[[], object], kill: int | None) -> None:
        self._step(name if kill is None else f"{name}, killed")
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
