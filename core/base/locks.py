"""One process at a time: an advisory lock on a file, with the name of who holds it."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from core.base import files


class LockHeldError(OSError):
    """Another process holds the lock; `holder` is its process id as text, or ""."""

    def __init__(self, path: Path, holder: str) -> None:
        super().__init__(errno.EWOULDBLOCK, "the lock is held by another process", str(path))
        self.holder = holder


@contextlib.contextmanager
def locked(path: Path, *, holder: str = "") -> Iterator[None]:
    """Hold an exclusive advisory lock on `path` (made when absent); `LockHeldError` at once when another has it."""
    files.make_folder(path.parent)
    fd = files.open_regular(path, os.O_RDWR | os.O_CREAT)
    try:
        try:
            _lock_descriptor(fd)
        except OSError as error:
            if error.errno not in (errno.EWOULDBLOCK, errno.EACCES, errno.EAGAIN):
                raise
            raise LockHeldError(path, files.read_descriptor(fd, 4096).decode("utf-8", "replace").strip()) from None
        files.overwrite(fd, (holder or str(os.getpid())).encode())
        yield
    finally:
        os.close(fd)


def holder_of(path: Path) -> str | None:
    """Who holds the lock ("" when that does not stand there), None when nobody does. Only looks: the file is neither
    made nor written. Raises OSError when it cannot be opened."""
    try:
        fd = files.open_regular(path, os.O_RDWR if sys.platform == "win32" else os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        _lock_descriptor(fd)
    except OSError as error:
        if error.errno not in (errno.EWOULDBLOCK, errno.EACCES, errno.EAGAIN):
            raise
        return files.read_descriptor(fd, 4096).decode("utf-8", "replace").strip()
    finally:
        os.close(fd)
    return None


def _lock_descriptor(fd: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
