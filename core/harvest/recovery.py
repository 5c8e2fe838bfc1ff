"""What happens before a run: whatever the last one left unfinished is brought to its end.

After storage.md, "Recovery at the next start": read the journal up to the first bad checksum, replay every intent
without a DONE from its frozen plan (the model is not asked again), then close that run as if it had ended by itself.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import zip_longest

from core.base import files
from core.base.paths import Paths
from core.base.result import ErrorInfo, Ok
from core.harvest.bindings import tell_bindings
from core.harvest.merge import Applied, apply_plan
from core.harvest.proofs import SHELF
from core.harvest.reclaim import finish_removals, sync_reclaimed
from core.harvest.trashed import origin, sha_in_trash
from core.knowledge.changes import Change, append_changes, read_changes
from core.knowledge.journal import (
    FrozenPlan,
    Journal,
    JournalError,
    Pending,
    Record,
    archive,
    decode,
    encode,
    gather,
    read_journal,
)
from core.knowledge.ledger import (
    Entries,
    merged_entry,
    note_reclaimed,
    read_ledger,
    rebuild_with,
    set_aside,
    write_ledger,
)
from core.knowledge.leftovers import clear_leftovers, folders_below
from core.knowledge.lines import PlannedFile, missing_lines
from core.knowledge.patience import Patience
from core.knowledge.promises import settle_promises

_MOVES = ("moving", "reclaimed")


@dataclass
class Recovered:
    """The state of the store before a run. `unfinished` holds plans that still cannot be written, by sha256."""

    entries: Entries
    unfinished: dict[str, Pending] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    errors: list[ErrorInfo] = field(default_factory=list)


def recover(paths: Paths, now: datetime, patience: Patience) -> Recovered:
    """Finish the last run. Call it under the run lock. Raises OSError when the store itself cannot be used."""
    state = Recovered({})
    for folder in folders_below(paths.knowledge):
        for aside in clear_leftovers(folder):
            state.notes.append(f"an interrupted save left {aside}: compare it with the file beside it")
    settle_promises(paths)
    state.errors += finish_removals(paths)
    ledger = read_ledger(paths)
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
        _replay(paths, files.read_or_empty(paths.journal), state, now, patience)
    return state


def _replay(paths: Paths, data: bytes, state: Recovered, now: datetime, patience: Patience) -> None:
    records = list(decode(data))
    trusted = b"".join(map(encode, records))
    behind = [record for line in data.split(b"\n")[len(records) + 1 :] for record in decode(line)]
    if behind:
        aside = paths.journal.with_name(f"{paths.journal.name}.damaged-{now:%Y%m%dT%H%M%S%f}")
        files.write_atomic(aside, data, 0o600)
        what = f"{len(behind)} record{'s' * (len(behind) != 1)} behind the damage"
        state.notes.append(f"the journal was damaged in the middle; it was kept as {aside.name}, with {what}")
    if trusted != data:
        files.write_atomic(paths.journal, trusted)
    run = run_of(records) or f"{now:%Y%m%dT%H%M%S%f}-recovered"
    told = {(change.file, line) for change in read_changes(paths) for line in change.added}
    journal = Journal(paths.journal)
    replayed = 0
    try:
        for pending in gather(records).values():
            if pending.plan is None or pending.done:
                continue
            if _apply(paths, pending, journal, run, state, patience, told):
                replayed += 1
    finally:
        journal.close()
    if replayed:
        state.notes.append(f"finished {replayed} harvest{'s' * (replayed != 1)} that the last run left in the middle")
    sync_reclaimed(paths)
    close_run(paths, run, state.entries, f"{now.isoformat()}", behind)


def _apply(
    paths: Paths,
    pending: Pending,
    journal: Journal,
    run: str,
    state: Recovered,
    patience: Patience,
    told: set[tuple[str, str]],
) -> bool:
    assert pending.plan is not None
    try:
        apply_plan(
            paths,
            _without_moved(paths, pending.plan),
            known=lambda name: (paths.knowledge / name).exists(),
            on_applied=_tell(journal, pending, told),
            skip=frozenset(pending.applied),
            recovering=True,
            patience=patience,
        )
        entry = {**pending.plan.entry, "run": run}
        journal.append({"t": "done", "sha": pending.sha256, "entry": entry}, durable=True)
    except (files.SyncError, JournalError):
        raise
    except OSError as error:
        message = f"a planned harvest still cannot be written: {error.strerror or error}"
        state.errors.append(ErrorInfo("harvest-failed", message, pending.path, "mend the file and run again"))
        state.unfinished[pending.sha256] = pending
        return False
    return True


def _without_moved(paths: Paths, plan: FrozenPlan) -> FrozenPlan:
    """The plan without what stands in another file by now: lines that were written before the crash, and that the
    person has moved since."""
    shelf = {name: files.read_or_empty(paths.knowledge / name) for name in SHELF}

    def here(row: PlannedFile, lines: Sequence[str]) -> tuple[str, ...]:
        others = [data for name, data in shelf.items() if name != row.name]
        return tuple(line for line in lines if all(missing_lines(data, [line]) for data in others))

    rows = [replace(row, lines=here(row, row.lines), done=here(row, row.done)) for row in plan.files]
    return replace(plan, files=tuple(row for row in rows if row.all_lines))


def _tell(journal: Journal, pending: Pending, told: set[tuple[str, str]]) -> Callable[[Applied], None]:
    """Journals a file of a plan. Lines that were written before the crash count as added, though they were found there:
    unless changes.jsonl tells of them (`told`), nobody else knows whose they are."""
    planned = {row.name: row.all_lines for row in pending.plan.files} if pending.plan is not None else {}

    def applied(row: Applied) -> None:
        added = [line for line in planned[row.name] if line in row.added or (row.name, line) not in told]
        journal.append({"t": "applied", "sha": pending.sha256, "file": row.name, "added": added})

    return applied


def run_of(records: list[Record]) -> str:
    """The id of the last run that a journal tells of."""
    return next((str(row["run"]) for row in reversed(records) if row.get("t") == "run" and row.get("run")), "")


def close_run(paths: Paths, run: str, entries: Entries, when: str, behind: Sequence[Record] | None = None) -> None:
    """The end of a run: changes, file ids, ledger, archive, and only then the journal. Raises OSError.

    Safe to repeat from any point. Entries are taken from the journal; an intent without DONE stays in it. `behind` is
    given after a crash: whole records that stand behind a damaged one, which are trusted for nothing but for where
    a conversation was that lies in the trash.
    """
    records = read_journal(paths.journal)
    states = gather(records)
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
        for moved in pending.reclaimed:
            if sha in entries:
                note_reclaimed(entries[sha], moved)
    _notice_unrecorded_moves(paths, states, entries)
    append_changes(paths, _changes(finished, run, when))
    if notes:
        tell_bindings(paths, notes)
    told = any(state.entry is not None or state.moving for state in states.values())
    if behind is not None:
        told = _notice_strays(paths, behind, entries, when) or told
    if told or not paths.ledger.exists():
        write_ledger(paths, entries)
    worth_keeping = [row for row in finished if row.get("t") != "run"]
    archive(paths.journal, paths.plans, run, finished if worth_keeping else [], unfinished)


def _changes(records: list[Record], run: str, when: str) -> list[Change]:
    return [
        Change(when, run, str(row["file"]), added=tuple(map(str, row.get("added", ()))), sha=str(row["sha"]))
        for row in records
        if row.get("t") == "applied" and row.get("file")
    ]


def _notice_unrecorded_moves(paths: Paths, states: dict[str, Pending], entries: Entries) -> None:
    """A crash between the rename and its record: the conversation is gone from its place and lies in the trash.

    Without a date in the ledger the trash keeps it for the whole grace period from the moment of the rename.
    """
    for sha, pending in states.items():
        recorded = {row.get("path") for row in pending.reclaimed}
        lost = [path for path in dict.fromkeys(pending.moving) if path not in recorded and not files.exists(path)]
        if not lost or sha not in entries:
            continue
        known = {*entries[sha].get("trash", {}), *(row.get("trash") for row in pending.reclaimed)}
        held = [path.name for path in sorted(paths.trash.glob(f"{sha}*")) if path.name not in known]
        for path, name in zip_longest(lost, held[: len(lost)], fillvalue=""):
            note_reclaimed(entries[sha], {"trash": name, "path": path, "until": ""})


def _notice_strays(paths: Paths, behind: Sequence[Record], entries: Entries, when: str) -> bool:
    """A crash may also take the record of a move itself: what lies in the trash, and whose place nobody has written
    down, was where its entry or a record behind the damage says, if nothing is there now. Whether any was found."""
    found = False
    for held in sorted(paths.trash.iterdir()) if paths.trash.is_dir() else ():
        sha = sha_in_trash(held.name)
        entry = entries.get(sha, {})
        if not sha or origin(entry, held.name):
            continue
        told = [str(row.get("path", "")) for row in behind if row.get("sha") == sha and row.get("t") in _MOVES]
        taken = entry.get("trash", {}).values()
        places = [path for path in (*told, str(entry.get("path", ""))) if path and path not in taken]
        place = next((path for path in places if not files.exists(path)), "")
        if place:
            lost = {"path": place, "status": "harvest-failed", "at": when, "error": "its journal was damaged"}
            note_reclaimed(entries.setdefault(sha, lost), {"trash": held.name, "path": place, "until": ""})
            found = True
    return found
