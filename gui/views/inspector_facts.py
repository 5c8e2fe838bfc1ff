"""A fact of the index in the inspector: the fact itself, and below it its file, at the place where the fact stands."""

from __future__ import annotations

import os

from core.base.figures import count
from core.base.markdown import without_emphasis
from core.base.result import Ok
from core.commands.fact_edits import FactRow
from core.commands.view import local_day
from core.commands.view_files import source_text
from core.commands.workspace import Workspace
from gui.toolkit.flow_rows import SEPARATOR
from gui.views.inspector_page import FILE_BYTES, HERE, Page, Tab, text_rows
from gui.views.looks import FACT_CATEGORIES, Looks


def fact_page(workspace: Workspace, row: FactRow) -> Page:
    """One fact with all that is known of it. Reads its file."""
    fact = row.fact
    kind, sign, color, _ = FACT_CATEGORIES.get(fact.category, Looks(fact.category.capitalize(), "circle", "accent"))
    sure = f"confidence {fact.confidence:.2f}"
    if fact.confidence < row.stated:
        sure += f", was {row.stated:.2f}: not heard again in {count(row.unconfirmed, 'conversation')}"
    days = [(word, day) for word, day in (("first seen", fact.first_seen), ("last confirmed", fact.last_confirmed),
                                          ("expired" if fact.stale else "expires", fact.expires)) if day]  # fmt: skip
    heard = f"heard in {count(fact.source_count, 'conversation')}" if fact.source_count else ""
    about = (
        SEPARATOR.join(part for part in (fact.id, " ".join(f"#{tag}" for tag in fact.tags)) if part),
        SEPARATOR.join(part for part in (sure, heard) if part),
        SEPARATOR.join([*(f"{word} {local_day(day)}" for word, day in days), f"{row.file}:{row.line}"]),
    )
    path = os.path.join(workspace.paths.knowledge, row.file)
    read = source_text(workspace, path, FILE_BYTES)
    text = read.value.text if isinstance(read, Ok) else ""
    tab = Tab("In its file", text_rows(text, row.line), "The file is not there, or cannot be read.", counted=False)
    title = kind.removesuffix("s")
    body, now = without_emphasis(fact.fact), frozenset({"open", "show"})
    return Page(sign, color, title, "", body, about, now, (tab,), subject=row, copy=fact.fact, at=HERE)
