"""A harvest that one can watch, and what it gained: first as words and rows, plain functions; then the part of the
dialog that shows them, the new bullets at the left, what becomes of the conversations at the right."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import dearpygui.dearpygui as dpg

from core.base.config import Config
from core.base.figures import age, count, dollars, tokens
from core.harvest.report import HarvestReport
from gui.harvest_run import BROKEN, LEFT, READ, READING, WAITING, Came, Run, Watch
from gui.state import Activity
from gui.toolkit.flow import FlowList
from gui.toolkit.flow_rows import FlowRow, told
from gui.toolkit.layout import box
from gui.toolkit.theme import Look
from gui.toolkit.widgets import Progress, text
from gui.views.looks import CATEGORIES, NOT_HARVESTED, joined, left_words
from gui.views.reader_rows import marked_down

TALL, LOW, ABOVE, SHARE, BESIDE, BEST = 400, 160, 110, 0.54, 560, 20
STATES: Mapping[str, tuple[str, str, str]] = {
    READ: ("circle-check", "harvested", "read"),
    READING: ("loader", "accent", "being read"),
    BROKEN: ("circle-x", "failed", "failed"),
    LEFT: ("hourglass", "muted", "left for another run"),
    WAITING: ("circle-dashed", "hint", NOT_HARVESTED),
}
MOST_NAMED = 4
"""This many conversations that are being read, or that failed, are named."""


def state_words(state: str, number: int) -> str:
    """`1 failed, stays where it is`: how many are in a state."""
    return f"{number:,} {STATES[state][2]}" + (f", {stay_words(number)}" if state == BROKEN else "")


def state_lines(watch: Watch) -> list[FlowRow]:
    """How far the conversations are, those that are being read or failed by name."""
    lines: list[FlowRow] = []
    for state, (sign, color, _) in STATES.items():
        number = watch.count(state)
        if not number:
            continue
        lines.append(told(sign, color, state_words(state, number)))
        if state in (READING, BROKEN):
            talks = [talk for talk in watch.talks.values() if talk.state == state]
            named = sorted(talks, key=lambda talk: -talk.order)[:MOST_NAMED]
            for talk in named:
                part = f", part {talk.calls + 1}" if talk.calls else ""
                lines.append(told("message-square", "hint", f"{talk.title}{part}", talk.called.tool_title))
    return lines


def took_words(seconds: float) -> str:
    """`5 min 12 s`."""
    if seconds < 1:
        return "under a second"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def spending_words(watch: Watch, cost: float | None, run: Run, config: Config) -> str:
    """What the run has cost so far."""
    if config.provider == "offline":
        return "free: read by rules on this computer"
    cap = f"cap {tokens(config.max_run_tokens)} tokens" if config.max_run_tokens else ""
    planned = run.plan.price if run.plan is not None else None
    spent = f"{dollars(cost)}{f' of about {dollars(planned)}' if planned else ''}" if cost else ""
    return joined(spent, f"{tokens(watch.sent)} tokens in, {tokens(watch.received)} out", cap)


def kinds_words(counts: Mapping[str, int]) -> str:
    """`Facts 25 · Decisions 1`."""
    return joined(*(f"{looks.name} {counts[name]:,}" for name, looks in CATEGORIES.items() if counts.get(name)))


def best_rows(best: Sequence[Came], now: float) -> tuple[FlowRow, ...]:
    """The best new lines as they come, each with its conversation and why it is worth a look."""
    return tuple(
        replace(
            marked_down(("came", at, came.line.text), came.line.text),
            meta=joined(came.talk.title, came.line.why,
                        "just now" if now - came.at < 5 else f"{age(came.at, now)} ago"),
            icon=CATEGORIES[came.line.category].icon, color=CATEGORIES[came.line.category].color,
        )
        for at, came in enumerate(best)
    )  # fmt: skip


def gained_rows(run: Run) -> tuple[FlowRow, ...]:
    """What stands in the files since a run, the best lines first, with their conversations."""
    if run.report is None or run.undone:
        return ()
    came = {row.line.text: row for row in run.watch.best} if run.watch is not None else {}
    rows = []
    for at, (category, words, number) in enumerate(run.report.lines):
        row = came.get(words)
        said = f"said in {number:,} conversations" if number > 1 else ""
        about = (row.talk.title, row.talk.called.project_name, row.line.why) if row is not None else ()
        look = CATEGORIES[category]
        meta = joined(*about, said) or look.noun
        score = (row.line.score if row is not None else 0) + 3 * (number > 1)
        rows.append((-score, replace(marked_down(("gained", at), words), meta=meta, icon=look.icon, color=look.color)))
    return tuple(row for _, row in sorted(rows, key=lambda pair: pair[0]))


def gain_words(run: Run, digest: int) -> tuple[str, str]:
    """A sentence about what a run gained, and the line below it; `digest` are its bytes now."""
    report = run.report
    if report is None or run.undone:
        return ("Its bullets have left your files" if run.undone else ""), ""
    planned = run.plan.price if run.plan is not None else None
    used = report.input_tokens + report.output_tokens
    spent = f"{dollars(report.spent)} spent" if report.spent else f"{tokens(used)} tokens" if used else ""
    spent += f", planned {dollars(planned)}" if planned and report.spent else ""
    changed = f"{run.digest:,} → {digest:,}" if digest != run.digest else f"{digest:,}"
    again = run.watch.again if run.watch is not None else 0
    head = f"{count(len(report.lines), 'new bullet')} from {count(report.harvested, 'conversation')}"
    return head, joined(
        kinds_words(Counter(category for category, _, _ in report.lines)),
        f"{again:,} said again, now surer" if again else "", spent, f"digest {changed} bytes" if digest else "",
    )  # fmt: skip


def nothing_words(report: HarvestReport) -> str:
    """Why a run gave no line. Of what nobody has read, nobody knows what it says."""
    if report.failed and not report.harvested:
        first = report.errors[0].message if report.errors else ""
        return "No conversation was read" + (f": {first}" if first else ".")
    return "Nothing new: what these conversations say is in your files already, or was not worth keeping."


def stay_words(number: int) -> str:
    """What conversations do that nobody took away, by their number."""
    return "stays where it is" if number == 1 else "stay where they are"


class RunPart:
    """A run while it goes on (`watch`), and what came of it (`end`)."""

    def __init__(self, look: Look, part: int) -> None:
        self._look = look
        self._shown: tuple[object, ...] = ()
        self._head = text(look, part, "", "heading")
        self._about = text(look, part, "", "small", "muted", wrap=True)
        self._bar = Progress(look, part, width=-1)
        self._states = text(look, part, "", "small", "muted", wrap=True)
        self._sides = box(look, part, "clear", height=TALL)
        self._row = row = int(dpg.add_group(horizontal=True, parent=self._sides))
        self._left = box(look, row, "well", width=400)
        self._right = box(look, row, "well", width=300)
        self.best = FlowList(look).build(self._left)
        self.nothing = text(look, self._left, "", "text", "hint", wrap=True)
        self.result = FlowList(look).build(self._right)
        look.follow(self._sides, self._fit)

    def shrink(self, room: float) -> None:
        """Lower where the whole has no more `room` (unscaled pixels): then only the lists scroll."""
        self._look.size(self._sides, height=max(LOW, min(TALL, room - ABOVE)))

    def _fit(self, width: float, height: float) -> None:
        """Beside each other, or below each other in a narrow window."""
        gap, beside = self._look.px(8), width >= self._look.px(BESIDE)
        left = int((width - gap) * SHARE) if beside else int(width)
        dpg.configure_item(self._row, horizontal=beside)
        dpg.configure_item(self._left, width=left, height=-1 if beside else int(height * SHARE))
        dpg.configure_item(self._right, width=int(width - gap - left) if beside else left)

    def _put(self, head: str, about: str, rows: Sequence[FlowRow], nothing: str = "") -> None:
        dpg.set_value(self._head, head)
        dpg.set_value(self._about, about)
        self.best.set_rows(rows, keep_place=bool(self.best.rows))
        dpg.configure_item(self.best.holder, show=bool(rows))
        dpg.set_value(self.nothing, nothing)

    def watch(self, run: Run, activity: Activity, config: Config) -> None:
        """Show how far it is; does nothing while there is no news."""
        watch, now = run.watch, time.monotonic()
        seen = (id(watch), watch._news if watch is not None else 0, int(now // 10))
        if watch is None or seen == self._shown:
            return
        self._shown = seen
        left = "stopping after this step" if activity.stopping else left_words(watch.left)
        dpg.set_value(self._states, joined(left, spending_words(watch, activity.price, run, config)))
        self._bar.show(True)
        self._bar.set(watch.through / max(1, len(watch.talks)))
        self.result.set_rows(state_lines(watch), keep_place=True)
        again = f", {watch.again:,} said again" if watch.again else ""
        rows = best_rows(watch.best[:BEST], now)
        self._put(f"{count(sum(watch.counts.values()), 'new bullet')}{again}", kinds_words(watch.counts), rows,
                  "" if rows else "The best new bullets stand here as they come.")  # fmt: skip

    def end(self, run: Run, report: HarvestReport, digest: int, lines: Sequence[FlowRow]) -> None:
        """Show what it gained, and in `lines` what became of the conversations."""
        self._shown = ()
        self._bar.show(False)
        dpg.set_value(self._states, "")
        self.result.set_rows(lines)
        rows = gained_rows(run)
        self._put(*gain_words(run, digest), rows, "" if rows or run.undone else nothing_words(report))
