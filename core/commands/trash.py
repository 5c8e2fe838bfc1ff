"""The trash: reclaimed conversations in their grace period, back to their place or gone for good."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from core.base.paths import Paths
from core.base.result import Err, ErrorInfo, Ok, Result, fail
from core.commands.exclusive import with_store
from core.commands.workspace import Workspace, utc_now
from core.harvest.protection import read_protection, why_careful
from core.harvest.reclaim import purge, restore
from core.harvest.recovery import Recovered
from core.harvest.scan import scan_conversations
from core.knowledge.changes import read_changes
from core.knowledge.edit import EDIT_RUN
from core.knowledge.journal import FrozenPlan, read_plans
from core.knowledge.ledger import Entries, Entry, rebuild, seen_ledger, write_ledger
from core.knowledge.lines import require_lines
from core.knowledge.patience import DEFAULT_PATIENCE, Patience

SHOWN = 5
_NAME = re.compile(r"(?P<sha>[0-9a-f]{64})(?:\.\d+)?\Z")


@dataclass(frozen=True)
class Trashed:
    """One conversation in the trash. `path` is where it was ("" when nobody knows), `until` the end of its grace
    period (ISO 8601, UTC); `size` in bytes."""

    name: str
    sha256: str
    path: str
    size: int
    until: str

    def to_json(self) -> dict[str, Any]:
        """Stable keys for `--json`."""
        return {**vars(self), "path": self.path or None}


@dataclass(frozen=True)
class Restored:
    """A conversation is back at `path`; `note` is a sentence on what will happen to it next ("" for nothing)."""

    path: str
    sha256: str
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        """Stable keys for `--json`."""
        return {**vars(self), "note": self.note or None}


@dataclass
class PurgeReport:
    """What a purge removed (names in the trash), how many bytes, what still waits, and what was refused and why."""

    purged: list[str] = field(default_factory=list)
    bytes: int = 0
    waiting: int = 0
    errors: list[ErrorInfo] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Stable keys for `--json`."""
        refused = [{"path": error.path, "error": error.message, "code": error.code} for error in self.errors]
        return {"purged": self.purged, "bytes": self.bytes, "waiting": self.waiting, "refused": refused}


# --- looking ---------------------------------------------------------------------------------------------------------


def trash_list(workspace: Workspace) -> Result[list[Trashed]]:
    """What lies in the trash, the one that goes first at the top. Err when the ledger cannot be read."""
    entries = seen_ledger(workspace.paths)
    if isinstance(entries, Err):
        return entries
    try:
        return Ok(_trashed(workspace.paths, entries.value, workspace.config.trash_days))
    except OSError as error:
        return fail("unreadable", f"the trash cannot be listed: {error.strerror}", workspace.paths.trash)


def _trashed(paths: Paths, entries: Mapping[str, Entry], trash_days: int) -> list[Trashed]:
    rows: list[Trashed] = []
    if not paths.trash.is_dir():
        return rows
    archived: Entries | None = None
    with os.scandir(paths.trash) as listing:
        for item in listing:
            found, state = _NAME.match(item.name), item.stat(follow_symlinks=False)
            if found is None or not stat.S_ISREG(state.st_mode):
                continue
            entry = entries.get(found["sha"], {})
            path = _origin(entry, item.name)
            if not path:
                archived = rebuild(paths) if archived is None else archived
                path = _origin(archived.get(found["sha"], {}), item.name)
            until = str(entry.get("trashed_until", ""))
            if not until:
                until = (datetime.fromtimestamp(state.st_ctime).astimezone() + timedelta(days=trash_days)).isoformat()
            rows.append(Trashed(item.name, found["sha"], path, state.st_size, until))
    return sorted(rows, key=lambda row: (row.until, row.name))


def _origin(entry: Mapping[str, Any], name: str) -> str:
    known = entry.get("trash")
    return str(known.get(name, "")) if isinstance(known, dict) else ""


# --- back ------------------------------------------------------------------------------------------------------------


def trash_restore(
    workspace: Workspace,
    which: str,
    *,
    now: Callable[[], datetime] = utc_now,
    patience: Patience = DEFAULT_PATIENCE,
) -> Result[Restored]:
    """Put one conversation back where it was. `which` is its name in the trash or a prefix of its hash that only one
    has. An occupied place is refused."""
    return with_store(workspace.paths, now(), lambda store: _restore(workspace, which.strip(), store), patience)


