"""The views in the middle of the panel: one row each, in the order of their tabs and number keys.

To add a view: write its class in a file of this folder (its shape is told at the top of `gui/view.py`), and add a row
here. Its tab, its number key (the first nine rows have one), its line in the keys dialog, its entry in the palette, and
its reading of the store (`gather`, where it has one) come from the row. What it shows is tested without a window, what
it does with real clicks; `tests/panel_gallery.py` takes its picture.
"""

from __future__ import annotations

from dataclasses import dataclass

from gui.toolkit.keys import Shortcut
from gui.view import View
from gui.views.facts import FactsView
from gui.views.files import FilesView
from gui.views.knowledge import KnowledgeView
from gui.views.ledger import LedgerView
from gui.views.memories import MemoriesView
from gui.views.search import SearchView
from gui.views.settings import SettingsView
from gui.views.sources import SourcesView

NUMBER_KEYS = 9


@dataclass(frozen=True)
class ViewRow:
    """One view: the name that `shell.show` and `State.view` know it by, its tab, what its tooltip says, its class."""

    name: str
    label: str
    icon: str
    tip: str
    view: type[View]

    @property
    def action(self) -> str:
        """The name of the action that opens it."""
        return f"view.{self.name}"


VIEWS: tuple[ViewRow, ...] = (
    ViewRow("ledger", "Ledger", "database", "what became of every conversation", LedgerView),
    ViewRow("knowledge", "Knowledge", "lightbulb", "bullets by category, edited in place", KnowledgeView),
    ViewRow("files", "Files", "file-code", "notes next to the source file", FilesView),
    ViewRow("search", "Search", "search", "everything, ranked, and why it was found", SearchView),
    ViewRow("memories", "Memories", "bookmark", "context files and memories, for every conversation", MemoriesView),
    ViewRow("facts", "Facts", "list-checks", "the fact index: confidence, age, confirmations", FactsView),
    ViewRow("sources", "Sources", "layers", "conversations of other tools on this disk", SourcesView),
    ViewRow("settings", "Settings", "settings", "every setting and where it comes from", SettingsView),
)


def view_keys(views: tuple[ViewRow, ...] = VIEWS) -> tuple[Shortcut, ...]:
    """The number keys of the first nine views; with Ctrl they open a view also out of a text field."""
    numbered = [(str(number), row) for number, row in enumerate(views[:NUMBER_KEYS], start=1)]
    return (
        *(Shortcut(number, row.action, row.label) for number, row in numbered),
        *(Shortcut(number, row.action, row.label, ("Ctrl",), typing=True) for number, row in numbered),
    )
