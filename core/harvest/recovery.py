"""What happens before a run: whatever the last one left unfinished is brought to its end. And the close of every run
(stage 7), for recovery closes one as well; `with_store` does the same before other commands.

It reads the journal, replays every `intent` without a `done` from its frozen plan (the model is not asked again), then
closes that run as if it had ended by itself. A damaged journal is set aside; each record carries its own checksum, so
those that are whole still count, and a `done` proves what an `intent` has lost.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeVar

from core.base import files, locks
from core.base.checked_lines import Record, decode, decode_line, encode
from core.base.figures import count
from core.base.homes import advice
from core.base.paths import Paths
from core.base.result import ErrorInfo, KnowledgeError, Ok, attempt
from core.harvest.batch import Applied, write_together
from core.harvest.landed import SHELF, Standing, mend_confirmed, tell_confirmed
from core.harvest.named_paths import tell_bindings
from core.harvest.reclaim import finish_removals, sync_reclaimed
from core.knowledge.bullet_text import BulletRef, moved
from core.knowledge.changes import Change, append_changes, read_changes
from core.knowledge.edit import change_file
from core.knowledge.file_notes import finish_moves, note_now
from core.knowledge.hunks import Hunk, bare
from core.knowledge.journal import FrozenPlan, Journal, JournalError, Pending, archive, plan_to_json, states_by_sha
from core.knowledge.ledger import (
    Entries,
    Entry,
    drop_from_trash,
    in_trash,
    merged_entry,
    note_reclaimed,
    note_unrecorded_moves,
    read_ledger,
    rebuild_with,
    set_aside,
    write_ledger,
)
from core.knowledge.lines import PlannedFile, missing_lines
from core.knowledge.log import carry_over, settle
from core.knowledge.reversal import take_out
from core.knowledge.swap import EDITOR_WAIT, EditorWait, clear_leftovers, folders_below
from core.sources.scan import origin, sha_in_trash

UNPROVEN = "unproven"
"""The key of a ledger entry that names the run under which lines of a lost harvest are told (unproven.py)."""
_MOVES = ("moving", "reclaimed")


@dataclass
class Recovered:
    """The state of the store before a run. `unfinished` holds plans that still cannot be written, by sha256. `damaged`
    are the bytes of a journal that was not whole, b"" when they are kept already, None for a whole one; `unproven`
    are the hashes of conversations whose lines stand in the files without a proof (added by unproven.py). `finished` is
    the run that harvests were finished under, "" for none."""

    entries: Entries
    unfinished: dict[str, Pending] = field(default_factory=dict)
    damaged: bytes | None = None
    unproven: set[str] = field(default_factory=set)
    finished: str = ""
    notes: list[str] = field(default_factory=list)
    errors: list[ErrorInfo] = field(default_factory=list)

    def keep_damaged(self, paths: Paths, now: datetime, what: str = "") -> None:
        """Set the bytes of a damaged journal aside, and say so. Raises OSError."""
        if self.damaged:
            aside = paths.journal.with_name(f"{paths.journal.name}.damaged-{now:%Y%m%dT%H%M%S%f}")
            files.write_atomic(aside, self.damaged, 0o600)
            self.damaged = b""
            self.notes.append(f"the journal of the last run was damaged{what}; it was kept as {aside.name}")


def recover(paths: Paths, now: datetime, editor_wait: EditorWait) -> Recovered:
    """Finish the last run. Call it under the run lock. Raises OSError when the store itself cannot be used."""
    state = Recovered({})
    carry_over(paths, alone=True)
    for folder in folders_below(paths.knowledge):
        for aside in clear_leftovers(folder):
            state.notes.append(f"an interrupted save left {aside}: compare it with the file beside it")
    settle(paths)
    finish_moves(paths)
    state.errors += finish_removals(paths)
    ledger = attempt(read_ledger, paths)
    if isinstance(ledger, Ok):
        state.entries = ledger.value
        if state.entries and not files.exists(paths.ledger):
            state.notes.append("the ledger was missing; it was rebuilt from the committed plans")
    elif ledger.error.code == "ledger-corrupt":
        aside = set_aside(paths, now)
        state.entries, kept = rebuild_with(paths, files.read_or_empty(aside))
        also = f" and {kept} more entries that could be read in it" if kept else ""
        state.notes.append(f"the ledger was damaged; it was set aside as {aside.name} and rebuilt from the plans{also}")
        write_ledger(paths, state.entries)
    else:
        raise OSError(errno.EIO, f"{ledger.error.message}; {ledger.error.hint}", str(paths.ledger))
    if files.exists(paths.journal):
        _replay(paths, files.read_or_empty(paths.journal), state, now, editor_wait)
    state.notes += filter(None, [mend_confirmed(paths)])
    return state


def _replay(paths: Paths, data: bytes, state: Recovered, now: datetime, editor_wait: EditorWait) -> None:
    lines = data.split(b"\n")
    read = [decode_line(line) for line in lines]
    bad = [number for number, record in enumerate(read, start=1) if record is None and lines[number - 1]]
    readable = [record for record in read if record is not None]
    behind = [record for record in read[bad[0] :] if record is not None] if bad else []
    if bad:
        state.damaged = data
    if bad and (behind or bad != [len(lines)]):  # a last line without its break may be a write that a crash tore
        what = f"{count(len(behind), 'record')} behind the damage"
        state.keep_damaged(paths, now, f" in line {bad[0]} of {len(lines) - (not lines[-1])}, with {what}")
    records = _made_whole(paths, readable, state.entries) if bad else readable
    if not records:
        state.notes.append("the last harvest could write nothing, perhaps the disk is full; it starts again")
    if b"".join(map(encode, records)) != data:
        files.write_atomic(paths.journal, b"".join(map(encode, records)))
    run = run_of(records) or f"{now:%Y%m%dT%H%M%S%f}-recovered"
    reported = {(change.file, line) for change in read_changes(paths) for line in change.added}
    journal = Journal(paths.journal)
    try:
        journal.resume()
        waiting = [row for row in states_by_sha(records).values() if row.plan is not None and not row.done]
        replayed = _write_unfinished(paths, waiting, journal, run, state, editor_wait, reported)
    finally:
        journal.close()
    if replayed:
        state.finished = run
        what = f"finished {count(replayed, 'harvest')} that the last run left in the middle"
        state.notes.append(f"{what}; 'knowledge undo {run}' takes back what it wrote")
    sync_reclaimed(paths)
    state.errors += close_run(paths, run, state.entries, now.isoformat(), behind)


def _made_whole(paths: Paths, records: list[Record], entries: Entries) -> list[Record]:
    """The whole records of a damaged journal, with what can be told of the lost ones: a harvest that says DONE was
    written and read back, so its other records prove it. What is neither is for unproven.py."""
    states = states_by_sha(records)
    reported = {(change.file, line) for change in read_changes(paths) for line in change.added}
    run, found = run_of(records), list[Record]()
    if not run:
        known = (state.entry for state in states.values() if state.entry)
        run = next((str(entry["run"]) for entry in known if entry.get("run")), "")
        found += [{"t": "run", "run": run}] if run else []
    without_plan = {sha for sha, state in states.items() if state.plan is None}
    for record in records:
        sha, kind = str(record.get("sha")), record.get("t")
        state = states.get(sha)
        if state is not None and kind in ("applied", "done"):
            if sha in without_plan:
                without_plan.discard(sha)
                found += _lost_intent(state, records, run, entries.get(sha))
            lost = state.plan.files if state.plan is not None and kind == "done" else ()
            found += [
                _applied(paths, sha, planned.name, planned.all_lines, reported)
                for planned in lost
                if planned.name not in state.applied
            ]
        found.append(record)
    return found


def _lost_intent(pending: Pending, records: list[Record], run: str, entry: Entry | None) -> list[Record]:
    """What stands for an intent that is lost, before the first record that came after it."""
    applied = [row for row in records if row.get("sha") == pending.sha256 and row.get("t") == "applied"]
    if pending.done and pending.entry is not None:  # it was proven: the plan is what was written of it
        lines = {str(row.get("file", "")): tuple(map(str, row.get("added", ()))) for row in applied}
        planned = tuple(PlannedFile(name, "", rows) for name, rows in lines.items())
        plan = FrozenPlan(planned, dict(pending.entry.get("items", {})), entry=dict(pending.entry))
        path = str(pending.entry.get("path", ""))
        return [{"t": "intent", "sha": pending.sha256, "path": path, "plan": plan_to_json(plan)}]
    if not applied:
        return []
    # Only a part is known: its lines are told under its run, and it is not asked for again while they stand.
    path = next((path for path in (*pending.moving, str((entry or {}).get("path", "")))), "")
    error = "its journal was damaged, and nobody knows whether all of it was written"
    told = {"path": path, "status": "harvest-failed", "at": "", "deleted": False, "error": error}
    return [{"t": "entry", "sha": pending.sha256, "entry": {**told, "run": run, UNPROVEN: run}}]


def _write_unfinished(
    paths: Paths,
    waiting: Sequence[Pending],
    journal: Journal,
    run: str,
    state: Recovered,
    editor_wait: EditorWait,
    reported: set[tuple[str, str]],
) -> int:
    """Write what stands in the plans, each file once for all of them; how many were finished."""
    plans = {row.sha256: row.plan for row in waiting if row.plan is not None}
    try:
        plans = {row.sha256: _with_notes_as_called_now(paths, plans[row.sha256], row.applied) for row in waiting}
        stores = Standing(paths, many=True)
        wrong, last = write_together(
            paths,
            [(row.sha256, _left_to_write(plans[row.sha256], row.applied, stores)) for row in waiting],
            known=lambda name: (paths.knowledge / name).exists(),
            on_applied=lambda rows: journal.append(*_applied_records(paths, plans, reported, rows)),
            recovering=True,
            editor_wait=editor_wait,
        )
    except (files.SyncError, JournalError):
        raise
    except OSError as error:  # what cannot be read may hold any of the lines: all plans wait
        wrong, last = dict.fromkeys(plans, error), []
    done = [sha for sha in plans if sha not in wrong]
    proven = [{"t": "done", "sha": sha, "entry": {**plans[sha].entry, "run": run}} for sha in done]
    journal.append(*_applied_records(paths, plans, reported, last), *proven, durable=True)
    for row in waiting:
        if row.sha256 in wrong:
            why = wrong[row.sha256]
            message = f"a planned harvest still cannot be written: {why.strerror or why}"
            state.errors.append(ErrorInfo("harvest-failed", message, row.path, "mend the file and run again"))
            state.unfinished[row.sha256] = row
    return len(done)


def _with_notes_as_called_now(paths: Paths, plan: FrozenPlan, applied: Collection[str]) -> FrozenPlan:
    """The plan with the names that its notes have by now: the user may have saved or renamed their source files, and
    another file may have the inode that a note is called after."""

    def now(row: PlannedFile) -> PlannedFile:
        bound = plan.notes.get(row.name.removeprefix("files/"))
        if bound is None or row.name in applied:
            return row
        return replace(row, name=note_now(paths, row.name, row.all_lines, bound))

    return replace(plan, files=tuple(map(now, plan.files)))


def _left_to_write(plan: FrozenPlan, applied: set[str], stores: Standing) -> FrozenPlan:
    """The plan without the files that were proven before the crash, which are left as the user has them now, and
    without what stands in another file by now: lines that were written before it, and that the user has moved since.
    """

    def here(row: PlannedFile, lines: Sequence[str]) -> tuple[str, ...]:
        others = [stores.lines(name) for name in SHELF if name != row.name]
        return tuple(line for line in lines if not any(line in there for there in others))

    rows = [replace(row, lines=here(row, row.lines), done=here(row, row.done)) for row in plan.files]
    return replace(plan, files=tuple(row for row in rows if row.all_lines and row.name not in applied))


def _applied_records(
    paths: Paths, plans: Mapping[str, FrozenPlan], reported: set[tuple[str, str]], rows: Sequence[Applied]
) -> list[Record]:
    """The records of files that were brought up to date. Lines that were written before the crash count as added,
    though they were found there: unless changes.jsonl tells of them (`reported`), nobody else knows whose they are."""
    planned = {(sha, row.name): row.all_lines for sha, plan in plans.items() for row in plan.files}
    return [_applied(paths, row.sha256, row.name, planned[row.sha256, row.name], reported) for row in rows]


def _applied(paths: Paths, sha: str, file: str, lines: Sequence[str], reported: Collection[tuple[str, str]]) -> Record:
    """What a plan has put into a file, of which no record is left: its lines that stand, unless they were told of. One
    that only confirms what another says was never written."""
    absent = set(missing_lines(files.read_or_empty(paths.knowledge / file), lines))
    added = [line for line in lines if line.encode("utf-8") not in absent and (file, line) not in reported]
    return {"t": "applied", "sha": sha, "file": file, "added": list(dict.fromkeys(added))}


def run_of(records: list[Record]) -> str:
    """The id of the last run that a journal tells of."""
    return next((str(row["run"]) for row in reversed(records) if row.get("t") == "run" and row.get("run")), "")


def close_run(
    paths: Paths,
    run: str,
    entries: Entries,
    when: str,
    behind: Sequence[Record] | None = None,
    *,
    lost: bool = False,
) -> list[ErrorInfo]:
    """The end of a run: changes, lines that are outdated, file ids, ledger, and last the archive, out of the journal.
    Returns why outdated lines had to stay, after a crash; before, that is an error too. Raises OSError.

    Safe to repeat from any point. Entries are taken from the journal; an `intent` without `done` stays in it.
    `behind` is given after a crash: whole records that stand behind a damaged one, which are trusted for nothing but
    for where a conversation was that lies in the trash. `lost` says that records could not be written: then `entries`
    know more than the journal, which stays, and is told of, where the ledger cannot be written either.
    """
    data = files.read_or_empty(paths.journal)
    records = list(decode(data))
    states = states_by_sha(records)
    finished: list[Record] = []
    unfinished: list[Record] = []
    for record in records:
        pending = states.get(str(record.get("sha")))
        open_plan = pending is not None and pending.plan is not None and not pending.done
        (unfinished if open_plan and record.get("t") in ("intent", "applied") else finished).append(record)
    notes = {}
    for sha, pending in states.items():
        if pending.entry is not None:
            entries[sha] = merged_entry(entries.get(sha), pending.entry)
        if pending.done and pending.plan is not None:
            entries[sha]["run"] = run
            notes.update(pending.plan.notes)
        for row in pending.reclaimed:
            if sha in entries:
                note_reclaimed(entries[sha], row)
    # A crash between a rename and its record, or a power cut after it.
    cut = {sha: state for sha, state in states.items() if sha in entries and state.unrecorded}
    trash = in_trash(paths) if cut else {}
    for sha, state in cut.items():
        note_unrecorded_moves(state, entries[sha], trash)
    _notice_purged(paths, states, entries, when)
    append_changes(paths, _changes(finished, run, when))
    tell_confirmed(paths, (state.plan for state in states.values() if state.done and state.plan is not None))
    errors = _take_out_outdated(paths, states, run, when)
    if errors and behind is None:  # the next run tries it once more
        raise OSError(errno.EIO, errors[0].message, errors[0].path)
    if notes:
        tell_bindings(paths, notes)
    changed = any(state.entry is not None or state.moving or state.purging for state in states.values())
    if behind is not None:
        changed = _notice_strays(paths, behind, entries, when) or changed
    if changed or lost or not paths.ledger.exists():
        write_ledger(paths, entries)
    worth_keeping = [row for row in finished if row.get("t") not in ("run", "purging")]
    whole = data.endswith(b"\n") and data.count(b"\n") == len(records)
    archive(paths.journal, paths.plans, run, finished if worth_keeping else [], unfinished, whole=whole)
    return errors


def _take_out_outdated(paths: Paths, states: Mapping[str, Pending], run: str, when: str) -> list[ErrorInfo]:
    """Take out what the proven plans say goes: after their own lines stand, and once more after a crash, for a line
    that is gone already costs nothing. A task that is done in the same words moves."""
    goes: dict[str, list[str]] = {}
    done: set[str] = set()
    for pending in states.values():
        if pending.done and pending.plan is not None and pending.plan.goes:
            done.update(line for planned in pending.plan.files for line in planned.done)
            for name, outdated in pending.plan.goes.items():
                goes.setdefault(name, []).extend(outdated)
    errors, now = [], datetime.fromisoformat(when)
    for name, lines in goes.items():
        taken = attempt(take_out, paths, name, [line for line in lines if line not in done], now, run)
        errors += [taken.error] if isinstance(taken, KnowledgeError) else []
        errors += [error for line in lines if line in done and (error := _move_to_done(paths, name, line, now, run))]
    if goes:
        settle(paths)  # no run leaves the next one anything to do
    return errors


def _move_to_done(paths: Paths, file: str, raw: str, now: datetime, run: str) -> ErrorInfo | None:
    def hunks(lines: list[str]) -> list[Hunk]:
        at = next((at for at, line in enumerate(lines, start=1) if bare(line) == raw), 0)
        if not at:
            raise KnowledgeError("unchanged", "the task is gone", file)
        return moved(lines, BulletRef(file, at, raw), "done")

    try:
        made = change_file(paths, file, hunks, now, run=run)
    except KnowledgeError as failed:
        return failed.error if failed.error.code not in ("unchanged", "already-done") else None
    return ErrorInfo("changes-failed", made.warning, str(paths.changes)) if made.warning else None


def _changes(records: list[Record], run: str, when: str) -> list[Change]:
    return [
        Change(when, run, str(row["file"]), added=tuple(map(str, row.get("added", ()))), sha=str(row["sha"]))
        for row in records
        if row.get("t") == "applied" and row.get("file")
    ]


def _notice_purged(paths: Paths, states: dict[str, Pending], entries: Entries, when: str) -> None:
    """What was to go for good, and is gone: the ledger looks for it no more, and says so."""
    for sha, pending in states.items():
        for name in pending.purging:
            trashed = paths.trash / name
            if not name or files.exists(trashed):
                continue
            if sha in entries:
                drop_from_trash(entries[sha], name)
            pruned = {"path": str(trashed), "status": "pruned", "at": when, "deleted": True}
            entries.setdefault(f"path:{trashed}", pruned)


def _notice_strays(paths: Paths, behind: Sequence[Record], entries: Entries, when: str) -> bool:
    """A crash may also take the record of a move itself: what lies in the trash, and whose place nobody has written
    down, was where its entry or a record behind the damage says, if nothing is there now. Whether any was found."""
    found = False
    for trashed in sorted(paths.trash.iterdir()) if paths.trash.is_dir() else ():
        sha = sha_in_trash(trashed.name)
        entry = entries.get(sha, {})
        if not sha or origin(entry, trashed.name):
            continue
        recorded = [str(row.get("path", "")) for row in behind if row.get("sha") == sha and row.get("t") in _MOVES]
        taken = entry.get("trash", {}).values()
        places = [path for path in (*recorded, str(entry.get("path", ""))) if path and path not in taken]
        place = next((path for path in places if not files.exists(path)), "")
        if place:
            lost = {"path": place, "status": "harvest-failed", "at": when, "error": "its journal was damaged"}
            note_reclaimed(entries.setdefault(sha, lost), {"trash": trashed.name, "path": place, "until": ""})
            found = True
    return found


# --- work on the whole store ------------------------------------------------------------------------------------------

T = TypeVar("T")


@contextmanager
def alone_with(paths: Paths, work: str) -> Iterator[None]:
    """Within it nobody else changes the store. Raises KnowledgeError when another command holds the lock, or the disk
    refuses."""
    try:
        with locks.only_one(paths.lock, work=work):
            yield
    except OSError as error:
        message = f"the knowledge folder cannot be used: {error.strerror or error}"
        raise KnowledgeError("store-failed", message, error.filename or "", advice(error)) from error


def with_store(
    paths: Paths,
    name: str,
    now: datetime,
    work: Callable[[Recovered], T],
    editor_wait: EditorWait = EDITOR_WAIT,
) -> T:
    """Run `work` of the command `name` on the whole store, as `alone_with` has it."""
    with alone_with(paths, name):
        recovered = recover(paths, now, editor_wait)
        files.sync_folder(paths.state)  # no power cut may bring a journal back that ended before this work
        return work(recovered)
