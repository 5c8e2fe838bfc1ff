"""Which project a bullet belongs to: the working folder of the conversation that its provenance names.

The ledger entry of a harvest records that folder (`project`); nothing else is needed, so moving the files about costs
nothing. A bullet without a provenance, or from a conversation without a folder, belongs to no project. A provenance
knows its conversation by name alone, and conversations of several folders may share one: such a name belongs to no
project either, or one project would be shown the other's words as its own.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Mapping, Set
from pathlib import Path
from typing import Any

from core.base import files
from core.base.markdown import Bullet, sanitise_name
from core.base.paths import Paths, cache_folder
from core.base.result import Err, Ok, Result
from core.knowledge.ledger import seen_ledger

SETTLED_SECONDS = 2.0
OWN, NONE, OTHER = 0, 1, 2
"""How near words are to a project: said in it, said nowhere in particular, said in another one."""
NOWHERE = ""
"""Stands among the folders of a name that a conversation without any folder has too."""

Projects = Mapping[str, Set[str]]
"""A conversation's name as provenances tell it -> every folder that conversations of that name worked in."""


def projects_of(entries: Mapping[str, Mapping[str, Any]]) -> dict[str, frozenset[str]]:
    """The folders of every name in the ledger. A name that no folder is known of is left out."""
    found: dict[str, dict[str, set[str]]] = {}
    for entry in entries.values():
        path, folder = str(entry.get("path", "")), entry.get("project")
        name = sanitise_name(str(entry.get("name", "")) or path.replace("\\", "/").rsplit("/", 1)[-1])
        if isinstance(folder, str) and folder:
            found.setdefault(name, {}).setdefault(path, set()).add(os.path.normpath(folder))
        elif entry.get("status") == "harvested":
            found.setdefault(name, {}).setdefault(path, set())
    # An earlier part of one and the same conversation may not have told its folder yet: that is not another one.
    folders = {name: frozenset(one for at in by.values() for one in at or (NOWHERE,)) for name, by in found.items()}
    return {name: known for name, known in folders.items() if known != {NOWHERE}}


def is_inside(folder: str, project: str) -> bool:
    """Whether a folder is a project's or lies below it."""
    root = os.path.normpath(project)
    return folder == root or folder.startswith(root.rstrip(os.sep) + os.sep)


def nearness(bullets: Iterable[Bullet], projects: Projects, project: str) -> int:
    """OWN when one of the bullets was certainly said in the project, OTHER when all whose folder is known were said in
    others, else NONE: no folder is known of any, or a name stands for conversations inside and outside of it."""
    inside = [
        [is_inside(folder, project) for folder in projects.get(row.provenance.source, ()) if folder]
        for row in bullets
        if row.provenance is not None and NOWHERE not in projects.get(row.provenance.source, ())
    ]
    if any(known and all(known) for known in inside):
        return OWN
    known = [one for folders in inside for one in folders]
    return OTHER if known and not any(known) else NONE


def project_around(folder: str, projects: Projects) -> str:
    """The nearest known project that holds a folder, "" for none."""
    known = {project for folders in projects.values() for project in folders if project}
    around = [project for project in known if is_inside(os.path.normpath(folder), project)]
    return max(around, key=len, default="")


# --- remembered ---


def known_projects(paths: Paths, environment: Mapping[str, str]) -> Result[Projects]:
    """What `projects_of` says of the ledger as it is now, remembered beside it.

    A prompt asks for this at every start, and a large ledger takes most of a second to read. A file in the cache folder
    (which `environment` may name) holds the answer together with size, time and inode of the ledger; deleting it loses
    nothing. What was changed within two seconds of a look is not remembered: its time may be the same after the next
    change.
    """
    state = _state(paths.ledger)
    cache = cache_folder(paths.home, environment) / "projects"
    known = _remembered(cache, state) if state is not None else None
    if known is not None:
        return Ok(known)
    ledger = seen_ledger(paths)
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
