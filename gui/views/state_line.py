"""How the store stands, in one line: a sentence whose numbers lead somewhere, what runs now, and the button that
harvests."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import dearpygui.dearpygui as dpg

import core.knowledge.run_state as run_state
from core.base.figures import count, dollars, seconds_of, tokens
from core.base.result import ErrorInfo
from gui.shell import Shell
from gui.state import Activity, State
from gui.toolkit.icons import icon
from gui.toolkit.keys import Shortcut, label_of
from gui.toolkit.layout import box, gap, lowered, spread
from gui.toolkit.letters import END
from gui.toolkit.messages import error_words
from gui.toolkit.theme import Look
from gui.toolkit.widgets import Button, Progress, hint, say_hint, text
from gui.views.looks import NOT_HARVESTED, ago, autopilot_words, capital, left_words

STATE_HEIGHT, LINKS, NARROW = 46, 4, 760


class HarvestButton(NamedTuple):
    """The button that harvests: what stands on it, what its tooltip says, whether it is filled (something waits, and
    nobody is at it), the action that it does, and who is at work already."""

    label: str
    icon: str
    tip: str
    waits: bool = False
    action: str = "harvest"
    at_work: str = ""


LOOK = "Look what a harvest would do and what it would cost; nothing changes before you say so"
DAMAGED = "ledger-corrupt"
"""The code of what the check of the store puts right, and a harvest stumbles over."""
HARVEST = HarvestButton("Harvest…", "wheat", LOOK)


def waiting_of(state: State) -> int:
    """How many conversations a harvest would read, those that failed among them."""
    found = state.snapshot
    return int(found.overview.status.pending.get("conversations", 0)) if found is not None else 0


def harvest_button(state: State) -> HarvestButton:
    """What the button says: while a harvest runs here it shows that, and while another program is at work, which."""
    if state.activity is not None:
        tip = "Show the harvest that is running: what is read, what came of it, what it costs"
        return HarvestButton("Harvesting…", "loader", tip, at_work="one is running")
    run = state.snapshot.overview.status.stands.run if state.snapshot is not None else None
    if run is not None and run.state == run_state.ELSEWHERE:
        tip = f"{capital(run.words)}; a harvest can begin when it has ended"
        return HarvestButton("At work…", "loader", tip, at_work="another program is at work")
    if state.snapshot is not None and any(one.code == DAMAGED for one in state.snapshot.problems):
        words = "Repair the ledger: look first, then mend it from the plans that prove it"
        return HARVEST._replace(label="Repair…", icon="shield-check", tip=words, waits=True, action="doctor")
    number = waiting_of(state)
    return HARVEST._replace(label=f"Harvest {number:,}…", waits=True) if number else HARVEST


class Link(NamedTuple):
    """One part of the sentence: its words, in which colour, and the action that it leads to."""

    words: str
    action: str
    color: str = "text"


def links(state: State) -> list[Link]:
    """`234 bullets` (as many as the list has), `from 221 conversations`, `15 not harvested yet`, `22 failed`:
    what is not zero, and the first always; of a large store what its ledger tells at once, nothing while nobody
    knows."""
    found, first = state.snapshot, state.first_counts
    if found is None and first is None:
        return []
    counts = found.overview.status.ledger if found is not None else first or {}
    harvested, failed = counts.get("harvested", 0), counts.get("harvest-failed", 0)
    waiting = len(found.overview.waiting) if found is not None else 0  # what failed is told as failed
    parts = []
    book = state.of("knowledge")
    if found is not None and book is not None:
        parts.append(Link(count(book.number, "bullet"), "show.all"))
    parts += [Link(f"from {count(harvested, 'conversation')}", "show.harvested", "muted")] if harvested else []
    parts += [Link(f"{waiting:,} {NOT_HARVESTED}", "show.waiting", "accent")] if waiting else []
    return parts + ([Link(f"{failed:,} failed", "show.harvest-failed", "muted")] if failed else [])


def activity_words(activity: Activity) -> str:
    """`Harvesting 49 of 118 · 1 failed · about 2 min left · $0.02`."""
    parts = [f"Harvesting {activity.done:,} of {activity.total:,}" if activity.total else "Harvesting"]
    parts += [f"{activity.failed:,} failed"] if activity.failed else []
    if activity.stopping:
        return f"{parts[0]} · stopping after this step"
    if left := left_words(activity.left):
        parts.append(left)
    if activity.tokens:
        parts.append(f"{tokens(activity.tokens)} tokens")
    if activity.price:
        parts.append(dollars(activity.price))
    return " · ".join(parts)


def resting_words(state: State, now: float, told: ErrorInfo | None = None) -> tuple[str, str, str]:
    """Icon, colour and sentence while nothing runs: what is wrong and not `told` below, else when something was
    harvested last."""
    if state.problem is not None:
        return "circle-alert", "failed", capital(state.problem.message)
    if state.snapshot is None:
        return "hourglass", "hint", "Reading the store…"
    found = state.snapshot
    run = found.overview.status.stands.run
    if run.at_work:
        return "loader", "accent", capital(run.words)
    if run.state == run_state.INTERRUPTED:
        return "triangle-alert", "edited", capital(run.words)
    if damage := next((one for one in found.problems if one.code == DAMAGED), None):
        return "circle-alert", "failed", capital(damage.message.partition(":")[0])
    if problems := [one for one in found.problems if one != told]:
        first, more = error_words(replace(problems[0], path="", hint="")).rstrip("."), len(problems) - 1
        return "triangle-alert", "edited", f"{first} (and {count(more, 'more warning')})" if more else first
    harvests = [run for run in found.overview.runs if run.kind == "harvest"]
    at, failed = found.ledger.newest
    last = max(next((run.when for run in harvests if run.when), ""), at)
    itself = found.overview.status.autopilot
    if itself is not None and itself.at >= last[:19]:
        if itself.problem is not None:
            return "triangle-alert", "edited", f"The harvest by itself could not: {itself.problem}"
        return autopilot_words(itself, now)
    if not last:
        return "circle-dashed", "hint", "No harvest yet"
    read = next((f", {count(run.harvested, 'conversation')}" for run in harvests if run.when == last), "")
    words = f"Last harvest: {ago(seconds_of(last), now)}{read}"
    return ("triangle-alert", "edited", f"{words} · {failed:,} failed") if failed else ("circle-check", "hint", words)


class StateLine:
    """The line below the header. `cancel` stops the running job, `finish` ends one that was cut off."""

    def __init__(
        self,
        look: Look,
        shell: Shell,
        shortcuts: tuple[Shortcut, ...],
        cancel: Callable[[], object],
        finish: Callable[[], object],
    ) -> None:
        self._look, self._shell, self._shortcuts = look, shell, shortcuts
        self._cancel, self._finish = cancel, finish
        self._shown: tuple[object, ...] = ()
        self._harvest = HARVEST
        self._narrow = False
        self.first = False
        """Whether the page of the first start stands below, with a filled button of its own."""
        self.told: ErrorInfo | None = None
        """What stands at the foot of the panel, and need not be said here."""

    def build(self, parent: int) -> None:
        """Make the line inside `parent`."""
        look = self._look
        bar = box(look, parent, "foot", height=STATE_HEIGHT)
        left, right = spread(look, bar)
        # Stop stands before the text, so that it does not move under the mouse while the text changes.
        self.cancel = Button(look, left, "Stop", self._cancel, icon="circle-stop",
                             tip="Ends after the current conversation; what is done stays done")  # fmt: skip
        self.finish = Button(look, left, "Finish now", self._finish, icon="circle-check", kind="secondary",
                             tip="Write what was read, and bring ledger and digest up to date")  # fmt: skip
        for button in (self.cancel, self.finish):
            button.show(False)
        self._bar_holder = int(dpg.add_group(parent=left, show=False))
        self._progress = Progress(look, lowered(look, self._bar_holder, 10), width=140)
        self._acts = [""] * LINKS
        self.links = [Button(look, left, "", partial(self._follow, at), kind="words") for at in range(LINKS)]
        for link in self.links:
            link.show(False)
        words = lowered(look, left, 6)
        self._icon = text(look, words, icon("hourglass"), "text", "hint")
        self._words = text(look, words, "", "text", "muted", fit=END)
        gap(look, right, 8)
        self.harvest = Button(look, right, HARVEST.label, lambda: self._shell.run(self._harvest.action), icon="wheat",
                              kind="secondary")  # fmt: skip
        self._harvest_tip = hint(look, self.harvest.item, HARVEST.tip, label_of(self._shortcuts, "harvest"))
        look.follow(bar, self._fit)

    def _fit(self, width: float, _height: float) -> None:
        narrow = width < self._look.px(NARROW)
        if narrow != self._narrow:
            self._narrow = narrow
            self._shell.change()

    def _follow(self, at: int) -> None:
        self._shell.run(self._acts[at])

    def refresh(self, state: State) -> None:
        """Show what runs, or how it stands."""
        running = state.activity
        if running is not None:
            sign, color, words = "loader", "accent", activity_words(running)
            fraction = running.done / running.total if running.total else 0.0
        else:
            (sign, color, words), fraction = resting_words(state, time.time(), self.told), -1.0
        stands = state.snapshot.overview.status.stands.run if state.snapshot is not None else None
        cut_off = running is None and stands is not None and stands.state == run_state.INTERRUPTED
        if running is None and stands is not None and stands.at_work and stands.of:
            fraction = stands.through / stands.of
        parts = links(state) if running is None and state.problem is None else []
        if self._narrow:  # the first figures with a sign, or the sentence about what goes on or is broken: not both
            parts, words = ([], words) if cut_off or color in ("failed", "accent") else (parts[:2], "")
        wanted = harvest_button(state)
        view = (sign, color, words, fraction, tuple(parts), cut_off, running is not None and running.stopping, wanted,
                self.first)  # fmt: skip
        if view == self._shown:
            return
        self._shown = view
        dpg.set_value(self._icon, icon(sign) if sign else "")
        self._look.tint(self._icon, color)
        dpg.set_value(self._words, words)
        for at, link in enumerate(self.links):
            part = parts[at] if at < len(parts) else None
            link.show(part is not None)
            if part is not None:
                self._acts[at] = part.action
                link.set_label(part.words)
                link.set_kind(
                    "words-lit" if part.color == "accent" else "words" if part.color == "text" else "words-pale"
                )
        self.cancel.show(running is not None)
        self.cancel.enable(running is not None and not running.stopping)
        self.finish.show(cut_off)
        dpg.configure_item(self._bar_holder, show=running is not None or fraction >= 0)
        if fraction >= 0:
            self._progress.set(fraction)
        if wanted != self._harvest:
            self._harvest = wanted
            self.harvest.set_label(wanted.label, wanted.icon)
            say_hint(self._harvest_tip, wanted.tip)
        self.harvest.set_kind("primary" if wanted.waits and not self.first else "secondary")
