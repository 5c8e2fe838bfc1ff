"""The line at the top: the views, the one search, and the way home out of a demo."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import dearpygui.dearpygui as dpg

from gui import NAME
from gui.shell import Shell
from gui.state import State
from gui.toolkit.dialogs import Menu, MenuRow
from gui.toolkit.icons import icon
from gui.toolkit.keys import Shortcut, label_of
from gui.toolkit.layout import box, gap, lowered, spread
from gui.toolkit.letters import LETTERS
from gui.toolkit.theme import Look
from gui.toolkit.widgets import CONTROL_HEIGHT, Button, hint, say_hint, text
from gui.views.looks import short_folder

if TYPE_CHECKING:
    from gui.workbench import ViewRow

HEADER_HEIGHT = 56
SEARCH_WIDTH, SEARCH_LEAST, SEARCH_ICON = 400, 150, 40
SEARCH, LEAVE = "Search everything", "Leave the demo"
AROUND, SIGN = 32, 28  # of a tab, beside its letters; of the sign on the button that stands for all


class Header:
    """The top line of the panel. `compact`, or too narrow for all tabs: a button with a menu stands for them."""

    def __init__(
        self,
        look: Look,
        shell: Shell,
        rows: Sequence[ViewRow],
        shortcuts: tuple[Shortcut, ...] = (),
        compact: bool = False,
    ) -> None:
        self._look, self._shell, self._shortcuts, self._compact = look, shell, shortcuts, compact
        self._rows = tuple(rows)
        self._wide = 0.0
        self._seen: tuple[object, ...] = ()
        self._there: tuple[str, ...] = ()

    def build(self, parent: int) -> None:
        """Make the line inside `parent`."""
        look, shell = self._look, self._shell
        bar = box(look, parent, "bar", height=HEADER_HEIGHT)
        left, right = spread(look, bar)
        self.mark = text(look, lowered(look, left, 4), icon("library"), "heading", "accent")
        self._name = text(look, lowered(look, left, 6), NAME, "strong")
        self._home_tip = hint(look, self.mark, "")
        self.chooser = Button(look, left, "", self._choose, icon="chevron-down", kind="tab-on")
        self.tabs = {
            row.name: Button(look, left, row.label, partial(shell.run, row.action), kind="tab", tip=row.tip,
                             shortcut=label_of(self._shortcuts, row.action))
            for row in self._rows
        }  # fmt: skip
        self._menu = Menu(look, most=len(self._rows))
        shell.layers.append(self._menu.key)
        self.back = Button(look, right, LEAVE, lambda: shell.run("home.own"), icon="house")
        self._back_tip = hint(look, self.back.item, "")
        gap(look, right, 4)
        self.search = int(dpg.add_button(label="", parent=right, callback=lambda: look.jobs.post(shell.run, "search")))
        look.theme(self.search, "search-button")
        shell.search_place = box(look, right, "clear", width=SEARCH_WIDTH, height=CONTROL_HEIGHT)
        hint(look, self.search, "Search everything, and all commands", label_of(self._shortcuts, "search"))
        look.follow(bar, self._fit)

    def _fit(self, width: float, _height: float) -> None:
        self._wide = width / self._look.scale
        self._share_out()

    def _long(self, words: str) -> float:
        return LETTERS.wide(self._look.font_id("text"))(words) / self._look.scale

    def _share_out(self) -> None:
        """Tabs while they fit, else one button for them; the search takes what is left."""
        if self._wide <= 0:
            return
        rows = [row for row in self._rows if row.name in self._there]
        back = self._long(LEAVE) + 60 if self._shell.state.away else 0.0
        spare = self._wide - 60 - back - sum(self._long(row.label) + AROUND for row in rows)
        narrow = self._compact or spare < SEARCH_LEAST
        named = not self._compact and spare - self._long(NAME) - AROUND >= SEARCH_LEAST
        dpg.configure_item(self._name, show=named)
        spare -= self._long(NAME) + AROUND if named else 0
        self.chooser.show(narrow)
        for row in self._rows:
            self.tabs[row.name].show(not narrow and row.name in self._there)
        if narrow:
            spare = self._wide - 60 - back - self._long(self.chooser.label) - AROUND - SIGN
        small = spare < SEARCH_LEAST
        width = SEARCH_ICON if small else min(SEARCH_WIDTH, spare)
        words = icon("search") if small else f"{icon('search')}   {SEARCH}"
        words += "      Ctrl+K" if self._long(f"{words}      Ctrl+K") < width - AROUND else ""
        dpg.configure_item(self.search, label=words)
        self._look.size(self.search, width=width)
        self._look.size(self._shell.search_place, width=max(width, SEARCH_LEAST))

    def _choose(self) -> None:
        left, top = dpg.get_item_rect_min(self.chooser.item)
        rows = [
            MenuRow(row.label, row.icon, partial(self._shell.run, row.action), label_of(self._shortcuts, row.action))
            for row in self._rows
            if row.name in self._there
        ]
        self._menu.open(rows, (left, top + dpg.get_item_rect_size(self.chooser.item)[1] + 4))

    def refresh(self, state: State, there: tuple[str, ...]) -> None:
        """Show which view is open; `there` are the tabs that have something to show."""
        now = (state.view, state.away, state.home, there, self._look.scale)
        if now == self._seen:
            return
        self._seen, self._there = now, there
        for row in self._rows:
            self.tabs[row.name].set_kind("tab-on" if row.name == state.view else "tab")
        self.chooser.set_label(next((row.label for row in self._rows if row.name == state.view), "Search"))
        self.back.show(state.away)
        dpg.configure_item(self.search, show=state.view != "search")
        dpg.configure_item(self._shell.search_place, show=state.view == "search")
        say_hint(self._back_tip, f"Back to your own home. The demo lies in {state.home}; the next one begins it again")
        say_hint(self._home_tip, f"The home folder: {short_folder(state.home)}")
        self._share_out()
