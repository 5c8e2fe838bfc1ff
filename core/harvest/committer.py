"""The one writer of a run. Every durable step of storage.md, in its order, for one conversation after the other."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from core.base import files
from core.base.paths import Paths
from core.base.result import Err, ErrorInfo, Ok
from core.harvest.classify import Limits, Step, may_reclaim
from core.harvest.distil import Harvest
from core.harvest.merge import Applied, apply_plan, freeze, vanished, with_old_dates
from core.harvest.meter import Meter
from core.harvest.reclaim import purge, reclaim, remove_split, sync_reclaimed
from core.harvest.recovery import Recovered, close_run, merged_entry
from core.harvest.report import HarvestReport, add_counts
from core.knowledge.categories import CATEGORIES
from core.knowledge.file_notes import read_records
from core.knowledge.journal import FrozenPlan, Journal, plan_to_json, read_plan
from core.knowledge.ledger import Entries, Entry, note_reclaimed, write_ledger
from core.knowledge.lines import OwnWrites, Patience

CHECKPOINT_RECORDS = 500
CHECKPOINT_SECONDS = 30.0


@dataclass
class Committer:
    """The state of one applied run. Methods return True when the conversation ended as planned.

    `trusted` turns false after an fsync error: then nothing more is reclaimed and the run ends.
    """

    paths: Paths
    run: str
    limits: Limits
    roots: Sequence[str]
    trash_days: int
    careful: str
    now: Callable[[], datetime]
    patience: Patience
    recovered: Recovered
    report: HarvestReport
    trusted: bool = True
    own: OwnWrites = field(default_factory=lambda: OwnWrites({}))

    def __post_init__(self) -> None:
        self.entries: Entries = self.recovered.entries
        self.records = read_records(self.paths)
        self._journal = Journal(self.paths.journal)
        self._journal.append({"t": "run", "run": self.run, "at": self.now().isoformat()})
        self._plans: dict[str, FrozenPlan] = {}
        self._known = {f"files/{name}" for name in self.records} | _files_with_items(self.entries)
        self._since = 0
        self._last = time.monotonic()

    # --- one conversation ---

    def commit(self, step: Step, harvest: Harvest, meter: Meter | None) -> bool:
        """Steps 3 to 7 for a conversation that was distilled: freeze, intent, lines, read-back, done, reclaim."""
        at = self.now()
        try:
            plan = self._freeze(step, harvest, meter, at)
            self._journal.append(
                {"t": "intent", "sha": step.sha256, "path": step.artifact.path, "plan": plan_to_json(plan)},
                durable=True,
            )
        except files.SyncError as error:
            return self._distrust(step, error)
        except OSError as error:
            self.trusted = False  # the journal may hold a torn line now: nothing may follow it
            return self.fail(step, ErrorInfo("harvest-failed", f"the plan cannot be written: {error.strerror}"), None)
        try:
            apply_plan(
                self.paths,
                plan,
                known=lambda name: name in self._known,
                on_applied=lambda row: self._applied(step.sha256, row),
                patience=self.patience,
                own=self.own,
            )
            self._journal.append({"t": "done", "sha": step.sha256, "entry": plan.entry}, durable=True)
        except files.SyncError as error:
            return self._distrust(step, error)
        except OSError as error:
            name = f"{error.filename}: " if error.filename else ""
            message = f"the knowledge cannot be written: {name}{error.strerror or error}"
            return self.fail(step, ErrorInfo("harvest-failed", message, hint="mend the file and run again"), meter)
        self._plans[step.sha256] = plan
        self.entries[step.sha256] = merged_entry(self.entries.get(step.sha256), plan.entry)
        self._count(harvest, plan)
        if may_reclaim(plan.entry, self.limits):
            self.take_away(step)
        else:
            self.report.kept += 1
        self._checkpoint()
        return True

    def _freeze(self, step: Step, harvest: Harvest, meter: Meter | None, at: datetime) -> FrozenPlan:
        name, date = step.artifact.name, at.astimezone(UTC).date().isoformat()
        items = harvest.items
        plan = freeze(items, name, date, self.roots, self.paths, self.records)
        if self.entries.get(step.sha256, {}).get("items"):
            plan = with_old_dates(self.paths, plan, items, name)
        entry = self._entry(step, "harvested", at)
        entry |= {"items": plan.items, "provider": self.limits.provider, "run": self.run, **plan.entry}
        if meter is not None:
            entry |= _spent(meter)
        return replace(plan, entry=entry)

    def _applied(self, sha: str, row: Applied) -> None:
        self._known.add(row.name)
        self._journal.append({"t": "applied", "sha": sha, "file": row.name, "added": row.added})

    def _count(self, harvest: Harvest, plan: FrozenPlan) -> None:
        self.report.harvested += 1
        self.report.empty += not harvest.items
        self.report.quarantined += plan.entry.get("quarantined", 0)
        add_counts(self.report.items, plan.items)
        add_counts(self.report.skipped, harvest.skipped)
        add_counts(self.report.redacted, harvest.redacted)

    def is_proven(self, sha256: str) -> bool:
        """Whether this content has a committed plan: in this run, or in the archive of the run that its entry names."""
        if sha256 in self._plans:
            return True
        entry = self.entries.get(sha256, {})
        if entry.get("status") != "harvested":
            return False
        plan = read_plan(self.paths.plans, str(entry.get("run", "")), sha256)
        if plan is not None:
            self._plans[sha256] = plan
        return plan is not None

    def take_away(self, step: Step) -> bool:
        """Step 7, for content whose harvest is proven."""
        if self.careful:
            self.report.kept += 1
            return False
        plan = self._plans.get(step.sha256)
        if plan is not None and vanished(self.paths, plan):
            message = "every line of its harvest has vanished from the files; the conversation stays"
            hint = "put the lines back, or 'knowledge rm' what you do not want"
            self.report.errors.append(ErrorInfo("harvest-vanished", message, step.artifact.path, hint))
            return False
        return self._move(step)

    def discard(self, step: Step) -> bool:
        """`--no-harvest`: record it durably, then move it away."""
        if self.careful:
            self.report.kept += 1
            return False
        old = self.entries.get(step.sha256)
        if old is None or old.get("status") != "harvested":
            self._record(step.sha256, self._entry(step, "deleted-unharvested", self.now()) | {"run": self.run}, True)
        return self._move(step)

    def _move(self, step: Step) -> bool:
        if not self.trusted:
            return False
        moved = reclaim(self.paths, step.artifact.path, step.sha256, self.trash_days, self.now())
        if isinstance(moved, Err):
            self.report.errors.append(moved.error)
            return False
        value = moved.value
        row = {"t": "reclaimed", "sha": step.sha256, "path": value.path, "trash": value.trash, "until": value.until}
        self._append(row)
        note_reclaimed(self.entries[step.sha256], row)
        self.report.reclaimed += 1
        self.report.reclaimed_bytes += value.size
        return True

    def too_large(self, step: Step) -> bool:
        self._record(step.sha256, self._entry(step, "too-large", self.now()) | {"run": self.run})
        self.report.too_large += 1
        return True

    def fail(self, step: Step, error: ErrorInfo, meter: Meter | None) -> bool:
        """The conversation stays; the ledger says why."""
        path = error.path or step.artifact.path
        self.report.errors.append(ErrorInfo(error.code, error.message, step.artifact.path, error.hint))
        if step.sha256:
            entry = self._entry(step, "harvest-failed", self.now())
            entry |= {"error": str(ErrorInfo(error.code, error.message, path)), "run": self.run}
            entry["provider"] = self.limits.provider
            if meter is not None:
                entry |= _spent(meter)
            self._record(step.sha256, entry)
        return False

    def prune(self, step: Step) -> bool:
        """Remove what is past its time: a stale folder of splits, or a trashed conversation after its grace period."""
        item, key = step.artifact, f"path:{step.artifact.path}"
        if item.kind == "split":
            removed = remove_split(self.paths, item.path)
        else:
            sha = item.name.split(".")[0]
            entry = self.entries.get(sha)
            if entry is None or (entry.get("status") == "harvested" and not self._may_purge(sha, item.path)):
                return False
            removed_bytes = purge(self.paths.trash / item.name, sha)
            removed = removed_bytes if isinstance(removed_bytes, Err) else Ok(None)
            if isinstance(removed, Ok):
                entry["trash"] = {name: path for name, path in entry.get("trash", {}).items() if name != item.name}
        if isinstance(removed, Err):
            self.report.errors.append(removed.error)
            return False
        self.report.reclaimed_bytes += item.size
        entry = self._entry(step, "pruned", self.now()) | {"deleted": True, "run": self.run}
        self._record(key, entry)
        return True

    def _may_purge(self, sha: str, path: str) -> bool:
        plan = self._plans.get(sha) if self.is_proven(sha) else None
        if plan is not None and not vanished(self.paths, plan):
            return True
        why = "its committed plan is missing" if plan is None else "every line of its harvest has vanished"
        hint = "'knowledge trash restore' brings the conversation back"
        self.report.errors.append(ErrorInfo("purge-refused", f"the trash keeps a conversation: {why}", path, hint))
        return False

    # --- journal and end ---

    def _entry(self, step: Step, status: str, at: datetime) -> Entry:
        return {"path": step.artifact.path, "status": status, "at": at.isoformat(), "deleted": False}

    def _record(self, key: str, entry: Entry, durable: bool = False) -> None:
        self.entries[key] = merged_entry(self.entries.get(key), entry)
        self._append({"t": "entry", "sha": key, "entry": entry}, durable)
        self._checkpoint()

    def _append(self, record: dict[str, Any], durable: bool = False) -> None:
        try:
            self._journal.append(record, durable=durable)
        except OSError as error:
            if self.trusted:
                message = f"the journal cannot be written: {error.strerror}"
                self.report.errors.append(ErrorInfo("journal-failed", message, str(self.paths.journal)))
            self.trusted = False

    def _distrust(self, step: Step, error: OSError) -> bool:
        self.trusted = False
        message = f"the disk did not confirm a write ({error.strerror}); the run stops and reclaims nothing more"
        return self.fail(step, ErrorInfo("sync-failed", message, hint="check the disk, then run again"), None)

    def _checkpoint(self) -> None:
        self._since += 1
        if self._since < CHECKPOINT_RECORDS and time.monotonic() - self._last < CHECKPOINT_SECONDS:
            return
        self._since, self._last = 0, time.monotonic()
        try:
            sync_reclaimed(self.paths)
            write_ledger(self.paths, self.entries)
        except OSError as error:
            self._append_error("ledger-failed", error)

    def finish(self) -> None:
        """Step 8, without the digest: durable moves, changes, ledger, archive; only then the journal goes."""
        self._journal.close()
        try:
            sync_reclaimed(self.paths)
            close_run(self.paths, self.run, self.entries, self.now().isoformat())
        except OSError as error:
            self._append_error("close-failed", error)

    def _append_error(self, code: str, error: OSError) -> None:
        message = f"the end of the run could not be written: {error.strerror}; the next run finishes it"
        self.report.errors.append(ErrorInfo(code, message, str(error.filename or self.paths.ledger)))


def _spent(meter: Meter) -> Entry:
    spent: Entry = {"model": meter.model, "calls": meter.calls}
    if meter.input_tokens is not None or meter.output_tokens is not None:
        spent |= {"input_tokens": meter.input_tokens or 0, "output_tokens": meter.output_tokens or 0}
    return spent


def _files_with_items(entries: Entries) -> set[str]:
    wanted = {row.name: row.file for row in CATEGORIES if row.file}
    found: set[str] = set()
    for entry in entries.values():
        items = entry.get("items")
        if isinstance(items, dict):
            found |= {wanted[name] for name, number in items.items() if number and name in wanted}
        if len(found) == len(set(wanted.values())):
            break
    return found
