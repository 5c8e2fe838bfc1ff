"""One view of the panel in the test window, with a shell, workers and keys as in the panel, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from core.base.result import ErrorInfo
from core.commands.workspace import Workspace
from tests.gui_window import Desk, Target

KEYS = {"Ctrl": 0, "Alt": 1, "Shift": 2}


class Stand:
    """A view that is built, gathered and refreshed; `close` lets go of it before the desk is cleared."""

    def __init__(
        self, desk: Desk, workspace: Workspace, view: type[Any], width: float = -1, height: float = -1
    ) -> None:
        from gui.actions import SHORTCUTS
        from gui.shell import Shell
        from gui.toolkit.keyboard import Keyboard
        from gui.toolkit.layout import box

        self.desk, self.look = desk, desk.look
        self.shell = Shell(self.look, workspace)
        self.errors: list[ErrorInfo] = []
        self.shell.on_banner = lambda error, *_: self.errors.append(error)
        self.shell.on_refresh = self.gather
        self.parent = box(self.look, desk.page, "pane", width=width, height=height)
        self.view = view(self.look, self.shell)
        self.view.build(self.parent)
        self.shell.layers.append(self._key)
        self.shell.build()
        self.shell.add_action("undo", "", "undo-2", self.shell.take_back)
        self.shell.add_action("redo", "", "redo-2", self.shell.do_again)
        steps = [key for key in SHORTCUTS if key.command in self.shell.actions]
        keyboard = Keyboard(self.look, steps, self.shell.run, waits=lambda: self.shell.settling)
        keyboard.layers = self.shell.layers
        keyboard.hear(desk.gate)
        self.keyboard = keyboard
        self.shell.on_refused = keyboard.forget
        desk.ticks.append(self.tick)
        self.shell.change(view=self.view.name)
        self.gather()
        self.settle()

    def _key(self, key: str, modifiers: frozenset[str], typing: bool) -> bool:
        label = "+".join([*(name for name in KEYS if name in modifiers), key])
        return bool(self.view.press(label, typing))

    def gather(self) -> None:
        """Read what the view shows."""
        reads = getattr(self.view, "gather", None)
        calls, self.shell.on_next_reading = self.shell.on_next_reading, []
        if reads is None:
            for call in calls:
                self.look.jobs.post(call)
            return
        workspace, before = self.shell.workspace, self.shell.state.of(self.view.name)

        def put(value: Any) -> None:
            self.shell.put({self.view.name: value})
            for call in calls:
                self.look.jobs.post(call)

        self.shell.submit("Reading", lambda _job: reads(workspace, before), put)

    def tick(self) -> bool:
        """What the panel does before each frame."""
        worked = self.shell.dirty
        if worked:
            self.shell.dirty = False
            self.view.refresh(self.shell.state)
        return worked

    def settle(self) -> None:
        """Until every worker has answered and everything is drawn."""
        self.desk.frames(1)
        assert self.desk.until(lambda: not self.shell.busy() and not self.shell.dirty and not self.desk.jobs.waiting())
        self.desk.frames(2)

    def press(self, *keys: str) -> None:
        """Press keys by their X names, and wait for what comes of it."""
        for key in keys:
            self.desk.press(key)
            self.settle()

    def click(self, item: Target, times: int = 1) -> None:
        """Click an item, and wait for what comes of it."""
        self.desk.click(item, times=times)
        self.settle()

    def texts(self) -> list[str]:
        """What the rows of a list say."""
        return [str(row.text) for row in self.view.list.rows]

    def row(self, words: str) -> Any:
        """The one row of a list that has these words."""
        found = [row for row in self.view.list.rows if words in row.text]
        assert len(found) == 1, (words, self.texts())
        return found[0]

    def slot(self, words: str) -> Target:
        """Where that row is drawn."""
        return partial(self.view.list.place_of, self.row(words).key)

    def begin(self, words: str) -> Any:
        """Open the editor of that row with two clicks, and go to the end of its text."""
        self.click(self.slot(words), times=2)
        assert self.view.session.target is not None and self.look.typing()
        self.press("ctrl+End")
        return self.view.session.editor

    def point(self, words: str) -> dict[str, Any]:
        """Move the mouse to that row; its buttons by name."""
        self.desk.move(*self.desk.middle(self.slot(words)))
        self.settle()
        buttons: dict[str, Any] = self.view.list.bar.buttons
        return buttons

    def type_text(self, text: str) -> None:
        """Type letters into what has the keyboard."""
        assert self.look.typing(), "no field has the keyboard"
        self.desk.type_text(text)

    def read_again(self) -> None:
        """Read what the view shows, and wait for what comes of it."""
        self.gather()
        self.settle()

    def toast(self) -> tuple[str, int]:
        """What the toast says, and its button."""
        toast = self.shell._toast
        assert toast is not None and toast._until
        return str(self.desk.dpg.get_value(toast._words)), toast._button.item

    def close(self) -> None:
        """Let go of workers and items."""
        assert not self.desk.jobs.errors, self.desk.jobs.errors
        self.desk.ticks.clear()
        self.keyboard.dispose()
        assert self.shell.dispose()


def standing(view: type[Any], width: float = 640) -> Callable[..., Iterator[Stand]]:
    """The fixture `stand` of a file: this view, on what its fixture `home` makes."""

    @pytest.fixture(name="stand")
    def stand_fixture(desk: Desk, home: Workspace) -> Iterator[Stand]:
        stand = Stand(desk, home, view, width=width)
        yield stand
        stand.close()

    return stand_fixture
