"""Reading safely and writing durably. What changes knowledge on disk goes through here, and from here through disk.py.

Safe is never through a symbolic link in the last component, never blocked by a FIFO, within bounds. Durable means,
after borg and SQLite: write a temporary file in the same folder, fsync it, rename it, fsync the folder. Everything here
raises OSError; the rooms above turn that into a `KnowledgeError`.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import itertools
import json
import os
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec, TypeVar

from core.base import disk
from core.base.system import EXCHANGE, NO_REPLACE

TEMPORARY_MARK = ".knowledge-tmp"
_counter = itertools.count()
P = ParamSpec("P")
T = TypeVar("T")
BUFFER_BYTES = 1 << 20
PAUSES = (0.0, 0.01, 0.03, 0.06)
"""Seconds before a file that changed while it was read is read again."""
_NONBLOCK = getattr(os, "O_NONBLOCK", 0)

# --- reading ----------------------------------------------------------------------------------------------------------


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
    mode = os.fstat(fd).st_mode
    if not stat.S_ISREG(mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    if flags & os.O_RDWR and is_read_only(path, mode):
        os.close(fd)
        raise OSError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    return fd


def is_read_only(path: str | Path, mode: int) -> bool:
    """Whether a file of that mode is not to be written. Root may write any; what a user made read-only stays so for
    them, too."""
    return not mode & 0o222 or not os.access(path, os.W_OK)


@contextlib.contextmanager
def opened(path: str | Path, flags: int = os.O_RDONLY) -> Iterator[int]:
    """The descriptor that `open_regular` gives, closed behind it."""
    fd = open_regular(path, flags)
    try:
        yield fd
    finally:
        os.close(fd)


def identity_of(file: int | str | Path) -> Identity:
    """The file behind a descriptor or at a path as it is now."""
    found = os.stat(file)
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
    with opened(path) as fd, naming(path):
        return sha256_of_descriptor(fd)


def read_file(path: str | Path, limit: int | None = None) -> FileRead:
    """Read a regular file whole; OSError when it is none, is too large, or changes each time it is read.

    Somebody who saves it in that very moment is waited for: a few tries, about a tenth of a second in all.
    """
    for pause in (*PAUSES, None):
        with opened(path) as fd:
            before = identity_of(fd)
            with naming(path):
                data = read_descriptor(fd, limit)
            if identity_of(fd) == before and len(data) == before.size:
                return FileRead(data, hashlib.sha256(data).hexdigest())
        if pause is not None:
            time.sleep(pause)
    raise OSError(errno.EAGAIN, "the file changed while it was read", str(path))


def read_or_empty(path: str | Path) -> bytes:
    """The bytes of a regular file, or b"" when there is none. One that a file system loses while it is read is not
    empty: what is told as empty is written anew."""
    try:
        fd = open_regular(path)
    except FileNotFoundError:
        return b""
    try:
        with naming(path):
            return read_descriptor(fd)
    finally:
        os.close(fd)


DAMAGED = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError)
"""What it raises to read JSON that is damaged, and to take records out of values that are not what they were."""


def read_object(path: str | Path, limit: int | None = None) -> dict[str, Any] | None:
    """A JSON object out of a file of at most `limit` bytes; None where there is none that can be read."""
    try:
        found = json.loads(read_file(path, limit).data.decode("utf-8-sig"))
    except (OSError, *DAMAGED):
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


# --- which temporary files this process is at work on, so that no other thread takes them for what a crash left -------

_live_lock = threading.Lock()
_live: set[str] = set()
_scope = threading.local()


def at_work(function: Callable[P, T]) -> Callable[P, T]:
    """The temporary files that `function` makes are in use until it ends, however that is. Scopes may nest."""

    @functools.wraps(function)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> T:
        outer: list[str] | None = getattr(_scope, "names", None)
        names: list[str] = []
        _scope.names = names
        try:
            return function(*args, **kwargs)
        finally:
            _scope.names = outer
            if outer is not None:
                outer.extend(names)
            else:
                with _live_lock:
                    _live.difference_update(names)

    return wrapped


def made(name: str) -> None:
    """Call it before a temporary file of that name is made. Outside of `at_work` nobody needs it later."""
    names: list[str] | None = getattr(_scope, "names", None)
    if names is None:
        return
    names.append(name)
    with _live_lock:
        _live.add(name)


def is_live(name: str) -> bool:
    """Whether this process is at work on a temporary file of that name (without its folder)."""
    with _live_lock:
        return name in _live


class SyncError(OSError):
    """The disk refused to make a write durable. Never retried on one file: the kernel may have dropped the data."""


def write_all(fd: int, data: bytes) -> None:
    """Write every byte; the first call carries the whole, so that a healthy disk sees one write."""
    view = memoryview(data)
    while view:
        view = view[disk.write(fd, view) :]


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


def append_lines(fd: int, data: bytes) -> None:
    """The same for whole lines: they begin a line of their own whatever stands before them."""
    torn = b"\n" * (last_byte(fd) not in (b"", b"\n"))
    append(fd, torn + data, identity_of(fd).size)


def take_back(fd: int, data: bytes, size: int) -> None:
    """Cut off the part of `data` that was written after the first `size` bytes; nothing else is ever cut."""
    os.lseek(fd, size, os.SEEK_SET)
    written = disk.read(fd, len(data) + 1)
    if written and data.startswith(written):
        disk.truncate(fd, size)


def open_for_append(path: Path) -> int:
    """Open a regular file for reading and for writing at its end; made when it is not there, 0600. The caller syncs
    the folder."""
    try:
        return open_regular(path, os.O_RDWR | os.O_APPEND)
    except FileNotFoundError:
        return open_regular(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)


def empty(fd: int) -> None:
    """Take all bytes out of an open file, not durably: for a file that holds no knowledge."""
    disk.truncate(fd, 0)


def sync(fd: int, *, data_only: bool = False) -> None:
    """Make a descriptor durable; `SyncError` when the disk refuses."""
    try:
        disk.sync(fd, data_only=data_only)
    except OSError as error:
        raise SyncError(error.errno, error.strerror) from error


def sync_folder(path: str | Path) -> None:
    """Make the names in a folder durable; `SyncError` when the disk refuses."""
    if not disk.has_folder_sync():
        return
    fd = disk.open_file(path, os.O_RDONLY | disk.FOLDER)
    try:
        with naming(path):
            sync(fd)
    finally:
        os.close(fd)


def make_folder(path: Path, *, durable: bool = True) -> None:
    """Make a folder and its parents, 0700, each name durable unless it is for a cache."""
    if path.is_dir():
        return
    make_folder(path.parent, durable=durable)
    with contextlib.suppress(FileExistsError):
        disk.mkdir(path, 0o700)
        if durable:
            sync_folder(path.parent)


def temporary_name(path: Path, note: str = "") -> Path:
    """A name beside `path` that no reader takes for knowledge. `note` is carried in it, for recovery."""
    return path.with_name(f".{path.name[:120]}.{note}.{os.getpid()}-{next(_counter)}{TEMPORARY_MARK}")


def new_id() -> str:
    """What nothing else is called, in this process or another."""
    return f"{os.urandom(4).hex()}-{next(_counter)}"


def write_temporary(path: Path, data: bytes, mode: int, note: str = "") -> Path:
    """Write `data` durably under a temporary name beside `path` and return that name. The `note` comes into the name
    only when all of it is written: what a crash left with a note is whole."""
    temporary = temporary_name(path)
    made(temporary.name)
    fd = disk.open_file(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | disk.NOFOLLOW, mode)
    try:
        with naming(path):
            write_all(fd, data)
            if sys.platform != "win32" and stat.S_IMODE(os.fstat(fd).st_mode) != mode:
                disk.set_mode(fd, mode)
            sync(fd)
        if note:
            whole = temporary_name(path, note)
            made(whole.name)
            disk.rename(temporary, whole)
            temporary = whole
    except BaseException:
        os.close(fd)
        with contextlib.suppress(OSError):
            disk.unlink(temporary)
        raise
    os.close(fd)
    return temporary


@at_work
def write_atomic(path: Path, data: bytes, mode: int | None = None, *, lasting: bool = True) -> None:
    """Replace `path` by `data`: a reader sees the old bytes or the new, also after a power cut; not `lasting`, maybe
    the old ones still, which is enough for what is made again from other files.

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
        disk.rename(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            disk.unlink(temporary)
        raise
    if lasting:
        sync_folder(target.parent)


@at_work
def create_atomic(path: Path, data: bytes) -> None:
    """Make a new file with `data`; FileExistsError when the name is taken. The caller syncs the folder."""
    temporary = write_temporary(path, data, 0o600)
    try:
        rename_without_replacing(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            disk.unlink(temporary)
        raise


def write_cache(path: Path, data: bytes) -> bool:
    """Replace a file that may be lost at any time: whole or not at all, but not synced. False when it cannot be."""
    temporary = temporary_name(path)
    try:
        make_folder(path.parent, durable=False)
        fd = disk.open_file(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | disk.NOFOLLOW)
        try:
            write_all(fd, data)
        finally:
            os.close(fd)
        disk.rename(temporary, path)
    except OSError:
        with contextlib.suppress(OSError):
            disk.unlink(temporary)
        return False
    return True


def discard(path: Path) -> None:
    """Unlink a file that nobody needs (a spent temporary one); not durable, and no error when it is gone."""
    with contextlib.suppress(FileNotFoundError):
        disk.unlink(path)


def remove_file(path: Path) -> None:
    """Unlink and make it durable; nothing happens when it is gone already."""
    with contextlib.suppress(FileNotFoundError):
        disk.unlink(path)
        sync_folder(path.parent)


def link(path: Path, name: Path) -> None:
    """A second name of a file, in a folder of ours that goes again. Raises OSError on another disk."""
    disk.link(path, name)


def remove_if_empty(folder: Path) -> bool:
    """Take a folder away that holds nothing; whether it is gone."""
    try:
        disk.rmdir(folder)
        sync_folder(folder.parent)
    except OSError:
        return False
    return True


def set_mode(path: Path, mode: int) -> None:
    """Set the permissions of a file or folder, never through a symbolic link."""
    if path.is_symlink():
        raise OSError(errno.ELOOP, "is a symbolic link", str(path))
    disk.set_mode(path, mode)


def remove_tree(path: Path) -> None:
    """Remove a folder with all that is in it, never through a symbolic link.

    It first gets a name that no reader takes for anything: half a folder never stands under its own name, and what a
    crash leaves is found by that name.
    """
    doomed = path if path.name.endswith(TEMPORARY_MARK) else temporary_name(path)
    if doomed != path:
        rename_without_replacing(path, doomed)
        sync_folder(path.parent)
    _empty(doomed)
    disk.rmdir(doomed)
    sync_folder(path.parent)


def _empty(folder: Path) -> None:
    if not hasattr(os, "fwalk"):
        for item in list(os.scandir(folder)):
            if item.is_dir(follow_symlinks=False):
                _empty(Path(item.path))
                disk.rmdir(item.path)
            else:
                disk.unlink(item.path)
        return
    for _, folders, names, fd in os.fwalk(folder, topdown=False):  # by descriptor: no link can be put in the way
        for name in names:
            disk.unlink(name, fd)
        for name in folders:
            is_folder = stat.S_ISDIR(os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode)
            (disk.rmdir if is_folder else disk.unlink)(name, fd)


def replace_file(source: Path, target: Path) -> None:
    """Rename over an existing file in the same folder and make the name durable."""
    disk.rename(source, target)
    sync_folder(target.parent)


def rename_without_replacing(source: Path, target: Path) -> None:
    """Rename; FileExistsError when `target` is taken. The caller syncs the folders."""
    if disk.rename_flag(source, target, NO_REPLACE):
        return
    if sys.platform == "win32":
        disk.rename(source, target, replacing=False)
        return
    disk.link(source, target)
    disk.unlink(source)


def exchange(one: Path, other: Path) -> bool:
    """Swap two files in one step. False where the system cannot: the caller compares and replaces instead."""
    return disk.rename_flag(one, other, EXCHANGE)
