"""Which repository a folder belongs to, and what that is called: the domain of the facts that are learned there.

The rule for a domain: the name of the nearest folder, from the working folder upward, that holds `.git`; without one
the working folder's own name; in lower case, every run of characters other than letters, digits, `.`, `_` and `-` as
one hyphen. What lies below a hidden folder of a project, as work trees do, belongs to the project. A home folder, a
folder of the system or none at all is no repository: what is learned there is `global`.
"""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath, PureWindowsPath

GLOBAL = "global"
DOMAIN_CHARACTERS = 60
_LEVELS = 24
_OTHER = re.compile(r"[^\w.-]+|_*-+_*")
_WORK_TREES = re.compile(r"(?P<name>[^.].*?)[._-]{1,2}worktrees")
_SYSTEM = frozenset({
    "etc", "usr", "bin", "sbin", "lib", "lib64", "boot", "proc", "sys", "dev", "run", "var", "net", "system", "library",
})  # fmt: skip
_HOMES = frozenset(("home", "users"))
_RESERVED = frozenset(
    ("global", "con", "prn", "aux", "nul", *(f"{port}{at}" for port in ("com", "lpt") for at in range(10)))
)


def slug(name: str) -> str:
    """A name as a domain, "" when nothing is left of it. A slug comes back unchanged."""
    plain = _OTHER.sub("-", name.strip().casefold()).strip("-._")[:DOMAIN_CHARACTERS].rstrip("-._")
    return f"{plain}-repo" if plain.split(".")[0] in _RESERVED and plain != GLOBAL else plain


def domain_of(folder: str) -> str:
    """The domain of a working folder as a conversation names it (any system's path), `global` for none."""
    if not folder or len(folder) > 4096 or "\0" in folder:
        return GLOBAL
    if re.match(r"[A-Za-z]:[\\/]", folder):
        parts = PureWindowsPath(folder).parts
        own = parts[2:] if len(parts) > 1 and parts[1].casefold() == "users" else parts
        return _named(own[-1]) if len(own) > 1 else GLOBAL
    if not folder.startswith("/"):
        return GLOBAL
    path = PurePosixPath(os.path.normpath(folder))
    if not is_working_place(str(path)):
        return GLOBAL
    return _named(project_root(str(path)).rpartition("/")[2])


def project_root(path: str) -> str:
    """The repository around a working place (a normal, absolute path), else the place itself; without what lies below a
    hidden folder (`cli/.worktrees/1` is `cli`), unless a person's home is all that would be left, and without what lies
    in a folder of work trees beside it (`cli-worktrees/1` is `cli`). The folder that is returned need not be there."""
    root = repository_root(path) or path
    above = outside_work_trees(root)
    return root if above == root else repository_root(above) or above


def outside_work_trees(path: str) -> str:
    """The same place in the repository itself where a path (normal, absolute) lies in one of its work trees, judged by
    the names alone: `cli/.worktrees/1` and `cli-worktrees/1` are `cli`; any other path as it is."""
    parts = path.split("/")
    for at, part in enumerate(parts[:-1]):
        if beside := _WORK_TREES.fullmatch(part):
            return "/".join((*parts[:at], beside["name"]))
    hidden = next((at for at, part in enumerate(parts[:-1]) if part.startswith(".")), 0)
    above = "/".join(parts[:hidden])
    return above if hidden and is_working_place(above) else path


def _named(name: str) -> str:
    plain = slug(name)
    return f"{plain}-repo" if plain == GLOBAL else plain or GLOBAL


def is_working_place(path: str) -> bool:
    """Whether somebody works in a folder of that (normal, absolute) path: not the root, a folder of the system, a
    person's home itself or the folder for temporary files."""
    parts = path.strip("/").split("/")
    if not parts[0] or parts[0].casefold() in _SYSTEM or path == os.path.expanduser("~"):
        return False
    if parts[0].casefold() in _HOMES:
        return len(parts) > 2
    return len(parts) > 1 or parts[0] not in ("tmp", "root", "mnt", "opt", "srv", "media")


def repository_root(path: str) -> str:
    """The nearest folder at or above `path` (normal, absolute) with a `.git` in it, "" for none. Only names are looked
    for, and not in places where nobody works, nor in one of GIT_CEILING_DIRECTORIES or above it."""
    ceilings = _ceilings()
    for step in range(_LEVELS):
        if step and path in ceilings:
            return ""
        if not is_working_place(path):
            return ""
        if os.path.lexists(f"{path}/.git"):
            return path
        path = os.path.dirname(path)
    return ""


def _ceilings() -> frozenset[str]:
    """Where the search upward ends for git, and so for us (git's documentation, GIT_CEILING_DIRECTORIES)."""
    return frozenset(filter(None, os.environ.get("GIT_CEILING_DIRECTORIES", "").split(os.pathsep)))


def folders_around(folder: Path) -> list[Path]:
    """The folder and those above it that may speak for it: up to the root of its repository (the nearest `.git`, a
    folder or the file of a work tree) or to the person's home, whichever comes first. Where neither is above, the
    folder alone: what lies further up (`/tmp`, `/`) is anybody's."""
    home, ceilings = os.path.realpath(os.path.expanduser("~")), _ceilings()
    found: list[Path] = []
    for one in (folder, *folder.parents):
        if found and str(one) in ceilings:
            break
        found.append(one)
        if os.path.lexists(one / ".git") or os.path.realpath(one) == home:
            return found
    return [folder]
