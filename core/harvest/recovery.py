"""What happens before a run: whatever the last one left unfinished is brought to its end.

After storage.md, "Recovery at the next start": read the journal up to the first bad checksum, replay every intent
without a DONE from its frozen plan (the model is not asked again), then close that run as if it had ended by itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from core.base import files
from core.base.paths import Paths
from core.base.result import Err, ErrorInfo
from core.harvest.merge import apply_plan
from core.knowledge.changes import Change, append_changes
from core.knowledge.file_notes import read_records, write_records
from core.knowledge.journal import (
    Journal,
    Pending,
    Record,
    archive,
    decode,
    encode,
    gather,
    read_journal,
)
from core.knowledge.ledger import Entries, note_reclaimed, read_ledger, set_aside_and_rebuild, write_ledger
from core.knowledge.leftovers import clear_leftovers
from core.knowledge.lines import Patience


@dataclass
class Recovered:
    """The state of the store before a run. `unfinished` holds plans that still cannot be written, by sha256."""

    entries: Entries
    unfinished: dict[str, Pending] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    errors: list[ErrorInfo] = field(default_factory=list)


def recover(paths: Paths, now: datetime, patience: Patience) -> Recovered:
    """Finish the last run. Call it under the run lock. Raises OSError when the store itself cannot be written."""
    state = Recovered({})
    for folder in (paths.knowledge, paths.file_notes, paths.state):
        for aside in clear_leftovers(folder):
            state.notes.append(f"an interrupted save left {aside}: compare it with the file beside it")
    ledger = read_ledger(paths)
    if isinstance(ledger, Err):
        state.entries, aside = set_aside_and_rebuild(paths, now)
        state.notes.append(f"the ledger was damaged; it was set aside as {aside.name} and rebuilt from the plans")
        write_ledger(paths, state.entries)
    else:
        state.entries = ledger.value
    data = files.read_or_empty(paths.journal)
    if data:
        _replay(paths, data, state, now, patience)
    return state


def _replay(paths: Paths, data: bytes, state: Recovered, now: datetime, patience: Patience) -> None:
    records = list(decode(data))
    trusted = b"".join(map(encode, records))
    if trusted != data:
        files.write_atomic(paths.journal, trusted)
    run = free_run(paths, run_of(records) or f"{now:%Y%m%dT%H%M%S}-recovered", records)
    journal = Journal(paths.journal)
    replayed = 0
    try:
        for pending in gather(records).values():
            if pending.plan is None or pending.done:
                continue
            if _apply(paths, pending, journal, run, state, patience):
                replayed += 1
    finally:
        journal.close()
    if replayed:
        state.notes.append(f"finished {replayed} harvest{'s' * (replayed != 1)} that the last run left in the middle")
    close_run(paths, run, state.entries, f"{now.isoformat()}")


def _apply(paths: Paths, pending: Pending, journal: Journal, run: str, state: Recovered, patience: Patience) -> bool:
    assert pending.plan is not None
    try:
        apply_plan(
            paths,
            pending.plan,
            known=lambda name: (paths.knowledge / name).exists(),
            on_applied=lambda row: journal.append(
                {"t": "applied", "sha": pending.sha256, "file": row.name, "added": row.added}
            ),
            skip=frozenset(pending.applied),
            recovering=True,
            patience=patience,
        )
        entry = {**pending.plan.entry, "run": run}
        journal.append({"t": "done", "sha": pending.sha256, "entry": entry}, durable=True)
    except files.SyncError:
        raise
    except OSError as error:
        message = f"a planned harvest still cannot be written: {error.strerror or error}"
        state.errors.append(ErrorInfo("harvest-failed", message, pending.path, "mend the file and run again"))
        state.unfinished[pending.sha256] = pending
        return False
    return True


def run_of(records: list[Record]) -> str:
    """The id of the last run that a journal tells of."""
    return next((str(row["run"]) for row in reversed(records) if row.get("t") == "run" and row.get("run")), "")


def free_run(paths: Paths, run: str, records: list[Record]) -> str:
    """The run's own id, or one beside it when its archive exists and does not already hold all of this."""
    told = {sha for sha, state in gather(records).items() if state.entry is not None or state.plan is not None}
    name, number = run, 1
    while (archived := read_journal(paths.plans / f"{name}.jsonl")) and not told <= set(gather(archived)):
        number += 1
        name = f"{run}-{number}"
    return name


def close_run(paths: Paths, run: str, entries: Entries, when: str) -> None:
    """The end of a run: changes, file ids, ledger, archive, and only then the journal. Raises OSError.

    Safe to repeat from any point. Entries are taken from the journal; an intent without DONE stays in it.
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
            note_reclaimed(entries.setdefault(sha, {}), moved)
    _notice_unrecorded_moves(paths, states, entries)
    append_changes(paths, _changes(finished, run, when))
    if notes:
        write_records(paths, {**read_records(paths), **notes})
    if any(state.entry is not None or state.reclaimed for state in states.values()) or not paths.ledger.exists():
        write_ledger(paths, entries)
    worth_keeping = [row for row in finished if row.get("t") != "run"]
    archive(paths.journal, paths.plans, run, finished if worth_keeping else [], unfinished)


def merged_entry(old: dict[str, Any] | None, new: dict[str, Any]) -> dict[str, Any]:
    """A failure does not erase the proof of an earlier harvest of the same content, nor where copies of it lie."""
    if old is not None and old.get("status") == "harvested" and new.get("status") in ("harvest-failed", "too-large"):
        return {**old, "error": new.get("error", new["status"])}
    kept = {key: value for key, value in (old or {}).items() if key in ("trash", "trashed_until")}
    return kept | new


def _changes(records: list[Record], run: str, when: str) -> list[Change]:
    return [
        Change(when, run, str(row["file"]), added=tuple(map(str, row.get("added", ()))), sha=str(row["sha"]))
        for row in records
        if row.get("t") == "applied" and row.get("file")
    ]


def _notice_unrecorded_moves(paths: Paths, states: dict[str, Pending], entries: Entries) -> None:
    """A crash between the rename and its record: the conversation is gone from its place and lies in the trash."""
    for sha, pending in states.items():
        entry = entries.get(sha)
        if entry is None or entry.get("deleted") or not pending.path or pending.reclaimed:
            continue
        held = paths.trash / sha
        if held.exists() and not files.exists(pending.path) and sha not in entry.get("trash", {}):
            until = str(entry.get("trashed_until", ""))
            note_reclaimed(entry, {"trash": sha, "path": pending.path, "until": until})
