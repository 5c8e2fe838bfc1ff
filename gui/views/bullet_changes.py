"""Single changes to the bullets of the view: done, struck, deleted, decided between two; and the way back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gui.editor import shortened
from gui.flow import FlowList
from gui.flow_rows import FlowRow
from gui.shell import Shell
from gui.views.bullet_acts import Act, refusal
from gui.views.knowledge_rows import is_edit


class BulletChanges:
    """What is done to rows of a list of bullets. `edits` are the runs of this window, the last one first to go back."""

    def __init__(self, shell: Shell, rows: FlowList) -> None:
        self._shell, self._list = shell, rows
        self.edits: list[str] = []

    def write(self, row: FlowRow, said: str, act: Act, done: Callable[[Any], object], *, leaves: bool) -> None:
        """Run a command for a row; `leaves`: the row goes, so the selection moves on to its neighbour."""
        if leaves:
            self._list.leave(row.key)
        self._shell.write(
            said,
            act,
            done=done,
            failed=lambda error: self._shell.error(refusal(error)),
            said=f"{said}: {shortened(row.text)}",
        )

    def edited(self, value: Any) -> None:
        """Remember the run of what a command answered, so that it can be taken back."""
        run = str(getattr(value, "run", ""))
        if run:
            self.edits.append(run)

    def followed(self, value: Any) -> None:
        """The same, and the bullet stays selected under its new words."""
        self.edited(value)
        added = [line for line in getattr(value, "added", ()) if line.startswith("- ")]
        if added:
            self._shell.select("bullet", value.file, 0, added[0])

    def undo(self) -> bool:
        """Take the last edit back: of this window, or else the newest there is."""
        snapshot = self._shell.state.snapshot
        listed = snapshot.overview.runs if snapshot is not None else ()
        run = self.edits.pop() if self.edits else next((row.run for row in listed if is_edit(row)), "")
        if run:
            self._shell.undo(run)
        else:
            self._shell.toast("There is no edit to take back", icon="info", color="accent", seconds=3.0)
        return True
