"""Which project a bullet belongs to: the working folder of the conversation that its provenance names.

The ledger entry of a harvest records that folder (`project`); nothing else is needed, so moving the files about costs
nothing. A bullet without a provenance, or from a conversation without a folder, belongs to no project.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from core.base.markdown import sanitise_name
from core.knowledge.same import Statement

OWN, NONE, OTHER = 0, 1, 2
"""How near a statement is to a project: said in it, said nowhere in particular, said in another one."""


def projects_of(entries: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """A conversation's name as provenances tell it -> its working folder, the newest harvest deciding."""
    found: dict[str, tuple[str, str]] = {}
    for entry in entries.values():
        folder = entry.get("project")
        if isinstance(folder, str) and folder:
            name = str(entry.get("name", "")) or str(entry.get("path", "")).replace("\\", "/").rsplit("/", 1)[-1]
            at = str(entry.get("at", ""))
            if at >= found.get(name, ("", ""))[0]:
                found[name] = (at, os.path.normpath(folder))
    return {sanitise_name(name): folder for name, (_, folder) in found.items()}


def is_inside(folder: str, project: str) -> bool:
    """Whether a folder is a project's or lies below it."""
    root = os.path.normpath(project)
    return folder == root or folder.startswith(root.rstrip(os.sep) + os.sep)


def nearness(statement: Statement, projects: Mapping[str, str], project: str) -> int:
    """OWN when any of its conversations worked in the project, NONE when no folder is known of any, else OTHER."""
    bullets = (statement.bullet, *statement.others)
    folders = [projects.get(row.provenance.source, "") for row in bullets if row.provenance is not None]
    if any(folder and is_inside(folder, project) for folder in folders):
        return OWN
    return OTHER if any(folders) else NONE


def project_around(folder: str, projects: Mapping[str, str]) -> str:
    """The nearest known project that holds a folder, "" for none."""
    around = [project for project in set(projects.values()) if is_inside(os.path.normpath(folder), project)]
    return max(around, key=len, default="")
