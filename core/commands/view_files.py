"""What a window reads of source files: which have notes, where they are now, and their text for display."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from time import monotonic

from core.base import files
from core.base.markdown import parse_bullets
from core.base.result import ErrorInfo, Ok, Result, fail
from core.commands.bullets import Found
from core.commands.workspace import Workspace
from core.knowledge.categories import note_files
from core.knowledge.file_notes import NoteRecord, read_records, where_is

SOURCE_BYTES = 2_000_000
SEARCH_AGAIN = 15.0
"""Seconds until a source file that was not found is looked for again: the search walks through folders."""


@dataclass(frozen=True)
class NoteView:
    """The notes of one source file.

    `source` is where that file is now (or was last, when `exists` is false), `recorded` the path it had when it was
    last bound; they differ after a rename. `note` is the file of the notes below the knowledge folder, `sha256` (hex)
    that of the bytes that `rows` were read from. `inode` is the source file's, 0 when it is gone; `searched` is when a
    gone one was looked for (seconds of `time.monotonic`).
    """

    source: str
    recorded: str
    exists: bool
    note: str
    path: str
    bytes: int
    sha256: str
    rows: tuple[Found, ...]
    inode: int = 0
    searched: float = 0.0

    @property
    def renamed(self) -> bool:
        """Whether the source file has another path than the one it was bound under."""
        return self.exists and self.source != self.recorded


@dataclass(frozen=True)
class NotesOverview:
    """Every per-file note, by source path, and what could not be read."""

    notes: tuple[NoteView, ...] = ()
    errors: tuple[ErrorInfo, ...] = ()


@dataclass(frozen=True)
class SourceText:
    """A source file's text for display. `bytes` is its whole size; `cut` says that only the beginning is in `text`."""

    path: str
    text: str
    bytes: int
    cut: bool
    mark: tuple[int, int, int] = (0, 0, 0)


def notes_overview(workspace: Workspace, before: NotesOverview | None = None) -> NotesOverview:
    """All notes with the place of their source files now. `before` is returned itself when nothing has changed."""
    paths = workspace.paths
    known = {row.note: row for row in before.notes} if before is not None else {}
    errors: list[ErrorInfo] = []
    found: list[NoteView] = []
    try:
        names = note_files(paths)
        records = read_records(paths)
    except OSError as error:
        problem = ErrorInfo("unreadable", f"the notes cannot be listed: {error.strerror}", str(paths.file_notes))
        return NotesOverview((), (problem,))
    for path in names:
        note, record = f"files/{path.name}", records.get(path.name)
        old = known.get(note)
        try:
            data = files.read_or_empty(path)
        except OSError as error:
            errors.append(ErrorInfo("unreadable", f"a note cannot be read: {error.strerror}", str(path)))
            continue
        sha = hashlib.sha256(data).hexdigest()
        if old is not None and old.sha256 == sha:
            rows = old.rows
        else:
            text = data.decode("utf-8", "replace").removeprefix("\ufeff")
            rows = tuple(Found("files", note, bullet) for bullet in parse_bullets(text))
        recorded = str(record["path"]) if record is not None else ""
        source, inode, searched = _place(path.name, record, old) if record is not None else ("", 0, 0.0)
        view = NoteView(source, recorded, inode > 0, note, str(path), len(data), sha, rows, inode, searched)
        found.append(old if old is not None and old == view else view)
    found.sort(key=lambda row: (row.source.casefold(), row.note))
    result = NotesOverview(tuple(found), tuple(errors))
    return before if before is not None and before == result else result


def _place(name: str, record: NoteRecord, old: NoteView | None) -> tuple[str, int, float]:
    """Where a source file is, its inode there, and when it was searched for. Folders are walked through only when the
    file is not where it was seen last; one that was not found then is not looked for again at once."""
    recorded = str(record["path"])
    if old is not None and old.recorded == recorded:
        inode = source_mark(old.source)[0]
        if inode == old.inode and (inode or monotonic() - old.searched < SEARCH_AGAIN):
            return old.source, inode, old.searched
    where, exists = where_is(name, record)
    inode = source_mark(where)[0] if exists else 0
    return where, inode, 0.0 if inode else monotonic()


def source_text(workspace: Workspace, path: str, limit: int = SOURCE_BYTES) -> Result[SourceText]:
    """The text of a source file, its first `limit` bytes at the most. Never follows a link in the last part of the
    path. Err for a file that is gone, no regular file, or not text."""
    asked = os.path.abspath(os.path.expanduser(path if path.startswith("~") else str(workspace.cwd / path)))
    try:
        fd = files.open_regular(asked)
    except (OSError, ValueError) as error:
        gone = isinstance(error, FileNotFoundError)
        reason = "the file is not there any more" if gone else f"the file cannot be opened: {_words(error)}"
        return fail("missing" if gone else "unreadable", reason, asked)
    try:
        found = files.identity_of(fd)
        data = files.read_beginning(fd, limit)
    except OSError as error:
        return fail("unreadable", f"the file cannot be read: {_words(error)}", asked)
    finally:
        os.close(fd)
    text = decoded(data, cut=found.size > len(data))
    if text is None:
        return fail("not-text", "this file holds no text, so it is not shown", asked, "open it in its own program")
    return Ok(SourceText(asked, text, found.size, found.size > len(data), (found.ino, found.size, found.mtime_ns)))


def source_mark(path: str) -> tuple[int, int, int]:
    """What tells one state of a source file from another: inode, size, time of change; zeros when it is gone."""
    try:
        found = os.stat(path, follow_symlinks=False)
    except (OSError, ValueError):
        return (0, 0, 0)
    return (found.st_ino, found.st_size, found.st_mtime_ns)


def decoded(data: bytes, cut: bool = False) -> str | None:
    """Text of any usual encoding, for the eye; None when it is none. A character or line torn by `cut` is left out."""
    for mark, name in ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        if data.startswith(mark):
            text = data[len(mark) :].decode(name, "replace")
            break
    else:
        if b"\0" in data[:8192]:
            return None
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            torn = cut and error.start >= len(data) - 4
            text = data[: error.start].decode("utf-8") if torn else data.decode("utf-8", "replace")
    if cut and "\n" in text:
        text = text[: text.rindex("\n") + 1]
    return text.replace("\0", "\ufffd")


def _words(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else "") or str(error)
