"""A panel in the tests' one window, on a home of its own; what several test files need to drive it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from core.base.result import Ok, attempt
from core.commands.demo import make_demo_home
from core.commands.harvest import harvest
from core.commands.harvest_options import HarvestRequest
from core.commands.workspace import Workspace, open_workspace
from tests.gui_window import Desk

CONFIG = """# my own settings; this comment must survive
[ai_settings.knowledge]
digest_enabled = true   # on since spring
jobs = 1
"""


def workspace_at(folder: Path, demo: bool = True, config: str = CONFIG) -> Workspace:
    """A home below `folder` (the demo's conversations, nothing harvested) and a settings file beside it."""
    if demo:
        assert isinstance(attempt(make_demo_home, str(folder / "home")), Ok)
    settings = folder / "config.toml"
    settings.write_text(config + f'file_roots = ["{folder.as_posix()}"]\n', encoding="utf-8")
    environment = {"XDG_CONFIG_HOME": str(folder / "xdg"), "HOME": str(folder)}
    return open_workspace(str(folder / "home"), settings, environment, folder)


def harvested_at(folder: Path, **how: Any) -> Workspace:
    """Such a home whose conversations have been read."""
    workspace = workspace_at(folder, **how)
    assert isinstance(attempt(harvest, workspace, HarvestRequest(apply=True)), Ok)
    return workspace


def write_ledger(workspace: Workspace, rows: list[dict[str, Any]]) -> None:
    """A ledger of made-up entries, oldest first."""
    entries = {f"{number:064x}": row for number, row in enumerate(rows, start=1)}
    workspace.paths.knowledge.mkdir(parents=True, exist_ok=True)
    workspace.paths.ledger.write_text(json.dumps({"entries": entries}), encoding="utf-8")


def asks(shell: Any) -> bool:
    """Whether a question is open."""
    return bool(shell._question.dialog.is_open)


def place_in(rows: Any, key: object) -> tuple[int, int]:
    """The middle of one of some short lines on the screen (`gui/toolkit/rows.py`)."""
    import dearpygui.dearpygui as dpg

    at = next(at for at, line in enumerate(rows.lines) if line.key == key)
    left, top = dpg.get_item_rect_min(rows.drawing.item)
    x, y, wide = rows._box(at)
    view_x, view_y = dpg.get_viewport_pos()
    return int(view_x + left + x + wide / 2), int(view_y + top + y + rows._look.px(12))


def claude_talk(home: Path) -> None:
    """A conversation that Claude Code kept in May, in this user's home."""
    sessions = home / ".claude" / "projects" / "p"
    sessions.mkdir(parents=True)
    line = {"type": "user", "cwd": "/srv/a", "sessionId": "s", "timestamp": "2026-05-04T10:00:00Z", "uuid": "a",
            "parentUuid": None, "message": {"role": "user", "content": "Sort the shelf, please"}}  # fmt: skip
    (sessions / "s.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    os.utime(sessions / "s.jsonl", (1_778_000_000, 1_778_000_000))


class Seat:
    """One panel in the desk's window."""

    def __init__(
        self, desk: Desk, workspace: Workspace, *, width: int = -1, hears: bool = True, **options: Any
    ) -> None:
        from gui.panel import KnowledgePanel

        self.desk, self.workspace = desk, workspace
        options.setdefault("choices", {"view": "conversations"})  # most tests begin there, the user with the first view
        self.page = int(desk.dpg.add_child_window(parent=desk.page, border=False, width=width, height=-1))
        self.panel = KnowledgePanel(workspace, wake=desk.loop.wake, **options)
        self.panel.build(self.page)
        if hears:  # as in a window of its own
            self.panel.hear(desk.gate)
        self._tick: Callable[[], object] = lambda: self.panel.tick() is not None
        desk.ticks.append(self._tick)

    @property
    def state(self) -> Any:
        return self.panel.shell.state

    def settled(self) -> bool:
        """Whether everything that was asked for has been read and drawn."""
        panel, shell = self.panel, self.panel.shell
        posted = panel.jobs.waiting() or self.desk.jobs.waiting() or shell.settling
        return not (panel.reader.waiting or shell.busy() or shell.dirty or posted) and self.state.snapshot is not None

    def going_on(self) -> str:
        """What the panel is at, for a test that waited in vain."""
        panel = self.panel
        reader = f"reader waiting {panel.reader.waiting}, dirty {panel.shell.dirty}, "
        return reader + f"jobs {[job.name for job in panel.shell.busy()]}, faults {self.faults()}"

    def settle(self) -> None:
        """Draw until nothing is going on any more, and nothing comes of that either."""
        self.until(self.settled)
        while not self.settled():
            self.until(self.settled)

    def until(self, true: Callable[[], object]) -> None:
        """Draw until it is so; a test that waits in vain ends after a while."""
        assert self.desk.until(true), f"it did not come about; going on: {self.going_on()}"
        self.desk.frames(3)

    def faults(self) -> list[Any]:
        """Mistakes of the panel's own."""
        return [*self.panel.jobs.errors, *self.desk.jobs.errors]

    def leave(self) -> None:
        """Take the panel away again."""
        self.desk.ticks.remove(self._tick)
        self.panel.dispose()
        self.desk.dpg.delete_item(self.page)


def control_of(view: str) -> str:
    """The key of a view, which is heard in a text field, too."""
    from gui.workbench import VIEWS

    return f"ctrl+{next(row.key for row in VIEWS if row.name == view)}"


@contextmanager
def seated(desk: Desk, workspace: Workspace, **options: Any) -> Iterator[Seat]:
    """A panel that has read its home, taken away at the end; it must have made no mistake."""
    seat = Seat(desk, workspace, **options)
    try:
        seat.settle()
        yield seat
        assert seat.faults() == [], seat.faults()
    finally:
        seat.leave()


@pytest.fixture(name="at_home")
def at_home_fixture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for a home; caches and remembered windows go there, too."""
    for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    return tmp_path
