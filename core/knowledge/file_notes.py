"""Per-file notes `files/<file id>.md`, bound to a source file across renames and editors' atomic saves.

A note is named by `st_dev:st_ino`. Inodes are reused as soon as a file is gone and change when an editor saves by
rename, so `.state/file_ids.json` keeps, for each note, the path, birth time, size and head hash of its file:

- same id, same birth     the file itself, perhaps renamed
- same id, other birth    a stranger on a reused inode: it gets a note of its own
- unknown id, known path  an editor saved by rename: the note follows the path (unless the old file lives on elsewhere)

A file that was renamed and then saved can only be followed if somebody looked in between: `refresh_notes` does so with
every harvest and whenever notes are asked for. A note that changes its name keeps its `origin`, the id and birth under
which it was first bound: by that, what was planned for it under its old name finds it.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.base import files, locks
from core.base.paths import Paths
from core.base.system import birth_ns
from core.knowledge.lines import missing_lines

HEAD_BYTES = 65536
SEARCH_ENTRIES = 20_000
LOCK_SECONDS = 5.0
OLD_NAMES = 8
BACKUP_ENDINGS = ("~", ".bak", ".orig", ".swp", ".tmp", "#")

MOVING = "moving"
"""The key of file_ids.json that holds, as [old, new], the names of notes that are changing: what a crash cut off there
is finished by whoever takes the lock next."""
ABSENT = frozenset(
    (
        errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EACCES, errno.EPERM, errno.ENAMETOOLONG, errno.EINVAL,
        errno.ENXIO, errno.EISDIR,
    )
)  # fmt: skip
"""What the system says of a path where no file is that may be looked at. Anything else is trouble, and may pass."""

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
    changed: int = 0
    """When its content changed last, nanoseconds: a sign for file systems that know no birth."""

    def record(self, old: NoteRecord | None = None, origin: str = "") -> NoteRecord:
        """The row of file_ids.json; names that the file had before (`old`) stay in it as `was`, and where its note
        comes from as `origin`."""
        row: NoteRecord = {"path": self.path, "birth": self.birth, "size": self.size, "head": self.head}
        if self.birth is None:
            row["changed"] = self.changed
        was = [*(old or {}).get("was", []), (old or {}).get("path", self.path)]
        was = [name for name in dict.fromkeys(was) if name != self.path]
        origin = origin or str((old or {}).get("origin", ""))
        return row | ({"was": was[-OLD_NAMES:]} if was else {}) | ({"origin": origin} if origin else {})


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
    """`st_dev:st_ino`; Windows forbids the colon in a name, so there it is a dash. Both are read."""
    return f"{dev}-{ino}" if sys.platform == "win32" else f"{dev}:{ino}"


def origin_of(note: str, row: NoteRecord) -> str:
    """Under which id and birth a note was bound first: what stays the same however it is called later."""
    return str(row.get("origin") or f"{_stem(note)}@{row['birth'] if row.get('birth') is not None else row['path']}")


def _stem(note: str) -> str:
    return note.removesuffix(".md").split("@")[0].replace("-", ":")


def examine(path: str, *, read_head: bool = True) -> SourceFile:
    """Look at a source file without following a link in its last part. OSError when it is no regular file.

    With `read_head` false not a byte of its content is read: so it is when only a model has named the file.
    """
    with files.opened(path, os.O_RDONLY if read_head else getattr(os, "O_PATH", os.O_RDONLY)) as fd:
        found = os.fstat(fd)
        head = hashlib.sha256(os.read(fd, HEAD_BYTES)).hexdigest() if read_head else ""
        identity = file_id(found.st_dev, found.st_ino)
        return SourceFile(path, identity, birth_ns(fd), found.st_size, head, found.st_mtime_ns)


def is_absent(error: Exception) -> bool:
    """Whether an error says that there is no such file, and not that the disk cannot be read at the moment."""
    return not isinstance(error, OSError) or error.errno in ABSENT


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


def write_records(paths: Paths, records: NoteRecords, moving: Sequence[tuple[str, str]] = ()) -> None:
    """Replace file_ids.json durably. `moving` are names of notes that change now, in this order. Raises OSError."""
    files.make_folder(paths.state)
    table = {**records, MOVING: list(moving)} if moving else records
    files.write_atomic(paths.file_ids, json.dumps(table, indent=1, sort_keys=True).encode("ascii") + b"\n")


def finish_moves(paths: Paths) -> None:
    """Give notes the names that they were about to get when a crash came. Raises OSError."""
    if f'"{MOVING}"'.encode() in files.read_or_empty(paths.file_ids):
        with _alone(paths):
            pass


def _finish_moves(paths: Paths) -> None:
    data = files.read_or_empty(paths.file_ids)
    if f'"{MOVING}"'.encode() not in data:
        return
    with contextlib.suppress(ValueError, RecursionError):
        table = json.loads(data)
        for old, new in _pairs(table.get(MOVING)) if isinstance(table, dict) else ():
            if files.exists(paths.file_notes / old):
                _rename(paths, old, new)
    write_records(paths, read_records(paths))


def _pairs(value: object) -> Iterator[tuple[str, str]]:
    for pair in value if isinstance(value, list) else ():
        if isinstance(pair, list) and len(pair) == 2 and all(isinstance(name, str) and _is_note(name) for name in pair):
            yield pair[0], pair[1]


def _is_note(name: str) -> bool:
    return name.endswith(".md") and not name.startswith(".") and not set(name) & set("/\\\0")


def merge_records(paths: Paths, changed: NoteRecords) -> None:
    """Bring changed rows into file_ids.json as it is now: a run remembers it from its start, and the panel may have
    bound another note since. Raises OSError."""
    with _alone(paths):
        write_records(paths, {**read_records(paths), **changed})


def bind_note(paths: Paths, source: SourceFile) -> Binding:
    """Bind a note to its source file and write that down, in one step for everybody else. Raises OSError."""
    with _alone(paths):
        records = read_records(paths)
        binding = bind(source, records)
        files.make_folder(paths.file_notes)
        _apply(paths, binding, records, records)
        write_records(paths, records)
    return binding


def refresh_notes(paths: Paths) -> bool:
    """Look where the source files of all notes are now, and write it down where that has changed: whether it had. What
    cannot be looked at stays as it is known. Raises OSError when the list of notes cannot be read or written."""
    finish_moves(paths)
    if not _unsettled(read_records(paths)):
        return False
    with _alone(paths):
        records = read_records(paths)
        changed = False
        unsettled = _unsettled(records)
        living = _search({name: records[name] for name in unsettled})
        for name, path in living.items():
            source = _seen(path)
            if source is not None and source.path != records[name]["path"]:
                records[name] = bind(source, records).record
                changed = True
        for name in unsettled:
            source = _seen(str(records[name]["path"])) if name in records and name not in living else None
            if source is None:
                continue
            try:
                binding = bind(source, records)
            except OSError:
                continue
            if records.get(binding.note) != binding.record or binding.move or binding.aside:
                _apply(paths, binding, records, records)
                changed = True
        if changed:
            write_records(paths, records)
        return changed


def _unsettled(records: NoteRecords) -> list[str]:
    """The notes whose source file is not where it was seen last."""
    return [name for name, row in records.items() if not _is_settled(name, row)]


def _is_settled(name: str, row: NoteRecord) -> bool:
    source = _seen(str(row["path"]))
    if source is None or "@" in name or _stem(name) != source.id.replace("-", ":"):
        return False
    return row.get("birth") == source.birth and _is_same(row, source)


def _seen(path: str) -> SourceFile | None:
    """The source file at a path, None when there is none or when it cannot be looked at."""
    try:
        return examine(path, read_head=False)
    except (OSError, ValueError):
        return None


@contextlib.contextmanager
def _alone(paths: Paths) -> Iterator[None]:
    """Hold the lock of file_ids.json; whoever has it needs it for a moment only. OSError(EBUSY) after LOCK_SECONDS."""
    try:
        with locks.locked(paths.file_ids.with_suffix(".lock"), editor_wait=LOCK_SECONDS):
            _finish_moves(paths)
            yield
    except locks.LockHeldError as error:
        message = "another program does not let go of the list of notes"
        raise OSError(errno.EBUSY, message, str(paths.file_ids)) from error


def bind(source: SourceFile, records: NoteRecords) -> Binding:
    """Decide which note belongs to `source`. Looks at the disk only to find where an old file went; changes nothing.
    Raises OSError when that cannot be found out at the moment."""
    note = _note_name(source.id, records)
    row = records.get(note)
    if row is not None and _is_same(row, source):
        return Binding(note, source.record(row, "" if source.birth is not None else origin_of(note, row)))
    followed = _note_by_path(source, records)
    if followed is None:
        record, move = source.record(), ""
    else:
        record, move = source.record(records[followed], origin_of(followed, records[followed])), followed
    aside = None
    if row is not None and followed != note:
        aside = (note, f"{note.removesuffix('.md')}@{row.get('birth') or 'unknown'}.md")
    return Binding(note, record, move=move, aside=aside)


def apply_binding(paths: Paths, binding: Binding, records: NoteRecords) -> None:
    """Rename notes as the binding says and update `records`, which may hold rows that no file tells yet. What changes
    its name is told in file_ids.json at once. Safe to repeat. Raises OSError."""
    if binding.aside is None and binding.move in ("", binding.note):
        records[binding.note] = binding.record
        return
    with _alone(paths):
        _apply(paths, binding, records, read_records(paths))


def _apply(paths: Paths, binding: Binding, records: NoteRecords, stored: NoteRecords) -> None:
    """The same under the lock; `stored` are the rows of file_ids.json, which may be `records` itself."""
    moves: list[tuple[str, str]] = []
    tables = (records,) if stored is records else (records, stored)
    if binding.aside is not None:
        moves.append((binding.aside[0], _free_name(paths, binding.aside[1], tables)))
    if binding.move and binding.move != binding.note:
        moves.append((binding.move, binding.note))
    for old, new in moves:
        row = next((rows[old] for rows in tables if old in rows), None)
        for rows in tables:
            rows.pop(old, None)
            if row is not None:
                rows[new] = {**row, "origin": origin_of(old, row)}
    for rows in tables:
        rows[binding.note] = binding.record
    moves = [(old, new) for old, new in moves if files.exists(paths.file_notes / old) or len(moves) > 1]
    if moves:
        write_records(paths, stored, moves)
        for old, new in moves:
            _rename(paths, old, new)
        write_records(paths, stored)


def _free_name(paths: Paths, wanted: str, tables: Iterable[NoteRecords]) -> str:
    name, number = wanted, 1
    while files.exists(paths.file_notes / name) or any(name in rows for rows in tables):
        number += 1
        name = f"{wanted.removesuffix('.md')}-{number}.md"
    return name


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
                return paths.file_notes / name, _search({name: row}, steady=False).get(name) or absolute
        return None, absolute
    found = paths.file_notes / (binding.move or binding.note)
    if binding.aside is not None and not binding.move:
        return None, absolute
    return (found if found.is_file() else None), absolute


def note_now(paths: Paths, file: str, lines: Sequence[str], row: NoteRecord | None = None) -> str:
    """A file below the knowledge folder as it is called now. A note is renamed when its source file gets another inode,
    and its old name may be another file's by now: so it is known by its origin (`row` is its record in the plan that
    names it), or else by the lines that it held. Raises OSError."""
    if not file.startswith("files/"):
        return file
    name = file.removeprefix("files/")
    records = read_records(paths) if row is not None else {}
    own = _named_by_origin(name, row, records) if row is not None else ""
    for known in dict.fromkeys((own, name)):
        if known and _holds_any(paths.file_notes / known, lines):
            return f"files/{known}"
    for note in sorted(paths.file_notes.glob("*.md")) if paths.file_notes.is_dir() else ():
        if _holds_any(note, lines):
            return f"files/{note.name}"
    if own or row is None or name not in records:
        return f"files/{own or name}"
    return f"files/{_stem(name)}@{row.get('birth') or 'unknown'}.md"


def _named_by_origin(name: str, row: NoteRecord, records: NoteRecords) -> str:
    """What the note of a plan is called now, "" when nobody knows."""
    origin = origin_of(name, row)
    found = next((note for note, other in records.items() if origin_of(note, other) == origin), "")
    if found:
        return found
    # Rebuilt from headers, a row knows no birth: then the path must do.
    paths = {str(row["path"]), *row.get("was", ())}
    bare = [note for note, other in records.items() if other.get("birth") is None and other["path"] in paths]
    return name if name in bare else next(iter(bare), "")


def _holds_any(note: Path, lines: Sequence[str]) -> bool:
    return len(missing_lines(files.read_or_empty(note), lines)) < len(set(lines))


def still_true(mine: NoteRecords, theirs: NoteRecords) -> NoteRecords:
    """The rows of a run that are still true beside those that others have written meanwhile. A name that has gone over
    to another file since is theirs, and so is a row whose file they know under the name that it has now."""
    kept: NoteRecords = {}
    known = {origin_of(name, row): name for name, row in theirs.items()}
    for name, row in mine.items():
        other = theirs.get(name)
        names = (row["path"], *row.get("was", ()))
        rebuilt = other is not None and other.get("birth") is None and other["path"] in names
        if other is None and known.get(origin_of(name, row), name) != name:
            continue  # renamed since
        if other is not None and not rebuilt and origin_of(name, other) != origin_of(name, row):
            continue  # another file's by now
        moved = other is not None and other["path"] != row["path"] and not files.exists(row["path"])
        kept[name] = other if other is not None and moved and files.exists(other["path"]) else row
    return kept


def where_is(note: str, row: NoteRecord) -> tuple[str, bool]:
    """Where the source file of a note (its name below files/) is now, and whether it is there at all.

    A file that was renamed is looked for by its inode; one that an editor saved by rename is the one at its path.
    """
    source = _seen(str(row["path"]))
    if source is not None and source.id.replace("-", ":") == _stem(note) and _is_same(row, source):
        return source.path, True
    living = _search({note: row}, steady=False).get(note)
    return living or str(row["path"]), living is not None or (source is not None and "@" not in note)


def _note_name(identity: str, records: NoteRecords) -> str:
    other = identity.replace(":", "-") if ":" in identity else identity.replace("-", ":")
    return f"{other}.md" if f"{other}.md" in records and f"{identity}.md" not in records else f"{identity}.md"


def _is_same(row: NoteRecord, source: SourceFile) -> bool:
    """Whether a file with the inode of a row is the file of that row, and no other that got the inode later."""
    if row.get("birth") is not None and source.birth is not None:
        return bool(row["birth"] == source.birth)
    if row["path"] == source.path or (row.get("head") and row.get("size") and row["head"] == source.head):
        return True
    return bool(row.get("changed") and row["changed"] == source.changed and row.get("size") == source.size)


def _note_by_path(source: SourceFile, records: NoteRecords) -> str | None:
    """The note that a file of this path had before, when that file is not alive under another name. Where several had
    the path one after the other, it is that of the youngest."""
    here = {name: row for name, row in records.items() if row["path"] == source.path}
    living = _search({name: row for name, row in here.items() if _stem(name) != source.id.replace("-", ":")})
    left = [name for name in here if name not in living]
    return max(left, key=lambda name: here[name].get("birth") or 0, default=None)


def where_now(rows: Mapping[str, NoteRecord]) -> dict[str, str]:
    """Where the files of notes are that left their places, also where a folder high above them has another name now:
    note -> path."""
    return _search(rows, steady=False, far=True)


def _search(rows: Mapping[str, NoteRecord], *, steady: bool = True, far: bool = False) -> dict[str, str]:
    """Where the files of notes are now, by their inodes: note -> path. They are looked for below their old folders and
    the ones above (`far`: the nearest one that is there), within bounds. `steady` raises OSError when a folder cannot
    be read that is there."""
    wanted: dict[int, list[tuple[str, int]]] = {}
    for note in rows:
        parts = _stem(note).split(":")
        if "@" not in note and len(parts) == 2 and all(part.isdigit() for part in parts):
            wanted.setdefault(int(parts[1]), []).append((note, int(parts[0])))
    found: dict[str, str] = {}
    starts = [Path(rows[note]["path"]).parent for notes in wanted.values() for note, _ in notes]
    visited: set[str] = set()
    budget = SEARCH_ENTRIES
    above = [next(filter(Path.is_dir, start.parents[:-1]), start) if far else start.parent for start in starts]
    for folder in dict.fromkeys((*starts, *above)):
        nearest = deque([str(folder)])
        while nearest and budget > 0 and wanted:
            here = nearest.popleft()
            if here in visited:
                continue
            visited.add(here)
            for entry in _entries(here, steady):
                budget -= 1
                for note, dev in tuple(wanted.get(_inode(entry), ())):
                    if note not in found and _is_alive(entry.path, dev, rows[note], steady):
                        found[note] = entry.path
                with contextlib.suppress(OSError):
                    if entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
                        nearest.append(entry.path)
            wanted = {ino: notes for ino, notes in wanted.items() if any(note not in found for note, _ in notes)}
    return found


def _entries(folder: str, steady: bool) -> list[os.DirEntry[str]]:
    try:
        return list(os.scandir(folder))
    except (OSError, ValueError) as error:
        if steady and not is_absent(error):
            raise
        return []


def _inode(entry: os.DirEntry[str]) -> int:
    try:
        return entry.inode()
    except OSError:
        return -1


def _is_alive(path: str, dev: int, row: NoteRecord, steady: bool) -> bool:
    if path.endswith(BACKUP_ENDINGS):
        return False
    try:
        found = examine(path, read_head=False)
    except (OSError, ValueError) as error:
        if steady and not is_absent(error):
            raise
        return False
    return found.id.replace("-", ":").split(":")[0] == str(dev) and _is_same(row, found)


def _rename(paths: Paths, old: str, new: str) -> None:
    """Give a note its new name. Nothing happens where that is taken or the note is not there: a crash came after it."""
    with contextlib.suppress(FileExistsError, FileNotFoundError):
        files.rename_without_replacing(paths.file_notes / old, paths.file_notes / new)
        files.sync_folder(paths.file_notes)
