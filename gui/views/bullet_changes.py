"""Single changes to the bullets of the view: done, struck, deleted, decided between two."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gui.shell import Shell
from gui.toolkit.editor import shortened
from gui.toolkit.flow import FlowList
from gui.toolkit.flow_rows import FlowRow
from gui.views.bullet_acts import Act, refusal


class BulletChanges:
    """What is done to rows of a list of bullets."""

    def __init__(self, shell: Shell, rows: FlowList) -> None:
        self._shell, self._list = shell, rows

    def write(self, row: FlowRow, said: str, act: Act, done: Callable[[Any], object] | None, *, leaves: bool) -> None:
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

    def followed(self, value: Any) -> None:
        """The bullet stays selected under its new words."""
        added = [line for line in getattr(value, "added", ()) if line.startswith("- ")]
        if added:
            self._shell.select("bullet", value.file, 0, added[0])
