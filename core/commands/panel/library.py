"""What the panel's view of the library shows: documents, dossiers, and how they served.

Each function opens the library for itself and lets go of it: a window may ask from any thread, and holds nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from core.commands.library.documents import Shelf, library_list
from core.commands.library.use import (
    library_record,
    library_retrieve,
)
from core.commands.workspace import Workspace, utc_now

if TYPE_CHECKING:
    from core.commands.library.use import Answered as Answered
    from core.library.records import UsageTrace
    from core.library.use.dossier import Dossier as Dossier

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
