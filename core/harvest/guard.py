"""Asks once more, at the moment of removal, whether a conversation may go: the host application runs on meanwhile.

A run with a slow model takes hours. A conversation that the person saves in that time, or that has become the one of a
file again, is not taken away by a plan made before.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from core.base import files
from core.base.paths import Paths
from core.harvest.classify import classify_conversation
from core.sources.artifact import Artifact
from core.sources.scan import read_protection, scan_conversations, why_careful

FRESH_SECONDS = 1.0
QUIET_SECONDS = 600
"""A conversation of another tool that changed less than this ago may still be written."""


class Guard:
    """The index files as they are now; looked at again when the last look is older than `FRESH_SECONDS`."""

    def __init__(self, paths: Paths, clock: Callable[[], float] = time.monotonic) -> None:
        self._paths = paths
        self._clock = clock
        self._looked: float | None = None

    def objection(self, item: Artifact) -> str:
        """Why this conversation must stay, "" if it may go. Raises OSError when the folder cannot be listed."""
        if item.is_foreign:
            return _why_foreign_stays(item)
        self._look()
        if self._protection.unreadable:
            return why_careful(self._protection.unreadable)
        found = classify_conversation(item, self._protection, self._folder)
        return "" if found.verdict == "harvest" else found.reason

    def protects(self, path: str) -> str:
        """Why what was at `path`, and is in the trash now, must not go for good; "" if it may. Raises OSError."""
        self._look()
        if self._protection.unreadable:
            return why_careful(self._protection.unreadable)
        if path and os.path.realpath(path) in self._protection.saved:
            return "you have saved it in the meantime"
        owner, there = self._protection.owners.get(os.path.basename(path), ("", False))
        return f"belongs to {owner}" if there and not files.exists(path) else ""

    def _look(self) -> None:
        now = self._clock()
        if self._looked is None or now - self._looked > FRESH_SECONDS:
            self._protection = read_protection(scan_conversations(self._paths))
            self._folder = os.path.realpath(self._paths.conversations)
            self._looked = now


def _why_foreign_stays(item: Artifact) -> str:
    if item.kind != "conversation":
        return "nothing is taken out of another tool's store"
    age = time.time() - os.lstat(item.path).st_mtime
    return "its tool may still be writing it" if age < QUIET_SECONDS else ""
