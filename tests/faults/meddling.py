"""A conversation goes on while it is harvested: at every operation its owner writes one more line to what still stands.

Whoever wrote it must find it again: no conversation lies in the trash under another content's name, and what was added
is in its place, or in the trash with a harvest of its own.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.faults.fault import COUNTED, Counter
from tests.faults.invariants import Seen, is_fine, lines_of
from tests.faults.server import Finding, Tried, run_with
from tests.faults.store import Store
from tests.harvest_world import sha256

ADDED = b"User: one more thing\n"


class Meddler(Counter):
    """Stands in for `disk.perform`: before the `at`-th change of the disk it writes to each conversation in place."""

    def __init__(self, store: Store, at: int) -> None:
        super().__init__()
        self.store, self.at = store, at
        self.written: list[str] = []

    def __call__(self, name: str, call: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        if name in COUNTED and len(self.trail) + 1 == self.at:
            for path in self.store.standing():
                with path.open("ab") as file:
                    file.write(ADDED)
                self.written.append(sha256(path.read_bytes()))
        return super().__call__(name, call, *arguments, **named)


def meddling(store: Store, stride: int = 1, start: int = 0) -> Tried:
    """Every `stride`-th moment of the act of one scenario, if that is a harvest."""
    tried = Tried()
    if store.scenario.act is not Store.harvest:
        return tried
    store.put_back()
    number = len(run_with(store, Counter()).trail)
    for at in range(1 + start % stride, number + 1, stride):
        tried.add(Finding(store.scenario.name, f"written to at {at}", meddled_at(store, at)))
    return tried


def meddled_at(store: Store, at: int) -> list[str]:
    """What is wrong after one more line was written to the conversations at one moment, and after the next run."""
    store.put_back()
    meddler = Meddler(store, at)
    try:
        run_with(store, meddler)
        wrong = [f"after this run: {line}" for line in _lost(store, meddler.written)]
        store.world.run(store.model())
        return wrong + _lost(store, meddler.written) + _unharvested(store)
    except Exception:  # noqa: BLE001 - a finding like any other
        return [traceback.format_exc()]


def _lost(store: Store, written: list[str]) -> list[str]:
    seen = Seen(store)
    wrong = [f"what was written is gone: {sha[:8]}" for sha in set(written) if seen.held[sha] < written.count(sha)]
    for path in filter(Path.is_file, store.world.trash()):  # a folder of splits may lie there as well
        if not path.name.startswith(sha256(path.read_bytes())):
            wrong.append(f"another content lies in the trash as {path.name[:8]}")
    return wrong


def _unharvested(store: Store) -> list[str]:
    """Conversations in the trash whose items are not all in the files."""
    seen = Seen(store)
    plans = seen.plans()
    wrong = []
    for path in filter(Path.is_file, store.world.trash()):
        sha = path.name[:64]
        if not any(all(is_fine(seen, line) for line in lines_of(plan)) for plan in plans.get(sha, [])):
            wrong.append(f"in the trash without its items in the files: {sha[:8]}")
    return wrong
