"""When two bullets say the same: confirmation instead of duplicates.

The same statement from another conversation stands in the file with its own provenance (the gate of the harvest needs
it there) and counts as a confirmation. Whatever shows bullets shows such a statement once. What is merely alike is
never merged; `alike.py` lists it for a user.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from core.base.markdown import Bullet, Provenance

_MARKS = str.maketrans("", "", "`*_\"'“”‘’")


@dataclass(frozen=True)
class Statement:
    """What one or several bullets say. `bullet` is the newest of them, `others` the older ones, newest first."""

    bullet: Bullet
    others: tuple[Bullet, ...] = ()

    @property
    def conversations(self) -> int:
        """How many different conversations said it; at least 1."""
        if not self.others:
            return 1
        return max(1, len({row.provenance.source for row in (self.bullet, *self.others) if row.provenance is not None}))

    @property
    def confirmations(self) -> tuple[Provenance, ...]:
        """Where else it was said, newest first, each conversation once."""
        own = self.bullet.provenance.source if self.bullet.provenance is not None else ""
        seen: dict[str, Provenance] = {}
        for row in self.others:
            if row.provenance is not None and row.provenance.source != own:
                seen.setdefault(row.provenance.source, row.provenance)
        return tuple(seen.values())


def mark_of_text(text: str) -> str:
    """The name of a line by what it says, without dash and provenance: a line whose date changes keeps it."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12]


def normalised(text: str) -> str:
    """A statement without what does not change its meaning: case, white space, quotes and emphasis, the last stop."""
    folded = unicodedata.normalize("NFKC", text).casefold().translate(_MARKS)
    return " ".join(folded.split()).rstrip(".!。;,").rstrip()


_ID_LETTERS = "klmnopqrstuvwxyz"
ID_CHARACTERS = 7
"""28 bits: among 10,000 statements one pair in five homes shares an id, and is then told apart by its words."""


def short_id(file: str, text: str) -> str:
    """The id of a statement in a file: seven letters from k to z, which no hash or line number looks like. Other
    provenance, case or white space keep it; other words change it, so that an id seen before an edit names nothing."""
    return id_letters(f"{file}\n{normalised(text)}")


def id_letters(words: str) -> str:
    """An id of that form for whatever these words name."""
    digest = hashlib.sha256(words.encode("utf-8", "replace")).digest()
    return "".join(_ID_LETTERS[byte & 15] for byte in digest[:ID_CHARACTERS])


def is_short_id(text: str) -> bool:
    """Whether a text has the form of an id. A word may have it too ("support")."""
    return len(text) == ID_CHARACTERS and all(letter in _ID_LETTERS for letter in text)


def what_is_said(bullet: Bullet) -> tuple[str, str, tuple[str, ...]]:
    """What two bullets share that say the same: the words, the section, and the indented lines."""
    return normalised(bullet.text), bullet.section, bullet.more


def by_date(bullets: Iterable[Bullet]) -> list[Bullet]:
    """Bullets the oldest first by the day of their conversations; within one day in the order of the file. One without
    a provenance was written where it stands: it is as old as the newest above it."""
    dated, newest = list[tuple[str, Bullet]](), ""
    for row in bullets:
        date = row.provenance.date if row.provenance is not None else newest
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
