"""Harvested lines that vanished from the files, put back or let go: `knowledge review --kind vanished`."""

from __future__ import annotations

import errno
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from core.base import files
from core.base.paths import Paths
from core.base.result import disk_errors
from core.commands.statements import refresh_digest
from core.commands.workspace import Clock, Workspace, utc_now
from core.harvest.proofs import Missing, Proofs, find_missing, marks
from core.harvest.recovery import Recovered, with_store
from core.knowledge.changes import Change, append_changes
from core.knowledge.edit import could_not_write, new_edit_run
from core.knowledge.ledger import Entry, seen_ledger
from core.knowledge.lines import PlannedFile, ensure_lines, require_lines
from core.knowledge.log import carry_out
from core.knowledge.swap import EDITOR_WAIT, EditorWait

__all__ = ["Missing", "missing_list", "settle_missing"]


def missing_list(
    workspace: Workspace, *, everything: bool = False, told: bool = False, now: Clock = utc_now
) -> list[Missing]:
    """What is missing of the harvests within the grace period and of those whose conversation is in the trash; with
    `everything` of all harvests, and single lines that look like an edit by hand, which are marked; `told` looks only
    at those of which a run has told it."""
    entries = seen_ledger(workspace.paths)
    if told:
        entries = {sha: entries[sha] for sha in marks(entries)}
    return _missing(workspace, entries, entries if everything else (), everything, now())


def _missing(
    workspace: Workspace, entries: Mapping[str, Entry], also: Iterable[str], single: bool, now: datetime
) -> list[Missing]:
    paths = workspace.paths
    with disk_errors("unreadable", "the files cannot be looked at"):
        return find_missing(paths, entries, Proofs(paths), now, workspace.config.trash_days, also, single=single)


def settle_missing(
    workspace: Workspace,
    rows: Sequence[Missing],
    *,
    back: bool,
    run: str = "",
    now: Clock = utc_now,
    editor_wait: EditorWait = EDITOR_WAIT,
) -> str:
    """Put the lines `back`, or write down that they are gone on purpose; what was dealt with since is passed over. One
    undo of `run` takes it back. Returns a sentence about what did not work beside it, or ""."""
    wanted = {(row.sha256, row.file): set(row.lines) for row in rows}

    def settle(store: Recovered) -> str:
        found = _missing(workspace, store.entries, {row.sha256 for row in rows}, True, now())
        seen = ((row, wanted.get((row.sha256, row.file), set())) for row in found)
        still = [replace(row, lines=tuple(line for line in row.lines if line in lines)) for row, lines in seen if lines]
        return _settle(workspace, still, back, run or new_edit_run(now()), now())

    return with_store(workspace.paths, "review", now(), settle, editor_wait)


def _settle(workspace: Workspace, chosen: list[Missing], back: bool, run: str, now: datetime) -> str:
    """One file after the other."""
    paths = workspace.paths
    by_file: dict[str, list[Missing]] = {}
    for row in chosen:
        by_file.setdefault(row.file, []).append(row)
    warnings: list[str | None] = []
    for file, rows in by_file.items():
        gone = tuple(dict.fromkeys(line for row in rows for line in row.lines))
        done = tuple(line for line in gone if any(line in row.done for row in rows))
        try:
            if back:
                opened = tuple(line for line in gone if line not in done)
                planned = PlannedFile(file, rows[0].header, opened, done)
                warnings.append(
                    carry_out(paths, Change(now.isoformat(), run, file, gone), partial(_put, paths, planned))
                )
            else:
                append_changes(paths, [Change(now.isoformat(), run, file, (), gone)])
        except OSError as error:
            raise could_not_write(paths.knowledge / file, error) from error
    warnings.append(refresh_digest(workspace) if by_file else "")
    return "; ".join(filter(None, warnings))


def _put(paths: Paths, planned: PlannedFile) -> bool:
    _, new_name = ensure_lines(paths.knowledge, planned)
    if new_name:
        files.sync_folder((paths.knowledge / planned.name).parent)
    if require_lines(paths.knowledge, planned):
        raise OSError(errno.EBUSY, "another program keeps saving the file", str(paths.knowledge / planned.name))
    return True
