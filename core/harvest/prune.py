"""Takes away what is past its time: stale folders of splits, into the trash, and what lies there after its grace
period."""

from __future__ import annotations

from core.base.paths import Paths
from core.base.result import ErrorInfo, KnowledgeError
from core.harvest.committer import Committer
from core.harvest.proofs import REPORTED, Proofs
from core.harvest.reclaim import Guard, purge, purge_split, remove_split
from core.harvest.steps import Step
from core.knowledge.ledger import Entry, drop_from_trash
from core.sources.scan import is_stale, origin, sha_in_trash, split_in_trash

PURGE_REFUSED, VANISHED = "purge-refused", "harvest-vanished"
_KEPT = "the trash keeps a conversation"


def prune(committer: Committer, step: Step) -> bool:
    """Carry out one prune step and record it under `path:{path}`. False when the thing stays."""
    if committer.limits.keep or not committer.trusted:
        committer.report.kept += 1
        return False
    try:
        removed = _remove_split(committer, step) if step.artifact.kind == "split" else _purge(committer, step)
    except KnowledgeError as failed:
        committer.report.errors.append(failed.error)
        return False
    if removed is None:
        committer.report.kept += 1
        return False
    committer.report.reclaimed_bytes += removed
    entry = committer.entry_for(step, "pruned", committer.now()) | {"deleted": True, "run": committer.run}
    committer.record(f"path:{step.artifact.path}", entry)
    return True


def _remove_split(committer: Committer, step: Step) -> int | None:
    """The bytes that are gone. None: it was cut again since the run began, and stays."""
    if not is_stale(step.artifact.path):
        return None
    remove_split(committer.paths, step.artifact.path, committer.options.trash_days, committer.now())
    return step.artifact.size


def _purge(committer: Committer, step: Step) -> int | None:
    """The bytes that are gone. None: the conversation stays for a reason that is no failure; a note in the report tells
    it."""
    name, paths = step.artifact.name, committer.paths
    if split_in_trash(name) is not None:
        purge_split(paths, name)
        return step.artifact.size
    entry = committer.entries.get(sha_in_trash(name))
    refused = why_not_purge(paths, name, entry, committer.proofs, committer.guard)
    if refused is not None:
        if refused.code == VANISHED and (entry or {}).get(REPORTED, committer.run) != committer.run:
            return None  # an earlier run has told it, and 'knowledge review' still does
        if refused.code in (VANISHED, PURGE_REFUSED):
            raise KnowledgeError.of(refused)
        committer.report.notes.append(f"{refused.message} ({name})")
        return None
    committer.append({"t": "purging", "sha": sha_in_trash(name), "trash": name}, durable=True)
    if not committer.trusted:
        return None
    removed = purge(paths.trash / name, sha_in_trash(name))
    if entry is not None:
        drop_from_trash(entry, name)
    return removed


def why_not_purge(paths: Paths, name: str, entry: Entry | None, proofs: Proofs, guard: Guard) -> ErrorInfo | None:
    """Why a trashed conversation may not go for good, None when it may: the one rule of every purge.

    It stays when nobody knows it (code trash-unknown), when an index of the host application protects it or may do so,
    because it cannot be read (protected), with PURGE_REFUSED when it was neither harvested nor given up or when no
    committed plan vouches for it, and with VANISHED when the files lost what it taught (`Proofs.why_vanished`).
    Raises OSError.
    """
    trashed = str(paths.trash / name)
    if entry is None:
        return ErrorInfo("trash-unknown", f"{_KEPT}: the ledger does not know it", trashed, "copy it out by hand")
    hint = f"'knowledge trash restore {name[:12]}' brings it back"
    if protected := guard.protects(origin(entry, name) or str(entry.get("path", ""))):
        return ErrorInfo("protected", f"{_KEPT}: {protected}", trashed, hint)
    if entry.get("status") == "deleted-unharvested":
        return None
    plan = proofs.plan(sha_in_trash(name), entry)
    if entry.get("status") == "harvested" and plan is not None:
        vanished = proofs.why_vanished(plan)
        hint = "'knowledge review --kind vanished' shows them: yes puts them back, no lets them go"
        return ErrorInfo(VANISHED, f"{_KEPT}: {vanished}", trashed, hint) if vanished else None
    why = "it was never harvested" if entry.get("status") != "harvested" else "its committed plan is missing"
    if entry.get("run"):
        hint += f", 'knowledge undo {entry['run']}' takes its run back; if you want neither, delete the file yourself"
    return ErrorInfo(PURGE_REFUSED, f"{_KEPT}: {why}", trashed, hint)
