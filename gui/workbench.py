"""The middle of the panel: tabs for the views, a place for errors, and the view that is open."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import dearpygui.dearpygui as dpg

from core.base.result import ErrorInfo
from gui.keys import label_of
from gui.shell import Shell
from gui.state import State
from gui.styles import FRAME
from gui.theme import Look
from gui.view import View
from gui.views.table import VIEWS, view_keys
from gui.widgets import Button, labelled
from gui.widgets_layout import box
from gui.widgets_messages import Banner

TAB_GAP = 6  # of the style "chips"


class Workbench:
    """Builds a view when it is opened for the first time, and refreshes the one that is open."""

    def __init__(self, look: Look, shell: Shell) -> None:
        self._look, self._shell = look, shell
        self.views: dict[str, View] = {row.name: row.view(look, shell) for row in VIEWS}
        self._holders: dict[str, int] = {}
        self._open = ""
        self._refreshed: State | None = None

    def build(self, parent: int) -> None:
        """Make tabs, banner and the holders of the views inside `parent`."""
        look = self._look
        line = look.theme(int(dpg.add_group(horizontal=True, parent=parent)), "chips")
        keys = view_keys()
        self.tabs = {
            row.name: Button(look, line, row.label, self._opener(row.action), icon=row.icon, kind="tab",
                             tip=f"{row.label}: {row.tip}", shortcut=label_of(keys, row.action))
            for row in VIEWS
        }  # fmt: skip
        self._width = 0.0
        look.follow(parent, self._fit)
        self.banner = Banner(look, parent)
        for name in self.views:
            self._holders[name] = box(look, parent, "clear")
            dpg.configure_item(self._holders[name], show=False)

    def _opener(self, action: str) -> Callable[[], object]:
        return lambda: self._shell.run(action)

    def _fit(self, width: float, _height: float) -> None:
        self._width = width
        self._name_tabs()

    def _name_tabs(self) -> None:
        """Names with icons; where there is no room for both, small names; in a narrow window icons with tooltips, and
        the name of the open view only."""
        look, room = self._look, self._width
        full = self._wide([labelled(row.label, row.icon) for row in VIEWS], "text")
        small = 0 < room < full
        narrow = small and room < self._wide([row.label for row in VIEWS], "small")
        for row in VIEWS:
            named = not narrow or row.name == self._open
            tab = self.tabs[row.name]
            tab.set_label(row.label if named else "", row.icon if not small or narrow else "")
            look.font(tab.item, "small" if small and not narrow else "text")

    def _wide(self, labels: Sequence[str], role: str) -> float:
        """How wide a line of tabs is, in pixels of the screen."""
        sizes = [dpg.get_text_size(label, font=self._look.font_id(role)) for label in labels]
        return sum((size[0] if size else 0) + self._look.px(2 * FRAME[0] + TAB_GAP) for size in sizes)

    def refresh(self, state: State) -> None:
        """Open the view that the state names, and let it show the state."""
        name = state.view if state.view in self.views else next(iter(self.views))
        if name != self._open:
            self._open_view(name)
        self.views[name].refresh(state)

    def _open_view(self, name: str) -> None:
        if self._open:
            dpg.configure_item(self._holders[self._open], show=False)
            self.tabs[self._open].set_kind("tab")
        self._open = name
        self.tabs[name].set_kind("tab-on")
        self._name_tabs()
        holder = self._holders[name]
        dpg.configure_item(holder, show=True)
        if not dpg.get_item_children(holder, 1):
            self.views[name].build(holder)

    def press(self, key: str, typing: bool) -> bool:
        """A key for the open view."""
        return bool(self._open) and self.views[self._open].press(key, typing)

    def show_error(self, error: ErrorInfo, action: str = "", on_action: Callable[[], object] | None = None) -> None:
        """An error at the top of the middle."""
        self.banner.set(error, action, on_action)

    def dispose(self) -> None:
        """Let the views go."""
        for view in self.views.values():
            view.dispose()
