"""Which format a store has, `.state/format`: so that a program that is older than a store does not write into it.

- 1 (no such file): an edit at work is a file in `.state/edits`, a plan of the fact index is `.state/facts.journal`.
- 2: both are lines of `.state/log`.

A store is carried over by the first program that writes into it, and read by each that knows its format.
"""

from __future__ import annotations

import errno
import re

from core.base import files
from core.base.paths import Paths
from core.base.result import Err, fail

FORMAT = 2
HINT = "use the version of this program that wrote it last, or a later one"


def why_refused(paths: Paths) -> Err | None:
    """An error for a store that a later version wrote; None for one that this program can read, and for one that says
    nothing: to look at it harms nobody, and before anything is written it is asked again."""
    try:
        found = format_of(paths)
    except OSError:
        return None
    return fail("newer-store", _sentence(found), paths.format, HINT) if found > FORMAT else None


def format_of(paths: Paths) -> int:
    """The number of a store's format. What is no number was cut off by a crash, and stands for the first. OSError."""
    found = re.match(rb"\d{1,9}(?=\n|\Z)", files.read_or_empty(paths.format))
    return int(found[0]) if found else 1


def require_known(paths: Paths) -> int:
    """The number of a store's format. Raises OSError, also for a newer one than this program knows."""
    found = format_of(paths)
    if found > FORMAT:
        raise OSError(errno.EINVAL, _sentence(found), str(paths.format))
    return found


def write_format(paths: Paths) -> None:
    """The store is one of this format from now on. Raises OSError."""
    files.make_folder(paths.state)
    files.write_atomic(paths.format, b"%d\n" % FORMAT, 0o600)


def _sentence(found: int) -> str:
    return f"this store has format {found}, and this program knows formats up to {FORMAT}"
