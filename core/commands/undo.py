"""A single edit taken back: one of the home, or one of the project around the current folder.

A project tells the edits of its memories in its own changes.jsonl. It has no harvests, so nothing but the next edit or
undo there looks at what a crash cut off.

`knowledge undo RUN`: a harvest run or one edit taken back.

The order is safe to be cut anywhere, and to be run again: conversations come back first, then the ledger and the
archived plan forget the harvest (so that the next one really reads the conversation again), and only then its lines
leave the files. A line that the person has changed since stays, and so does one that a later harvest rests on.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from difflib import SequenceMatcher
from functools import partial
from importlib import import_module
from pathlib import Path, PurePath
from typing import Any

from core.base import files, locks
from core.base.paths import Paths, project_paths
from core.base.result import Err, ErrorInfo, Ok, Result, fail
from core.base.trust import allow_written
from core.commands.exclusive import with_store
from core.commands.project import find_project, may_read
from core.commands.runs import UNDO_RUN, newest_runs
from core.commands.statements import refresh_digest
from core.commands.workspace import Workspace, utc_now
from core.harvest.reclaim import restore
from core.harvest.recovery import Recovered
from core.knowledge.changes import Change, append_changes, read_changes
from core.knowledge.edit import EDIT_RUN, change_file, new_edit_run
from core.knowledge.file_notes import note_now
from core.knowledge.hunks import Hunk, inverse, join, made, reversed_edit, section_at, split
from core.knowledge.journal import Pending, encode, gather, read_journal
from core.knowledge.ledger import Entries, Entry, keep_in_place, note_restored, write_ledger
from core.knowledge.lines import require_lines
from core.knowledge.log import settle, take_away
from core.knowledge.reversal import CHANGED, GONE, MISSED, REVERSED, take_back, take_out
from core.knowledge.swap import DEFAULT_PATIENCE, Patience
from core.sources.scan import holds


@dataclass
class UndoReport:
    """What an undo did: conversations back in their place, harvests forgotten, lines taken out of the files and brought
    back into them, the lines that `stayed` because they were changed since or are needed by another harvest, and those
    that were `gone` before. `stayed_why` has the reason for each line that stayed. `already`: an earlier undo took it
    all back, and there was nothing left to do. `edits` tells of an edit, file by file, which lines went out and came
    back, and which stayed.
    """

    run: str
    restored: list[str] = field(default_factory=list)
    forgotten: int = 0
    lines_out: int = 0
    lines_back: int = 0
    stayed: list[str] = field(default_factory=list)
    stayed_why: dict[str, str] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)
    already: bool = False
    edits: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    errors: list[ErrorInfo] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """The document of `knowledge undo --json`."""
        failed = [{"path": error.path, "error": error.message, "code": error.code} for error in self.errors]
        return {**{key: value for key, value in vars(self).items() if key != "errors"}, "failed": failed}


def undo_in_project(workspace: Workspace, run: str, now: datetime) -> Result[UndoReport] | None:
    """Take back an edit of the project around the current folder, which tells its edits in its own changes.jsonl; None
    when it knows of no such run. A project has no harvests, no digest and no facts of the index to look after."""
    project = find_project(workspace)
    if isinstance(project, Err) or project.value is None:
        return None
    paths, readable = project_paths(project.value), may_read(workspace, project.value)
    try:
        if readable(paths.log) and readable(paths.edits):
            settle(paths)  # an edit that a crash cut off before it was told
        if not readable(paths.changes):
            return None
        changes = read_changes(paths)
        mine = [row for row in changes if row.run == run and _is_inside(row.file)]
        if not mine:
            return None
        report = UndoReport(run)
        undone = [row for row in changes if row.run == UNDO_RUN + run]
        with locks.locked(paths.lock, work="undo"):
            undo_edit(paths, mine, undone, report, now)
        if readable(paths.log):
            take_away(paths)
    except locks.LockHeldError as error:
        return locks.refused(error)
    except OSError as error:
        message = f"the project's knowledge folder cannot be used: {error.strerror or error}"
        return fail("store-failed", message, error.filename or paths.knowledge)
    report.already = bool(undone) and not (report.lines_out or report.lines_back or report.stayed or report.errors)
    noted = allow_written(
        project.value, workspace.environment, [paths.changes, *(paths.knowledge / row.file for row in mine)]
    )
    if isinstance(noted, Err):
        report.errors.append(noted.error)
    return Ok(report)


def _is_inside(file: str) -> bool:
    """Whether a file that a project's changes.jsonl names lies in its knowledge folder: anybody may have written it."""
    return not os.path.isabs(file) and ".." not in PurePath(file).parts and "\0" not in file


