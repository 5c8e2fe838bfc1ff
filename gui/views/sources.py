"""What a harvest reads: where other tools keep conversations, how many, and what those tools will delete.

First what it shows as rows, and the one thing it changes, as plain functions; then the line of one tool, then the
column, at the left of the conversations.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from functools import partial
from itertools import zip_longest

import dearpygui.dearpygui as dpg

from core.base.figures import count, seconds_of, size
from core.base.result import ErrorInfo
from core.commands.panel.bullets import local_day
from core.commands.sources import ALL, HOME, KEEP_DAYS, NAMES, SourceFound, SourcesReport, known_name, sources
from core.commands.workspace import utc_now
from gui.shell import RUN, Shell
from gui.state import State
from gui.toolkit.layout import box, lowered, spread
from gui.toolkit.letters import PATH
from gui.toolkit.theme import Look
from gui.toolkit.widgets import Button, Toggle, hint, say, say_hint, text
from gui.views.looks import ago, joined, ledger_unread, short_folder

KEY = "sources"


def is_here(found: SourceFound) -> bool:
    """Whether a tool left something here; the home folder always counts as found."""
    return bool(found.conversations) or found.name == HOME


def title_of(found: SourceFound) -> str:
    """What a source is called."""
    return "This home" if found.name == HOME else found.title


def source_words(found: SourceFound, now: float) -> str:
    """How many conversations of a source there are, and how far they are harvested; `now` in seconds since 1970."""
    if not found.conversations:
        return "nothing waits here" if is_here(found) else ""
    newest = f"the newest {ago(seconds_of(found.newest), now)}" if found.newest else ""
    parts = ((found.harvested, "harvested"), (found.grown, "grown since"), (found.new, "new"),
             (found.too_large, "too large"))  # fmt: skip
    return joined(count(found.conversations, "conversation"), size(found.bytes), newest,
                  *(f"{number:,} {what}" for number, what in parts if number))  # fmt: skip


def expiry_words(found: SourceFound, told: bool = True) -> tuple[str, str]:
    """What the tool itself deletes, in a sentence, and its colour: a warning when it is soon, louder when something
    would be lost, where the ledger has `told`. Two empty words for a tool that keeps everything."""
    if not found.expires_days or not found.conversations:
        return "", "hint"
    if not found.expiring:
        first = f"; the first on {local_day(found.next_expiry[:10])}" if found.next_expiry else ""
        return f"{found.title} deletes what is older than {count(found.expires_days, 'day')}{first}", "hint"
    soon = f"{found.title} deletes {found.expiring:,} of them within {KEEP_DAYS} days"
    lost = found.expiring_unharvested
    if not told:
        return soon, "edited"
    if not lost:
        return f"{soon}; all are harvested", "edited"
    words = "not harvested yet" if lost == found.expiring else f"{lost:,} not harvested yet"
    return f"{soon}, {words}", "failed"


def summary(rows: Sequence[SourceFound]) -> str:
    """The line above the rows."""
    tools = sum(bool(row.conversations) for row in rows if row.name != HOME)
    total = sum(row.conversations for row in rows)
    if not tools:
        return f"No other tool left anything here  ·  {count(total, 'conversation')} in all"
    return f"{count(tools, 'other tool')} left something here  ·  {total:,} conversations in all"


def named_paths(picked: Sequence[str]) -> list[str]:
    """Files and folders that the settings name beside the tools."""
    return [name for name in picked if known_name(name) not in (*NAMES, ALL)]


def is_picked(picked: Sequence[str], name: str) -> bool:
    """Whether a harvest reads a source, by the setting."""
    return not {name, ALL}.isdisjoint(map(known_name, picked))


def switched(picked: Sequence[str], name: str, on: bool) -> list[str]:
    """The setting with one source switched on or off; every other word of it stays as it was written."""
    if on:
        return [*picked] if is_picked(picked, name) else [*picked, name]
    spread = [part for one in picked for part in (NAMES if known_name(one) == ALL else (one,))]
    return [one for one in dict.fromkeys(spread) if known_name(one) != name]


class SourceLine:
    """A source with its switch, how many conversations it has, where they lie, and what its tool will delete.
    `on_switch(name, on)` hears of the switch, `on_harvest(name)` of the button that harvests it alone, where one is."""

    def __init__(
        self,
        look: Look,
        parent: int,
        on_switch: Callable[[str, bool], object],
        on_harvest: Callable[[str], object] | None = None,
    ) -> None:
        self._look, self.row = look, SourceFound("", "", False)
        self.item = look.theme(int(dpg.add_group(parent=parent, show=False)), "row-lines")
        left, right = spread(look, self.item)
        self.toggle = Toggle(look, left, "", lambda on: on_switch(self.row.name, on), tip="Whether a harvest reads it")
        self._number = text(look, lowered(look, right, 7), "", "small", "hint")
        self._alone = on_harvest
        self.harvest = Button(look, right, "", self._harvest, icon="wheat", kind="ghost",
                              tip="A dry run of this source alone: nothing is written")  # fmt: skip
        self._place = text(look, self.item, "", "small", "hint", fit=PATH)
        self._tip = hint(look, self._place, "")
        self.warning = text(look, self.item, "", "small", "edited", wrap=True)

    def show(self, row: SourceFound | None, on: bool = True, told: bool = True) -> None:
        """Fill it; None hides it. `on`: a harvest reads it; `told`: the ledger has said what is harvested."""
        dpg.configure_item(self.item, show=row is not None)
        if row is None:
            return
        self.row = row
        self.toggle.set_label(title_of(row))
        self.toggle.set_on(on)
        dpg.set_value(self._number, f"{row.conversations:,}" if row.conversations else "")
        folders = row.places if is_here(row) else []
        off = is_here(row) and not on
        say(self._place, "switched off: no harvest reads it" if off else "   ".join(map(short_folder, folders)))
        say_hint(self._tip, "\n".join((*folders, source_words(row, time.time()))))
        warning, color = expiry_words(row, told)
        say(self.warning, warning)
        self._look.tint(self.warning, color)
        self.harvest.show(row.conversations > 0 and self._alone is not None)

    def _harvest(self) -> None:
        if self._alone is not None:
            self._alone(self.row.name)


class SourcesColumn:
    """What a harvest reads, by tool: those that were found, and those that are switched on.

    The disk is looked at when it is first shown, when the ledger has changed, and when it is wished: looking walks
    through the project folders, which may take seconds, so it is not a part of the gathering of the store.
    """

    def __init__(self, look: Look, shell: Shell) -> None:
        self._look, self._shell = look, shell
        self.report: SourcesReport | None = None
        self.picked: tuple[str, ...] = ()
        self._config: object = None
        self._ledger: object = None
        self._looking = False

    def build(self, parent: int) -> None:
        """Make a line for every source there can be."""
        look = self._look
        self._card = box(look, parent, "card", height=0)
        left, right = spread(look, self._card)
        text(look, lowered(look, left, 6), "What a harvest reads", "strong")
        self.again = Button(look, right, "", self.look, icon="refresh-cw", kind="ghost",
                            tip="Look at the disk again; nothing is opened or written")  # fmt: skip
        self._summary = text(look, self._card, "", "small", "muted", wrap=True)
        self.lines = [SourceLine(look, self._card, self.switch, self.harvest) for _ in NAMES]
        self.add = Button(look, self._card, "Add a folder or an export…", self._shell.open_settings, icon="plus",
                          kind="link", tip="Name its folder under sources in the settings file")  # fmt: skip
        self._paths = text(look, self._card, "", "small", "hint", wrap=True)
        self._notes = text(look, self._card, "", "small", "edited", wrap=True)

    def refresh(self, state: State) -> None:
        """Take over other settings, look again after a harvest."""
        ledger = state.snapshot.ledger if state.snapshot is not None else None
        config = self._shell.workspace.config
        if config is not self._config:
            self._config, self.picked = config, config.sources
            self._show()
        if not self._looking and (self.report is None or ledger is not self._ledger):
            self.look()

    # --- what is shown ---

    def look(self) -> None:
        """Look at the disk; a harvest that runs comes first."""
        self._looking = True
        self.again.enable(False)
        workspace, state = self._shell.workspace, self._shell.state
        ledger = state.snapshot.ledger if state.snapshot is not None else None
        if self.report is None:
            waits = state.activity is not None
            dpg.set_value(self._summary, "Looks at the disk once the harvest has ended…" if waits else
                          "Looking at the disk…")  # fmt: skip

        def ended(report: SourcesReport | None) -> bool:
            """Whether it was of the home that is shown still."""
            self._looking, self._ledger = False, ledger
            self.again.enable(True)
            is_of_this = self._shell.workspace.paths == workspace.paths
            self.report = report if is_of_this else None
            return is_of_this

        def done(report: SourcesReport) -> None:
            if ended(report):
                self._show()
            self._shell.change()

        def failed(error: ErrorInfo) -> None:
            if ended(self.report):  # no change, which would look again at once
                dpg.set_value(self._summary, "")
                self._shell.error(error, "Try again", self.look)
            else:
                self._shell.change()

        self._shell.submit("Looking for conversations", lambda _job: sources(workspace, now=utc_now()), done,
                           failed=failed, lane=RUN)  # fmt: skip

    def _show(self) -> None:
        report = self.report
        if report is None:
            return
        on = {row.name: is_picked(self.picked, row.name) for row in report.rows}
        shown = [row for row in sorted(report.rows, key=is_here, reverse=True) if is_here(row) or on[row.name]]
        for place, row in zip_longest(self.lines, shown):
            place.show(row, row is not None and on[row.name], not ledger_unread(report.errors))
        dpg.set_value(self._summary, summary(report.rows))
        paths = named_paths(self.picked)
        say(self._paths, "Every harvest also reads " + ", ".join(paths) if paths else "")
        told = (error for error in report.errors if not error.code.startswith("ledger"))  # the banner tells of that
        say(self._notes, "\n".join([*map(str, told), *report.notes][:8]))

    # --- what the user does ---

    def harvest(self, name: str) -> None:
        """The harvest dialog with a dry run of one source."""
        self._shell.run(f"harvest.{name}")

    def switch(self, name: str, on: bool) -> None:
        """Read a source with every harvest, or no more; written into the settings at once, as a step of the window's
        history."""
        if self._shell.defers(partial(self.switch, name, on)):  # what is picked is known once it has been read back
            return
        rows = self.report.rows if self.report is not None else []
        title = next((title_of(row) for row in rows if row.name == name), name)
        picked, before = (json.dumps(one, ensure_ascii=False) for one in (switched(self.picked, name, on), self.picked))

        def said(value: str) -> str:
            read = on == (value == picked)
            return f"Harvests {'read' if read else 'leave'} {title}{'' if read else ' out'} from now on"

        def failed(error: ErrorInfo) -> None:
            self._show()
            self._shell.error(error)

        def done(value: str) -> None:
            self.picked = tuple(json.loads(value))
            self._show()

        self._shell.change_setting(KEY, picked, before, said, failed, done)
