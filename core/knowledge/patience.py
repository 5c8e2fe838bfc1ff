"""How long a write waits for an editor that is at work on the same file."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Patience:
    """How long to wait for an editor that is at work on the same file, in seconds."""

    missing: float = 2.0
    settle: float = 1.0
    swap_file: float = 2.0
    step: float = 0.05
    sleep: Callable[[float], None] = time.sleep


DEFAULT_PATIENCE = Patience()
