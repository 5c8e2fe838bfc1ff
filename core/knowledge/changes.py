"""`changes.jsonl`: one line for every write to a knowledge file, what undo reads.

Keys: `when` (ISO 8601, UTC), `run` (of a harvest or of one edit), `file` (below the knowledge folder), `added` and
`removed` (exact lines), `sha` (the conversation, "" for a user's own edit), `edit` (only for a user's own edit:
where the lines stood, see hunks.py).
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from core.base import files
from core.base.paths import Paths
from core.knowledge.hunks import FileEdit, edit_from_json

EDIT_RUN, UNDO_RUN = "edit-", "undo-"
"""How the runs of single edits are called, and how that is which takes a run back: `undo-`, and the name of that."""


@dataclass(frozen=True)
class Change:
    """One write to one file."""

    when: str
    run: str
    file: str
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    sha: str = ""
    edit: FileEdit | None = None

    def to_json(self) -> dict[str, Any]:
        """One row of changes.jsonl."""
        row = {key: value for key, value in vars(self).items() if key != "edit"}
        return row if self.edit is None else {**row, "edit": self.edit.to_json()}


def parse_change(line: bytes) -> Change | None:
    """One line of changes.jsonl; None for a torn or foreign one."""
    try:
        return change_of(json.loads(line))
    except (ValueError, RecursionError):
        return None


def change_of(row: Any) -> Change | None:
    """A row of changes.jsonl; None for what is none."""
    try:
        return Change(
            str(row["when"]),
            str(row["run"]),
            str(row["file"]),
            tuple(map(str, row.get("added", ()))),
            tuple(map(str, row.get("removed", ()))),
            str(row.get("sha", "")),
            edit_from_json(row.get("edit")),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def read_changes(paths: Paths) -> list[Change]:
    """All changes, oldest first; a torn or foreign line is left out. Raises OSError."""
    parsed = map(parse_change, files.read_or_empty(paths.changes).split(b"\n"))
    return [change for change in parsed if change is not None]


def removed_by_hand(
    changes: Iterable[Change], runs: str = "", said: Callable[[str], str] = lambda line: line
) -> set[tuple[str, str]]:
    """What the user took out and did not bring back, as (file, line); `runs` is how the ids of the runs begin whose
    removals count, `said` what of a line is told instead of itself. A harvest tells its lines only at its end, so what
    it added says nothing about the order. What was undone says nothing, and neither does its undo."""
    changes, removed = list(changes), set[tuple[str, str]]()
    over = {(change.run.removeprefix(UNDO_RUN), change.file) for change in changes if change.run.startswith(UNDO_RUN)}
    for change in changes:
        if (change.run.removeprefix(UNDO_RUN), change.file) in over:
            continue
        if change.run.startswith(runs):
            removed.update((change.file, said(line)) for line in change.removed)
        if not change.sha:
            removed.difference_update((change.file, said(line)) for line in change.added)
    return removed


def append_changes(paths: Paths, changes: Iterable[Change], *, durable: bool = True) -> None:
    """Add changes, leaving out those of a run, conversation and file that stand there. Not `durable`, the log still
    holds them until `sync_changes`. Raises OSError."""
    wanted = [change for change in changes if change.added or change.removed]
    if not wanted:
        return
    runs = {change.run for change in wanted if change.sha}
    known = {(row.run, row.sha, row.file) for row in read_changes(paths) if row.run in runs} if runs else set()
    lines = [
        json.dumps(change.to_json(), ensure_ascii=False, separators=(",", ":")) + "\n"
        for change in wanted
        if not change.sha or (change.run, change.sha, change.file) not in known
    ]
    if not lines:
        return
    files.make_folder(paths.knowledge)
    new = not files.exists(paths.changes)
    fd = files.open_for_append(paths.changes)
    try:
        with files.naming(paths.changes):
            files.append_lines(fd, "".join(lines).encode("utf-8", "backslashreplace"))
            if durable:
                files.sync(fd)
    finally:
        os.close(fd)
    if durable and new:
        files.sync_folder(paths.knowledge)


def sync_changes(paths: Paths) -> None:
    """Make every row durable; before that the log may not forget. Raises OSError."""
    if not files.exists(paths.changes):
        return
    with files.opened(paths.changes, os.O_RDWR) as fd, files.naming(paths.changes):
        files.sync(fd)
    files.sync_folder(paths.knowledge)
