"""What the panel's view of the library shows beside what `core/commands/library` answers.

Each function opens the library for itself and lets go of it: a window may ask from any thread, and holds nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.commands.library.documents import Shelf, library_list
from core.commands.workspace import Workspace

if TYPE_CHECKING:
    from core.library.use.dossier import Dossier as Dossier

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


def dossier_text(dossier: Dossier) -> str:
    """A dossier as text, for a user or a model."""
    from core.library.use.dossier import as_text

    return as_text(dossier)
