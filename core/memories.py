"""A folder of memories: all that are in it, a new one with the next id, one moved to the archive, one found again.

What one file holds is in memory_file.py; what an agent is shown is in commands/memories.py.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from core.base import files
from core.base.late import dataclass
from core.base.ready import KeptRows
from core.base.result import ErrorInfo, Ok, Result
from core.base.search_entry import SearchEntry
from core.memory_file import Memory, new_memory, read_memory, render_memory, slugify

ARCHIVE = "archive"
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
    and reported; nothing raises. With the home's `cache` folder a file that has not changed is not read again."""
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
        key = hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]
        place = cache / "ready" / f"memories-{key}" if cache is not None else None
        with KeptRows(place, partial(read_memory, scope=scope), _row_of, partial(_memory_of, scope=scope)) as kept:
            for path in map(folder.joinpath, names):
                if not may_read(scope, path):
                    continue
                memory = kept.of(path)
                if isinstance(memory, Ok):
                    found.append(memory.value)
                else:
                    skipped.append(memory.error)
    return Memories(tuple(sorted(found, key=lambda row: (row.id, row.scope, row.path.name))), tuple(skipped), exists)


def _row_of(found: Result[Memory]) -> list[Any] | None:
    """A memory for the cache; None for one that must not lie there."""
    from core.base.secrets.redact import redact  # for what is new only: it costs more than the rest of a start

    if not isinstance(found, Ok) or redact(found.value.content).counts:  # no key of theirs lies in a second place
        return None
    one = found.value
    return [one.id, one.created, one.content, one.source, one.category, one.sha256, list(one.tags)]


def _memory_of(row: Any, path: Path, scope: str) -> Result[Memory] | None:
    number, *words, tags = row
    if not isinstance(number, int) or not isinstance(tags, list):
        return None
    created, content, source, category, sha256 = map(str, words)
    return Ok(Memory(number, created, content, tuple(map(str, tags)), source, category, path, sha256, scope))


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
