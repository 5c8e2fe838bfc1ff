"""Linux's renameat2: a rename that replaces nothing, and one that exchanges two names in one step.

Flags after rename(2). Only `files.py` uses this.
"""

from __future__ import annotations

import errno
import os
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ctypes

NO_REPLACE = 1
EXCHANGE = 2
_AT_FDCWD = -100


@cache
def _renameat2() -> ctypes._NamedFuncPointer | None:
    if not sys.platform.startswith("linux"):
        return None
    import ctypes

    try:
        return ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return None


def rename_with_flag(source: Path, target: Path, flag: int) -> bool:
    """Rename; False where the kernel or the file system does not have the call, OSError for any other failure."""
    call = _renameat2()
    if call is None:
        return False
    if call(_AT_FDCWD, os.fsencode(source), _AT_FDCWD, os.fsencode(target), flag) == 0:
        return True
    import ctypes

    number = ctypes.get_errno()
    if number in (errno.ENOSYS, errno.EINVAL):
        return False
    raise OSError(number, os.strerror(number), str(source), None, str(target))
