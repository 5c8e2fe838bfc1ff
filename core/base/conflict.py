"""Merge conflicts: the marks that git leaves between two versions of a text that both changed the same lines.

    <<<<<<< HEAD
    what stands here
    ||||||| base            only with the conflict style diff3 or zdiff3
    what both versions had
    =======
    what stands there
    >>>>>>> their-branch

Both versions are somebody's words, so both count until a user has decided; the marks, and what both versions had
before, are no text of anybody. See git-merge(1), "How conflicts are presented".
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_OPEN, _CLOSE = re.compile(r"<{7,}(?: |\Z)"), re.compile(r">{7,}(?: |\Z)")
_BASE, _MIDDLE = re.compile(r"\|{7,}(?: |\Z)"), re.compile(r"={7,}\Z")
OURS, ANCESTOR, THEIRS, MARK = "ours", "ancestor", "theirs", "mark"


def roles_of(lines: Sequence[str]) -> list[str]:
    """For each line what it is in a conflict: OURS, THEIRS, ANCESTOR or MARK; "" outside of one. A row of equals signs
    outside of a conflict is an ordinary line (markdown underlines a heading so); the other marks never are."""
    roles, side = [], ""
    for raw in lines:
        line = raw.rstrip("\r\n")
        if _OPEN.match(line) and side != ANCESTOR:
            side, role = OURS, MARK
        elif _CLOSE.match(line) and side != ANCESTOR:
            side, role = "", MARK
        elif side == OURS and _BASE.match(line):
            side, role = ANCESTOR, MARK
        elif side in (OURS, ANCESTOR) and _MIDDLE.match(line):
            side, role = THEIRS, MARK
        else:
            role = side
        roles.append(role)
    if side == ANCESTOR:  # not closed: nobody can tell where it ends, so nothing of it is hidden
        start = len(roles) - next(at for at, role in enumerate(reversed(roles)) if role == MARK)
        roles[start:] = [""] * (len(roles) - start)
    return roles


def may_conflict(text: str) -> bool:
    """Whether it is worth to look closer; false for almost every text."""
    return "<<<<<<<" in text or ">>>>>>>" in text


def conflict_line(text: str) -> int:
    """The line, from 1, of the first mark of a merge conflict; 0 for none."""
    if not may_conflict(text):
        return 0
    return next((at for at, role in enumerate(roles_of(text.split("\n")), start=1) if role == MARK), 0)


def without_marks(text: str) -> str:
    """The text with both sides of every conflict, without the marks and what both versions had before."""
    if not may_conflict(text):
        return text
    lines = text.split("\n")
    return "\n".join(line for line, role in zip(lines, roles_of(lines), strict=True) if role not in (MARK, ANCESTOR))


def both_sides(text: str) -> tuple[str, str] | None:
    """The two versions of a text with conflicts in it; None when there is none, or one that is not whole."""
    lines = text.split("\n")
    roles = roles_of(lines)
    marks = [line[:1] for line, role in zip(lines, roles, strict=True) if role == MARK]
    if not marks or not re.fullmatch(r"(?:<\|?=>)+", "".join(marks)):
        return None
    ours = [line for line, role in zip(lines, roles, strict=True) if role in ("", OURS)]
    theirs = [line for line, role in zip(lines, roles, strict=True) if role in ("", THEIRS)]
    return "\n".join(ours), "\n".join(theirs)
