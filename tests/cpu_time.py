"""How long something takes, in time of the processor: what else the machine does is no matter."""

from __future__ import annotations

import time
from collections.abc import Callable

NOISE_SECONDS = 0.02
"""Below this a measurement says nothing; the inputs of a test are large enough that what is quadratic takes longer."""


def cpu_seconds(act: Callable[[], object], times: int = 3) -> float:
    """The least of some measurements."""
    took = []
    for _ in range(times):
        began = time.process_time()
        act()
        took.append(time.process_time() - began)
    return min(took)


def grows_faster(
    small: Callable[[], object], large: Callable[[], object], factor: float, noise: float = NOISE_SECONDS
) -> bool:
    """Whether `large` takes more than `factor` times as long as `small`; measured again before it is believed. What is
    done within the `noise` (seconds) needs no comparison."""
    took = cpu_seconds(large, 1)
    if took <= factor * noise or took <= factor * cpu_seconds(small, 1):
        return False
    limit = factor * max(cpu_seconds(small), noise)
    return all(cpu_seconds(large, 1) > limit for _ in range(2))
