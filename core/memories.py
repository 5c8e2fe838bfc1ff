"""A folder of memories: all that are in it, a new one with the next id, one moved to the archive, one found again.

What one file holds is in memory_file.py; what an agent is shown is in commands/memories.py.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from bisect import insort
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from heapq import merge
from itertools import repeat
from pathlib import Path
from typing import Any

from core.base import files
from core.base.ready import file_states, keep_rows, kept_rows
from core.base.result import ErrorInfo, Ok
from core.base.search_entry import SearchEntry
from core.memory_file import CONTENT_BYTES, LARGEST_ID, Memory, new_memory, read_memory, render_memory, slugify

ARCHIVE = "archive"
FEW = 50
"""So many new memories are read at each start before all are kept anew, or one in so many of few."""
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

_COLUMNS = 5
_Row = tuple[str, str, str, str, Any]
"""Name and state of the file, `_order`, `_words`, and the memory itself: from the cache as JSON, which a start parses
only of those that it shows; "" for one that must not lie there."""


class Shelf:
    """One folder of memories, newest first. With the home's `cache` folder a file that has not changed is not read
    again: its row is kept there. What `may_read` refuses is left out; a file that is no memory is in `skipped`."""

    def __init__(
        self,
        scope: str,
        folder: Path,
        may_read: Callable[[str, Path], bool] = lambda scope, path: True,
        cache: Path | None = None,
    ) -> None:
        self.scope, self.folder, self.exists = scope, folder, False
        self.rows: list[_Row] = []
        self.skipped: list[ErrorInfo] = []
        self.names: dict[str, str] = {}
        try:
            self.names = file_states(folder, ".md")
            self.exists = True
        except FileNotFoundError:
            return
        except OSError as error:
            message = f"the memories cannot be read: {error.strerror}"
            self.skipped.append(ErrorInfo("unreadable", message, str(folder)))
            return
        key = hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]
        place = cache / "ready" / f"memories-{key}" if cache is not None else None
        before = kept_rows(place, _COLUMNS) if place is not None else []
        self._look(before, lambda name: scope == "global" or may_read(scope, folder / name), place)

    def _look(self, before: list[Any], readable: Callable[[str], bool], place: Path | None) -> None:
        """Take the rows that are still true, read the other files, and keep what is worth it."""
        names = self.names
        same = [row for row in before if names.get(row[0]) == row[1] and (self.scope == "global" or readable(row[0]))]
        self.rows = rows = [row for row in same if row[4]]
        taken = {row[0] for row in rows}
        withheld = {row[0] for row in same if not row[4]}
        unknown = [name for name in sorted(names.keys() - taken) if name in withheld or readable(name)]
        for name in unknown:
            found = read_memory(self.folder / name, self.scope)
            if isinstance(found, Ok):
                one = found.value
                insort(rows, (name, names[name], _order(one), _words(one), one), key=_newest)
            else:
                self.skipped.append(found.error)
        # A few new ones are read once more the next time: all are written only where that saves more than it costs, or
        # where one is gone, whose words nobody wants to find here.
        new = sum(1 for name in unknown if names[name] and name not in withheld)
        if place is not None and (len(same) < len(before) or new > min(FEW, len(names) // FEW)):
            self._keep(place, unknown)

    def _keep(self, place: Path, unknown: Sequence[str]) -> None:
        """Keep every row whose file tells when it changes; of what must not lie there the name alone."""
        kept = {name: (name, self.names[name], NO_ORDER, "", "") for name in unknown}
        for name, state, order, words, one in self.rows:
            fields = one if isinstance(one, str) else _fields(one)
            kept[name] = (name, state, order, words if fields else "", fields)
        rows = [row for row in kept.values() if row[1] and "\n" not in row[0]]
        keep_rows(place, sorted(rows, key=_newest), _COLUMNS)

    def memory(self, row: _Row) -> Memory:
        """The memory of a row."""
        if isinstance(row[4], Memory):
            return row[4]
        number, created, content, source, category, sha256, *tags = json.loads(row[4])
        path = self.folder / row[0]
        return Memory(number, created, content, tuple(tags), source, category, path, sha256, self.scope)

    def same(
        self, content: str, tags: Sequence[str], counts: Callable[[Memory], bool] = lambda memory: True
    ) -> Memory | None:
        """The memory with the lowest id that says the same under these tags at least and `counts`, or None."""
        begins = _folded(content.strip())
        found = [self.memory(row) for row in self.rows if row[3].startswith(begins)]
        alike = [row for row in found if row.content.strip() == content.strip() and set(tags) <= set(row.tags)]
        return min(filter(counts, alike), key=_by_id, default=None)


def load_memories(
    folders: Iterable[tuple[str, Path]],
    may_read: Callable[[str, Path], bool] = lambda scope, path: True,
    cache: Path | None = None,
) -> Memories:
    """All memories of (scope, folder) pairs, by id, out of the files that `may_read`; nothing raises. `cache` as in
    `Shelf`."""
    return all_of([Shelf(scope, folder, may_read, cache) for scope, folder in folders])


def all_of(shelves: Sequence[Shelf]) -> Memories:
    """All that is in these folders."""
    found = sorted((shelf.memory(row) for shelf in shelves for row in shelf.rows), key=_by_id)
    skipped = tuple(error for shelf in shelves for error in shelf.skipped)
    return Memories(tuple(found), skipped, any(shelf.exists for shelf in shelves))


def _by_id(row: Memory) -> tuple[int, str, str]:
    return row.id, row.scope, row.path.name


NO_ORDER = "0 0"


def _order(memory: Memory) -> str:
    """When it was made and its id, by which memories are sorted."""
    return f"{_instant(memory.created)!r} {memory.id}"


def _newest(row: tuple[Any, ...]) -> tuple[float, int, str]:
    instant, _, number = row[2].partition(" ")
    return -float(instant), -int(number), row[0]


def _words(memory: Memory) -> str:
    """Text and tags as they are compared, on one line."""
    return _folded("\n".join((memory.content, *memory.tags)))


def _folded(text: str) -> str:
    return text.casefold().replace("\n", "\0")


def _fields(one: Memory) -> str:
    """The memory for the cache."""
    from core.base.secrets.redact import redact  # for what is new only: it costs more than the rest of a start

    # No key of theirs lies in a second place, in whichever field it stands.
    if redact("\n".join((one.content, *one.tags, one.source, one.category))).counts:
        return ""
    return json.dumps([one.id, one.created, one.content, one.source, one.category, one.sha256, *one.tags])


# --- writing ---------------------------------------------------------------------------------------------------------


def next_id(shelf: Shelf, cache: Path | None = None) -> int:
    """One more than the highest id in the folder and its archive, files that cannot be read included; `cache` as in
    `Shelf`."""
    highest = 0
    for place in (shelf, Shelf("", shelf.folder / ARCHIVE, cache=cache)):
        for numbered in filter(None, map(_NUMBERED.match, place.names)):
            highest = max(highest, int(numbered[1] or numbered[2]))
        # A user may have given another id inside than in the name, also in a file that is skipped for something else.
        highest = max([highest, *(int(row[2].partition(" ")[2]) for row in place.rows)])
        for name in place.names.keys() - {row[0] for row in place.rows}:
            with suppress(OSError):
                found = _ID_INSIDE.search(files.read_file(place.folder / name, CONTENT_BYTES * 2).data)
                highest = max(highest, int(found[1]) if found else 0)
    return min(highest + 1, LARGEST_ID)


def write_memory(
    shelf: Shelf, content: str, tags: Sequence[str], now: datetime, cache: Path | None = None, source: str = ""
) -> Memory:
    """Write a new memory durably and return it with its path. `content` and `tags` must be clean; `cache` as in
    `Shelf`, `source` as in `new_memory`.

    Call it while holding the lock of the folder, and look at that only then: the id is one more than the highest there.
    Raises OSError.
    """
    folder = shelf.folder
    files.make_folder(folder)
    memory = new_memory(next_id(shelf, cache), content, tags, now, source)
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


def recall(shelves: Iterable[Shelf], query: str) -> Iterator[Memory]:
    """The memories that have the query, newest first, in text or tags, whatever the case: its very words in
    their order, or all of them anywhere. An empty query fits all."""
    folded = _folded(query.strip())
    words = {_folded(word) for word in query.split()} - {folded}
    filled = [shelf for shelf in shelves if shelf.rows]
    ordered: list[Iterable[tuple[Shelf, _Row]]] = [zip(repeat(shelf), shelf.rows) for shelf in filled]
    for shelf, row in ordered[0] if len(ordered) == 1 else merge(*ordered, key=lambda pair: _newest(pair[1])[:2]):
        if folded in row[3] or (words and all(word in row[3] for word in words)):
            yield shelf.memory(row)


def newest_first(memories: Iterable[Memory]) -> list[Memory]:
    """The order in which they are recalled."""
    return sorted(memories, key=lambda row: (_instant(row.created), row.id), reverse=True)


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
            "memory", f"{row.scope}:{row.id}", row.summary, row.content, date=row.created[:10],
            provenance=f"[{row.saved_by}]" if row.saved_by else "", tags=row.tags,
            project=project if row.scope == "project" else "", path=str(row.path),
        )
        for row in memories
    ]  # fmt: skip
