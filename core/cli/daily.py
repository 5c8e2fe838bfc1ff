"""`knowledge setup`, `connect` and `schedule`: from installing the program to a habit that nobody has to think of; and
`uninstall`, the way back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.cli.table import Argument, flag, single
from core.cli.text import one_line

if TYPE_CHECKING:
    from core.commands.daily.connect import ConnectReport
    from core.commands.daily.schedule import ScheduleReport
    from core.commands.daily.setup import SetupReport
    from core.commands.daily.uninstall import UninstallReport

_DRY_RUN = flag("--dry-run", "show the changes and make none")
_YES = flag("--yes", "do not ask")


def connect_text(report: ConnectReport) -> str:
    """The changes where they were not shown before, what came of them, and how the tools stand."""
    from core.commands.daily.connect import PARTS, changes_text

    rows = [] if report.shown or not report.changes else [changes_text(report.changes).rstrip("\n")]
    if report.refused:
        rows.append("nothing was changed")
    elif report.dry_run and report.changes:
        rows.append("dry run; without --dry-run these files are written")
    width = max((len(row.tool) for row in report.tools), default=0)
    for row in report.tools:
        state = "connected" if row.connected else "not connected" if row.there else "not on this computer"
        if row.connected:
            state += f" ({', '.join(PARTS[part] for part in row.parts)})"
        if row.missing:
            state += f"; gone from its files, or changed: {', '.join(PARTS[part] for part in row.missing)}"
        rows.append(f"{row.tool:<{width}}  {state}")
        rows += [f"{'':<{width}}  {one_line(problem)}" for problem in row.problems]
        if row.connected and row.outdated:
            rows.append(f"{'':<{width}}  by another version, or for another home: connect it again")
        if row.less and (row.connected or report.changes):
            rows.append(f"{'':<{width}}  {row.less}")
    rows += [f"note: {one_line(note)}" for note in report.notes]
    return "\n".join(rows) + "\n"


def schedule_text(report: ScheduleReport) -> str:
    """What is written and handed to the system, and whether the timer is on."""
    from core.commands.daily.connect import changes_text

    rows = [] if report.shown or not report.changes else [changes_text(report.changes).rstrip("\n")]
    rows += [] if report.shown else [f"$ {line}" for line in report.commands]
    if report.refused:
        rows.append("nothing was changed")
    elif report.dry_run and report.commands:
        rows.append("dry run; without --dry-run this is done")
    rows.append(f"{report.title}: {'on, a harvest begins each hour' if report.on else 'off'}")
    rows += [f"note: {one_line(note)}" for note in report.notes]
    return "\n".join(rows) + "\n"


def uninstall_text(report: UninstallReport) -> str:
    """What is taken back, what stays, and how to take the program away."""
    from core.commands.daily.connect import changes_text

    rows = [] if report.shown or not report.changes else [changes_text(report.changes).rstrip("\n")]
    rows += [] if report.shown else [f"$ {line}" for line in report.commands]
    if report.applied:
        rows.append("taken back: other programs do not know of this one any more")
    elif report.dry_run and (report.changes or report.commands):
        rows.append("dry run; without --dry-run this is taken back")
    elif report.refused:
        rows.append("nothing was changed")
    elif not report.changes and not report.commands:
        rows.append("nothing to take back: no tool is connected, and no timer is set up")
    rows += [f"stays: {path} ({what})" for path, what in report.stays.items()]
    rows.append(f"the program itself: {report.program}")
    rows += [f"note: {one_line(note)}" for note in report.notes if report.applied]
    return "\n".join(rows) + "\n"


def setup_text(report: SetupReport) -> str:
    from core.commands.daily.questions import report_text

    return report_text(report)


COMMANDS = (
    single(
        "setup",
        "look at this computer, ask three questions at most, and set up what was answered",
        "",
        ".daily.questions:setup",
        setup_text,
        flag("--yes", "take the defaults: nothing that costs money, no hook, no timer"),
        asks=True,
    ),
    single(
        "connect",
        "have other tools use this program: MCP server, context at the start, harvest at the end",
        "claude_code codex --dry-run",
        ".daily.connect:connect",
        connect_text,
        Argument(
            ("tool",),
            "claude_code, codex, antigravity, gemini_cli, cursor, vscode, opencode, copilot_cli; none: how they stand",
            {"nargs": "*", "default": (), "metavar": "TOOL"},
        ),
        flag("--all", "every tool that is on this computer; with --remove every one connected", dest="everything"),
        flag("--remove", "take the connection back: the files are as they were"),
        _DRY_RUN,
        _YES,
        asks=True,
    ),
    single(
        "schedule",
        "have the system begin a harvest each hour: systemd, launchd or Task Scheduler",
        "--dry-run",
        ".daily.schedule:schedule",
        schedule_text,
        flag("--remove", "turn it off and take its files away"),
        _DRY_RUN,
        _YES,
        asks=True,
    ),
    single(
        "uninstall",
        "take back every connection and the timer; your knowledge stays",
        "--dry-run",
        ".daily.uninstall:uninstall",
        uninstall_text,
        _DRY_RUN,
        _YES,
        asks=True,
    ),
)
