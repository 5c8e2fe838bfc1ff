"""Work for the interface thread: posted from anywhere, done one by one, so that no mistake drops the rest.

Callbacks of Dear PyGui only post. A host may run them on Dear PyGui's own thread; posting works from every thread.
"""

from __future__ import annotations

from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any

from core.base.result import ErrorInfo

Call = Callable[..., object]


def no_wake() -> None:
    """Stands in where nobody has to be woken."""


class Jobs:
    """A queue of calls. `on_error` hears of a call that raised; the calls after it run all the same."""

    def __init__(self, wake: Callable[[], None] = no_wake, on_error: Callable[[ErrorInfo], None] | None = None) -> None:
        self.wake = wake
        self.on_error = on_error
        self.errors: list[ErrorInfo] = []
        self._queue: SimpleQueue[tuple[Call, tuple[Any, ...]]] = SimpleQueue()

    def post(self, call: Call, *args: Any) -> None:
        """Ask for `call(*args)` on the interface thread, soon. Safe from every thread."""
        self._queue.put((call, args))
        self.wake()

    def run(self) -> int:
        """Do what was posted before this moment; returns how many calls were made."""
        done = 0
        for _ in range(self._queue.qsize()):  # what a call posts itself waits for the next frame: no endless round
            try:
                call, args = self._queue.get_nowait()
            except Empty:
                break
            self.attempt(call, *args)
            done += 1
        return done

    def waiting(self) -> bool:
        """True while something is posted and not yet done."""
        return not self._queue.empty()

    def attempt(self, call: Call, *args: Any) -> bool:
        """Make one call; an exception becomes an error line and False."""
        try:
            call(*args)
        except Exception as problem:  # noqa: BLE001 - the frame loop must outlive every mistake, and says so
            self.report(problem, call)
            return False
        return True

    def report(self, problem: Exception, call: Call | None = None) -> None:
        """Keep an exception as an error that a person can read, and tell the listener."""
        name = getattr(call, "__name__", "") or getattr(getattr(call, "func", None), "__name__", "")
        where = f" in {name}" if name else ""
        text = str(problem) or type(problem).__name__
        error = ErrorInfo(
            "panel-fault",
            f"The panel made a mistake{where}: {type(problem).__name__}: {text}",
            hint="Nothing was lost; go on, and report this line if it comes back",
        )
        self.errors.append(error)
        del self.errors[:-100]
        if self.on_error is not None:
            try:
                self.on_error(error)
            except Exception as second:  # noqa: BLE001 - the listener's own mistake is kept with the first
                self.errors.append(ErrorInfo("panel-fault", f"The error line could not be shown: {second}"))
