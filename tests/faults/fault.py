"""Faults at single operations of core/base/disk.py, and the counter that puts them there."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from core.base import disk

KILLS = ("before", "half", "after")
ERRORS = ("EIO", "ENOSPC", "EACCES", "EROFS", "EDQUOT")
TORN = ("EIO", "ENOSPC", "EDQUOT")
"""Errors that may come after part of a write is on the disk."""
COUNTED = disk.CHANGING
EVERYTHING = disk.CHANGING | {"open", "read"}


@dataclass(frozen=True)
class Fault:
    """What happens at the `at`-th operation (from 1): a kill `before`, `half` through a write or `after` it, or an
    error by its name; `forever` says that every later operation fails likewise."""

    at: int
    kind: str
    forever: bool = False

    def __str__(self) -> str:
        return f"{self.kind}{' from then on' * self.forever} at {self.at}"


class Counter:
    """Stands in for `disk.perform`: counts the operations named in `counted`, and lets one be where the fault is.

    `hit` is the name of the operation that got it, `where` the path that was about, `trail` the names of all counted.
    """

    def __init__(self, fault: Fault | None = None, counted: frozenset[str] = COUNTED) -> None:
        self.fault, self.counted = fault, counted
        self.trail: list[str] = []
        self.hit, self.where = "", ""
        self.taken_after_failed_sync = False

    def __call__(self, name: str, call: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        if name not in self.counted:
            return call(*arguments, **named)
        self.trail.append(name)
        fault, number = self.fault, len(self.trail)
        if name == "rename-flag" and self.hit == "sync" and f"{os.sep}.trash{os.sep}" in str(arguments[1]):
            self.taken_after_failed_sync = True
        if fault is None or number < fault.at or (number > fault.at and not fault.forever):
            return call(*arguments, **named)
        if not self.hit:
            self.hit, self.where = name, path_of(arguments)
        if fault.kind not in KILLS:
            raise self._error(name, fault.kind, arguments)
        if fault.kind == "half" and name == "write":
            call(arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2])
        elif fault.kind == "after":
            with contextlib.suppress(OSError):  # also one that the system refused is over now
                call(*arguments, **named)
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError("a killed process goes on")

    def _error(self, name: str, kind: str, arguments: tuple[Any, ...]) -> OSError:
        if name == "write" and kind in TORN:
            os.write(arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2])
        number = getattr(errno, kind)
        return OSError(number, os.strerror(number))


def path_of(arguments: tuple[Any, ...]) -> str:
    """What an operation is about: the path among its arguments (the target of a rename), or that of its descriptor."""
    paths = [str(one) for one in arguments if isinstance(one, str | os.PathLike)]
    if paths:
        return paths[-1]
    return os.readlink(f"/proc/self/fd/{arguments[0]}") if os.path.isdir("/proc/self/fd") else ""


def kill_points(trail: list[str], stride: int = 1, start: int = 0) -> list[Fault]:
    """A kill before and after every operation, and in the middle of every write; or every `stride`-th of them."""
    points = [
        Fault(number, kind)
        for number, name in enumerate(trail, start=1)
        for kind in KILLS
        if kind != "half" or name == "write"
    ]
    return points[start % stride :: stride]


def error_points(trail: list[str], stride: int = 1, start: int = 0) -> list[Fault]:
    """Every operation with every error, once and from then on."""
    points = [
        Fault(number, kind, forever)
        for number in range(1, len(trail) + 1)
        for kind in ERRORS
        for forever in (False, True)
    ]
    return points[start % stride :: stride]
