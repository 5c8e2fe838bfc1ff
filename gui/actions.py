"""The keys of the panel as a table, and what can be done from everywhere by key, search or button.

No plain letter stands here: a letter that somebody types in the belief that a field has the keyboard must not change
anything. The keys of a view or of the inspector stand in its class (`keys`) and are heard in its `press`; there a plain
letter acts on the chosen row alone, and shows something or can be taken back. The keys dialog lists all of them.

Below stands what is done with the whole store: check it, empty the trash, copy the prompt; and the dialog of all keys,
which reads the tables that make them work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import dearpygui.dearpygui as dpg

from core.base.figures import count, size
from core.commands.context import ContextPrefix, context
from core.commands.history.trash import PurgeReport, trash_purge
from core.commands.sources import NAMES, title_of
from core.commands.workspace import Workspace
from gui.shell import RUN, Shell
from gui.toolkit.dialogs import Dialog
from gui.toolkit.flow import FlowList
from gui.toolkit.flow_rows import FlowRow
from gui.toolkit.keys import Shortcut, label_of
from gui.toolkit.layout import box
from gui.toolkit.theme import Look
from gui.views.digest_switch import ask_delete, write_digest
from gui.views.first_start import open_demo
from gui.workbench import VIEWS, view_keys

if TYPE_CHECKING:
    from core.commands.doctor import DoctorReport

# name -> what it does in words, icon; the shell or the panel does it
ACTIONS: dict[str, tuple[str, str]] = {
    "undo": ("Undo what you did last in this window", "undo-2"),
    "redo": ("Redo what you undid", "redo-2"),
    "harvest": ("Harvest: look first, then apply", "wheat"),
    "search": ("Search everything, and all commands", "search"),
    "search.leave": ("Back from the search", "arrow-left"),
    "digest.toggle": ("Digest in prompt on or off", "toggle-right"),
    "digest.delete": ("Delete the digest", "trash-2"),
    "digest.write": ("Write the digest again", "sparkles"),
    "refresh": ("Refresh: read everything again", "refresh-cw"),
    "pane.side": ("Hide or show the left column", "panel-left"),
    "theme": ("Light or dark theme", "sun"),
    "scale.up": ("Zoom in", "arrow-up"),
    "scale.down": ("Zoom out", "arrow-down"),
    "scale.reset": ("Usual size (100 %)", "target"),
    "keys": ("All keys", "keyboard"),
    "cancel": ("Stop the running harvest", "circle-stop"),
    "home.own": ("Back to your own home", "house"),
    "doctor": ("Check the store, and repair it", "shield-check"),
    "trash.purge": ("Empty the trash of what is past its time", "trash-2"),
    "context.copy": ("Copy what a new conversation would start with", "copy"),
    "demo": ("Try the demo in a home of its own", "circle-play"),
    "config.open": ("Open the settings file", "external-link"),
    "home.open": ("Open the home folder", "folder-open"),
}
CTRL, CTRL_SHIFT = ("Ctrl",), ("Ctrl", "Shift")
_KEYS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("Z", CTRL, "undo"),
    ("Y", CTRL, "redo"),
    ("Z", CTRL_SHIFT, "redo"),
    ("K", CTRL, "search"),
    ("P", CTRL_SHIFT, "search"),
    ("H", CTRL, "harvest"),
    ("D", CTRL_SHIFT, "digest.toggle"),
    ("F5", (), "refresh"),
    ("B", CTRL, "pane.side"),
    ("T", CTRL_SHIFT, "theme"),
    ("Plus", CTRL, "scale.up"),
    ("Minus", CTRL, "scale.down"),
    ("0", CTRL, "scale.reset"),
    ("F1", (), "keys"),
)
SHORTCUTS: tuple[Shortcut, ...] = (
    *(Shortcut(key, name, ACTIONS[name][0], held, typing=name == "search") for key, held, name in _KEYS),
    *view_keys(),
)


def add_actions(
    shell: Shell,
    of_panel: Mapping[str, Callable[[], object]],
    open_view: Callable[[str], object],
    harvest: Callable[[tuple[str, ...]], object],
) -> None:
    """Make known to the shell what can be done: `of_panel` are those of `ACTIONS` that the panel itself does,
    `open_view(name)` shows a view, `harvest(sources)` opens a dry run of some sources alone."""
    acts: dict[str, Callable[[], object]] = {
        "undo": shell.take_back,
        "redo": shell.do_again,
        "digest.delete": partial(ask_delete, shell),
        "digest.write": partial(write_digest, shell),
        "doctor": partial(check, shell),
        "trash.purge": partial(purge, shell),
        "context.copy": partial(copy, shell),
        "demo": partial(open_demo, shell),
        "config.open": shell.open_settings,
        "home.open": lambda: shell.open_path(str(shell.workspace.paths.home)),
        **of_panel,
    }
    for name, (words, icon) in ACTIONS.items():
        shell.add_action(name, words, icon, acts[name], label_of(SHORTCUTS, name))
    for row in VIEWS:
        act, key = partial(open_view, row.name), label_of(SHORTCUTS, row.action)
        shell.add_action(row.action, f"Go to {row.label}", row.icon, act, key)
    one = partial(harvest_one, shell, harvest)
    shell.add_action("harvest.one", "Harvest the chosen conversation alone: look first, then apply", "wheat", one)
    for source in NAMES:
        words = f"Harvest {title_of(source)} alone: look first, then apply"
        shell.add_action(f"harvest.{source}", words, "wheat", partial(harvest, (source,)))


def harvest_one(shell: Shell, harvest: Callable[[tuple[str, ...]], object]) -> None:
    """A dry run of the conversation that was chosen for it."""
    path = shell.state.of("one")
    if path:
        harvest((path,))
    else:
        shell.toast("Press H on a conversation to harvest it alone", icon="info", color="accent")


SHOWN = 8


def check(shell: Shell) -> None:
    """Look at the store like a file system check; offer to mend what can be mended."""
    workspace = shell.workspace

    def finish(report: DoctorReport) -> None:
        left = [found for found in report.findings if not found.repaired]
        if not left:
            shell.toast("The store is whole", icon="shield-check")
            return
        if any(found.repairable for found in left):
            shell.ask("Repair the store?", finding_words(report), "Repair", lambda: repair(shell))
        else:
            shell.ask("The store was checked", finding_words(report), "Close", lambda: None)

    # A question about one home, answered in another, would repair that one.
    shell.submit("The check of the store", lambda _job: look_over(workspace), finish, lane=RUN,
                 wanted=lambda: workspace.paths == shell.workspace.paths)  # fmt: skip


def look_over(workspace: Workspace, repair: bool = False) -> DoctorReport:
    """What `knowledge doctor` says. It needs half of the program, which a start of the window does not wait for."""
    from core.commands.doctor import doctor

    return doctor(workspace, repair=repair)


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

    shell.write("The repair", lambda workspace: look_over(workspace, repair=True), done=done)


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

    def finish(found: ContextPrefix) -> None:
        if text := found.prefix.text:
            shell.copy(text, f"Copied {len(text.encode()):,} bytes: the start of a new conversation")
        else:
            shell.toast("There is nothing to inject: no digest, or it is switched off", icon="info", color="accent")

    shell.submit("The prompt", lambda _job: context(workspace), finish)


KEYS_WIDTH, KEYS_HEIGHT, GAP = 580, 480, 8
EVERYWHERE = (
    ("Up, Down, Page up, Page down", "Move in a list"),
    ("Enter", "Open what is selected; confirm a dialog"),
    ("/", "Search everything"),
    ("Esc", "Close a dialog, the evidence, leave a field, show all again"),
)


def keys_of(shortcuts: Iterable[Shortcut]) -> list[tuple[str, str]]:
    """The keys of each command with what it does, then what works in every list."""
    labels: dict[str, list[str]] = {}
    words: dict[str, str] = {}
    for shortcut in shortcuts:
        labels.setdefault(shortcut.command, []).append(shortcut.label)
        words.setdefault(shortcut.command, shortcut.description)
    return [*(("  or  ".join(keys), words[command]) for command, keys in labels.items()), *EVERYWHERE]


class KeysDialog:
    """A window with all keys; Esc or Enter closes it."""

    def __init__(self, look: Look, shell: Shell) -> None:
        self._look, self._shell = look, shell

    def build(self, parts: Mapping[str, Sequence[tuple[str, str]]]) -> None:
        """Make it, hidden. `parts` are the keys of each part of the panel, by its name."""
        look = self._look
        self.dialog = Dialog(look, "Keys", "Close", lambda: True, icon="keyboard", width=KEYS_WIDTH)
        dpg.configure_item(self.dialog.cancel_button.item, show=False)
        self._page = box(look, self.dialog.body, "well", height=KEYS_HEIGHT)
        self.list = FlowList(look).build(self._page)
        rows: list[FlowRow] = []
        for name, keys in {"Everywhere": keys_of(SHORTCUTS), **parts}.items():
            rows.append(FlowRow(name, name, icon="keyboard", color="hint", text_color="muted"))
            rows += (FlowRow((name, key, what), f"{key}   {what}", strong=len(key)) for key, what in keys)
        self.list.set_rows(rows)
        self.dialog.on_room = self._fit
        self._shell.layers.append(self._key)

    def _key(self, name: str, modifiers: frozenset[str], typing: bool) -> bool:
        """The arrows move in the list; the rest is the dialog's."""
        moves = self.dialog.is_open and name != "Enter" and self.list.press(name)
        return moves or self.dialog.key(name, modifiers, typing)

    def _fit(self) -> None:
        """In a low window its page is lower, so that only the list scrolls."""
        self._look.size(self._page, height=min(KEYS_HEIGHT, self.dialog.room - GAP))

    def open(self) -> None:
        """Show it."""
        self.dialog.open()
