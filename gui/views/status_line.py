"""The line at the bottom: what happened last, what runs now and how to stop it, how many rows are shown."""

from __future__ import annotations

import time
from collections.abc import Callable

import dearpygui.dearpygui as dpg

from core.base.figures import age, dollars, tokens
from gui.shell import Shell
from gui.state import Activity, State
from gui.toolkit.charts import Progress
from gui.toolkit.icons import icon
from gui.toolkit.layout import box, lowered, spread
from gui.toolkit.letters import END
from gui.toolkit.theme import Look
from gui.toolkit.widgets import Button, text

STATUS_HEIGHT = 38


def time_left(activity: Activity, now: float) -> str:
    """How long the running job will still take, from what it took so far; "" while nobody can know."""
    if not activity.done or activity.done >= activity.total:
        return ""
    seconds = (now - activity.begun) / activity.done * (activity.total - activity.done)
    if seconds < 1.5:
        return "a second left"
    if seconds < 90:
        return f"{round(seconds)} s left"
    return f"{round(seconds / 60)} min left" if seconds < 5400 else f"{seconds / 3600:.1f} h left"


def activity_words(activity: Activity, now: float) -> str:
    """`Harvesting 49 of 118 · 2 min left · $0.02`."""
    parts = [activity.name if not activity.total else f"{activity.name} {activity.done:,} of {activity.total:,}"]
    if activity.stopping:
        return f"{parts[0]} · stopping after this step"
    if left := time_left(activity, now):
        parts.append(left)
    if activity.tokens:
        parts.append(f"{tokens(activity.tokens)} tokens")
    if activity.price:
        parts.append(dollars(activity.price))
    return " · ".join(parts)


def resting_words(state: State, now: float) -> tuple[str, str, str]:
    """Icon, colour and sentence while nothing runs."""
    if state.problem is not None:
        return "circle-alert", "failed", state.problem.message
    if state.snapshot is None:
        return "hourglass", "hint", "Reading the store…"
    found = state.snapshot
    if found.problems:
        return "triangle-alert", "edited", found.problems[0].message
    pending = found.overview.status.pending
    if pending.get("interrupted"):
        return "triangle-alert", "edited", "The last harvest was interrupted; the next one finishes it first"
    waiting = int(pending.get("conversations", 0))
    harvests = [run for run in found.overview.runs if run.kind == "harvest"]
    last = next((run.when for run in harvests if run.when), "")
    from datetime import datetime

    words = f"Last harvest {age(datetime.fromisoformat(last).timestamp(), now)} ago" if last else "No harvest yet"
    if not last and not waiting:
        return "circle-dashed", "hint", words
    if waiting:
        words += f" · {waiting:,} conversation{'' if waiting == 1 else 's'} waiting"
        return "circle-dot", "accent", words
    return "circle-check", "harvested", f"Up to date · {words[0].lower()}{words[1:]}"


class StatusLine:
    """The bottom line of the panel. `cancel` stops the running job."""

    def __init__(self, look: Look, shell: Shell, cancel: Callable[[], object]) -> None:
        self._look, self._shell, self._cancel = look, shell, cancel
        self._shown: tuple[object, ...] = ()

    def build(self, parent: int) -> int:
        """Make the line inside `parent`."""
        look = self._look
        bar = box(look, parent, "foot", height=STATUS_HEIGHT)
        left, right = spread(look, bar)
        # Stop stands before the text, so that it does not move under the mouse while the text changes.
        self.cancel = Button(look, left, "Stop", self._cancel, icon="circle-stop",
                             tip="Ends after the current conversation; what is done stays done")  # fmt: skip
        self._bar_holder = int(dpg.add_group(parent=left))
        self._progress = Progress(look, lowered(look, self._bar_holder, 10), width=180)
        words = lowered(look, left, 6)
        self._icon = text(look, words, icon("hourglass"), "text", "hint")
        self._words = text(look, words, "", "text", "muted", fit=END)
        self._event_holder = lowered(look, left, 7)
        self._event = text(look, self._event_holder, "", "small", "hint", fit=END)
        rows = lowered(look, right, 7)
        self._rows = text(look, rows, "", "mono", "hint")
        self.cancel.show(False)
        dpg.configure_item(self._bar_holder, show=False)
        return bar

    def refresh(self, state: State) -> None:
        """Show what runs, or what was."""
        running = state.activity
        now = time.time()
        if running is not None:
            sign, color, words = "loader", "accent", activity_words(running, time.monotonic())
            fraction = running.done / running.total if running.total else 0.0
        else:
            sign, color, words = resting_words(state, now)
            fraction = -1.0
        shown, of = state.shown
        rows = "" if not of else f"{shown:,} of {of:,} rows" if shown != of else "1 row" if of == 1 else f"{of:,} rows"
        event = state.event if running is None and state.event not in words else ""
        view = (sign, color, words, fraction, rows, event, running is not None and running.stopping)
        if view == self._shown:
            return
        self._shown = view
        dpg.set_value(self._icon, icon(sign))
        self._look.tint(self._icon, color)
        dpg.set_value(self._words, words)
        dpg.set_value(self._rows, rows)
        dpg.set_value(self._event, f"· {event}" if event else "")
        self.cancel.show(running is not None)
        self.cancel.enable(running is not None and not running.stopping)
        dpg.configure_item(self._bar_holder, show=running is not None)
        if fraction >= 0:
            self._progress.set(fraction)
