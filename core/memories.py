"""A folder of memories: all that are in it, a new one with the next id, one moved to the archive, one found again.

What one file holds is in memory_file.py; what an agent is shown is in commands/memories.py.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from core.base import files
from core.base.ready import SETTLED_SECONDS
from core.base.result import ErrorInfo, Ok, Result
from core.base.search_entry import SearchEntry
from core.memory_file import Memory, new_memory, read_memory, render_memory, slugify

ARCHIVE = "archive"
VERSION = 2
"""Of what is kept in the cache; one more where a file would be read in another way."""
SHARE = 50
"""The cache is written anew when more than one in so many of its rows is new."""
_NUMBERED = re.compile(r"(\d{1,9})-.*\.md\Z|(\d{1,9})\.md\Z")


@dataclass(frozen=True)
class Memories:
    """What was found in the folders: the memories by id, and what was left out of them and why. `exists` is false when
    no folder is there yet."""

    memories: tuple[Memory, ...]
    skipped: tuple[ErrorInfo, ...]
    exists: bool


# --- reading ---------------------------------------------------------------------------------------------------------


def load_memories(
    folders: Iterable[tuple[str, Path]],
    may_read: Callable[[str, Path], bool] = lambda scope, path: True,
    cache: Path | None = None,
) -> Memories:
    """All memories of (scope, folder) pairs, by id, out of the files that `may_read`. A file that is none is skipped
    and told; nothing raises. With the home's `cache` folder a file that has not changed is not read again."""
    found: list[Memory] = []
    skipped: list[ErrorInfo] = []
    exists = False
    for scope, folder in folders:
        try:
            names = sorted(row.name for row in folder.iterdir() if row.name.endswith(".md") and row.name[0] != ".")
        except FileNotFoundError:
            continue
        except OSError as error:
            skipped.append(ErrorInfo("unreadable", f"the memories cannot be read: {error.strerror}", str(folder)))
            continue
        exists = True
        with _Kept(folder, cache) as kept:
            for name in names:
                if not may_read(scope, folder / name):
                    continue
                memory = kept.read(name, scope)
                if isinstance(memory, Ok):
                    found.append(memory.value)
                else:
                    skipped.append(memory.error)
    return Memories(tuple(sorted(found, key=lambda row: (row.id, row.scope, row.path.name))), tuple(skipped), exists)


class _Kept:
    """What the files of one folder held when they were last read, in the cache, each with the state that it was in.

    A file is read again where its inode, size or times differ, where it is a link, or changed so lately that its times
    could stay the same when it changes once more."""

    def __init__(self, folder: Path, cache: Path | None) -> None:
        key = hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]
        self._folder, self._place = folder, cache / "ready" / f"memories-{key}" if cache is not None else None
        self._rows: dict[str, Any] = {}
        self._told: dict[str, Any] = {}
        self._new = 0
        self._settled = (time.time() - SETTLED_SECONDS) * 1e9

    def __enter__(self) -> Self:
        try:
            loaded = json.loads(files.read_or_empty(self._place) or b"{}") if self._place is not None else {}
        except (OSError, ValueError, RecursionError):
            loaded = {}
        rows = loaded.get("files") if isinstance(loaded, dict) and loaded.get("version") == VERSION else None
        self._rows = rows if isinstance(rows, dict) else {}
        return self

    def __exit__(self, *_: object) -> None:
        # A few new ones are read once more the next time: all are written only where that saves more than it costs, or
        # where one is gone, whose words nobody wants to find here.
        gone = len(self._rows) - (len(self._told) - self._new)
        if self._place is not None and (gone or self._new * SHARE > len(self._told)):
            files.write_cache(self._place, json.dumps({"version": VERSION, "files": self._told}).encode())

    def read(self, name: str, scope: str) -> Result[Memory]:
        """As `read_memory`."""
        path = self._folder / name
        if self._place is None:
            return read_memory(path, scope)
        try:
            at = os.lstat(path)
        except OSError:
            return read_memory(path, scope)
        state = [at.st_mode, at.st_uid, at.st_dev, at.st_ino, at.st_size, at.st_mtime_ns, at.st_ctime_ns]
        match self._rows.get(name):
            case [before, [int(number), *words, list(tags)]] if before == state and len(words) == 5:
                self._told[name] = self._rows[name]
                created, content, source, category, sha256 = map(str, words)
                return Ok(
                    Memory(number, created, content, tuple(map(str, tags)), source, category, path, sha256, scope)
                )
        found = read_memory(path, scope)
        if isinstance(found, Ok) and stat.S_ISREG(at.st_mode) and max(at.st_mtime_ns, at.st_ctime_ns) < self._settled:
            from core.base.secrets.redact import redact  # for what is new only: it costs more than the rest of a start

            one = found.value
            if not redact(one.content).counts:  # no key of theirs lies in a second place
                words = [one.created, one.content, one.source, one.category, one.sha256]
                self._told[name] = [state, [one.id, *words, list(one.tags)]]
                self._new += 1
        return found


