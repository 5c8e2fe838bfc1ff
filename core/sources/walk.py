"""Walks folders for files that may hold conversations. Links, FIFOs, sockets and devices are never followed, and every
walk is bounded.

At the places of other tools only names and sizes are looked at; what a file is, its content tells when it is read. In
a folder that the user named the beginning of each file of data is read, to tell a conversation from settings and an
export that holds many from one, and of a `.zip` the list of what is in it.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.base import files
from core.base.paths import ASKED, asking_folder
from core.base.project import project_root, repository_root
from core.base.result import ErrorInfo
from core.sources.artifact import Artifact, Survey
from core.sources.tools import EXPORTS, FILES, SOURCE, SOURCES, Place, Source, name_in, project_at

if TYPE_CHECKING:
    from core.conversations.conversation import Conversation

MAX_FOLDERS = 20_000
"""A walk through project folders ends here and says so."""
PROJECT_DEPTH = 6
"""This many levels below a project root a project may lie. What a user names is looked through to its last level."""
_HEAVY = frozenset({
    "node_modules", "__pycache__", "site-packages", "venv", "env", "target", "build", "dist", "vendor", "Library",
    "AppData", "snap", "proc", "sys", "dev", "Trash", "Pods",
})  # fmt: skip
STORES = (".db", ".vscdb")
WORKSPACE_BYTES = 1 << 16
"""A `workspace.json` names one folder."""
BESIDE_BYTES = 4 << 20
"""What a tool writes about a session beside its messages can hold the first of them."""


def artifact_at(path: str, source: str, name: str) -> Artifact | None:
    """None for what is no regular file: a link may lead anywhere."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    kind = "store" if path.endswith(STORES) else "conversation"
    return Artifact.seen(path, name, kind, found, source) if stat.S_ISREG(found.st_mode) else None


def folder_store(path: str, source: str) -> Artifact | None:
    """A folder that holds conversations in many small files; None for any other, and for a link."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    if not stat.S_ISDIR(found.st_mode):
        return None
    from core.conversations.collections.opencode_files import is_storage  # few folders are asked about

    name = f"{source}/{os.path.basename(path)}"
    return Artifact.seen(path, name, "store", found, source)._replace(size=0) if is_storage(path) else None


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
"""What tools call folders of their own: a user who names a folder means these too."""


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


_SUFFIXES = (".jsonl", ".json", ".md", ".txt", ".traj", ".toml", ".zst", *STORES)


def named_trouble(path: str) -> ErrorInfo | None:
    """Why a file or folder that the user named cannot be read; None when it can, and when nothing is there: the disk
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


def named_files(path: str, found: dict[str, Artifact], notes: list[str]) -> None:
    """A file that the user named, or the files of known kinds in a folder and the folders below it."""
    if not os.path.isdir(path):
        item = artifact_at(path, FILES, f"{FILES}/{os.path.basename(path)}")
        if item is None:
            notes.append(f"{path} is not there")
        elif path.lower().endswith(".zip") or _is_export(path):
            found.setdefault(path, item._replace(kind="store"))
        elif item.kind == "conversation" and (why := _why_not(path)) and path.lower().endswith(_DATA):
            notes.append(f"no conversation, and not read: {path} ({why})")
        else:
            found.setdefault(path, item)
        return
    if (storage := folder_store(path, "opencode")) is not None:
        found.setdefault(path, storage)
        return
    others: list[str] = []
    for folder in folders_in(path, set(), notes, HIDDEN):
        for name, is_folder in listed(folder, notes):
            item = None if is_folder else artifact_at(os.path.join(folder, name), FILES, "")
            if item is None or not name.lower().endswith((*_SUFFIXES, ".zip")):
                continue
            if _is_export(item.path):
                item = item._replace(kind="store")
            elif name.lower().endswith(".zip"):
                continue
            elif _why_not(item.path):
                others.append(name)
                continue
            below = os.path.relpath(item.path, path).replace(os.sep, "/")
            found.setdefault(item.path, item._replace(name=f"{FILES}/{below}"))
    if others:
        names = ", ".join(others[:_TOLD]) + f" and {len(others) - _TOLD} more" * (len(others) > _TOLD)
        notes.append(f"not read: {names} in {path} (no conversations of a known kind)")


