"""Values that are made of files, kept ready in the cache folder while every one of these files is what it was.

A start that needs a number out of forty megabytes must not read them. Deleting what is kept costs time and nothing
else; what cannot be read, has another shape or is of another version of the program is made anew.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from core import __version__
from core.base import files

T = TypeVar("T")
SETTLED_SECONDS = 2.0
"""What was changed so lately may change again without its time telling so: what is made of it is not kept."""


def kept_ready(
    place: Path,
    inputs: Iterable[Path],
    make: Callable[[], T],
    *,
    asked: object = None,
    read: Callable[[Any], T] = lambda value: value,
    whole: Callable[[], bool] = lambda: True,
) -> T:
    """What `make` gives, or what it gave while the `inputs` (files, or folders whose names count) were as they are now
    and the same was `asked`. It is JSON; `read` takes it back, raising where it makes no sense. `whole` is asked after
    `make`: what something went wrong with is not kept, so that it is told each time."""
    paths, begun = tuple(inputs), time.time()
    try:
        state: list[Any] = [__version__, asked, [_state(path) for path in paths]]
    except OSError:
        return make()
    try:
        kept = json.loads(files.read_or_empty(place) or b"null")
        if isinstance(kept, dict) and kept["made_of"] == state:
            return read(kept["value"])
    except (OSError, ValueError, LookupError, ArithmeticError, TypeError, AttributeError, RecursionError):
        pass
    value = make()
    newest = max((max(row[3:]) for row in state[2] if row), default=0)
    if newest < (begun - SETTLED_SECONDS) * 1e9 and whole():
        # A file that changed meanwhile has another state by now: the next look does not take what is kept here.
        files.write_cache(place, json.dumps({"made_of": state, "value": value}).encode())
    return value


def _state(path: Path) -> list[int]:
    """What stands at a path: device, inode, size, and when it changed (nanoseconds); [] for nothing."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return []
    return [found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns]
