"""Whether anything that the fact index is made of has changed since it was last brought up to date.

A small file in the cache folder holds size, time and inode of every file in question; deleting it loses nothing. What
was changed within two seconds of a look is looked at again: its time may be the same after the next change.
"""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from core.base import files
from core.base.paths import cache_folder
from core.commands.workspace import Workspace
from core.factindex import index
from core.factindex.places import fact_places
from core.factindex.sync import cut_off, record_path

SETTLED_SECONDS = 2.0


def state_of(workspace: Workspace, now: datetime) -> list[Any] | None:
    """Everything that decides what the index holds; None while something was changed just now. Raises OSError."""
    paths = workspace.paths
    names = [*(name for name, _ in fact_places(paths.knowledge)), index.NAME]
    rows: list[Any] = [now.astimezone(UTC).date().isoformat(), workspace.config.fact_index]
    newest = 0.0
    places = [*(paths.knowledge / name for name in names), record_path(paths.state)]
    places += sorted(paths.plans.glob("*.jsonl")) if paths.plans.is_dir() else []
    for path in places:
        try:
            found = path.lstat()
        except FileNotFoundError:
            return None
        rows.append([str(path), found.st_size, found.st_mtime_ns, found.st_ino])
        newest = max(newest, found.st_mtime)
    settled = newest < time.time() - SETTLED_SECONDS and not cut_off(paths.state)
    return rows if settled else None


def unchanged(workspace: Workspace, now: datetime) -> list[int] | None:
    """How many facts index.json holds, how many of them are stale and faded; None when it must be looked at again."""
    try:
        seen = json.loads(files.read_or_empty(_file(workspace)) or b"null")
        if not isinstance(seen, dict) or seen["state"] != state_of(workspace, now):
            return None
        return list(map(int, seen["counts"]))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def remember(workspace: Workspace, now: datetime, counts: list[int]) -> None:
    """The index was found to be up to date, and to hold that much."""
    try:
        state = state_of(workspace, now)
    except OSError:
        return
    if state is not None:
        files.write_cache(_file(workspace), json.dumps({"state": state, "counts": counts}).encode())


def _file(workspace: Workspace) -> Path:
    return cache_folder(workspace.paths.home, workspace.environment) / "facts"
