"""Walks folders for files that may hold conversations. Links, FIFOs, sockets and devices are never followed, and every
walk is bounded.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator

from core.harvest.artifact import Artifact
from core.harvest.sources import SOURCES

MAX_FOLDERS = 20_000
"""A walk through project folders ends here and says so."""
PROJECT_DEPTH = 6
"""So many levels below a project root a project may lie. What a person names is looked through to its last level."""
_HEAVY = frozenset({
    "node_modules", "__pycache__", "site-packages", "venv", "env", "target", "build", "dist", "vendor", "Library",
    "AppData", "snap", "proc", "sys", "dev", "Trash", "Pods",
})  # fmt: skip
STORES = (".db", ".vscdb")


def artifact_at(path: str, source: str, name: str) -> Artifact | None:
    """None for what is no regular file: a link may lead anywhere."""
    try:
        seen = os.lstat(path)
    except OSError:
        return None
    if not stat.S_ISREG(seen.st_mode):
        return None
    times = (seen.st_mtime_ns, seen.st_ctime_ns, seen.st_ino, seen.st_dev)
    kind = "store" if path.endswith(STORES) else "conversation"
    return Artifact(path, name, kind, seen.st_size, *times, source=source)


def folder_store(path: str, source: str) -> Artifact | None:
    """A folder that holds conversations in many small files; None for any other, and for a link."""
    from core.conversations.opencode_files import is_storage

    try:
        seen = os.lstat(path)
    except OSError:
        return None
    if not stat.S_ISDIR(seen.st_mode) or not is_storage(path):
        return None
    times = (seen.st_mtime_ns, seen.st_ctime_ns, seen.st_ino, seen.st_dev)
    return Artifact(path, f"{source}/{os.path.basename(path)}", "store", 0, *times, source=source)


def matching(folder: str, parts: list[str], notes: list[str]) -> Iterator[str]:
    """Paths below a folder that a pattern fits; folders that are links are not entered."""
    part, rest = parts[0], parts[1:]
    if part == "**":
        yield from matching(folder, rest, notes)
        for name, is_folder in listed(folder, notes):
            if is_folder:
                yield from matching(os.path.join(folder, name), parts, notes)
        return
    if "*" not in part:
        path = os.path.join(folder, part)
        if not rest:
            if os.path.lexists(path):
                yield path
        elif os.path.isdir(path) and not os.path.islink(path):
            yield from matching(path, rest, notes)
        return
    fits = re.compile(re.escape(part).replace(r"\*", ".*") + r"\Z").match
    for name, is_folder in listed(folder, notes):
        if fits(name) and is_folder == bool(rest):
            path = os.path.join(folder, name)
            yield from matching(path, rest, notes) if rest else (path,)


def listed(folder: str, notes: list[str]) -> list[tuple[str, bool]]:
    """Names in a folder in their order, and whether each is a folder (a link to one is not)."""
    try:
        with os.scandir(folder) as rows:
            return sorted((row.name, row.is_dir(follow_symlinks=False)) for row in rows)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        notes.append(f"{folder} cannot be listed: {error.strerror}")
        return []


HIDDEN = frozenset(
    part
    for source in SOURCES
    for place in (*source.patterns, *(root.default for root in source.roots), *(root.below for root in source.roots))
    for part in place.split("/")
    if part.startswith(".") and part not in (".config", ".local")
)
"""What tools call folders of their own: a person who names a folder means these too."""


def folders_in(
    root: str, seen: set[str], notes: list[str], hidden: frozenset[str] = frozenset(), depth_limit: int | None = None
) -> Iterator[str]:
    """A folder and those below it in which a project may lie: not those of packages, no links, no hidden ones but
    `hidden`; at most `depth_limit` levels below (None: any)."""
    waiting = [(root, 0)]
    while waiting:
        folder, depth = waiting.pop()
        if folder in seen:
            continue
        if len(seen) >= MAX_FOLDERS:
            notes.append(f"{root} has more than {MAX_FOLDERS} folders; name a narrower one to see the rest")
            return
        seen.add(folder)
        yield folder
        if depth_limit is None or depth < depth_limit:
            inside = [name for name, is_folder in listed(folder, notes) if is_folder]
            inside = [name for name in inside if name not in _HEAVY and (name[:1] != "." or name in hidden)]
            waiting += [(os.path.join(folder, name), depth + 1) for name in reversed(inside)]
