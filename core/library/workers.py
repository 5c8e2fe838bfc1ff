"""Where work is done: in this process, in others on this computer, or on a cluster, behind the executor interface.

A worker may be killed, a scheduler restarted. What was handed out and did not come back is handed out again; a task
that takes its worker with it every time is given up and told. Results are what counts once: who asked gets exactly one
for each task, in the order in which they are done, so nothing is doubled.
"""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import operator
import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from core.base.installed import how_to_install
from core.base.result import KnowledgeError

T = TypeVar("T")
R = TypeVar("R")
TRIES = 4
"""How often a task is handed out before it is given up."""
SUSPECT = 2
"""Workers that were lost over a task, from which on it is done alone."""
LOOK_SECONDS = 0.5
"""How long a stop that the user asked for waits at the most."""
WAITS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
"""Seconds between attempts to reach a scheduler that is gone: about a minute in all."""
ANSWER_SECONDS = 10.0
"""How long a scheduler may take to answer."""
MANNED_SECONDS = 60.0
"""How long a cluster whose last worker is gone is waited for before the work is given up; what was done stays."""


class LostError(Exception):
    """Nobody can be reached any more to do the work; what was done is done."""


@dataclass
class Workers(Generic[T, R]):
    """Hands tasks to an executor and gives back what became of each. `open_executor` is called again when the executor
    breaks; None for work in this process. `say` is told at once when a cluster has no workers."""

    work: Callable[[T], R]
    open_executor: Callable[[], Executor] | None
    at_once: int
    say: Callable[[str], None] = lambda _words: None
    _alone_since: float | None = None
    _executor: Executor | None = None

    def results(
        self, tasks: Iterable[T], given_up: Callable[[T, str], R], stopped: Callable[[], bool] = lambda: False
    ) -> Iterator[tuple[T, R]]:
        """(task, result) for every task, as each is done. `given_up` says what the result is of one that cannot be
        done. At most a few tasks beyond the workers are held at a time; `stopped` is asked while they are waited
        for. Raises LostError when nobody can be reached, or nobody is there for too long."""
        if self.open_executor is None:
            for task in tasks:
                yield task, self.work(task)
            return
        again: deque[tuple[T, int]] = deque()
        waiting = iter(tasks)
        running: dict[Future[R], tuple[T, int]] = {}
        try:
            while True:
                while len(running) < max(1, self.at_once):
                    if running and any(tried >= SUSPECT for _task, tried in (*running.values(), *again)):
                        break  # one of them may be what kills workers: it goes alone, and costs no other its turn
                    task, tried = again.popleft() if again else (next(waiting, _NO_TASK), 0)
                    if task is _NO_TASK:
                        break
                    running[self._handed_out(task)] = (task, tried)
                if not running:
                    return
                done, _rest = wait(running, LOOK_SECONDS, FIRST_COMPLETED)
                if stopped():
                    return
                if not done:
                    self._look_for_workers()
                broken = False
                for future in done:
                    task, tried = running.pop(future)
                    try:
                        result = future.result()
                    except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - a worker is gone
                        broken = True
                        if tried + 1 < TRIES:
                            again.append((task, tried + 1))
                            continue
                        result = given_up(task, why_gone(error))
                    yield task, result
                if broken:
                    again += running.values()  # a new executor knows nothing of them
                    running.clear()
                    self.close()
        finally:
            self.close()

    def _look_for_workers(self) -> None:
        """Raises LostError when a cluster has had no worker for as long as it is waited for."""
        if not isinstance(self._executor, _ClusterExecutor) or self._executor.is_manned():
            self._alone_since = None
            return
        now = time.monotonic()
        if self._alone_since is None:
            self._alone_since = now
            self.say(f"the cluster has no workers, waiting {MANNED_SECONDS:g} s")
        if now - self._alone_since >= MANNED_SECONDS:
            raise LostError(f"the cluster has had no workers for {MANNED_SECONDS:g} seconds")

    def _handed_out(self, task: T) -> Future[R]:
        for wait_seconds in (*WAITS, None):
            try:
                if self._executor is None:
                    assert self.open_executor is not None
                    self._executor = self.open_executor()
                return self._executor.submit(self.work, task)
            except Exception as error:
                self.close()
                if wait_seconds is None:
                    raise LostError(why_gone(error)) from error
                time.sleep(wait_seconds)
        raise AssertionError("unreachable")

    def close(self) -> None:
        """Let the executor go; what it still does is of no use to anybody."""
        executor, self._executor = self._executor, None
        if executor is not None:
            with contextlib.suppress(Exception):
                executor.shutdown(wait=False, cancel_futures=True)


