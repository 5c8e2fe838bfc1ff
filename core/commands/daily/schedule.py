"""`knowledge schedule`: the system's own scheduler begins a harvest each hour, also for what was missed. `knowledge
uninstall`: what this program has put into the files of other programs and of the system is taken back.

The folders of the program itself stay, above all the knowledge: they are named, and so is what takes the program away.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from core.agents import timers
from core.agents.connections import FileChange
from core.agents.hand_over import HARVEST
from core.agents.timers import NO_SCHEDULER, Timer, is_on, tell_system
from core.base import files
from core.base.installed import uninstall_command
from core.base.paths import state_folder, user_folder
from core.base.result import KnowledgeError, Ok, attempt, disk_errors
from core.commands.daily.connect import ChangeReport, connect, program_for
from core.commands.row import DRY_RUN, YES, Ask, flag, nobody, top
from core.commands.text import collected, one_line
from core.commands.workspace import Workspace
from core.knowledge.check import Finding
from core.llm.generate import PROVIDERS

MAX_FILE_BYTES = 1 << 20


@dataclass
class ScheduleReport(ChangeReport):
    """What was, or would be, written for the timer `title`, and whether it is on then."""

    title: str = ""
    on: bool = False

    def to_json(self) -> dict[str, Any]:
        return {"title": self.title, "on": self.on, **super().to_json(), "commands": self.commands}


def timer_here(workspace: Workspace) -> Timer:
    """The timer of this system for this home."""
    program = program_for(workspace)
    words = [*program.words, *program.home, *HARVEST]
    return timers.timer_of(timers.this_system(), words, workspace.environment)


def schedule(
    workspace: Workspace, *, remove: bool = False, dry_run: bool = False, yes: bool = False, ask: Ask = nobody
) -> ScheduleReport:
    """Turn the hourly harvest on, or with `remove` off; the files and commands are shown first. Raises KnowledgeError
    where the system has no scheduler that is known, or it refuses; then the files are as they were."""
    timer = timer_here(workspace)
    report = ScheduleReport(title=timer.title, removing=remove, dry_run=dry_run)
    with disk_errors("file-refused", "a file of the timer cannot be read"):
        changes = [
            FileChange("schedule", path, _read(path), None if remove else text.encode()) for path, text in timer.files
        ]
    report.changes = [row for row in changes if row.is_change]
    report.on = is_on(timer, workspace.environment)
    if not report.changes and report.on != remove:
        return report
    report.commands = [" ".join(words) for words in (timer.off if remove else timer.on)]
    report.notes += _about_keys(workspace) if not remove else []
    if dry_run or not (yes or report.agreed("do this?", ask)):
        return report
    _carry_out(report, timer, remove, workspace)
    report.on, report.applied = is_on(timer, workspace.environment), True
    return report


def _carry_out(report: ScheduleReport, timer: Timer, remove: bool, workspace: Workspace) -> None:
    """To turn it on the files come first, to turn it off the system hears of it first. What it refuses is undone."""
    with disk_errors("file-refused", "a file of the timer cannot be written", hint="check its rights"):
        if remove:
            told = attempt(tell_system, timer.off, workspace.environment) if report.on else None
            _write(report.changes)  # they go also where the system refuses
            if isinstance(told, KnowledgeError):
                raise told
            if timer.title.startswith("systemd"):
                tell_system(timer.on[:1], workspace.environment)
            return
        _write(report.changes)
        try:
            tell_system(timer.on, workspace.environment)
        except KnowledgeError:
            _write([FileChange(row.tool, row.path, row.after, row.before) for row in report.changes])
            raise


def _write(changes: list[FileChange]) -> None:
    for change in changes:
        if change.after is None:
            files.remove_file(change.path)
            if files.remove_if_empty(change.path.parent):
                files.remove_if_empty(change.path.parent.parent)
            continue
        files.make_folder(change.path.parent)
        files.write_atomic(change.path, change.after, 0o644)


def _read(path: Path) -> bytes | None:
    try:
        return files.read_file(path, MAX_FILE_BYTES).data
    except FileNotFoundError:
        return None


def _about_keys(workspace: Workspace) -> list[str]:
    """A timer has no shell around it: a key that only the environment has is not there."""
    config = workspace.config
    spec = PROVIDERS.get(config.provider)
    named = [name for name in (spec.key_variables if spec is not None else ()) if workspace.environment.get(name)]
    if not named:
        return []
    return [f"the timer does not see {named[0]} of your shell; write the key into [keys] of {workspace.credentials}"]


def check_schedule(workspace: Workspace) -> list[Finding]:
    """For `knowledge doctor`: whether the timer that was set up is on. Without one nothing is said."""
    try:
        timer = timer_here(workspace)
    except KnowledgeError:
        return []
    if not any(path.exists() for path, _ in timer.files):
        return []
    where = str(timer.files[-1][0])
    if not is_on(timer, workspace.environment):
        message = f"the {timer.title} for the harvest is not on ('knowledge schedule' turns it on)"
        return [Finding("schedule-off", message, where)]
    if any(_read(path) != text.encode() for path, text in timer.files):
        message = f"the {timer.title} starts another program than this ('knowledge schedule' writes it again)"
        return [Finding("schedule-changed", message, where)]
    return [Finding("scheduled", f"a harvest begins each hour ({timer.title})", where, note=True)]


def schedule_text(report: ScheduleReport) -> str:
    """What is written and handed to the system, and whether the timer is on."""
    rows = report.rows()
    rows.append(f"{report.title}: {'on, a harvest begins each hour' if report.on else 'off'}")
    rows += [f"note: {one_line(note)}" for note in report.notes]
    return "\n".join(rows) + "\n"


# --- everything taken back -------------------------------------------------------------------------------------------


@dataclass
class UninstallReport(ChangeReport):
    """What was, or would be, taken back. `stays` are the folders that are left, each with what is in it; `program` is
    the command line that takes the program away."""

    stays: dict[str, str] = field(default_factory=dict)
    program: str = ""

    def to_json(self) -> dict[str, Any]:
        return {**super().to_json(), "commands": self.commands, "stays": self.stays, "program": self.program}


def uninstall(workspace: Workspace, *, dry_run: bool = False, yes: bool = False, ask: Ask = nobody) -> UninstallReport:
    """Take back every connection and the timer; the changes are shown first, as `connect --remove` and `schedule
    --remove` do. A part that fails is reported and does not keep the other from it."""
    report = UninstallReport(removing=True, dry_run=dry_run, program=uninstall_command())
    places = {
        "what you know, and your conversations": workspace.paths.home,
        "your settings and keys": user_folder(workspace.environment),
        "what can be made again": workspace.cache.parent.parent,
        "the panel's window": state_folder(workspace.environment),
    }
    connections = connect(workspace, everything=True, remove=True, dry_run=True)
    timer = attempt(schedule, workspace, remove=True, dry_run=True)
    report.changes += connections.changes
    if isinstance(timer, Ok):
        report.changes += timer.value.changes
        report.commands = timer.value.commands
    elif timer.error.code != NO_SCHEDULER:
        report.errors.append(timer.error)
    if dry_run or (report.planned and not (yes or report.agreed("take this back?", ask))):
        report.errors += connections.errors
    else:
        parts: list[Callable[[], ChangeReport]] = [partial(connect, workspace, everything=True, remove=True, yes=True)]
        parts += [partial(schedule, workspace, remove=True, yes=True)] if report.commands else []
        for part in parts:
            with collected(report.errors):
                made = part()
                report.applied = report.applied or made.applied
                report.notes += made.notes
                report.errors += made.errors
    for what, path in places.items():
        if path.exists():
            report.stays.setdefault(str(path), what)  # on macOS two of them are one folder
    return report


def uninstall_text(report: UninstallReport) -> str:
    """What is taken back, what stays, and how to take the program away."""
    rows = report.rows()
    if report.applied:
        rows.append("taken back: other programs do not know of this one any more")
    elif not report.planned:
        rows.append("nothing to take back: no tool is connected, and no timer is set up")
    rows += [f"stays: {path} ({what})" for path, what in report.stays.items()]
    rows.append(f"the program itself: {report.program}")
    rows += [f"note: {one_line(note)}" for note in report.notes if report.applied]
    return "\n".join(rows) + "\n"


COMMANDS = (
    top(
        "schedule",
        "--dry-run",
        schedule,
        schedule_text,
        flag("--remove", "turn it off and take its files away"),
        DRY_RUN,
        YES,
        asks=True,
    ),
    top("uninstall", "--dry-run", uninstall, uninstall_text, DRY_RUN, YES, asks=True),
)
