"""What lies at the places of other tools. Looks at names and sizes; in a folder that a person named also at
the beginning of each file of data, to tell a conversation from settings and an export that holds many from one, and at
the list of a `.zip`.

Links, FIFOs, sockets and devices are never followed, and every walk is bounded. What a file is, its content tells when
it is read.
"""

from __future__ import annotations

import os
import re
import stat
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.base import files
from core.base.markdown import sanitise_name
from core.base.result import ErrorInfo
from core.harvest.artifact import Artifact
from core.harvest.sources import FILES, SOURCE, SOURCES, Place, Source

MAX_FOLDERS = 20_000
"""A walk through project folders ends here and says so."""
PROJECT_DEPTH = 6
_HEAVY = frozenset({
    "node_modules", "__pycache__", "site-packages", "venv", "env", "target", "build", "dist", "vendor", "Library",
    "AppData", "snap", "proc", "sys", "dev", "Trash", "Pods",
})  # fmt: skip
_STORES = (".db", ".vscdb")
_SUFFIXES = (".jsonl", ".json", ".md", ".txt", ".traj", ".toml", ".zst", *_STORES)


@dataclass
class Found:
    """What lies in the places: files, sorted by path, and what kept a look from being whole, in words; `errors` tell
    which file or folder that the person named cannot be read."""

    artifacts: list[Artifact] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    errors: list[ErrorInfo] = field(default_factory=list)


def survey(rows: Sequence[Place]) -> Found:
    """Every file that one of the tools left behind at these places. What cannot be listed is told in a note."""
    found: dict[str, Artifact] = {}
    notes: list[str] = []
    errors: list[ErrorInfo] = []
    walked: dict[str, list[Place]] = {}
    for place in rows:
        if place.source == FILES:
            if (trouble := _named_trouble(place.folder)) is not None:
                errors.append(trouble)
            else:
                _named_files(place.folder, found, notes)
        elif SOURCE[place.source].project:
            walked.setdefault(place.folder, []).append(place)
        else:
            _take(SOURCE[place.source], place.folder, place.folder, found, notes)
    seen: set[str] = set()
    for folder, asked in walked.items():
        for project in _folders_in(folder, seen, notes):
            for place in asked:
                _take(SOURCE[place.source], project, project, found, notes)
    return Found(_without_second_views(sorted(found.values())), list(dict.fromkeys(notes)), errors)


def _take(source: Source, root: str, folder: str, found: dict[str, Artifact], notes: list[str]) -> None:
    for pattern in source.patterns:
        for path in _matching(folder, pattern.split("/"), notes):
            if path not in found and (item := _artifact(path, source.name, _name(source, root, path))) is not None:
                found[path] = item
    for pattern in source.folders:
        for path in _matching(folder, pattern.split("/"), notes):
            if path not in found and (item := _folder_store(path, source.name)) is not None:
                found[path] = item


def _name(source: Source, root: str, path: str) -> str:
    """What the conversation is called in provenances: the tool and the parts of the path that tell it apart."""
    if source.project:
        own = os.path.basename(path)
        return f"{source.name}/{os.path.basename(root)}/{own}" if source.keep > 1 else f"{source.name}/{own}"
    parts = os.path.relpath(path, root).split(os.sep)[-source.keep :]
    if source.keep > 1 and len(parts) > 1:
        parts = parts[:-1]  # the folder tells; the file is called the same in each
    name = "/".join(parts)
    for suffix in (".zst", ".jsonl", ".json"):
        name = name.removesuffix(suffix)
    return f"{source.name}/{name}"


