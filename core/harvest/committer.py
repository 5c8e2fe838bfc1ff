"""The one writer of a run. Every durable step of storage.md, in its order, for one conversation after the other."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from core.base import files
from core.base.paths import Paths
from core.base.result import Err, ErrorInfo
from core.harvest.bindings import Bindings
from core.harvest.classify import RESTORED, may_reclaim, unread_mark
from core.harvest.distil import Harvest
from core.harvest.grown_plan import onto
from core.harvest.guard import Guard
from core.harvest.lessons import lessons_of
from core.harvest.merge import Applied, apply_plan, freeze, with_old_dates
from core.harvest.meter import Meter
from core.harvest.missing import TOLD, find_missing, marks, tell_missing
from core.harvest.named_paths import is_working_folder
from core.harvest.proofs import Proofs
from core.harvest.reclaim import SYNC_FAILED, reclaim, sync_reclaimed
from core.harvest.recovery import Recovered, close_run
from core.harvest.report import HarvestReport, add_counts
from core.harvest.steps import Limits, Step
from core.harvest.struck import StruckLines
from core.knowledge.categories import CATEGORIES
from core.knowledge.journal import FrozenPlan, Journal, JournalError, plan_to_json
from core.knowledge.ledger import Entries, Entry, merged_entry, note_reclaimed, restored_paths, write_ledger
from core.knowledge.lines import OwnWrites, noting_tail
from core.knowledge.patience import Patience

CHECKPOINT_RECORDS = 500
CHECKPOINT_SECONDS = 30.0

_UNREAD = ("unread-conversation", "overpacked-conversation")
"""What will fail again for as long as the content is the same: it is told once."""


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
    proofs: Proofs
    guard: Guard
    now: Callable[[], datetime]
    patience: Patience
    recovered: Recovered
    report: HarvestReport
    quotes: str = "check"
    trusted: bool = True
    own: OwnWrites = field(default_factory=OwnWrites)

    def __post_init__(self) -> None:
        self.entries: Entries = self.recovered.entries
        self._bindings = Bindings(self.paths)
        self._struck = StruckLines(self.paths)
        self._journal = Journal(self.paths.journal)
        self._journal.append({"t": "run", "run": self.run, "at": self.now().isoformat()})
        self._known = {f"files/{name}" for name in self._bindings.records} | _files_with_items(self.entries)
        self._since = 0
        self._last = time.monotonic()

    # --- one conversation ---

    def commit(self, step: Step, harvest: Harvest, meter: Meter | None) -> bool:
        """Steps 3 to 7 for a conversation that was distilled: freeze, intent, lines, read-back, done, reclaim."""
        try:
            plan = self._freeze(step, harvest, meter, self.now())
            self._journal.append(
                {"t": "intent", "sha": step.sha256, "path": step.artifact.path, "plan": plan_to_json(plan)},
                durable=True,
            )
            apply_plan(
                self.paths,
                plan,
                known=lambda name: name in self._known,
                on_applied=lambda row: self._applied(step.sha256, row),
                patience=self.patience,
                own=self.own,
            )
            self._journal.append({"t": "done", "sha": step.sha256, "entry": plan.entry}, durable=True)
        except (files.SyncError, JournalError) as error:
            return self._distrust(step, error, meter)
        except OSError as error:
            name = f"{error.filename}: " if error.filename else ""
            message = f"the knowledge cannot be written: {name}{error.strerror or error}"
            return self.fail(step, ErrorInfo("harvest-failed", message, hint="mend the file and run again"), meter)
        self.proofs.add(step.sha256, plan)
        self._bindings.add(plan.notes)
        self.entries[step.sha256] = merged_entry(self.entries.get(step.sha256), plan.entry)
        self._count(harvest, plan)
        self.report.errors += self._struck.problems
        if may_reclaim(plan.entry, self.limits, step.artifact):
            self._move(step)
        else:
            self.report.kept += 1
        self._checkpoint()
        return True

    def notice_missing(self, also: Iterable[str]) -> None:
        """Before anything else: have lines of earlier harvests vanished? `also` are hashes that the run will meet."""
        try:
            told = marks(self.entries)
            found = find_missing(self.paths, self.entries, self.proofs, self.now(), self.trash_days, also)
            if sentence := tell_missing(found, self.entries, self.run):
                self.report.notes.append(sentence)
            if marks(self.entries) != told:
                write_ledger(self.paths, self.entries)
        except OSError as error:
            self._append_error("missing-unknown", error)

    def _freeze(self, step: Step, harvest: Harvest, meter: Meter | None, at: datetime) -> FrozenPlan:
        name, date = step.artifact.name, at.astimezone(UTC).date().isoformat()
        roots = [*self.roots, harvest.folder] if is_working_folder(harvest.folder) else self.roots
        if any(item.category == "files" for item in harvest.items):
            self._bindings.refresh()
        plan = freeze(harvest.items, name, date, roots, self.paths, self._bindings.records)
        old = self.entries.get(step.sha256, {})
        if old.get("items"):
            called = str(old.get("name", "")) or Path(str(old.get("path", ""))).name
            plan = with_old_dates(self.paths, plan, (name, called))
        if step.earlier is not None:
            earlier = self.proofs.plan(step.earlier.sha256, self.entries.get(step.earlier.sha256))
            plan = onto(self.paths, plan, earlier) if earlier is not None else plan
        plan = self._struck.kept(plan)
        plan = replace(plan, files=tuple(noting_tail(self.paths.knowledge, planned) for planned in plan.files))
        entry = self.entry_for(step, "harvested", at)
        entry |= {"items": plan.items, "provider": self.limits.provider, "run": self.run, **plan.entry, **harvest.entry}
        if meter is not None:
            entry |= _spent(meter)
        noted = [str(row.get("path", "")) for row in plan.notes.values()]
        checked = self.limits.provider != "offline" and self.quotes != "off"
        return replace(
            plan, entry=entry, facts=lessons_of(harvest.items, harvest.folder, noted, quotes_checked=checked)
        )

    def _applied(self, sha: str, row: Applied) -> None:
        self._known.add(row.name)
        self._journal.append({"t": "applied", "sha": sha, "file": row.name, "added": row.added})

    def _count(self, harvest: Harvest, plan: FrozenPlan) -> None:
        self.report.harvested += 1
        self.report.empty += not harvest.items
        self.report.held += bool(harvest.items) and all(item.held for item in harvest.items)
        self.report.quarantined += plan.entry.get("quarantined", 0)
        self.report.notes_as_facts += plan.entry.get("notes_as_facts", 0)
        add_counts(self.report.items, plan.items)
        add_counts(self.report.skipped, harvest.skipped)
        add_counts(self.report.redacted, harvest.redacted)

    def take_away(self, step: Step) -> bool:
        """Step 7, for content that was harvested before, if that is proven."""
        plan = self.proofs.plan(step.sha256, self.entries.get(step.sha256))
        if plan is None:
            self.report.kept += 1
            return False
        if self.proofs.has_vanished(plan):
            if self.entries[step.sha256].get(TOLD, self.run) == self.run:  # later runs have said it already
                message = "every line of its harvest has vanished from the files; the conversation stays"
                hint = "'knowledge missing' shows them, puts them back, or lets them go"
                self.report.errors.append(ErrorInfo("harvest-vanished", message, step.artifact.path, hint))
            else:
                self.report.kept += 1
            return False
        return self._move(step)

    def discard(self, step: Step) -> bool:
        """`--no-harvest`: record it durably, then move it away."""
        if self._must_stay(step):
            return False
        if not self.proofs.is_proven(step.sha256, self.entries.get(step.sha256)):
            self.record(step.sha256, self.entry_for(step, "deleted-unharvested", self.now()) | {"run": self.run}, True)
        return self._move(step)

    def _must_stay(self, step: Step) -> bool:
        """Whether the person, or the host application's index files as they are now, keep a conversation in place."""
        objection = self.guard.objection(step.artifact)
        if not objection and step.artifact.path in restored_paths(self.entries.get(step.sha256, {})):
            objection = RESTORED
        self.report.kept += bool(objection)
        if objection and (note := f"stays for now: {step.artifact.name} ({objection})") not in self.report.notes:
            self.report.notes.append(note)
        return bool(objection)

    def _move(self, step: Step) -> bool:
        if self._must_stay(step):
            return False
        self.append({"t": "moving", "sha": step.sha256, "path": step.artifact.path})
        if not self.trusted:
            return False
        moved = reclaim(self.paths, step.artifact.path, step.sha256, self.trash_days, self.now())
        if isinstance(moved, Err):
            self.trusted = moved.error.code != SYNC_FAILED
            self.report.errors.append(moved.error)
            return False
        value = moved.value
        row = {"t": "reclaimed", "sha": step.sha256, "path": value.path, "trash": value.trash, "until": value.until}
        self.append(row)
        note_reclaimed(self.entries[step.sha256], row)
        self.report.reclaimed += 1
        self.report.reclaimed_bytes += value.size
        return True

    def too_large(self, step: Step) -> bool:
        old = self.entries.get(step.sha256, {})
        if (old.get("status"), old.get("path")) != ("too-large", step.artifact.path):
            self.record(step.sha256, self.entry_for(step, "too-large", self.now()) | {"run": self.run})
        self.report.too_large += 1
        return True

    def fail(self, step: Step, error: ErrorInfo, meter: Meter | None) -> bool:
        """The conversation stays; the ledger says why."""
        path = error.path or step.artifact.path
        self.report.failed += 1
        self.report.errors.append(ErrorInfo(error.code, error.message, step.artifact.path, error.hint))
        is_unread = error.code in _UNREAD if step.sha256 else step.artifact.kind == "session"
        if step.sha256 or is_unread:
            entry = self.entry_for(step, "harvest-failed", self.now())
            entry |= {"unread": unread_mark(step.artifact)} if is_unread else {}
            entry |= {"error": str(ErrorInfo(error.code, error.message, path)), "run": self.run}
            entry["provider"] = self.limits.provider
            if meter is not None:
                entry |= _spent(meter)
            self.record(step.sha256 or f"path:{step.artifact.path}", entry)
        return False

    # --- journal and end ---

    def entry_for(self, step: Step, status: str, at: datetime) -> Entry:
        item = step.artifact
        entry: Entry = {"path": item.path, "status": status, "at": at.isoformat(), "deleted": False}
        return entry | {"source": item.source, "name": item.name} if item.is_foreign else entry

    def record(self, key: str, entry: Entry, durable: bool = False) -> None:
        """A ledger entry that is not a harvest: into the journal now, into the ledger at the next checkpoint."""
        self.entries[key] = merged_entry(self.entries.get(key), entry)
        self.append({"t": "entry", "sha": key, "entry": entry}, durable)
        self._checkpoint()

    def append(self, record: dict[str, Any], durable: bool = False) -> None:
        """One record for the journal. When that fails, nothing more is taken away and the run ends."""
        try:
            self._journal.append(record, durable=durable)
        except OSError as error:
            if self.trusted:
                message = f"the journal cannot be written: {error.strerror}"
                self.report.errors.append(ErrorInfo("journal-failed", message, str(self.paths.journal)))
            self.trusted = False

    def _distrust(self, step: Step, error: OSError, meter: Meter | None) -> bool:
        self.trusted = False
        message = f"the disk did not confirm a write ({error.strerror}); the run stops and reclaims nothing more"
        return self.fail(step, ErrorInfo(SYNC_FAILED, message, hint="check the disk, then run again"), meter)

    def _checkpoint(self) -> None:
        self._since += 1
        if self._since < CHECKPOINT_RECORDS and time.monotonic() - self._last < CHECKPOINT_SECONDS:
            return
        self._since, self._last = 0, time.monotonic()
        try:
            sync_reclaimed(self.paths)
            write_ledger(self.paths, self.entries)
        except OSError as error:
            self.trusted = not isinstance(error, files.SyncError)
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
    """The category files into which a harvest has ever put something."""
    wanted = {row.name: row.file for row in CATEGORIES if row.file}
    found: set[str] = set()
    for entry in entries.values():
        items = entry.get("items")
        if isinstance(items, dict):
            found |= {wanted[name] for name, number in items.items() if number and name in wanted}
        if len(found) == len(set(wanted.values())):
            break
    return found
