"""Which project a bullet belongs to: the working folder of the conversation that its provenance names.

The ledger entry of a harvest records that folder (`project`); nothing else is needed, so moving the files about costs
nothing. A bullet without a provenance, or from a conversation without a folder, belongs to no project. A provenance
knows its conversation by name alone, and conversations of several folders may share one: such a name belongs to no
project either, or one project would be shown the other's words as its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Set
from typing import Any

from core.base.markdown import Bullet, sanitise_name

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