def told_apart(rows: Sequence[Artifact], entries: Mapping[str, Mapping[str, Any]]) -> list[Artifact]:
    """The rows with names that no two of them share. aider and SpecStory give every project's file the same name, so it
    gets as many folders of the project's path in front as it takes. A conversation that was harvested before keeps the
    name that its lines bear."""
    named: dict[str, str] = {}
    for entry in sorted(entries.values(), key=lambda entry: str(entry.get("at", ""))):
        if entry.get("name"):
            named[str(entry.get("path", ""))] = str(entry["name"])
    taken = {sanitise_name(name) for name in named.values()}
    new = [row for row in rows if row.path not in named and row.source in SOURCE and SOURCE[row.source].project]
    told: dict[str, str] = {}
    parts = 0
    while new:
        names = {row.path: _longer(row, parts) for row in new}
        number = Counter(map(sanitise_name, names.values()))
        for row in new:
            name, longer = names[row.path], _longer(row, parts + 1)
            if (number[sanitise_name(name)] == 1 and sanitise_name(name) not in taken) or longer == name:
                told[row.path] = name
        new = [row for row in new if row.path not in told]
        parts += 1
    return [row._replace(name=told.get(row.path) or _name_before(row, named)) for row in rows]


def _name_before(row: Artifact, named: Mapping[str, str]) -> str:
    return named.get(row.path, row.name) if row.source in SOURCE and SOURCE[row.source].project else row.name


def _longer(row: Artifact, parts: int) -> str:
    """The name with so many more folders of the project's path in it; the whole path is the longest."""
    tool, *known = row.name.split("/")
    depth = SOURCE[row.source].patterns[0].count("/") + 1
    folders = [part for part in row.path.split(os.sep)[:-depth] if part]
    wanted = len(known) - 1 + parts
    return "/".join([tool, *(folders[-wanted:] if wanted else []), known[-1]])


def _artifact(path: str, source: str, name: str) -> Artifact | None:
    """None for what is no regular file: a link may lead anywhere."""
    try:
        seen = os.lstat(path)
    except OSError:
        return None
    if not stat.S_ISREG(seen.st_mode):
        return None
    times = (seen.st_mtime_ns, seen.st_ctime_ns, seen.st_ino, seen.st_dev)
    kind = "store" if path.endswith(_STORES) else "conversation"
    return Artifact(path, name, kind, seen.st_size, *times, source=source)


def _folder_store(path: str, source: str) -> Artifact | None:
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


def _matching(folder: str, parts: list[str], notes: list[str]) -> Iterator[str]:
    """Paths below a folder that a pattern fits; folders that are links are not entered."""
    part, rest = parts[0], parts[1:]
    if part == "**":
        yield from _matching(folder, rest, notes)
        for name, is_folder in _listed(folder, notes):
            if is_folder:
                yield from _matching(os.path.join(folder, name), parts, notes)
        return
    if "*" not in part:
        path = os.path.join(folder, part)
        if not rest:
            if os.path.lexists(path):
                yield path
        elif os.path.isdir(path) and not os.path.islink(path):
            yield from _matching(path, rest, notes)
        return
    fits = re.compile(re.escape(part).replace(r"\*", ".*") + r"\Z").match
    for name, is_folder in _listed(folder, notes):
        if fits(name) and is_folder == bool(rest):
            path = os.path.join(folder, name)
            yield from _matching(path, rest, notes) if rest else (path,)


def _listed(folder: str, notes: list[str]) -> list[tuple[str, bool]]:
    """Names in a folder in their order, and whether each is a folder (a link to one is not)."""
    try:
        with os.scandir(folder) as rows:
            return sorted((row.name, row.is_dir(follow_symlinks=False)) for row in rows)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        notes.append(f"{folder} cannot be listed: {error.strerror}")
        return []


_HIDDEN = frozenset(
    part
    for source in SOURCES
    for place in (*source.patterns, *(root.default for root in source.roots), *(root.below for root in source.roots))
    for part in place.split("/")
    if part.startswith(".") and part not in (".config", ".local")
)
"""What tools call folders of their own: a person who names a folder means these too."""


def _folders_in(root: str, seen: set[str], notes: list[str], hidden: frozenset[str] = frozenset()) -> Iterator[str]:
    """A folder and those below it in which a project may lie: not those of packages, no links, no hidden ones but
    `hidden`."""
    waiting = [(root, 0)]
    while waiting:
        folder, depth = waiting.pop()
        if folder in seen:
            continue
        if len(seen) >= MAX_FOLDERS:
            notes.append(f"{root} has more than {MAX_FOLDERS} folders; name narrower project_roots to see the rest")
            return
        seen.add(folder)
        yield folder
        if depth < PROJECT_DEPTH:
            inside = [name for name, is_folder in _listed(folder, notes) if is_folder]
            inside = [name for name in inside if name not in _HEAVY and (name[:1] != "." or name in hidden)]
            waiting += [(os.path.join(folder, name), depth + 1) for name in reversed(inside)]


