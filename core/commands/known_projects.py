"""Which conversations belong to which project, remembered beside the ledger that tells it.

A prompt asks for this at every start, and a large ledger takes most of a second to read. A file in the cache folder
holds the answer together with size, time and inode of the ledger; deleting it loses nothing. What was changed within
two seconds of a look is not remembered: its time may be the same after the next change.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from core.base import files
from core.base.paths import cache_folder
from core.base.result import Err, Ok, Result
from core.commands.workspace import Workspace
from core.knowledge.ledger import seen_ledger
from core.knowledge.projects import Projects, projects_of

SETTLED_SECONDS = 2.0


def known_projects(workspace: Workspace) -> Result[Projects]:
    """What `projects_of` says of the ledger as it is now."""
    state = _state(workspace.paths.ledger)
    cache = cache_folder(workspace.paths.home, workspace.environment) / "projects"
    known = _remembered(cache, state) if state is not None else None
    if known is not None:
        return Ok(known)
    ledger = seen_ledger(workspace.paths)
    if isinstance(ledger, Err):
        return ledger
    projects = projects_of(ledger.value)
    if state is not None and state[2] < (time.time() - SETTLED_SECONDS) * 1e9:
        sets = {folders: number for number, folders in enumerate(dict.fromkeys(projects.values()))}
        rows = {name: sets[folders] for name, folders in projects.items()}
        told = {"ledger": state, "folders": [sorted(folders) for folders in sets], "names": rows}
        files.write_cache(cache, json.dumps(told).encode())
    return Ok(projects)


def _state(ledger: Path) -> list[int] | None:
    try:
        found = ledger.lstat()
    except OSError:
        return None
    return [found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns]


def _remembered(cache: Path, state: list[int]) -> Projects | None:
    try:
        told: Any = json.loads(files.read_or_empty(cache) or b"null")
        if not isinstance(told, dict) or told["ledger"] != state:
            return None
        folders = [frozenset(map(str, row)) for row in told["folders"]]
        return {name: folders[number] for name, number in told["names"].items()}
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError):
        return None
