"""Stage 1: what lies in the home folder and in the trash. Looks, reads the host application's index files, writes
nothing.

The index files say which conversations are saved and which belong to a file; `assets/docs/sources.md` tells how. One
that cannot be understood whole makes us careful: what it would have protected is unknown, so nothing is reclaimed while
it is like that.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from core.base import files
from core.base.paths import Paths
from core.sources.artifact import SHA256, Artifact, HashCache, hash_artifacts

_SPLIT = re.compile(r"split\.(?P<until>\d{8})\.(?P<split>[^/]+)\Z")
_NAME = re.compile(r"(?P<sha>[0-9a-f]{64})(?:\.\d+)?\Z")


def sha_in_trash(name: str) -> str:
    """The sha256 (hex) that a name in the trash says its content has, "" for a name that no harvest gave."""
    found = _NAME.match(name)
    return found["sha"] if found is not None else ""


def split_in_trash(name: str) -> tuple[str, datetime] | None:
    """The name of the folder of splits that lies in the trash under `name`, and when its grace period ends; None for
    what is no such folder."""
    found = _SPLIT.match(name)
    if found is None:
        return None
    try:
        return found["split"], datetime.strptime(found["until"], "%Y%m%d").replace(tzinfo=UTC)
    except ValueError:
        return None


def name_of_split(split: str, until: datetime) -> str:
    """The name in the trash of a folder of splits. It tells the end of its grace period, so that no ledger need."""
    return f"split.{until.astimezone(UTC):%Y%m%d}.{split}"


def origin(entry: Mapping[str, Any], name: str) -> str:
    """Where the conversation of that name in the trash was, by its ledger entry; "" when that does not say."""
    known = entry.get("trash")
    return str(known.get(name, "")) if isinstance(known, Mapping) else ""


def holds(path: str | Path, sha256: str) -> bool:
    """Whether a regular file with that content stands at `path`."""
    try:
        return files.sha256_of_file(path) == sha256
    except (OSError, ValueError):
        return False


def grace_end(entry: Mapping[str, Any], ctime: float, trash_days: int) -> datetime:
    """When the grace period ends: by the ledger, else (no date, or one that cannot be read or has no time zone) counted
    from `ctime`, the moment of the move in seconds since 1970."""
    recorded = entry.get("trashed_until")
    if isinstance(recorded, str):
        try:
            parsed = datetime.fromisoformat(recorded)
        except ValueError:
            parsed = None
        if parsed is not None and parsed.tzinfo is not None:
            return parsed
    return datetime.fromtimestamp(ctime).astimezone() + timedelta(days=trash_days)


INDEX_LIMIT_BYTES = 64 << 20


@dataclass(frozen=True)
class Protection:
    """`saved` holds resolved paths of conversations the user keeps; `owners` maps a conversation's name to (path of
    the file it belongs to, whether that exists); `unreadable` names index files that could not be understood."""

    saved: frozenset[str] = frozenset()
    owners: dict[str, tuple[str, bool]] = field(default_factory=dict)
    unreadable: tuple[str, ...] = ()


_SAVED, _OF_FILES = "index-saved-conversations-", "file-index-"


def is_index(name: str) -> bool:
    return name.endswith(".json") and name.startswith((_SAVED, _OF_FILES))


def read_protection(artifacts: Iterable[Artifact]) -> Protection:
    """Read every index among `artifacts`. One that is a link, a folder or the like counts as unreadable."""
    saved: set[str] = set()
    owners: dict[str, tuple[str, bool]] = {}
    unreadable: list[str] = []
    for item in [item for item in artifacts if is_index(item.name)]:
        loaded = files.read_object(item.path, INDEX_LIMIT_BYTES) if item.kind == "index" else None
        folder = os.path.dirname(item.path)
        if item.name.startswith(_SAVED):
            kept, whole = _saved_in(loaded or {}, folder)
            saved |= kept
        else:
            owned, whole = _owners_in(loaded or {}, folder)
            for name, owner in owned:
                if not owners.get(name, ("", False))[1]:  # in two indexes: one file that exists is enough
                    owners[name] = owner
        if not whole:
            unreadable.append(item.path)
    return Protection(frozenset(saved), owners, tuple(unreadable))


def why_careful(unreadable: tuple[str, ...]) -> str:
    """Why nothing may be reclaimed, "" when it may."""
    return f"{unreadable[0]} cannot be read: what it protects is unknown" if unreadable else ""


def is_gone(path: str) -> bool:
    """Whether there is certainly nothing of that name. A folder that may not be entered is no proof."""
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False
    return False


def _saved_in(loaded: dict[str, Any], folder: str) -> tuple[set[str], bool]:
    """The paths of the conversations in an index of those that the user keeps, and whether all of it was understood."""
    saved, rows = set[str](), loaded.get("conversations")
    if not isinstance(rows, list):
        return saved, False
    whole = True
    for row in rows:
        path = row.get("path") if isinstance(row, dict) else None
        if not isinstance(path, str) or not path:
            whole = False
            continue
        try:
            # A relative path is taken from the folder of the index.
            saved.add(os.path.realpath(os.path.join(folder, os.path.expanduser(path))))
        except ValueError:
            whole = False
    return saved, whole


def _owners_in(loaded: dict[str, Any], folder: str) -> tuple[list[tuple[str, tuple[str, bool]]], bool]:
    """The conversations in an index of files, each with its owner as `Protection` has it, and whether all of it was
    understood."""
    owned, rows = list[tuple[str, tuple[str, bool]]](), loaded.get("by_file_id")
    if not isinstance(rows, dict):
        return owned, False
    whole = True
    for row in rows.values():
        name, path = (row.get("conversation"), row.get("path")) if isinstance(row, dict) else (None, None)
        if not (isinstance(name, str) and name and isinstance(path, str) and path):
            whole = False
        else:
            owned.append((name, (path, not is_gone(os.path.join(folder, os.path.expanduser(path))))))
    return owned, whole


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
    split = [Artifact(path, os.path.basename(path), "split", tree_bytes(path)) for path in splits]
    trash = [_in_trash(os.path.join(paths.trash, name), name) for name in _names(str(paths.trash))]
    found = (*conversations, *split, *trash)
    return Scan(found, read_protection(conversations), splits, os.path.realpath(paths.conversations))


def scan_conversations(paths: Paths) -> list[Artifact]:
    """The conversations and index files, sorted by name."""
    folder = str(paths.conversations)
    found = []
    for name in _names(folder):
        if name[0] == "." and (name in (".trash", ".DS_Store") or name.endswith(files.TEMPORARY_MARK)):
            continue
        kind = "index" if is_index(name) else "conversation"
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
    return Artifact.seen(path, name, kind, found)


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
    index = files.read_object(os.path.join(folder, "index.json"), INDEX_LIMIT_BYTES)
    source = index.get("source_path") if index is not None else None
    if index is None or not isinstance(source, str) or not os.path.isabs(source) or "\0" in source:
        return Split(readable=False)
    recorded = index.get("source_sha256")
    if recorded is not None and not (isinstance(recorded, str) and SHA256.match(recorded.lower())):
        return Split(readable=False)
    if is_gone(source):
        return Split(readable=True, source_exists=False)
    if recorded is None:
        return Split(readable=True, source_exists=True)
    try:
        real = os.path.realpath(source)
        item = Artifact.seen(real, "", "source", os.stat(real))
    except OSError:
        return Split(readable=False)
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
