"""Values that are made of files, kept ready in the cache folder while every one of these files is what it was.

A start that needs a number out of forty megabytes must not read them. Deleting what is kept costs time and nothing
else; what cannot be read, has another shape or is of another version of the program is made again.
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
    write: Callable[[T], Any] = lambda value: value,
    read: Callable[[Any], T] = lambda value: value,
    whole: Callable[[], bool] = lambda: True,
) -> T:
    """What `make` gives, or what it gave while the `inputs` (files, or folders whose names count) were as they are now
    and the same was `asked`. `write` makes JSON of it where it is none; `read` takes it back, raising where it makes no
    sense. `whole` is asked after `make`: what something went wrong with is not kept, so that it is told each time."""
    begun = time.time()
    try:
        states = [_state(path) for path in inputs]
    except OSError:
        return make()
    made_of = [__version__, asked, states]
    try:
        kept = json.loads(files.read_or_empty(place) or b"null")
        if isinstance(kept, dict) and kept["made_of"] == made_of:
            return read(kept["value"])
    except (OSError, *files.DAMAGED):
        pass
    value = make()
    newest = max((max(row[3:]) for row in states if row), default=0)
    if whole() and newest < (begun - SETTLED_SECONDS) * 1e9:
        # A file that changed meanwhile has another state by now: the next look does not take what is kept here.
        files.write_cache(place, json.dumps({"made_of": made_of, "value": write(value)}).encode())
    return value


def _state(path: Path) -> list[int]:
    """What stands at a path: device, inode, size, and when it changed (nanoseconds); [] for nothing."""
    try:
        return state_of(os.stat(path))
    except FileNotFoundError:
        return []


def state_of(found: os.stat_result) -> list[int]:
    """Device, inode, size, and when it changed (nanoseconds)."""
    return [found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns]
