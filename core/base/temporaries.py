"""Which temporary files this very process is at work on, so that no other thread takes them for what a crash left."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_lock = threading.Lock()
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
                with _lock:
                    _live.difference_update(names)

    return wrapped


def made(name: str) -> None:
    """Call it before a temporary file of that name is made. Outside of `at_work` nobody needs it later."""
    names: list[str] | None = getattr(_scope, "names", None)
    if names is None:
        return
    names.append(name)
    with _lock:
        _live.add(name)


def is_live(name: str) -> bool:
    """Whether this process is at work on a temporary file of that name (without its folder)."""
    with _lock:
        return name in _live