def undo_edit(paths: Paths, rows: list[Change], undone: list[Change], report: UndoReport, now: datetime) -> None:
    """The last write first: what was moved from one file to another is back before it leaves the other."""
    already = {row.file for row in undone}
    for row in reversed(rows):
        if row.file in already:
            report.notes.append(f"the edit of {row.file} is taken back already")
            continue
        result = take_back(paths, row, now, UNDO_RUN + report.run)
        if isinstance(result, Err):
            report.errors.append(result.error)
        elif result.value == REVERSED:
            report.lines_out += len(row.added)
            report.lines_back += len(row.removed)
            report.edits.append(_told(row.file, out=row.added, back=row.removed))
        elif result.value == CHANGED:
            report.stayed += row.added or row.removed
            report.edits.append(_told(row.file, stayed=row.added or row.removed))
            report.stayed_why |= dict.fromkeys(row.added or row.removed, CHANGED)
        elif result.value == MISSED:
            report.notes.append("the lines count as missing again: 'knowledge missing restore' puts them back")
        elif result.value == GONE:
            report.gone += row.added
        else:
            report.notes.append(f"{row.file} is already as it was before the edit")


def _told(file: str, out: Sequence[str] = (), back: Sequence[str] = (), stayed: Sequence[str] = ()) -> dict[str, Any]:
    return {"file": file, "out": list(out), "back": list(back), "stayed": list(stayed)}


@dataclass(frozen=True)
class Redone:
    """An edit that was taken back was made again, as the edit `run`: the lines that came and went in each of `edits`
    (`file`, `in`, `out`). `warning` is a sentence about what did not work beside it ("" for nothing)."""

    run: str
    edits: tuple[dict[str, Any], ...]
    warning: str = ""

    def to_json(self) -> dict[str, Any]:
        """Stable keys for `--json`."""
        return {"run": self.run, "edits": list(self.edits), "warning": self.warning or None}


def redo_edit(paths: Paths, run: str, now: datetime) -> Result[Redone]:
    """Make an edit again that was taken back, where it was. Err(changed-since) when somebody has changed since what
    stands there: then that stays as it is. What it did to several files before is done again to all or to the first
    few; the edit that comes of it can be taken back like any other."""
    changes = read_changes(paths)
    undone = {row.file for row in changes if row.run == UNDO_RUN + run}
    rows = [row for row in changes if row.run == run and row.file in undone and row.edit is not None]
    if not rows:
        return fail("not-undone", "this edit was not taken back, so it cannot be made again", paths.changes)
    name, told, warnings = new_edit_run(now), [], []
    for row in rows:
        made = change_file(paths, row.file, partial(_made_again, row), now, run=name)
        if isinstance(made, Err):
            return made
        told.append({"file": row.file, "in": list(made.value.added), "out": list(made.value.removed)})
        warnings += [made.value.warning] if made.value.warning else []
    return Ok(Redone(name, tuple(told), "; ".join(warnings)))


