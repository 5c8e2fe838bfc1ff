"""Work for the interface thread, and for workers beside it. No mistake in one piece of work drops the rest.

`Jobs` takes calls from every thread and makes them one by one on the interface thread: callbacks of Dear PyGui only
post, since a host may run them on Dear PyGui's own thread. A `Worker` is a thread of its own, so that the interface
never waits for the disk or a model.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from queue import SimpleQueue
from typing import Any

from core.base.result import ErrorInfo, KnowledgeError, Result, attempt

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
        posted = self._queue.qsize()
        for _ in range(posted):  # what a call posts itself waits for the next frame: no endless round
            call, args = self._queue.get_nowait()
            self.attempt(call, *args)
        return posted

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

    def report(self, problem: Exception, call: Call) -> None:
        """Keep an exception as an error that a user can read, and tell the listener."""
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


@dataclass(eq=False)
class Job:
    """One piece of work, handed to its own `work(job)`.

    `work` looks at `cancelled` between its durable steps and tells how far it is with `report`. It returns a value, or
    raises. `done` gets the Result (`Ok`, or the KnowledgeError), on the interface thread.
    """

    name: str
    work: Callable[[Job], Any]
    done: Callable[[Result[Any]], object]
    report: Callable[[Any], None]
    _stop: threading.Event = field(default_factory=threading.Event)

    @property
    def cancelled(self) -> bool:
        """True once somebody asked this job to stop."""
        return self._stop.is_set()

    def cancel(self) -> None:
        """Ask the job to stop after its current step; one that has not begun never begins. Safe from every thread."""
        self._stop.set()


class Worker:
    """Runs jobs one after the other on a thread of its own, which starts with the first of them; what comes of them is
    posted to `jobs`."""

    def __init__(self, jobs: Jobs, name: str = "knowledge-worker") -> None:
        self._jobs, self._name = jobs, name
        self._in: SimpleQueue[Job | None] = SimpleQueue()
        self.open_jobs: list[Job] = []
        """Jobs that have not been answered yet, in the order they were submitted; for the interface thread."""
        self._thread: threading.Thread | None = None
        self._closed = False

    def submit(
        self,
        name: str,
        work: Callable[[Job], Any],
        done: Callable[[Result[Any]], object],
        progress: Callable[[Any], object] | None = None,
    ) -> Job:
        """Queue `work(job)`; `progress` hears what it reports, on the interface thread. After `dispose` it neither runs
        nor is answered: nobody is there any more to show it to."""
        report = partial(self._jobs.post, progress or (lambda _news: None))
        job = Job(name, work, done, report)
        if self._closed:
            return job
        self.open_jobs.append(job)
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
            self._thread.start()
        self._in.put(job)
        return job

    def cancel_all(self) -> None:
        """Ask every open job to stop."""
        for job in self.open_jobs:
            job.cancel()

    def dispose(self, timeout: float = 10.0) -> bool:
        """Cancel everything and wait for the thread, `timeout` seconds at most; True when it has ended."""
        self._closed = True
        self.cancel_all()
        if self._thread is None:
            return True
        self._in.put(None)
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while (job := self._in.get()) is not None:
            self._jobs.post(self._end, job, self._answer(job))
            del job  # what it holds must not wait here for the next one

    def _end(self, job: Job, result: Result[Any]) -> None:
        self.open_jobs.remove(job)
        if not self._closed:
            job.done(result)

    @staticmethod
    def _answer(job: Job) -> Result[Any]:
        if job.cancelled:
            return KnowledgeError("cancelled", f"{job.name} was cancelled before it began")
        try:
            return attempt(job.work, job)
        except Exception as problem:  # noqa: BLE001 - an error is a value here: the thread must live on
            text = str(problem) or "no further words"
            return KnowledgeError("job-failed", f"{job.name} failed: {type(problem).__name__}: {text}")
