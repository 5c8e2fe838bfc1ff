"""A panel in five hosts, typed into: `python -m tests.panel_embedded [SECONDS]` (60 for each host).

In each a task of the panel is selected, and then the host has the keyboard: a field of its own, a tab, a window, a
question. Nothing that is typed there may change what the panel shows or what lies on the disk. The keys that follow a
click into the panel are the panel's again.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from core.commands.workspace import Workspace
from tests.gui_window import Desk, open_desk
from tests.made_home import make_home, write
from tests.panel_desk import Seat

TASKS = "# Tasks\n\n## Open\n\n" + "".join(f"- task number {number} of the day\n" for number in range(12))
KEYS = (
    "space", "Delete", "Return", "Up", "Down", "Left", "Right", "Page_Down", "Home", "End", "BackSpace", "Escape", "F2",
    "F5", "Tab", "slash", "ctrl+k", "ctrl+z", "ctrl+y", "ctrl+h", "ctrl+3", "ctrl+b", "ctrl+shift+d", "ctrl+Return",
    "shift+Delete", "alt+s", "alt+Down", "alt+d",
)  # fmt: skip
WORDS = ("hi my name is", "done now", "0123456789", "delete this, keep that", "e s r n x d space")


@dataclass
class Host:
    """A host's window: its panels, and the calls that give the keyboard to something of the host's own."""

    desk: Desk
    workspaces: list[Workspace]
    seats: list[Seat] = field(default_factory=list)
    own: list[Callable[[], object]] = field(default_factory=list)
    windows: list[int] = field(default_factory=list)

    def panel(self, parent: int, width: int = -1) -> None:
        """Put a panel into `parent`, its tasks shown."""
        page, self.desk.page = self.desk.page, parent
        workspace = self.workspaces[len(self.seats)]
        choices = {"view": "knowledge", "pane.side": "hidden"}
        self.seats.append(Seat(self.desk, workspace, width=width, hears=False, choices=choices))
        self.desk.page = page

    def window(self, **how: Any) -> int:
        """A window of the host's beside the page."""
        self.windows.append(int(self.desk.dpg.add_window(**how)))
        return self.windows[-1]

    def close(self) -> None:
        """Take the panels away, and then what they stood in."""
        for item in self.windows:
            self.desk.dpg.configure_item(item, show=False)
        self.desk.frames(3)
        for seat in self.seats:
            seat.leave()
        for item in self.windows:
            self.desk.dpg.delete_item(item)
        self.desk.frames(2)

    def field(self, parent: int) -> None:
        """A field of the host's."""
        item = int(self.desk.dpg.add_input_text(parent=parent, label="prompt", width=200))
        self.own.append(lambda: self.desk.click(item))

    def select(self) -> None:
        """Choose a task of each panel with the mouse."""
        for seat in self.seats:
            self._select(seat)

    def _select(self, seat: Seat) -> None:
        seat.settle()
        view: Any = seat.panel.workbench.views["knowledge"]
        view.show("tasks_open")
        seat.until(lambda: view.list.in_sight()[2:])
        seat.settle()
        self.desk.click(lambda: view.list.place_of(view.list.rows[1].key))
        seat.until(lambda: seat.state.selected.kind == "bullet")


def alone(host: Host) -> None:
    """Nothing but the panel in the window; what the host asks stands over it."""
    dpg = host.desk.dpg
    host.panel(host.desk.page)
    question = host.window(modal=True, show=False, pos=[60, 60], width=320, height=120)
    words = int(dpg.add_input_text(parent=question))

    def ask() -> None:
        dpg.configure_item(question, show=True)
        host.desk.frames(3)
        host.desk.click(words)

    host.own.append(ask)


def beside(host: Host) -> None:
    """A field above the panel, in the same window."""
    host.field(host.desk.page)
    host.panel(int(host.desk.dpg.add_child_window(parent=host.desk.page, width=-1, height=-1)))


