"""Looks for damage in the knowledge files, their notes and their changes; says what it is and how it is mended."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from core.base import files
from core.base.conflict import conflict_line
from core.base.paths import Paths
from core.knowledge.categories import CATEGORY_FILES, QUARANTINE, note_files
from core.knowledge.changes import parse_change
from core.knowledge.file_notes import NoteRecords, bind, bind_note, examine, merge_records, read_records, where_now
from core.knowledge.mend import clear_changes, is_torn
from core.knowledge.removed import REMOVED

BY_HAND = "keep the lines that you want and take the marks out, in an editor or with 'git mergetool'"
_GLUED = re.compile(r"\[from: [^\[\]]*, \d{4}-\d\d-\d\d\]\s*- ")


@dataclass(frozen=True)
class Finding:
    """One thing that is not as it should be. `message` is a sentence; `mend` repairs it (None: only a user can).
    `note` marks what is worth knowing but no damage. `at` tells findings of one code in one file apart: a line, or a
    number."""

    code: str
    message: str
    path: str = ""
    mend: Callable[[], object] | None = field(default=None, compare=False, repr=False)
    repaired: bool = False
    note: bool = False
    at: int = 0

    @property
    def repairable(self) -> bool:
        """Whether `--repair` can do something about it."""
        return self.mend is not None

    def to_json(self) -> dict[str, Any]:
        """Stable keys for `--json`."""
        return {
            "code": self.code,
            "message": self.message,
            "path": self.path or None,
            "repairable": self.repairable,
            "repaired": self.repaired,
            "note": self.note,
        }


def _bullet_files(paths: Paths) -> list[Path]:
    return [paths.knowledge / name for name in (*CATEGORY_FILES, QUARANTINE, REMOVED)] + note_files(paths)


def check_bullets(paths: Paths) -> Iterator[Finding]:
    """Category files, quarantine and notes: text that a reader would misread."""
    for path in _bullet_files(paths):
        try:
            state = path.lstat()
        except FileNotFoundError:
            continue
        if not stat.S_ISREG(state.st_mode):
            kind = "a symbolic link" if stat.S_ISLNK(state.st_mode) else "no regular file"
            yield Finding("odd-file", f"this is {kind}; it is neither read nor written", str(path))
            continue
        try:
            yield from _check_text(path, files.read_or_empty(path))
        except OSError as error:
            yield Finding("unreadable", f"this file cannot be read: {error.strerror}", str(path))


def _check_text(path: Path, data: bytes) -> Iterator[Finding]:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        yield Finding("not-utf8", f"line {line} is not UTF-8 text; save the file as UTF-8", str(path))
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        yield Finding("nul-bytes", f"line {line} has zero bytes in it, the mark of a write that was cut", str(path))
    for number, (line_text, below) in enumerate(pairwise([*data.decode("utf-8", "replace").split("\n"), ""]), start=1):
        if is_torn(line_text.removesuffix("\r"), below):
            yield Finding("torn-line", f"line {number} ends in the middle of its provenance", str(path), at=number)
        elif _GLUED.search(line_text):
            yield Finding(
                "glued-lines", f"line {number} holds two bullets; a line break is missing", str(path), at=number
            )


def check_conflicts(paths: Paths, others: Iterable[Path] = ()) -> Iterator[Finding]:
    """Marks of a merge that was not ended. Both sides are read until it is; no edit goes into them. `others` are files
    of other rooms. YAML files are the fact index's own matter."""
    bullets = _bullet_files(paths)
    written_anew = {paths.digest: "'knowledge digest on' writes it again"}
    for path in [*bullets, paths.context, paths.digest, *others]:
        try:
            line = conflict_line(files.read_or_empty(path).decode("utf-8", "replace"))
        except OSError:
            continue  # another check tells it
        if line:
            how = BY_HAND if path not in bullets else f"{BY_HAND}; or 'knowledge doctor --merge-conflicts' keeps both"
            message = f"a merge conflict begins in line {line}; {written_anew.get(path, how)}"
            yield Finding("merge-conflict", message, str(path), at=line)


def check_changes(paths: Paths) -> Iterator[Finding]:
    """changes.jsonl: lines that `undo` cannot read."""
    try:
        data = files.read_or_empty(paths.changes)
    except OSError as error:
        yield Finding("unreadable", f"the changes cannot be read: {error.strerror}", str(paths.changes))
        return
    bad = [at for at, line in enumerate(data.split(b"\n"), start=1) if line.strip() and parse_change(line) is None]
    if bad:
        lines = ", ".join(map(str, bad[:5])) + (" …" if len(bad) > 5 else "")
        message = f"{len(bad)} line(s) cannot be read and are passed over by undo: {lines}"
        yield Finding("bad-changes", message, str(paths.changes), partial(clear_changes, paths))


def check_notes(paths: Paths) -> Iterator[Finding]:
    """Per-file notes: their records, source files that are gone, and inodes that belong to another file now."""
    notes = {note.name for note in note_files(paths)}
    try:
        recorded = json.loads(files.read_or_empty(paths.file_ids) or b"null")
    except OSError as error:
        message = f"the list of which note belongs to which file cannot be read: {error.strerror}"
        yield Finding("file-ids", message, str(paths.file_ids))
        return
    except (ValueError, RecursionError):
        recorded = "damaged"
    records = read_records(paths)
    known = {key for key, row in recorded.items() if isinstance(row, dict)} if isinstance(recorded, dict) else set()
    if (notes & set(records)) - known or recorded == "damaged":
        what = "missing" if recorded is None else "damaged" if not isinstance(recorded, dict) else "incomplete"
        message = f"the list of which note belongs to which file is {what}"
        yield Finding("file-ids", message, str(paths.file_ids), partial(merge_records, paths, {}))
    gone = {name: row for name, row in records.items() if name in notes and not os.path.exists(row["path"])}
    living = where_now(gone)
    for name in sorted(notes):
        row = records.get(name)
        if row is None:
            yield Finding(
                "note-unnamed", "the first line of this note does not name its file", str(paths.file_notes / name)
            )
            continue
        if name in gone:
            if name not in living and "@" not in name:  # set aside already: its file's inode was reused
                message = f"the file of this note is gone: {row['path']}"
                yield Finding("note-orphaned", message, str(paths.file_notes / name), note=True)
            continue
        yield from _check_note(paths, name, str(row["path"]), records)


