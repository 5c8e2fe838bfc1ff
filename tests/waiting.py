"""How long a test waits for what must come about: until it is so. Only a hang reaches the limit, however busy the
machine is; nothing may depend on how much of it was used."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE_SECONDS = 300.0


def wait_until(so: Callable[[], object], step_seconds: float = 0.01) -> bool:
    """Whether it became so."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not so():
        if time.monotonic() > end:
            return False
        time.sleep(step_seconds)
    return True
