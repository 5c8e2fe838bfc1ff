"""The journal of a run: what makes a crash harmless. core/README.md has the order of the durable steps.

One record a line, with its checksum (base/checked_lines.py). A reader stops at the first line whose checksum is wrong:
what follows a torn write is not trusted. Kinds of record, in the life of one conversation:

- `intent`     sha, path, the frozen plan: from here on the model is never asked again for this content
- `applied`    sha, file: its lines were proven to be there: a re-run does not bring back what the user then deletes
- `done`       sha: every file was read back; the gate is passed (`entry` only where it is not that of the plan)
- `moving`     sha, path: the conversation is about to be moved away; durable before it is
- `reclaimed`  sha, path, trash: it was moved away
- `purging`    sha, trash: a trashed conversation is about to go for good, or is gone
- `entry`      sha, entry: a ledger entry without a harvest (failed, too large, deleted, pruned)

At the end of a run the journal becomes `.state/plans/<run>.jsonl`; what is unfinished stays in a new one.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.base import files
from core.base.checked_lines import Record, decode, encode
from core.knowledge.lines import PlannedFile


class JournalError(OSError):
    """The journal cannot be written. Nothing may follow: a reader would not trust what stands behind a torn line."""


@dataclass(frozen=True)
class FrozenPlan:
    """What one harvest will write: file -> exact lines, with the date already in them.

    `items` counts them by category; `notes` tells which source file each note file belongs to (note file name -> the
    record of `file_ids.json`); `entry` holds what the ledger will say besides its first keys; `facts` is for the fact
    index (harvest/freeze.py) and may be missing. `goes` are lines that leave a file once the plan is proven: what an
    earlier harvest of the same conversation said of its state, and what the rest of it has outdated.
    """

    files: tuple[PlannedFile, ...]
    items: dict[str, int]
    notes: dict[str, dict[str, Any]] = field(default_factory=dict)
    entry: dict[str, Any] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    goes: dict[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass
class Pending:
    """One conversation of a journal, as far as it came."""

    sha256: str
    path: str
    plan: FrozenPlan | None = None
    applied: set[str] = field(default_factory=set)
    entry: dict[str, Any] | None = None
    done: bool = False
    moving: list[str] = field(default_factory=list)
    reclaimed: list[Record] = field(default_factory=list)
    purging: list[str] = field(default_factory=list)

    @property
    def unrecorded(self) -> list[str]:
        """The places that it was about to leave, without a record that it has."""
        recorded = {str(row.get("path", "")) for row in self.reclaimed}
        return [path for path in dict.fromkeys(self.moving) if path not in recorded]


def plan_to_json(plan: FrozenPlan) -> Record:
    row = {**vars(plan), "files": [vars(planned) for planned in plan.files]}
    return {key: value for key, value in row.items() if value or key not in ("facts", "goes")}


def plan_from_json(data: Record) -> FrozenPlan:
    """Raises KeyError, TypeError or ValueError when `data` is no plan."""
    planned = tuple(
        PlannedFile(
            str(row["name"]),
            str(row["header"]),
            tuple(row["lines"]),
            tuple(row.get("done", ())),
            str(row.get("tail", "")),
        )
        for row in data["files"]
    )
    goes = {str(name): tuple(map(str, lines)) for name, lines in dict(data.get("goes", {})).items()}
    items, notes, entry = dict(data["items"]), dict(data.get("notes", {})), dict(data.get("entry", {}))
    facts = data.get("facts")
    return FrozenPlan(planned, items, notes, entry, facts if isinstance(facts, dict) else {}, goes)


class Journal:
    """A journal to which records are appended, `first` before any other; its file is made when there is one. Used only
    under the run lock, after recovery dealt with the last one."""

    def __init__(self, path: Path, first: Iterable[Record] = ()) -> None:
        self._path, self._first = path, list(first)
        self._broken = self._loose = False
        self._fd = -1

    def append(self, *records: Record, durable: bool = False) -> None:
        """Add records with one write; `durable` waits for the disk. Raises JournalError, and after that on every
        call."""
        if self._broken:
            raise JournalError(errno.EIO, "an earlier record could not be written")
        data = b"".join(map(encode, records))
        try:
            if data and self._fd < 0:
                self._open()
                data = b"".join(map(encode, self._first)) + data
            if data:
                files.write_all(self._fd, data)
                self._loose = True
            if durable and self._loose:
                files.sync(self._fd, data_only=True)
                self._loose = False
        except OSError as error:
            self._broken = True
            raise JournalError(error.errno, error.strerror) from error

    def sync(self) -> None:
        """Wait for the disk, if anything was added since the last time."""
        self.append(durable=True)

    def resume(self) -> None:
        """Go on with the records of a run that was cut off, of which nobody knows whether they are on the disk."""
        self._open()
        self._loose = True

    def _open(self) -> None:
        files.make_folder(self._path.parent)
        new = not files.exists(self._path)
        self._fd = files.open_for_append(self._path)
        if new:
            files.sync_folder(self._path.parent)

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)


def read_journal(path: Path) -> list[Record]:
    """All trusted records of a journal or of an archive; none when it does not exist."""
    return list(decode(files.read_or_empty(path)))


def states_by_sha(records: Iterable[Record]) -> dict[str, Pending]:
    """The state of each conversation, by sha256 (or `path:` key for pruned things)."""
    found: dict[str, Pending] = {}
    for record in records:
        kind, sha = record.get("t"), record.get("sha")
        if not isinstance(sha, str):
            continue
        state = found.setdefault(sha, Pending(sha, str(record.get("path", ""))))
        if kind == "intent":
            try:
                state.plan = plan_from_json(record["plan"])
            except (KeyError, TypeError, ValueError):
                continue
            state.path, state.done = str(record.get("path", "")), False
            state.applied.clear()
        elif kind == "applied":
            state.applied.add(str(record.get("file", "")))
        elif kind in ("done", "entry"):
            planned = state.plan.entry if kind == "done" and state.plan is not None else None
            entry = record.get("entry", planned)
            if isinstance(entry, dict):
                state.entry, state.done = entry, kind == "done" or state.done
        elif kind == "moving":
            state.moving.append(str(record.get("path", "")))
        elif kind == "purging":
            state.purging.append(str(record.get("trash", "")))
        elif kind == "reclaimed":
            state.reclaimed.append(record)
    return found


def archive(
    journal: Path, plans: Path, run: str, records: list[Record], unfinished: list[Record], *, whole: bool = False
) -> None:
    """Keep what the run did as `<run>.jsonl`, then leave only `unfinished` in the journal (none: remove it).

    The archive is durable before the journal shrinks, so a crash in between only repeats this step; what it holds
    already stays in it, even if a power cut took the end of the journal meanwhile. `whole` says that the journal holds
    `records` and `unfinished` and nothing else: where nothing is unfinished it becomes the archive itself. Its plans,
    `done` and `moving` were synced before; what a power cut may take of the rest, the ledger tells, which was too.
    """
    path = _archive(plans, run)
    if records:
        files.make_folder(plans)
    if records and whole and not unfinished and not files.exists(path):
        # Its new name is certain before the old one may be gone. That the old one is gone is certain when the next run
        # begins its own; a power cut before brings a run back that has nothing left to do.
        files.rename_without_replacing(journal, path)
        files.sync_folder(path.parent)
        return
    if records:
        lines = dict.fromkeys([*map(encode, read_journal(path)), *map(encode, records)])
        files.write_atomic(path, b"".join(lines))
    if unfinished:
        files.write_atomic(journal, b"".join(map(encode, unfinished)))
    elif files.exists(journal):
        files.remove_file(journal)


def _archive(plans: Path, run: str) -> Path:
    return plans / f"{run}.jsonl"


def archive_of(plans: Path, run: str) -> Path | None:
    """Where the records of a run are kept; None for what is no name of one, for it may stand in a file that a user
    edits, or be typed."""
    is_name = bool(run) and not run.startswith(".") and not set(run) & set("/\\\0") and len(run) < 200
    return _archive(plans, run) if is_name else None


def read_archive(plans: Path, run: str) -> dict[str, Pending]:
    """The conversations in the archive of one run, by sha256. Raises OSError."""
    path = archive_of(plans, run)
    return states_by_sha(read_journal(path)) if path is not None else {}


def read_plans(plans: Path, run: str) -> dict[str, FrozenPlan]:
    """The committed plans in the archive of one run, by sha256: those that were proven. Raises OSError."""
    states = read_archive(plans, run)
    return {sha: state.plan for sha, state in states.items() if state.done and state.plan is not None}
