"""Paths that a model or a conversation wrote: judged before anybody looks at what they name.

They must be inside the roots that the user set or the conversation's own folder, never in the places
of the system, and a link is judged before it is followed.

Which note belongs to which source file is asked as it is now, while a run of hours binds more of them:
`file_ids.json` is written by edits, too, and a run that went by what it read at its start would bind a note to a name
that somebody has changed since.
"""

from __future__ import annotations

import errno
import ntpath
import os
import posixpath
import stat
from collections.abc import Sequence

from core.base import files
from core.base.paths import Paths
from core.base.project import is_working_place, repository_root
from core.knowledge import file_notes
from core.knowledge.file_notes import NoteRecords, SourceFile, examine, is_absent, read_records

PATH_CHARACTERS = 1024
MAX_LINKS = 16
FORBIDDEN_ROOTS = ("/proc", "/sys", "/dev", "/run")


def allowed_path(text: str, roots: Sequence[str]) -> str | None:
    """The path if it may be looked at, else None. Decided from the characters alone, before any system call."""
    if not text or len(text) > PATH_CHARACTERS or any(char in text for char in "\0\\\n\r") or "//" in text:
        return None
    if not text.startswith("/") and not (os.name == "nt" and text[1:3] == ":/"):
        return None
    if ":" in text[2:] and os.name == "nt":
        return None
    normal = os.path.normpath(text)
    if ".." in text.split("/") or _within(normal, FORBIDDEN_ROOTS):
        return None
    return normal if _within(normal, roots) else None


def whole_path(path: str, folder: str) -> str:
    """A note's path as a whole one: what a conversation names is told from its working folder, on whatever machine."""
    if not path or not folder or path.startswith(("/", "~", "\\")) or path[1:2] == ":":
        return path
    if folder.startswith("/"):
        return posixpath.normpath(posixpath.join(folder, path))
    return ntpath.normpath(ntpath.join(folder, path))


def is_working_folder(folder: str) -> bool:
    """Whether a folder that a conversation names as its own may hold files for notes: not the root of everything, not
    a folder of the system, not a hidden one."""
    if not os.path.isabs(folder) or "\0" in folder:
        return False
    path = os.path.normpath(folder)
    return is_working_place(path) and not any(part.startswith(".") for part in path.split(os.sep))


def note_roots(folder: str, roots: Sequence[str]) -> list[str]:
    """Where notes of a conversation may be bound to files: the `roots` of the settings, and the repository around the
    folder that it worked in, or that folder alone."""
    if not is_working_folder(folder):
        return [*roots]
    place = os.path.normpath(folder)
    return [*roots, repository_root(place) or place]


def _within(path: str, roots: Sequence[str]) -> bool:
    # not is_below: the paths of notes have slashes on every system
    return any(path == root.rstrip("/") or path.startswith(root.rstrip("/") + "/") for root in roots)


def source_file(text: str, roots: Sequence[str]) -> SourceFile | None:
    """The regular file that a model named, or None. Its content is not read. A link must not lead out of the roots.
    Raises OSError when nobody can tell at the moment whether it is there."""
    path = allowed_path(text, roots)
    if path is None:
        return None
    try:
        real = _resolved(path, roots)
        return examine(real, read_head=False) if real is not None else None
    except (OSError, ValueError) as error:
        if is_absent(error):
            return None
        hint = error.strerror if isinstance(error, OSError) else ""
        raise OSError(errno.EIO, f"the source file of a note cannot be looked at: {hint}", path) from error


def _resolved(path: str, roots: Sequence[str]) -> str | None:
    """The path without links, None when it leads out of the roots. `os.path.realpath` would look at where a link leads
    to before anybody could say no: here each target is judged first. Raises OSError when there is nothing."""
    real_roots = [os.path.realpath(root) for root in roots]
    root, real = next(pair for pair in zip(roots, real_roots, strict=True) if _within(path, [pair[0]]))
    path = os.path.normpath(real.rstrip("/") + path[len(root.rstrip("/")) :])
    for _ in range(MAX_LINKS):
        link = _first_link(path, real_roots)
        if link is None:
            return path
        target = os.readlink(link)
        if ".." in target.lstrip("./").split("/"):
            return None  # behind a name that may itself be a link, two dots say nothing without looking
        onward = os.path.normpath(os.path.join(os.path.dirname(link), target) + path[len(link) :])
        allowed = allowed_path(onward, real_roots)
        if allowed is None:
            return None
        path = allowed
    return None


def _first_link(path: str, roots: Sequence[str]) -> str | None:
    """The shortest beginning of the path that is a link; what stands above the roots is not looked at."""
    ends = [at for at, char in enumerate(path) if char == "/" and at and _within(path[:at], roots)] + [len(path)]
    return next((path[:end] for end in ends if stat.S_ISLNK(os.lstat(path[:end]).st_mode)), None)


class Bindings:
    """`records` are those of file_ids.json and those that this run has bound, which stand there only at its end."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._bound: NoteRecords = {}
        self._waiting: NoteRecords = {}
        file_notes.refresh_notes(paths)  # a file is followed from look to look
        self._seen = self._state()
        self.records = read_records(paths)

    def refresh(self) -> None:
        """Look again if somebody has written the list since. Raises OSError."""
        now = self._state()
        if now == self._seen:
            return
        self._seen = now
        theirs = read_records(self._paths)
        self._bound = {name: row for name, row in self._bound.items() if files.exists(self._paths.file_notes / name)}
        self.records = theirs | file_notes.still_true(self._bound | self._waiting, theirs)

    def stage(self, notes: NoteRecords) -> None:
        """What a plan binds that waits to be written: its notes may not exist yet."""
        self._waiting |= notes

    def add(self, notes: NoteRecords) -> None:
        """What a plan that stands in the files has bound."""
        self._waiting = {name: row for name, row in self._waiting.items() if name not in notes}
        self._bound |= notes

    def _state(self) -> tuple[int, int, int] | None:
        try:
            found = os.stat(self._paths.file_ids)
        except OSError:
            return None
        return found.st_ino, found.st_size, found.st_mtime_ns


def tell_bindings(paths: Paths, notes: NoteRecords) -> None:
    """Write what a run has bound into file_ids.json. A note that was renamed since is told by who did it. OSError."""
    there = {name: row for name, row in notes.items() if files.exists(paths.file_notes / name)}
    if there:
        file_notes.merge_records(paths, file_notes.still_true(there, read_records(paths)))
