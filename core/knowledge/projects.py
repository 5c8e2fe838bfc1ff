"""Which project a bullet belongs to: the working folder of the conversation that its provenance names.

The ledger entry of a harvest records that folder (`project`), and which lines are the person's rather than the
project's (`person`: the marks of their texts); nothing else is needed, so moving the files about costs nothing. A
bullet without a provenance, or from a conversation without a folder, is the person's too. A provenance knows its
conversation by name alone, and conversations of several folders may share one: where one of them is outside of a
project, such a line may be another project's, and is not shown in this one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from pathlib import PurePath
from typing import Any

from core.base.markdown import Bullet, sanitise_name
from core.base.paths import Paths, cache_folder
from core.base.ready import kept_ready
from core.base.repository import domain_of, outside_work_trees, project_root, repository_root
from core.base.result import Err, Ok, Result
from core.knowledge.ledger import seen_ledger
from core.knowledge.same import mark_of_text

OWN, NONE, OTHER = 0, 1, 2
"""How near words are to a project: said in it; the person's own, in whatever project; said in another one."""
UNTOLD = "?"
"""Stands for the folder of a session that changed the files of a project where nothing tells which: its lines are no
other project's either."""
NOWHERE = ""
"""Stands among the folders of a name that a conversation without any folder has too."""

Projects = Mapping[str, Set[str]]
"""A conversation's name as provenances tell it -> every folder that conversations of that name worked in."""

_PREFERS = re.compile(
    r"(?:\W*(?:the )?(?:user|person|developer|owner)\b.{0,40}?\bprefer(?:s|red)?\b|\W*(?:I|we) prefer\b|\W*prefers?\b)",
    re.IGNORECASE,
)
_SYSTEM = re.compile(
    r"\bon (?:windows|macos|mac os|wsl\d?|linux|debian|ubuntu|fedora|arch|git bash|powershell)\b", re.I
)
_TOOL = re.compile(
    r"\b(?:gh|git|npm|npx|pnpm|yarn|pip|pipx|uv|docker|podman|brew|apt|winget|ssh|scp|rsync|tmux|vim|nvim|emacs|"
    r"vs ?code|bash|zsh|fish|powershell|curl|wget|make|kubectl|terraform|gpg|jq|rg|grep|sed|awk)\b",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"\w[/\\](?:\w|\s|$)|\b\w+\.(?:py|js|ts|tsx|go|rs|java|c|h|cpp|rb|toml|ya?ml|json|md|sh|lock|cfg|ini)\b|\w+\(\)|#\d+"
)


class KnownProjects(dict[str, frozenset[str]]):
    """`Projects` with the lines that are known to be the person's: `persons` holds pairs of name and mark."""

    persons: frozenset[tuple[str, str]] = frozenset()


def names_place(text: str) -> bool:
    """Whether a text names a file, a path, a function or a ticket: such words are a project's."""
    return _PLACE.search(text) is not None


def is_persons(text: str) -> bool:
    """Whether a text by its words is the person's in any project: what they prefer, what a common tool does on their
    system."""
    if names_place(text):
        return False
    return bool(_PREFERS.match(text) or (_SYSTEM.search(text) and _TOOL.search(text)))


def projects_of(entries: Mapping[str, Mapping[str, Any]]) -> KnownProjects:
    """The folders of every name in the ledger. A name that no folder is known of is left out."""
    found: dict[str, dict[str, set[str]]] = {}
    persons: set[tuple[str, str]] = set()
    for entry in entries.values():
        path, folder = str(entry.get("path", "")), entry.get("project")
        name = sanitise_name(str(entry.get("name", "")) or path.replace("\\", "/").rsplit("/", 1)[-1])
        if isinstance(marks := entry.get("person"), list):
            persons |= {(name, mark) for mark in marks if isinstance(mark, str)}
        if isinstance(folder, str) and folder:
            found.setdefault(name, {}).setdefault(path, set()).add(os.path.normpath(folder))
        elif entry.get("status") == "harvested":
            found.setdefault(name, {}).setdefault(path, set())
    # An earlier part of one and the same conversation may not have told its folder yet: that is not another one.
    folders = {name: frozenset(one for at in by.values() for one in at or (NOWHERE,)) for name, by in found.items()}
    projects = KnownProjects({name: known for name, known in folders.items() if known != {NOWHERE}})
    projects.persons = frozenset(persons)
    return projects


def is_inside(folder: str, project: str) -> bool:
    """Whether a folder is a project's or lies below it. A work tree of a repository is that repository."""
    return _is_below(folder, project) or _is_below(outside_work_trees(folder), outside_work_trees(project))


