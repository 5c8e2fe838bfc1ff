"""Per-file notes `files/<file id>.md`, bound to a source file across renames and editors' atomic saves.

The seed keys a note by `st_dev:st_ino`. Inodes are reused as soon as a file is gone and change when an editor saves by
rename, so `.state/file_ids.json` keeps, for each note, the path, birth time, size and head hash of its file:

- same id, same birth     the file itself, perhaps renamed
- same id, other birth    a stranger on a reused inode: it gets a note of its own
- unknown id, known path  an editor saved by rename: the note follows the path (unless the old file lives on elsewhere)
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import stat
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.base import files, locks
from core.base.birth import birth_ns
from core.base.paths import Paths
from core.knowledge.lines import missing_lines

HEAD_BYTES = 65536
SEARCH_ENTRIES = 20_000
LOCK_SECONDS = 5.0
OLD_NAMES = 8
BACKUP_ENDINGS = ("~", ".bak", ".orig", ".swp", ".tmp", "#")

NoteRecord = dict[str, Any]
NoteRecords = dict[str, NoteRecord]


@dataclass(frozen=True)
class SourceFile:
    """The file that a note is about, as it is now."""

    path: str
    id: str
    birth: int | None
    size: int
    head: str

    def record(self, old: NoteRecord | None = None) -> NoteRecord:
        """The row of file_ids.json; names that the file had before (`old`) stay in it as `was`."""
        row: NoteRecord = {"path": self.path, "birth": self.birth, "size": self.size, "head": self.head}
        was = [*(old or {}).get("was", []), (old or {}).get("path", self.path)]
        was = [name for name in dict.fromkeys(was) if name != self.path]
        return {**row, "was": was[-OLD_NAMES:]} if was else row


@dataclass(frozen=True)
class Binding:
    """Which note belongs to a source file: `note` is its name below files/ (it may not exist yet).

    `move` is the note's present name when it must first be renamed to `note`; `aside` is (from, to) when a stranger's
    note is in the way. `record` is what file_ids.json should say afterwards.
    """

    note: str
    record: NoteRecord
    move: str = ""
    aside: tuple[str, str] | None = None


def file_id(dev: int, ino: int) -> str:
    """`st_dev:st_ino` (seed); Windows forbids the colon in a name, so there it is a dash. Both are read."""
    return f"{dev}-{ino}" if sys.platform == "win32" else f"{dev}:{ino}"


def examine(path: str, *, read_head: bool = True) -> SourceFile:
    """Look at a source file without following a link in its last part. OSError when it is no regular file.

    With `read_head` false not a byte of its content is read: so it is when only a model has named the file.
    """
    fd = files.open_regular(path, os.O_RDONLY if read_head else getattr(os, "O_PATH", os.O_RDONLY))
    try:
        found = os.fstat(fd)
        head = hashlib.sha256(os.read(fd, HEAD_BYTES)).hexdigest() if read_head else ""
        return SourceFile(path, file_id(found.st_dev, found.st_ino), birth_ns(path), found.st_size, head)
    finally:
        os.close(fd)


def read_records(paths: Paths) -> NoteRecords:
    """`file_ids.json`; damaged or absent, it is rebuilt from the headers of the notes. Raises OSError when it cannot be
    read: what cannot be read now is not damaged, and must not be written over."""
    records: NoteRecords = {}
    data = files.read_or_empty(paths.file_ids)
    with contextlib.suppress(ValueError, RecursionError):
        loaded = json.loads(data.decode("utf-8"))
        if isinstance(loaded, dict):
            records = {key: row for key, row in loaded.items() if _is_record(row)}
    if paths.file_notes.is_dir():
        for note in paths.file_notes.glob("*.md"):
            if note.name not in records and not note.name.startswith("."):
                with contextlib.suppress(OSError):
                    first = files.read_or_empty(note).split(b"\n", 1)[0].decode("utf-8", "replace")
                    if first.startswith("# "):
                        records[note.name] = {"path": first[2:].strip(), "birth": None, "size": None, "head": ""}
    return records


def _is_record(row: object) -> bool:
    return isinstance(row, dict) and isinstance(row.get("path"), str) and isinstance(row.get("was", []), list)


def write_records(paths: Paths, records: NoteRecords) -> None:
    """Replace file_ids.json durably. Raises OSError."""
    files.make_folder(paths.state)
    files.write_atomic(paths.file_ids, json.dumps(records, indent=1, sort_keys=True).encode("ascii") + b"\n")


def merge_records(paths: Paths, changed: NoteRecords, gone: Iterable[str] = ()) -> None:
    """Bring changed rows into file_ids.json as it is now: a run remembers it from its start, and the panel may have
    bound another note since. Raises OSError."""
    with _alone(paths):
        records = {name: row for name, row in read_records(paths).items() if name not in set(gone)}
        write_records(paths, {**records, **changed})


def bind_note(paths: Paths, source: SourceFile) -> Binding:
    """Bind a note to its source file and write that down, in one step for everybody else. Raises OSError."""
    with _alone(paths):
        records = read_records(paths)
        binding = bind(source, records)
        files.make_folder(paths.file_notes)
        apply_binding(paths, binding, records)
        write_records(paths, records)
    return binding


@contextlib.contextmanager
def _alone(paths: Paths) -> Iterator[None]:
    """Hold the lock of file_ids.json; whoever has it needs it for a moment only. OSError(EBUSY) after LOCK_SECONDS."""
    try:
        with locks.locked(paths.file_ids.with_suffix(".lock"), patience=LOCK_SECONDS):
            yield
    except locks.LockHeldError as error:
        message = "another program does not let go of the list of notes"
        raise OSError(errno.EBUSY, message, str(paths.file_ids)) from error


def bind(source: SourceFile, records: NoteRecords) -> Binding:
    """Decide which note belongs to `source`. Looks at the disk only to find where an old file went; changes nothing."""
    note = _note_name(source.id, records)
    row = records.get(note)
    if row is not None and _is_same(row, source):
        return Binding(note, source.record(row))
    followed = _note_by_path(source, records)
    aside = None
    if row is not None:
        aside = (note, f"{note.removesuffix('.md')}@{row.get('birth') or 'unknown'}.md")
    if followed is not None:
        return Binding(note, source.record(), move=followed, aside=aside)
    return Binding(note, source.record(), aside=aside)


def apply_binding(paths: Paths, binding: Binding, records: NoteRecords) -> None:
    """Rename notes as the binding says and update `records` in memory. Safe to repeat. Raises OSError."""
    if binding.aside is not None:
        old, new = binding.aside
        number = 1
        while not _rename(paths, old, new, records):
            number += 1
            new = f"{binding.aside[1].removesuffix('.md')}-{number}.md"
    if binding.move and binding.move != binding.note:
        _rename(paths, binding.move, binding.note, records)  # a note of that name, made by hand: both stay
    records[binding.note] = binding.record


def notes_for(paths: Paths, path: str) -> tuple[Path | None, str]:
    """The note of a source file and the path the file has now; (None, path) when there is none.

    `path` may also be a name that the file had before: then the record leads to the note.
    """
    records = read_records(paths)
    absolute = os.path.abspath(os.path.expanduser(path))
    try:
        binding = bind(examine(absolute), records)
    except OSError:
        for name, row in records.items():
            if absolute in (row["path"], *row.get("was", ())):
                return paths.file_notes / name, _find_living(row, name) or absolute
        return None, absolute
    found = paths.file_notes / (binding.move or binding.note)
    if binding.aside is not None and not binding.move:
        return None, absolute
    return (found if found.is_file() else None), absolute


def note_with(paths: Paths, file: str, lines: Sequence[str]) -> str:
    """A file below the knowledge folder as it is called now: a note is renamed when its source file gets another inode,
    so a missing one is looked for by the lines that it held. Raises OSError."""
    if not file.startswith("files/") or files.exists(paths.knowledge / file) or not paths.file_notes.is_dir():
        return file
    for note in sorted(paths.file_notes.glob("*.md")):
        if len(missing_lines(files.read_or_empty(note), lines)) < len(set(lines)):
            return f"files/{note.name}"
    return file


def where_is(note: str, row: NoteRecord) -> tuple[str, bool]:
    """Where the source file of a note (its name below files/) is now, and whether it is there at all.

    A file that was renamed is looked for by its inode; one that an editor saved by rename is the one at its path.
    """
    try:
        source = examine(row["path"], read_head=False)
    except (OSError, ValueError):
        source = None
    own = note.removesuffix(".md").replace("-", ":")
    if source is not None and source.id.replace("-", ":") == own and _is_same(row, source):
        return source.path, True
    living = _find_living(row, note)
    return living or str(row["path"]), living is not None or (source is not None and "@" not in note)


def _note_name(identity: str, records: NoteRecords) -> str:
    other = identity.replace(":", "-") if ":" in identity else identity.replace("-", ":")
    return f"{other}.md" if f"{other}.md" in records and f"{identity}.md" not in records else f"{identity}.md"


def _is_same(row: NoteRecord, source: SourceFile) -> bool:
    if row.get("birth") is not None and source.birth is not None:
        return bool(row["birth"] == source.birth)
    if row["path"] == source.path or (row.get("head") and row["head"] == source.head):
        return True
    return row.get("size") is not None and bool(row["size"] == source.size)


def _note_by_path(source: SourceFile, records: NoteRecords) -> str | None:
    """The note that a file of this path had before, when that file is not alive under another name."""
    for name, row in records.items():
        if row["path"] == source.path and name != f"{source.id}.md" and _find_living(row, name) is None:
            return name
    return None


def _find_living(row: NoteRecord, note: str) -> str | None:
    """Where the file with the note's inode is now: looked for below its old folder and the one above, within bounds."""
    parts = note.removesuffix(".md").split("@")[0].replace("-", ":").split(":")
    if "@" in note or len(parts) != 2 or not all(part.isdigit() for part in parts):
        return None
    dev, ino = int(parts[0]), int(parts[1])
    budget = SEARCH_ENTRIES
    start = Path(row["path"]).parent
    for folder in (start, start.parent):
        nearest = deque([folder])
        while nearest and budget > 0:
            try:
                entries = list(os.scandir(nearest.popleft()))
            except OSError:
                continue
            budget -= len(entries)
            for entry in entries:
                with contextlib.suppress(OSError):
                    if entry.inode() == ino and _is_alive(entry.path, dev, row):
                        return entry.path
                    if entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
                        nearest.append(Path(entry.path))
    return None


def _is_alive(path: str, dev: int, row: NoteRecord) -> bool:
    found = os.stat(path, follow_symlinks=False)
    if found.st_dev != dev or not stat.S_ISREG(found.st_mode) or path.endswith(BACKUP_ENDINGS):
        return False
    born = birth_ns(path)
    return row.get("birth") is None or born is None or bool(row["birth"] == born)


def _rename(paths: Paths, old: str, new: str, records: NoteRecords) -> bool:
    """False when `new` is taken. A note that is not there (a crash came after its rename) only changes its record."""
    try:
        files.rename_without_replacing(paths.file_notes / old, paths.file_notes / new)
        files.sync_folder(paths.file_notes)
    except FileExistsError:
        return False
    except FileNotFoundError:
        pass
    if old in records:
        records[new] = records.pop(old)
    return True
