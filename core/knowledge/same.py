"""When two bullets say the same: confirmation instead of duplicates.

The same statement from another conversation adds no line: it counts as a confirmation (confirmed.py). Lines of earlier
versions, and of the user's own, may say the same twice; whatever shows bullets shows such a statement once. What is
merely alike is never merged; `alike.py` lists it for a user.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from core.base.entry import statement_key
from core.base.markdown import Bullet


@dataclass(frozen=True)
class Statement:
    """What one or several bullets say. `bullet` is the newest of them, `others` the older ones, newest first."""

    bullet: Bullet
    others: tuple[Bullet, ...] = ()

    @property
    def conversations(self) -> int:
        """How many different conversations said it; at least 1."""
        rows = (self.bullet, *self.others)
        names = {one.source for row in rows for one in (row.provenance, *row.again) if one is not None}
        return max(1, len(names) + max(row.more_again for row in rows))


def mark_of_text(text: str) -> str:
    """The name of a line by what it says, without dash and provenance: a line whose date changes keeps it."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12]


_ID_LETTERS = "klmnopqrstuvwxyz"
ID_CHARACTERS = 7
"""28 bits: among 10,000 statements one pair in five homes shares an id, and is then told apart by its words."""


def short_id(file: str, text: str) -> str:
    """The id of a statement in a file: seven letters from k to z, which no hash or line number looks like. Other
    provenance, case or white space keep it; other words change it, so that an id seen before an edit names nothing."""
    return id_letters(f"{file}\n{statement_key(text)}")


def id_letters(words: str) -> str:
    """An id of that form for whatever these words name."""
    digest = hashlib.sha256(words.encode("utf-8", "replace")).digest()
    return "".join(_ID_LETTERS[byte & 15] for byte in digest[:ID_CHARACTERS])


def is_short_id(text: str) -> bool:
    """Whether a text has the form of an id. A word may have it too ("support")."""
    return len(text) == ID_CHARACTERS and all(letter in _ID_LETTERS for letter in text)


def what_is_said(bullet: Bullet) -> tuple[str, str, tuple[str, ...]]:
    """What two bullets share that say the same: the words, the section, and the indented lines."""
    return bullet.key, bullet.section, bullet.more


def by_date(bullets: Iterable[Bullet]) -> list[Bullet]:
    """Bullets the oldest first by the day on which each was said last; within one day in the order of the file. One
    without a provenance was written where it stands: it is as old as the newest above it."""
    dated, newest = list[tuple[str, Bullet]](), ""
    for row in bullets:
        date = row.last_day or newest
        newest = max(newest, date)
        dated.append((date, row))
    return [row for _, row in sorted(dated, key=lambda one: one[0])]


def statements(bullets: Iterable[Bullet]) -> list[Statement]:
    """Bullets (in the order of the file) as statements, the oldest first by the day of their conversations.

    A bullet that has indented lines of its own stands for itself unless those are the same too: details are never
    hidden behind another's. Struck bullets confirm nothing and stand for themselves.
    """
    groups: dict[object, list[Bullet]] = {}
    for row in by_date(bullets):
        key: object = ("struck", row.line, row.raw) if row.struck else what_is_said(row)
        group = groups.pop(key, [])
        groups[key] = [*group, row]
    return [Statement(rows[-1], tuple(reversed(rows[:-1]))) for rows in groups.values()]
