"""What Linux, macOS and Windows call by other names: an exchange of two files, a rename that replaces nothing, bytes
that are on the disk for certain, the birth of a file.

After rename(2), statx(2) and fsync(2) of Linux; renameatx_np(2) and fcntl(2) of macOS, whose fsync leaves the bytes in
the drive's own memory; and MoveFileEx of Windows, which refuses a taken name by itself and has no exchange. Every file
system is asked, and what one does not have is said with a value, never guessed from the system's name alone.
"""

from __future__ import annotations

import errno
import os
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import ctypes

LINUX, MACOS, WINDOWS = "linux", "darwin", "win32"
NO_REPLACE, EXCHANGE = 1, 2
"""Flags of `rename_with_flag`, as renameat2 of Linux has them."""
_FLAGS_OF_MACOS = {NO_REPLACE: 4, EXCHANGE: 2}  # RENAME_EXCL, RENAME_SWAP of sys/stdio.h
_AT_FDCWD = {LINUX: -100, MACOS: -2}
_F_FULLFSYNC = 51
_NO_SUCH_CALL = frozenset((errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP))


def running() -> str:
    """The system, as `sys.platform` has it; tests play the others."""
    return LINUX if sys.platform.startswith(LINUX) else sys.platform


@cache
def _function(name: str) -> ctypes._NamedFuncPointer | None:
    """A function of the C library, None where it has none of that name."""
    import ctypes  # not for a command that needs none of this: it takes as long to load as a bare Python

    try:
        return getattr(ctypes.CDLL(None, use_errno=True), name, None)
    except (OSError, TypeError):  # Windows has no library of that kind
        return None


def _error() -> int:
    import ctypes

    return ctypes.get_errno()


# --- names ------------------------------------------------------------------------------------------------------------


def rename_with_flag(source: Path, target: Path, flag: int) -> bool:
    """Rename so that nothing is replaced, or exchange two names, in one step. False where the system or the file system
    cannot, OSError for any other failure."""
    system = running()
    if system not in _AT_FDCWD:
        return False
    call = _function("renameat2" if system == LINUX else "renameatx_np")
    if call is None:
        return False
    here, word = _AT_FDCWD[system], flag if system == LINUX else _FLAGS_OF_MACOS[flag]
    if call(here, os.fsencode(source), here, os.fsencode(target), word) == 0:
        return True
    number = _error()
    if number in _NO_SUCH_CALL:
        return False
    raise OSError(number, os.strerror(number), str(source), None, str(target))


# --- bytes on the disk ------------------------------------------------------------------------------------------------


def sync(fd: int, data_only: bool = False) -> None:
    """Come back when the bytes of a file are on the disk, not only in the drive's memory. Raises OSError."""
    if running() == MACOS:
        import fcntl

        try:
            fcntl.fcntl(fd, getattr(fcntl, "F_FULLFSYNC", _F_FULLFSYNC))
            return
        except OSError as error:  # a network's file system, or one of another system, does not know it
            if error.errno not in (*_NO_SUCH_CALL, errno.ENOTTY):
                raise
    (os.fdatasync if data_only and hasattr(os, "fdatasync") else os.fsync)(fd)


# --- birth ------------------------------------------------------------------------------------------------------------

_STATX_BTIME = 0x800
_AT_SYMLINK_NOFOLLOW, _AT_EMPTY_PATH = 0x100, 0x1000
_STATX_BYTES, _MASK_AT, _BIRTH_AT = 256, 0, 80  # struct statx of linux/stat.h
_UNKNOWN = frozenset((errno.ENOSYS, errno.EPERM, errno.EINVAL, errno.EOPNOTSUPP))
"""What a system says that has no such call, or forbids it to everybody."""


def birth_ns(file: str | Path | int) -> int | None:
    """Nanoseconds since 1970 at which a file was made, which tells a reused inode from the file that had it before; or
    None where the system does not know. `file` is a path, whose last part is not followed, or a descriptor. Raises
    OSError when the file cannot be looked at."""
    system = running()
    if system == LINUX:
        return _birth_by_statx(file)
    found: Any = os.stat(file) if isinstance(file, int) else os.stat(file, follow_symlinks=False)
    if system == WINDOWS and not hasattr(found, "st_birthtime"):  # before Python 3.12 it is called so
        return int(found.st_ctime_ns)
    seconds = getattr(found, "st_birthtime", None)
    return int(seconds * 1_000_000_000) if seconds is not None else None


def _birth_by_statx(file: str | Path | int) -> int | None:
    call = _function("statx")
    if call is None:
        return None
    record = bytearray(_STATX_BYTES)
    import ctypes

    place = (ctypes.c_char * _STATX_BYTES).from_buffer(record)
    here, name, flags = (
        (file, b"", _AT_EMPTY_PATH) if isinstance(file, int) else (_AT_FDCWD[LINUX], os.fsencode(file), 0)
    )
    if call(here, name, flags | _AT_SYMLINK_NOFOLLOW, _STATX_BTIME, place):
        number = _error()
        if number in _UNKNOWN:
            return None
        raise OSError(number, os.strerror(number), None if isinstance(file, int) else str(file))
    del place

    def number_at(at: int, size: int, *, signed: bool = False) -> int:
        return int.from_bytes(record[at : at + size], sys.byteorder, signed=signed)

    if not number_at(_MASK_AT, 4) & _STATX_BTIME:
        return None
    return number_at(_BIRTH_AT, 8, signed=True) * 1_000_000_000 + number_at(_BIRTH_AT + 8, 4)
