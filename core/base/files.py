"""Reading safely and writing durably. The only module of the project that changes the disk.

Durable means, after borg and SQLite: write a temporary file in the same folder, fsync it, rename it, fsync the folder.
Everything here raises OSError; the rooms above turn that into an `ErrorInfo`. Reads never follow a symbolic link in the
last component and never block on a FIFO.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import itertools
import os
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from core.base import temporaries
from core.base.renameat2 import EXCHANGE, NO_REPLACE, rename_with_flag

BUFFER_BYTES = 1 << 20
TEMPORARY_MARK = ".knowledge-tmp"
NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_NONBLOCK = getattr(os, "O_NONBLOCK", 0)
_BINARY = getattr(os, "O_BINARY", 0)
_counter = itertools.count()


class SyncError(OSError):
    """The disk refused to make a write durable. Never retried on one file: the kernel may have dropped the data."""


class Identity(NamedTuple):
    """Which file a descriptor is, and in what state: enough to notice that it changed."""

    dev: int
    ino: int
    size: int
    mtime_ns: int


@dataclass(frozen=True)
class FileRead:
    """A file's bytes, their sha256 (hex) and the identity they were read under."""

    data: bytes
    sha256: str
    identity: Identity


# --- reading ---------------------------------------------------------------------------------------------------------


def open_regular(path: str | Path, flags: int = os.O_RDONLY) -> int:
    """Open a regular file and return its descriptor; anything else (link, FIFO, folder, device) is an OSError."""
    try:
        fd = os.open(path, flags | NOFOLLOW | _NONBLOCK | _BINARY)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "a symbolic link stands there, which is not followed", str(path)) from None
        raise
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return fd


