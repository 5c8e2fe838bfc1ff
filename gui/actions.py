"""The keys of the panel as a table, and what can be done from everywhere by key, palette or button.

No plain letter stands here: a letter that somebody types in the belief that a field has the keyboard must not change
anything. The keys of a view or of the inspector stand in its class (`keys`) and are heard in its `press`; there a plain
letter acts on the chosen row alone, and shows something or can be taken back. The keys dialog lists all of them.

What can be done with the whole store from the palette: check it, empty the trash, copy the prompt, try the demo.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from core.base.figures import count, size
from core.base.result import Ok, Result
from core.commands.context import context
from core.commands.doctor import DoctorReport, doctor
from core.commands.sources import NAMES, title_of
from core.commands.trash import PurgeReport, trash_purge
from gui.shell import RUN, Shell
from gui.state import HISTORY_KEYS
from gui.toolkit.keys import Shortcut, label_of
from gui.views.digest_switch import ask_delete, write_digest
from gui.views.first_start import open_demo
from gui.workbench import VIEWS, view_keys

if TYPE_CHECKING:
    from gui.panel import KnowledgePanel


SCALE_STEP = 0.125

SHORTCUTS: tuple[Shortcut, ...] = (
    *HISTORY_KEYS,
    Shortcut("K", "palette", "Find anything, do anything", ("Ctrl",), typing=True),
    Shortcut("P", "palette", "Find anything, do anything", ("Ctrl", "Shift"), typing=True),
    Shortcut("H", "harvest", "Harvest: look first", ("Ctrl",)),
    Shortcut("D", "digest.toggle", "Digest in prompt on or off", ("Ctrl", "Shift")),
    Shortcut("F5", "refresh", "Read everything again"),
    Shortcut("B", "pane.rail", "Hide or show the left column", ("Ctrl",)),
    Shortcut("I", "pane.inspector", "Hide or show the inspector", ("Ctrl",)),
    Shortcut("T", "theme", "Light or dark", ("Ctrl", "Shift")),
    Shortcut("Plus", "scale.up", "Larger", ("Ctrl",)),
    Shortcut("Minus", "scale.down", "Smaller", ("Ctrl",)),
    Shortcut("0", "scale.reset", "Usual size", ("Ctrl",)),
    Shortcut("F1", "keys", "All keys"),
    *view_keys(),
)


def add_actions(panel: KnowledgePanel) -> None:
    """Make known to the shell what this panel can do."""
    shell, size = panel.shell, panel.set_scale

    def scaled(by: float) -> Callable[[], object]:
        return lambda: size(panel.look.scale + by)

    rows: tuple[tuple[str, str, str, Callable[[], object]], ...] = (
        ("harvest", "Harvest: look first, then apply", "wheat", panel.harvest.open),
        ("palette", "Find anything, do anything", "search", panel.palette.open),
        ("digest.toggle", "Digest in prompt on or off", "toggle-right", panel.header.digest.press),
        ("digest.delete", "Delete the digest", "trash-2", lambda: ask_delete(shell)),
        ("digest.write", "Write the digest anew", "sparkles", lambda: write_digest(shell)),
        ("refresh", "Read everything again", "refresh-cw", shell.refresh),
        ("pane.rail", "Hide or show the left column", "panel-left", lambda: panel.toggle_pane("rail")),
        ("pane.inspector", "Hide or show the inspector", "panel-right", lambda: panel.toggle_pane("inspector")),
        ("theme", "Light or dark theme", "sun", panel.switch_theme),
        ("scale.up", "Larger", "arrow-up", scaled(SCALE_STEP)),
        ("scale.down", "Smaller", "arrow-down", scaled(-SCALE_STEP)),
        ("scale.reset", "Usual size", "target", lambda: size(panel.usual_scale)),
        ("keys", "All keys", "keyboard", panel.keys.open),
        ("cancel", "Stop the running harvest", "circle-stop", panel.run.cancel),
        ("home.own", "Back to your own home", "house", panel.homes.back),
    )
    for name, words, icon, act in rows:
        shell.add_action(name, words, icon, act, label_of(SHORTCUTS, name))
    add_store_actions(shell)
    for row in VIEWS:
        shell.add_action(
            row.action, f"Go to {row.label}", row.icon, opener(panel, row.name), label_of(SHORTCUTS, row.action)
        )
    for source in NAMES:
        words = f"Harvest {title_of(source)} alone: look first, then apply"
        shell.add_action(f"harvest.{source}", words, "wheat", harvester(panel, source))


def harvester(panel: KnowledgePanel, source: str) -> Callable[[], None]:
    """What opens the harvest dialog with a dry run of one source."""
    return lambda: panel.harvest.open((source,))


def opener(panel: KnowledgePanel, name: str) -> Callable[[], None]:
    """What opens a view, and remembers that it was the last one."""

    def show() -> None:
        panel.leave_first()
        panel.shell.choices["view"] = name
        panel.shell.show(name)
        panel.workbench.open(name)  # at once: the next key is for this view already
        panel.workbench.refresh(panel.shell.state)

    return show


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
