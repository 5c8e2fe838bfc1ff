"""The middle of the panel: tabs for the views, a place for errors, and the view that is open."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import dearpygui.dearpygui as dpg

from core.base.result import ErrorInfo
from gui.actions import SHORTCUTS, VIEWS
from gui.keys import label_of
from gui.shell import Shell, View
from gui.state import State
from gui.theme import Look
from gui.widgets import Button
from gui.widgets_layout import box
from gui.widgets_messages import Banner


class Workbench:
    """Builds a view when it is opened for the first time, and refreshes the one that is open."""

    def __init__(self, look: Look, shell: Shell, views: Mapping[str, type[View]]) -> None:
        self._look, self._shell = look, shell
        self.views: dict[str, View] = {name: make(look, shell) for name, make in views.items()}
        self._holders: dict[str, int] = {}
        self._open = ""
        self._refreshed: State | None = None

    def build(self, parent: int) -> None:
        """Make tabs, banner and the holders of the views inside `parent`."""
        look = self._look
        row = look.theme(int(dpg.add_group(horizontal=True, parent=parent)), "chips")
        self.tabs = {
            name: Button(look, row, label, self._opener(name), icon=icon, kind="tab", tip=f"{label}: {TIPS[name]}",
                         shortcut=label_of(SHORTCUTS, f"view.{name}"))
            for name, label, icon in VIEWS
            if name in self.views
        }  # fmt: skip
        self.banner = Banner(look, parent)
        for name in self.views:
            self._holders[name] = box(look, parent, "clear")
            dpg.configure_item(self._holders[name], show=False)

    def _opener(self, name: str) -> Callable[[], object]:
        return lambda: self._shell.run(f"view.{name}")

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


TIPS = {
    "ledger": "what became of every conversation",
    "knowledge": "bullets by category, edited in place",
    "files": "notes next to the source file",
    "settings": "every setting and where it comes from",
}
