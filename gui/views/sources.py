"""The view of the sources: where other tools keep conversations, what of them is harvested, what will be deleted."""

from __future__ import annotations

import os
import time
from typing import Any

import dearpygui.dearpygui as dpg

from core.base.result import Err, Result
from core.commands.sources import NAMES, SourcesReport, sources
from core.commands.workspace import utc_now
from gui.shell import RUN, Shell
from gui.state import State
from gui.toolkit.layout import Sight, box, card, lowered, space, spread
from gui.toolkit.theme import Look
from gui.toolkit.widgets import Button, section, text
from gui.views.source_card import SourceCard, SourceLine
from gui.views.sources_rows import SourceRow, named_paths, rows_of, summary, switch_source


class SourcesView:
    """Tools that were found as cards, the others as a list of switches. See gui/view.py.

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
        self.cards = [SourceCard(look, self._page, self.switch, self.harvest, self._open) for _ in NAMES]
        self._rest = int(dpg.add_group(parent=self._page, show=False))
        space(look, self._rest, 2)
        section(look, self._rest, "Not on this disk", "switch one on, and a harvest reads it once it is there")
        holder = look.theme(int(dpg.add_group(parent=card(look, self._rest).item)), "no-gap")
        self.lines = [SourceLine(look, holder, self.switch) for _ in NAMES]
        self._paths = text(look, self._page, "", "small", "hint", wrap=True)
        self._notes = text(look, self._page, "", "small", "edited", wrap=True)

    def refresh(self, state: State) -> None:
        """Take over other settings, look again after a harvest, count ages anew."""
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
            self._shell.rows_shown(sum(row.found for row in self.rows), len(self.rows))

    def press(self, key: str, typing: bool) -> bool:
        """The keys of the view; see `keys`."""
        if typing:
            return False
        if key == "R":
            self.look()
            return True
        found = [row for row in self.rows if row.found]
        if key in ("Up", "Down", "Home", "End") and found:
            names = [row.name for row in found]
            now = names.index(self.chosen) if self.chosen in names else -1
            to = {"Up": max(0, now - 1), "Down": min(len(names) - 1, now + 1), "Home": 0, "End": len(names) - 1}[key]
            self._choose(names[to])
            return True
        row = next((row for row in found if row.name == self.chosen), None)
        if row is None or key not in ("Space", "Enter", "O"):
            return False
        if key == "Space":
            self.switch(row.name, not row.on)
        elif key == "Enter" and row.total:
            self.harvest(row.name)
        elif key == "O":
            self._open(row)
        return True

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
            elif isinstance(result, Err):
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
        found = [row for row in self.rows if row.found]
        missing = [row for row in self.rows if not row.found]
        for number, one in enumerate(self.cards):
            one.show(found[number] if number < len(found) else None)
        for number, line in enumerate(self.lines):
            line.show(missing[number] if number < len(missing) else None)
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

    # --- what the person does ---

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

        self._shell.write(
            title,
            lambda workspace: switch_source(workspace, name, on),
            done=done,
            failed=failed,
        )

    def _open(self, row: SourceRow) -> None:
        there = [folder for folder in row.folders if os.path.isdir(folder)]
        if row.folders:
            self._shell.open_path((there or [*row.folders])[0])
