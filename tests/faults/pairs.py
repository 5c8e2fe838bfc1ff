"""Crash during recovery: every state that a kill can leave, and in each of them a kill at every operation of what mends
it. All pairs, without a fork: one run that nobody kills passes through every state that a kill would leave.

That holds because nothing changes the disk but what the counter sees (`truth.py`), and because a process that is killed
says and does nothing more. `kills.py` shows the same states with real kills.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import os
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from unittest.mock import patch

from tests.faults.fault import COUNTED
from tests.faults.server import Finding, Tried, judge, run_with
from tests.faults.store import Kept, Store, keep

ALL_SECONDS = 16
"""Up to this stride, which is how the points are dealt out to processes, all second kills of a first are tried."""


_NUMBERS = re.compile(rb"\b\d+:\d{2,}(?=(@\d+)?\.md)|(?<=birth\": )\d+|(?<=birth\":)\d+")


class Passing:
    """Stands in for `disk.perform`: keeps what a kill at each operation would leave. A state that a sync leaves is that
    from before it, and a killed process cannot tell a refused operation from none."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.states: list[tuple[str, Kept]] = []
        self.number = 0
        self.hit, self.where, self.trail, self.taken_after_failed_sync = "", "", [""], False

    def __call__(self, name: str, call: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        if name not in COUNTED:
            return call(*arguments, **named)
        self.number += 1
        if name == "sync":
            return call(*arguments, **named)
        done = 0
        if name == "write" and len(arguments[1]) > 1:
            done = os.write(arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2])
            self._keep("half")
        result = call(arguments[0], arguments[1][done:]) + done if done else call(*arguments, **named)
        self._keep("after")
        return result

    def _keep(self, kind: str) -> None:
        self.states.append((f"{kind} at {self.number}", keep(self.store.folder)))


def passed(store: Store, act: Callable[[Store], int], run: int) -> list[tuple[str, Kept]]:
    """The states that a kill during the act can leave, from the store as it stands. Clock, names and answers are those
    of `run`, so that what is the same comes out the same."""
    passing = Passing(store)
    store.run_number = run
    with (
        patch("core.base.files._counter", itertools.count(run * 1000)),
        patch("core.harvest.pipeline.secrets.token_hex", lambda size: f"{run:06x}"),
        patch("core.commands.workspace.datetime", _Clock(store.world.clock + timedelta(seconds=run))),
    ):
        run_with(store, passing, act)
    return passing.states


class _Clock:
    """Stands in for the class `datetime` where it is only asked for the time."""

    def __init__(self, at: datetime) -> None:
        self.at = at

    def now(self, zone: object) -> datetime:
        return self.at


def _digest(state: Kept) -> bytes:
    """A hash of a state, in which inodes and births of files have no numbers: putting it back gives them new ones."""
    text = repr([(path, data) for path, data, _, _ in state]).encode()
    return hashlib.sha256(_NUMBERS.sub(b"*", text)).digest()


def singles(store: Store, stride: int = 1, start: int = 0) -> Tried:
    """Every `stride`-th state that a kill can leave, judged."""
    store.put_back()
    tried = Tried()
    for point, state in passed(store, store.scenario.act, 1)[start % stride :: stride]:
        store.put_back(state)
        tried.add(Finding(store.scenario.name, point, judge(store)))
    return tried


def pairs(store: Store, stride: int = 1, start: int = 0) -> Tried:
    """Every `stride`-th pair of a kill and a kill of what comes next; a large stride is a step in both. Pairs that
    leave the same state are judged once."""
    store.put_back()
    tried = Tried()
    judged: dict[bytes, list[str]] = {}
    one = stride if stride <= ALL_SECONDS else math.isqrt(stride)
    other = stride // one
    for first, state in passed(store, store.scenario.act, 1)[start % one :: one]:
        store.put_back(state)
        for second, left in passed(store, store.scenario.again or Store.harvest, 2)[start % other :: other]:
            digest = _digest(left)
            if digest not in judged:
                store.put_back(left)
                judged[digest] = judge(store)
            tried.add(Finding(store.scenario.name, f"{first}, then {second}", judged[digest]))
    tried.distinct = len(judged)
    return tried
