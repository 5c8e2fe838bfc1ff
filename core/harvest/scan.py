"""Stage 1: what lies in the home folder. Looks, reads the host application's index files, writes nothing."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.base import files
from core.base.paths import Paths

INDEX_LIMIT_BYTES = 64 << 20
HASH_WORKERS = 2
HASH_CHUNK = 64


@dataclass(frozen=True, slots=True)
class Artifact:
    """One thing on disk. `kind` is conversation, index, split, trash or odd (a link, folder, FIFO, device);
    `trouble` says in words why an odd one is odd. Sizes in bytes, times in nanoseconds since 1970."""

    path: str
    name: str
    kind: str
    size: int = 0
    mtime_ns: int = 0
    ctime_ns: int = 0
    ino: int = 0
    dev: int = 0
    trouble: str = ""


@dataclass(frozen=True)
class Split:
    """What `splits/<name>/index.json` says, compared with its source file."""

    readable: bool
    source_exists: bool = False
    hash_matches: bool = True


@dataclass(frozen=True)
class Scan:
    """All that classification needs to know about the disk.

    `saved` holds resolved paths of conversations the person keeps; `file_index` maps a conversation's name to (path of
    the file it belongs to, whether that exists); `unreadable` names index files that could not be understood.
    """

    artifacts: tuple[Artifact, ...]
    saved: frozenset[str] = frozenset()
    file_index: dict[str, tuple[str, bool]] = field(default_factory=dict)
    unreadable: tuple[str, ...] = ()
    splits: dict[str, Split] = field(default_factory=dict)


def is_saved_index(name: str) -> bool:
    return name.startswith("index-saved-conversations-") and name.endswith(".json")


def is_file_index(name: str) -> bool:
    return name.startswith("file-index-") and name.endswith(".json")


def scan(paths: Paths) -> Scan:
    """Look at conversations/, its trash and splits/. Raises OSError only when a folder itself cannot be listed."""
    artifacts = list(_conversations(paths.conversations))
    saved: set[str] = set()
    owners: dict[str, tuple[str, bool]] = {}
    unreadable: list[str] = []
    for artifact in artifacts:
        if artifact.kind != "index":
            continue
        loaded = _read_index(artifact.path)
        known = loaded is not None and (
            _read_saved(loaded, saved) if is_saved_index(artifact.name) else _read_owners(loaded, owners)
        )
        if not known:
            unreadable.append(artifact.path)
    for name, (path, _) in owners.items():
        owners[name] = (path, bool(path) and os.path.isfile(path))
    splits = {path: _read_split(path) for path in _folders(paths.splits)}
    artifacts += [Artifact(path, os.path.basename(path), "split", _tree_bytes(path)) for path in splits]
    artifacts += [_artifact(entry, "trash") for entry in _entries(paths.trash)]
    return Scan(tuple(artifacts), frozenset(saved), owners, tuple(unreadable), splits)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return sorted(found, key=lambda entry: entry.name)
    except FileNotFoundError:
        return []


def _conversations(folder: Path) -> Iterator[Artifact]:
    for entry in _entries(folder):
        if entry.name == ".trash" or entry.name.endswith(files.TEMPORARY_MARK):
            continue
        is_index = is_saved_index(entry.name) or is_file_index(entry.name)
        yield _artifact(entry, "index" if is_index else "conversation")


def _artifact(entry: os.DirEntry[str], kind: str) -> Artifact:
    try:
        found = entry.stat(follow_symlinks=False)
    except OSError as error:
        return Artifact(entry.path, entry.name, "odd", trouble=f"cannot be examined: {error.strerror}")
    trouble = "" if stat.S_ISREG(found.st_mode) else _trouble(found.st_mode)
    return Artifact(
        entry.path,
        entry.name,
        "odd" if trouble else kind,
        0 if trouble else found.st_size,
        found.st_mtime_ns,
        found.st_ctime_ns,
        found.st_ino,
        found.st_dev,
        trouble,
    )


def _trouble(mode: int) -> str:
    kinds = ((stat.S_ISLNK, "a symbolic link"), (stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a FIFO"))
    named = [words for test, words in kinds if test(mode)]
    return f"{named[0] if named else 'a socket or device'}, never read"


# --- the host application's index files ------------------------------------------------------------------------------


def _read_index(path: str) -> dict[str, Any] | None:
    try:
        loaded = json.loads(files.read_file(path, INDEX_LIMIT_BYTES).data.decode("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return loaded if isinstance(loaded, dict) else None


def _read_saved(loaded: dict[str, Any], saved: set[str]) -> bool:
    rows = loaded.get("conversations")
    if not isinstance(rows, list):
        return False
    whole = True
    for row in rows:
        if isinstance(row, dict) and isinstance(row.get("path"), str):
            saved.add(row["path"])
            saved.add(os.path.realpath(row["path"]))
        else:
            whole = False
    return whole


def _read_owners(loaded: dict[str, Any], owners: dict[str, tuple[str, bool]]) -> bool:
    rows = loaded.get("by_file_id")
    if not isinstance(rows, dict):
        return False
    whole = True
    for row in rows.values():
        if isinstance(row, dict) and isinstance(row.get("conversation"), str):
            path = row.get("path")
            owners[row["conversation"]] = (path if isinstance(path, str) else "", False)
        else:
            whole = False
    return whole


# --- splits ----------------------------------------------------------------------------------------------------------


def _folders(folder: Path) -> list[str]:
    return [entry.path for entry in _entries(folder) if entry.is_dir(follow_symlinks=False)]


def _read_split(folder: str) -> Split:
    index = _read_index(os.path.join(folder, "index.json"))
    source = index.get("source_path") if index is not None else None
    if index is None or not isinstance(source, str) or not source:
        return Split(readable=False)
    if not os.path.isfile(source):
        return Split(readable=True, source_exists=False)
    recorded = index.get("source_sha256")
    try:
        matches = not recorded or files.sha256_of_file(os.path.realpath(source)) == recorded
    except OSError:
        return Split(readable=False)
    return Split(readable=True, source_exists=True, hash_matches=matches)


def _tree_bytes(folder: str) -> int:
    total = 0
    for root, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(root, name), follow_symlinks=False).st_size
            except OSError:
                continue
    return total


# --- hashes ----------------------------------------------------------------------------------------------------------


def hash_artifacts(artifacts: list[Artifact], cache: dict[str, list[Any]]) -> dict[str, str]:
    """sha256 by path, from `cache` where size, inode and times are unchanged; unreadable files are left out.

    `cache` maps path to [inode, size, mtime_ns, ctime_ns, sha256] and is updated in place.
    """
    hashes: dict[str, str] = {}
    wanted: list[Artifact] = []
    for artifact in artifacts:
        row = cache.get(artifact.path)
        if row is not None and row[:4] == [artifact.ino, artifact.size, artifact.mtime_ns, artifact.ctime_ns]:
            hashes[artifact.path] = row[4]
        else:
            wanted.append(artifact)
    chunks = [wanted[at : at + HASH_CHUNK] for at in range(0, len(wanted), HASH_CHUNK)]
    if len(chunks) > 1:
        with ThreadPoolExecutor(HASH_WORKERS) as pool:
            results = list(pool.map(_hash_chunk, chunks))
    else:
        results = [_hash_chunk(chunk) for chunk in chunks]
    for artifact, sha in (pair for result in results for pair in result):
        if sha:
            hashes[artifact.path] = sha
            cache[artifact.path] = [artifact.ino, artifact.size, artifact.mtime_ns, artifact.ctime_ns, sha]
    return hashes


def _hash_chunk(chunk: list[Artifact]) -> list[tuple[Artifact, str]]:
    results = []
    for artifact in chunk:
        try:
            results.append((artifact, files.sha256_of_file(artifact.path)))
        except OSError:
            results.append((artifact, ""))
    return results