def in_a_tab(host: Host) -> None:
    """The panel is one tab, the host's chat another; a field stands above both."""
    dpg = host.desk.dpg
    host.field(host.desk.page)
    bar = int(dpg.add_tab_bar(parent=host.desk.page))
    first, second = (int(dpg.add_tab(label=name, parent=bar)) for name in ("Knowledge", "Chat"))
    host.panel(first)
    chat = int(dpg.add_input_text(parent=second, multiline=True))

    def talk() -> None:
        dpg.set_value(bar, second)
        host.desk.frames(4)
        host.desk.click(chat)

    host.own.append(talk)


def windows(host: Host) -> None:
    """The panel in a window that floats, another of the host's beside it and partly over it."""
    dpg = host.desk.dpg
    host.panel(host.window(label="Knowledge", pos=[0, 0], width=1000, height=760))
    host.field(host.window(label="Chat", pos=[960, 500], width=300, height=200))
    canvas = host.window(label="Canvas", pos=[960, 20], width=300, height=300)
    drawn = int(dpg.add_text("the host hears the keys of this one itself", parent=canvas))
    host.own.append(lambda: host.desk.click(drawn))


def two(host: Host) -> None:
    """Two panels side by side under a field."""
    host.field(host.desk.page)
    row = int(host.desk.dpg.add_group(horizontal=True, parent=host.desk.page))
    host.panel(row, width=620)
    host.panel(row, width=620)


HOSTS: dict[str, Callable[[Host], None]] = {
    "alone in a window": alone, "a field beside": beside, "in a tab": in_a_tab, "windows": windows, "two panels": two,
}  # fmt: skip


@contextmanager
def hosted(desk: Desk, folder: Path, name: str) -> Iterator[Host]:
    """One of `HOSTS` in the desk's window, a task selected in each of its panels."""
    made = []
    for number in range(2):
        home = folder / str(number)
        home.mkdir(parents=True)
        made.append(make_home(home))
        write(made[-1], "tasks.md", TASKS)
    host = Host(desk, made)
    try:
        HOSTS[name](host)
        host.select()
        yield host
    finally:
        host.close()


def on_disk(host: Host) -> dict[str, bytes]:
    """Every file of the panels' homes and settings."""
    found = {}
    for workspace in host.workspaces:
        files = [*workspace.paths.home.rglob("*"), workspace.loaded.file]
        found.update({str(path): path.read_bytes() for path in files if path.is_file()})
    return found


def shown(host: Host) -> list[Any]:
    """What each panel shows."""
    return [(seat.state.view, seat.state.selected, seat.panel.shell.state.selected.key) for seat in host.seats]


def typed(host: Host, seconds: float, seed: int = 28) -> tuple[int, list[str]]:
    """Type into what is the host's own. How many keys, and what changed that is the panel's."""
    chosen, desk, keys = random.Random(seed), host.desk, 0
    disk, looks = on_disk(host), shown(host)
    for own in host.own:
        own()
        end = time.monotonic() + seconds / len(host.own)
        while time.monotonic() < end:
            if chosen.random() < 0.5:
                words = chosen.choice(WORDS)
                desk.xdotool("type", "--delay", str(chosen.choice((1, 20))), words)
                keys += len(words)
            else:
                some = chosen.choices(KEYS, k=3)
                desk.xdotool("key", *some)
                keys += len(some)
            desk.frames(chosen.choice((1, 4)))
    desk.frames(5)
    for seat in host.seats:
        seat.settle()
    changed = [f"{name} changed" for name, text in on_disk(host).items() if disk.get(name) != text]
    changed += [f"{now} instead of {before}" for before, now in zip(looks, shown(host), strict=True) if before != now]
    return keys, changed


def main() -> int:
    """Every host for this many seconds; 1 where anything changed."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    desk, failed = open_desk(paints=False), 0
    for name in HOSTS:
        desk.fresh()
        with tempfile.TemporaryDirectory() as folder, hosted(desk, Path(folder), name) as host:
            keys, changed = typed(host, seconds)
            print(f"{name}: {keys} keys in {seconds:g} s; {'; '.join(changed) or 'nothing changed'}", flush=True)
            failed += bool(changed)
        desk.clear()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
