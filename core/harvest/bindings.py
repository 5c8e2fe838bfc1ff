"""Which note belongs to which source file, as it is now, while a run of hours binds more of them.

`file_ids.json` is written by edits, too. A run that went by what it read at its start would bind a note to a name that
somebody has changed since.
"""

from __future__ import annotations

import os

from core.base import files
from core.base.paths import Paths
from core.knowledge.file_notes import NoteRecords, merge_records, read_records, refresh_notes, still_true


class Bindings:
    """`records` are those of file_ids.json and those that this run has bound, which stand there only at its end."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._bound: NoteRecords = {}
        refresh_notes(paths)  # a file is followed from look to look
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
        self.records = theirs | still_true(self._bound, theirs)

    def add(self, notes: NoteRecords) -> None:
        """What a plan that stands in the files has bound."""
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
        merge_records(paths, still_true(there, read_records(paths)))