_NO_TASK: Any = object()


def called(open_executor: Callable[[], Executor], work: Callable[[], R]) -> R:
    """What `work` gives, on an executor of its own: it can be pickled. A call whose worker or scheduler is lost is made
    again. Raises KnowledgeError when nobody could be reached."""

    def given_up(_work: object, why: str) -> R:
        raise KnowledgeError("worker-lost", f"the work could not be done elsewhere: {why}", hint="start a worker")

    try:
        workers: Workers[Callable[[], R], R] = Workers(operator.call, open_executor, 1)
        return next(result for _work, result in workers.results([work], given_up))
    except LostError as error:
        why = f"the work could not be done elsewhere: {error}"
        raise KnowledgeError("worker-lost", why, hint="see that the scheduler and a worker run") from error


def why_gone(error: BaseException) -> str:
    """What an engine said, as one line."""
    return " ".join(str(error).split())[:200] or type(error).__name__


# --- the engines ------------------------------------------------------------------------------------------------------


def local_processes(number: int) -> Callable[[], Executor]:
    """Processes of this computer, begun again rather than forked: a fork would take our locks and connections along."""
    return lambda: ProcessPoolExecutor(number, mp_context=multiprocessing.get_context("spawn"))


def cluster(address: str) -> tuple[Callable[[], Executor], int]:
    """What opens an executor on the scheduler of `address` (`tcp://host:8786`), and how many tasks it does at a time.
    Raises KnowledgeError when it does not answer, or the package for it is missing."""
    try:
        from distributed import Client
    except ImportError as error:
        message = f"work on other machines needs a package ({error.name})"
        raise KnowledgeError("no-cluster", message, hint=how_to_install("cluster")) from error

    new_client = partial(Client, address, timeout=ANSWER_SECONDS, set_as_default=False)
    try:
        client = new_client()
        threads = sum(client.nthreads().values())
        client.close()
    except Exception as error:
        hint = (
            "start one with `dask scheduler`, workers with `dask worker ADDRESS`, or leave the setting `workers` empty"
        )
        message = f"the scheduler {address} does not answer: {why_gone(error)}"
        raise KnowledgeError("no-cluster", message, hint=hint) from error
    if not threads:
        message = f"the scheduler {address} has no workers"
        raise KnowledgeError("no-cluster", message, hint=f"start one: dask worker {address}")
    return (lambda: _ClusterExecutor(new_client()), threads * 2)


class _ClusterExecutor(Executor):
    """`Client.get_executor()`, and the client goes with it."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._inner = client.get_executor(pure=False, retries=2)

    def submit(self, fn: Callable[..., R], /, *args: Any, **kwargs: Any) -> Future[R]:
        future: Future[R] = self._inner.submit(fn, *args, **kwargs)
        return future

    def is_manned(self) -> bool:
        """Whether a worker is there, as the scheduler says; not where it says nothing."""
        try:
            return bool(self._client.nthreads(callback_timeout=ANSWER_SECONDS))
        except Exception:  # noqa: BLE001 - a scheduler that is gone comes as many kinds
            return False

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        with contextlib.suppress(Exception):
            self._inner.shutdown(wait=wait, cancel_futures=cancel_futures)
        with contextlib.suppress(Exception):
            self._client.close(timeout=5)


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