# --- writing ---------------------------------------------------------------------------------------------------------


def next_id(folder: Path, cache: Path | None = None) -> int:
    """One more than the highest id in the folder and its archive, files that cannot be read included; `cache` as in
    `load_memories`."""
    highest = 0
    for place in (folder, folder / ARCHIVE):
        try:
            names = [row.name for row in place.iterdir()]
        except FileNotFoundError:
            continue
        for name in names:
            numbered = _NUMBERED.match(name)
            if numbered is not None:
                highest = max(highest, int(numbered[1] or numbered[2]))
        # A person may have given another id inside than in the name.
        highest = max([highest, *(row.id for row in load_memories([("", place)], cache=cache).memories)])
    return highest + 1


def write_memory(folder: Path, content: str, tags: Sequence[str], now: datetime, cache: Path | None = None) -> Memory:
    """Write a new memory durably and return it with its path. `content` and `tags` must be clean; `cache` as in
    `load_memories`.

    Call it while holding the lock of the folder: the id is one more than the highest there. Raises OSError.
    """
    files.make_folder(folder)
    memory = new_memory(next_id(folder, cache), content, tags, now)
    path = folder / f"{memory.id:03d}-{slugify(content)}.md"
    files.create_atomic(path, render_memory(memory).encode("utf-8"))
    files.sync_folder(folder)
    return Memory(**{**vars(memory), "path": path, "sha256": files.sha256_of_file(path)})


def archive_memory(path: Path) -> Path:
    """Move a memory out of the way, into `archive/` beside it, without replacing; returns where it is now. Its id is
    not given to another. Raises OSError."""
    folder = path.parent / ARCHIVE
    files.make_folder(folder)
    target = folder / path.name
    files.rename_without_replacing(path, target)
    files.sync_folder(folder)
    files.sync_folder(path.parent)
    return target


def restore_memory(path: Path) -> Path:
    """Move an archived memory back, without replacing; returns where it is now. Raises OSError."""
    target = path.parent.parent / path.name
    files.rename_without_replacing(path, target)
    files.sync_folder(target.parent)
    files.sync_folder(path.parent)
    return target


# --- finding ---------------------------------------------------------------------------------------------------------


def recall(memories: Sequence[Memory], query: str) -> list[Memory]:
    """The memories that have the query, newest first, in text or tags, whatever the case: its very words in
    their order, or all of them anywhere. An empty query fits all."""
    folded = query.casefold().strip()
    words = set(folded.split())
    newest = sorted(memories, key=lambda row: (_instant(row.created), row.id), reverse=True)
    hits = []
    for row in newest:
        text = "\n".join([row.content, *row.tags]).casefold()
        if folded in text or all(word in text for word in words):
            hits.append(row)
    return hits


def _instant(created: str) -> float:
    """Seconds since 1970: times of different zones are compared as what they are."""
    try:
        moment = datetime.fromisoformat(created.replace("Z", "+00:00").replace(" ", "T"))
    except ValueError:
        return 0.0
    return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()


def entries(memories: Iterable[Memory], project: str = "") -> list[SearchEntry]:
    """One row for the search for each memory."""
    return [
        SearchEntry(
            "memory",
            f"{row.scope}:{row.id}",
            row.summary,
            row.content,
            date=row.created[:10],
            tags=row.tags,
            project=project if row.scope == "project" else "",
            path=str(row.path),
        )
        for row in memories
    ]
