"""`knowledge uninstall`: what this program has put into the files of other programs and of the system is taken back.

The folders of the program itself stay, above all the knowledge: they are named, and so is what takes the program away.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from core.agents.timers import NO_SCHEDULER
from core.base.installed import uninstall_command
from core.base.paths import state_folder, user_folder
from core.base.result import Ok, attempt
from core.commands.daily.connect import ChangeReport, connect
from core.commands.daily.schedule import schedule
from core.commands.row import DRY_RUN, YES, Ask, nobody, top
from core.commands.text import collected, one_line
from core.commands.workspace import Workspace


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


COMMANDS = (top("uninstall", "--dry-run", uninstall, uninstall_text, DRY_RUN, YES, asks=True),)
