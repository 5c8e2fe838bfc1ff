"""The one writer of a run. Every durable step, in the order that core/README.md gives, for all that is in a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from core.base import files
from core.base.checked_lines import Record
from core.base.paths import Paths
from core.base.result import ErrorInfo, KnowledgeError, attempt
from core.harvest.batch import Applied, Batch, Staged, with_new_tails, write_together
from core.harvest.classify import RESTORED, may_reclaim, unread_mark
from core.harvest.freeze import KeptAway, freeze, plan_facts, with_old_dates, without_moved
from core.harvest.meter import Meter
from core.harvest.named_paths import Bindings, note_roots
from core.harvest.proofs import REPORTED, Proofs, find_missing, marks, tell_missing
from core.harvest.reclaim import SYNC_FAILED, Guard, reclaim, sync_reclaimed
from core.harvest.recovery import Recovered, close_run
from core.harvest.repeats import Grown, Repeats
from core.harvest.report import HarvestReport, add_counts
from core.harvest.steps import HarvestOptions, Step
from core.knowledge.categories import CATEGORIES
from core.knowledge.journal import FrozenPlan, Journal, JournalError, plan_to_json
from core.knowledge.ledger import Entries, Entry, merged_entry, note_reclaimed, restored_paths, write_ledger
from core.knowledge.lines import OwnWrites, noting_tail
from core.knowledge.projects import cited_name

if TYPE_CHECKING:
    from core.harvest.distil import Harvest

_UNREAD = ("unread-conversation", "overpacked-conversation")
"""What will fail again for as long as the content is the same: it is told once."""


@dataclass
class Committer:
    """The state of one applied run. Methods that return a bool: True when the conversation ended as planned, of `stage`
    when its plan is in the journal.

    `trusted` turns false after an fsync error: then nothing more is reclaimed and the run ends.
    """

    paths: Paths
    options: HarvestOptions
    recovered: Recovered
    report: HarvestReport
    now: Callable[[], datetime]
    trusted: bool = True

    def __post_init__(self) -> None:
        self.run, self.limits = self.report.run, self.options.limits
        self.entries: Entries = self.recovered.entries
        self.proofs, self.guard = Proofs(self.paths), Guard(self.paths)
        self._own = OwnWrites()
        self._bindings = Bindings(self.paths)
        self._kept_away = KeptAway(self.paths)
        self._repeats = Repeats(self.paths, self.entries, self.proofs, self.report.notes)
        self._grown = Grown(self.paths, self.entries, self.proofs)
        wanted = sum(step.action == "harvest" for step in self.report.plan.steps)
        begun = {"t": "run", "run": self.run, "at": self.now().isoformat(), "of": wanted}
        self._journal = Journal(self.paths.journal, [begun])
        self._known = {f"files/{name}" for name in self._bindings.records} | _files_with_items(self.entries)
        self.batch = Batch(self.paths)
        self._written: list[Staged] = []
        self._lost = False

    # --- one conversation ---

    def stage(self, step: Step, harvest: Harvest, meter: Meter | None) -> bool:
        """Stage 4, for a conversation that was distilled: freeze its plan and journal it. What follows comes with
        `flush`, for all that were staged; until then a crash costs nothing, for the next run finds the plans."""
        try:
            plan = self._freeze(step, harvest, meter, self.now())
            self._journal.append(_intent(step, plan))
        except JournalError as error:
            return self._distrust(step, error, meter)
        except OSError as error:
            return self._not_written(step, error, meter)
        self.batch.add(Staged(step, harvest, meter, plan, self._kept_away.problems))
        return True

    def sync(self) -> None:
        """Make the plans that are staged durable: no power cut makes anybody pay for their answers again."""
        if self.trusted:
            try:
                self._journal.sync()
            except OSError as error:
                rows = self.batch.take()
                self._written += rows
                for row in rows:
                    row.error = error
                    self._distrust(row.step, error, row.meter)

    def written(self) -> list[Staged]:
        """What `flush` has dealt with since the last call; rows with an `error` stay, and the report says why."""
        rows, self._written = self._written, []
        return rows

    def flush(self) -> None:
        """Stages 5 and 6, for all that were staged: intents that changed, lines, read-back, `done` and `moving`,
        reclaim. Freezing calls it too, where what waits must stand in the files first."""
        rows = self.batch.take()
        if not rows:
            return
        self._written += rows
        try:
            changed = with_new_tails(self.paths, rows)
            self._journal.append(*[_intent(row.step, row.plan) for row in changed])
            self._journal.sync()
            wrong, last = write_together(
                self.paths,
                [(row.step.sha256, row.plan) for row in rows],
                known=lambda name: name in self._known,
                on_applied=lambda applied: self._journal.append(*self._applied_records(applied)),
                editor_wait=self.options.editor_wait,
                own=self._own,
            )
            for row in rows:
                row.error = wrong.get(row.step.sha256)
            proven = [row for row in rows if row.error is None]
            done = [{"t": "done", "sha": row.step.sha256} for row in proven]
            moving = [_moving(row.step) for row in proven if self._may_go(row)]
            self._journal.append(*self._applied_records(last), *done, *moving, durable=True)
        except (files.SyncError, JournalError) as error:
            for row in rows:
                row.error = error
                self._distrust(row.step, error, row.meter)
            return
        for row in rows:
            if row.error is not None:
                self._not_written(row.step, row.error, row.meter)
            else:
                self._proven(row)

    def _proven(self, row: Staged) -> None:
        """The gate is passed: from here on the conversation may go."""
        step, plan = row.step, row.plan
        self.proofs.add(step.sha256, plan)
        self._bindings.add(plan.notes)
        self.entries[step.sha256] = merged_entry(self.entries.get(step.sha256), plan.entry)
        self._count(row.harvest, plan)
        self.report.errors += row.problems
        if self.trusted and self._may_go(row):
            self._reclaim(step)
        else:
            self.report.kept += 1

    def _may_go(self, row: Staged) -> bool:
        return may_reclaim(row.plan.entry, self.limits, row.step.artifact)

    def notice_missing(self, also: Iterable[str]) -> None:
        """Before any step: have lines of earlier harvests vanished? `also` are hashes that the run will meet."""
        try:
            before = marks(self.entries)
            found = find_missing(self.paths, self.entries, self.proofs, self.now(), self.options.trash_days, also)
            if sentence := tell_missing(found, self.entries, self.run):
                self.report.notes.append(sentence)
            if marks(self.entries) != before:
                write_ledger(self.paths, self.entries)
        except OSError as error:
            what = "the check of earlier harvests for missing lines could not be finished"
            self._add_error("missing-unknown", f"{what}: {error.strerror}; the next run looks again", error)

    def _freeze(self, step: Step, harvest: Harvest, meter: Meter | None, at: datetime) -> FrozenPlan:
        """The lines, in the order that freeze.py tells, the ledger entry, and what the fact index will be told."""
        plan = self._beside_earlier(step, self._lines_of(step, harvest, at), harvest)
        entry = self.entry_for(step, "harvested", at)
        entry |= {"items": plan.items, "provider": self.limits.provider, "run": self.run, **plan.entry, **harvest.entry}
        if meter is not None:
            entry |= self._spent(meter)
        noted = [str(row.get("path", "")) for row in plan.notes.values()]
        checked = self.limits.provider != "offline" and self.options.distil.quotes != "off"
        facts = plan_facts(harvest.items, harvest.folder, noted, quotes_checked=checked)
        plan = self._kept_away.without(self._repeats.settled(replace(plan, entry=entry, facts=facts)))
        return replace(plan, files=tuple(noting_tail(self.paths.knowledge, planned) for planned in plan.files))

    def _lines_of(self, step: Step, harvest: Harvest, at: datetime) -> FrozenPlan:
        """The items as lines of files; notes are bound to their source files."""
        today = at.astimezone(UTC).date().isoformat()
        date = min(harvest.date or today, today)  # a clock that went wrong must not keep a line the newest for years
        roots = note_roots(harvest.folder, self.options.file_roots)
        if any(item.category == "files" for item in harvest.items):
            self._bindings.refresh()
        name, records = self._masked(step.artifact.name), self._bindings.records
        plan = freeze(harvest.items, name, date, roots, self.paths, records, before_rename=self.flush)
        self._bindings.stage(plan.notes)
        return plan

    def _beside_earlier(self, step: Step, plan: FrozenPlan, harvest: Harvest) -> FrozenPlan:
        """The plan beside an earlier harvest: of the same content the lines that stand stay as they are, of the
        conversation before it grew the plan takes over what still stands; what the user removed stays away."""
        old = self.entries.get(step.sha256, {})
        again = bool(old.get("items"))
        if not old and step.earlier is None:
            return plan
        called = str(old.get("name", "")) or Path(str(old.get("path", ""))).name
        names = (self._masked(step.artifact.name), self._masked(called))
        if self.batch.has_lines_of(*names):
            self.flush()
        if old:
            plan = without_moved(self.paths, plan)
        if again:
            plan = with_old_dates(self.paths, plan, names)
        return plan if step.earlier is None else self._grown.onto(plan, step.earlier.sha256, harvest)

    def _masked(self, name: str) -> str:
        """A conversation's name as provenances have it."""
        return cited_name(name) if self.options.distil.redact else name

    def _applied_records(self, rows: Sequence[Applied]) -> list[Record]:
        """A record a file: which lines were new in it. From now on the file is known."""
        self._known.update(row.name for row in rows)
        return [{"t": "applied", "sha": row.sha256, "file": row.name, "added": row.added} for row in rows]

    def _count(self, harvest: Harvest, plan: FrozenPlan) -> None:
        self.report.harvested += 1
        self.report.empty += not harvest.items
        self.report.held += bool(harvest.items) and all(item.held for item in harvest.items)
        self.report.quarantined += plan.entry.get("quarantined", 0)
        add_counts(self.report.held_by, plan.entry.get("held_by", {}))
        self.report.notes_as_facts += plan.entry.get("notes_as_facts", 0)
        self.report.notes_outside += plan.entry.get("notes_outside", 0)
        add_counts(self.report.items, plan.items)
        add_counts(self.report.skipped, harvest.skipped)
        add_counts(self.report.redacted, harvest.redacted)

    def take_away(self, steps: Sequence[Step]) -> set[Step]:
        """Stage 6, for content that was harvested before, where that is proven and its lines have not vanished; which
        steps did it. The moves of all are journaled in one write, with one sync, before the first of them; whether the
        lines stand is asked once more before each, for an editor may have saved an older text while others went."""
        going = [step for step in steps if self._still_stands(step) and not self._must_stay(step)]
        return self._move(going, may_go=self._still_stands)

    def _still_stands(self, step: Step) -> bool:
        plan = self.proofs.plan(step.sha256, self.entries.get(step.sha256))
        if plan is not None and not self.proofs.has_vanished(plan):
            return True
        if plan is None or self.entries[step.sha256].get(REPORTED, self.run) != self.run:  # an earlier run has said it
            self.report.kept += 1
            return False
        message = "every line of its harvest has vanished from the files; the conversation stays"
        hint = "'knowledge review --kind vanished' shows them, puts them back, or lets them go"
        self.report.errors.append(ErrorInfo("harvest-vanished", message, step.artifact.path, hint))
        return False

    def discard(self, step: Step) -> bool:
        """`--no-harvest`: record it, then move it away; the sync before the move is that of both."""
        if self._must_stay(step):
            return False
        if not self.proofs.is_proven(step.sha256, self.entries.get(step.sha256)):
            self.record(step.sha256, self.entry_for(step, "deleted-unharvested", self.now()) | {"run": self.run})
        return bool(self._move([step]))

    def _must_stay(self, step: Step) -> bool:
        """Whether the user, or the host application's index files as they are now, keep a conversation in place."""
        objection = self.guard.objection(step.artifact)
        if not objection and step.artifact.path in restored_paths(self.entries.get(step.sha256, {})):
            objection = RESTORED
        self.report.kept += bool(objection)
        if objection and (note := f"stays for now: {step.artifact.name} ({objection})") not in self.report.notes:
            self.report.notes.append(note)
        return bool(objection)

    def _move(self, steps: Sequence[Step], may_go: Callable[[Step], bool] = lambda _: True) -> set[Step]:
        """Those of the steps that are done: nothing leaves its place before the journal says durably what will."""
        if steps and self.trusted:
            self.append(*map(_moving, steps), durable=True)
        return {step for step in steps if self.trusted and may_go(step) and self._reclaim(step)}

    def _reclaim(self, step: Step) -> bool:
        """The move itself, asked about once more: hours may have passed since the plan."""
        if self._must_stay(step):
            return False
        moved = attempt(reclaim, self.paths, step.artifact.path, step.sha256, self.options.trash_days, self.now())
        if isinstance(moved, KnowledgeError):
            self.trusted = moved.error.code != SYNC_FAILED
            self.report.errors.append(moved.error)
            return False
        value = moved.value
        row = {"t": "reclaimed", "sha": step.sha256, "path": value.path, "trash": value.trash, "until": value.until}
        self.append(row)
        note_reclaimed(self.entries[step.sha256], row)
        self.report.reclaimed += 1
        self.report.reclaimed_bytes += value.size
        self.report.trashed += bool(value.trash)
        self.report.trashed_bytes += value.size if value.trash else 0
        self.report.trash_until = max(self.report.trash_until, value.until)
        return True

    def too_large(self, step: Step) -> None:
        old = self.entries.get(step.sha256, {})
        if (old.get("status"), old.get("path")) != ("too-large", step.artifact.path):
            self.record(step.sha256, self.entry_for(step, "too-large", self.now()) | {"run": self.run})
        self.report.too_large += 1

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
                entry |= self._spent(meter)
            self.record(step.sha256 or f"path:{step.artifact.path}", entry)
        return False

    def _spent(self, meter: Meter) -> Entry:
        """Whom the conversation was sent to, how often, and what that cost."""
        spent: Entry = {"model": meter.model or self.options.model_name, "calls": meter.requests}
        if meter.input_tokens is not None or meter.output_tokens is not None:
            spent |= {"input_tokens": meter.input_tokens or 0, "output_tokens": meter.output_tokens or 0}
        return spent

    # --- journal and end ---

    def entry_for(self, step: Step, status: str, at: datetime) -> Entry:
        item = step.artifact
        entry: Entry = {"path": item.path, "status": status, "at": at.isoformat(), "deleted": False}
        return entry | {"source": item.source, "name": item.name} if item.is_foreign else entry

    def record(self, key: str, entry: Entry, durable: bool = False) -> None:
        """A ledger entry that is not a harvest: into the journal now, into the ledger at the end of the run."""
        self.entries[key] = merged_entry(self.entries.get(key), entry)
        self.append({"t": "entry", "sha": key, "entry": entry}, durable=durable)

    def append(self, *records: Record, durable: bool = False) -> None:
        """Records for the journal, in one write. When that fails, nothing more is taken away and the run ends."""
        try:
            self._journal.append(*records, durable=durable)
        except OSError as error:
            self._lost = True
            if self.trusted:
                message = f"the journal cannot be written: {error.strerror}"
                self.report.errors.append(ErrorInfo("journal-failed", message, str(self.paths.journal)))
            self.trusted = False

    def _not_written(self, step: Step, error: OSError, meter: Meter | None) -> bool:
        name = f"{error.filename}: " if error.filename else ""
        message = f"the knowledge cannot be written: {name}{error.strerror or error}"
        return self.fail(step, ErrorInfo("harvest-failed", message, hint="mend the file and run again"), meter)

    def _distrust(self, step: Step, error: OSError, meter: Meter | None) -> bool:
        self.trusted = False
        message = f"the disk did not confirm a write ({error.strerror}); the run stops and reclaims nothing more"
        return self.fail(step, ErrorInfo(SYNC_FAILED, message, hint="check the disk, then run again"), meter)

    def finish(self) -> None:
        """Stage 7: make the moves durable, then `close_run`."""
        self._journal.close()
        try:
            sync_reclaimed(self.paths)
            when = self.now().isoformat()
            self.report.errors += close_run(self.paths, self.run, self.entries, when, lost=self._lost)
        except OSError as error:
            what = "the end of the run could not be written"
            self._add_error("close-failed", f"{what}: {error.strerror}; the next run finishes it", error)

    def _add_error(self, code: str, message: str, error: OSError) -> None:
        self.report.errors.append(ErrorInfo(code, message, str(error.filename or self.paths.ledger)))


def _intent(step: Step, plan: FrozenPlan) -> Record:
    return {"t": "intent", "sha": step.sha256, "path": step.artifact.path, "plan": plan_to_json(plan)}


def _moving(step: Step) -> Record:
    return {"t": "moving", "sha": step.sha256, "path": step.artifact.path}


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
