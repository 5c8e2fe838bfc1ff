"""What a user had done in an editor with the lines of a harvest by the time that it is undone.

A line that no change tells of any more was reworded or deleted by hand. Its statement goes into `removed.md`, as an
edit or a removal by a command would have put it there: git carries that, and a user sees it and takes it out again.
Left alone is

- what stands anywhere: a line that was moved by hand, or of which but the case or the signs were changed;
- what this undo takes out itself in another place;
- all that the run had put into a file of which none of it stands: so looks a file whose editor saved an older text,
  unless the user has said that it is gone on purpose.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from core.base.entry import statement_key
from core.base.markdown import Bullet, parse_bullets
from core.base.paths import Paths
from core.base.result import KnowledgeError, disk_errors
from core.commands.history.runs import UNDO_RUN
from core.knowledge.bullet_text import held_item
from core.knowledge.categories import CATEGORY_FILES, QUARANTINE, note_files, read_text
from core.knowledge.changes import EDIT_RUN, Change
from core.knowledge.edit import remember
from core.knowledge.removed import REMOVED, statement_of
from core.knowledge.reversal import REWORDED, TakenOut

NOTES = "files/"

Line = tuple[str, str]
"""A file, all notes being one, and a line of it."""


@dataclass
class ByHand:
    """Gathers such lines of the run that is undone, file by file. `wrote` are the lines of all harvests, `told` those
    that a change took out, `waved` those of which the user has said that they are gone on purpose; an earlier undo of
    the run `remembered` statements, and took lines `out_of` files."""

    wrote: set[str] = field(default_factory=set)
    told: set[Line] = field(default_factory=set)
    waved: set[Line] = field(default_factory=set)
    remembered: set[str] = field(default_factory=set)
    out_of: set[str] = field(default_factory=set)
    _found: dict[str, list[str]] = field(default_factory=dict)
    _went: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, changes: Iterable[Change], undone: Iterable[Change]) -> ByHand:
        """`undone` are those of the changes that an earlier undo of the run has made."""
        found = cls()
        for row in changes:
            removed, added = ({_place(row.file, line) for line in lines} for lines in (row.removed, row.added))
            if row.run.startswith(EDIT_RUN) and row.edit is None and not row.added:
                found.waved |= removed
            elif not row.run.startswith(UNDO_RUN) or row.run.startswith(UNDO_RUN + EDIT_RUN):
                found.told |= removed  # what the undo of a harvest took out, a later harvest may have written again
            if row.sha:
                found.wrote.update(row.added)
            else:
                found.told -= added
                found.waved -= added
        for row in undone:
            found.out_of |= {row.file} if row.removed else set()
            went = (bullet for line in row.removed for bullet in parse_bullets(line))
            found._went |= {statement_key(_said(row.file, bullet)) for bullet in went}
            rows = [bullet for line in row.added for bullet in parse_bullets(line)] if row.file == REMOVED else []
            found.remembered |= {statement_key(statement_of(bullet).text) for bullet in rows}
        return found

    def look(self, file: str, lines: Sequence[str], taken: TakenOut) -> None:
        """What became of `lines` of one file that were to be taken out of it."""
        reworded = {line for line, why in taken.why.items() if why == REWORDED}
        stood = file in self.out_of or bool(taken.went or taken.stayed)
        for line, bullet in [(row, bullet) for row in lines for bullet in parse_bullets(row)]:
            place = _place(file, line)
            if line not in reworded and line not in taken.gone:
                self._went.add(statement_key(_said(file, bullet)))
            elif place not in self.told and (line in reworded or stood or place in self.waved):
                how = "replaced" if line in reworded else "removed"
                self._found.setdefault(how, []).append(_said(file, bullet))

    def keep_away(self, paths: Paths, now: datetime, run: str) -> int:
        """Remember them as a part of the change `run`; how many there are. Raises KnowledgeError."""
        if not self._found:
            return 0
        with disk_errors("unreadable", "where the lines that you changed stand cannot be looked up"):
            left = self.remembered | self._went | _standing(paths)
        number = 0
        for how, texts in self._found.items():
            texts = [text for text in texts if statement_key(text) not in left]
            gone, problem = remember(paths, texts, how, now, run)
            number += len(gone)
            if problem:
                raise KnowledgeError("changes-failed", problem, paths.changes)
        return number


def _place(file: str, line: str) -> Line:
    return (NOTES if file.startswith(NOTES) else file, line)


def _standing(paths: Paths) -> set[str]:
    names = (*CATEGORY_FILES, QUARANTINE, *(f"{NOTES}{path.name}" for path in note_files(paths)))
    rows = ((name, row) for name in names for row in parse_bullets(read_text(paths.knowledge / name)))
    return {statement_key(_said(name, row)) for name, row in rows}


def _said(file: str, bullet: Bullet) -> str:
    """What a line says: what waits in the quarantine, without why it waits."""
    return held_item(bullet).text if file == QUARANTINE else bullet.text
