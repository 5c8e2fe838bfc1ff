"""A folder of memories: all that are in it, a new one with the next id, one moved to the archive, one found again.

What one file holds is in memory_file.py; what an agent is shown is in commands/memories.py.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from core.base import files
from core.base.entry import Entry
from core.base.result import ErrorInfo, KnowledgeError
from core.memory_file import CONTENT_BYTES, LARGEST_ID, Memory, new_memory, read_memory, render_memory, slugify

ARCHIVE = "archive"
_ID_INSIDE = re.compile(rb"^id:[ \t]*(\d{1,18})[ \t]*$", re.MULTILINE)
_NUMBERED = re.compile(r"(\d{1,9})-.*\.md\Z|(\d{1,9})\.md\Z")


@dataclass(frozen=True)
class Memories:
    """What was found in the folders: the memories by id, and what was left out of them and why. `exists` is false when
    no folder is there yet."""

    memories: tuple[Memory, ...]
    skipped: tuple[ErrorInfo, ...]
    exists: bool


# --- reading ---------------------------------------------------------------------------------------------------------


class Shelf:
    """One folder of memories, newest first. What `may_read` refuses is left out; a file that is no memory is in
    `skipped`. Nothing raises."""

    def __init__(
        self, scope: str, folder: Path, may_read: Callable[[str, Path], bool] = lambda scope, path: True
    ) -> None:
        self.scope, self.folder, self.exists = scope, folder, False
        self.rows: list[Memory] = []
        self.skipped: list[ErrorInfo] = []
        self.names: list[str] = []
        try:
            self.names = sorted(name for name in os.listdir(folder) if name.endswith(".md") and name[0] != ".")
            self.exists = True
        except FileNotFoundError:
            return
        except OSError as error:
            message = f"the memories cannot be read: {error.strerror}"
            self.skipped.append(ErrorInfo("unreadable", message, str(folder)))
            return
        for name in self.names:
            if scope == "global" or may_read(scope, folder / name):
                try:
                    self.rows.append(read_memory(folder / name, scope))
                except KnowledgeError as failed:
                    self.skipped.append(failed.error)
        self.rows = newest_first(self.rows)

    def same(
        self, content: str, tags: Sequence[str], counts: Callable[[Memory], bool] = lambda memory: True
    ) -> Memory | None:
        """The memory with the lowest id that says the same under these tags at least and `counts`, or None."""
        alike = [row for row in self.rows if row.content.strip() == content.strip() and set(tags) <= set(row.tags)]
        return min(filter(counts, alike), key=_by_id, default=None)


def all_of(shelves: Sequence[Shelf]) -> Memories:
    """All memories that are in these folders, by id."""
    found = sorted((row for shelf in shelves for row in shelf.rows), key=_by_id)
    skipped = tuple(error for shelf in shelves for error in shelf.skipped)
    return Memories(tuple(found), skipped, any(shelf.exists for shelf in shelves))


def _by_id(row: Memory) -> tuple[int, str, str]:
    return row.id, row.scope, row.path.name


# --- writing ---------------------------------------------------------------------------------------------------------


def next_id(shelf: Shelf) -> int:
    """One more than the highest id in the folder and its archive, files that cannot be read included."""
    highest = 0
    for place in (shelf, Shelf("", shelf.folder / ARCHIVE)):
        for numbered in filter(None, map(_NUMBERED.match, place.names)):
            highest = max(highest, int(numbered[1] or numbered[2]))
        # A user may have given another id inside than in the name, also in a file that is skipped for something else.
        highest = max([highest, *(row.id for row in place.rows)])
        for name in {*place.names} - {row.path.name for row in place.rows}:
            with suppress(OSError):
                found = _ID_INSIDE.search(files.read_file(place.folder / name, CONTENT_BYTES * 2).data)
                highest = max(highest, int(found[1]) if found else 0)
    return min(highest + 1, LARGEST_ID)


def write_memory(shelf: Shelf, content: str, tags: Sequence[str], now: datetime, source: str = "") -> Memory:
    """Write a new memory durably and return it with its path. `content` and `tags` must be clean; `source` as in
    `new_memory`.

    Call it while holding the lock of the folder, and look at that only then: the id is one more than the highest there.
    Raises OSError.
    """
    folder = shelf.folder
    files.make_folder(folder)
    memory = new_memory(next_id(shelf), content, tags, now, source)
    path = folder / f"{memory.id:03d}-{slugify(content)}.md"
    files.create_atomic(path, render_memory(memory).encode("utf-8"))
    files.sync_folder(folder)
    return Memory(**{**vars(memory), "path": path, "sha256": files.sha256_of_file(path)})


def archive_memory(path: Path) -> Path:
    """Move a memory out of the way, into `archive/` beside it, without replacing; returns where it is now. Its id is
    not given to another. Raises OSError."""
    files.make_folder(path.parent / ARCHIVE)
    return _moved(path, path.parent / ARCHIVE)


def restore_memory(path: Path) -> Path:
    """Move an archived memory back, without replacing; returns where it is now. Raises OSError."""
    return _moved(path, path.parent.parent)


def _moved(path: Path, folder: Path) -> Path:
    target = folder / path.name
    files.rename_without_replacing(path, target)
    files.sync_folder(folder)
    files.sync_folder(path.parent)
    return target


# --- finding ---------------------------------------------------------------------------------------------------------


def recall(shelves: Iterable[Shelf], query: str) -> Iterator[Memory]:
    """The memories that have the query, newest first, in text or tags, whatever the case: its very words in
    their order, or all of them anywhere. An empty query fits all."""
    folded = query.strip().casefold()
    words = {word.casefold() for word in query.split()} - {folded}
    for row in newest_first(row for shelf in shelves for row in shelf.rows):
        text = "\n".join((row.content, *row.tags)).casefold()
        if folded in text or (words and all(word in text for word in words)):
            yield row


def newest_first(memories: Iterable[Memory]) -> list[Memory]:
    """The order in which they are recalled."""
    return sorted(memories, key=lambda row: (-_instant(row.created), -row.id, row.path.name))


def _instant(created: str) -> float:
    """Seconds since 1970: times of different zones are compared as what they are."""
    try:
        moment = datetime.fromisoformat(created)
    except ValueError:
        return 0.0
    return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()


def entries(memories: Iterable[Memory], project: str = "") -> list[Entry]:
    """One row for the search for each memory."""
    return [
        Entry(
            "memory", f"{row.scope}:{row.id}", row.summary, row.content, date=row.created[:10],
            provenance=f"[{row.saved_by}]" if row.saved_by else "", tags=row.tags,
            project=project if row.scope == "project" else "", path=str(row.path),
        )
        for row in memories
    ]  # fmt: skip
