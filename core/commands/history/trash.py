"""The trash: reclaimed conversations in their grace period, back to their place or gone for good."""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from core.base.paths import Paths
from core.base.result import ErrorInfo, KnowledgeError, attempt, disk_errors
from core.commands.history.archive import archive_export
from core.commands.row import NAMED, flag, group, needed, single
from core.commands.sources import gone_from_tools
from core.commands.text import KEY_CHARACTERS, collected, count, size
from core.commands.workspace import Clock, Workspace, utc_now
from core.harvest.proofs import Proofs
from core.harvest.prune import why_not_purge
from core.harvest.reclaim import Guard, purge, purge_split, restore, restore_split
from core.harvest.recovery import Recovered, close_run, with_store
from core.knowledge.journal import Journal
from core.knowledge.ledger import (
    Entries,
    Entry,
    drop_from_trash,
    forget_restored,
    keep_in_place,
    note_restored,
    rebuild,
    restored_paths,
    seen_ledger,
    write_ledger,
)
from core.knowledge.swap import EDITOR_WAIT, EditorWait
from core.sources.scan import grace_end, origin, sha_in_trash, split_in_trash, tree_bytes

SHOWN = 5


@dataclass(frozen=True)
class Trashed:
    """One conversation in the trash, or (`sha256` "") a folder of splits. `path` is where it was ("" for unknown),
    `until` the end of its grace period (ISO 8601, UTC), "" for one that only the archive has; `size` in bytes."""

    name: str
    sha256: str
    path: str
    size: int
    until: str

    def to_json(self) -> dict[str, Any]:
        return {**vars(self), "path": self.path or None}


@dataclass(frozen=True)
class Restored:
    """A conversation is back at `path`; `note` is a sentence on what will happen to it next ("" for nothing)."""

    path: str
    sha256: str
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        return {**vars(self), "note": self.note or None}


@dataclass
class PurgeReport:
    """What a purge removed (names in the trash), how many bytes, what still waits, and what was refused and why."""

    purged: list[str] = field(default_factory=list)
    bytes: int = 0
    waiting: int = 0
    errors: list[ErrorInfo] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        refused = [{"path": error.path, "error": error.message, "code": error.code} for error in self.errors]
        return {"purged": self.purged, "bytes": self.bytes, "waiting": self.waiting, "refused": refused}


# --- looking ---------------------------------------------------------------------------------------------------------


def trash_list(workspace: Workspace) -> list[Trashed]:
    """What lies in the trash, the one that goes first at the top. Raises KnowledgeError when the ledger cannot be
    read."""
    entries = seen_ledger(workspace.paths)
    with disk_errors("unreadable", "the trash cannot be listed", workspace.paths.trash):
        return [*_trashed(workspace.paths, entries, workspace.config.trash_days), *_archived(workspace, entries)]


def _archived(workspace: Workspace, entries: Mapping[str, Entry]) -> list[Trashed]:
    """What its tool has deleted, and the archive has."""
    rows = [Trashed(item.name, sha, item.path, item.size, "") for item, sha in gone_from_tools(workspace, entries)]
    return sorted(rows, key=lambda row: row.name)


def _trashed(paths: Paths, entries: Mapping[str, Entry], trash_days: int) -> list[Trashed]:
    rows: list[tuple[datetime, Trashed]] = []
    if not paths.trash.is_dir():
        return []
    archived: Entries | None = None
    with os.scandir(paths.trash) as listing:
        for item in listing:
            sha, state = sha_in_trash(item.name), item.stat(follow_symlinks=False)
            split = split_in_trash(item.name)
            if split is not None and stat.S_ISDIR(state.st_mode):
                place, size = str(paths.splits / split[0]), tree_bytes(item.path)
                rows.append((split[1], Trashed(item.name, "", place, size, split[1].isoformat())))
                continue
            if not sha or not stat.S_ISREG(state.st_mode):
                continue
            entry = entries.get(sha, {})
            path = origin(entry, item.name)
            if not path:
                archived = rebuild(paths) if archived is None else archived
                path = origin(archived.get(sha, {}), item.name)
            until = grace_end(entry, state.st_ctime, trash_days)
            rows.append((until, Trashed(item.name, sha, path, state.st_size, until.isoformat())))
    return [row for _, row in sorted(rows, key=lambda row: (row[0], row[1].name))]


# --- back ------------------------------------------------------------------------------------------------------------


def trash_restore(
    workspace: Workspace, which: str, *, now: Clock = utc_now, editor_wait: EditorWait = EDITOR_WAIT
) -> Restored:
    """Put one conversation back where it was. `which` is its name in the trash or a prefix of its hash that only one
    has. An occupied place is refused. One that only the archive has is written to the current folder as markdown: the
    copy has no secrets, and its tool could not read it."""
    return with_store(
        workspace.paths, "trash", now(), lambda store: _restore(workspace, which.strip(), store), editor_wait
    )