def _is_below(folder: str, project: str) -> bool:
    root = os.path.normpath(project)
    return folder == root or folder.startswith(root.rstrip(os.sep) + os.sep)


def nearness(bullets: Iterable[Bullet], projects: Projects, project: str) -> int:
    """OWN when one of the bullets was certainly said in the project, else NONE when one of them is the person's own or
    of no project, else OTHER: each was said in another project, or may have been."""
    return min((_near(row, projects, project) for row in bullets), default=NONE)


def _near(row: Bullet, projects: Projects, project: str) -> int:
    name = row.provenance.source if row.provenance is not None else ""
    folders = projects.get(name, frozenset()) if row.provenance is not None else frozenset()
    inside = [is_inside(folder, project) for folder in folders if folder]
    if inside and all(inside) and NOWHERE not in folders:
        return OWN
    if all(inside):
        return NONE
    persons = projects.persons if isinstance(projects, KnownProjects) else frozenset()
    return NONE if (name, mark_of_text(row.text)) in persons else OTHER


def project_around(folder: str, projects: Projects) -> str:
    """The nearest known project that holds a folder, "" for none."""
    known = {project for folders in projects.values() for project in folders if project}
    around = [project for project in known if is_inside(os.path.normpath(folder), project)]
    return max(around, key=len, default="")


# --- facts that would have been notes ---------------------------------------------------------------------------------
# A note on a file that cannot be found becomes the fact `PATH: note`. Asked about the file later, in a clone or in
# another worktree, a person wants to see it.

LONG_PATH = 4096


def facts_about(bullets: Sequence[Bullet], source: str, projects: Projects) -> list[Bullet]:
    """Those of the `bullets` of facts.md that name the file `source` (an absolute path; it need not be there).

    A whole path is the same file, or the same place below a folder of the repository's name; a path within a
    repository is the same file only if the conversation worked in a repository of that name, or, where no folder is
    known of it, if the path has a folder in it.
    """
    root = repository_root(os.path.dirname(source))
    found = []
    for bullet in bullets:
        named, colon, _ = bullet.text.partition(": ")
        if colon and not bullet.struck and len(named) < LONG_PATH and _names(named, source, root, bullet, projects):
            found.append(bullet)
    return found


def _names(named: str, source: str, root: str, bullet: Bullet, projects: Projects) -> bool:
    if os.path.normpath(os.path.expanduser(named)) == source:
        return True
    if not root:
        return False
    inside, name = PurePath(source).relative_to(root).parts, os.path.basename(project_root(root))
    plain = named.replace("\\", "/")
    parts = tuple(part for part in plain.split("/") if part not in ("", "."))
    above, below = parts[: -len(inside)], parts[-len(inside) :]
    if below != inside:
        return False
    if plain.startswith(("/", "~")) or plain[1:3] == ":/":
        return above[-1:] == (name,) or (len(inside) > 1 and name in above)
    folders = projects.get(bullet.provenance.source, frozenset()) if bullet.provenance is not None else frozenset()
    known = {domain_of(folder) for folder in folders if folder not in (NOWHERE, UNTOLD)}
    at_home = domain_of(root) in known if known else len(inside) > 1
    return at_home and above in ((), (name,))


# --- remembered ---


def known_projects(paths: Paths, environment: Mapping[str, str]) -> Result[Projects]:
    """What `projects_of` says of the ledger as it is now, kept ready in the cache folder (which `environment` may
    name): a prompt asks for this at every start, and a large ledger takes most of a second to read."""
    failed: list[Err] = []

    def made() -> KnownProjects:
        ledger = seen_ledger(paths)
        failed.extend([ledger] if isinstance(ledger, Err) else [])
        return projects_of(ledger.value if isinstance(ledger, Ok) else {})

    place = cache_folder(paths.home, environment) / "projects"
    inputs = [paths.ledger, paths.plans]  # without a ledger it is rebuilt from the plans
    found = kept_ready(place, inputs, made, write=_as_json, read=_from_json, whole=lambda: not failed)
    return failed[0] if failed else Ok(found)


def _as_json(projects: KnownProjects) -> dict[str, Any]:
    sets = {folders: number for number, folders in enumerate(dict.fromkeys(projects.values()))}
    rows = {name: sets[folders] for name, folders in projects.items()}
    return {"folders": [sorted(folders) for folders in sets], "names": rows, "persons": sorted(projects.persons)}


def _from_json(kept: Any) -> KnownProjects:
    folders = [frozenset(map(str, row)) for row in kept["folders"]]
    projects = KnownProjects({name: folders[number] for name, number in kept["names"].items()})
    projects.persons = frozenset((str(name), str(mark)) for name, mark in kept["persons"])
    return projects
