"""Sorting long lists beside a thread that must not wait."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import merge
from typing import Any, TypeVar

Row = TypeVar("Row")

PART = 16_384
"""Longer lists are sorted in parts of this many rows: sorting is one step in which no other thread works, 0.1 s for a
hundred thousand texts, and a window would stand still for as long."""


def in_order(rows: Iterable[Row], key: Callable[[Row], Any], reverse: bool = False) -> list[Row]:
    """What `sorted` gives, equal rows in the order they came, in steps between which other threads work."""
    found = list(rows)
    if len(found) <= PART:
        return sorted(found, key=key, reverse=reverse)
    parts = [sorted(found[at : at + PART], key=key, reverse=reverse) for at in range(0, len(found), PART)]
    return list(merge(*parts, key=key, reverse=reverse))
