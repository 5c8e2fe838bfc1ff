"""Stage 1: what lies in the home folder. Looks, reads the host application's index files, writes nothing."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass, field

from core.base import files
from core.base.paths import Paths
from core.harvest.artifact import Artifact
from core.harvest.hashes import HashCache, hash_artifacts
from core.harvest.protection import Protection, is_gone, is_index, read_index, read_protection
from core.harvest.trashed import split_in_trash

_SHA256 = re.compile(r"[0-9a-f]{64}\Z")


@dataclass(frozen=True)
class Split:
    """What `splits/<name>/index.json` says, compared with its source file."""

    readable: bool
    source_exists: bool = False
    hash_matches: bool = True


@dataclass(frozen=True)
class Scan:
    """All that classification needs to know about the disk. `folder` is the resolved conversations folder."""

    artifacts: tuple[Artifact, ...]
    protection: Protection = field(default_factory=Protection)
    splits: dict[str, Split] = field(default_factory=dict)
    folder: str = ""


def scan(paths: Paths, cache: HashCache | None = None) -> Scan:
    """Look at conversations/, its trash and splits/. Raises OSError only when a folder itself cannot be listed.

    `cache` saves hashing the source files of splits again.
    """
    conversations = scan_conversations(paths)
    names = [name for name in _names(str(paths.splits)) if not name.endswith(files.TEMPORARY_MARK)]  # half removed
    named = [os.path.join(paths.splits, name) for name in names]
    folders = [path for path in named if os.path.isdir(path) and not os.path.islink(path)]
    splits = {path: _read_split(path, cache or HashCache()) for path in folders}
    return Scan(
        (
            *conversations,
            *(Artifact(path, os.path.basename(path), "split", tree_bytes(path)) for path in splits),
            *(_in_trash(os.path.join(paths.trash, name), name) for name in _names(str(paths.trash))),
        ),
        read_protection(conversations),
        splits,
        os.path.realpath(paths.conversations),
    )


def scan_conversations(paths: Paths) -> list[Artifact]:
    """The conversations and index files, sorted by name."""
    folder = str(paths.conversations)
    found = []
    for name in _names(folder):
        if name[0] == "." and (name in (".trash", ".DS_Store") or name.endswith(files.TEMPORARY_MARK)):
            continue
        kind = "index" if name[-5:] == ".json" and is_index(name) else "conversation"
        found.append(_artifact(f"{folder}{os.sep}{name}", name, kind))
    return found


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except FileNotFoundError:
        return []


def _artifact(path: str, name: str, kind: str) -> Artifact:
    try:
        found = os.lstat(path)  # what os.scandir remembers has no inode on Windows
    except OSError as error:
        return Artifact(path, name, "odd", trouble=f"cannot be examined: {error.strerror}")
    if not stat.S_ISREG(found.st_mode):
        return Artifact(path, name, "odd", trouble=_trouble(found.st_mode))
    mtime, ctime = found.st_mtime_ns, found.st_ctime_ns
    return Artifact(path, name, kind, found.st_size, mtime, ctime, found.st_ino, found.st_dev)


def _in_trash(path: str, name: str) -> Artifact:
    if split_in_trash(name) is not None and os.path.isdir(path) and not os.path.islink(path):
        return Artifact(path, name, "trash", tree_bytes(path))
    return _artifact(path, name, "trash")


def _trouble(mode: int) -> str:
    kinds = ((stat.S_ISLNK, "a symbolic link"), (stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a FIFO"))
    named = [words for test, words in kinds if test(mode)]
    return f"{named[0] if named else 'a socket or device'}, never read"


# --- splits ----------------------------------------------------------------------------------------------------------


def is_stale(folder: str) -> bool:
    """Whether a split, as it is now, is of no use any more: its source file is certainly gone or has changed."""
    split = _read_split(folder, HashCache())
    return split.readable and not (split.source_exists and split.hash_matches)


def _read_split(folder: str, cache: HashCache) -> Split:
    index = read_index(os.path.join(folder, "index.json"))
    source = index.get("source_path") if index is not None else None
    if index is None or not isinstance(source, str) or not os.path.isabs(source) or "\0" in source:
        return Split(readable=False)
    recorded = index.get("source_sha256")
    if recorded is not None and not (isinstance(recorded, str) and _SHA256.match(recorded.lower())):
        return Split(readable=False)
    if is_gone(source):
        return Split(readable=True, source_exists=False)
    if recorded is None:
        return Split(readable=True, source_exists=True)
    try:
        real = os.path.realpath(source)
        found = os.stat(real)
    except OSError:
        return Split(readable=False)
    item = Artifact(real, "", "source", found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_dev)
    sha256 = hash_artifacts([item], cache).get(real)
    if sha256 is None:
        return Split(readable=False)
    return Split(readable=True, source_exists=True, hash_matches=sha256 == recorded.lower())


def tree_bytes(folder: str) -> int:
    """The bytes of all files in a folder."""
    total = 0
    for root, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(root, name), follow_symlinks=False).st_size
            except OSError:
                continue
    return total
