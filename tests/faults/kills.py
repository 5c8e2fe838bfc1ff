"""The crash campaign: the process is killed before, in and after every operation that changes the disk."""

from __future__ import annotations

from tests.faults.fault import kill_points
from tests.faults.server import Finding, Tried, count, killed_at
from tests.faults.store import Store


def kills(store: Store, stride: int = 1, start: int = 0) -> Tried:
    """One scenario, killed at every `stride`-th point."""
    store.put_back()
    tried = Tried()
    for fault in kill_points(count(store), stride, start):
        wrong = killed_at(store, fault)
        if wrong is None:
            wrong = ["the point was not reached: the order of operations is not the same each time"]
        tried.add(Finding(store.scenario.name, str(fault), wrong))
    return tried
