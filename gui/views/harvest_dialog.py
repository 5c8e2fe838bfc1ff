"""The harvest dialog: first the dry run, then Apply, then what came of it. Closing it while it runs stops nothing.

First the dry run and the result as rows and sentences, as plain functions; then the dialog.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from types import MappingProxyType

import dearpygui.dearpygui as dpg

from core.base.config import Config
from core.base.figures import count, dollars, size, tokens
from core.commands.history.runs import UndoReport
from core.commands.panel.bullets import local_day
from core.commands.panel.titles import UNCALLED, Called
from core.commands.quarantine import HELD
from core.commands.settings import reads_here
from core.commands.sources import title_of
from core.harvest.report import HarvestReport
from core.harvest.steps import Fate
from gui.harvest_run import ENDED, FAILED, PLANNED, RUNNING, HarvestRun, Run, ended_words
from gui.shell import Shell
from gui.state import State
from gui.toolkit.dialogs import Dialog
from gui.toolkit.flow import FlowList
from gui.toolkit.flow_rows import FlowRow, guessed, told
from gui.toolkit.layout import box
from gui.toolkit.messages import begun, error_words
from gui.toolkit.theme import Look
from gui.toolkit.widgets import Button, text
from gui.views.harvest_watch import RunPart, stay_words, took_words
from gui.views.looks import capital, day_words, joined, plain_name

# what happens to a conversation -> (icon, colour, in words)
ACTIONS: dict[str, tuple[str, str, str]] = {
    "harvest": ("wheat", "accent", "harvest"),
    "duplicate": ("copy", "accent", "same content, once"),
    "reclaim": ("archive", "harvested", "to the trash"),
    "discard": ("archive", "deleted", "to the trash, unread"),
    "prune": ("trash-2", "deleted", "remove for good"),
    "too-large": ("weight", "too-large", "too large"),
    "defer": ("hourglass", "muted", "next time"),
    "unreadable": ("circle-x", "failed", "cannot be read"),
    "live": ("circle-dot", "hint", "not touched"),
    "user-kept": ("bookmark", "hint", "not touched"),
    "keep": ("shield", "hint", "not touched"),
}
STAY = ("keep", "user-kept", "live")
"""Verdicts on conversations that stay where they are, in the order in which they are listed."""
WHY = {"live": "still open in its tool", "user-kept": "saved by you"}
"""Why a conversation is not touched, where its reason says no more."""

OBVIOUS = ("its name ends in an id",)
"""Reasons that say nothing to who reads them: how a conversation is known to be one."""


def plan_rows(report: HarvestReport, names: Mapping[str, Called] = MappingProxyType({})) -> list[FlowRow]:
    """What is done with each conversation, those that are touched first, then those that stay and why; `names` are what
    they are called, by their paths."""
    steps = [(step.action, step.reason, step.artifact) for step in report.plan.steps]
    kept = [row for row in report.plan.classified if row.verdict in STAY]
    kept.sort(key=lambda row: STAY.index(row.verdict))
    steps += [(row.verdict, row.reason, row.artifact) for row in kept]
    return [
        plan_row(action, why, found.path, found.name, found.size, names.get(found.path, UNCALLED))
        for action, why, found in steps
    ]


def plan_row(action: str, why: str, path: str, name: str, large: int, called: Called = UNCALLED) -> FlowRow:
    """One conversation of the dry run: what happens to it and why, its size, project, day and tool."""
    sign, color, words = ACTIONS.get(action, ACTIONS["keep"])
    why = WHY.get(action, "") if why in ("", action, words, *OBVIOUS, f"conversation of {called.tool_title}") else why
    words = why if why and action in STAY else f"{words}: {why}" if why else words  # of what stays the reason is enough
    meta = joined(words, size(large), called.project_name, day_words(called.day), called.tool_title)
    return FlowRow((action, path), called.title or plain_name(name), meta, sign, color)


def plan_title(sources: Sequence[str], names: Mapping[str, Called] = MappingProxyType({})) -> str:
    """The title of a dry run: which sources it is of, where some were named; of one conversation what it is called in
    `names`, by its path."""
    called = [names.get(one, UNCALLED).title or PurePath(title_of(one)).name for one in sources]
    return f"Dry run: {', '.join(called)}" if called else "Dry run"


def running_title(run: Run) -> str:
    """`Harvesting 17 of 41 conversations`."""
    watch = run.watch
    return f"Harvesting {watch.through:,} of {count(len(watch.talks), 'conversation')}" if watch else "Harvesting"


def plan_lines(report: HarvestReport, config: Config) -> list[FlowRow]:
    """What Apply would do, in sentences; what would not happen is not mentioned."""
    steps = Counter(step.action for step in report.plan.steps)
    sizes: Counter[str] = Counter()
    for step in report.plan.steps:
        sizes[step.action] += step.artifact.size
    number, larger = steps["harvest"], steps["too-large"]
    digest = "write digest.md, the summary that new conversations begin with"
    lines = (
        (number, "wheat", "accent", f"harvest {count(number, 'conversation')}", size(sizes["harvest"])),
        (steps["prune"], "trash-2", "deleted", f"remove {count(steps['prune'], 'leftover')} for good",
         size(sizes["prune"])),
        (larger, "weight", "too-large", f"skip {count(larger, 'conversation')} above the limit",
         f"> {size(config.max_harvest_source_bytes)}"),
        (steps["defer"], "hourglass", "muted", f"leave {count(steps['defer'], 'conversation')} for the next time", ""),
        (steps["unreadable"], "circle-x", "failed", f"skip {steps['unreadable']} that cannot be read", ""),
        (number and config.digest_enabled, "sparkles", "accent", digest, f"≤ {config.digest_max_bytes:,} B"),
    )  # fmt: skip
    return [told(*line) for there, *line in lines if there]


def provider_line(config: Config) -> FlowRow:
    """Who reads the conversations."""
    if config.provider == "offline":
        words = "Read on this computer by fixed rules, without a language model: nothing is sent anywhere"
        return told("cpu", "harvested", words)
    model = f"{config.provider} {config.model}".strip()
    if config.provider == "command":
        program = config.command[0] if config.command else "no program is set"
        return told("terminal", "accent", f"Read by the program {program}")
    secrets = "Secrets are replaced before." if config.redact else "Secrets are NOT replaced (redact = false)."
    sign, place = ("cpu", " on this computer") if reads_here(config) else ("globe", "")
    return told(sign, "accent", f"Sent to {model}{place}. {secrets}")


def fate_lines(fate: Fate) -> list[FlowRow]:
    """What becomes of the conversations, as the command line says it."""
    return [told("archive", "harvested" if fate.going else "muted", capital(fate.words))] if fate.words else []


def note_words(note: str) -> str:
    """A note of a run as the window says it: with the setting or the button where the command line names a command."""
    note = re.sub(r"'knowledge config set (\w+) (\d+)' raises it", r"\1 = \2 in the settings file raises it", note)
    note = re.sub(r"^--apply will", "Apply will", note).replace(", or name another with --home", "")
    return capital(note.replace("; 'knowledge harvest --finish' puts that right, and so does --apply", FINISHED_FIRST))


FINISHED_FIRST = "; Apply finishes that first"


def estimate_words(report: HarvestReport) -> str:
    """Tokens and price beside the buttons."""
    if not report.tokens:
        return ""
    if report.price == 0 and not report.calls:
        return "It costs nothing"  # nobody is sent a token
    words = f"~{tokens(report.tokens)} tokens"
    if report.price is None:
        return f"{words} · price unknown"
    return f"{words} · {'costs nothing' if not report.price else 'about ' + dollars(report.price)}"


def has_work(report: HarvestReport) -> bool:
    """Whether Apply would do anything."""
    nothing = ("too-large", "defer", "unreadable")
    return report.interrupted or any(step.action not in nothing for step in report.plan.steps)


def result_lines(report: HarvestReport) -> list[FlowRow]:
    """What came of a run, in sentences."""
    stay = bool(report.kept) and report.kept == report.harvested and not report.reclaimed
    read = f"{count(report.harvested, 'conversation')} harvested{', still where they were' if stay else ''}"
    read += f"; {report.empty} had nothing to keep" if report.empty else ""
    until = f" until {local_day(report.trash_until)}" if report.trash_until else ""
    trashed, gone = report.trashed if report.reclaimed else 0, report.reclaimed - report.trashed
    other, skipped = len(report.errors) - report.failed, sum(report.skipped.values())
    held = ", ".join(f"{number} {HELD.get(mark, mark)}" for mark, number in sorted(report.held_by.items()))
    left_out = ", ".join(f"{number} {why}" for why, number in sorted(report.skipped.items()))
    secrets = ", ".join(f"{number} {kind}" for kind, number in sorted(report.redacted.items()))
    lines = (
        (report.harvested or not report.failed, "circle-check", "harvested", read, spent_words(report)),
        (trashed, "archive", "harvested", f"{count(trashed, 'conversation')} moved to the trash{until}",
         size(report.trashed_bytes)),
        (gone, "trash-2", "deleted", f"{count(gone, 'conversation')} removed for good",
         size(report.reclaimed_bytes - report.trashed_bytes)),
        (not stay and report.kept, "shield", "muted",
         f"{count(report.kept, 'conversation')} {stay_words(report.kept)}", ""),
        (report.failed, "circle-x", "failed",
         f"{count(report.failed, 'conversation')} failed and {stay_words(report.failed)}", ""),
        (other > 0, "circle-alert", "failed", f"{count(other, 'other problem')}: see below", ""),
        (report.quarantined, "shield", "edited",
         f"{count(report.quarantined, 'item')} held back in quarantine.md for you to look at"
         f"{f': {held}' if held else ''}", ""),
        (report.skipped, "circle-alert", "muted", f"{count(skipped, 'row')} of answers not read: {left_out}", ""),
        (report.redacted, "key", "edited", f"secrets replaced: {secrets}", ""),
    )  # fmt: skip
    return [told(*line) for there, *line in lines if there]


DIGEST_BEGINS = "New conversations begin with the digest from now on; the switch on Knowledge turns that off"


def ended_lines(run: Run, report: HarvestReport, digest: int, enabled: bool) -> list[FlowRow]:
    """What came of a run, or what was left of it; with the first digest also what that does. `digest`: its bytes."""
    if run.undone:
        return undone_lines(run.undone)
    begins = [told("eye", "accent", DIGEST_BEGINS)] if enabled and digest and not run.digest else []
    return [*result_lines(report), *begins, *warning_lines([*map(str, report.errors), *report.notes])]


def warning_lines(notes: Sequence[str]) -> list[FlowRow]:
    """The first of some warnings, and how many more there are: of each conversation its own row says why."""
    more = [f"and {len(notes) - WARNINGS:,} more"] if len(notes) > WARNINGS else []
    return [told("triangle-alert", "edited", begun(words)) for words in (*notes[:WARNINGS], *more)]


WARNINGS = 3


def undone_lines(report: UndoReport) -> list[FlowRow]:
    """What a run that was taken back left, in sentences."""
    restored, stayed = len(report.restored), len(report.stayed)
    if report.already:
        return [told("undo-2", "accent", "It was taken back before: nothing was changed now")]
    lines = [told("undo-2", "accent", f"{count(report.lines_out, 'bullet')} of it left your files")]
    if restored:
        lines.append(told("archive", "harvested", f"{count(restored, 'conversation')} came back from the trash"))
    if stayed:
        words = f"{count(stayed, 'bullet')} stayed, because you changed {'it' if stayed == 1 else 'them'} since"
        lines.append(told("shield", "edited", words))
    return lines


def spent_words(report: HarvestReport) -> str:
    """Tokens and money that a run took, "" for none."""
    used = report.input_tokens + report.output_tokens
    if not used:
        return ""
    return f"{tokens(used)} tokens" + (f" · {dollars(report.spent)}" if report.spent else "")


WIDTH = 1096
LEAST, AROUND, LIST_HEAD, INSIDE = 430, 80, 28, 1063


class HarvestDialog:
    """Shows a `HarvestRun` in whatever phase it is."""

    def __init__(self, look: Look, shell: Shell, run: HarvestRun) -> None:
        self._look, self._shell, self._run = look, shell, run
        self._shown: Run | None = None
        self._digest = 0

    def build(self) -> None:
        """Make everything, hidden."""
        look = self._look
        self.dialog = Dialog(look, "Dry run", "Apply", self._confirm, icon="wheat", width=WIDTH,
                             on_cancel=self._run.rest)  # fmt: skip
        body = self.dialog.body
        self._parts = {name: int(dpg.add_group(parent=body, show=False)) for name in ("wait", "plan", "run")}
        part = self._parts["wait"]
        self._wait = text(look, part, "", "text", "muted", wrap=True)

        part = self._parts["plan"]
        self._intro = text(look, part, "", "text", "muted", wrap=True)
        self._plan_list = box(look, part, "well", height=LEAST)
        self.list = FlowList(look, aside=True).build(self._plan_list)

        self.watch = RunPart(look, self._parts["run"])
        # What stops or takes back stands at the left of the foot, where changing words cannot move it.
        self.stop = Button(look, self.dialog.foot, "Stop", self._run.cancel, icon="circle-stop",
                           tip="Ends after the current conversation; what is done stays done")  # fmt: skip
        self.undo = Button(look, self.dialog.foot, "Undo this run", self._run.undo, icon="undo-2",
                           tip="Take its bullets out again and bring its conversations back")  # fmt: skip
        self.stop.show(False)
        self.undo.show(False)

        self.dialog.on_room = self._fit
        self._shell.layers.append(self.dialog.key)
        self._run.on_change = self._changed

    def open(self, sources: tuple[str, ...] = ()) -> None:
        """Show the run as it is; where there is none, begin with a dry run, of these sources alone if any are named."""
        if not self.dialog.is_open:
            self._run.look(sources)
            self._show()

    def _show(self) -> None:
        self._shown = None
        self.dialog.open()
        self._changed()

    def _fit(self) -> None:
        """Lists as high as the window has room for, and that of the plan no higher than its rows need."""
        self.watch.shrink(self.dialog.room)
        wide = self.list.width if self.list.width > 0 else self._look.px(INSIDE)
        wanted = LIST_HEAD + sum(guessed(self._look, self.list.rows, wide, aside=True)) / self._look.scale
        most = min(LEAST, self.dialog.room - AROUND)
        self._look.size(self._plan_list, height=max(AROUND, min(wanted, most)))

    def refresh(self, state: State) -> None:
        """Show how far the run is."""
        run = self._run.now
        if self.dialog.is_open and run.phase == RUNNING and state.activity is not None:
            self.dialog.set_title(running_title(run))
            self.watch.watch(run, state.activity, self._run.workspace.config)
            self.stop.enable(not state.activity.stopping)
        elif self.dialog.is_open and run.phase == PLANNED:
            self._run.keep_up()
        elif self.dialog.is_open and run.report is not None and state.snapshot is not None:
            digest = self._run.digest
            if digest != self._digest:
                self._tell_end(run, run.report, digest)

    def _confirm(self) -> bool:
        """Enter, or the button at the right; False, for no act but the last closes the dialog."""
        phase = self._run.now.phase
        if phase == PLANNED:
            self._run.apply()
        elif phase == FAILED:
            self._run.look(self._run.now.sources)
        elif phase == ENDED:
            self.dialog.cancel()
        return False

    def _changed(self) -> None:
        """Another phase: other parts, other buttons."""
        run = self._run.now
        if not self.dialog.is_open:
            self._tell_background(run)
            return
        if run is self._shown:
            return
        before, self._shown = self._shown, run
        part = {PLANNED: "plan", RUNNING: "run", ENDED: "run"}.get(run.phase, "wait")
        for name, item in self._parts.items():
            dpg.configure_item(item, show=name == part)
        if run.report is not None:
            self._show_end(run, run.report)
        elif part == "run":
            self.dialog.set_note("What is kept stays kept; the rest is read next time")
            self.dialog.enable(False)
        elif part == "plan" and run.plan is not None:
            self._show_plan(run, run.plan, again=before is not None and before.phase == run.phase)
        else:
            self._show_wait(run)
        self.stop.show(run.phase == RUNNING)
        if run.phase != ENDED:
            self.undo.show(False)
        self.dialog.cancel_button.show(run.phase != ENDED)
        words = {RUNNING: "Go on in the background  Esc", FAILED: "Close  Esc"}
        self.dialog.cancel_button.set_label(words.get(run.phase, "Cancel  Esc"))
        self.dialog.confirm_button.show(run.phase in (PLANNED, ENDED, FAILED))
        if before is None or before.phase != run.phase:
            self.refresh(self._shell.state)

    def _tell_background(self, run: Run) -> None:
        """Say how a harvest ended while the dialog was closed."""
        if run.report is not None and not run.undone:
            self._shell.toast(ended_words(run.report), action="Show", on_action=lambda: self._show_again(run))
        elif run.phase == FAILED and run.watch is not None and run.error is not None:
            self._shell.error(run.error, "Harvest…", self.open)

    def _show_again(self, run: Run) -> None:
        """That run as it ended, unless another one has begun since."""
        if not self.dialog.is_open and self._run.now is run:
            self._show()
        else:
            self.open()

    def _show_wait(self, run: Run) -> None:
        failed = run.phase == FAILED and run.error is not None
        some = run.watch is not None and run.watch.through
        ended = "The harvest ended early" if some else "It did not begin"
        self.dialog.set_title(ended if failed else plan_title(run.sources))
        words = error_words(run.error) if run.error is not None else "Looking at the conversations. Nothing is written."
        dpg.set_value(self._wait, words)
        self._look.tint(self._wait, "failed" if failed else "muted")
        self.dialog.set_confirm("Try again")
        self.dialog.set_note("")
        self.dialog.enable(failed)

    def _show_plan(self, run: Run, report: HarvestReport, *, again: bool) -> None:
        """The dry run; where it was shown and is made `again`, its list stays where it is."""
        config = self._run.workspace.config
        self.dialog.set_title(plan_title(run.sources, run.names))
        rows = plan_rows(report, run.names)
        work = has_work(report)
        what = ". Apply would:" if work else ", and there is nothing to do."
        dpg.set_value(self._intro, f"Nothing has been written{what}")
        about = [provider_line(config), *fate_lines(report.fate)] if work else []
        notes = [note_words(note) for note in report.notes if note != report.fate.words]
        told_first = [*plan_lines(report, config), *about, *warning_lines(notes)]
        head = FlowRow("each", "One by one", icon="list", color="hint", text_color="muted")
        rows = [*told_first, *([head] if rows else []), *rows]
        dpg.configure_item(self._plan_list, show=bool(rows))
        self.list.set_rows(rows, keep_place=again and self.list.canvas.scroll > 0)
        self._fit()
        self.dialog.set_note(estimate_words(report))
        self.dialog.set_confirm("Apply")
        self.dialog.enable(work)

    def _show_end(self, run: Run, report: HarvestReport) -> None:
        failed = bool(report.failed) and not report.harvested
        done = "Harvest stopped" if report.cancelled else "Harvest failed" if failed else "Harvested"
        self.dialog.set_title("Harvest taken back" if run.undone else done)
        self._tell_end(run, report, self._run.digest)
        self.undo.show(bool(report.run) and not run.undone and bool(report.harvested or report.reclaimed))
        self.dialog.set_note(f"took {took_words(run.took)}")
        self.dialog.set_confirm("Done")
        self.dialog.enable(True)

    def _tell_end(self, run: Run, report: HarvestReport, digest: int) -> None:
        self._digest = digest
        enabled = self._shell.workspace.config.digest_enabled
        self.watch.end(run, report, digest, ended_lines(run, report, digest, enabled))
