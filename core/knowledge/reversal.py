"""Takes recorded changes out of the files again, as `undo` does. A line that somebody has changed since stays."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from core.base.paths import Paths
from core.base.result import Err, Ok, Result, fail
from core.knowledge.bullet_text import without_lines
from core.knowledge.changes import Change, append_changes
from core.knowledge.edit import ATTEMPTS, change_file, could_not_write, read_editable
from core.knowledge.hunks import Hunk, reversed_edit
from core.knowledge.swap import replace_expected

REVERSED, ALREADY, CHANGED = "reversed", "already back", "changed since"


def take_back(paths: Paths, change: Change, now: datetime, run: str) -> Result[str]:
    """Reverse one recorded edit of one file; its own row is written under `run`.

    Returns REVERSED, ALREADY, or CHANGED when the person has changed what the edit wrote (then nothing is touched).
    Err when the file cannot be written.
    """
    if change.edit is None:
        taken = take_out(paths, change.file, change.added, now, run)
        return taken if isinstance(taken, Err) else Ok(REVERSED if taken.value[0] else CHANGED)
    path = paths.knowledge / change.file
    for _ in range(ATTEMPTS):
        read = read_editable(paths, change.file)
        if isinstance(read, Err):
            return read
        data = reversed_edit(read.value.data, change.edit)
        if data is None or data == read.value.data:
            return Ok(CHANGED if data is None else ALREADY)
        try:
            if not replace_expected(path, data, read.value.data):
                continue
        except OSError as error:
            return could_not_write(path, error)
        try:
            append_changes(paths, [Change(now.isoformat(), run, change.file, change.removed, change.added)])
        except OSError as error:
            return fail("changes-failed", f"the edit is taken back, but this is told nowhere: {error}", paths.changes)
        return Ok(REVERSED)
    return fail("changed-outside", "another program keeps saving this file", path, "try again")


def take_out(
    paths: Paths, file: str, unwanted: Sequence[str], now: datetime, run: str
) -> Result[tuple[int, list[str]]]:
    """Take exact lines out of a file, each once; returns how many went, and the lines that stay as they are because
    somebody has changed or removed them, or has written details below them."""
    stay: list[str] = []

    def hunks(lines: list[str]) -> Result[list[Hunk]]:
        found, left = without_lines(lines, unwanted)
        stay[:] = left
        return Ok(found) if found else fail("unchanged", "none of the lines stands there", file)

    changed = change_file(paths, file, hunks, now, run=run)
    if isinstance(changed, Err):
        return Ok((0, list(unwanted))) if changed.error.code in ("unchanged", "missing") else changed
    if changed.value.warning:
        return fail("changes-failed", changed.value.warning, paths.changes)
    return Ok((len(unwanted) - len(stay), stay))
