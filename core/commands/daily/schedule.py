"""`knowledge schedule`: the system's own scheduler begins a harvest each hour, also for what was missed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.agents import timers
from core.agents.connections import FileChange
from core.agents.hand_over import HARVEST
from core.agents.timers import Timer, is_on, tell_system
from core.base import files
from core.base.result import KnowledgeError, attempt, disk_errors
from core.commands.daily.connect import ChangeReport, program_for
from core.commands.row import DRY_RUN, YES, Ask, flag, nobody, top
from core.commands.text import one_line
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
)