def _named_trouble(path: str) -> ErrorInfo | None:
    """Why a file or folder that the person named cannot be read; None when it can, and when nothing is there: the disk
    may be one that is not there today."""
    if not os.path.lexists(path):
        return None
    is_folder = os.path.isdir(path)
    try:
        if is_folder:
            os.scandir(path).close()
        else:
            os.close(files.open_regular(path))
    except OSError as error:
        message = f"the {'folder' if is_folder else 'file'} cannot be read: {error.strerror or error}"
        return ErrorInfo("unreadable", message, path, "name another, or see that you may read it")
    return None


def _named_files(path: str, found: dict[str, Artifact], notes: list[str]) -> None:
    """A file that the person named, or the files of known kinds in a folder and the folders below it."""
    if not os.path.isdir(path):
        item = _artifact(path, FILES, f"{FILES}/{os.path.basename(path)}")
        if item is None:
            notes.append(f"{path} is not there")
        else:
            as_store = path.lower().endswith(".zip") or _is_export(path)
            found.setdefault(path, item._replace(kind="store") if as_store else item)
        return
    if (storage := _folder_store(path, "opencode")) is not None:
        found.setdefault(path, storage)
        return
    others: list[str] = []
    for folder in _folders_in(path, set(), notes, _HIDDEN):
        for name, is_folder in _listed(folder, notes):
            item = None if is_folder else _artifact(os.path.join(folder, name), FILES, "")
            if item is None or not name.lower().endswith((*_SUFFIXES, ".zip")):
                continue
            if _is_export(item.path):
                item = item._replace(kind="store")
            elif name.lower().endswith(".zip"):
                continue
            elif _is_something_else(item.path):
                others.append(name)
                continue
            below = os.path.relpath(item.path, path).replace(os.sep, "/")
            found.setdefault(item.path, item._replace(name=f"{FILES}/{below}"))
    if others:
        names = ", ".join(others[:_TOLD]) + f" and {len(others) - _TOLD} more" * (len(others) > _TOLD)
        notes.append(f"no conversation of a known kind in {path}, and not read: {names}")


def _is_export(path: str) -> bool:
    """Whether many conversations stand in a file that is named like one. What cannot be read is none: whoever reads it
    as a file will tell."""
    if not path.lower().endswith((".json", ".zip")):
        return False
    from core.conversations.export_file import export_kind

    try:
        return bool(export_kind(path))
    except OSError:
        return False


_TOLD = 4
_DATA = (".json", ".jsonl", ".toml", ".traj")


def _is_something_else(path: str) -> bool:
    """Whether a file of data in a folder that the person named holds no conversation: settings, or what a service puts
    beside them. One that the person named itself is read whatever it holds, and so is one that cannot be looked at:
    whoever reads it tells."""
    if not path.lower().endswith(_DATA):
        return False
    from core.conversations.read import HEAD_BYTES, format_of

    try:
        fd = files.open_regular(path)
        try:
            return format_of(files.read_descriptor(fd, HEAD_BYTES)) == "plain"
        finally:
            os.close(fd)
    except OSError:
        return False


_PREFERRED = {"ui_messages.json": "api_conversation_history.json"}


def _without_second_views(rows: list[Artifact]) -> list[Artifact]:
    """One conversation in two files is one: the packed copy beside the plain one, what was shown beside what was
    said."""
    paths = {row.path for row in rows}

    def is_second(path: str) -> bool:
        folder, name = os.path.split(path)
        better = os.path.join(folder, _PREFERRED[name]) if name in _PREFERRED else path.removesuffix(".zst")
        return better != path and better in paths

    return [row for row in rows if not is_second(row.path)]
