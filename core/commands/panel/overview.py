"""The store at a glance, for a window: the status, every file, the runs; and the documents of its library."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from core.base import files
from core.base.paths import Paths
from core.base.result import disk_errors
from core.commands.history.ledger import LedgerRow
from core.commands.history.runs import Run, runs
from core.commands.panel.titles import UNCALLED, titles_of
from core.commands.sources import ends
from core.commands.status import Status, status
from core.commands.workspace import Workspace, utc_now
from core.knowledge.categories import CATEGORY_FILES, bullets_in, note_files, read_text
from core.knowledge.changes import Change, read_changes
from core.knowledge.journal import read_journal
from core.knowledge.run_state import changed_lines, harvested_lines, owed_lines
from core.sources.artifact import Artifact

if TYPE_CHECKING:
    from core.commands.library.documents import Shelf
    from core.library.use.dossier import Dossier as Dossier

WAITING = "waiting"
"""The status of a conversation that the next harvest reads; no ledger has it."""


@dataclass(frozen=True)
class FileState:
    """One file of the store.

    `file` is its path below the knowledge folder (`facts.md`, `files`, `prompts/summarize.md`), `path` where it is,
    `kind` category, notes, digest, ledger, quarantine or prompt. `bullets` is None where there are none to count.
    `modified` is in seconds since 1970. `yours` counts its lines that no harvest wrote, `gone` those that harvests
    wrote and that are not there any more: told by content, so that a copy of a home is as its original.
    """

    file: str
    path: str
    kind: str
    exists: bool
    bytes: int = 0
    bullets: int | None = None
    modified: float = 0.0
    yours: int = 0
    gone: int = 0

    @property
    def by_hand(self) -> bool:
        """Whether a user has changed what harvests wrote, or written in it."""
        return bool(self.yours or self.gone)


@dataclass(frozen=True)
class Overview:
    """The store at a glance, for a window. `would` is the size of a digest made now, in bytes. `runs` are newest first.
    `waiting` are the conversations that the next harvest reads, as rows of a ledger without a key, newest first; `ends`
    is when a tool deletes a conversation, in seconds since 1970 by its path."""

    status: Status
    files: tuple[FileState, ...]
    would: int
    runs: tuple[Run, ...]
    waiting: tuple[LedgerRow, ...] = ()
    ends: Mapping[str, float] = field(default_factory=dict)

    def file(self, name: str) -> FileState | None:
        """The file of that name, None when the store has no such place."""
        return next((row for row in self.files if row.file == name), None)


def overview(workspace: Workspace, problem: str = "") -> Overview:
    """Gather all of it; reads only. `problem` is why the settings on the disk cannot be read, "" for nothing. Raises
    KnowledgeError when the digest or the files cannot be read at all."""
    paths = workspace.paths
    state = status(workspace, utc_now(), problem)
    listed = runs(workspace)
    with disk_errors("unreadable", "the knowledge cannot be read"):
        rows = store_files(paths, read_changes(paths))
    digest = state.made
    would = len(digest.text.encode("utf-8")) if digest else 0
    waiting = waiting_rows(workspace, state.awaited)
    return Overview(state, rows, would, tuple(listed), waiting, ends(workspace))


def waiting_rows(workspace: Workspace, awaited: Sequence[Artifact]) -> tuple[LedgerRow, ...]:
    """Conversations that nobody has read, called as `titles_of` finds in them."""
    names = titles_of(workspace, awaited)
    rows = []
    for item in sorted(awaited, key=lambda item: item.mtime_ns, reverse=True):
        known = names.get(item.path, UNCALLED)
        entry = {"status": WAITING, "path": item.path, "name": item.name, "source": known.tool, "title": known.title,
                 "date": known.day, "project_root": known.project}  # fmt: skip
        rows.append(LedgerRow("", entry))
    return tuple(rows)


DOCUMENTS = 5_000
"""This many documents of the library are listed at the most."""


def documents(workspace: Workspace) -> Shelf:
    """Documents of every status, the latest first. Raises KnowledgeError where the packages of the library are not
    installed, also where there is no library yet: who opens the view is told before anything is tried."""
    from core.commands.library.documents import library_list
    from core.library.database import missing

    lacking = missing()
    if lacking is not None:
        raise lacking
    return library_list(workspace, status="all", limit=DOCUMENTS)


def dossier_text(dossier: Dossier) -> str:
    """A dossier of the library as text, for a user or a model."""
    from core.library.use.dossier import as_text

    return as_text(dossier)


def store_files(paths: Paths, changes: Sequence[Change]) -> tuple[FileState, ...]:
    """Every file of the store in the order of the reports. Raises OSError."""
    records = read_journal(paths.journal)
    written, owed = harvested_lines(changes, records), owed_lines(records)

    def words(name: str, kind: str) -> FileState:
        return _file(paths, name, kind, (written.get(name, set()), owed.get(name, set())))

    rows = [words(name, "category") for name in CATEGORY_FILES]
    notes = note_files(paths)
    found = [words(f"files/{note.name}", "notes") for note in notes]
    sums = {name: sum(getattr(row, name) or 0 for row in found) for name in ("bytes", "bullets", "yours", "gone")}
    latest = max((row.modified for row in found), default=0.0)
    rows.append(FileState("files", str(paths.file_notes), "notes", bool(found), modified=latest, **sums))
    rows.append(_file(paths, paths.digest.name, "digest"))
    rows.append(_file(paths, paths.ledger.name, "ledger"))
    if files.exists(paths.quarantine):
        rows.append(_file(paths, paths.quarantine.name, "quarantine", (set(), set())))
    prompts = sorted(paths.prompts.glob("*.md")) if paths.prompts.is_dir() else []
    rows += [_file(paths, f"prompts/{prompt.name}", "prompt") for prompt in prompts]
    return tuple(rows)


def _file(paths: Paths, name: str, kind: str, lines: tuple[set[str], set[str]] | None = None) -> FileState:
    """One file; `lines` are those that harvests wrote and those that one may still owe, for a file of bullets."""
    path = Path(os.path.join(paths.knowledge, name))
    try:
        found = path.stat()
    except OSError:
        return FileState(name, str(path), kind, False, 0, 0 if lines is not None else None)
    if lines is None:
        return FileState(name, str(path), kind, True, found.st_size, None, found.st_mtime)
    text = read_text(path)
    number = sum(not row.struck for row in bullets_in(text, "facts"))
    yours, gone = changed_lines(text, *lines) if kind != "quarantine" else (0, 0)
    return FileState(name, str(path), kind, True, found.st_size, number, found.st_mtime, yours, gone)