def identity_of(fd: int) -> Identity:
    found = os.fstat(fd)
    return Identity(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def read_descriptor(fd: int, limit: int | None = None) -> bytes:
    """All bytes from the start of `fd`; OSError(EFBIG) when there are more than `limit`."""
    size = os.fstat(fd).st_size
    if size < BUFFER_BYTES and (limit is None or size < limit):
        os.lseek(fd, 0, os.SEEK_SET)
        data = os.read(fd, size + 1)
        if len(data) <= size:  # one read had room for more: that is all
            return data
    chunks, total = [], 0
    for chunk in _chunks(fd):
        total += len(chunk)
        if limit is not None and total > limit:
            raise OSError(errno.EFBIG, f"larger than {limit} bytes")
        chunks.append(chunk)
    return b"".join(chunks)


def _chunks(fd: int) -> Iterator[bytes]:
    """The bytes of a regular file from its start; most are one chunk and one read."""
    os.lseek(fd, 0, os.SEEK_SET)
    step = min(os.fstat(fd).st_size + 1, BUFFER_BYTES)
    while chunk := os.read(fd, step):
        yield chunk
        if len(chunk) < step:
            return


def sha256_of_descriptor(fd: int) -> str:
    digest = hashlib.sha256()
    for chunk in _chunks(fd):
        digest.update(chunk)
    return digest.hexdigest()


def sha256_of_file(path: str | Path) -> str:
    fd = open_regular(path)
    try:
        return sha256_of_descriptor(fd)
    finally:
        os.close(fd)


def read_file(path: str | Path, limit: int | None = None) -> FileRead:
    """Read a regular file whole; OSError when it is none, is too large, or changed while it was read."""
    fd = open_regular(path)
    try:
        before = identity_of(fd)
        data = read_descriptor(fd, limit)
        if identity_of(fd) != before or len(data) != before.size:
            raise OSError(errno.EAGAIN, "the file changed while it was read", str(path))
        return FileRead(data, hashlib.sha256(data).hexdigest(), before)
    finally:
        os.close(fd)


def read_or_empty(path: str | Path) -> bytes:
    """The bytes of a regular file, or b"" when there is none."""
    try:
        fd = open_regular(path)
    except FileNotFoundError:
        return b""
    try:
        return read_descriptor(fd)
    finally:
        os.close(fd)


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


# --- writing ---------------------------------------------------------------------------------------------------------


def write_all(fd: int, data: bytes) -> None:
    """Write every byte; the first call carries the whole, so that a healthy disk sees one write."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def append(fd: int, data: bytes, size: int) -> None:
    """Write at the end of a file of `size` bytes, all or nothing: what a full disk let through is taken back.

    `SyncError` when even that fails: then a torn line stands there until recovery completes it.
    """
    try:
        write_all(fd, data)
    except OSError as error:
        try:
            take_back(fd, data, size)
        except OSError as second:
            raise SyncError(second.errno, second.strerror) from error
        raise


def take_back(fd: int, data: bytes, size: int) -> None:
    """Cut off the part of `data` that was written after the first `size` bytes; nothing else is ever cut."""
    os.lseek(fd, size, os.SEEK_SET)
    written = os.read(fd, len(data) + 1)
    if written and data.startswith(written):
        os.ftruncate(fd, size)


def sync(fd: int, *, data_only: bool = False) -> None:
    """Make a descriptor durable; `SyncError` when the disk refuses."""
    try:
        if data_only and hasattr(os, "fdatasync"):
            os.fdatasync(fd)
        else:
            os.fsync(fd)
    except OSError as error:
        raise SyncError(error.errno, error.strerror) from error


def sync_folder(path: str | Path) -> None:
    """Make the names in a folder durable. Windows has no such call: its rename is durable by itself."""
    if sys.platform == "win32":
        return
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        sync(fd)
    finally:
        os.close(fd)


def make_folder(path: Path) -> None:
    """Make a folder and its parents, 0700, each name durable."""
    if path.is_dir():
        return
    make_folder(path.parent)
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode=0o700)
        sync_folder(path.parent)


def temporary_name(path: Path, note: str = "") -> Path:
    """A name beside `path` that no reader takes for knowledge. `note` is carried in it, for recovery."""
    return path.with_name(f".{path.name[:120]}.{note}.{os.getpid()}-{next(_counter)}{TEMPORARY_MARK}")


def write_temporary(path: Path, data: bytes, mode: int, note: str = "") -> Path:
    """Write `data` durably under a temporary name beside `path` and return that name."""
    temporary = temporary_name(path, note)
    temporaries.made(temporary.name)
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NOFOLLOW | _BINARY, mode)
    try:
        write_all(fd, data)
        if sys.platform != "win32":
            os.fchmod(fd, mode)
        sync(fd)
    except BaseException:
        os.close(fd)
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    os.close(fd)
    return temporary


@temporaries.at_work
def write_atomic(path: Path, data: bytes, mode: int | None = None) -> None:
    """Replace `path` by `data`: a reader sees the old bytes or the new, also after a power cut.

    Keeps the permissions of what was there (a new file is 0600) and writes through a symbolic link to its target.
    """
    target = Path(os.path.realpath(path))
    if mode is None:
        try:
            mode = stat.S_IMODE(target.stat().st_mode)
        except FileNotFoundError:
            mode = 0o600
    temporary = write_temporary(target, data, mode)
    try:
        temporary.replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
    sync_folder(target.parent)


@temporaries.at_work
def create_atomic(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Make a new file with `data`; FileExistsError when the name is taken. The caller syncs the folder."""
    temporary = write_temporary(path, data, mode)
    try:
        rename_without_replacing(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def write_cache(path: Path, data: bytes) -> bool:
    """Replace a file that may be lost at any time: whole or not at all, but not synced. False when it cannot be."""
    temporary = temporary_name(path)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o600)
        try:
            write_all(fd, data)
        finally:
            os.close(fd)
        temporary.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink()
        return False
    return True


def discard(path: Path) -> None:
    """Unlink a file that nobody needs (a spent temporary one); not durable, and no error when it is gone."""
    with contextlib.suppress(FileNotFoundError):
        path.unlink()


def remove_file(path: Path) -> None:
    """Unlink and make it durable; nothing happens when it is gone already."""
    with contextlib.suppress(FileNotFoundError):
        path.unlink()
        sync_folder(path.parent)


def set_mode(path: Path, mode: int) -> None:
    """Set the permissions of a file or folder, never through a symbolic link."""
    if path.is_symlink():
        raise OSError(errno.ELOOP, "is a symbolic link", str(path))
    path.chmod(mode)


def remove_tree(path: Path) -> None:
    """Remove a folder with all that is in it, never through a symbolic link."""
    import shutil

    shutil.rmtree(path)
    sync_folder(path.parent)


def replace_file(source: Path, target: Path) -> None:
    """Rename over an existing file in the same folder and make the name durable."""
    source.replace(target)
    sync_folder(target.parent)


def rename_without_replacing(source: Path, target: Path) -> None:
    """Rename; FileExistsError when `target` is taken. The caller syncs the folders."""
    if rename_with_flag(source, target, NO_REPLACE):
        return
    if sys.platform == "win32":
        source.rename(target)
        return
    os.link(source, target, follow_symlinks=False)
    source.unlink()


def exchange(one: Path, other: Path) -> bool:
    """Swap two files in one step. False where the system cannot: the caller compares and replaces instead."""
    return rename_with_flag(one, other, EXCHANGE)
