"""`knowledge doctor`: is the store whole? Like a file system check: it looks, says what it found, and with `repair`
mends what can be mended without asking. What it calls repaired was looked at once more and is gone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from core.base import files
from core.base.conflict import conflict_line
from core.base.homes import ADVICE, unwritable_folder
from core.base.paths import Paths, shipped_root
from core.base.result import Err, ErrorInfo, Ok, Result
from core.base.trust import read_trust
from core.commands.exclusive import with_store
from core.commands.fact_check import check_facts
from core.commands.harvest_options import connect_provider, prompt_names
from core.commands.history_check import check_history, check_journal
from core.commands.project import project_problem
from core.commands.search import check_index
from core.commands.sources import set_sources
from core.commands.workspace import Workspace, utc_now
from core.factindex import reunite
from core.factindex.places import fact_file_names
from core.harvest.options import read_prompt
from core.knowledge import mend
from core.knowledge.categories import CATEGORY_FILES, note_files
from core.knowledge.check import (
    Finding,
    check_bullets,
    check_changes,
    check_conflicts,
    check_leftovers,
    check_notes,
    check_permissions,
)
from core.knowledge.digest import current_digest, regenerate_digest
from core.knowledge.edit import QUARANTINE, change_file, could_not_write, new_edit_run
from core.knowledge.hunks import becoming
from core.knowledge.leftovers import clear_leftovers
from core.knowledge.patience import DEFAULT_PATIENCE, Patience
from core.memories import load_memories

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
        """The document of `knowledge doctor --json`."""
        return {"healthy": not self.errors, "findings": [found.to_json() for found in self.findings]}


def doctor(
    workspace: Workspace,
    repair: bool = False,
    merge_conflicts: bool = False,
    *,
    now: Callable[[], datetime] = utc_now,
    patience: Patience = DEFAULT_PATIENCE,
) -> Result[DoctorReport]:
    """Check the whole store; with `repair`, mend it under the run lock; with `merge_conflicts`, end those in files of
    bullets and of facts by keeping the lines of both sides, each once. Err when another run holds the lock."""
    if merge_conflicts and workspace.paths.knowledge.is_dir():
        ended = with_store(workspace.paths, "doctor", now(), lambda _: _end_conflicts(workspace, now), patience)
        if isinstance(ended, Err):
            return ended
        report = doctor(workspace, repair, now=now, patience=patience)
        if isinstance(report, Ok):
            report.value.findings[:0] = ended.value
        return report
    before = list(examine_store(workspace))
    if not repair or not workspace.paths.knowledge.is_dir():
        return Ok(DoctorReport(before))
    return with_store(workspace.paths, "doctor", now(), lambda _: _repair(workspace, before), patience)


def _repair(workspace: Workspace, before: list[Finding]) -> Result[DoctorReport]:
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
            except OSError as error:
                where = str(error.filename or found.path)
                seen[_key(found)] = replace(found, message=f"{found.message} (not mended: {error.strerror}: {where})")
    left = {_key(found) for found in examine_store(workspace, locked=True)}
    return Ok(DoctorReport([found if key in left else replace(found, repaired=True) for key, found in seen.items()]))


def _end_conflicts(workspace: Workspace, now: Callable[[], datetime]) -> Result[list[Finding]]:
    """Keep both sides of every conflict where that is certain; what was done, as findings that are repaired. One edit,
    which `undo` takes back."""
    paths, run = workspace.paths, new_edit_run(now())
    bullets = [*CATEGORY_FILES, QUARANTINE, *(f"files/{path.name}" for path in note_files(paths))]
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
            written = change_file(paths, name, hunks, now(), seen=seen, run=run, ends_conflict=True)
            if isinstance(written, Err):
                return written
            message = (
                f"both sides of a merge conflict stand here now, each line once ('knowledge undo {run}' takes it back)"
            )
            done.append(Finding("merge-ended", message, str(path), repaired=True))
    except OSError as error:
        return could_not_write(Path(error.filename or paths.knowledge), error)
    return Ok(done)


def _key(found: Finding) -> tuple[str, str, int]:
    return found.code, found.path, found.at


def examine_store(workspace: Workspace, *, locked: bool = False) -> Iterator[Finding]:
    """All findings, in the order in which they should be mended. Writes nothing. `locked` says that the caller holds
    the run lock and has brought the journal to its end, as far as that goes."""
    paths = workspace.paths
    checks: tuple[Iterator[Finding], ...] = (
        _check_rights(paths),
        check_journal(paths, locked),
        check_leftovers(paths, clear_leftovers),
        check_bullets(paths),
        check_conflicts(paths, _others(paths)),
        _check_memories(paths),
        check_changes(paths),
        check_notes(paths),
        check_history(paths),
        check_permissions(paths),
        _check_digest(workspace),
        check_facts(workspace),
        check_index(workspace),
        _check_settings(workspace),
    )
    reported: set[str] = set()
    for check in checks:
        try:
            yield from check
        except PermissionError as error:
            place = str(error.filename or paths.home)
            if place not in reported:  # several checks may stumble over it
                yield Finding("closed", f"this is closed to you, so not all was looked at: {ADVICE}", place)
            reported.add(place)


def _check_rights(paths: Paths) -> Iterator[Finding]:
    folder = unwritable_folder(paths)
    if folder is not None:
        yield Finding(
            "read-only", "you do not have permission to write to this home: check its owner and rights", str(folder)
        )


# --- memories --------------------------------------------------------------------------------------------------------


def _others(paths: Paths) -> list[Path]:
    """The files of other rooms in which a merge may have left its marks."""
    return sorted(paths.memories.glob("*.md")) if paths.memories.is_dir() else []


def _check_memories(paths: Paths) -> Iterator[Finding]:
    """Memories that nobody can recall, and ids that two of them have."""
    found = load_memories([("global", paths.memories)])
    for number, error in enumerate(found.skipped):
        yield Finding(error.code, error.message, error.path, at=number)
    by_id: dict[int, list[Path]] = {}
    for memory in found.memories:
        by_id.setdefault(memory.id, []).append(memory.path)
    for name, places in by_id.items():
        if len(places) > 1:
            which = " and ".join(path.name for path in places)
            message = f"these memories have the same id {name}: {which}; give one of them another, in its line 'id:'"
            yield Finding("duplicate-memory", message, str(places[1]), at=name)


# --- digest and settings ---------------------------------------------------------------------------------------------


def _check_digest(workspace: Workspace) -> Iterator[Finding]:
    paths, config = workspace.paths, workspace.config
    if not config.digest_enabled or not files.exists(paths.digest):
        return  # absent: that is the switch
    try:
        wanted = current_digest(paths, config.digest_max_bytes)
        data = wanted.text.encode("utf-8", "replace") if wanted is not None else None
        if files.read_or_empty(paths.digest) != data:
            message = "the digest is older than the category files ('knowledge digest on' writes it anew)"
            mend = partial(regenerate_digest, paths, config.digest_max_bytes)
            yield Finding("digest-stale", message, str(paths.digest), mend, note=True)  # an edit by hand does that
    except OSError as error:
        message = f"the digest cannot be checked: {error.strerror}"
        yield Finding("unreadable", message, str(error.filename or paths.digest))


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
        ready = connect_provider(workspace, workspace.config.provider, "")
        if isinstance(ready, Err):
            yield Finding(ready.error.code, str(ready.error), ready.error.path)
    for name in prompt_names(workspace.config.harvest_style):
        try:
            read_prompt(name, workspace.paths.prompts, shipped_root() / "assets" / "prompts")
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            message = f"your prompt cannot be read ({why}); mend it, or remove it to use the shipped one"
            yield Finding("bad-prompt", message, str(workspace.paths.prompts / name))
