"""The view of the sources: where other tools keep conversations, what of them is harvested, what will be deleted.

First what it shows as rows, and the one thing it changes, as plain functions; then the card of one tool, then the
view.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import dearpygui.dearpygui as dpg

from core.base.figures import count, size
from core.base.result import KnowledgeError, Result
from core.commands.panel.bullets import local_day
from core.commands.settings import config_set
from core.commands.sources import ALL, HOME, NAMES, SOON_DAYS, SourceFound, SourcesReport, known_name, sources
from core.commands.workspace import Workspace, reopened, utc_now
from gui.shell import RUN, Shell
from gui.state import State
from gui.toolkit.charts import Part, SegmentBar
from gui.toolkit.icons import icon
from gui.toolkit.layout import Sight, box, card, lowered, space, spread
from gui.toolkit.letters import END
from gui.toolkit.theme import Look
from gui.toolkit.widgets import Button, ButtonRow, Toggle, hint, say_hint, section, text
from gui.views.list_view import stepped
from gui.views.looks import ago, joined, seconds_of, short_folder

KEY = "sources"


@dataclass(frozen=True)
class SourceRow:
    """One tool. `on`: a harvest reads it. `parts` divide its conversations for the bar; `warning` says what its tool
    will delete, in `color`. `found`: it left something here (the home folder always counts as found)."""

    name: str
    title: str
    on: bool
    found: bool
    words: str = ""
    parts: tuple[Part, ...] = ()
    total: int = 0
    warning: str = ""
    color: str = "hint"
    folders: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """Where its conversations lie, as a user writes it."""
        return "   ".join(short_folder(row) for row in self.folders)


def rows_of(report: SourcesReport, picked: Sequence[str], now: float) -> tuple[SourceRow, ...]:
    """What was found first, in the order of the report. `picked` are the sources of the settings, `now` in seconds."""
    names = {known_name(name) for name in picked}
    rows = [row_of(found, found.name in names or ALL in names, now) for found in report.rows]
    return tuple(sorted(rows, key=lambda row: not row.found))


def row_of(found: SourceFound, on: bool, now: float) -> SourceRow:
    """One source as a row."""
    title = "This home" if found.name == HOME else found.title
    row = SourceRow(found.name, title, on, bool(found.conversations) or found.name == HOME)
    if not found.conversations:
        return replace(row, words="nothing waits here", folders=tuple(found.places)) if row.found else row
    parts: tuple[Part, ...] = (
        Part("harvested", found.harvested, "harvested", f"{found.harvested:,} harvested"),
        Part("grown", found.grown, "edited", f"{found.grown:,} grown since"),
        Part("new", found.new, "accent", f"{found.new:,} new"),
    )
    if found.too_large:
        parts = (*parts, Part("too large", found.too_large, "hint", f"{found.too_large:,} too large"))
    newest = f"the newest {ago(seconds_of(found.newest), now)}" if found.newest else ""
    words = joined(count(found.conversations, "conversation"), size(found.bytes), newest)
    warning, color = expiry_words(found)
    return replace(row, words=words, parts=parts, total=found.conversations, warning=warning, color=color,
                   folders=tuple(found.places))  # fmt: skip


def expiry_words(found: SourceFound) -> tuple[str, str]:
    """What the tool itself deletes, in a sentence, and its colour: a warning when it is soon, louder when something
    would be lost. Two empty words for a tool that keeps everything."""
    if not found.expires_days:
        return "", "hint"
    if not found.expiring:
        first = f"; the first on {local_day(found.next_expiry[:10])}" if found.next_expiry else ""
        return f"{found.title} deletes what is older than {count(found.expires_days, 'day')}{first}", "hint"
    soon = f"{found.title} deletes {found.expiring:,} of them within {SOON_DAYS} days"
    lost = found.expiring_unharvested
    if not lost:
        return f"{soon}; all are harvested", "edited"
    words = "not harvested yet" if lost == found.expiring else f"{lost:,} not harvested yet"
    return f"{soon}, {words}", "failed"


def summary(rows: Sequence[SourceRow], report: SourcesReport) -> str:
    """The line above the rows."""
    tools = sum(row.found for row in rows if row.name != HOME)
    total = sum(row.conversations for row in report.rows)
    if not tools:
        return f"No other tool left anything here  ·  {count(total, 'conversation')} in all"
    return f"{count(tools, 'other tool')} left something here  ·  {total:,} conversations in all"


def named_paths(picked: Sequence[str]) -> list[str]:
    """Files and folders that the settings name beside the tools."""
    return [name for name in picked if known_name(name) not in (*NAMES, ALL)]


def switched(picked: Sequence[str], name: str, on: bool) -> list[str]:
    """The setting with one source switched on or off; every other word of it stays as it was written."""
    named = {known_name(one) for one in picked}
    if on:
        return [*picked] if named & {name, ALL} else [*picked, name]
    spread = [part for one in picked for part in (NAMES if known_name(one) == ALL else (one,))]
    return [one for one in dict.fromkeys(spread) if known_name(one) != name]


def switch_source(workspace: Workspace, name: str, on: bool) -> tuple[str, ...]:
    """Switch one source on or off in the settings as they are on disk now; what they are then."""
    opened = reopened(workspace)
    words = json.dumps(switched(opened.config.sources, name, on), ensure_ascii=False)
    settings = config_set(opened, KEY, words).settings
    return next((tuple(row.value) for row in settings if row.key == KEY), ())


PARTS = 3


class SourceLine:
    """A source of which nothing is here: its switch alone. `on_switch(name, on)` hears of it."""

    READ = ("looked for by every harvest", "")
    """What stands beside the switch that is on, or off."""

    def __init__(self, look: Look, parent: int, on_switch: Callable[[str, bool], object]) -> None:
        self.item = look.theme(int(dpg.add_group(horizontal=True, parent=parent, show=False)), "beside")
        self._add_switch(look, self.item, on_switch, tip="Whether a harvest looks for it")

    def _add_switch(self, look: Look, parent: int, on_switch: Callable[[str, bool], object], **of: Any) -> None:
        self.row = SourceRow("", "", False, False)
        self.toggle = Toggle(look, parent, "", lambda on: on_switch(self.row.name, on), **of)
        self._read = text(look, lowered(look, parent, 7), "", "small", "hint", fit=END)

    def show(self, row: SourceRow | None) -> None:
        """Fill it; None hides it."""
        dpg.configure_item(self.item, show=row is not None)
        if row is None:
            return
        self.row = row
        self.toggle.set_label(row.title)
        if self.toggle.on != row.on:
            self.toggle.set_on(row.on)
        dpg.set_value(self._read, self.READ[not row.on])


class SourceCard(SourceLine):
    """A card for a source that was found; `on_harvest(name)` and `on_folder(row)` hear of it, too."""

    READ = ("read by every harvest", "read only if you ask")

    def __init__(
        self,
        look: Look,
        parent: int,
        on_switch: Callable[[str, bool], object],
        on_harvest: Callable[[str], object],
        on_folder: Callable[[SourceRow], object],
    ) -> None:
        self._look = look
        self.item = box(look, parent, "card", height=0)
        left, right = spread(look, self.item)
        self._add_switch(look, left, on_switch, tip="Whether a harvest reads it", shortcut="Space")
        self.folder = Button(look, right, "", lambda: on_folder(self.row), icon="folder-open", kind="ghost",
                             tip="Open its folder", shortcut="O")  # fmt: skip
        self.harvest = Button(look, right, "Harvest this…", lambda: on_harvest(self.row.name), icon="wheat",
                              tip="A dry run of this source alone: nothing is written", shortcut="Enter")  # fmt: skip
        ButtonRow(look, self.item, (self.folder, self.harvest), taken=210)
        body = look.theme(int(dpg.add_group(parent=self.item)), "row-lines")
        self._words = text(look, body, "", "text", "muted", wrap=True)
        self._bar = SegmentBar(look, body, self.item, height=6, most=PARTS)
        line = int(dpg.add_group(horizontal=True, parent=body))
        self._legend = line
        self._parts = [text(look, line, "", "small", fit=END) for _ in range(PARTS)]
        self.warning = text(look, body, "", "text", "edited", wrap=True)
        self._place = text(look, body, "", "small", "hint", wrap=True)
        self._tip = hint(look, self._place, "")
        dpg.configure_item(self.item, show=False)

    def show(self, row: SourceRow | None) -> None:
        super().show(row)
        if row is None:
            return
        dpg.set_value(self._words, row.words)
        self._bar.set(row.parts, row.total or 1)
        for item in (self._bar.item, self._legend):
            dpg.configure_item(item, show=bool(row.parts))
        for number, item in enumerate(self._parts):
            part = row.parts[number] if number < len(row.parts) else None
            dpg.configure_item(item, show=part is not None and part.value > 0)
            if part is not None:
                dpg.set_value(item, f"{part.words}   ")
                self._look.tint(item, part.color)
        sign = icon("clock" if row.color == "hint" else "triangle-alert")
        dpg.set_value(self.warning, f"{sign}  {row.warning}")
        self._look.tint(self.warning, row.color)
        dpg.configure_item(self.warning, show=bool(row.warning))
        dpg.set_value(self._place, row.place)
        say_hint(self._tip, "\n".join(row.folders))
        dpg.configure_item(self._place, show=bool(row.folders))
        self.harvest.enable(bool(row.total))

    def mark(self, on: bool) -> None:
        """Whether the keys mean this one."""
        self._look.theme(self.item, "card-on" if on else "card")


class SourcesView:
    """Tools that were found as cards, the others as a list of switches.

    The disk is looked at when the view is opened, when the ledger has changed, and when it is wished: looking walks
    through the project folders, which may take seconds, so it is not a part of the gathering of the store.
    """

    name = "sources"
    keys = (
        ("Up, Down", "Another source"),
        ("Space", "Read it with every harvest, or not"),
        ("Enter", "A dry run of this source alone"),
        ("O", "Open its folder"),
        ("R", "Look at the disk again"),
    )

    def __init__(self, look: Look, shell: Shell) -> None:
        self._look, self._shell = look, shell
        self.report: SourcesReport | None = None
        self.rows: tuple[SourceRow, ...] = ()
        self.picked: tuple[str, ...] = ()
        self.chosen = ""
        self._config: object = None
        self._ledger: object = None
        self._looking = False
        self._minute = 0

    def build(self, parent: int) -> None:
        """Make a card and a line for every source there can be."""
        look = self._look
        left, right = spread(look, parent)
        self._summary = text(look, lowered(look, left, 7), "", "text", "muted", wrap=True)
        self.again = Button(look, right, "Look again", self.look, icon="refresh-cw", kind="ghost",
                            tip="Look at the disk again; nothing is opened or written", shortcut="R")  # fmt: skip
        self._page = box(look, parent, "clear", scroll=True)
        self._sight = Sight(look, self._page)
        self.cards: Sequence[SourceCard] = [
            SourceCard(look, self._page, self.switch, self.harvest, self._open) for _ in NAMES
        ]
        self._rest = int(dpg.add_group(parent=self._page, show=False))
        space(look, self._rest, 2)
        section(look, self._rest, "Not on this disk", "switch one on to read it once it is there")
        holder = look.theme(int(dpg.add_group(parent=card(look, self._rest).item)), "no-gap")
        self.lines: Sequence[SourceLine] = [SourceLine(look, holder, self.switch) for _ in NAMES]
        self._paths = text(look, self._page, "", "small", "hint", wrap=True)
        self._notes = text(look, self._page, "", "small", "edited", wrap=True)

    def waits(self, _state: State) -> bool:
        """Never: it reads by itself what it shows."""
        return False

    def refresh(self, state: State) -> None:
        """Take over other settings, look again after a harvest, count ages again."""
        ledger = state.snapshot.ledger if state.snapshot is not None else None
        config, minute = self._shell.workspace.config, int(time.time() // 60)
        if config is not self._config:
            self._config, self.picked = config, config.sources
            self._show()
        elif minute != self._minute:
            self._show()
        self._minute = minute
        if not self._looking and (self.report is None or ledger is not self._ledger):
            self.look()
        if self.report is not None:
            found = sum(row.found for row in self.rows)
            self._shell.rows_shown(found, found)

    def press(self, key: str, typing: bool) -> bool:
        if typing:
            return False
        if key == "R":
            self.look()
            return True
        found = [row for row in self.rows if row.found]
        if key in ("Up", "Down", "Home", "End") and found:
            self._choose(stepped([row.name for row in found], self.chosen, key))
            return True
        row = next((row for row in found if row.name == self.chosen), None)
        if row is not None and key == "Space":
            self.switch(row.name, not row.on)
        elif row is not None and key == "Enter" and row.total:
            self.harvest(row.name)
        elif row is not None and key == "O":
            self._open(row)
        return row is not None and key in ("Space", "Enter", "O")

    def dispose(self) -> None:
        """Nothing lives outside of the parent."""

    # --- what is shown ---

    def look(self) -> None:
        """Look at the disk; a harvest that runs comes first."""
        if self._looking:
            return
        self._looking = True
        self.again.enable(False)
        workspace, state = self._shell.workspace, self._shell.state
        ledger = state.snapshot.ledger if state.snapshot is not None else None
        if self.report is None:
            waits = state.activity is not None
            dpg.set_value(self._summary, "Looks at the disk once the harvest has ended…" if waits else
                          "Looking at the disk…")  # fmt: skip

        def done(result: Result[Any]) -> None:
            self._looking, self._ledger = False, ledger
            self.again.enable(True)
            if self._shell.workspace.paths != workspace.paths:
                self.report = None
                self._shell.change()
            elif isinstance(result, KnowledgeError):
                dpg.set_value(self._summary, "")
                self._shell.error(result.error, "Try again", self.look)
            else:
                self.report = result.value
                self._show()
                self._shell.change()

        self._shell.submit("Looking for conversations", lambda _job: sources(workspace, now=utc_now()), done, lane=RUN)

    def _show(self) -> None:
        report = self.report
        if report is None:
            return
        self.rows = rows_of(report, self.picked, time.time())
        found, missing = ([row for row in self.rows if row.found is here] for here in (True, False))
        for rows, places in ((found, self.cards), (missing, self.lines)):
            for number, place in enumerate(places):
                place.show(rows[number] if number < len(rows) else None)
        dpg.configure_item(self._rest, show=bool(missing))
        self._mark()
        dpg.set_value(self._summary, summary(self.rows, report))
        paths = named_paths(self.picked)
        dpg.set_value(self._paths, "Every harvest also reads " + ", ".join(paths) if paths else "")
        dpg.configure_item(self._paths, show=bool(paths))
        notes = [*(str(error) for error in report.errors), *report.notes]
        dpg.set_value(self._notes, "\n".join(notes[:8]))
        dpg.configure_item(self._notes, show=bool(notes))

    def _mark(self) -> None:
        for one in self.cards:
            one.mark(one.row.name == self.chosen and bool(self.chosen))

    def _choose(self, name: str) -> None:
        self.chosen = name
        self._mark()
        one = next((one for one in self.cards if one.row.name == name), None)
        if one is not None:
            self._sight.show(one.item)

    # --- what the user does ---

    def harvest(self, name: str) -> None:
        """The harvest dialog with a dry run of one source."""
        self._shell.run(f"harvest.{name}")

    def switch(self, name: str, on: bool) -> None:
        """Read a source with every harvest, or no more; written into the settings at once."""
        title = next((row.title for row in self.rows if row.name == name), name)

        def done(picked: tuple[str, ...]) -> None:
            self.picked = picked
            self._show()
            words = f"Harvests read {title} from now on" if on else f"Harvests leave {title} out from now on"
            self._shell.toast(words, action="Undo", on_action=lambda: self.switch(name, not on))

        def failed(error: Any) -> None:
            self._show()
            self._shell.error(error)

        self._shell.write(title, lambda workspace: switch_source(workspace, name, on), done=done, failed=failed)

    def _open(self, row: SourceRow) -> None:
        there = [folder for folder in row.folders if os.path.isdir(folder)]
        if row.folders:
            self._shell.open_path((there or [*row.folders])[0])
