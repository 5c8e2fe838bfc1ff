"""What has to wait until the panel's own write has been read back.

A command carries the sha256 of the file as it was seen. Between a write of the panel's own and the next reading of the
store that is the one before the write, and the next act would be refused as if somebody else had changed the file.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from gui.toolkit.jobs import Jobs

LONGEST_SECONDS = 6.0
"""A reading that takes longer, or fails, holds nobody up for ever: then the file itself tells whether it is another."""


class Settling:
    """Counts the writes that were asked for and have not been read back. For the interface thread."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self._open = 0
        self._until = 0.0
        self._calls: list[Callable[[], object]] = []

    def begin(self) -> None:
        """A write is asked for."""
        self._open += 1
        self._until = time.monotonic() + LONGEST_SECONDS

    def end(self) -> None:
        """It has been read back, or nothing was written."""
        self._open = max(0, self._open - 1)
        if not self._open:
            self._go_on()

    @property
    def waiting(self) -> bool:
        """Whether something was written that is not yet shown."""
        if self._open and time.monotonic() > self._until:
            self._open = 0
            self._go_on()
        return self._open > 0

    def puts_off(self, call: Callable[[], object]) -> bool:
        """True when `call` has to wait; it is made later, after the views have shown what was read."""
        if self.waiting:
            self._calls.append(call)
            return True
        return False

    def _go_on(self) -> None:
        calls, self._calls = self._calls, []
        for call in calls:
            self._jobs.post(call)
