"""The fork server: one warm process that puts a store back, lets a forked child run into a fault, and then judges.

A child starts with everything imported, so a point costs a fork, one command and two runs that check it.
"""

from __future__ import annotations

import gc
import os
import pickle
import shutil
import signal
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from core.sources.artifact import HashCache
from tests.faults.fault import COUNTED, Counter, Fault
from tests.faults.invariants import Seen, at_rest, loss, mended
from tests.faults.store import Scenario, Store, performing, place, quick


@dataclass
class Told:
    """What a child said before its end: its exit status, what it printed, and what its counter saw."""

    code: int | None = None
    out: str = ""
    err: str = ""
    trail: list[str] = field(default_factory=list)
    hit: str = ""
    where: str = ""
    taken_after_failed_sync: bool = False


@dataclass
class Finding:
    """A point at which something is wrong."""

    scenario: str
    point: str
    wrong: list[str]

    def __str__(self) -> str:
        return "\n    ".join([f"{self.scenario}: {self.point}", *self.wrong[:6]])


def in_child(work: Callable[[], Any]) -> tuple[bool, Any]:
    """Run `work` in a process of its own. Whether that was killed, and what it returned (None when killed)."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            answer = work()
        except BaseException:  # noqa: BLE001 - the child must not go on as if it were the tests
            answer = traceback.format_exc()
        with os.fdopen(writing, "wb") as pipe:
            pickle.dump(answer, pipe)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        data = pipe.read()
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
        return True, None
    return False, pickle.loads(data) if data else None


def run_with(store: Store, counter: Counter, act: Callable[[Store], int] | None = None) -> Told:
    """The act of a scenario under a counter, in this very process."""
    with performing(counter) as (out, err):
        code = (act or store.scenario.act)(store)
    taken = counter.taken_after_failed_sync
    return Told(code, out.getvalue(), err.getvalue(), counter.trail, counter.hit, counter.where, taken)


def count(store: Store, counted: frozenset[str] = COUNTED, act: Callable[[Store], int] | None = None) -> list[str]:
    """The operations of the act without a fault, by name, in their order."""
    killed, told = in_child(lambda: run_with(store, Counter(counted=counted), act))
    assert not killed and isinstance(told, Told), told
    return told.trail


def judge(store: Store) -> list[str]:
    """The user goes on: the next run mends the home, one more changes nothing. What is wrong with it, in words."""
    try:
        wrong = [f"before the next run: {line}" for line in loss(Seen(store))]
        if store.scenario.again is not None:
            with performing(straight):
                store.scenario.again(store)
            wrong += store.scenario.wrong_then(store) + loss(Seen(store))
        report = store.world.run(store.model(), HashCache())
        wrong += [f"the next run says: {error}" for error in report.errors]
        seen = Seen(store)
        wrong += loss(seen) + mended(seen) + store.scenario.wrong(store)
        store.world.run(store.model(), HashCache())
        return wrong + at_rest(seen, Seen(store))
    except Exception:  # noqa: BLE001 - a finding like any other
        return [traceback.format_exc()]


def straight(name: str, call: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """What `disk.perform` does."""
    return call(*arguments, **named)


@dataclass
class Tried:
    """What a campaign tried: points, seconds, what broke; `distinct` counts different states where they are told
    apart."""

    points: int = 0
    seconds: float = 0.0
    findings: list[Finding] = field(default_factory=list)
    distinct: int = 0

    def add(self, finding: Finding) -> None:
        """One more point, with what is wrong there, if anything."""
        self.points += 1
        if finding.wrong:
            self.findings.append(finding)

    def __iadd__(self, other: Tried) -> Tried:
        self.points += other.points
        self.distinct += other.distinct
        self.seconds += other.seconds
        self.findings += other.findings
        return self


Campaign = Callable[[Store, int, int], Tried]
"""A campaign on one scenario: every `stride`-th point, beginning with the `start`-th."""


def on_scenario(campaign: Campaign, scenario: Scenario, stride: int = 1, start: int = 0) -> Tried:
    folder = place()
    try:
        with quick():
            store = Store(scenario, folder / "person")
            warm(store)
            began = time.monotonic()
            tried = campaign(store, stride, start)
            tried.seconds = time.monotonic() - began
            return tried
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def warm(store: Store) -> None:
    """Import and build whatever the act needs, once, in this process: each child then begins with it."""
    store.put_back()
    run_with(store, Counter())
    judge(store)
    gc.collect()
    gc.freeze()  # a child does not copy what only the collector would touch


def killed_at(store: Store, fault: Fault) -> list[str] | None:
    """Put the store back and kill the act there; None when it was never reached, else what the judge finds."""
    store.put_back()
    killed, told = in_child(lambda: run_with(store, Counter(fault)))
    if not killed:
        return [told] if isinstance(told, str) else None
    return judge(store)
