"""The views in the middle of the panel: one row each, in the order of their tabs and number keys.

To add a view: write its class in a file of `gui/views/` (its shape is told at the top of `gui/shell.py`), and add a row
here. Its tab, its number key, its line in the keys dialog, its entry in the palette, and its reading of the store
(`gather`, where it has one) come from the row. What it shows is tested without a window, what it does with real clicks;
`tests/panel_gallery.py` takes its picture.

Below, the middle itself: tabs for the views, a place for errors and questions of trust, and the view that is open.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import dearpygui.dearpygui as dpg

from core.base.result import ErrorInfo
from core.commands.settings import NOT_TRUSTED, WAITING, TrustRow, asked, trust_allow
from gui.shell import Shell, View
from gui.state import State
from gui.toolkit.dialogs import Menu, MenuRow
from gui.toolkit.keys import Shortcut, label_of
from gui.toolkit.layout import box
from gui.toolkit.letters import LETTERS
from gui.toolkit.messages import Banner, EmptyState
from gui.toolkit.styles import FRAME, TIGHT, TIGHTEST
from gui.toolkit.theme import ROLES, Look
from gui.toolkit.widgets import Button, labelled
from gui.views.facts import FactsView
from gui.views.files import FilesView
from gui.views.knowledge import KnowledgeView
from gui.views.ledger import LedgerView
from gui.views.library.view import LibraryView
from gui.views.looks import capital
from gui.views.memories import MemoriesView
from gui.views.search import SearchView
from gui.views.settings import SettingsView
from gui.views.sources import SourcesView
from gui.views.timeline.view import TimelineView

WITH_CTRL = {"0": ","}
"""Ctrl+0 brings letters back to their size everywhere, Ctrl+comma opens the settings."""


@dataclass(frozen=True)
class ViewRow:
    """One view: the name that `shell.show` and `State.view` know it by, its tab, what its tooltip says, its class, its
    number key.

    A view that lies `under` another has no tab and no number: the two are one place with two depths, and above both
    stands a switch between them, with `depth` as its word.
    """

    name: str
    label: str
    icon: str
    tip: str
    view: type[View]
    key: str = ""
    under: str = ""
    depth: str = ""

    @property
    def action(self) -> str:
        """The name of the action that opens it."""
        return f"view.{self.name}"


VIEWS: tuple[ViewRow, ...] = (
    ViewRow("timeline", "Timeline", "calendar", "conversations and what they taught, day by day", TimelineView, "1"),
    ViewRow("ledger", "Ledger", "database", "what became of every conversation", LedgerView, "2"),
    ViewRow("knowledge", "Knowledge", "lightbulb", "what was learned", KnowledgeView, "3", depth="Bullets"),
    ViewRow("files", "Files", "file-code", "notes next to the source file", FilesView, "4"),
    ViewRow("search", "Search", "search", "everything, ranked, and why it was found", SearchView, "5"),
    ViewRow("library", "Library", "library", "documents, and what they were good for", LibraryView, "6"),
    ViewRow("memories", "Memories", "bookmark", "context files and memories, for every conversation", MemoriesView,
            "7"),
    ViewRow("facts", "Fact index", "list-checks", "confidence, age and confirmations of what was learned", FactsView,
            under="knowledge", depth="Fact index"),
    ViewRow("sources", "Sources", "layers", "conversations of other tools on this disk", SourcesView, "8"),
    ViewRow("settings", "Settings", "settings", "every setting and where it comes from", SettingsView, "0"),
)  # fmt: skip
TABS = tuple(row for row in VIEWS if not row.under)
DEEPER, HIGHER = "Alt+Down", "Alt+Up"


def place_of(name: str) -> str:
    """The tab that a view stands under: its own, where it has one."""
    return next((row.under or row.name for row in VIEWS if row.name == name), name)


def depths_of(name: str) -> tuple[ViewRow, ...]:
    """The views of one place, the highest first; empty where there is only one."""
    rows = tuple(row for row in VIEWS if place_of(row.name) == place_of(name))
    return rows if len(rows) > 1 else ()


def view_keys() -> tuple[Shortcut, ...]:
    """The number keys of the views; with Ctrl they open a view also out of a text field."""
    numbered = [row for row in VIEWS if row.key]
    return (
        *(Shortcut(row.key, row.action, row.label) for row in numbered),
        *(Shortcut(WITH_CTRL.get(row.key, row.key), row.action, row.label, ("Ctrl",), typing=True) for row in numbered),
    )


LOADING = "The store is being read"
PADDED = {TIGHT: "-tight", TIGHTEST: "-tightest"}
TAB_GAP = 6  # of the style "chips"
ERROR_SECONDS = 3.0  # an error younger than that goes along to the view that is opened


class Workbench:
    """Builds a view when it is opened for the first time, and refreshes the one that is open."""

    def __init__(self, look: Look, shell: Shell) -> None:
        self._look, self._shell = look, shell
        self.views: dict[str, View] = {row.name: row.view(look, shell) for row in VIEWS}
        self._holders: dict[str, int] = {}
        self._open = ""
        self._problems: tuple[ErrorInfo, ...] = ()

    def build(self, parent: int) -> None:
        """Make tabs, banner and the holders of the views inside `parent`."""
        look = self._look
        line = look.theme(int(dpg.add_group(horizontal=True, parent=parent)), "chips")
        keys = view_keys()
        self.tabs = {
            row.name: Button(look, line, row.label, self._opener(row.action), icon=row.icon, kind="tab",
                             tip=f"{row.label}: {row.tip}", shortcut=label_of(keys, row.action))
            for row in TABS
        }  # fmt: skip
        self._more = Button(look, line, "", self._show_more, icon="ellipsis", kind="tab-tight", tip="The other views")
        self._more.show(False)
        for style in ("tab-on-tight", "tab-tightest", "tab-on-tightest"):
            look.theme_id(style)  # made now, so that another size of the window makes no item later
        self._menu = Menu(look, most=len(TABS))
        self._shell.layers.append(self._menu.key)
        self._width, self._unsure = 0.0, False
        look.follow(parent, self._fit)
        look.on_change(self._name_tabs)
        look.every_tick(self._sure)
        self._depths = look.theme(int(dpg.add_group(horizontal=True, parent=parent, show=False)), "chips")
        deep = [row for row in VIEWS if row.depth]
        self.depths = {
            row.name: Button(look, self._depths, row.depth, self._opener(row.action), icon=row.icon, kind="tab-tight",
                             tip=f"{capital(row.tip)}", shortcut=DEEPER if row.under else HIGHER)
            for row in deep
        }  # fmt: skip
        for name in self.views:
            self._holders[name] = box(look, parent, "clear")
            dpg.configure_item(self._holders[name], show=False)
        self._loading = box(look, parent, "clear")
        self._holders[""] = self._loading
        loading = EmptyState(look, self._loading, self._loading, icon="hourglass", title="Loading…", words=LOADING)
        loading.show(True)
        # Below the view: what comes there takes some of its height, and moves nothing under the mouse.
        self.banner = Banner(look, parent, on_height=self._make_room)
        look.on_change(lambda: self._make_room(self.banner.height))

    def _make_room(self, high: int) -> None:
        gap = self._look.px(8)
        for holder in self._holders.values():
            dpg.configure_item(holder, height=-(high + gap) if high else -1)

    def _opener(self, action: str) -> Callable[[], object]:
        return lambda: self._shell.run(action)

    def _fit(self, width: float, _height: float) -> None:
        self._width = width
        self._name_tabs()

    def _name_tabs(self) -> None:
        """Names with icons; where there is no room for both, small names; in a narrow window icons with tooltips, and
        the name of the open view while that fits; in a very narrow one the last of them go into a menu."""
        place = place_of(self._open)
        names, room = [row.label for row in TABS], self._width or 9999.0
        icons = [labelled("", row.icon) for row in TABS]
        one = [labelled(row.label if row.name == place else "", row.icon) for row in TABS]
        ways = (
            ([labelled(row.label, row.icon) for row in TABS], "text", FRAME[0]),
            (names, "small", FRAME[0]),
            (names, "small", TIGHT),
            (names, "tiny", TIGHTEST),
            (one, "text", FRAME[0]),
            (one, "text", TIGHT),
            (icons, "text", TIGHT),
        )
        labels, role, padding = next((way for way in ways if sum(self._wide(*way)) <= room), ways[-1])
        wide, more = self._wide(labels, role, padding), self._wide(icons[:1], role, padding)[0]
        hidden: list[str] = []
        while len(hidden) < len(TABS) - 1 and sum(wide) > room - (more if hidden else 0):
            last = max(at for at, row in enumerate(TABS) if row.name not in (*hidden, place))
            hidden.append(TABS[last].name)
            wide[last] = 0
        for row, label in zip(TABS, labels, strict=True):
            tab, tight = self.tabs[row.name], PADDED.get(padding, "")
            tab.set_label(label, "")
            tab.set_kind(f"tab-on{tight}" if row.name == place else f"tab{tight}")
            tab.show(row.name not in hidden)
            self._look.font(tab.item, role)
        self._more.show(bool(hidden))

    def _wide(self, labels: list[str], role: str, padding: float) -> list[float]:
        """How wide tabs are, in pixels of the screen, with the gap behind each."""
        # The smallest letters are measured by the next larger ones: their font takes five megabytes, and few need it.
        share = ROLES[role][1] / ROLES["small"][1] if role == "tiny" else 1.0
        wide = LETTERS.wide(self._look.font_id("small" if role == "tiny" else role))
        around = self._look.px(2 * padding + TAB_GAP)
        self._unsure = self._unsure or wide is None  # a font that was never drawn tells no width yet
        return [(share * wide(label) if wide is not None else 0) + around for label in labels]

    def _sure(self) -> bool:
        """Before each frame: name the tabs again once their letters can be measured."""
        unsure, self._unsure = self._unsure, False
        if unsure:
            self._name_tabs()
        return unsure

    def _show_more(self) -> None:
        self._menu.open(
            [
                MenuRow(row.label, row.icon, self._opener(row.action), label_of(view_keys(), row.action))
                for row in TABS
                if not dpg.is_item_shown(self.tabs[row.name].item)
            ]
        )

    def refresh(self, state: State) -> None:
        """Open the view that the state names, and let it show the state."""
        name = state.view if state.view in self.views else next(iter(self.views))
        if name != self._open:
            self.open(name)
        with self._look.fitting.inside(self._holders[name]):
            self.views[name].refresh(state)
        waits = self._waits(name)
        dpg.configure_item(self._holders[name], show=not waits)
        dpg.configure_item(self._loading, show=waits and state.problem is None)

    def _waits(self, name: str) -> bool:
        """Whether a view has nothing to say yet: an empty one would say that there is nothing."""
        state = self._shell.state
        waits = getattr(self.views[name], "waits", None)
        return bool(waits(state)) if waits is not None else state.snapshot is None

    def open(self, name: str) -> None:
        """Put a view into the middle, and let it know, also when it is there already."""
        if name != self._open:
            self.banner.outlive(ERROR_SECONDS)
            self._open_view(name)
        opened = getattr(self.views[name], "opened", None)
        if opened is not None:
            opened()

    def _open_view(self, name: str) -> None:
        if self._open:
            dpg.configure_item(self._holders[self._open], show=False)
        self._open = name
        self._name_tabs()
        here = [row.name for row in depths_of(name)]
        dpg.configure_item(self._depths, show=bool(here))
        for other, button in self.depths.items():
            button.show(other in here)
            button.set_kind("tab-on-tight" if other == name else "tab-tight")
        holder = self._holders[name]
        dpg.configure_item(holder, show=not self._waits(name))
        if not dpg.get_item_children(holder, 1):
            with self._look.fitting.inside(holder):
                self.views[name].build(holder)

    def press(self, key: str, typing: bool) -> bool:
        """A key for the open view."""
        here = [row.name for row in depths_of(self._open)]
        if here and key in (DEEPER, HIGHER):
            at = here.index(self._open) + (1 if key == DEEPER else -1)
            if 0 <= at < len(here):
                self._shell.run(f"view.{here[at]}")
            return True
        ready = self._open and not self._waits(self._open)
        return bool(ready) and self.views[self._open].press(key, typing)

    def show_error(
        self, error: ErrorInfo, action: str = "", on_action: Callable[[], object] | None = None, stays: bool = False
    ) -> None:
        """An error below the view; what `stays` is no error of one act."""
        self.banner.set(error, action, on_action, stays)

    def show_problems(self, problems: tuple[ErrorInfo, ...]) -> None:
        """What could not be read stands there until it is mended; what was closed by hand stays closed."""
        if problems == self._problems:
            return
        if problems:
            first = problems[0]
            action = "Trust…" if self._question() is not None else "Open it" if first.path else ""
            self.show_error(first, action, self._open_problem, True)
        elif self.banner.shown in self._problems:
            self.banner.hide()
        self._problems = problems

    def _question(self) -> TrustRow | None:
        """What the first problem asks the user about, None when it is no question."""
        found = self._shell.state.snapshot
        if found is None or not found.problems or found.problems[0].code != NOT_TRUSTED:
            return None
        return next((row for row in found.waiting if row.path == found.problems[0].path and row.state == WAITING), None)

    def _open_problem(self) -> None:
        row = self._question()
        if row is not None:
            words = "\n".join((*row.says[:12], f"and {len(row.says) - 12} more") if len(row.says) > 12 else row.says)
            self._shell.ask(asked(row), words, "Trust", lambda: self._trust(row), kind="danger")
        elif self._problems:
            self._shell.open_path(self._problems[0].path)

    def _trust(self, row: TrustRow) -> None:
        self._shell.write(
            "trust",
            lambda workspace: trust_allow(workspace, row.path, seen=row.mark),
            done=lambda _report: self._shell.refresh(),
            said="Trusted",
        )

    def mended(self, problem: ErrorInfo | None) -> None:
        """What stood at the top is no more so."""
        if problem is not None and self.banner.shown == problem:
            self.banner.hide()

    def dispose(self) -> None:
        """Let the views go."""
        for view in self.views.values():
            view.dispose()
