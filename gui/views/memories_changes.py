"""What is done to memories from the view: archived, brought back, saved; said with the way back, and taken back."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from core.base.result import ErrorInfo
from core.commands.memories import Memory, memories
from core.commands.memory_records import Moved
from gui.editor import shortened
from gui.shell import Shell
from gui.views.memories_rows import MemoryBook, which
from gui.views.memories_session import Target, is_undone_here


class MemoryChanges:
    """`data()` is what the view shows now; `on_new(key)` hears the row of a memory that was saved. `undos` are the ways
    back of this window, the last one first to be used."""

    def __init__(self, shell: Shell, data: Callable[[], MemoryBook], on_new: Callable[[str], object]) -> None:
        self._shell, self._data, self._on_new = shell, data, on_new
        self.undos: list[Callable[[], object]] = []

    def move(self, memory: Memory, action: str, undoing: bool = False) -> None:
        """Archive a memory as it was seen, or restore it."""
        name = which(self._data(), memory, action == "restore")
        seen = memory.sha256 if action == "archive" else None

        def failed(error: ErrorInfo) -> None:
            self._shell.error(error)
            self._shell.refresh()

        self._shell.write(
            "The memory",
            lambda core: memories(core, action, name, seen=seen),
            done=lambda value: self._moved(memory, value, undoing),
            failed=failed,
        )

    def _moved(self, memory: Memory, value: Any, undoing: bool) -> None:
        if not isinstance(value, Moved):
            return
        now = Memory(**{**vars(memory), "path": value.path})
        undo = partial(self.move, now, "restore" if value.archived else "archive", True)
        if not undoing:
            self.undos.append(undo)
        self._shell.toast(
            f"{'Archived' if value.archived else 'Back again'}: {shortened(memory.summary)}",
            icon="archive" if value.archived else "archive-restore",
            action="Bring back" if value.archived else "",
            on_action=(lambda: self.take(undo)) if value.archived else None,
        )

    def saved(self, target: Target, value: Any) -> None:
        """Say what was saved, with the way back."""
        if target.memory is None:
            memory: Memory = value.memory
            self._shell.toast(f"Saved memory {memory.id}: {shortened(memory.summary)}")
            self._on_new(str(memory.path))
            return
        undo = None
        if is_undone_here(target, value):
            undo = partial(self._shell.undo, value.run)
            self.undos.append(undo)
        self._shell.toast(
            "Changed the memory",
            action="Undo" if undo is not None else "",
            on_action=(lambda: self.take(undo)) if undo is not None else None,
        )

    def take(self, undo: Callable[[], object]) -> None:
        """Go one certain way back; it cannot be gone twice."""
        if undo in self.undos:
            self.undos.remove(undo)
        undo()

    def undo(self) -> None:
        """Take the last change of this window back."""
        if self.undos:
            self.undos.pop()()
        else:
            self._shell.toast("There is no change to take back", icon="info", color="accent", seconds=3.0)