def _check_note(paths: Paths, name: str, path: str, records: NoteRecords) -> Iterator[Finding]:
    if "@" in name:
        return  # set aside already: its file's inode was reused
    try:
        source = examine(path, read_head=False)
    except (OSError, ValueError):
        return  # what cannot be looked at is not known to be gone
    binding = bind(source, records)
    if binding.aside is not None:
        message = f"the inode of this note belongs to another file now: {path}"
        where = str(paths.file_notes / binding.aside[0])
        yield Finding("note-stranger", message, where, partial(_bind_again, paths, path))
    elif binding.move and binding.move != binding.note:
        message = f"the file of this note was replaced, and the note still has its old name: {path}"
        yield Finding("note-moved", message, str(paths.file_notes / name), partial(_bind_again, paths, path))


def _bind_again(paths: Paths, path: str) -> None:
    bind_note(paths, examine(path, read_head=False))


def check_leftovers(paths: Paths, clear: Callable[[Path], object]) -> Iterator[Finding]:
    """Temporary files of a write that was cut. `clear` removes or puts back those of one folder."""
    for folder in (paths.knowledge, paths.file_notes, paths.state, paths.plans, paths.prompts):
        left = sorted(folder.glob(f".*{files.TEMPORARY_MARK}")) if folder.is_dir() else []
        for temporary in left:
            message = "a write that was cut has left a temporary file"
            yield Finding("leftover", message, str(temporary), partial(clear, folder))


def in_checkout(paths: Paths) -> bool:
    """Whether git carries the knowledge folder, maybe from one machine to another."""
    return any((folder / ".git").exists() for folder in (paths.knowledge, *paths.knowledge.parents))


GIT_IGNORES = ("digest.md", "index.json", "library.db*", "experience.db*", "backups/", ".state/*", "!.state/plans/")
"""What each machine makes for itself: carried by git, a digest ends in a conflict with every merge, and a database does
not merge at all. The plans travel: they prove harvests, and hold their quotes."""
GIT_UNITES = "changes.jsonl merge=union"
"""Rows are only ever added to it, so a merge keeps those of both sides."""


def check_git(paths: Paths) -> Iterator[Finding]:
    """In a checkout: whether git is told which files belong to one machine, and how to merge the one that only grows.
    `--repair` adds the rows that are missing to .gitignore and .gitattributes of the knowledge folder."""
    if not in_checkout(paths):
        return
    for name, wanted in ((".gitignore", GIT_IGNORES), (".gitattributes", (GIT_UNITES,))):
        path = paths.knowledge / name
        there = files.read_or_empty(path).decode("utf-8", "replace").split("\n")
        rows = [row for row in wanted if row not in (line.strip().removeprefix("/") for line in there)]
        if rows:
            message = f"git carries this folder, and this file does not say: {', '.join(rows)} ('--repair' adds it)"
            yield Finding("git-rows", message, str(path), partial(_add_rows, path, rows), note=True)


def _add_rows(path: Path, rows: list[str]) -> None:
    data = files.read_or_empty(path)
    data += b"\n" if data and not data.endswith(b"\n") else b""
    files.write_atomic(path, data + "".join(f"{row}\n" for row in rows).encode())


def check_permissions(paths: Paths) -> Iterator[Finding]:
    """Folders 0700, files 0600: what the conversations taught is nobody else's business. In a checkout of git, which
    keeps no such permissions, it is advice, and none where a closed folder hides them all."""
    in_git = in_checkout(paths)
    closed = not all(folder.stat().st_mode & 0o077 for folder in (paths.home, paths.knowledge) if folder.is_dir())
    if os.name == "nt" or (closed and in_git):
        return
    for folder in (paths.knowledge, paths.file_notes, paths.state, paths.plans, paths.prompts, paths.trash):
        if folder.is_symlink() or not folder.is_dir():
            continue
        if folder.stat().st_mode & 0o077:
            message = "others on this computer can open this folder"
            yield Finding("open-folder", message, str(folder), partial(files.set_mode, folder, 0o700), note=in_git)
        if folder == paths.trash:
            continue  # a conversation keeps the permissions that it came with; the folder hides it
        states = {item: item.lstat().st_mode for item in sorted(folder.iterdir())}
        open_to_others = [item for item, mode in states.items() if stat.S_ISREG(mode) and mode & 0o077]
        if open_to_others:
            hidden = not folder.stat().st_mode & 0o077  # nobody else comes that far: what an editor saves is like this
            names = ", ".join(item.name for item in open_to_others[:3]) + (" …" if len(open_to_others) > 3 else "")
            where = "only the closed folder hides these from" if hidden else "these can be read by"
            message = f"{where} others on this computer: {names}"
            yield Finding("open-files", message, str(folder), partial(_close, open_to_others), note=hidden or in_git)


def _close(items: list[Path]) -> None:
    for item in items:
        files.set_mode(item, 0o600)
