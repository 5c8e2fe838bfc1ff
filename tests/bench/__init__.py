"""Figures, each a ratio to a floor measured in the same run: `python -m tests.bench`."""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Sequence

Row = tuple[str, float, float]
"""What was measured, its figure, and what that may be at most: infinity where it is only told."""
ROUNDS = 5


def printed(rows: Iterable[Row]) -> int:
    """Print rows as they come; how many figures are above what they may be."""
    missed = 0
    for what, figure, most in rows:
        missed += figure > most
        print(f"{'ok  ' if figure <= most else 'MISS'} {figure:7.2f}  (at most {most:g})  {what}", flush=True)
    return missed


def tell(seconds: object) -> None:
    """The seconds themselves, for whoever wants to know where they go."""
    if os.environ.get("BENCH_SECONDS"):
        print(seconds, file=sys.stderr)


def seconds_of(act: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """How long something takes."""
    began = clock()
    act()
    return clock() - began


def ratio(
    ours: Callable[[], object], floor: Callable[[], object], clock: Callable[[], float] = time.perf_counter
) -> float:
    """The median of ours over the median of the floor, taken in turns: both see the same neighbours."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(ROUNDS):
        for work, took in zip((ours, floor), times, strict=True):
            took.append(seconds_of(work, clock))
    tell([[round(second, 4) for second in took] for took in times])
    return statistics.median(times[0]) / statistics.median(times[1])


def answered(asked: Sequence[str], *ways: Callable[[str], object]) -> list[float]:
    """How long each way takes to answer a question: the median, of the best of three for each question."""
    return [
        statistics.median(min(seconds_of(lambda: way(text)) for _ in range(3)) for text in asked)  # noqa: B023
        for way in ways
    ]
