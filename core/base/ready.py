"""Values that are made of files, kept ready in the cache folder while every one of these files is what it was.

A start that needs a number out of forty megabytes must not read them. Deleting what is kept costs time and nothing
else; what cannot be read, has another shape or is of another version of the program is made anew. (The answer of
`knowledge context` is kept in a way of its own, in cli/kept_context.py: it is looked up before this file is loaded.)
"""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Generic, Self, TypeVar

from core import __version__
from core.base import files

T = TypeVar("T")
SETTLED_SECONDS = 2.0
"""What was changed so lately may change again without its time telling so: what is made of it is not kept."""
SHARE = 50
"""What is kept of a folder is written anew when more than one in so many of its rows is new."""
_DAMAGED = (OSError, ValueError, LookupError, ArithmeticError, TypeError, AttributeError, RecursionError)


# --- one value of some files -----------------------------------------------------------------------------------------


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
    paths, begun = tuple(inputs), time.time()
    try:
        seen = look(paths, asked)
    except OSError:
        return make()
    kept = recalled(place, seen, read)
    if kept is not None:
        return kept[0]
    value = make()
    if whole():
        # A file that changed meanwhile has another state by now: the next look does not take what is kept here.
        keep(place, seen, write(value), begun)
    return value


def look(inputs: Iterable[Path], asked: object = None) -> list[Any]:
    """What a value is made of: the version of the program, what was asked, and the state of each file. Raises
    OSError."""
    return [__version__, asked, [_state(path) for path in inputs]]


def recalled(place: Path, seen: list[Any], read: Callable[[Any], T]) -> tuple[T] | None:
    """What is kept at a place, in a tuple of one, if it is made of what was `seen`."""
    try:
        kept = json.loads(files.read_or_empty(place) or b"null")
        if isinstance(kept, dict) and kept["made_of"] == seen:
            return (read(kept["value"]),)
    except _DAMAGED:
        pass
    return None


def keep(place: Path, seen: list[Any], value: object, begun: float) -> None:
    """Keep a value that was made of what was `seen` at `begun` (seconds, as `time.time`), if all of it had settled."""
    if has_settled(seen, begun):
        files.write_cache(place, json.dumps({"made_of": seen, "value": value}).encode())


def has_settled(seen: list[Any], begun: float) -> bool:
    """Whether nothing of it changed so lately before `begun` that it may change again without its time telling so."""
    newest = max((max(row[3:]) for row in seen[2] if row), default=0)
    return newest < (begun - SETTLED_SECONDS) * 1e9


def _state(path: Path) -> list[int]:
    """What stands at a path: device, inode, size, and when it changed (nanoseconds); [] for nothing."""
    try:
        return _row(os.stat(path))
    except FileNotFoundError:
        return []


def _row(found: os.stat_result) -> list[int]:
    return [found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns]


# --- a value of each file in a folder --------------------------------------------------------------------------------


class KeptRows(Generic[T]):
    """What each file of one folder gave when it was last read, in one file of the cache (`place`; None keeps nothing):
    what `make` gives for a path. `write` makes JSON of it, None for what is not to be kept; `read` takes that back,
    None or raising where it makes no sense.

    A file is read again where its inode, size or times differ, where it is a link, or where it changed so lately that
    its times could stay the same when it changes once more. What is new is written at the end of the `with` block."""

    def __init__(
        self,
        place: Path | None,
        make: Callable[[Path], T],
        write: Callable[[T], Any],
        read: Callable[[Any, Path], T | None],
    ) -> None:
        self._place, self._make, self._write, self._read = place, make, write, read
        self._before: dict[str, Any] = {}
        self._now: dict[str, Any] = {}
        self._new = 0
        self._settled = (time.time() - SETTLED_SECONDS) * 1e9

    def __enter__(self) -> Self:
        try:
            loaded = json.loads(files.read_or_empty(self._place) or b"{}") if self._place is not None else {}
            if loaded.get("version") == __version__ and isinstance(loaded["files"], dict):
                self._before = loaded["files"]
        except _DAMAGED:
            pass
        return self

    def __exit__(self, *_: object) -> None:
        # A few new ones are read once more the next time: all are written only where that saves more than it costs, or
        # where one is gone, whose words nobody wants to find here.
        gone = len(self._before) - (len(self._now) - self._new)
        if self._place is not None and (gone or self._new * SHARE > len(self._now)):
            files.write_cache(self._place, json.dumps({"version": __version__, "files": self._now}).encode())

    def of(self, path: Path) -> T:
        """What a file of the folder gives, or gave."""
        if self._place is None:
            return self._make(path)
        try:
            found = os.lstat(path)
        except OSError:
            return self._make(path)
        name, state = path.name, _row(found)
        try:
            before, kept = self._before[name]
            value = self._read(kept, path) if before == state else None
        except _DAMAGED:
            value = None
        if value is not None:
            self._now[name] = self._before[name]
            return value
        value = self._make(path)
        if stat.S_ISREG(found.st_mode) and max(state[3:]) < self._settled:
            row = self._write(value)
            if row is not None:
                self._now[name] = [state, row]
                self._new += 1
        return value
