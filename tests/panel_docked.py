"""The example of embed.md in a window of its own, typed into: `python -m tests.panel_docked FOLDER` prints what came of
it, as JSON: what stands in the chat, whether a file of the home changed, what the panel shows.

A program for itself: docking is chosen before a window is opened, and a process has one window.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from gui.harvest_run import ENDED, PLANNED
from tests.gui_window import Hand, open_screen
from tests.made_home import make_home, write
from tests.panel_embedded import TASKS, WORDS
from tests.waiting import PATIENCE_SECONDS

EXAMPLE = Path(__file__).resolve().parents[1] / "assets" / "docs" / "embedded_panel.py"


@dataclass
class Found:
    """What came of it."""

    said: str = ""
    typed: str = ""
    changed: tuple[str, ...] = ()
    selected: str = ""
    view: str = ""
    after_show: str = ""
    heard: str = ""
    root: tuple[int, ...] = ()
    toast: tuple[int, ...] = ()


def example() -> ModuleType:
    """The file that embed.md names, as a module."""
    spec = importlib.util.spec_from_file_location("embedded_panel", EXAMPLE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


class Driver:
    """A hand on the example's window."""

    def __init__(self, folder: Path) -> None:
        import dearpygui.dearpygui as dpg

        self.dpg = dpg
        self.workspace = make_home(folder)
        write(self.workspace, "tasks.md", TASKS)
        self.program: Any = example().ChatProgram(self.workspace, str(folder))
        self.hand = Hand()
        self.until(lambda: self.program.panel.shell.state.snapshot is not None)
        search = ["xdotool", "search", "--name", "A chat with its knowledge"]
        found = subprocess.run(search, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False).stdout
        self.hand.focus(int(found.split()[-1]))
        self.frames(5)

    def frames(self, count: int) -> None:
        """Draw so many frames."""
        for _ in range(count):
            self.program.loop.frame()

    def until(self, true: Callable[[], object]) -> None:
        """Draw until it is so."""
        end = time.monotonic() + PATIENCE_SECONDS
        while not true():
            assert time.monotonic() < end, "it did not come about"
            self.frames(1)
            time.sleep(0.003)
        self.frames(3)

    def rests(self) -> None:
        """Draw until nothing is going on in the panel."""
        panel = self.program.panel
        self.until(
            lambda: not (panel.reader.waiting or panel.shell.busy() or panel.shell.dirty or panel.jobs.waiting())
        )

    def click_at(self, place: tuple[float, float]) -> None:
        """Click a place of the window."""
        x, y = self.dpg.get_viewport_pos()
        self.hand.move(int(x + place[0]), int(y + place[1]))
        self.frames(4)
        self.hand.button(1, True)
        self.frames(3)
        self.hand.button(1, False)
        self.frames(5)

    def click(self, item: int) -> None:
        """Click the middle of an item."""
        left, top = self.dpg.get_item_rect_min(item)
        width, height = self.dpg.get_item_rect_size(item)
        self.click_at((left + width / 2, top + height / 2))

    def press(self, key: str) -> None:
        """Press a key, or type a letter."""
        for down in (True, False):
            self.hand.key(key, down)
            self.frames(2)

    def files(self) -> dict[str, bytes]:
        """What lies in the home."""
        return {str(path): path.read_bytes() for path in self.workspace.paths.home.rglob("*") if path.is_file()}


def main(folder: Path) -> Found:
    """Select a task of the panel, type into the host's field, then use what the host may call."""
    open_screen()
    driver, found = Driver(folder), Found()
    dpg, panel = driver.dpg, driver.program.panel
    view = panel.workbench.views["knowledge"]
    driver.rests()
    driver.until(lambda: view.list.in_sight()[2:])
    driver.click_at(view.list.place_of(view.list.rows[1].key))
    driver.until(lambda: panel.shell.state.selected.kind == "bullet")
    before, found.selected = driver.files(), panel.shell.state.selected.key
    driver.click(driver.program.field)
    for words in WORDS[:3]:
        for letter in words:
            driver.press({" ": "space", ",": "comma"}.get(letter, letter))
        found.typed += words
        driver.press("Return")
        driver.click(driver.program.field)
    for key in ("Delete", "Up", "Down", "Escape"):
        driver.press(key)
    driver.rests()
    found.said, found.view = str(dpg.get_value(driver.program.said)), panel.shell.state.view
    now = driver.files()
    found.changed = tuple(name for name in sorted({*before, *now}) if before.get(name) != now.get(name))
    found.selected = "" if panel.shell.state.selected.key != found.selected else found.selected
    panel.shell.toast("A message with a few words", seconds=600)
    driver.frames(8)
    corner, inside = dpg.get_item_rect_min(panel.look.corner), dpg.get_item_rect_size(panel.root)
    found.root = tuple(map(int, (*corner, corner[0] + inside[0], corner[1] + inside[1])))
    words = panel.shell._toast._words
    found.toast = tuple(map(int, (*dpg.get_item_rect_min(words), *dpg.get_item_rect_max(words))))
    driver.program._show()
    driver.rests()
    found.after_show = panel.shell.state.view
    panel.run.look(("home",))
    driver.until(lambda: panel.run.now.phase == PLANNED)
    panel.run.apply()
    driver.until(lambda: panel.run.now.phase == ENDED)
    found.heard = str(dpg.get_value(driver.program.said)).rpartition("\n")[2]
    driver.program.close()
    return found


if __name__ == "__main__":
    for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        os.environ[name] = str(Path(sys.argv[1]) / name)
    os.environ["GALLIUM_NOOP"] = "1"  # nobody looks at its pixels
    print(json.dumps(asdict(main(Path(sys.argv[1])))))
