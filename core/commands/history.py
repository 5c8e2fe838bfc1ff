"""What became of things, and the way back: the ledger, the trash, the runs, undo."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from core.base.result import Err, Ok, Result, fail
from core.commands.actions import Takes, not_taken
from core.commands.runs import Run, runs
from core.commands.trash import (
    LetGo,
    PurgeReport,
    Restored,
    Trashed,
    trash_list,
    trash_purge,
    trash_release,
    trash_restore,
)
from core.commands.undo import UndoReport, undo
from core.commands.workspace import Workspace
from core.knowledge.ledger import Entry, find_entry, seen_ledger

__all__ = [
    "LedgerRow",
    "LetGo",
    "PurgeReport",
    "Restored",
    "Run",
    "Trashed",
    "UndoReport",
    "ledger",
    "runs",
    "trash",
    "trash_list",
    "trash_purge",
    "trash_release",
    "trash_restore",
    "undo",
    "undo_command",
]


@dataclass(frozen=True)
class LedgerRow:
    """One entry of the ledger: `key` is the conversation's sha256, or `path:…` for what was pruned."""

    key: str
    entry: Entry

    def to_json(self) -> dict[str, Any]:
        """The entry with its key as `sha256`, None for what was pruned."""
        return {"sha256": None if self.key.startswith("path:") else self.key, **self.entry}


def ledger(workspace: Workspace, sha: str = "", status: str = "") -> Result[list[LedgerRow]]:
    """The audit log, newest entry first. `sha` begins one entry's hash; `status` keeps the entries of that status."""
    loaded = seen_ledger(workspace.paths)
    if isinstance(loaded, Err):
        return loaded
    entries = loaded.value
    if sha:
        found = find_entry(entries, sha.lower())
        return found if isinstance(found, Err) else Ok([LedgerRow(*found.value)])
    known = {str(entry.get("status", "unknown")) for entry in entries.values()}
    if status and entries and status not in known:
        return fail("no-status", f"no entry has the status {status!r}", hint=f"there are: {', '.join(sorted(known))}")
    rows = [LedgerRow(key, entry) for key, entry in entries.items() if status in ("", entry.get("status"))]
    return Ok(sorted(rows, key=lambda row: (str(row.entry.get("at", "")), row.key), reverse=True))


TRASH_TAKES: Takes = {"list": (), "restore": ("SHA",), "release": ("SHA",), "purge": ("--all",)}


def trash(
    workspace: Workspace, action: str = "list", sha: str = "", all: bool = False
) -> Result[list[Trashed]] | Result[Restored] | Result[LetGo] | Result[PurgeReport]:
    """`knowledge trash list|restore|release|purge`. `all` purges also what is still in its grace period."""
    wrong = not_taken("trash", action, TRASH_TAKES, {"SHA": sha, "--all": all})
    if wrong is not None:
        return wrong
    if action in ("restore", "release"):
        if not sha:
            return fail(
                "no-sha", "which conversation? give the beginning of its hash", hint="'knowledge trash' lists them"
            )
        return trash_restore(workspace, sha) if action == "restore" else trash_release(workspace, sha)
    return trash_purge(workspace, everything=all) if action == "purge" else trash_list(workspace)


def undo_command(workspace: Workspace, run: str = "") -> Result[list[Run]] | Result[UndoReport]:
    """`knowledge undo [RUN]`: without a name, the runs that there were."""
    return undo(workspace, run) if run else runs(workspace)
