"""`knowledge status`: the store at a glance, without changing a byte of it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from core.base import files
from core.base.figures import age, seconds_of
from core.base.homes import ADVICE
from core.base.paths import Paths
from core.base.result import ErrorInfo, KnowledgeError, disk_errors
from core.commands.context import DigestState, digest_state
from core.commands.daily.autopilot import Autopilot, read_autopilot
from core.commands.harvest import harvest
from core.commands.harvest_options import HarvestRequest
from core.commands.history.archive import archive_figures, coming
from core.commands.project import find_project, may_read, places, project_warnings
from core.commands.review.waiting import counted
from core.commands.row import top
from core.commands.sources import NOT_LOOKED_AT, set_sources
from core.commands.text import collected, count, size
from core.commands.workspace import Workspace, utc_now
from core.context_files import GLOBAL, ContextFile, read_context
from core.knowledge.categories import CATEGORY_FILES, bullets_in, note_files, read_text
from core.knowledge.digest import Digest, current_digest
from core.knowledge.earlier import copies
from core.knowledge.ledger import Entry, counts_by_status, seen_ledger
from core.knowledge.run_state import (
    DELETED,
    DIFFERENT,
    INTERRUPTED,
    UNREADABLE,
    RunState,
    Seen,
    StoreState,
    digest_seen,
    look,
    store_state,
)
from core.sources.artifact import Artifact


@dataclass(frozen=True)
class StoreFile:
    """One file of the store. `bullets` counts those not struck; `modified` is seconds since 1970, 0 when absent."""

    name: str
    path: str
    exists: bool
    bytes: int
    bullets: int
    modified: float


@dataclass
class Status:
    """What the first view of the panel shows. Sizes in bytes; `pending` tells what the next harvest would do."""

    home: str
    digest: DigestState
    stands: StoreState
    files: list[StoreFile]
    tasks: dict[str, int]
    ledger: dict[str, int]
    pending: dict[str, Any]
    trash: dict[str, int]
    archive: dict[str, int]
    quarantined: int
    prompts: list[str]
    context: list[ContextFile] = field(default_factory=list)
    memories: int = 0
    outdated: int = 0
    waiting: dict[str, int] = field(default_factory=dict)
    """How much waits for a word of the user, by kind of `knowledge review`, without what is alike."""
    errors: list[ErrorInfo] = field(default_factory=list)
    exists: bool = True
    """Whether there is such a home; one that is not there yet is made by the first command that writes."""
    warnings: tuple[str, ...] = ()
    """What is left out of a project around the current folder, and why."""
    autopilot: Autopilot | None = None
    """The last harvest that nobody waited for, None where there was none."""
    made: Digest | None = None
    """What digest.md would hold now, None where there is nothing to put into it."""
    copies: list[str] = field(default_factory=list)
    """Copies of the store as earlier versions left it."""
    late: str = ""
    """That conversations will be deleted and nobody will keep them, one of `warnings`; "" where all is well."""
    late_sources: tuple[str, ...] = ()
    """Which sources those are of."""
    awaited: tuple[Artifact, ...] = ()
    """The conversations that `pending` counts and the ledger does not call failed, for a list of them; the JSON leaves
    them out."""
    settings_warnings: tuple[str, ...] = ()
    """What is odd about the settings; the command line says that of every command."""

    def to_json(self) -> dict[str, Any]:
        digest = {**vars(self.digest), "state": self.stands.digest.state}
        del digest["text"]
        names = ("tasks", "ledger", "pending", "trash", "archive", "quarantined", "prompts", "context", "memories")
        return {
            "home": self.home,
            "exists": self.exists,
            "digest": digest,
            "run": self.stands.run,
            "categories": {row.name: row for row in self.files},
            **{name: getattr(self, name) for name in (*names, "outdated", "copies", "waiting", "autopilot", "errors")},
            "warnings": [*self.settings_warnings, *self.warnings],
        }


def status(workspace: Workspace, now: datetime | None = None, problem: str = "") -> Status:
    """Gather the state of the store. What cannot be read is named in `errors`; the rest is reported all the same.
    `problem` is why the settings on the disk cannot be read, where those of `workspace` are older ones."""
    paths, errors = workspace.paths, list[ErrorInfo]()
    stands, made = _stands(workspace, problem, errors)
    digest = digest_state(workspace)
    if stands.digest.state == UNREADABLE:  # while the settings cannot be read, nobody gets it
        digest = replace(digest, injected=False, why=stands.digest.words)
    entries: Mapping[str, Entry] = {}
    with collected(errors):
        entries = seen_ledger(paths)
    counts, waits = counts_by_status(entries), counted(workspace, [])
    lost, late = coming(workspace)
    few = sum(counts.values()) < SMALL_LEDGER_ENTRIES
    tasks = _text(paths, "tasks.md", errors)
    pending, awaited = _pending(workspace, stands.run, now, errors, entries, few=few)
    context, memories = _put_into_prompts(workspace)
    return Status(
        home=str(paths.home),
        digest=digest,
        stands=stands,
        files=[_store_file(workspace, name, errors) for name in CATEGORY_FILES] + [_notes(paths, errors)],
        tasks={name: _standing(tasks, f"tasks_{name}") for name in ("open", "done")},
        ledger=counts,
        pending=pending,
        awaited=awaited,
        trash=_trash(paths),
        archive=archive_figures(workspace),
        quarantined=len(bullets_in(_text(paths, "quarantine.md", errors), "facts")),
        prompts=sorted(path.name for path in paths.prompts.glob("*.md")) if paths.prompts.is_dir() else [],
        context=context,
        memories=memories,
        outdated=waits["outdated"] + waits["finished"],
        waiting=waits,
        errors=errors,
        exists=files.exists(paths.home),
        warnings=(*project_warnings(workspace), *filter(None, [set_sources(workspace)[1], late])),
        late=late,
        late_sources=tuple(lost) if late else (),
        autopilot=read_autopilot(paths),
        made=made,
        copies=[str(copy) for copy in copies(paths)],
        settings_warnings=workspace.loaded.warnings,
    )


def _put_into_prompts(workspace: Workspace) -> tuple[list[ContextFile], int]:
    """The context files that there are, and how many memories."""
    project = find_project(workspace)
    spots = places(workspace, project)
    context = [
        row for scope, where in spots if (row := read_context(scope, where.context, workspace.environment)).exists
    ]
    count, readable = 0, may_read(workspace, project)
    for scope, where in spots:
        if where.memories.is_dir():
            names = [name for name in os.listdir(where.memories) if name.endswith(".md") and name[0] != "."]
            count += sum(1 for name in names if scope == GLOBAL or readable(where.memories / name))
    return context, count


def _text(paths: Paths, name: str, errors: list[ErrorInfo]) -> str:
    try:
        return read_text(paths.knowledge / name)
    except OSError as error:
        message = f"{name} cannot be read: {error.strerror}"
        if message not in [known.message for known in errors]:
            errors.append(ErrorInfo("unreadable", message, str(paths.knowledge / name)))
        return ""


def _standing(text: str, category: str = "facts") -> int:
    """How many bullets there are that are not struck through."""
    return sum(not bullet.struck for bullet in bullets_in(text, category))


def _store_file(workspace: Workspace, name: str, errors: list[ErrorInfo]) -> StoreFile:
    paths, path = workspace.paths, workspace.paths.knowledge / name
    bullets = _standing(_text(paths, name, errors))
    try:
        found = path.stat()
    except OSError:
        return StoreFile(path.stem, str(path), False, 0, 0, 0.0)
    return StoreFile(path.stem, str(path), True, found.st_size, bullets, found.st_mtime)


def _notes(paths: Paths, errors: list[ErrorInfo]) -> StoreFile:
    told = disk_errors("unreadable", "the notes on files cannot be read", paths.file_notes, ADVICE)
    with collected(errors), told, suppress(FileNotFoundError):
        os.listdir(paths.file_notes)
    notes = note_files(paths)
    found = [note.stat() for note in notes]
    bullets = sum(_standing(_text(paths, f"files/{note.name}", errors)) for note in notes)
    size, modified = sum(one.st_size for one in found), max((one.st_mtime for one in found), default=0.0)
    return StoreFile("files", str(paths.file_notes), bool(notes), size, bullets, modified)


SMALL_LEDGER_ENTRIES = 1000
"""A ledger with fewer conversations is small; with more, the user knows by now which of their tools are read."""


def _pending(
    workspace: Workspace,
    run: RunState,
    now: datetime | None,
    errors: list[ErrorInfo],
    entries: Mapping[str, Entry],
    *,
    few: bool,
) -> tuple[dict[str, Any], tuple[Artifact, ...]]:
    """What the next harvest would do in figures, and the conversations that it would read but for those that failed:
    they have an entry that says so."""
    # Whoever has just begun must not read "pending: 0" beside forty conversations of a tool that nobody has them read.
    request = HarvestRequest(rough=True, look_around=few)
    interrupted = run.state == INTERRUPTED
    try:
        report = harvest(workspace, request, now=(lambda: now) if now else utc_now)
    except KnowledgeError as failed:
        errors.append(failed.error)
        return {"conversations": 0, "bytes": 0, "tokens": 0, "interrupted": interrupted}, ()
    steps = report.plan.steps
    waiting = [step for step in steps if step.action in ("harvest", "duplicate", "defer")]
    leaving = [step for step in steps if step.action == "reclaim"]
    figures = {
        "conversations": len(waiting),
        "bytes": sum(step.artifact.size for step in waiting),
        "tokens": report.tokens,
        "leaving": len(leaving),
        "leaving_bytes": sum(step.artifact.size for step in leaving),
        "writing": report.plan.writing,
        "undone": report.plan.undone,
        "prune": sum(step.action == "prune" for step in steps),
        "elsewhere": next((note for note in report.notes if note.startswith(NOT_LOOKED_AT)), ""),
        "interrupted": interrupted,
    }
    told = {step.sha256 for step in waiting if entries.get(step.sha256, {}).get("status") == "harvest-failed"}
    return figures, tuple(step.artifact for step in waiting if step.sha256 not in told)


def _stands(workspace: Workspace, problem: str, errors: list[ErrorInfo]) -> tuple[StoreState, Digest | None]:
    """How run and digest stand, and what the digest would hold now."""
    paths, config = workspace.paths, workspace.config
    made: Digest | None = None
    archived, holder, records = False, None, None
    hint = "move it away, then run 'knowledge doctor'"
    with collected(errors), disk_errors("unreadable", "the journal cannot be read", hint=hint):
        holder, records = look(paths)
        archived = paths.plans.is_dir() and any(paths.plans.glob("*.jsonl"))
    text, once = None, False
    try:
        text, once = digest_seen(paths)
        made = current_digest(paths, config.digest_max_bytes, secrets=config.redact)
        would = made.text if made is not None else None
    except OSError:  # it is reported where the file that cannot be read is shown; nothing is said to differ from it
        would = text
    limit = config.digest_max_bytes
    seen = Seen(holder, os.getpid(), records, archived, text, would, once, config.digest_enabled, problem, limit)
    return store_state(seen), made


def _trash(paths: Paths) -> dict[str, int]:
    try:
        with os.scandir(paths.trash) as found:
            sizes = [entry.stat(follow_symlinks=False).st_size for entry in found]
    except OSError:
        sizes = []
    return {"files": len(sizes), "bytes": sum(sizes)}


def status_text(state: Status) -> str:
    new = "" if state.exists else " (does not exist yet: the first 'knowledge add' or 'harvest --apply' makes it)"
    rows = [f"home: {state.home}{new}", ""]
    if any(row.exists for row in state.files):
        rows.append(f"  {'file':<14}{'size':>8}  {'bullets':>12}  {'changed':>7}")
    for row in state.files:
        detail = "  absent"
        if row.exists:
            detail = f"{size(row.bytes):>8}  {count(row.bullets, 'bullet'):>12}  {age(row.modified):>7}"
            if row.name == "tasks":
                detail += f"  ({state.tasks['open']} open, {state.tasks['done']} done)"
        rows.append(f"  {'files/' if row.name == 'files' else f'{row.name}.md':<14}{detail}")
    digest = state.digest
    rows += ["", f"digest: {digest.bytes} of {digest.max_bytes} bytes, {digest.why}"]
    stands = state.stands
    if stands.digest.state in (DELETED, DIFFERENT):
        rows[-1] += f" ({stands.digest.words})"
    for file in state.context:
        fits = " of its budget of {}" if file.bytes <= file.budget else ", over its budget of {}; shorten it"
        rows.append(f"context ({file.scope}): {size(file.bytes)}{fits.format(size(file.budget))}")
    if state.memories:
        rows.append(f"memories: {state.memories}")
    rows.append("ledger: " + ", ".join(f"{name}:{number}" for name, number in state.ledger.items()))
    waiting = state.pending
    rows.append(f"not harvested yet: {count(waiting['conversations'], 'conversation')}, {size(waiting['bytes'])}")
    if failed := waiting["conversations"] - len(state.awaited):
        rows[-1] += f"; {failed} of them failed before and will be tried again"
    if waiting.get("writing"):
        rows[-1] += f"; {waiting['writing']} more perhaps still being written"
    if waiting.get("undone"):
        rows[-1] += f"; {waiting['undone']} more whose harvest you undid ('knowledge harvest --again' shows them)"
    if waiting.get("leaving"):
        rows[-1] += f"; {waiting['leaving']} harvested before, to take away ({size(waiting['leaving_bytes'])})"
    if waiting.get("elsewhere"):
        rows.append(waiting["elsewhere"])
    way = "; 'knowledge harvest --finish' puts that right" if stands.run.state == INTERRUPTED else ""
    rows.append(f"run: {stands.run.words}{way}")
    rows.append(f"trash: {count(state.trash['files'], 'conversation')}, {size(state.trash['bytes'])}")
    if state.archive["files"]:
        rows.append(f"archive: {count(state.archive['files'], 'conversation')}, {size(state.archive['bytes'])}")
    rows += [f"copy of the store before an update: {copy}" for copy in state.copies]
    if waits := [f"{number} {kind.replace('-', ' ')}" for kind, number in state.waiting.items() if number]:
        rows.append(f"waiting for your word: {', '.join(waits)} ('knowledge review')")
    if state.autopilot is not None:
        rows += _autopilot_rows(state.autopilot)
    if state.prompts:
        rows.append(f"your own prompts: {', '.join(state.prompts)}")
    return "\n".join(rows) + "\n"


def _autopilot_rows(last: Autopilot) -> list[str]:
    """The last harvest that nobody waited for: what it did, what it left, what it cost, why it could not."""
    at = seconds_of(last.at)
    ago = f"{age(at)} ago" if at else last.at
    row = f"last harvest by itself: {ago}, {count(last.harvested, 'conversation')}, {count(last.items, 'item')}"
    rest = ((last.left, "left for the next"), (last.writing, "still being written"), (last.failed, "failed"))
    for number, words in rest:
        row += f", {number} {words}" if number else ""
    rows = [row]
    if last.tokens_today or last.dollars_month:
        rows.append(
            f"spent: {last.tokens_today:,} tokens on the day of that harvest, ${last.dollars_month:.2f} in its month"
        )
    if last.note:
        rows.append(f"note: {last.note}")
    if last.problem is not None:
        times = "" if last.problem.times == 1 else f" ({last.problem.times} times since {last.problem.since[:16]})"
        rows.append(f"it could not harvest{times}: {last.problem}")
    return rows


COMMANDS = (top("status", "", status, status_text),)
