"""`knowledge undo RUN`: a harvest run or one edit taken back.

The order is safe to be cut anywhere, and to be run again: conversations come back first, then the ledger and the
archived plan forget the harvest (so that the next one really reads the conversation again), and only then its lines
leave the files. A line that the user has changed since stays, and so does one that another harvest rests on. One that
another harvest confirms goes over to it: the line of its plan takes the place, the oldest where several confirm it.

What the user had reworded or deleted in an editor is remembered in `removed.md` then, as if a command had done it: the
next harvest of the conversation does not write it beside the new words, or again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from core.base import files
from core.base.checked_lines import encode
from core.base.markdown import parse_bullets, split_provenance
from core.base.paths import Paths
from core.base.result import ErrorInfo, KnowledgeError, attempt
from core.commands.fact_feed import after_undo
from core.commands.history.by_hand import keep_away
from core.commands.history.runs import UNDO_RUN, Redone, UndoReport, redo_edit, runs, undo_edit, undo_in_project
from core.commands.statements import refresh_digest
from core.commands.text import collected, count
from core.commands.workspace import Clock, Workspace, utc_now
from core.harvest.landed import Standing, make_confirmed
from core.harvest.reclaim import restore
from core.harvest.recovery import UNPROVEN, Recovered, with_store
from core.knowledge.answers import take_answers_back
from core.knowledge.categories import TASKS_FILE, bullets_in, read_text
from core.knowledge.changes import EDIT_RUN, Change, append_changes, read_changes
from core.knowledge.confirmed import CONFIRMED
from core.knowledge.file_notes import note_now
from core.knowledge.journal import FrozenPlan, Pending, archive_of, read_archive, read_journal, states_by_sha
from core.knowledge.ledger import UNDONE, Entries, Entry, keep_in_place, note_restored, write_ledger
from core.knowledge.lines import PlannedFile, key_of, missing_lines
from core.knowledge.removed import REMOVED
from core.knowledge.reversal import REVERSED, hand_over, take_back, take_out
from core.knowledge.swap import EDITOR_WAIT, EditorWait
from core.sources.scan import holds

_TAUGHT = (
    "run",
    "items",
    "offers",
    "person",
    "quarantined",
    "held_by",
    "notes_as_facts",
    "notes_outside",
    "from_tools",
    "error",
)
"""What a ledger entry says of a harvest, and no longer of one that was undone."""
NEWEST = 5
ASKED_AGAIN = "what was answered is asked again: 'knowledge review' shows it"
STAY_AWAY = (
    "line that you had reworded or deleted stays away from later harvests",
    "lines that you had reworded or deleted stay away from later harvests",
)
NEEDED, SAID_TOO = "another harvest rests on it", "another conversation said it too, and has it now"
MOVED = "moved to {} since"


def undo(workspace: Workspace, run: str, *, now: Clock = utc_now, editor_wait: EditorWait = EDITOR_WAIT) -> UndoReport:
    """Take back one run: of the home, or an edit of the project around the current folder. Raises KnowledgeError when
    there is no such run or the store cannot be used; what could not be taken back of a run that exists stands in
    `errors` of the report, and running it again tries that again."""
    wanted = run.strip()
    if wanted.startswith(UNDO_RUN):
        hint = "'knowledge harvest --apply --again' harvests again what was undone"
        raise KnowledgeError("not-undoable", "an undo cannot be undone", hint=hint)
    if wanted.startswith(EDIT_RUN):
        found = undo_in_project(workspace, wanted, now())
        if found is not None:
            return found
    undone = with_store(
        workspace.paths, "undo", now(), lambda store: _undo(workspace, wanted, store, now()), editor_wait
    )
    with collected(undone.errors):
        undone.notes += after_undo(workspace, undone.run, now)  # cut off here, the next sync of the index does it
    return undone


def redo(workspace: Workspace, run: str) -> Redone:
    """Make an edit of the home again that was taken back. Raises KnowledgeError when it was not, and when somebody has
    changed since what stands there."""
    made = with_store(workspace.paths, "redo", utc_now(), lambda _store: redo_edit(workspace.paths, run, utc_now()))
    problem = refresh_digest(workspace)
    return replace(made, warning=made.warning or problem)


def _undo(workspace: Workspace, run: str, store: Recovered, now: datetime) -> UndoReport:
    paths = workspace.paths
    changes = read_changes(paths)
    mine = [row for row in changes if row.run == run]
    archived = read_archive(paths.plans, run)
    owned = {key for key, entry in store.entries.items() if entry.get("run") == run}
    asked_again = take_answers_back(paths, run)
    if not run or not (mine or archived or owned or asked_again):
        newest = ", ".join(row.run for row in runs(workspace)[:NEWEST]) or "none yet"
        raise KnowledgeError("unknown-run", f"there is no run {run!r}", hint=f"the newest runs are: {newest}")
    finished = f"'knowledge undo {run}'"  # of a run that was cut off: that is what happens now
    report = UndoReport(run, notes=[note for note in store.notes if finished not in note], errors=list(store.errors))
    report.notes += [ASKED_AGAIN] if asked_again else []
    undone = [row for row in changes if row.run == UNDO_RUN + run]
    if run.startswith(EDIT_RUN):
        undo_edit(paths, mine, undone, report, now)
    else:
        shas = list(dict.fromkeys([*archived, *sorted(owned), *(row.sha for row in mine)]))
        _Undo(paths, report, undone, store.entries, now).harvest(shas, archived, mine)
    done = report.restored or report.forgotten or report.lines_out or report.lines_back
    report.already = bool(undone) and not (done or report.stayed or report.errors)
    if not (run.startswith(EDIT_RUN) or done or undone or report.stayed or report.gone or report.errors or asked_again):
        report.nothing = True
        report.notes.append("there is nothing of this run to take back")
    problem = refresh_digest(workspace)
    report.errors += [ErrorInfo("digest-failed", problem, str(paths.digest))] if problem else []
    return report


# --- a harvest -------------------------------------------------------------------------------------------------------


@dataclass
class _Left:
    """What other harvests say: their `entries` for the forgotten conversations (a harvest by the rules may have come
    before one by a model), what they `say` (file as it is called now and statement -> their lines), and which harvests
    they are, as run and sha256."""

    entries: Entries = field(default_factory=dict)
    say: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    alive: set[tuple[str, str]] = field(default_factory=set)

    def heir(self, file: str, line: str) -> str:
        """The oldest line that says the same, the very line where one of them is it, "" for none."""
        lines = self.say.get((file, key_of(line)), [])
        return line if line in lines else min(lines, key=_day_of, default="")


def _day_of(line: str) -> str:
    came = split_provenance(line)[1]
    return came.date if came is not None else ""


@dataclass
class _Undo:
    """A harvest on its way back. `report` gets what comes of that; `undone` are the changes that an earlier undo of it
    has made."""

    paths: Paths
    report: UndoReport
    undone: list[Change]
    entries: Entries
    now: datetime

    @property
    def run(self) -> str:
        """The run that is taken back."""
        return self.report.run

    def harvest(self, shas: list[str], archived: dict[str, Pending], rows: list[Change]) -> None:
        """All of it, in the order that makes it safe to be cut anywhere."""
        report = self.report
        before = len(report.errors)
        forgotten = self._conversations_back(shas, archived)
        waiting = self._waiting(forgotten)
        rows = [*rows, *self._tell_unfinished(waiting)]
        states = (archived | waiting).items()
        plans = [state.plan for sha, state in states if sha in forgotten and state.plan is not None]
        left = self._surviving(forgotten, plans, rows)
        rows += self._tell_inherited(plans, rows, left)
        self._leave_tasks(plans, rows, left)
        self._forget_harvests(forgotten, left.entries, waiting)
        files.remove_file(self.paths.state / CONFIRMED)  # it is made again at the end, or by the next run
        if (archive := archive_of(self.paths.plans, self.run)) is not None:
            _forget_plans(archive, forgotten)
        _forget_plans(self.paths.journal, set(waiting))
        self._put_back([row for row in rows if row.edit is not None])
        self._take_lines_out([row for row in rows if row.edit is None and (row.sha in forgotten or not row.sha)], left)
        make_confirmed(self.paths)
        if len(report.errors) > before:
            report.notes.append("what could not be taken back stays as it is; run the same undo again to try again")

    def _conversations_back(self, shas: list[str], archived: dict[str, Pending]) -> set[str]:
        """Put the conversations back; those of which the harvest is to be forgotten."""
        forgotten: set[str] = set()
        for sha in shas:
            entry = self.entries.get(sha)
            if sha.startswith("path:") or (entry is not None and entry.get("status") == "pruned"):
                name = sha.removeprefix("path:")
                self.report.notes.append(f"{name} was removed for good and cannot be brought back")
            elif self._bring_back(sha, entry, archived.get(sha)):
                forgotten.add(sha)
        return forgotten

    def _bring_back(self, sha: str, entry: Entry | None, state: Pending | None) -> bool:
        """Put every copy of a conversation that this run vouches for back in its place; false when that cannot be
        done."""
        if entry is None:
            return True  # an earlier undo was cut after this step
        copies = dict(entry["trash"]) if isinstance(entry.get("trash"), dict) else {}
        moved = {str(row.get("trash", "")): str(row.get("path", "")) for row in (state.reclaimed if state else [])}
        if entry.get("run") != self.run:
            copies = {name: path for name, path in copies.items() if name in moved}
        if not copies and entry.get("deleted") and (entry.get("run") == self.run or moved):
            places = {str(entry.get("path", "")), *moved.values()}
            if not any(holds(path, sha) for path in places):
                message = "the conversation is gone for good, so what it taught stays"
                self.report.errors.append(ErrorInfo("purged", message, str(entry.get("path", ""))))
                return False
            entry["deleted"] = False
        whole = True
        for name, path in sorted(copies.items()):
            back = attempt(restore, self.paths, name, str(path), sha)
            if isinstance(back, KnowledgeError) and not (back.error.code == "not-in-trash" and holds(str(path), sha)):
                error = back.error
                message = f"the conversation stays in the trash, and what it taught in the files: {error.message}"
                self.report.errors.append(ErrorInfo(error.code, message, error.path, error.hint))
                whole = False
                continue
            self.report.restored.append(str(path))
            note_restored(entry, name)
            if entry.get("run") != self.run:
                keep_in_place(entry, str(path))  # its harvest stands, and would take it away again
        return whole

    def _waiting(self, forgotten: set[str]) -> dict[str, Pending]:
        """Plans of this run that could not be written yet."""
        planned = states_by_sha(read_journal(self.paths.journal)).items()
        mine = {sha: state for sha, state in planned if sha in forgotten}
        return {sha: state for sha, state in mine.items() if state.plan and state.plan.entry.get("run") == self.run}

    def _tell_unfinished(self, waiting: dict[str, Pending]) -> list[Change]:
        """Plans that could not be written wait in the journal, and part of their lines may stand already. They are told
        as lines of the run now, so that they leave the files, also when this undo is cut and begun again."""
        recorded = {(row.file, line) for row in read_changes(self.paths) for line in row.added}
        found = []
        for sha, state in waiting.items():
            for planned in state.plan.files if state.plan is not None else ():
                try:
                    absent = missing_lines(files.read_or_empty(self.paths.knowledge / planned.name), planned.all_lines)
                except OSError:
                    continue  # what keeps the plan from being written
                here = [line for line in planned.all_lines if line.encode("utf-8") not in absent]
                added = [line for line in here if (planned.name, line) not in recorded]
                found.append(Change(self.now.isoformat(), self.run, planned.name, tuple(added), sha=sha))
        append_changes(self.paths, found)
        return [row for row in found if row.added]

    def _surviving(self, forgotten: set[str], plans: Iterable[FrozenPlan], rows: Iterable[Change]) -> _Left:
        """What the other harvests say of all that these plans and changes said."""
        paths, left = self.paths, _Left()
        said = {line for row in rows for line in row.added}
        said |= {line for plan in plans for planned in plan.files for line in planned.all_lines}
        wanted = set(map(key_of, said))
        for path in sorted(paths.plans.glob("*.jsonl")) if paths.plans.is_dir() else []:
            for sha, state in states_by_sha(read_journal(path)).items():
                if not state.done or state.plan is None or (path.stem == self.run and sha in forgotten):
                    continue
                if sha in forgotten and state.entry is not None:
                    left.entries[sha] = state.entry
                left.alive.add((path.stem, sha))
                for planned in state.plan.files:
                    lines = [line for line in planned.all_lines if key_of(line) in wanted]
                    name = _name_now(paths, state.plan, planned) if lines else ""
                    for line in lines:
                        left.say.setdefault((name, key_of(line)), []).append(line)
        return left

    def _tell_inherited(self, plans: Iterable[FrozenPlan], rows: Sequence[Change], left: _Left) -> list[Change]:
        """Lines that an undone harvest wrote, or an undo put in the place of such a line, and that stood since for what
        the forgotten plans say. Nobody else needs them, so they are told as lines of the run now, and leave with it."""
        mine = {(row.file, line) for row in rows for line in row.added}

        def is_alive(row: Change) -> bool:
            return (row.run, row.sha) in left.alive or self.entries.get(row.sha, {}).get("run") == row.run

        orphans = {
            (row.file, line)
            for row in read_changes(self.paths)
            if row.run.startswith(UNDO_RUN) or (row.sha and not is_alive(row))
            for line in row.added
        }
        found: dict[str, dict[str, None]] = {}
        for plan in plans:
            for planned in plan.files:
                name = _name_now(self.paths, plan, planned)
                for line in planned.all_lines:
                    needed = line in left.say.get((name, key_of(line)), ())
                    if not needed and (planned.name, line) in orphans - mine:
                        found.setdefault(planned.name, {})[line] = None
        changes = [Change(self.now.isoformat(), self.run, file, tuple(lines)) for file, lines in found.items()]
        append_changes(self.paths, changes)
        return changes

    def _leave_tasks(self, plans: Iterable[FrozenPlan], rows: Iterable[Change], left: _Left) -> None:
        """A task that the user has moved between Open and Done is theirs. It is told as taken out and put back, while
        the plan is known that says where it stood: then it stays also when this undo is made again."""
        planned = [row for plan in plans for row in plan.files if row.name == TASKS_FILE]
        told = {line for row in self.undone for line in row.removed}
        mine = {line for row in rows if row.file == TASKS_FILE for line in row.added} - told
        mine = {line for line in mine if not left.heir(TASKS_FILE, line)}
        try:
            text = read_text(self.paths.knowledge / TASKS_FILE) if planned and mine else ""
        except OSError:
            return  # nothing can be taken out of it either
        opened, done = ({row.raw for row in bullets_in(text, name)} for name in ("tasks_open", "tasks_done"))
        closed = [line for row in planned for line in row.lines if line in mine & done - opened]
        reopened = [line for row in planned for line in row.done if line in mine & opened - done]
        _stays(self.report, closed, MOVED.format("Done"))
        _stays(self.report, reopened, MOVED.format("Open"))
        if lines := (*closed, *reopened):
            stay = Change(self.now.isoformat(), UNDO_RUN + self.run, TASKS_FILE, lines, lines)
            append_changes(self.paths, [stay])
            self.undone.append(stay)

    def _forget_harvests(self, forgotten: set[str], earlier: Entries, waiting: Collection[str]) -> None:
        """The ledger says of the conversations what was known `earlier`, or that their harvest is undone. Of one that
        failed there is nothing to forget, but where its plan was `waiting` or its lines stand without a proof."""
        entries = self.entries
        gone = {sha for sha in forgotten if entries.get(sha, {}).get("run") == self.run}
        gone -= {sha for sha in gone - set(waiting) if _taught_nothing(entries[sha])}
        # Of a run whose journal was damaged the undo is the way to read everything again.
        mends = any(UNPROVEN in entries[sha] for sha in gone)
        for sha in gone:
            entry = entries.pop(sha)
            unwanted = (entry.get("status") == "harvested" or UNDONE in entry) and not mends
            if sha in earlier:
                entries[sha] = {**earlier[sha], "deleted": False}
            elif unwanted:
                entries[sha] = {key: value for key, value in entry.items() if key not in _TAUGHT} | {"status": UNDONE}
            if unwanted:
                entries[sha][UNDONE] = self.run
        self.report.forgotten = len(gone)
        if gone or self.report.restored:
            write_ledger(self.paths, entries)

    def _put_back(self, rows: list[Change]) -> None:
        """Lines that the run took out, for a conversation had outdated them, come back where they stood."""
        back = {(row.file, line) for row in self.undone for line in row.added}
        for row in reversed(rows):
            if back.issuperset((row.file, line) for line in row.removed):
                continue
            with collected(self.report.errors):
                if take_back(self.paths, row, self.now, UNDO_RUN + self.run) == REVERSED:
                    self.report.lines_back += len(row.removed)

    def _take_lines_out(self, rows: Iterable[Change], left: _Left) -> None:
        """The lines leave the files, but for those that another harvest needs."""
        paths, report, by = self.paths, self.report, UNDO_RUN + self.run
        gone = Counter((row.file, line) for row in self.undone for line in row.removed)
        wanted: dict[str, list[str]] = {}
        for row in rows:
            for line in row.added:
                if gone[row.file, line]:
                    gone[row.file, line] -= 1
                else:
                    wanted.setdefault(row.file, []).append(line)
        changes, standing = read_changes(paths), Standing(paths)
        wrote = {line for row in changes if row.sha for line in row.added}
        with collected(report.errors):
            if not any(row.file == REMOVED for row in self.undone):
                alone = {
                    file: [line for line in lines if left.heir(note_now(paths, file, lines), line) != line]
                    for file, lines in wanted.items()
                }
                if number := keep_away(paths, alone, changes, self.now, by):
                    report.notes.append(f"{count(number, *STAY_AWAY)} ({REMOVED})")
        for file, lines in wanted.items():
            name = note_now(paths, file, lines)
            heirs = {line: heir for line in lines if (heir := left.heir(name, line))}
            kept = {line for line, heir in heirs.items() if line == heir}
            _stays(report, kept, NEEDED)
            out = [line for line in lines if line not in kept]
            heirs = {
                line: heir
                for line, heir in heirs.items()
                if line != heir and not _is_said_beside(paths, name, out, line)
            }
            with collected(report.errors):
                handed = hand_over(paths, name, heirs, self.now, by) if heirs else set[str]()
                _stays(report, handed, SAID_TOO)
                unwanted = [line for line in out if line not in handed]
                taken = take_out(paths, name, unwanted, self.now, by, wrote)
                moved = {line: MOVED.format(other) for line in taken.gone if (other := standing.moved_to(name, line))}
                report.lines_out += taken.went
                report.stayed += (*taken.stayed, *moved)
                report.stayed_why |= {**taken.why, **moved}
                report.gone += (line for line in taken.gone if line not in moved)


def _taught_nothing(entry: Entry) -> bool:
    return entry.get("status") in ("harvest-failed", "too-large") and UNPROVEN not in entry


def _name_now(paths: Paths, plan: FrozenPlan, planned: PlannedFile) -> str:
    row = plan.notes.get(planned.name.removeprefix("files/"))
    return note_now(paths, planned.name, planned.all_lines, row) if row is not None else planned.name


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


def _stays(report: UndoReport, lines: Iterable[str], why: str) -> None:
    for line in lines:
        report.stayed.append(line)
        report.stayed_why[line] = why


def _is_said_beside(paths: Paths, file: str, out: Sequence[str], line: str) -> bool:
    """Whether a line says the same that stays: then nobody needs to inherit the place of this one."""
    rows = parse_bullets(read_text(paths.knowledge / file))
    return any(row.key == key_of(line) and row.raw not in out for row in rows)
