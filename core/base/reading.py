"""Reading safely: never through a symbolic link in the last component, never blocked by a FIFO, within bounds.

Everything here raises OSError; the rooms above turn that into an `ErrorInfo`. `files.py` hands these names on, so that
a room imports one module for its files.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from core.base import disk

BUFFER_BYTES = 1 << 20
PAUSES = (0.0, 0.01, 0.03, 0.06)
"""Seconds before a file that changed while it was read is read again."""
_NONBLOCK = getattr(os, "O_NONBLOCK", 0)


class Identity(NamedTuple):
    """Which file a descriptor is, and in what state: enough to notice that it changed."""

    dev: int
    ino: int
    size: int
    mtime_ns: int


@dataclass(frozen=True)
class FileRead:
    """A file's bytes and their sha256 (hex)."""

    data: bytes
    sha256: str


@contextlib.contextmanager
def naming(path: str | Path) -> Iterator[None]:
    """An OSError that comes out of here says which file it is about: those of read, write and fsync do not."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        raise


def open_regular(path: str | Path, flags: int = os.O_RDONLY) -> int:
    """Open a regular file and return its descriptor; anything else (link, FIFO, folder, device) is an OSError.

    With O_CREAT in `flags` a file that is not there is made, 0600.
    """
    try:
        fd = disk.open_file(path, flags | disk.NOFOLLOW | _NONBLOCK)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "a symbolic link stands there, which is not followed", str(path)) from None
        raise
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return fd


def identity_of(fd: int) -> Identity:
    """The file behind a descriptor as it is now."""
    found = os.fstat(fd)
    return Identity(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def read_descriptor(fd: int, limit: int | None = None) -> bytes:
    """All bytes from the start of `fd`; OSError(EFBIG) when there are more than `limit`."""
    chunks, total = [], 0
    for chunk in _chunks(fd):
        total += len(chunk)
        if limit is not None and total > limit:
            raise OSError(errno.EFBIG, f"larger than {limit} bytes")
        chunks.append(chunk)
    return b"".join(chunks)


def read_beginning(fd: int, limit: int) -> bytes:
    """The first `limit` bytes behind `fd`, or all when there are fewer."""
    os.lseek(fd, 0, os.SEEK_SET)
    chunks, left = [], limit
    while left > 0 and (chunk := disk.read(fd, min(left, BUFFER_BYTES))):
        chunks.append(chunk)
        left -= len(chunk)
    return b"".join(chunks)


def _chunks(fd: int) -> Iterator[bytes]:
    """The bytes of a regular file from its start; most are one chunk and one read."""
    os.lseek(fd, 0, os.SEEK_SET)
    step = min(os.fstat(fd).st_size + 1, BUFFER_BYTES)
    while chunk := disk.read(fd, step):
        yield chunk
        if len(chunk) < step:
            return


def last_byte(fd: int) -> bytes:
    """The last byte of a file, b"" for an empty one."""
    size = os.fstat(fd).st_size
    if not size:
        return b""
    os.lseek(fd, size - 1, os.SEEK_SET)
    return disk.read(fd, 1)


def sha256_of_descriptor(fd: int) -> str:
    """The sha256 (hex) of all bytes behind a descriptor."""
    digest = hashlib.sha256()
    for chunk in _chunks(fd):
        digest.update(chunk)
    return digest.hexdigest()


def sha256_of_file(path: str | Path) -> str:
    """The sha256 (hex) of a regular file."""
    fd = open_regular(path)
    try:
        with naming(path):
            return sha256_of_descriptor(fd)
    finally:
        os.close(fd)


def read_file(path: str | Path, limit: int | None = None) -> FileRead:
    """Read a regular file whole; OSError when it is none, is too large, or changes each time it is read.

    Somebody who saves it in that very moment is waited for: a few tries, about a tenth of a second in all.
    """
    for pause in (*PAUSES, None):
        fd = open_regular(path)
        try:
            before = identity_of(fd)
            with naming(path):
                data = read_descriptor(fd, limit)
            if identity_of(fd) == before and len(data) == before.size:
                return FileRead(data, hashlib.sha256(data).hexdigest())
        finally:
            os.close(fd)
        if pause is not None:
            time.sleep(pause)
    raise OSError(errno.EAGAIN, "the file changed while it was read", str(path))


def read_or_empty(path: str | Path) -> bytes:
    """The bytes of a regular file, or b"" when there is none."""
    try:
        fd = open_regular(path)
    except FileNotFoundError:
        return b""
    try:
        with naming(path):
            return read_descriptor(fd)
    finally:
        os.close(fd)


def read_object(path: str | Path, limit: int) -> dict[str, Any] | None:
    """A JSON object out of a file of at most `limit` bytes; None where there is none that can be read."""
    try:
        found = json.loads(read_file(path, limit).data.decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def exists(path: str | Path) -> bool:
    """Whether anything has that name, a dangling link included."""
    return os.path.lexists(path)


def is_same_file(fd: int, path: str | Path) -> bool:
    """Whether `path` still names the file behind `fd` (an editor may have renamed another one over it)."""
    try:
        named = os.stat(path, follow_symlinks=False)
    except FileNotFoundError:
        return False
    held = os.fstat(fd)
    return (named.st_dev, named.st_ino) == (held.st_dev, held.st_ino)
