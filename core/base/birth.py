"""When a file was born: the one fact that tells a reused inode from the file that had it before."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from functools import cache
from pathlib import Path

_STATX_BTIME = 0x800
_AT_FDCWD = -100
_AT_SYMLINK_NOFOLLOW = 0x100
_AT_EMPTY_PATH = 0x1000
_UNKNOWN = frozenset((errno.ENOSYS, errno.EPERM, errno.EINVAL, errno.EOPNOTSUPP))
"""What a system says that has no such call, or forbids it to everybody."""


class _StatxTime(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_int64), ("nanoseconds", ctypes.c_uint32), ("reserved", ctypes.c_int32))


class _Statx(ctypes.Structure):
    """`struct statx` of linux/stat.h, as far as the birth time."""

    _fields_ = (
        ("mask", ctypes.c_uint32),
        ("block_size", ctypes.c_uint32),
        ("attributes", ctypes.c_uint64),
        ("links", ctypes.c_uint32),
        ("uid", ctypes.c_uint32),
        ("gid", ctypes.c_uint32),
        ("mode", ctypes.c_uint16),
        ("spare", ctypes.c_uint16),
        ("ino", ctypes.c_uint64),
        ("size", ctypes.c_uint64),
        ("blocks", ctypes.c_uint64),
        ("attributes_mask", ctypes.c_uint64),
        ("access", _StatxTime),
        ("birth", _StatxTime),
        ("rest", ctypes.c_uint8 * 256),
    )


@cache
def _statx() -> ctypes._NamedFuncPointer | None:
    try:
        return ctypes.CDLL(None, use_errno=True).statx
    except (OSError, AttributeError):
        return None


def birth_ns(file: str | Path | int) -> int | None:
    """Nanoseconds since 1970 at which a file was made, or None where the system does not know. `file` is a path, whose
    last part is not followed, or a descriptor. Raises OSError when the file cannot be looked at."""
    if sys.platform.startswith("linux"):
        call, record = _statx(), _Statx()
        if call is None:
            return None
        folder, name, flags = (
            (file, b"", _AT_EMPTY_PATH) if isinstance(file, int) else (_AT_FDCWD, os.fsencode(file), 0)
        )
        if call(folder, name, flags | _AT_SYMLINK_NOFOLLOW, _STATX_BTIME, ctypes.byref(record)):
            number = ctypes.get_errno()
            if number in _UNKNOWN:
                return None
            raise OSError(number, os.strerror(number), None if isinstance(file, int) else str(file))
        if not record.mask & _STATX_BTIME:
            return None
        return int(record.birth.seconds) * 1_000_000_000 + int(record.birth.nanoseconds)
    found = os.stat(file) if isinstance(file, int) else os.stat(file, follow_symlinks=False)
    seconds = getattr(found, "st_birthtime", None)
    return int(seconds * 1_000_000_000) if seconds is not None else None
