"""What the panel's view of the library shows: documents with how they were used, dossiers, outcomes, and reflection as
rows for plots.

Each function opens the library for itself and lets go of it: a window may ask from any thread, and holds nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from core.commands.library.documents import Shelf, library_list
from core.commands.library.use import (
    library_record,
    library_reflect,
    library_retrieve,
)
from core.commands.workspace import Workspace, utc_now

if TYPE_CHECKING:
    from core.commands.library.use import Answered as Answered
    from core.library.records import UsageTrace
    from core.library.use.dossier import Dossier as Dossier
    from core.library.use.reflect import Reflection

OUTCOME_KEYS = {"w": "win", "p": "partial", "m": "miss", "l": "misleading"}
"""The key with which a user says how the selected chunk served."""
OUTCOMES = tuple(OUTCOME_KEYS.values())

DOCUMENTS = 5_000
"""This many documents are listed at the most."""


def documents(workspace: Workspace) -> Shelf:
    """Documents of every status, the latest first. Raises KnowledgeError where the packages of the library are not
    installed, also where there is no library yet: who opens the view is told before anything is tried."""
    from core.library.database import missing

    lacking = missing()
    if lacking is not None:
        raise lacking
    return library_list(workspace, status="all", limit=DOCUMENTS)


search = library_retrieve
"""A question with its dossiers."""


def mark(
    workspace: Workspace,
    key: str,
    chunk: str,
    retrieval: str = "",
    task: str = "",
    notes: str = "",
    session: str = "",
    *,
    instead: str = "",
    now: Callable[[], datetime] = utc_now,
) -> UsageTrace:
    """Record with one key how a chunk served; what was recorded. `instead`: the id of a record that it replaces."""
    outcome = OUTCOME_KEYS.get(key, key)
    done = library_record(
        workspace, session, [chunk], task, outcome, notes=notes, retrieval=retrieval, context="the panel", now=now
    )
    if instead:
        unmark(workspace, instead)
    return done.traces[0]


def unmark(workspace: Workspace, trace: str) -> UsageTrace:
    """Take back what was recorded."""
    return library_record(workspace, undo=trace).traces[0]


def dossier_text(dossier: Dossier) -> str:
    """A dossier as text, for a user or a model."""
    from core.library.use.dossier import as_text

    return as_text(dossier)


@dataclass(frozen=True)
class Series:
    """Rows for a stacked plot: a label for each bar, for each outcome a number a bar, and for each bar how well it
    served (0 to 1; None where too little is known)."""

    labels: tuple[str, ...] = field(default=())
    numbers: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    served: tuple[float | None, ...] = field(default=())


@dataclass(frozen=True)
class Plots:
    """A reflection with its plots: outcomes by kind of task, by source, and by month."""

    reflection: Reflection
    by_task: Series
    by_source: Series
    by_month: Series


def plots(workspace: Workspace, concept: str = "", days: int = 0) -> Plots:
    """The questions about the library, and what to draw; with `days` of the last so many days."""
    value = library_reflect(workspace, "all", concept, days)
    return Plots(
        value,
        _series({one.task_type: one.outcomes for one in value.tasks if one.outcomes}),
        _series({one.domain: one.outcomes for one in value.sources if one.outcomes}),
        _series(value.months),
    )


def _series(rows: Mapping[str, Mapping[str, int]]) -> Series:
    from core.experience.kinds import success

    numbers = {outcome: tuple(row.get(outcome, 0) for row in rows.values()) for outcome in OUTCOMES}
    return Series(tuple(rows), numbers, tuple(success(row) for row in rows.values()))