def _restore(workspace: Workspace, which: str, store: Recovered) -> Result[Restored]:
    paths = workspace.paths
    rows = _trashed(paths, store.entries, workspace.config.trash_days)
    found = [row for row in rows if row.name == which] or [row for row in rows if which and row.name.startswith(which)]
    if not found:
        return fail("not-in-trash", f"nothing in the trash begins with {which!r}", hint="'knowledge trash' lists it")
    if len(found) > 1:
        shown = "; ".join(f"{row.name} ({row.path or 'from an unknown place'})" for row in found[:SHOWN])
        return fail("ambiguous", f"{len(found)} conversations match {which!r}: {shown}", hint="give the whole name")
    row = found[0]
    if not os.path.isabs(row.path):
        hint = "copy it out of the trash by hand"
        return fail("no-origin", "nobody knows where this conversation was", paths.trash / row.name, hint)
    back = restore(paths, row.name, row.path, row.sha256)
    if isinstance(back, Err):
        return back
    entry = store.entries.get(row.sha256)
    note = ""
    if entry is not None:
        note_restored(entry, row.name)
        write_ledger(paths, store.entries)
        if entry.get("status") == "harvested":
            note = "its harvest stands, so the next 'knowledge harvest --apply' may reclaim it again; 'knowledge undo' "
            note += f"{entry.get('run', 'RUN')} takes the harvest back as well"
    return Ok(Restored(str(back.value), row.sha256, note))


def note_restored(entry: Entry, name: str) -> None:
    """Write into a ledger entry that one copy of its conversation has left the trash for its place."""
    drop_from_trash(entry, name)
    entry["deleted"] = False


def drop_from_trash(entry: Entry, name: str) -> None:
    """Take one name out of an entry's map of the trash."""
    left = {key: path for key, path in entry.get("trash", {}).items() if key != name}
    if left:
        entry["trash"] = left
    else:
        entry.pop("trash", None)
        entry.pop("trashed_until", None)


# --- for good --------------------------------------------------------------------------------------------------------


def trash_purge(
    workspace: Workspace,
    *,
    everything: bool = False,
    now: Callable[[], datetime] = utc_now,
    patience: Patience = DEFAULT_PATIENCE,
) -> Result[PurgeReport]:
    """Remove what is past its grace period, or with `everything` all that the trash holds.

    A conversation stays when its hash is no longer the one it went in with, when no committed plan vouches for it, when
    its harvest has vanished from the files other than by the person's own edits (storage.md, step 9), or when an index
    of the host application protects it, or might: one that cannot be read.
    """
    return with_store(workspace.paths, now(), lambda store: _purge(workspace, everything, store, now()), patience)


def _purge(workspace: Workspace, everything: bool, store: Recovered, now: datetime) -> Result[PurgeReport]:
    paths, report = workspace.paths, PurgeReport()
    removed = {(row.file, line) for row in read_changes(paths) if row.run.startswith(EDIT_RUN) for line in row.removed}
    protection = read_protection(scan_conversations(paths))
    careful = why_careful(protection.unreadable)
    for row in _trashed(paths, store.entries, workspace.config.trash_days):
        if not everything and not _is_over(row.until, now):
            report.waiting += 1
            continue
        entry, held = store.entries.get(row.sha256), paths.trash / row.name
        kept = "you have saved it in the meantime" if row.path in protection.saved else careful
        why = kept or _why_not(paths, entry, row.sha256, removed)
        if why:
            hint = f"'knowledge trash restore {row.name[:12]}' brings it back"
            report.errors.append(ErrorInfo("purge-refused", f"the trash keeps a conversation: {why}", str(held), hint))
            continue
        gone = purge(held, row.sha256)
        if isinstance(gone, Err):
            report.errors.append(gone.error)
            continue
        assert entry is not None
        drop_from_trash(entry, row.name)
        told = {"path": str(held), "status": "pruned", "at": now.isoformat(), "deleted": True}
        store.entries[f"path:{held}"] = told
        report.purged.append(row.name)
        report.bytes += gone.value
    if report.purged:
        write_ledger(paths, store.entries)
    return Ok(report)


def _is_over(until: str, now: datetime) -> bool:
    try:
        end = datetime.fromisoformat(until)
    except ValueError:
        return False
    return end.tzinfo is not None and end <= now


def _why_not(paths: Paths, entry: Entry | None, sha: str, removed: set[tuple[str, str]]) -> str:
    """Why a conversation may not go for good, "" when it may."""
    if entry is None:
        return "the ledger does not know it"
    if entry.get("status") != "harvested":
        return "" if entry.get("status") == "deleted-unharvested" else "it was never harvested"
    plan = read_plans(paths.plans, str(entry.get("run", ""))).get(sha)
    if plan is None:
        return "its committed plan is missing"
    return "every line of its harvest has vanished" if _has_vanished(paths, plan, removed) else ""


def _has_vanished(paths: Paths, plan: FrozenPlan, removed: set[tuple[str, str]]) -> bool:
    """Whether none of several lines is left that the person has not dealt with here."""
    total = unexplained = 0
    for planned in plan.files:
        total += len(planned.all_lines)
        try:
            absent = require_lines(paths.knowledge, planned)
        except OSError:
            absent = list(planned.all_lines)
        unexplained += sum((planned.name, line) not in removed for line in absent)
    return total > 1 and unexplained == total
