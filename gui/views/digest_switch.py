"""The one control for the digest: a switch that is on only where new conversations really start with it, and a menu."""

from __future__ import annotations

from collections.abc import Callable

import dearpygui.dearpygui as dpg

from core.base.result import ErrorInfo
from core.commands.context import DigestState, digest_off, digest_on
from core.knowledge.run_state import EMPTY, UNREADABLE, UNWRITTEN, DigestStands
from gui.shell import Shell
from gui.state import State
from gui.toolkit.dialogs import Menu, MenuRow
from gui.toolkit.theme import Look
from gui.toolkit.widgets import Button, Toggle, hint, say_hint
from gui.views.looks import capital

LABEL, NONE, NOTHING_IN_IT = "Digest", "No digest yet", "Digest, empty"
LOADING = "Loading…"


def switch_words(found: DigestState, stands: DigestStands) -> tuple[bool, str]:
    """Whether the switch is on, and its label. On is only what new conversations really get."""
    on = found.injected and stands.state != UNREADABLE
    return on, LABEL if on else {EMPTY: NOTHING_IN_IT, UNWRITTEN: NONE}.get(stands.state, LABEL)


class DigestSwitch:
    """The switch and the button beside it that opens the menu."""

    def __init__(self, look: Look, shell: Shell) -> None:
        self._look, self._shell = look, shell
        self._shown: tuple[DigestState, DigestStands] | None = None

    def build(self, parent: int) -> None:
        """Make both inside a row."""
        look = self._look
        self.toggle = Toggle(look, parent, LOADING, self._switched)
        self.toggle.forget()
        self._tip = hint(look, self.toggle.label, "", "Ctrl+Shift+D")
        self.more = Button(look, parent, "", self.open_menu, icon="chevron-down", kind="ghost",
                           tip="Open the digest, write it again, or delete it")  # fmt: skip
        self._menu = Menu(look, most=3)
        self._shell.layers.append(self._menu.key)

    def refresh(self, state: State) -> None:
        """Show it as it is."""
        if state.snapshot is None:
            self._shown = None
            self.toggle.forget()
            self.toggle.set_label(LOADING)
            return
        status = state.snapshot.overview.status
        found, stands = status.digest, status.stands.digest
        if (found, stands) == self._shown:
            return
        self._shown = found, stands
        on, label = switch_words(found, stands)
        self.toggle.set_on(on)
        self.toggle.set_label(label)
        say_hint(self._tip, capital(stands.words))

    def press(self) -> None:
        """The other state, by key or from the palette."""
        if self.toggle.known:
            self._switched(not self.toggle.on)

    def _switched(self, on: bool) -> None:
        """Write `digest_enabled`; where there is no file yet, write that."""
        if self._shown is None:
            return
        found, stands = self._shown
        if stands.state == UNREADABLE:
            self.toggle.set_on(False)
            self._shell.toast("The settings cannot be read: mend them first", icon="circle-alert", color="failed")
            return
        if not found.injected and (found.enabled or not found.exists):
            self.toggle.set_on(False)  # on once it is there, not before
            write_digest(self._shell)
            return
        self.toggle.set_on(on)
        set_digest(self._shell, on, self._put_back)

    def _put_back(self) -> None:
        if self._shown is not None:
            self.toggle.set_on(switch_words(*self._shown)[0])

    def open_menu(self) -> None:
        """What else can be done with the digest, below the switch."""
        shell, exists = self._shell, self._shown is not None and self._shown[0].exists
        rows = [MenuRow("Write it again" if exists else "Write it", "sparkles", lambda: write_digest(shell))]
        if exists:
            path = str(shell.workspace.paths.digest)
            rows.insert(0, MenuRow("Open digest.md", "external-link", lambda: shell.open_path(path)))
            rows.append(MenuRow("Delete digest.md…", "trash-2", lambda: ask_delete(shell)))
        left, top = dpg.get_item_rect_min(self.more.item)
        self._menu.open(rows, (left, top + dpg.get_item_rect_size(self.more.item)[1] + 4))


def set_digest(shell: Shell, on: bool, back: Callable[[], object] = lambda: None) -> None:
    """Switch `digest_enabled` in the settings file that was seen; every other byte of it stays."""

    def failed(error: ErrorInfo) -> None:
        back()
        shell.error(error)
        shell.refresh()

    def said(value: str) -> str:
        return f"New conversations start {'with' if value == 'true' else 'without'} the digest"

    values = ("true", "false") if on else ("false", "true")
    shell.change_setting("digest_enabled", *values, said, failed)


def write_digest(shell: Shell) -> None:
    """Make digest.md from the knowledge as it is; switched on as well, where it was off."""
    snapshot = shell.state.snapshot
    if snapshot is None or shell.defers(lambda: write_digest(shell)):
        return
    if not any(row.bullets for row in snapshot.overview.files if row.file != "quarantine.md"):
        shell.toast("There is no knowledge yet: a harvest writes the digest", icon="info", color="accent",
                    action="Harvest…", on_action=lambda: shell.run("harvest"))  # fmt: skip
        return

    def write() -> None:
        shell.write("The digest", digest_on, said="New conversations start with digest.md")

    if snapshot.overview.status.digest.enabled:
        write()
        return
    # The switch is written first, and the digest with the settings as they are then.
    set_digest(shell, True)
    shell.defers(lambda: write() if shell.workspace.config.digest_enabled else None)


def delete_words(state: DigestState) -> tuple[str, str]:
    """The question before the digest is deleted: title, and what will happen."""
    return (
        "Delete the digest?",
        f"digest.md ({state.bytes:,} bytes) is deleted, and from then on nothing is put in front of a new "
        "conversation. The knowledge itself stays: the digest is made from it.\n\n"
        "To get it back, press the switch, or harvest: both write it again.",
    )


def ask_delete(shell: Shell) -> None:
    """Ask before digest.md is deleted."""
    snapshot = shell.state.snapshot
    if snapshot is None:
        return
    state = snapshot.overview.status.digest
    if not state.exists:
        shell.toast("There is no digest to delete", icon="info", color="accent")
        return
    title, words = delete_words(state)

    def deleted(_value: object) -> None:
        shell.toast("digest.md is deleted", action="Undo", on_action=lambda: write_digest(shell))

    shell.ask(title, words, "Delete digest.md", lambda: shell.write("The digest", digest_off, done=deleted),
              kind="danger")  # fmt: skip
