"""Ctrl-C stops a run after its current durable step."""

from __future__ import annotations

import signal
from types import FrameType, TracebackType
from typing import Any


class Interrupt:
    """While open, the first Ctrl-C only asks the run to stop; the second one ends the program at once."""

    def __init__(self, enabled: bool) -> None:
        self._enabled = enabled
        self._pressed = False
        self._old: Any = None

    def pressed(self) -> bool:
        return self._pressed

    def __enter__(self) -> Interrupt:
        if self._enabled:
            try:
                self._old = signal.signal(signal.SIGINT, self._handle)
            except ValueError:  # not in the main thread: whoever runs us there cancels in another way
                self._enabled = False
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._enabled:
            signal.signal(signal.SIGINT, self._old)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._pressed:
            raise KeyboardInterrupt
        self._pressed = True
