"""What a user had done in an editor with the lines of a harvest by the time that it is undone.

A line that stands nowhere any more was reworded, where other words of its provenance stand, or deleted; of several
lines the other words are those of the likest one. That counts where something stands that was written into the file
with it or later, or where the user has said that it is gone on purpose: else an editor may have saved an older text.
Its statement goes into `removed.md`, as an edit or a removal by a command would have put it there: git carries that,
and a user sees it and takes it out again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime

from core.base.entry import statement_key
from core.base.markdown import Bullet, parse_bullets
from core.base.paths import Paths
from core.base.result import KnowledgeError
from core.commands.history.runs import UNDO_RUN
from core.knowledge.bullet_text import held_item
from core.knowledge.categories import CATEGORY_FILES, QUARANTINE, note_files, read_text
from core.knowledge.changes import EDIT_RUN, Change, removed_by_hand
from core.knowledge.edit import remember
from core.knowledge.reversal import other_words, own_words

Lines = Mapping[str, Sequence[str]]
"""The lines of each file."""


def keep_away(paths: Paths, wanted: Lines, changes: Sequence[Change], now: datetime, run: str) -> int:
    """Before the `wanted` lines are taken out by the change `run`: remember those that the user had reworded or
    deleted; how many there are. Raises KnowledgeError."""
    gone, problem = remember(paths, dict(_changed_by_hand(paths, wanted, changes)), now, run)
    if problem:
        raise KnowledgeError("changes-failed", problem, paths.changes)
    return len(gone)


def _changed_by_hand(paths: Paths, wanted: Lines, changes: Sequence[Change]) -> Iterator[tuple[str, str]]:
    """What each such line had said, and what became of it, as `removed.md` calls that."""
    standing = _standing(paths)
    said = {_said(name, row) for name, rows in standing.items() for row in rows}
    harvests = [row for row in changes if row.sha]
    wrote = {line for row in harvests for line in row.added}
    order = {run: at for at, run in enumerate(dict.fromkeys(row.run for row in harvests))}
    on_purpose = {line for _, line in removed_by_hand((row for row in changes if row.edit is None), EDIT_RUN)}
    # What a harvest itself took out (a task that is settled) is no work of the user's.
    settled = {line for row in changes if not row.run.startswith((EDIT_RUN, UNDO_RUN)) for line in row.removed}
    for file, lines in wanted.items():
        stand = {row.raw for row in standing.get(file, ())}
        written = [row for row in harvests if row.file == file]
        came = {line: order[row.run] for row in written for line in row.added}
        bullets = {line: row for line in lines for row in parse_bullets(line) if line not in settled}
        gone = {line: row for line, row in bullets.items() if _said(file, row) not in said}
        reworded = other_words(gone, own_words(sorted(stand), wrote))
        newest = max((order[row.run] for row in written if not {*stand, *reworded}.isdisjoint(row.added)), default=-1)
        for line, row in gone.items():
            if line in reworded or line in on_purpose or came.get(line, len(order)) <= newest:
                yield _text(file, row), "replaced" if line in reworded else "removed"


def _standing(paths: Paths) -> dict[str, list[Bullet]]:
    rows: dict[str, list[Bullet]] = {}
    for name in (*CATEGORY_FILES, QUARANTINE, *(f"files/{path.name}" for path in note_files(paths))):
        with suppress(OSError):  # one that cannot be read holds the undo of the others up no more than a missing one
            rows[name] = parse_bullets(read_text(paths.knowledge / name))
    return rows


def _text(file: str, bullet: Bullet) -> str:
    """What a line says: what waits in the quarantine, without why it waits."""
    return held_item(bullet).text if file == QUARANTINE else bullet.text


def _said(file: str, bullet: Bullet) -> str:
    return statement_key(_text(file, bullet))
