"""What a window reads of source files: which have notes, where they are now, their text for display, and which of its
lines a note speaks of (`line 42`, `lines 4-6`, `L12`, a name like `foo()`, a quoted piece).
"""

from __future__ import annotations

import codecs
import hashlib
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from time import monotonic

from core.base import files
from core.base.markdown import parse_bullets
from core.base.result import KnowledgeError
from core.commands.statements import Found
from core.commands.workspace import Workspace
from core.knowledge.categories import note_files, text_in
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
    """Every per-file note that can be read, by source path; of the others the status tells."""

    notes: tuple[NoteView, ...] = ()


@dataclass(frozen=True)
class SourceText:
    """A source file's text for display; `cut` says that only the beginning is in `text`."""

    text: str
    cut: bool
    mark: tuple[int, int, int] = (0, 0, 0)


def notes_overview(workspace: Workspace, before: NotesOverview | None = None) -> NotesOverview:
    """All notes with the place of their source files now. `before` is returned itself when nothing has changed."""
    paths = workspace.paths
    known = {row.note: row for row in before.notes} if before is not None else {}
    found: list[NoteView] = []
    try:
        names = note_files(paths)
        records = read_records(paths)
    except OSError:
        return NotesOverview()
    for path in names:
        note, record = f"files/{path.name}", records.get(path.name)
        old = known.get(note)
        try:
            data = files.read_or_empty(path)
        except OSError:
            continue
        sha = hashlib.sha256(data).hexdigest()
        if old is not None and old.sha256 == sha:
            rows = old.rows
        else:
            text = text_in(data)
            rows = tuple(Found("files", note, bullet) for bullet in parse_bullets(text))
        recorded = str(record["path"]) if record is not None else ""
        source, inode, searched = _place(path.name, record, old) if record is not None else ("", 0, 0.0)
        view = NoteView(source, recorded, inode > 0, note, sha, rows, inode, searched)
        found.append(old if old is not None and old == view else view)
    found.sort(key=lambda row: (row.source.casefold(), row.note))
    result = NotesOverview(tuple(found))
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


def source_text(workspace: Workspace, path: str, limit: int = SOURCE_BYTES) -> SourceText:
    """The text of a source file, its first `limit` bytes at the most. Never follows a link in the last part of the
    path. Raises KnowledgeError for a file that is gone, no regular file, or not text."""
    asked = os.path.abspath(os.path.expanduser(path if path.startswith("~") else str(workspace.cwd / path)))
    try:
        with files.opened(asked) as fd:
            found = files.identity_of(fd)
            data = files.read_beginning(fd, limit)
    except (OSError, ValueError) as error:
        gone = isinstance(error, FileNotFoundError)
        why = getattr(error, "strerror", "") or error
        reason = "the file is not there any more" if gone else f"the file cannot be read: {why}"
        raise KnowledgeError("missing" if gone else "unreadable", reason, asked) from error
    text = decoded(data, cut=found.size > len(data))
    if text is None:
        message = "this file holds no text, so it is not shown"
        raise KnowledgeError("not-text", message, asked, "open it in its own program")
    return SourceText(text, found.size > len(data), (found.ino, found.size, found.mtime_ns))


def source_mark(path: str) -> tuple[int, int, int]:
    """What tells one state of a source file from another: inode, size, time of change; zeros when it is gone."""
    try:
        found = os.stat(path, follow_symlinks=False)
    except (OSError, ValueError):
        return (0, 0, 0)
    return (found.st_ino, found.st_size, found.st_mtime_ns)


def decoded(data: bytes, cut: bool = False) -> str | None:
    """Text of any usual encoding, for the eye; None when it is none. A character or line torn by `cut` is left out."""
    wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    if not wide and b"\0" in data[:8192]:
        return None
    text = data.decode("utf-16" if wide else "utf-8-sig", "replace")
    if cut:
        text = text[: text.rindex("\n") + 1] if "\n" in text else text.rstrip("\ufffd")
    return text.replace("\0", "\ufffd")


LINES = 400
"""The longest span that is taken for what a note speaks of."""

_NUMBERED = re.compile(
    r"(?:\blines?\s+|\bL|\.\w{1,8}:)(\d{1,6})(?:\s*(?:[-–—]|to|and)\s*L?(\d{1,6}))?\b", re.IGNORECASE
)
_QUOTED = re.compile(r"`([^`]{2,200})`")
_CALLED = re.compile(r"\b([^\W\d][\w.]*)\(\)?")
_JOINED = re.compile(r"\b(?:[^\W\d]\w*_\w+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]+)+)\b")
_WORD = re.compile(r"[^\W\d]\w*")
_DEFINES = re.compile(
    r"^\s*(?:export\s+|pub(?:\(\w+\))?\s+|public\s+|private\s+|static\s+|async\s+|default\s+)*"
    r"(?:def|class|function|func|fn|struct|enum|trait|interface|type|const|let|var|val|module|impl|macro_rules!)\s+\*?"
    r"([^\W\d]\w*)|^\s*([^\W\d]\w*)\s*(?::[^=]+)?=(?!=)|^#+\s+(.+)$"
)

Span = tuple[int, int]


def mentioned_lines(notes: Sequence[str], lines: Sequence[str]) -> list[Span | None]:
    """For each note the first and the last line (from 1) that it speaks of, None when it speaks of the whole file.

    A number of a line that is there wins, then a name where it is defined, then a name or a quoted piece where it
    stands first.
    """
    wanted = [(_numbered(note, len(lines)), list(_names(note)), _QUOTED.findall(note)) for note in notes]
    defined, first = _places(lines, {name for _, names, _ in wanted for name in names})
    spans: list[Span | None] = []
    for numbered, names, quoted in wanted:
        at = next((defined[name] for name in names if name in defined), 0)
        at = at or next((first[name] for name in names if name in first), 0)
        at = at or _quoted(quoted, lines)
        spans.append(numbered or ((at, at) if at else None))
    return spans


def _numbered(note: str, count: int) -> Span | None:
    for found in _NUMBERED.finditer(note):
        start = int(found[1])
        end = int(found[2]) if found[2] else start
        if 1 <= start <= count:
            return start, max(start, min(end, count, start + LINES))
    return None


def _names(note: str) -> Iterable[str]:
    """Names in a note, the likeliest first: what stands in backticks, what is called, what is joined of words."""
    for quoted in _QUOTED.findall(note):
        words = _WORD.findall(quoted)
        if words and len(words) <= 3 and re.fullmatch(r"[\w.:()\[\]#]+", quoted):
            yield words[-1]
    for called in _CALLED.findall(note):
        yield called.rsplit(".", 1)[-1]
    yield from _JOINED.findall(note)


def _places(lines: Sequence[str], names: set[str]) -> tuple[dict[str, int], dict[str, int]]:
    """The line where each name is defined, and the first on which it stands."""
    defined: dict[str, int] = {}
    first: dict[str, int] = {}
    if not names:
        return defined, first
    for number, line in enumerate(lines, start=1):
        here = names.intersection(_WORD.findall(line))
        if not here:
            continue
        made = _DEFINES.match(line)
        name = (made[1] or made[2] or "") if made is not None else ""
        for word in here:
            first.setdefault(word, number)
        if name in here:
            defined.setdefault(name, number)
    return defined, first


def _quoted(quoted: Sequence[str], lines: Sequence[str]) -> int:
    for piece in quoted:
        for number, line in enumerate(lines, start=1):
            if piece in line:
                return number
    return 0