def _made_again(row: Change, lines: list[str]) -> Result[list[Hunk]]:
    """The hunks that make an edit again on a file as it is now, the lowest first."""
    assert row.edit is not None
    before = join("", lines)
    again = reversed_edit(before, inverse(row.edit))
    if again is None or again == before:
        what = "is there already" if again == before else "has changed since"
        return fail("changed-since", f"the line {what}, so it stays as it is", row.file)
    wanted = split(again)[1]
    blocks = SequenceMatcher(None, lines, wanted, autojunk=False).get_opcodes()
    hunks: list[Hunk] = []
    for kind, start, end, first, last in reversed(blocks):
        if kind != "equal":
            section = section_at(lines, start) if row.edit.hunks and any(one.section for one in row.edit.hunks) else ""
            hunks.append(made(lines, start, end - start, wanted[first:last], section)[1])
    return Ok(hunks)


def settled(where: Paths) -> str:
    """Tell a project's changes.jsonl of edits that a crash cut off (the home's next harvest does that for the home).
    Returns a sentence about what went wrong, or ""."""
    try:
        take_away(where)
    except OSError as error:
        return f"an edit that was cut off before cannot be undone: {where.changes} ({error.strerror or error})"
    return ""


def undone_elsewhere(workspace: Workspace, where: Paths) -> str:
    """Where the undo of an edit finds it, when that is not here."""
    around = find_project(workspace)
    here = around.value if isinstance(around, Ok) else None
    if where == workspace.paths or (here is not None and project_paths(here) == where):
        return ""
    return f"the undo works in the folder of that project: {where.home.parent}"


NEEDED = "another harvest rests on it"


def undo(
    workspace: Workspace,
    run: str,
    *,
    now: Callable[[], datetime] = utc_now,
    patience: Patience = DEFAULT_PATIENCE,
) -> Result[UndoReport]:
    """Take back one run: of the home, or an edit of the project around the current folder. Err when there is no such
    run or the store cannot be used; what could not be taken back of a run that exists stands in `errors` of the report,
    and running it again tries that again."""

    import_module("core.commands.fact_feed")  # now: what is undone is told even if the system refuses files afterwards
    wanted = run.strip()
    if wanted.startswith(UNDO_RUN):
        hint = "'knowledge harvest --apply' harvests again what was undone"
        return fail("not-undoable", "an undo cannot be undone", hint=hint)
    if wanted.startswith(EDIT_RUN):
        found = undo_in_project(workspace, wanted, now())
        if found is not None:
            return found
    undone = with_store(workspace.paths, "undo", now(), lambda store: _undo(workspace, wanted, store, now()), patience)
    if isinstance(undone, Ok):
        _undo_facts(workspace, undone.value, now)
    return undone


def redo(
    workspace: Workspace,
    run: str,
    *,
    now: Callable[[], datetime] = utc_now,
    patience: Patience = DEFAULT_PATIENCE,
) -> Result[Redone]:
    """Make an edit of the home again that was taken back. Err when it was not, and when somebody has changed since what
    stands there."""
    made = with_store(workspace.paths, "redo", now(), lambda _store: redo_edit(workspace.paths, run, now()), patience)
    if isinstance(made, Ok):
        problem = refresh_digest(workspace)
        return Ok(replace(made.value, warning=made.value.warning or problem))
    return made


def _undo_facts(workspace: Workspace, report: UndoReport, now: Callable[[], datetime]) -> None:
    """What the run taught leaves the fact index too; cut off here, the next sync of the index does it."""
    from core.commands.fact_feed import after_undo

    told = after_undo(workspace, report.run, now)
    if isinstance(told, ErrorInfo):
        report.errors.append(told)
    else:
        report.notes += told


