"""Work on the whole store: under the run lock, after what the last run left unfinished has been brought to its end."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TypeVar

from core.base import locks
from core.base.homes import advice
from core.base.paths import Paths
from core.base.result import Result, fail
from core.harvest.recovery import Recovered, recover
from core.knowledge.swap import EDITOR_WAIT, EditorWait

T = TypeVar("T")


def with_store(
    paths: Paths,
    name: str,
    now: datetime,
    work: Callable[[Recovered], Result[T]],
    editor_wait: EditorWait = EDITOR_WAIT,
) -> Result[T]:
    """Run `work` of the command `name` while nobody else changes the store. Err when another command holds the lock, or
    the disk refuses."""
    try:
        with locks.locked(paths.lock, work=name):
            return work(recover(paths, now, editor_wait))
    except locks.LockHeldError as error:
        return locks.refused(error)
    except OSError as error:
        message = f"the knowledge folder cannot be used: {error.strerror or error}"
        return fail("store-failed", message, error.filename or "", advice(error))
