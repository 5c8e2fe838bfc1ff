"""Real file systems: a tmpfs that is full, and ext4 and XFS whose power fails (the shutdown ioctl) during a harvest.

Both need the right to mount; what could not be run is said. The kernel throws away what it has not written yet, as a
power cut does; on every other point another process syncs the file system meanwhile, so that some of it is there.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import signal
import struct
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.faults.errors import said_wrong
from tests.faults.fault import COUNTED, Counter
from tests.faults.invariants import Seen, loss
from tests.faults.scenarios import SCENARIO
from tests.faults.server import Finding, Told, Tried, in_child, judge, run_with
from tests.faults.store import Store, quick

SHUTDOWN = 0x8004587D
"""FS_IOC_SHUTDOWN of linux/fs.h: ext4, XFS and f2fs know it."""
WITH_LOG, WITHOUT_LOG = 1, 2
IMAGE_BYTES = {"ext4": 48 << 20, "xfs": 400 << 20}
TRIED_ON = ("edited files", "twice")
FULL_KILOBYTES = range(0, 160, 8)


class CannotRun(Exception):
    """This machine cannot run a campaign; the words say why."""


@contextlib.contextmanager
def mounted(kind: str, size: int) -> Iterator[tuple[Path, Callable[[], None]]]:
    """A file system of its own, and a function that unmounts and mounts it again."""
    folder = Path(tempfile.mkdtemp(prefix="knowledge-machine-"))
    place, image = folder / "mount", folder / "image"
    place.mkdir()
    what = ["-t", "tmpfs", "-o", f"size={size}", "tmpfs"] if kind == "tmpfs" else ["-o", "loop", str(image)]

    def mount() -> None:
        _must(["mount", *what, str(place)])

    def again() -> None:
        _must(["umount", str(place)])
        mount()

    try:
        if kind != "tmpfs":
            with image.open("wb") as file:
                file.truncate(size)
            _must([f"mkfs.{kind}", "-q", str(image)])
        mount()
        try:
            yield place, again
        finally:
            _must(["umount", str(place)])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _must(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except FileNotFoundError as error:
        raise CannotRun(f"there is no {command[0]}") from error
    if done.returncode:
        raise CannotRun(f"{command[0]} says: {done.stderr.strip().splitlines()[-1:]}")


# --- a full disk -----------------------------------------------------------------------------------------------------


def full_disk(name: str, sizes: range = FULL_KILOBYTES) -> Tried:
    """One scenario with so many kilobytes left on the disk, each in turn."""
    tried = Tried()
    with mounted("tmpfs", 2 << 20) as (place, _), quick():
        store = Store(SCENARIO[name], place / "person")
        filler = place / "filler"
        for left in sizes:
            filler.unlink(missing_ok=True)
            store.put_back()
            state = os.statvfs(place)
            filler.write_bytes(b"\0" * max(0, state.f_bavail * state.f_bsize - left * 1024))
            killed, told = in_child(lambda: run_with(store, Counter()))
            wrong = [f"a traceback: {told}"] if killed or not isinstance(told, Told) else said_wrong(store, told)
            wrong += loss(Seen(store))
            filler.unlink()
            tried.add(Finding(name, f"{left} KB left", wrong + judge(store)))
    return tried


# --- the power fails -------------------------------------------------------------------------------------------------


class Shutdown(Counter):
    """Stands in for `disk.perform`: after the `at`-th change the file system is shut down and the process ends."""

    def __init__(self, at: int, place: Path, how: int) -> None:
        super().__init__()
        self.at, self.place, self.how = at, place, how

    def __call__(self, name: str, call: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        result = super().__call__(name, call, *arguments, **named)
        if name in COUNTED and len(self.trail) == self.at:
            shut_down(self.place, self.how)
            os.kill(os.getpid(), signal.SIGKILL)
        return result


def shut_down(place: Path, how: int) -> None:
    """Let a file system fail as a power cut does. OSError where it does not know the call."""
    import fcntl

    fd = os.open(place, os.O_RDONLY)
    try:
        fcntl.ioctl(fd, SHUTDOWN, struct.pack("I", how))
    finally:
        os.close(fd)


def power_fails(kind: str, name: str, number: int) -> Tried:
    """One scenario on a real file system of that kind, the power failing at `number` operations, spread evenly."""
    tried = Tried()
    with mounted(kind, IMAGE_BYTES[kind]) as (place, again), quick():
        store = Store(SCENARIO[name], place / "person")
        store.loose_copies = True
        store.put_back()
        operations = len(run_with(store, Counter()).trail)
        for turn in range(number):
            at = 1 + turn * operations // number
            store.put_back()
            _sync_all(place)
            syncing = _syncing(place) if turn % 2 else 0
            how = WITH_LOG if turn % 4 == 3 else WITHOUT_LOG
            killed, told = in_child(lambda at=at, how=how: run_with(store, Shutdown(at, place, how)))  # type: ignore[misc]
            if syncing:
                os.kill(syncing, signal.SIGKILL)
                os.waitpid(syncing, 0)
            if not killed and isinstance(told, str):
                raise CannotRun(told.strip().splitlines()[-1])
            again()
            words = f"shut down at {at}{', synced meanwhile' * bool(syncing)}"
            tried.add(Finding(f"{kind}, {name}", words, judge(store) if killed else []))
    return tried


def _sync_all(place: Path) -> None:
    fd = os.open(place, os.O_RDONLY)
    try:
        ctypes.CDLL(None).syncfs(fd)
    finally:
        os.close(fd)


def _syncing(place: Path) -> int:
    """A process that syncs the file system over and over; its id."""
    child = os.fork()
    if child == 0:
        try:
            while True:
                _sync_all(place)
                time.sleep(0.002)
        finally:
            os._exit(0)
    return child


def table(number: int = 24) -> list[str]:
    """Run all that this machine can, print it; what is wrong."""
    print("\nmachines: real file systems")
    wrong: list[str] = []
    rows: list[tuple[str, Callable[[], Tried]]] = [
        *((f"a full tmpfs, {name}", lambda name=name: full_disk(name)) for name in TRIED_ON),  # type: ignore[misc]
        *(
            (f"{kind} shut down, {name}", lambda kind=kind, name=name: power_fails(kind, name, number))  # type: ignore[misc]
            for kind in IMAGE_BYTES
            for name in TRIED_ON
        ),
    ]
    for words, run in rows:
        began = time.monotonic()
        try:
            tried = run()
        except (CannotRun, OSError) as error:
            print(f"    {words:<34} not run: {error}", flush=True)
            continue
        seconds = time.monotonic() - began
        print(
            f"    {words:<34}{tried.points:>6} points in {seconds:.0f} s{len(tried.findings):>6} broke something",
            flush=True,
        )
        for finding in tried.findings[:5]:
            print(f"  {finding}")
        wrong += map(str, tried.findings)
    return wrong
