"""The first start, with nothing on disk yet: what will appear here, where it is looked for, and a demo to try."""

from __future__ import annotations

from collections.abc import Callable

import dearpygui.dearpygui as dpg

from core.base.result import Ok, Result
from core.commands.demo import demo_home
from core.commands.workspace import Workspace
from gui.shell import RUN, Shell
from gui.state import Snapshot, State
from gui.toolkit.icons import icon
from gui.toolkit.layout import box, space
from gui.toolkit.theme import Look
from gui.toolkit.widgets import Button, CopyText, text
from gui.views.looks import short_folder

WIDTH = 640
WORDS = (
    "Every chat with an AI assistant holds facts, decisions and half-done tasks. This panel turns them into plain "
    "text files that are yours, and that new conversations can start with."
)
LINES = (
    ("layers", "accent", "Choose what your other tools left",
     "Claude Code, Codex, Gemini CLI, Cursor and others, where they lie; also exports of ChatGPT"),
    ("messages-square", "accent", "Or put conversations into the folder below",
     "a file or folder is taken whose name ends in an id (a UUID)"),
    ("wheat", "accent", "Press Harvest…", "it shows first what it would do, and changes nothing before you say so"),
    ("lightbulb", "harvested", "Read what they taught", "facts, decisions, tasks, playbooks and notes on files"),
)  # fmt: skip


def is_first_start(snapshot: Snapshot) -> bool:
    """Nothing harvested, nothing written, no conversation that waits."""
    found = snapshot.overview
    if snapshot.ledger or found.status.pending.get("conversations") or found.runs:
        return False
    return not any(row.exists for row in found.files)


class FirstStart:
    """A page over the whole middle."""

    name = "first"

    def __init__(self, look: Look, shell: Shell) -> None:
        self._look, self._shell = look, shell
        self._shown = ""

    def build(self, parent: int) -> int:
        """Make the page inside `parent`, hidden."""
        look = self._look
        self.item = box(look, parent, "gutter")
        dpg.configure_item(self.item, show=False)
        page = box(look, self.item, "pane", scroll=True)
        self._top = int(dpg.add_spacer(parent=page, height=1))
        self._column = int(dpg.add_group(parent=page))
        inside = look.theme(box(look, self._column, "clear", width=WIDTH, height=0), "clear")
        text(look, inside, icon("library"), "picture", "accent")
        text(look, inside, "Your conversations can teach you something", "heading")
        text(look, inside, WORDS, "text", "muted", wrap=True)
        space(look, inside, 6)
        for number, (sign, color, title, words) in enumerate(LINES, start=1):
            row = int(dpg.add_group(horizontal=True, parent=inside))
            text(look, row, icon(sign), "heading", color)
            group = look.theme(int(dpg.add_group(parent=row)), "tight")
            text(look, group, f"{number}.  {title}", "strong")
            text(look, group, words, "small", "hint", wrap=True)
        space(look, inside, 6)
        text(look, inside, "Conversations are looked for in", "small", "muted")
        self._folder = CopyText(look, inside, "", color="accent")
        space(look, inside, 4)
        row = int(dpg.add_group(horizontal=True, parent=inside))
        self.demo = Button(look, row, "Try the demo", self.try_demo, icon="circle-play", kind="primary",
                           tip="A temporary home with sample conversations; yours is not touched",
                           shortcut="Enter")  # fmt: skip
        self.sources = Button(look, row, "Look at your other tools", lambda: self._shell.run("view.sources"),
                              icon="layers", tip="How many conversations each tool left, and a switch")  # fmt: skip
        Button(look, row, "Open settings", self._shell.open_settings, icon="settings", kind="secondary",
               tip="The settings file in the system's editor")  # fmt: skip
        self._busy = text(look, inside, "", "small", "hint")
        look.follow(page, self._fit)
        return self.item

    def show(self, on: bool) -> None:
        """Whether the page is there."""
        dpg.configure_item(self.item, show=on)

    def refresh(self, state: State) -> None:
        """Show where is looked."""
        words = short_folder(str(self._shell.workspace.paths.conversations))
        if words != self._shown:
            self._shown = words
            self._folder.set(words)

    def press(self, key: str, typing: bool) -> bool:
        """Enter tries the demo."""
        if key == "Enter" and not typing:
            self.try_demo()
            return True
        return False

    def _fit(self, width: float, height: float) -> None:
        indent = max(1, int((width - self._look.px(WIDTH)) / 2))
        dpg.configure_item(self._column, indent=indent)
        dpg.configure_item(self._top, height=max(1, int((height - self._look.px(500)) * 0.4)))

    def try_demo(self) -> None:
        """Make a demo home, harvest it, and open it in this window."""
        dpg.set_value(self._busy, "Making the demo…")
        self.demo.enable(False)
        open_demo(self._shell, self._ended)

    def _ended(self) -> None:
        dpg.set_value(self._busy, "")
        self.demo.enable(True)


def open_demo(shell: Shell, ended: Callable[[], object] = lambda: None) -> None:
    """Show a new demo home in this window; on failure say why."""
    workspace = shell.workspace

    def finish(result: Result[Workspace]) -> None:
        ended()
        if isinstance(result, Ok):
            shell.use_home(result.value)
            home = result.value.paths.home
            shell.toast(f"This is the demo, in {home}; your own home is untouched", icon="circle-play", color="accent")
        else:
            shell.error(result.error)

    shell.submit("The demo", lambda _job: demo_home(workspace), finish, lane=RUN)
