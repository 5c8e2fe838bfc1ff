"""What can be done with the whole store from the palette: check it, empty the trash, copy the prompt, try the demo."""

from __future__ import annotations

from typing import Any

from core.base.figures import count, size
from core.base.result import Ok, Result
from core.commands.context import context
from core.commands.doctor import DoctorReport, doctor
from core.commands.trash import PurgeReport, trash_purge
from gui.shell import RUN, Shell
from gui.views.first_start import open_demo

SHOWN = 8


def add_store_actions(shell: Shell) -> None:
    """Make them known to palette and keys."""
    shell.add_action("doctor", "Check the store, and repair it", "shield-check", lambda: check(shell))
    shell.add_action("trash.purge", "Empty the trash of what is past its time", "trash-2", lambda: purge(shell))
    shell.add_action("context.copy", "Copy what a new conversation would start with", "copy", lambda: copy(shell))
    shell.add_action("demo", "Try the demo in a home of its own", "circle-play", lambda: open_demo(shell))
    shell.add_action("config.open", "Open the settings file", "external-link", shell.open_settings)
    shell.add_action("home.open", "Open the home folder", "folder-open", lambda: open_home(shell))


def check(shell: Shell) -> None:
    """Look at the store like a file system check; offer to mend what can be mended."""
    workspace = shell.workspace

    def finish(result: Result[Any]) -> None:
        if not isinstance(result, Ok):
            shell.error(result.error)
            return
        report: DoctorReport = result.value
        left = [found for found in report.findings if not found.repaired]
        if not left:
            shell.toast("The store is whole", icon="shield-check")
            return
        if any(found.repairable for found in left):
            shell.ask("Repair the store?", finding_words(report), "Repair", lambda: repair(shell))
        else:
            shell.ask("The store was checked", finding_words(report), "Close", lambda: None)

    shell.submit("The check of the store", lambda _job: doctor(workspace), finish, lane=RUN)


def finding_words(report: DoctorReport) -> str:
    """What was found, a line each."""
    rows = [found for found in report.findings if not found.repaired]
    lines = [f"• {found.message}{'' if found.repairable else ' (only you can mend this)'}" for found in rows[:SHOWN]]
    if len(rows) > SHOWN:
        lines.append(f"and {len(rows) - SHOWN} more: 'knowledge doctor' lists all")
    return "\n".join(lines)


def repair(shell: Shell) -> None:
    """Mend what can be mended and say what came of it."""

    def done(report: DoctorReport) -> None:
        mended = sum(found.repaired for found in report.findings)
        if report.errors:
            shell.error(report.errors[0])
        else:
            shell.toast(f"Mended: {count(mended, 'thing')}", icon="shield-check")

    shell.write("The repair", lambda workspace: doctor(workspace, repair=True), done=done)


def purge(shell: Shell) -> None:
    """Ask, then remove what is past its grace period."""

    def done(report: PurgeReport) -> None:
        words = f"Removed {count(len(report.purged), 'conversation')}, {size(report.bytes)}; {report.waiting} wait"
        shell.toast(words, icon="trash-2", color="muted")
        if report.errors:
            shell.error(report.errors[0])

    trash = shell.state.snapshot.overview.status.trash if shell.state.snapshot is not None else {"files": 0, "bytes": 0}
    words = (
        f"The trash holds {count(trash['files'], 'conversation')} ({size(trash['bytes'])}). Those past their "
        f"{shell.workspace.config.trash_days} days are removed for good; the others stay. What they taught stays in "
        "your files."
    )
    shell.ask(
        "Empty the trash?", words, "Remove", lambda: shell.write("The trash", trash_purge, done=done), kind="danger"
    )


def copy(shell: Shell) -> None:
    """Put the stable prefix of a new prompt on the clipboard."""
    workspace = shell.workspace

    def finish(result: Result[Any]) -> None:
        if not isinstance(result, Ok):
            shell.error(result.error)
        elif text := result.value.prefix.text:
            shell.copy(text, f"Copied {len(text.encode()):,} bytes: the start of a new conversation")
        else:
            shell.toast("There is nothing to inject: no digest, or it is switched off", icon="info", color="accent")

    shell.submit("The prompt", lambda _job: context(workspace), finish)


def open_home(shell: Shell) -> None:
    """Open the home folder in the file browser."""
    shell.open_path(str(shell.workspace.paths.home))
