"""What is done to memories from the view: archived, brought back, saved; said with the way back."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

from core.base.result import ErrorInfo
from core.commands.memories import Memory, memories
from core.commands.memory_records import Moved
from gui.history import Step
from gui.shell import Shell
from gui.toolkit.editor import shortened
from gui.views.memories_rows import MemoryBook, which
from gui.views.memories_session import Target, is_undone_here

Way = Literal["did", "back", "on"]
DID: Way = "did"
BACK: Way = "back"
ON: Way = "on"
"""How a move came about: as something new, or by going back or on in the history of the window."""


class MemoryChanges:
    """`data()` is what the view shows now; `on_new(key)` hears the row of a memory that was saved."""

    def __init__(self, shell: Shell, data: Callable[[], MemoryBook], on_new: Callable[[str], object]) -> None:
        self._shell, self._data, self._on_new = shell, data, on_new

    def move(self, memory: Memory, action: str, way: Way = DID) -> None:
        """Archive a memory as it was seen, or restore it: something new, or a step of the window's history."""
        name = which(self._data(), memory, action == "restore")
        seen = memory.sha256 if action == "archive" else None

        def failed(error: ErrorInfo) -> None:
            self._shell.error(error)
            self._shell.refresh()

        self._shell.write(
            "The memory",
            lambda core: memories(core, action, name, seen=seen),
            done=lambda value: self._moved(memory, value, way),
            failed=failed,
        )

    def _moved(self, memory: Memory, value: Any, way: Way) -> None:
        if not isinstance(value, Moved):
            return
        now, history = Memory(**{**vars(memory), "path": value.path}), self._shell.history
        step = Step(
            partial(self.move, now, "restore" if value.archived else "archive", ON if way == BACK else BACK),
            step_of(memory),
        )
        if way == DID:
            history.did(step)
        else:
            (history.went_back if way == BACK else history.went_on)(step, step.run)
        self._shell.toast(
            f"{'Archived' if value.archived else 'Back again'}: {shortened(memory.summary)}",
            icon="archive" if value.archived else "archive-restore",
            action="Bring back" if value.archived else "",
            on_action=(lambda: self._again(step)) if value.archived else None,
        )

    def _again(self, step: Step) -> None:
        """The button of a toast: it goes the way that the last step of the history would go, once."""
        if step in self._shell.history.done or step in self._shell.history.taken_back:
            step.act()

    def saved(self, target: Target, value: Any) -> None:
        """Say what was saved, with the way back."""
        if target.memory is None:
            memory: Memory = value.memory
            self._shell.toast(f"Saved memory {memory.id}: {shortened(memory.summary)}")
            self._on_new(str(memory.path))
            return
        here = is_undone_here(target, value)
        if here:
            self._shell.history.did(Step(lambda: self._shell.undo(value.run), value.run))
        self._shell.toast(
            "Changed the memory",
            action="Undo" if here else "",
            on_action=(lambda: self._shell.undo(value.run)) if here else None,
        )


def step_of(memory: Memory) -> str:
    """What the moves of one memory are called in the history."""
    return f"memory {memory.scope} {memory.id}"
