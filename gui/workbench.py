"""The views in the middle of the panel: one row each, in the order of their tabs and number keys.

To add a view: write its class in a file of `gui/views/` (its shape is told at the top of `gui/shell.py`), and add a row
here. Its tab, its key, its line in the keys dialog, its command, and its reading of the store (`gather`, where it has
one) come from the row; what stands in the left column while it is open is its `side`, where it has one. What it shows
is tested without a window, what it does with real clicks; `tests/panel_gallery.py` takes its picture.

Below, the middle itself: the view that is open, and a place for errors and questions of trust.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import dearpygui.dearpygui as dpg

from core.base.result import ErrorInfo
from core.commands.settings import NOT_TRUSTED, WAITING, TrustRow, asked, trust_allow
from gui.gather import LATE
from gui.shell import Column, Shell, View
from gui.state import State
from gui.toolkit.keys import Shortcut
from gui.toolkit.layout import box
from gui.toolkit.messages import Banner, EmptyState, Teach
from gui.toolkit.theme import Look
from gui.views.conversations import ConversationsView
from gui.views.files import FilesView
from gui.views.knowledge import KnowledgeView
from gui.views.library.view import LibraryView
from gui.views.search import SearchView
from gui.views.settings import SettingsView


@dataclass(frozen=True)
class ViewRow:
    """One view: the name that `shell.show` and `State.view` know it by, its tab, what its tooltip says, its class, its
    number key with Ctrl. One without a key has no tab either."""

    name: str
    label: str
    icon: str
    tip: str
    view: type[View]
    key: str = ""

    @property
    def action(self) -> str:
        """The name of the action that opens it."""
        return f"view.{self.name}"


VIEWS: tuple[ViewRow, ...] = (
    ViewRow("knowledge", "Knowledge", "lightbulb", "What was learned, and what a conversation starts with",
            KnowledgeView, "1"),
    ViewRow("conversations", "Conversations", "messages-square", "What became of every conversation",
            ConversationsView, "2"),
    ViewRow("files", "Files", "file-code", "Notes next to the source file", FilesView, "3"),
    ViewRow("library", "Library", "library", "Documents, and what they were good for", LibraryView, "4"),
    ViewRow("settings", "Settings", "settings", "What most people change; the file has the rest", SettingsView, "5"),
    ViewRow("search", "Search", "search", "Everything, ranked, and why it was found", SearchView),
)  # fmt: skip
TABS = tuple(row for row in VIEWS if row.key)
LIBRARY = "library"


def view_keys() -> tuple[Shortcut, ...]:
    """Ctrl with the number of a view opens it, also out of a text field; Ctrl+comma the settings."""
    return (
        *(Shortcut(row.key, row.action, row.label, ("Ctrl",), typing=True) for row in TABS),
        Shortcut(",", "view.settings", "Settings", ("Ctrl",), typing=True),
    )


LOADING = Teach("hourglass", "Loading…", "The store is being read")


class Workbench:
    """Builds a view when it is opened for the first time, and refreshes the one that is open."""

    def __init__(self, look: Look, shell: Shell) -> None:
        self._look, self._shell = look, shell
        self.views: dict[str, View] = {row.name: row.view(look, shell) for row in VIEWS}
        self.sides: dict[str, Column] = {name: view.side for name, view in self.views.items() if view.side is not None}
        self._holders: dict[str, int] = {}
        self._open = ""
        self._problems: tuple[ErrorInfo, ...] = ()
        self.on_harvest: Callable[[tuple[str, ...]], object] = lambda _sources: None
        """Called with the sources that will lose conversations."""

    def build(self, parent: int, side: int) -> None:
        """Make the holders of the views inside `parent`, and of their left columns inside `side`."""
        look = self._look
        self._sides = {name: box(look, side, "clear", height=0, show=False) for name in self.sides}
        self._holders = {name: box(look, parent, "clear", show=False) for name in self.views}
        self._loading = box(look, parent, "clear")
        EmptyState(look, self._loading, LOADING).show(True)

    def build_banner(self, parent: int, on_height: Callable[[int], object]) -> None:
        """Make the place for errors at the foot of `parent`, below whatever stands there: a view, a conversation or the
        page of the first start. What comes there takes some of its height, and moves nothing under the mouse."""
        self.banner = Banner(self._look, parent, on_height=on_height)

    def refresh(self, state: State) -> None:
        """Open the view that the state names, and let it show the state."""
        name = state.view if state.view in self.views else next(iter(self.views))
        if name != self._open:
            self.open(name)
        with self._look.fitting.inside(self._holders[name]):
            self.views[name].refresh(state)
        if name in self.sides:
            with self._look.fitting.inside(self._sides[name]):
                self.sides[name].refresh(state)
        waits = self.views[name].waits(state)
        dpg.configure_item(self._holders[name], show=not waits)
        dpg.configure_item(self._loading, show=waits and state.problem is None)

    def open(self, name: str) -> None:
        """Put a view into the middle, and let it know, also when it is there already."""
        if name != self._open:
            self._open_view(name)
        self.views[name].opened()

    def _open_view(self, name: str) -> None:
        if self._open:
            dpg.configure_item(self._holders[self._open], show=False)
        self._open = name
        for other, item in self._sides.items():
            dpg.configure_item(item, show=other == name)
        if name in self.sides and not dpg.get_item_children(self._sides[name], 1):
            with self._look.fitting.inside(self._sides[name]):
                self.sides[name].build(self._sides[name])
        holder = self._holders[name]
        dpg.configure_item(holder, show=not self.views[name].waits(self._shell.state))
        if not dpg.get_item_children(holder, 1):
            with self._look.fitting.inside(holder):
                self.views[name].build(holder)

    def press(self, key: str, typing: bool) -> bool:
        """A key for the open view."""
        view = self.views.get(self._open)
        return view is not None and not view.waits(self._shell.state) and view.press(key, typing)

    def show_error(
        self, error: ErrorInfo, action: str = "", on_action: Callable[[], object] | None = None, stays: bool = False
    ) -> None:
        """An error below the view; what `stays` is no error of one act."""
        self.banner.set(error, action, on_action, stays)
        self._shell.change()  # what stands there is told nowhere else

    def show_problems(self, problems: tuple[ErrorInfo, ...]) -> None:
        """What could not be read stands there until it is mended; what was closed by hand stays closed."""
        if problems == self._problems:
            return
        if problems:
            first = problems[0]
            action = "Trust…" if self._question(first) is not None else "Open it" if first.path else ""
            action = "Harvest…" if first.code == LATE else action
            self.show_error(first, action, partial(self._open_problem, first), True)
        elif self.banner.shown in self._problems:
            self.banner.hide()
        self._problems = problems

    def _question(self, problem: ErrorInfo) -> TrustRow | None:
        """What a problem asks the user about, None when it is no question."""
        found = self._shell.state.snapshot
        if found is None or problem.code != NOT_TRUSTED:
            return None
        return next((row for row in found.waiting if row.path == problem.path and row.state == WAITING), None)

    def _open_problem(self, problem: ErrorInfo) -> None:
        row = self._question(problem)
        if row is not None:
            words = "\n".join((*row.says[:12], f"and {len(row.says) - 12} more") if len(row.says) > 12 else row.says)
            trust = partial(
                self._shell.write, "trust", partial(trust_allow, file=row.path, seen=row.mark), said="Trusted"
            )
            self._shell.ask(asked(row), words, "Trust", trust, kind="danger")
        elif problem.code == LATE:
            found = self._shell.state.snapshot
            self.on_harvest(found.overview.status.late_sources if found is not None else ())
        else:
            self._shell.open_path(problem.path)
