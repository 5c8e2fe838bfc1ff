"""`knowledge doctor`: is the store whole? Like a file system check: it looks, says what it found, and with `repair`
mends what can be mended without asking. What it calls repaired was looked at once more and is gone.

What became of conversations is told by the journal, the ledger, the plans that prove it, and the trash.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

from core.base import files, locks
from core.base.conflict import conflict_line
from core.base.homes import ADVICE, unwritable_folder
from core.base.paths import Paths, shipped_root
from core.base.result import ErrorInfo, KnowledgeError, Ok, attempt
from core.base.trust import read_trust
from core.commands.daily.connect import check_connections
from core.commands.daily.schedule import check_schedule
from core.commands.fact_feed import check_facts
from core.commands.harvest_options import connect_provider, prompt_names
from core.commands.history.archive import coming
from core.commands.library.documents import check_library
from core.commands.moment.hints import check_hints
from core.commands.moment.worked import check_experience
from core.commands.project import project_problem
from core.commands.purge import complete
from core.commands.review.waiting import missing_list
from core.commands.row import flag, top
from core.commands.sources import set_sources
from core.commands.text import count
from core.commands.workspace import Clock, Workspace, utc_now
from core.factindex import reunite
from core.factindex.facts import fact_file_names
from core.harvest.recovery import with_store
from core.harvest.steps import read_prompt
from core.knowledge import mend
from core.knowledge import purge as purging
from core.knowledge.categories import CATEGORY_FILES, QUARANTINE, note_files
from core.knowledge.check import (
    Finding,
    check_bullets,
    check_changes,
    check_conflicts,
    check_git,
    check_leftovers,
    check_notes,
    check_permissions,
    in_checkout,
)
from core.knowledge.digest import current_digest, regenerate_digest
from core.knowledge.earlier import copies
from core.knowledge.edit import change_file, could_not_write, new_edit_run
from core.knowledge.hunks import becoming
from core.knowledge.journal import FrozenPlan, read_plans
from core.knowledge.ledger import Entries, Entry, drop_from_trash, read_ledger, rebuild, write_ledger
from core.knowledge.removed import REMOVED
from core.knowledge.swap import EDITOR_WAIT, EditorWait, clear_leftovers
from core.memories import Shelf, all_of
from core.search.embedders import LOCAL_MODELS, check_model
from core.sources.archive import ENDING, content
from core.sources.scan import holds, sha_in_trash, split_in_trash


def check_purge(workspace: Workspace) -> Iterator[Finding]:
    """A removal for good that was cut off."""
    if purging.begun(workspace.paths) is not None:
        where = str(workspace.paths.state / purging.PURGING)
        message = "a removal for good was cut off in the middle; the next harvest completes it"
        yield Finding("purge-left", message, where, lambda: complete(workspace, locked=True))


def check_journal(paths: Paths, locked: bool) -> Iterator[Finding]:
    """A run that was interrupted, or one that is at work. `locked`: the caller holds the lock and has recovered."""
    if not files.exists(paths.journal):
        return
    if locked:
        message = "a planned harvest still cannot be written; mend the file that it is for, then harvest again"
        yield Finding("journal-left", message, str(paths.journal))
    elif (holder := locks.holder_of(paths.lock)) is not None:
        message = f"{locks.at_work(holder)}: what follows may be its work in progress"
        yield Finding("running", message, str(paths.lock), note=True)
    else:
        message = "the last run was interrupted in the middle; the next one finishes it first"
        yield Finding("journal-left", message, str(paths.journal), _done_by_recovery)


def _done_by_recovery() -> None:
    """`with_store` has finished the journal before anything else is mended."""


def check_history(paths: Paths) -> Iterator[Finding]:
    """The ledger against the plans that prove it, the conversations in their places, and the trash."""
    try:
        entries = read_ledger(paths)
    except KnowledgeError as failed:
        rebuilt = failed.error.code == "ledger-corrupt"
        message = failed.error.message if rebuilt else f"{failed.error.message}; {failed.error.hint}"
        yield Finding(failed.error.code, message, str(paths.ledger), _done_by_recovery if rebuilt else None)
        return
    if line := conflict_line(files.read_or_empty(paths.ledger).decode("utf-8", "replace")):
        message = f"a merge conflict begins in line {line}; the entries of both sides count, and stay"
        yield Finding("merge-conflict", message, str(paths.ledger), lambda: write_ledger(paths, entries))
    archived = rebuild(paths)
    if entries and not files.exists(paths.ledger):
        message = "the ledger is missing, though runs are archived"
        yield Finding("ledger-missing", message, str(paths.ledger), lambda: write_ledger(paths, entries))
    yield from _check_entries(paths, entries, archived)
    yield from _check_trash(paths, entries)


def _check_entries(paths: Paths, entries: Entries, archived: Entries) -> Iterator[Finding]:
    plans: dict[str, dict[str, FrozenPlan]] = {}
    shared = in_checkout(paths)  # then much of it was done on another machine, where its proofs and its trash are
    elsewhere = 0
    for sha, entry in entries.items():
        place, run = str(entry.get("path", "")), str(entry.get("run", ""))
        amended = partial(_amend, paths, sha)
        if entry.get("status") == "harvested":
            if run not in plans:
                plans[run] = read_plans(paths.plans, run)
            if shared and not plans[run]:
                elsewhere += 1
            elif sha not in plans[run]:
                message = f"no committed plan proves the harvest of {place or sha}; it will be harvested again"
                unproven = partial(amended, lambda entry: entry.update(UNPROVEN))
                yield Finding("no-plan", message, f"{paths.ledger}#{sha}", unproven)
        if entry.get("deleted") and entry.get("status") != "pruned" and holds(place, sha):
            message = f"the ledger says that this conversation was taken away, but it is in its place: {place}"
            yield Finding("not-deleted", message, place, partial(amended, lambda entry: entry.update(deleted=False)))
        for name in entry.get("trash", {}) if isinstance(entry.get("trash"), dict) and not shared else ():
            if not files.exists(paths.trash / name):
                message = f"the ledger looks for a conversation in the trash that is not there: {place}"
                dropped = partial(amended, partial(drop_from_trash, name=name))
                yield Finding("trash-missing", message, str(paths.trash / name), dropped)
    if elsewhere:
        message = f"harvests made on another machine: {elsewhere}; what proves them lies there, and their entries stay"
        yield Finding("elsewhere", message, str(paths.ledger), note=True)
    for sha, entry in archived.items():
        if sha not in entries and entry.get("status") == "harvested":
            message = f"a proven harvest has no entry in the ledger: {entry.get('path', sha)}"
            yield Finding("no-entry", message, f"{paths.ledger}#{sha}", partial(_add_entry, paths, sha, entry))


UNPROVEN = {"status": "harvest-failed", "error": "no committed plan proves its harvest"}
"""What the entry knows beside this stays in it; only the word that stands for a proof goes."""


def _amend(paths: Paths, sha: str, change: Callable[[Entry], None]) -> None:
    entries = attempt(read_ledger, paths)
    if isinstance(entries, Ok) and sha in entries.value:
        change(entries.value[sha])
        write_ledger(paths, entries.value)


def _add_entry(paths: Paths, sha: str, entry: Entry) -> None:
    entries = attempt(read_ledger, paths)
    if isinstance(entries, Ok) and sha not in entries.value:
        held = {name: path for name, path in entry.get("trash", {}).items() if files.exists(paths.trash / name)}
        rest = {key: value for key, value in entry.items() if key not in ("trash", "trashed_until")}
        if held:
            rest |= {"trash": held, "trashed_until": entry.get("trashed_until", "")}
        if holds(str(entry.get("path", "")), sha):
            rest["deleted"] = False
        write_ledger(paths, {**entries.value, sha: rest})


def _check_trash(paths: Paths, entries: Entries) -> Iterator[Finding]:
    if not paths.trash.is_dir():
        return
    for item in sorted(paths.trash.iterdir()):
        sha = sha_in_trash(item.name)
        if split_in_trash(item.name) is not None and item.is_dir() and not item.is_symlink():
            continue
        if not sha:
            message = "this lies in the trash, but was not put there by a harvest"
            yield Finding("trash-foreign", message, str(item), note=True)
        elif not holds(str(item), sha):
            message = "a trashed conversation is no longer what went in; it is set aside there and never removed"
            yield Finding("trash-damaged", message, str(item), partial(_set_aside, paths, item.name, sha))
        elif sha not in entries:
            message = "the ledger does not know this trashed conversation; it is never removed by itself"
            yield Finding("trash-unknown", message, str(item))


def _set_aside(paths: Paths, name: str, sha: str) -> None:
    """What has changed in the trash gets a name that no purge takes and no restore believes; not a byte of it goes."""
    files.rename_without_replacing(paths.trash / name, paths.trash / f"kept-{name}")
    files.sync_folder(paths.trash)
    _amend(paths, sha, partial(drop_from_trash, name=name))


ROUNDS = 3
"""Mending one thing may bring another to light."""


@dataclass
class DoctorReport:
    """What the doctor found. `errors` are the damages that are still there: with any, the command ends with 1."""

    findings: list[Finding] = field(default_factory=list)

    @property
    def errors(self) -> list[ErrorInfo]:
        """The damages left, as sentences."""
        hint = "'knowledge doctor --repair' mends it"
        return [
            ErrorInfo(found.code, found.message, found.path, hint if found.repairable else "")
            for found in self.findings
            if not found.repaired and not found.note
        ]

    def to_json(self) -> dict[str, Any]:
        return {"healthy": not self.errors, "findings": self.findings}


def doctor(
    workspace: Workspace,
    repair: bool = False,
    merge_conflicts: bool = False,
    *,
    now: Clock = utc_now,
    editor_wait: EditorWait = EDITOR_WAIT,
) -> DoctorReport:
    """Check the whole store; with `repair`, mend it under the run lock; with `merge_conflicts`, end those in files of
    bullets and of facts by keeping the lines of both sides, each once. Raises KnowledgeError when another run
    holds the lock."""
    if merge_conflicts and workspace.paths.knowledge.is_dir():
        ended = with_store(workspace.paths, "doctor", now(), lambda _: _end_conflicts(workspace, now), editor_wait)
        report = doctor(workspace, repair, now=now, editor_wait=editor_wait)
        report.findings[:0] = ended
        return report
    before = list(examine_store(workspace))
    if not repair or not workspace.paths.knowledge.is_dir():
        return DoctorReport(before)
    return with_store(workspace.paths, "doctor", now(), lambda _: _repair(workspace, before), editor_wait)


def _repair(workspace: Workspace, before: list[Finding]) -> DoctorReport:
    """The journal was brought to its end on the way here; the rest is mended finding by finding."""
    seen = {_key(found): found for found in before}
    for _ in range(ROUNDS):
        current = list(examine_store(workspace, locked=True))
        for found in current:
            if found.mend is None or _key(found) not in seen:
                seen[_key(found)] = found
        mendable = [found for found in current if found.mend is not None]
        if not mendable:
            break
        for found in mendable:
            assert found.mend is not None
            try:
                found.mend()
            except KnowledgeError as failed:
                seen[_key(found)] = replace(found, message=f"{found.message} (not mended: {failed.error})")
            except OSError as error:
                where = str(error.filename or found.path)
                seen[_key(found)] = replace(found, message=f"{found.message} (not mended: {error.strerror}: {where})")
    left = {_key(found) for found in examine_store(workspace, locked=True)}
    return DoctorReport([found if key in left else replace(found, repaired=True) for key, found in seen.items()])


def _end_conflicts(workspace: Workspace, now: Clock) -> list[Finding]:
    """Keep both sides of every conflict where that is certain; what was done, as findings that are repaired. One edit,
    which `undo` takes back."""
    paths, run = workspace.paths, new_edit_run(now())
    bullets = [*CATEGORY_FILES, QUARANTINE, REMOVED, *(f"files/{path.name}" for path in note_files(paths))]
    done = []
    try:
        rows = [(name, mend.united) for name in bullets]
        rows += [(name, partial(reunite.united, name)) for name in fact_file_names(paths.knowledge)]
        for name, unite in rows:
            path = paths.knowledge / name
            data = files.read_or_empty(path)
            new = unite(data) if conflict_line(data.decode("utf-8", "replace")) else None
            if new is None:
                continue
            hunks = partial(becoming, new.decode("utf-8"))
            seen = hashlib.sha256(data).hexdigest()
            change_file(paths, name, hunks, now(), seen=seen, run=run, ends_conflict=True)
            way = f"('knowledge undo {run}' takes it back)"
            message = f"both sides of a merge conflict stand here now, each line once {way}"
            done.append(Finding("merge-ended", message, str(path), repaired=True))
    except OSError as error:
        raise could_not_write(Path(error.filename or paths.knowledge), error) from error
    return done


def _key(found: Finding) -> tuple[str, str, int]:
    return found.code, found.path, found.at


def examine_store(workspace: Workspace, *, locked: bool = False) -> Iterator[Finding]:
    """All findings, in the order in which they should be mended. Writes nothing. `locked` says that the caller holds
    the run lock and has brought the journal to its end, as far as that goes."""
    paths = workspace.paths
    checks: tuple[Iterator[Finding], ...] = (
        _check_rights(paths),
        check_journal(paths, locked),
        check_purge(workspace),
        check_leftovers(paths, clear_leftovers),
        check_bullets(paths),
        # The files of other rooms in which a merge may have left its marks: memories.
        check_conflicts(paths, sorted(paths.memories.glob("*.md"))),
        _check_memories(paths),
        check_changes(paths),
        check_notes(paths),
        check_history(paths),
        _check_vanished(workspace),
        _check_archive(workspace),
        check_permissions(paths),
        check_git(paths),
        _check_copies(paths),
        _check_digest(workspace),
        check_facts(workspace),
        check_embedder(workspace),
        check_library(workspace),
        _check_settings(workspace),
        check_connections(workspace),
        check_hints(workspace),
        check_experience(workspace),
        iter(check_schedule(workspace)),
    )
    reported: set[str] = set()
    for check in checks:
        try:
            yield from check
        except OSError as error:
            place = str(error.filename or paths.home)
            if place not in reported:  # several checks may stumble over it
                closed = isinstance(error, PermissionError)
                message = f"this is closed to you, so not all was looked at: {ADVICE}"
                if not closed:
                    message = f"this cannot be read, so not all was looked at: {error.strerror or error}"
                yield Finding("closed" if closed else "unreadable", message, place)
            reported.add(place)


def _check_rights(paths: Paths) -> Iterator[Finding]:
    folder = unwritable_folder(paths)
    if folder is not None:
        message = "you do not have permission to write to this home: check its owner and rights"
        yield Finding("read-only", message, str(folder))


def _check_vanished(workspace: Workspace) -> Iterator[Finding]:
    """Lines of harvests that nobody took out: a file that was deleted is no store that is whole."""
    looked = attempt(missing_list, workspace)
    rows = looked.value if isinstance(looked, Ok) else []  # what else is wrong is told by the other checks
    for file, number in Counter(row.file for row in rows for _ in row.lines).items():
        message = f"{count(number, 'harvested line')} vanished from it ('knowledge review --kind vanished' shows them)"
        yield Finding("vanished", message, str(workspace.paths.knowledge / file), note=True)


def _check_copies(paths: Paths) -> Iterator[Finding]:
    """Copies of the store as an earlier version, or a clone, left it: nobody needs them but who goes back."""
    for copy in copies(paths):
        message = "the store before this version wrote into it ('knowledge help uninstall' tells more); delete it if"
        yield Finding("earlier-store", f"{message} you will not go back", str(copy), note=True)


# --- the archive -----------------------------------------------------------------------------------------------------


def _check_archive(workspace: Workspace) -> Iterator[Finding]:
    """Copies of which a byte is damaged, and conversations that nobody will keep in time."""
    folder = workspace.paths.archive
    for path in sorted(folder.glob(f"*{ENDING}")) if folder.is_dir() else ():
        try:
            content(path)
        except OSError as error:
            message = f"this conversation of the archive is damaged, and no other: {error.strerror or error}"
            yield Finding("archive-damaged", message, str(path), partial(files.discard, path))
    if warning := coming(workspace)[1]:
        yield Finding("archive-late", warning, str(folder), note=True)


# --- memories --------------------------------------------------------------------------------------------------------


def _check_memories(paths: Paths) -> Iterator[Finding]:
    """Memories that nobody can recall, and ids that two of them have."""
    found = all_of([Shelf("global", paths.memories)])
    for number, error in enumerate(found.skipped):
        yield Finding(error.code, error.message, error.path, at=number)
    for name, places in groupby(sorted(found.memories, key=attrgetter("id")), key=attrgetter("id")):
        paths_of = [memory.path for memory in places]
        if len(paths_of) > 1:
            which = " and ".join(path.name for path in paths_of)
            message = f"these memories have the same id {name}: {which}; give one of them another, in its line 'id:'"
            yield Finding("duplicate-memory", message, str(paths_of[1]), at=name)


# --- digest and settings ---------------------------------------------------------------------------------------------


def _check_digest(workspace: Workspace) -> Iterator[Finding]:
    paths, config = workspace.paths, workspace.config
    if not config.digest_enabled or not files.exists(paths.digest):
        return  # absent: that is the switch
    wanted = current_digest(paths, config.digest_max_bytes, secrets=config.redact)
    data = wanted.text.encode("utf-8", "replace") if wanted is not None else None
    if files.read_or_empty(paths.digest) != data:
        message = "the digest is older than the category files ('knowledge digest on' writes it again)"
        mend = partial(regenerate_digest, paths, config.digest_max_bytes, secrets=config.redact)
        yield Finding("digest-stale", message, str(paths.digest), mend, note=True)  # an edit by hand does that


def check_embedder(workspace: Workspace) -> Iterator[Finding]:
    """Whether the model that the search by meaning asks for is on this computer."""
    if workspace.config.embedder in LOCAL_MODELS:
        looked = attempt(check_model, workspace.config.embedder)
        if isinstance(looked, KnowledgeError):
            message = f"{looked.error.message}, so a search finds words alone; {looked.error.hint}".rstrip("; ")
            yield Finding("no-embedder", message, "embedder")


def _check_settings(workspace: Workspace) -> Iterator[Finding]:
    for number, warning in enumerate(workspace.loaded.warnings):
        yield Finding("config-warning", warning, str(workspace.loaded.file), note=True, at=number)
    if (left := project_problem(workspace)) is not None:
        yield Finding(left.code, str(left), left.path, note=True)
    if (record := read_trust(workspace.environment)).problem:
        yield Finding("bad-trust", record.problem, str(record.file), note=True)
    if problem := set_sources(workspace)[1]:
        yield Finding("bad-setting", problem, str(workspace.loaded.file))
    if workspace.config.provider != "offline":
        try:
            connect_provider(workspace, workspace.config.provider, "")
        except KnowledgeError as failed:
            yield Finding(failed.error.code, str(failed.error), failed.error.path)
    for name in prompt_names(workspace.config.harvest_style):
        try:
            read_prompt(name, workspace.paths.prompts, shipped_root() / "assets" / "prompts")
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            message = f"your prompt cannot be read ({why}); mend it, or remove it to use the shipped one"
            yield Finding("bad-prompt", message, str(workspace.paths.prompts / name))


# --- at the command line --------------------------------------------------------------------------------------------


def doctor_text(report: DoctorReport) -> str:
    rows = []
    for found in report.findings:
        kinds = (("repaired", found.repaired), ("note", found.note), ("repairable", found.repairable), ("found", True))
        where = f" ({found.path})" if found.path and found.path not in found.message else ""
        rows.append(f"{next(kind for kind, so in kinds if so)}: {found.message}{where}")
    left = len(report.errors)
    end = "the store is whole" if not left else f"{count(left, 'problem')} left"
    if any(found.repairable and not found.repaired for found in report.findings):
        mends = "mends what can be mended" if left else "fixes what the notes mention"
        end += f"; 'knowledge doctor --repair' {mends}"
    return "\n".join([*rows, end]) + "\n"


COMMANDS = (
    top(
        "doctor",
        "--repair",
        doctor,
        doctor_text,
        flag("--repair", "mend what can be mended"),
        flag("--merge-conflicts", "end merge conflicts: keep the bullets and facts of both sides, each once"),
        names_errors=True,
    ),
)