def _is_export(path: str) -> bool:
    """Whether many conversations stand in a file that is named like one. What cannot be read is none: whoever reads it
    as a file will tell."""
    if not path.lower().endswith((".json", ".zip")):
        return False
    from core.conversations.collections.export_file import export_kind

    try:
        return bool(export_kind(path))
    except OSError:
        return False


_TOLD = 4
_DATA = (".json", ".jsonl", ".toml", ".traj")


def _why_not(path: str) -> str:
    """Why a file cannot be a conversation, as its beginning tells: settings, data, pictures. "" for one that may be,
    and for one that cannot be looked at: whoever reads it tells. Data that is not JSON is none of a known kind."""
    from core.conversations.read import HEAD_BYTES, format_of, why_not_read

    try:
        with os.fdopen(files.open_regular(path), "rb") as file:
            head = file.read(HEAD_BYTES)
    except OSError:
        return ""
    is_text = path.lower().endswith(_DATA) and format_of(head) == "plain"
    return why_not_read(head) or ("of no known kind" if is_text else "")


def survey(rows: Sequence[Place]) -> Survey:
    """Every file that one of the tools left behind at these places, sorted by path. What cannot be listed is told in a
    note."""
    found: dict[str, Artifact] = {}
    notes: list[str] = []
    errors: list[ErrorInfo] = []
    walked: dict[str, list[Place]] = {}
    for place in rows:
        if place.source == FILES:
            if (trouble := named_trouble(place.folder)) is not None:
                errors.append(trouble)
            else:
                named_files(place.folder, found, notes)
        elif SOURCE[place.source].project:
            walked.setdefault(place.folder, []).append(place)
        else:
            _take(SOURCE[place.source], place.folder, found, notes)
    seen: set[str] = set()
    for folder, asked in walked.items():
        for project in folders_in(folder, seen, notes, depth_limit=PROJECT_DEPTH):
            for place in asked:
                _take(SOURCE[place.source], project, found, notes)
    return Survey(_without_second_views(sorted(found.values())), list(dict.fromkeys(notes)), errors)


@cache
def _own_hash() -> str:
    return hashlib.sha256(os.fsencode(asking_folder(os.environ))).hexdigest()


def is_own_question(path: str) -> bool:
    """Whether a session is one in which this program asked a tool something: tools keep the sessions of a folder under
    its name (Claude Code with dashes, Gemini CLI also under its hash), and ours has a name of its own."""
    return f"{ASKED}{os.sep}" in path or f"{ASKED}-" in path or _own_hash() in path


def _take(source: Source, root: str, found: dict[str, Artifact], notes: list[str]) -> None:
    for pattern in source.patterns:
        for path in matching(root, pattern.split("/"), notes):
            if path in found or is_own_question(path):
                continue
            if (item := artifact_at(path, source.name, name_in(source, root, path))) is not None:
                found[path] = item
    for pattern in source.folders:
        for path in matching(root, pattern.split("/"), notes):
            if path not in found and (item := folder_store(path, source.name)) is not None:
                found[path] = item


def _without_second_views(rows: list[Artifact]) -> list[Artifact]:
    """One conversation in two files is one: the packed copy beside the plain one, an older form beside the newer."""
    paths = {row.path for row in rows}

    def is_second(path: str) -> bool:
        better = path.removesuffix(".zst")
        if os.path.dirname(path).endswith("hatSessions"):  # VS Code went on in a log
            better = f"{path.removesuffix('.json')}.jsonl"
        return better != path and better in paths

    return [row for row in rows if not is_second(row.path)]


def folder_at(path: str) -> str:
    """The folder in which a conversation was held, where its place tells it and it need not: a history in a project
    (aider, SpecStory), a chat in the storage of a workspace (VS Code), a session that a file beside it tells of (Cline,
    Roo Code, Kiro, Gemini CLI); "" for any other."""
    file = Path(path)
    if file.parent.name == "chats" and file.name.startswith("session-"):
        try:
            data = files.read_file(file.parents[1] / ".project_root", WORKSPACE_BYTES).data
        except OSError:
            return ""
        return data.decode("utf-8", "replace").strip()
    if beside := _beside(file):
        held = files.read_object(beside, BESIDE_BYTES) or {}
        several = held.get("workspacePaths")
        named = held.get("cwd") or held.get("workspace")
        named = named or (several[0] if isinstance(several, list) and several else "")
        return named if isinstance(named, str) else ""
    storage, _, chat = path.rpartition("/chatSessions/")
    if not storage or "/" in chat:
        return project_at(path)
    from core.conversations.turns import path_of

    held = files.read_object(Path(storage) / "workspace.json", WORKSPACE_BYTES) or {}
    return path_of(held.get("folder")) or path_of(held.get("workspace")).rpartition("/")[0]


