"""One process at a time: an advisory lock on a file, with the name of who holds it, and turns in a folder."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from core.base import files
from core.base.result import KnowledgeError

TURN_SECONDS = 2.0
"""How long a writer waits for its turn in a folder. One turn is a write and its sync: milliseconds."""
LOOK_SECONDS = 0.05
"""How long a command waits for a lock at the least: who asks whether anybody holds it has it for a moment."""
_TURN_STEP_SECONDS = 0.002
_FAR = 1 << 30
_LOCK_STEP_SECONDS = 0.01
_turns = threading.local()


class LockHeldError(OSError):
    """Another process holds the lock; `holder` is its process id and what it does (`4711 undo`), as far as it says."""

    def __init__(self, path: Path, holder: str) -> None:
        super().__init__(errno.EWOULDBLOCK, "the lock is held by another process", str(path))
        self.holder = holder


@contextlib.contextmanager
def locked(path: Path, *, work: str = "", editor_wait: float = 0.0) -> Iterator[None]:
    """Hold an exclusive advisory lock on `path` (made when absent). `work` names the command that holds it, for those
    who are refused. `LockHeldError` when another has it and does not let go within `editor_wait` seconds."""
    until = time.monotonic() + max(editor_wait, LOOK_SECONDS)
    while True:
        try:
            fd = take(path, work=work)
            break
        except LockHeldError:
            if time.monotonic() >= until:
                raise
        time.sleep(_LOCK_STEP_SECONDS)
    try:
        yield
    finally:
        os.close(fd)


def at_work(holder: str) -> str:
    """Who holds a lock, in words: `'knowledge undo' is at work (process 4711)`."""
    process, _, work = holder.partition(" ")
    who = f"'knowledge {work}'" if work else "another program"
    return f"{who} is at work (process {process or 'unknown'})"


def refused(error: LockHeldError) -> KnowledgeError:
    """What a user is told whose command needs the lock for itself."""
    hint = "wait until it is done; nothing was changed"
    return KnowledgeError("lock-held", at_work(error.holder), error.filename or "", hint)


@contextlib.contextmanager
def only_one(path: Path, *, work: str = "", editor_wait: float = 0.0) -> Iterator[None]:
    """`locked`, for a command that needs the lock for itself: it is refused with a KnowledgeError."""
    try:
        with locked(path, work=work, editor_wait=editor_wait):
            yield
    except LockHeldError as error:
        raise refused(error) from error


def take(path: Path, *, work: str = "") -> int:
    """The same lock, held until the descriptor that is returned is closed: at the latest when this process ends, and
    every one that was handed it."""
    files.make_folder(path.parent)
    try:
        fd = files.open_regular(path, os.O_RDWR)
    except FileNotFoundError:
        fd = files.open_regular(path, os.O_RDWR | os.O_CREAT)
    try:
        try:
            _lock_descriptor(fd)
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES, errno.EAGAIN):
                raise
            raise LockHeldError(path, files.read_descriptor(fd, 4096).decode("utf-8", "replace").strip()) from None
        size = os.fstat(fd).st_size  # what is longer than the new words is written over with spaces
        os.lseek(fd, 0, os.SEEK_SET)
        files.write_all(fd, f"{os.getpid()} {work}".strip().encode().ljust(size))
    except BaseException:
        os.close(fd)
        raise
    return fd


@contextlib.contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """One writer of ours at a time in a folder, across threads and processes; a turn within a turn is the same turn.

    It only keeps programs of ours from meeting in the middle of an exchange. Nothing rests on it: an editor takes no
    turn, and where the system knows no lock on a folder, or nobody lets go within TURN_SECONDS, work goes on without.
    """
    held: set[str] = _turns.__dict__.setdefault("folders", set())
    name = os.path.abspath(folder)
    if name in held or sys.platform == "win32":
        yield
        return
    try:
        fd = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:  # whoever writes there will say what is wrong with it
        yield
        return
    try:
        wait_for_turn(fd)
        held.add(name)
        yield
    finally:
        held.discard(name)
        os.close(fd)


def wait_for_turn(fd: int) -> None:
    """One writer of ours at a time on an open file or folder, until its descriptor is closed; with the reservations of
    `folder_lock`. Windows knows no such turn."""
    if sys.platform == "win32":
        return
    until = time.monotonic() + TURN_SECONDS
    while True:
        try:
            _lock_descriptor(fd)
            return
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EAGAIN) or time.monotonic() >= until:
                return
        time.sleep(_TURN_STEP_SECONDS)


def holder_of(path: Path) -> str | None:
    """Who holds the lock ("" when that does not stand there), None when nobody does. Only looks: the file is neither
    made nor written. Raises OSError when it cannot be opened."""
    try:
        fd = files.open_regular(path, os.O_RDWR if sys.platform == "win32" else os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        _lock_descriptor(fd, shared=True)
    except OSError as error:
        if error.errno not in (errno.EWOULDBLOCK, errno.EACCES, errno.EAGAIN):
            raise
        return files.read_descriptor(fd, 4096).decode("utf-8", "replace").strip()
    finally:
        os.close(fd)
    return None


def _lock_descriptor(fd: int, *, shared: bool = False) -> None:
    if sys.platform == "win32":
        import msvcrt

        # What is locked there nobody else may read, and who holds it stands at the beginning: a byte far behind the end
        # is locked instead, which LockFile allows.
        here = os.lseek(fd, 0, os.SEEK_CUR)
        os.lseek(fd, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        finally:
            os.lseek(fd, here, os.SEEK_SET)
    else:
        import fcntl

        fcntl.flock(fd, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
