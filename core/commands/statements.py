"""What several conversations said, as one statement for a window; and a change to all of its lines in one step.

The same statement from another conversation stands in the file with its own provenance (core/knowledge/same.py). A
window shows it once; what a person does to it happens to every line that says it, in one write with one undo.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from core.base.result import Err, Ok, Result, fail
from core.commands.bullets import Found, finished, without_secrets
from core.commands.workspace import Workspace, utc_now
from core.knowledge import bullet_text
from core.knowledge.alike import Placed
from core.knowledge.bullet_text import BulletRef
from core.knowledge.edit import BY_HAND, Edited, change_file
from core.knowledge.hunks import Hunk
from core.knowledge.same import statements

Lines = list[str]
ACTS: dict[str, Callable[[Lines, BulletRef, str], Result[list[Hunk]]]] = {
    "edit": bullet_text.with_text,
    "strike": lambda lines, ref, _: bullet_text.struck(lines, ref),
    "unstrike": lambda lines, ref, _: bullet_text.unstruck(lines, ref),
    "delete": lambda lines, ref, _: bullet_text.without(lines, ref),
    "done": lambda lines, ref, _: bullet_text.moved(lines, ref, "done"),
    "reopen": lambda lines, ref, _: bullet_text.moved(lines, ref, "open"),
}
SAID_ALREADY = ("unchanged", "already-struck", "not-struck")


@dataclass(frozen=True)
class Said:
    """One statement: `found` is the newest line that makes it, `others` are the older ones, newest first."""

    found: Found
    others: tuple[Found, ...] = ()

    @property
    def conversations(self) -> int:
        """How many different conversations said it; what was written by hand is no conversation."""
        came = (row.bullet.provenance for row in (self.found, *self.others))
        return len({one.source for one in came if one is not None and one.source != BY_HAND})

    @property
    def refs(self) -> tuple[BulletRef, ...]:
        """All of its lines, the newest first."""
        return tuple(row.ref for row in (self.found, *self.others))


def said(rows: Sequence[Found]) -> list[Said]:
    """The bullets of one category (oldest first, as in the file) as statements, in the order of their newest line.

    What is held in the quarantine stands for itself, line by line: each is let in or dropped alone.
    """
    if rows and rows[0].category == "quarantine":
        return [Said(row) for row in rows]
    by_line = {row.bullet.line: row for row in rows}
    return [
        Said(by_line[one.bullet.line], tuple(by_line[other.line] for other in one.others))
        for one in statements(row.bullet for row in rows)
    ]


def said_with(rows: Sequence[Found], found: Found) -> Said:
    """The statement that one of `rows` is a part of, with that very line in front."""
    for one in said(rows):
        all_of = (one.found, *one.others)
        if found in all_of:
            return Said(found, tuple(row for row in all_of if row != found))
    return Said(found)


def placed_refs(place: Placed) -> tuple[BulletRef, ...]:
    """All lines of a statement as the comparing found it, the newest first."""
    return tuple(BulletRef(place.file, row.line, row.raw) for row in (place.bullet, *place.statement.others))


def change_all(
    workspace: Workspace,
    act: str,
    refs: Sequence[BulletRef],
    text: str = "",
    *,
    seen: str | None = None,
    now: Callable[[], datetime] = utc_now,
) -> Result[Edited]:
    """Do one of `ACTS` to all lines of one statement (of one file), in one write: all of them or none.

    `text` are the words of an edit. A line that is as wanted already is left as it is; Err when all are, when a line
    is no longer there, or when the file has changed since `seen`. One undo takes it back.
    """
    if act not in ACTS or not refs or len({ref.file for ref in refs}) > 1:
        return fail("usage", f"{act!r} cannot be done to these lines", hint=f"choose one of {', '.join(ACTS)}")
    words, told = without_secrets(workspace, text, keep=False) if text else ("", "")
    ordered = tuple(reversed(refs)) if act in ("done", "reopen") else tuple(refs)  # the newest stays the last one

    def hunks(lines: Lines) -> Result[list[Hunk]]:
        return _all_hunks(lines, ordered, lambda text_now, ref: ACTS[act](text_now, ref, words))

    return finished(workspace, change_file(workspace.paths, refs[0].file, hunks, now(), seen=seen), told)


def _all_hunks(
    lines: Lines, refs: Sequence[BulletRef], act: Callable[[Lines, BulletRef], Result[list[Hunk]]]
) -> Result[list[Hunk]]:
    """The hunks of every line, each for the file as those before left it: places below a hunk move with it."""
    made: list[Hunk] = []
    refused: Err | None = None
    left = list(refs)
    while left:
        ref = left.pop(0)
        one = act(lines, ref)
        if isinstance(one, Err):
            if one.error.code not in SAID_ALREADY:
                return one
            refused = refused or one
            continue
        for hunk in one.value:
            at, grown = hunk.line - 1, len(hunk.added) - len(hunk.removed)
            lines = [*lines[:at], *hunk.added, *lines[at + len(hunk.removed) :]]
            below = hunk.line + len(hunk.removed)
            left = [replace(row, line=row.line + grown) if row.line >= below else row for row in left]
        made += one.value
    return Ok(made) if made or refused is None else refused