def _beside(file: Path) -> Path | None:
    """The file in which a tool tells of the session that is kept in this one; None for any other."""
    if file.name.endswith(".messages.json"):
        return file.with_name(f"{file.parent.name}.json")
    if file.name == "messages.jsonl":
        return file.with_name("session.json")
    if file.name == "api_conversation_history.json":
        return file.with_name("history_item.json")
    kiro = file.suffix == ".jsonl" and file.parts[-3:-1] == ("sessions", "cli")
    return file.with_suffix(".json") if kiro else None


def worked_in(path: str, conversation: Conversation) -> str:
    """Where a conversation that does not tell its folder worked: around its own file, where a tool keeps it in a
    project, else where the files lie that it changed, or read where it changed none; "" where they are of several
    projects, or named from a folder that nobody knows."""
    if kept := folder_at(path):
        return kept
    from core.conversations.events import Edit, FileRead  # to look where conversations are takes none of their events

    events = [event for turn in conversation.turns for event in turn.events]
    for kind in (Edit, FileRead):
        named = {path for event in events if isinstance(event, kind) for path in event.path.split(", ")}
        roots = {root for path in named if (root := project_root(os.path.dirname(path)))}
        repositories = set(filter(repository_root, roots))
        if roots:
            try:
                return os.path.commonpath(repositories or roots) if len(repositories) < 2 else ""
            except ValueError:  # on two drives
                return ""
    return ""


def in_project(folder: str, names: Collection[str]) -> list[Artifact]:
    """What tools of these names, which keep their conversations in the project, left in this very folder."""
    found: dict[str, Artifact] = {}
    for name in sorted(names):
        if name in SOURCE and SOURCE[name].project:
            _take(SOURCE[name], folder, found, [])
    return sorted(found.values())


def as_it_is(path: str, source: str, name: str, kind: str) -> Artifact | None:
    """What is remembered of a place with its size and times of now; None where it is gone."""
    row = (folder_store(path, source) if kind == "store" else None) or artifact_at(path, source, name)
    return row._replace(name=name, kind=kind) if row is not None else None


def harvested_at_paths(entries: Mapping[str, Mapping[str, Any]]) -> list[Artifact]:
    """The files that the ledger knows from paths that the user named, or from the folders of projects: no place of a
    tool holds them. A file keeps the name that its lines cite."""
    names: dict[str, str] = {}
    for entry in entries.values():
        path, source = str(entry.get("path", "")), str(entry.get("source", ""))
        named = source in (FILES, *EXPORTS) or (source in SOURCE and SOURCE[source].project)
        if entry.get("status") == "harvested" and named:
            inside = "#" in path and not os.path.lexists(path)
            names.setdefault(path.rpartition("#")[0] if inside else path, "" if inside else str(entry.get("name", "")))
    there = [Place(FILES, path) for path in names if os.path.lexists(path)]
    return [row._replace(name=names[row.path] or row.name) for row in survey(there).artifacts if row.path in names]


def folder_state(folder: str) -> str:
    """When a folder's names last changed (nanoseconds since 1970), and which folder it is; "" for none."""
    try:
        found = os.stat(folder)
    except OSError:
        return ""
    return f"{found.st_mtime_ns} {found.st_ino}"


def store_state(path: str) -> str:
    """The state of a database or export with its log; "" for a folder, which is looked into each time."""
    rows = []
    for one in (path, f"{path}-wal"):
        try:
            found = os.stat(one)
        except OSError:
            continue
        if stat.S_ISDIR(found.st_mode):
            return ""
        rows.append(f"{found.st_size} {found.st_mtime_ns} {found.st_ino}")
    return " ".join(rows)
