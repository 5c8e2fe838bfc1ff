"""Large readings beside a window that must not stand still.

Three habits of Python stop every thread. The collector of cyclic garbage looks at all objects again and again while a
hundred thousand entries are made (0.7 s at once, measured); and a thread that computes hands over only every 5 ms,
which a frame pays many times. Both are put off for the time of one large reading. They belong to the whole process, so
they are put back as they were found. And a hundred thousand entries that nobody holds any more go in one step (0.1 s);
`let_go` lets them go in small ones.
"""

from __future__ import annotations

import gc
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

LARGE_BYTES = 2_000_000
"""From this size on a ledger is a large one: about six thousand entries."""
LARGE_ROWS = 5_000
SWITCH_SECONDS = 0.0005
LINGER_SECONDS = 3.0  # by then the views have taken over what came instead
AT_A_TIME = 500

_lock = threading.Lock()
_within = 0
_before: tuple[bool, float] = (True, 0.005)


@contextmanager
def quietly(large: bool, stays: bool = True) -> Iterator[None]:
    """Around work on a worker with many objects; does nothing unless it is `large`.

    With `stays`, what was made is taken out of the collector's sight at the end: it has no cycles, and goes when nobody
    holds it. Safe on several threads at once.
    """
    if not large:
        yield
        return
    _begin()
    try:
        yield
    finally:
        _end(stays)


def let_go(rows: Sequence[object]) -> threading.Thread | None:
    """Nobody wants these rows any more, or will not in a moment: they go a few at a time, on a thread of their own."""
    if len(rows) < LARGE_ROWS:
        return None
    kept = list(rows)

    def go() -> None:
        time.sleep(LINGER_SECONDS)
        while kept:
            del kept[-AT_A_TIME:]
            time.sleep(0.001)

    thread = threading.Thread(target=go, name="knowledge-let-go", daemon=True)
    thread.start()
    return thread


def _begin() -> None:
    global _within, _before
    with _lock:
        _within += 1
        if _within == 1:
            _before = (gc.isenabled(), sys.getswitchinterval())
            gc.disable()
            sys.setswitchinterval(SWITCH_SECONDS)


def _end(stays: bool) -> None:
    global _within
    with _lock:
        _within -= 1
        if _within == 0:
            enabled, interval = _before
            if stays:
                gc.freeze()
            sys.setswitchinterval(interval)
            if enabled:
                gc.enable()
