"""The archive: our own copies of conversations that their tools delete, as a source.

One file a conversation, named after what `known_as` says of it; that it counts stands in the ledger, under a key of its
own. One whose tool has deleted it stands in the lists of what there is at the path that it had, so that names, ledger
and provenances mean the same one. Nothing is written here but the files themselves.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from core.base import files
from core.sources.artifact import Artifact
from core.sources.tools import known_as

KEY = "archive:"
ARCHIVED, LET_GO = "archived", "archive-removed"
"""The status of a row of the ledger: a file stands there; there shall be none (`why` says whose word that is)."""
REMOVED, LEFT_OUT, UNREAD = "removed", "left-out", "unread"
"""Why there is no file of a conversation: the user's word, that of archive_without, or nothing in it could be read. The
last two hold for the conversation as it was then."""
ENDING = ".zst"
_NAME_CHARACTERS = 16


class DamagedError(OSError):
    """A file of the archive is not as it was written."""


def key_of(path: str, source: str) -> str:
    """Under which key the ledger tells of the copy of a conversation."""
    called = known_as(path, source).encode("utf-8", "surrogateescape")
    return KEY + hashlib.sha256(called).hexdigest()[:_NAME_CHARACTERS]


def file_of(folder: Path, key: str) -> Path:
    """Where the copy lies that the ledger tells of under `key`."""
    return folder / f"{key.removeprefix(KEY)}{ENDING}"


def content(path: Path) -> bytes:
    """What is in a file of the archive, in the form that `read_conversation` takes. Raises OSError, DamagedError for
    one of which a byte is damaged."""
    from core.conversations.archived import NotArchivedError, unpacked  # whoever counts the files reads none

    try:
        return unpacked(files.read_file(path).data)
    except NotArchivedError as error:
        raise DamagedError(f"{error} ({path})") from error


def held(folder: Path, entries: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """The rows of the ledger whose files are there, by their keys. Another machine's ledger may have been merged into
    this one, without its files."""
    try:
        names = set(os.listdir(folder))
    except OSError:
        return {}
    rows = ((key, entries[key]) for name in names if (key := KEY + name.removesuffix(ENDING)) in entries)
    return {key: row for key, row in rows if row.get("status") == ARCHIVED}


def stand_ins(
    folder: Path, entries: Mapping[str, Mapping[str, Any]], sources: Collection[str], seen: Collection[str]
) -> Iterator[tuple[Artifact, str]]:
    """The conversations of these sources that are in the archive and nowhere else, each with the sha256 of what its
    tool had. `seen` is what `known_as` says of those that were found in their places."""
    for key, row in held(folder, entries).items():
        path, source = str(row.get("path", "")), str(row.get("source", ""))
        if known_as(path, source) in seen or source not in sources or os.path.lexists(path):
            continue
        # A session has no inode, so its id stands for that; a copy that was written anew is another state.
        ino = int.from_bytes(hashlib.sha256(key.encode()).digest()[:7], "big")
        state = int(str(row.get("sha256", "0"))[:14], 16)
        size, mtime = int(row.get("size", 0)), int(row.get("mtime_ns", 0))
        file = str(file_of(folder, key))
        name = str(row.get("name", ""))
        yield Artifact(path, name, "session", size, mtime, state, ino, 0, "", source, file), str(row.get("of", ""))


def stand_in(folder: Path, path: str, source: str) -> Artifact | None:
    """The copy of one conversation, whether its tool still has it or not; None where there is none."""
    file = file_of(folder, key_of(path, source))
    return Artifact(path, "", "session", source=source, kept=str(file)) if os.path.lexists(file) else None
