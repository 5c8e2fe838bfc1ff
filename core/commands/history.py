"""`knowledge undo`: one run is taken back, or all are listed."""

from __future__ import annotations

from core.base.result import Result
from core.commands.runs import Run, runs
from core.commands.undo import UndoReport, undo
from core.commands.workspace import Workspace


def undo_command(workspace: Workspace, run: str = "") -> Result[list[Run]] | Result[UndoReport]:
    """`knowledge undo [RUN]`: without a name, the runs that there were."""
    return undo(workspace, run) if run else runs(workspace)
