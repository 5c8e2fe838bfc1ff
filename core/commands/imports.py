"""`knowledge import PATH`: what other tools remember becomes bullets, shown first, undoable afterwards."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from core.base.result import Err, Ok, Result, fail
from core.commands.fact_feed import after_harvest
from core.commands.harvest_options import HarvestRequest, harvest_options
from core.commands.workspace import Workspace, utc_now
from core.harvest.imports import ImportReport, plan_import, run_import
from core.knowledge.ledger import rebuild, seen_ledger
from core.knowledge.swap import EDITOR_WAIT, EditorWait

__all__ = ["ImportReport", "import_memories"]


def import_memories(
    workspace: Workspace,
    path: str,
    *,
    apply: bool = False,
    now: Callable[[], datetime] = utc_now,
    editor_wait: EditorWait = EDITOR_WAIT,
) -> Result[ImportReport]:
    """A dry run, or with `apply` the import. Err when nothing is there or the store cannot be used."""
    if not path.strip():
        return fail("usage", "which file or folder?", hint="'knowledge import .' takes the current folder")
    where = Path(os.path.abspath(workspace.cwd / os.path.expanduser(path)))
    if not apply:
        ledger = seen_ledger(workspace.paths)
        entries = ledger.value if isinstance(ledger, Ok) else rebuild(workspace.paths)
        return plan_import(workspace.paths, where, entries, secrets=workspace.config.redact)
    options = harvest_options(workspace, HarvestRequest(), editor_wait)
    if isinstance(options, Err):
        return options
    done = run_import(workspace.paths, where, options.value, now)
    if isinstance(done, Ok) and done.value.imported:
        report = done.value
        report.facts, notes, problem = after_harvest(workspace, now)
        report.notes += notes
        report.errors += [problem] if problem is not None else []
    return done
