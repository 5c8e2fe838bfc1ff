"""`knowledge library refresh` and `link`, and what a harvest does for the library by itself when it is over."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from core.base.result import KnowledgeError
from core.commands.library.documents import opened_library
from core.commands.library.ingest import ingested_text, way_of
from core.commands.library.use import library_consolidate
from core.commands.text import count, one_line
from core.commands.workspace import Workspace, utc_now
from core.harvest.report import Progress, Report

if TYPE_CHECKING:
    from core.library.ingest import Refreshed
    from core.library.use.graph import Linked

BUDGET_SECONDS = 20.0
"""How long the library is kept up after a harvest; what is left then is done after the next one."""
PATIENCE = 2.0
"""The seconds for which a harvest waits at its end for another program that writes the library."""


# --- refresh ----------------------------------------------------------------------------------------------------------


def library_refresh(
    workspace: Workspace,
    provider: str = "",
    *,
    progress: Report = lambda _step: None,
    cancelled: Callable[[], bool] = lambda: False,
    patience: float | None = None,
    now: Callable[[], datetime] = utc_now,
) -> Refreshed:
    """Look at the files that the library has read: changed ones are taken in again, moved ones followed, and those
    that are gone are told. Only for a library on this computer: another one knows other files."""
    if workspace.config.library_url:
        message = "a library on a server does not know whose files it was read from"
        raise KnowledgeError("server-library", message, hint="ingest them")
    with opened_library(workspace, patience) as library:
        from core.library.ingest import refresh

        return refresh(
            library,
            way_of(workspace, provider or workspace.config.provider),
            now=now,
            progress=lambda done, of, name, what: progress(Progress(done, of, name, what)),
            stopped=cancelled,
        )


def refreshed_text(done: Refreshed) -> str:
    rows = [f"{count(done.unchanged, 'file')} unchanged"]
    rows += [f"moved: {one_line(old)} → {one_line(new)}" for old, new in sorted(done.moved.items())]
    rows += [f"gone: {one_line(path)} ({', '.join(key[:8] for key in ids)})" for path, ids in sorted(done.gone.items())]
    rows += ["'knowledge library remove ID' takes a document out"] if done.gone else []
    looked = done.changed.documents or done.changed.errors or done.changed.stopped
    return "\n".join(rows) + "\n" + (ingested_text(done.changed) if looked else "")


# --- link -------------------------------------------------------------------------------------------------------------


def library_link(workspace: Workspace, one: str, relation: str, other: str, note: str = "") -> Linked:
    """Say how two things in the library stand to each other: chunks and documents by their ids, concepts by name."""
    with opened_library(workspace) as library:
        from core.library.use.graph import link

        return link(library, one, relation, other, note, utc_now())


def linked_text(made: Linked) -> str:
    words = f"{one_line(made.source)!r} {made.relation.replace('_', ' ')} {one_line(made.target)!r}"
    return f"{words}\n'knowledge library undo {made.run_id[:8]}' takes this back\n"


# --- after a harvest --------------------------------------------------------------------------------------------------


def keep_up(
    workspace: Workspace, now: Callable[[], datetime] = utc_now, clock: Callable[[], float] = time.monotonic
) -> list[str]:
    """What a harvest that read something does for the library of this computer when it is over: changed files are read
    again, and what was recorded becomes profiles and links, all by rules, at most for `BUDGET_SECONDS` of `clock`.
    Notes on what came of it."""
    ends = clock() + BUDGET_SECONDS

    def late() -> bool:
        return clock() > ends

    try:
        done = library_refresh(workspace, "offline", cancelled=late, patience=PATIENCE, now=now)
        learned = library_consolidate(workspace, rules=True, cancelled=late, patience=PATIENCE, now=now)
    except KnowledgeError as failed:
        if failed.error.code in ("no-library-support", "no-library"):
            return []
        return [f"the library was not kept up: {failed.error}"]
    notes = []
    if read := done.changed.counts["changed"]:
        notes.append(f"the library read {count(read, 'changed file')} again")
    if done.moved:
        notes.append(f"{count(len(done.moved), 'file')} of the library moved, and it followed")
    if done.gone:
        notes.append(f"{count(len(done.gone), 'file')} of the library no longer there: 'knowledge library refresh'")
    if learned.run_id:
        changed = count(len(learned.changes), "change")
        notes.append(f"the library learned ({changed}): 'knowledge library undo {learned.run_id[:8]}' takes it back")
    return notes