def _restore(workspace: Workspace, which: str, store: Recovered) -> Restored:
    paths = workspace.paths
    rows = _trashed(paths, store.entries, workspace.config.trash_days)
    found = [row for row in rows if row.name == which] or [row for row in rows if which and row.name.startswith(which)]
    kept = [] if found or not which else _archived(workspace, store.entries)
    kept = [row for row in kept if which in (row.name, row.path) or row.sha256.startswith(which)]
    if len(kept) == 1:
        made = archive_export(workspace, kept[0].path)
        if made.errors:
            raise KnowledgeError.of(made.errors[0])
        resume = f"'knowledge show {shlex.quote(kept[0].name)} --resume' hands it over to a new session"
        note = f"a copy to read: its tool cannot take it back; {resume}"
        return Restored(made.files[0], kept[0].sha256, note)
    if not found:
        message = f"nothing in the trash or the archive begins with {which!r}"
        raise KnowledgeError("not-in-trash", message, hint="'knowledge trash' lists it")
    if len(found) > 1:
        shown = "; ".join(f"{row.name} ({row.path or 'from an unknown place'})" for row in found[:SHOWN])
        message = f"{len(found)} conversations match {which!r}: {shown}"
        raise KnowledgeError("ambiguous", message, hint="give the whole name")
    row = found[0]
    if not row.sha256:
        brought = restore_split(paths, row.name)
        note = "the next harvest takes it away again if what it was cut from is still gone or changed"
        return Restored(str(brought), "", note)
    if not os.path.isabs(row.path):
        hint = "copy it out of the trash by hand"
        raise KnowledgeError("no-origin", "nobody knows where this conversation was", paths.trash / row.name, hint)
    entry = store.entries.get(row.sha256)
    if entry is not None and row.path not in restored_paths(entry):
        keep_in_place(entry, row.path)
        write_ledger(paths, store.entries)  # before the move: a crash between the two must not let it go again
    try:
        back = str(restore(paths, row.name, row.path, row.sha256))
    except KnowledgeError:
        if entry is not None:
            forget_restored(entry, row.path)
            write_ledger(paths, store.entries)
        raise
    if entry is None:
        return Restored(back, row.sha256)
    note_restored(entry, row.name)
    write_ledger(paths, store.entries)
    note = "it stays there until it changes"
    if entry.get("status") == "harvested":
        note += f"; 'knowledge undo {entry.get('run', 'RUN')}' takes its harvest back"
    return Restored(back, row.sha256, note)


# --- for good --------------------------------------------------------------------------------------------------------


def trash_purge(
    workspace: Workspace, *, everything: bool = False, now: Clock = utc_now, editor_wait: EditorWait = EDITOR_WAIT
) -> PurgeReport:
    """Remove what is past its grace period, or with `everything` all that the trash holds.

    A conversation stays when its hash is no longer the one it went in with, and for the reasons of `why_not_purge`.
    """
    return with_store(
        workspace.paths, "trash", now(), lambda store: _purge(workspace, everything, store, now()), editor_wait
    )


def _purge(workspace: Workspace, everything: bool, store: Recovered, now: datetime) -> PurgeReport:
    paths, report = workspace.paths, PurgeReport()
    proofs, guard = Proofs(paths), Guard(paths)
    going: list[Trashed] = []
    for row in _trashed(paths, store.entries, workspace.config.trash_days):
        if not everything and datetime.fromisoformat(row.until) > now:
            report.waiting += 1
            continue
        if row.sha256:
            refused = why_not_purge(paths, row.name, store.entries.get(row.sha256), proofs, guard)
        else:
            done = attempt(purge_split, paths, row.name)
            refused = done.error if isinstance(done, KnowledgeError) else None
        if refused is not None:
            report.errors.append(refused)
        elif row.sha256:
            going.append(row)
        else:
            report.purged.append(row.name)
            report.bytes += row.size
    if going:
        _promise(paths, going)
    for row in going:
        entry, held = store.entries.get(row.sha256), paths.trash / row.name
        with collected(report.errors):
            report.bytes += purge(held, row.sha256)
            assert entry is not None
            drop_from_trash(entry, row.name)
            gone = {"path": str(held), "status": "pruned", "at": now.isoformat(), "deleted": True}
            store.entries[f"path:{held}"] = gone
            report.purged.append(row.name)
    if report.purged:
        write_ledger(paths, store.entries)
    if going:
        close_run(paths, "", store.entries, now.isoformat())
    return report


def _promise(paths: Paths, going: list[Trashed]) -> None:
    """Write down what is about to go: after a crash the next run tells the ledger what is gone. Plans that wait in the
    journal to be written stay there. Raises OSError."""
    journal = Journal(paths.journal)
    try:
        for row in going:
            last = row is going[-1]
            journal.append({"t": "purging", "sha": row.sha256, "trash": row.name}, durable=last)
    finally:
        journal.close()


# --- at the command line --------------------------------------------------------------------------------------------


def trash_text(value: list[Trashed]) -> str:
    rows = []
    for row in value:
        name = row.sha256[:KEY_CHARACTERS] or row.name
        until = f"until {row.until[:10]}" if row.until else "in the archive"
        rows.append(f"{name}  {until:<16}  {size(row.size):>8}  {row.path or '?'}")
    total = sum(row.size for row in value)
    return "\n".join([*rows, f"{count(len(value), 'conversation')}, {size(total)}"]) + "\n"


def restored_text(value: Restored) -> str:
    return f"restored: {value.path}\n" + (f"note: {value.note}\n" if value.note else "")


def purged_text(value: PurgeReport) -> str:
    kept = f", {value.waiting} still in their grace period" if value.waiting else ""
    return f"purged: {count(len(value.purged), 'conversation')}, {size(value.bytes)}{kept}\n"


_SHA = needed("which", "the beginning of its hash, as 'knowledge trash' lists it", "SHA")


COMMANDS = (
    group(
        "trash",
        "restore 3fa9",
        single("list", "what lies in the trash, and until when", "", trash_list, trash_text, words=NAMED),
        single(
            "restore", "put a conversation back where it was", "3fa9", trash_restore, restored_text, _SHA, words=NAMED
        ),
        single(
            "purge",
            "remove for good what has outlived its grace period",
            "",
            trash_purge,
            purged_text,
            flag("--all", "also conversations still in their grace period", dest="everything"),
            words=NAMED,
        ),
    ),
)
