"""The line at the top: which home this is, the search, the switch for the digest, and the one button that harvests."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import NamedTuple

import dearpygui.dearpygui as dpg

import core.knowledge.run_state as run_state
from gui.shell import Shell
from gui.state import State
from gui.toolkit.icons import icon
from gui.toolkit.keys import Shortcut, label_of
from gui.toolkit.layout import box, gap, lowered, spread
from gui.toolkit.letters import LETTERS
from gui.toolkit.theme import Look
from gui.toolkit.widgets import Button, Toggle, hint, say_hint, text
from gui.views.digest_switch import LABEL, DigestSwitch
from gui.views.looks import capital

HEADER_HEIGHT = 48
SEARCH_WIDTH, SEARCH_LEAST, SEARCH_ICON = 300, 210, 40
TITLE, SEARCH = "Knowledge", "Search and commands"
ICON_WIDTH, GAP = 36, 8
GOES = ("home", "panes", "title", "theme", "search", "label", "refresh")
"""What a narrow window leaves out, one after the other: each of them can be done, or seen, in another place as well."""
BUTTONS = (
    ("pane.rail", "panel-left", "Hide or show the left column"),
    ("pane.inspector", "panel-right", "Hide or show the inspector"),
    ("theme", "sun", "Light or dark"),
    ("refresh", "refresh-cw", "Read everything again"),
)


class HarvestButton(NamedTuple):
    """The button that harvests: what stands on it, what its tooltip says, and its words in the palette."""

    label: str
    icon: str
    tip: str
    words: str


HARVEST = HarvestButton("Harvest…", "wheat", "Look what a harvest would do; nothing changes before you say so",
                        "Harvest: look first, then apply")  # fmt: skip


def harvest_button(state: State) -> HarvestButton:
    """What the button says: while a harvest runs here it shows that, and while another program is at work, which."""
    if state.activity is not None:
        words = "Show the harvest that is running"
        return HarvestButton("Harvesting…", "loader", f"{words}: what is read, what came of it, what it costs", words)
    run = state.snapshot.overview.status.stands.run if state.snapshot is not None else None
    if run is not None and run.state == run_state.ELSEWHERE:
        tip = f"{capital(run.words)}; a harvest can begin when it has ended"
        return HarvestButton("At work…", "loader", tip, "Harvest: another program is at work, see which one")
    return HARVEST


def home_words(home: str, user_home: str) -> str:
    """The home as a user writes it: with ~ for their own folder, its middle left out when it is long."""
    path, own = Path(home), Path(user_home)
    words = f"~/{path.relative_to(own).as_posix()}" if user_home and path.is_relative_to(own) else home
    return words if len(words) <= 34 else f"{words[:12]}…{words[-20:]}"


class Header:
    """The top line of the panel."""

    def __init__(self, look: Look, shell: Shell, shortcuts: tuple[Shortcut, ...] = ()) -> None:
        self._look, self._shell, self._shortcuts = look, shell, shortcuts
        self._shown: tuple[object, ...] = ()
        self._wide = 0.0
        self._home_words = ""

    def _key(self, command: str) -> str:
        return label_of(self._shortcuts, command)

    def build(self, parent: int) -> int:
        """Make the line inside `parent`."""
        look, shell = self._look, self._shell
        bar = box(look, parent, "bar", height=HEADER_HEIGHT)
        left, right = spread(look, bar)
        mark = lowered(look, left, 3)
        self.mark = text(look, mark, icon("library"), "heading", "accent")
        self._title = text(look, mark, TITLE, "heading")
        self._home_holder = lowered(look, left, 8)
        self._home = text(look, self._home_holder, "", "mono", "hint")
        self._home_tip = hint(look, self._home, "")
        self.back = Button(look, left, "Leave the demo", lambda: shell.run("home.own"), icon="house")
        self._back_tip = hint(look, self.back.item, "")
        self.back.show(False)
        gap(look, left, 10)
        self.search = int(dpg.add_button(label=f"{icon('search')}   {SEARCH}", parent=left,
                                         callback=lambda: look.jobs.post(shell.run, "palette")))  # fmt: skip
        look.size(look.theme(self.search, "search-button"), width=SEARCH_WIDTH)
        hint(look, self.search, "Find bullets, files, views and commands", self._key("palette"))
        gap(look, left, 10)
        self.digest = DigestSwitch(look, shell, self._key("digest.toggle"))
        self.digest.build(left)
        buttons = {
            action: Button(look, right, "", partial(shell.run, action), icon=picture, kind="ghost", tip=tip,
                           shortcut=self._key(action))
            for action, picture, tip in BUTTONS
        }  # fmt: skip
        self.panes = {name: buttons[f"pane.{name}"] for name in ("rail", "inspector")}
        self.theme, self.refresh_button = buttons["theme"], buttons["refresh"]
        self.harvest = Button(look, right, HARVEST.label, lambda: shell.run("harvest"), icon="wheat", kind="primary")
        self._harvest_tip = hint(look, self.harvest.item, HARVEST.tip, self._key("harvest"))
        self._harvest = HARVEST
        self.first = False
        """Whether the page of the first start stands below, with a filled button of its own."""
        look.follow(bar, self._fit)
        return bar

    def show_pane(self, name: str, on: bool) -> None:
        """Tell by the button's colour whether a column is there."""
        self.panes[name].set_kind("ghost" if on else "ghost-lit")

    def _fit(self, width: float, _height: float) -> None:
        self._wide = width / self._look.scale
        self._share_out()

    def _share_out(self) -> None:
        """Leave out what the window is too narrow for; the search takes what is left."""
        if self._wide <= 0:
            return
        state = self._shell.state
        parts = {
            "mark": 20.0 + 10 + GAP, "title": self._length(TITLE, "heading") + GAP,
            "home": 0.0 if state.away else self._length(self._home_words, "mono") + GAP,
            "back": (self._length("Leave the demo") + ICON_WIDTH + GAP + 16) if state.away else 0.0,
            "search": float(SEARCH_LEAST) + 10 + GAP, "toggle": Toggle.WIDTH + 10.0 + 2 * GAP,
            "label": self._length(LABEL) + GAP, "panes": len(self.panes) * float(ICON_WIDTH + GAP),
            "theme": float(ICON_WIDTH + GAP), "refresh": float(ICON_WIDTH + GAP), "more": float(ICON_WIDTH + GAP),
            "harvest": self._length(self.harvest.label) + 20 + GAP,
        }  # fmt: skip
        gone: set[str] = set()
        for name in ("", *GOES):
            gone.add(name)
            spare = self._wide - sum(
                SEARCH_ICON + 10 + GAP if part == "search" and part in gone else 0 if part in gone else length
                for part, length in parts.items()
            )
            if spare >= 0:
                break
        dpg.configure_item(self._title, show="title" not in gone)
        dpg.configure_item(self._home_holder, show="home" not in gone and not state.away)
        for button in self.panes.values():
            button.show("panes" not in gone)
        self.theme.show("theme" not in gone)
        self.refresh_button.show("refresh" not in gone)
        self.digest.name("label" not in gone)
        small = "search" in gone
        dpg.configure_item(self.search, label=icon("search") if small else f"{icon('search')}   {SEARCH}")
        width = SEARCH_ICON if small else max(SEARCH_LEAST, min(SEARCH_WIDTH, SEARCH_LEAST + spare))
        self._look.size(self.search, width=width)

    def _length(self, words: str, role: str = "text") -> float:
        """How wide words are, in unscaled pixels."""
        wide = LETTERS.wide(self._look.font_id(role))
        return wide(words) / self._look.scale if wide is not None else 8.0 * len(words)

    def refresh(self, state: State) -> None:
        """Show home, switch and button as they are."""
        self.digest.refresh(state)
        wanted = harvest_button(state)
        if wanted != self._harvest:
            self._harvest = wanted
            self.harvest.set_label(wanted.label, wanted.icon)
            say_hint(self._harvest_tip, wanted.tip)
            self._shell.reword("harvest", wanted.words)
        self.harvest.set_kind("primary" if wanted == HARVEST and not self.first else "secondary")
        now = (state.home, state.away, self._look.palette.name, wanted.label)
        if now == self._shown:
            return
        self._shown = now
        self.back.show(state.away)
        self._home_words = home_words(state.home, str(Path.home()))
        dpg.set_value(self._home, self._home_words)
        self._share_out()
        say_hint(self._home_tip, f"The home folder: {state.home}")
        say_hint(self._back_tip, f"Back to your own home. The demo lies in {state.home}; the next one begins it again")
        self.theme.set_label("", "moon" if self._look.palette.name == "light" else "sun")