def _undo(workspace: Workspace, run: str, store: Recovered, now: datetime) -> Result[UndoReport]:
    paths = workspace.paths
    changes = read_changes(paths)
    mine = [row for row in changes if row.run == run]
    archived = gather(read_journal(archive_of(paths, run))) if _is_name(run) else {}
    owned = {key for key, entry in store.entries.items() if entry.get("run") == run}
    if not run or not (mine or archived or owned):
        newest = ", ".join(newest_runs(paths, changes)) or "none yet"
        return fail("unknown-run", f"there is no run {run!r}", hint=f"the newest runs are: {newest}")
    report = UndoReport(run, notes=list(store.notes), errors=list(store.errors))
    undone = [row for row in changes if row.run == UNDO_RUN + run]
    if run.startswith(EDIT_RUN):
        undo_edit(paths, mine, undone, report, now)
    else:
        shas = list(dict.fromkeys([*archived, *sorted(owned), *(row.sha for row in mine)]))
        _undo_harvest(paths, shas, archived, mine, undone, store.entries, report, now)
    done = report.restored or report.forgotten or report.lines_out or report.lines_back
    report.already = bool(undone) and not (done or report.stayed or report.errors)
    problem = refresh_digest(workspace)
    report.errors += [ErrorInfo("digest-failed", problem, str(paths.digest))] if problem else []
    return Ok(report)


def archive_of(paths: Paths, run: str) -> Path:
    """Where the records of a run are kept."""
    return paths.plans / f"{run}.jsonl"


def _is_name(run: str) -> bool:
    return bool(run) and not run.startswith(".") and not set(run) & set("/\\\0") and len(run) < 200


# --- a harvest -------------------------------------------------------------------------------------------------------


def _undo_harvest(
    paths: Paths,
    shas: list[str],
    archived: dict[str, Pending],
    rows: list[Change],
    undone: list[Change],
    entries: Entries,
    report: UndoReport,
    now: datetime,
) -> None:
    run = report.run
    forgotten: set[str] = set()
    before = len(report.errors)
    for sha in shas:
        entry = entries.get(sha)
        if sha.startswith("path:") or (entry is not None and entry.get("status") == "pruned"):
            report.notes.append(f"{sha.removeprefix('path:')} was removed for good and cannot be brought back")
        elif _bring_back(paths, sha, entry, archived.get(sha), report):
            forgotten.add(sha)
    waiting = gather(read_journal(paths.journal))
    waiting = {sha: state for sha, state in waiting.items() if sha in forgotten and _is_of(state, run)}
    rows = [*rows, *_tell_unfinished(paths, run, waiting, now)]
    gone = {sha for sha in forgotten if entries.get(sha, {}).get("run") == run}
    lines = {line for row in rows if row.sha in forgotten for line in row.added}
    earlier, needed = _surviving(paths, run, forgotten, lines)
    for sha in gone:
        old = earlier.get(sha)
        entries.pop(sha)
        if old is not None:
            entries[sha] = {**old, "deleted": False}
    report.forgotten = len(gone)
    if gone or report.restored:
        write_ledger(paths, entries)
    _forget_plans(archive_of(paths, run), forgotten)
    _forget_plans(paths.journal, set(waiting))
    _take_lines_out(paths, [row for row in rows if row.sha in forgotten], undone, needed, report, now)
    if len(report.errors) > before:
        report.notes.append("what could not be taken back stays as it is; run the same undo again to try again")


def _bring_back(paths: Paths, sha: str, entry: Entry | None, state: Pending | None, report: UndoReport) -> bool:
    """Put every copy of a conversation that this run vouches for back in its place; false when that cannot be done."""
    if entry is None:
        return True  # an earlier undo was cut after this step
    copies = dict(entry["trash"]) if isinstance(entry.get("trash"), dict) else {}
    moved = {str(row.get("trash", "")): str(row.get("path", "")) for row in (state.reclaimed if state else [])}
    if entry.get("run") != report.run:
        copies = {name: path for name, path in copies.items() if name in moved}
    if not copies and entry.get("deleted") and (entry.get("run") == report.run or moved):
        places = {str(entry.get("path", "")), *moved.values()}
        if not any(holds(path, sha) for path in places):
            message = "the conversation is gone for good, so what it taught stays"
            report.errors.append(ErrorInfo("purged", message, str(entry.get("path", ""))))
            return False
        entry["deleted"] = False
    whole = True
    for name, path in sorted(copies.items()):
        back = restore(paths, name, str(path), sha)
        if isinstance(back, Err) and not (back.error.code == "not-in-trash" and holds(str(path), sha)):
            error = back.error
            message = f"the conversation stays in the trash, and what it taught in the files: {error.message}"
            report.errors.append(ErrorInfo(error.code, message, error.path, error.hint))
            whole = False
            continue
        report.restored.append(str(path))
        note_restored(entry, name)
        if entry.get("run") != report.run:
            keep_in_place(entry, str(path))  # its harvest stands, and would take it away again
    return whole


