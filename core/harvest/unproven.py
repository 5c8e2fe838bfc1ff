"""Lines of a conversation that stand in the files although nothing proves its harvest any more: its journal was damaged
or cut off. The model would say the same in other words, and every item would stand twice; so it is not asked. The lines
are told to changes.jsonl under a run of their own, and the user decides: `knowledge undo RUN` takes them out, and the
next harvest reads the conversation again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from core.base import files
from core.base.figures import count
from core.base.markdown import parse_bullets, sanitise_name, split_provenance
from core.base.paths import Paths
from core.base.result import ErrorInfo
from core.harvest.committer import Committer
from core.harvest.landed import SHELF
from core.harvest.recovery import UNPROVEN
from core.harvest.steps import Step
from core.knowledge.categories import note_files
from core.knowledge.changes import Change, append_changes, read_changes
from core.knowledge.file_notes import is_absent
from core.knowledge.journal import read_journal, states_by_sha
from core.knowledge.ledger import UNDONE

Lines = dict[str, list[str]]
"""File below the knowledge folder -> exact lines."""


def leave_unproven(committer: Committer, steps: Iterable[Step], run: str) -> None:
    """Find such conversations among the `steps` of a run and keep them from being harvested. They are told once, as
    errors of the report; `run` is a new run's id. Raises OSError when the files cannot be read."""
    paths, entries, recovered = committer.paths, committer.entries, committer.recovered
    wanted = [step for step in steps if step.action == "harvest" and step.sha256 not in recovered.unfinished]
    if not wanted:
        return
    changes = read_changes(paths)
    standing = _standing(paths, {sanitise_name(step.artifact.name) for step in wanted})
    damaged = recovered.damaged is not None
    found = _unvouched(paths, standing, changes, damaged) if standing else {}
    when, waiting = committer.now(), 0
    for step in wanted:
        name = sanitise_name(step.artifact.name)
        entry = entries.get(step.sha256, {})
        earlier = str(entry.get(UNPROVEN, ""))
        known = _reported(changes, earlier, step.sha256, standing.get(name, {})) if earlier else {}
        new = found.get(name, {}) if damaged or entry.get("status") != UNDONE else {}
        if not known and not new:
            continue
        same_place = entry.get("path") == step.artifact.path
        waiting += bool(known) and same_place
        recovered.unproven.add(step.sha256)
        if known and same_place and not new:
            continue  # an earlier run has reported it
        told_by = earlier if known else run  # row by row, where that run has told of a file before
        told = [Change(when.isoformat(), told_by, file, tuple(rows), sha=step.sha256) for file, rows in new.items()]
        append_changes(paths, told)
        joined = {file: [*known.get(file, ()), *new.get(file, ())] for file in dict.fromkeys((*known, *new))}
        error = _error(joined, told_by, step)
        entry = {"status": "harvest-failed", "error": error.message, "run": told_by, UNPROVEN: told_by}
        committer.record(step.sha256, committer.entry_for(step, "harvest-failed", when) | entry, True)
        committer.report.failed += 1
        committer.report.errors.append(error)
    if found and recovered.damaged:
        recovered.keep_damaged(paths, when)
    if waiting:
        whose = count(waiting, "conversation waits", "conversations wait")
        committer.report.notes.append(
            f"{whose}, because lines of a harvest that nothing proves any more stand in the files: 'knowledge ledger "
            "--status harvest-failed' names the runs that 'knowledge undo' takes back"
        )


def _standing(paths: Paths, names: set[str]) -> dict[str, Lines]:
    """What stands in the files of conversations of these names: name -> lines."""
    found: dict[str, Lines] = {}
    notes = [f"files/{path.name}" for path in note_files(paths)]
    for file in (*SHELF, *notes):
        try:
            text = files.read_or_empty(paths.knowledge / file).decode("utf-8", "replace")
        except OSError as error:
            if not is_absent(error):
                raise
            continue  # a folder or a link of that name: nothing was written there, and nothing will be
        for bullet in parse_bullets(text) if "[from: " in text else ():
            if bullet.provenance is not None and bullet.provenance.source in names:
                found.setdefault(bullet.provenance.source, {}).setdefault(file, []).append(bullet.raw)
    return found


def _unvouched(paths: Paths, standing: dict[str, Lines], changes: list[Change], damaged: bool) -> dict[str, Lines]:
    """Those of the standing lines that neither changes.jsonl nor a plan tells of. A line that the user has reworded
    in an editor looks the same: so of a conversation that was harvested before only more lines count than are missing
    of those that were told, and only after damage was seen."""
    reported = {line for row in changes for line in row.added}
    unknown = {name: left for name, lines in standing.items() if (left := _without(lines, reported))}
    if not unknown:
        return {}
    planned = _planned(paths)
    told = planned | {(row.file, line) for row in changes for line in row.added}
    told -= {(row.file, line) for row in changes for line in row.removed}  # in another file it may stand still
    found: dict[str, Lines] = {}
    for name, lines in unknown.items():
        left = _without(lines, {line for _, line in planned})
        mine = {line for _, line in told if _source(line) == name}
        reworded = len(mine - {line for rows in standing[name].values() for line in rows})
        if left and (not mine or (damaged and sum(map(len, left.values())) > reworded)):
            found[name] = left
    return found


def _without(lines: Lines, known: Collection[str]) -> Lines:
    return {file: left for file, rows in lines.items() if (left := [row for row in rows if row not in known])}


def _planned(paths: Paths) -> set[tuple[str, str]]:
    """Every line of every archived plan, behind its file."""
    archives = sorted(paths.plans.glob("*.jsonl")) if paths.plans.is_dir() else []
    states = [state for path in archives for state in states_by_sha(read_journal(path)).values()]
    plans = [state.plan for state in states if state.plan is not None]
    return {(planned.name, line) for plan in plans for planned in plan.files for line in planned.all_lines}


def _source(line: str) -> str:
    provenance = split_provenance(line.removeprefix("- "))[1]
    return provenance.source if provenance is not None else ""


def _reported(changes: list[Change], run: str, sha: str, standing: Lines) -> Lines:
    """The lines that a run has reported and that stand still."""
    reported = {line for row in changes if (row.run, row.sha) == (run, sha) for line in row.added}
    return {file: left for file, rows in standing.items() if (left := [row for row in rows if row in reported])}


def _error(lines: Lines, run: str, step: Step) -> ErrorInfo:
    number, where = sum(map(len, lines.values())), sorted(lines)
    stand = count(number, "line of an earlier harvest stands", "lines of an earlier harvest stand")
    message = (
        f"{stand} in {' and '.join(where)}, but what proves that harvest is lost; the model was not asked again, so "
        "that nothing stands there twice"
    )
    hint = f"'knowledge undo {run}' takes the lines out, and the next harvest reads the conversation again"
    return ErrorInfo("harvest-failed", message, step.artifact.path, hint)
