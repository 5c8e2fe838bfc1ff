"""A real scheduler with real workers on loopback, each a process of its own that a test may kill."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from core.base.result import Result
from core.library.prepare import Item, Prepared, Way, prepare

ROOT = Path(__file__).resolve().parents[1]


def slowly(item: Item, way: Way) -> Result[list[Prepared]]:
    """Takes long enough to be killed at it."""
    time.sleep(0.15)
    return prepare(item, way)


class Cluster:
    """One scheduler at a fixed address, and workers."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.workers: list[subprocess.Popen[bytes]] = []
        self._folder = folder
        self.start()

    def _run(self, module: str, *words: str) -> subprocess.Popen[bytes]:
        environment = {
            **os.environ,
            "HOME": str(self._folder),
            "PYTHONPATH": str(ROOT),
            "DASK_DISTRIBUTED__WORKER__DAEMON": "False",
        }
        command = [sys.executable, "-m", f"distributed.cli.{module}", *words]
        with open(os.devnull, "wb") as nowhere:
            return subprocess.Popen(command, cwd=self._folder, env=environment, stdout=nowhere, stderr=nowhere)

    def start(self) -> None:
        """The scheduler, also again after it was killed."""
        here = ("--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard")
        self.scheduler = self._run("dask_scheduler", *here)

    def work(self) -> subprocess.Popen[bytes]:
        """One more worker, with one thread."""
        words = (self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1")
        self.workers.append(self._run("dask_worker", *words))
        return self.workers[-1]

    def man(self, number: int) -> None:
        """Have so many workers, with new ones in place of those that were killed."""
        from distributed import Client

        self.workers = [worker for worker in self.workers if worker.poll() is None]
        while len(self.workers) < number:
            self.work()
        while True:  # however slow the machine: only an end of theirs ends the waiting
            assert self.scheduler.poll() is None, "the scheduler ended"
            assert sum(worker.poll() is None for worker in self.workers) >= number, "a worker ended"
            with contextlib.suppress(Exception), Client(self.address, timeout=5, set_as_default=False) as client:
                client.wait_for_workers(number, timeout=5)
                return
            time.sleep(0.2)

    @staticmethod
    def kill(process: subprocess.Popen[bytes]) -> None:
        """kill -9."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
        process.wait()

    def close(self) -> None:
        """End all of it."""
        for process in (*self.workers, self.scheduler):
            self.kill(process)


@contextlib.contextmanager
def new_cluster() -> Iterator[Cluster]:
    """A scheduler; `man` gives it workers."""
    with tempfile.TemporaryDirectory(prefix="dask", ignore_cleanup_errors=True) as folder:
        found = Cluster(Path(folder))
        try:
            yield found
        finally:
            found.close()
