"""Removes what is past its time: stale folders of splits, and trashed conversations after their grace period."""

from __future__ import annotations

from core.base.result import Err, ErrorInfo, Ok, Result
from core.harvest.classify import Step
from core.harvest.committer import Committer
from core.harvest.reclaim import purge, remove_split


def prune(committer: Committer, step: Step, careful: str) -> bool:
    """Carry out one prune step and record it under `path:{path}`. False when the thing stays.

    `careful` tells, if not empty, why nothing is taken out of the conversations folder, its trash included.
    """
    if committer.limits.keep or not committer.trusted:
        committer.report.kept += 1
        return False
    removed = _remove_split(committer, step) if step.artifact.kind == "split" else _purge(committer, step, careful)
    if removed is None:
        committer.report.kept += 1
        return False
    if isinstance(removed, Err):
        committer.report.errors.append(removed.error)
        return False
    committer.report.reclaimed_bytes += removed.value
    entry = committer.entry_for(step, "pruned", committer.now()) | {"deleted": True, "run": committer.run}
    committer.record(f"path:{step.artifact.path}", entry)
    return True


def _remove_split(committer: Committer, step: Step) -> Result[int]:
    removed = remove_split(committer.paths, step.artifact.path)
    return removed if isinstance(removed, Err) else Ok(step.artifact.size)


def _purge(committer: Committer, step: Step, careful: str) -> Result[int] | None:
    """A trashed conversation goes for good only if its items are still in the files, or the person has dealt with them
    (storage.md, step 9). None: it stays, for a reason that stands in the report."""
    item = step.artifact
    sha256 = item.name.split(".")[0]
    entry = committer.entries.get(sha256)
    if careful:
        return None
    if entry is None:
        committer.report.notes.append(f"the trash keeps {item.name}: the ledger does not know it")
        return None
    if entry.get("status") == "harvested":
        plan = committer.proofs.plan(sha256, entry)
        if plan is None or committer.proofs.has_vanished(plan):
            why = "its committed plan is missing" if plan is None else "every line of its harvest has vanished"
            hint = "'knowledge trash restore' brings the conversation back"
            error = ErrorInfo("purge-refused", f"the trash keeps a conversation: {why}", item.path, hint)
            committer.report.errors.append(error)
            return None
    removed = purge(committer.paths.trash / item.name, sha256)
    if isinstance(removed, Ok):
        entry["trash"] = {name: path for name, path in entry.get("trash", {}).items() if name != item.name}
    return removed
