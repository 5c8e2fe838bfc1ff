"""Power cuts in a model of the disk (`platter.py`): after every operation, every state that the disk may have kept."""

from __future__ import annotations

import hashlib
import sys

from tests.faults.platter import Platter
from tests.faults.server import Finding, Tried, judge, run_with
from tests.faults.store import Kept, Store


def power(store: Store, stride: int = 1, start: int = 0) -> Tried:
    """One scenario, the power cut after each operation; every `stride`-th of the different states."""
    tried = Tried()
    if sys.platform != "linux":
        return tried
    store.put_back()
    store.loose_copies = True
    states = different(store)
    for words, state in states[start % stride :: stride]:
        store.put_back(state)
        tried.add(Finding(store.scenario.name, words, judge(store)))
    store.loose_copies = False
    return tried


def different(store: Store) -> list[tuple[str, Kept]]:
    """The states that a power cut during the act may leave, each once, from the store as it stands."""
    found: dict[bytes, tuple[str, Kept]] = {}

    def look(name: str) -> None:
        for words, state in platter.outcomes():
            digest = hashlib.sha256(repr(state).encode()).digest()
            found.setdefault(digest, (f"{name} at {len(platter.trail)}: {words}", state))

    platter = Platter(store.folder, look)
    run_with(store, platter)
    return list(found.values())