def _surviving(paths: Paths, run: str, forgotten: set[str], lines: set[str]) -> tuple[Entries, set[tuple[str, str]]]:
    """What other harvests say: their entries for the forgotten conversations (a harvest by the rules may have come
    before one by a model), and those of `lines` that they rest on, as (file, line)."""
    entries: Entries = {}
    needed: set[tuple[str, str]] = set()
    for path in sorted(paths.plans.glob("*.jsonl")) if paths.plans.is_dir() else []:
        for sha, state in gather(read_journal(path)).items():
            if not state.done or state.plan is None or (path.stem == run and sha in forgotten):
                continue
            if sha in forgotten and state.entry is not None:
                entries[sha] = state.entry
            needed.update(
                (planned.name, line) for planned in state.plan.files for line in planned.all_lines if line in lines
            )
    return entries, needed


def _is_of(state: Pending, run: str) -> bool:
    """Whether a plan that could not be written yet is one of that run."""
    return state.plan is not None and state.plan.entry.get("run") == run


def _tell_unfinished(paths: Paths, run: str, waiting: dict[str, Pending], now: datetime) -> list[Change]:
    """Plans that could not be written wait in the journal, and part of their lines may stand already. They are told as
    lines of the run now, so that they leave the files, also when this undo is cut and begun again."""
    told = {(row.file, line) for row in read_changes(paths) for line in row.added}
    found = []
    for sha, state in waiting.items():
        for planned in state.plan.files if state.plan is not None else ():
            try:
                absent = require_lines(paths.knowledge, planned)
            except OSError:
                continue  # what keeps the plan from being written
            added = [line for line in planned.all_lines if line not in absent and (planned.name, line) not in told]
            found.append(Change(now.isoformat(), run, planned.name, tuple(added), sha=sha))
    append_changes(paths, found)
    return [row for row in found if row.added]


def _forget_plans(path: Path, forgotten: set[str]) -> None:
    """The archive of the run, or the journal, without the harvests that are undone."""
    records = read_journal(path)
    left = [record for record in records if record.get("sha") not in forgotten]
    if len(left) == len(records):
        return
    if any("sha" in record for record in left):
        files.write_atomic(path, b"".join(map(encode, left)))
    else:
        files.remove_file(path)


def _take_lines_out(
    paths: Paths,
    rows: Iterable[Change],
    undone: list[Change],
    needed: set[tuple[str, str]],
    report: UndoReport,
    now: datetime,
) -> None:
    gone = Counter((row.file, line) for row in undone for line in row.removed)
    wanted: dict[str, list[str]] = {}
    for row in rows:
        for line in row.added:
            if gone[row.file, line]:
                gone[row.file, line] -= 1
            elif (row.file, line) in needed:
                report.stayed.append(line)
                report.stayed_why[line] = NEEDED
            else:
                wanted.setdefault(row.file, []).append(line)
    for file, lines in wanted.items():
        taken = take_out(paths, note_now(paths, file, lines), lines, now, UNDO_RUN + report.run)
        if isinstance(taken, Err):
            report.errors.append(taken.error)
            continue
        report.lines_out += taken.value.went
        report.stayed += taken.value.stayed
        report.stayed_why |= taken.value.why
        report.gone += taken.value.gone
