"""Which facts may be told: one that a harvest made of a bullet only while a bullet that stands says it.

The files of facts follow the bullets at a harvest and at `facts sync`; whoever reads in between must not be told what
the user has deleted, reworded or struck in an editor. So it is looked up here, for a few facts at a time and without
writing anything: a bullet that comes back brings its fact back. It is the rule of `factindex/follow.py`, which needs
to read all facts and bullets; that takes seconds in a large home, and this a tenth of one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path

from core.base import files
from core.base.checked_lines import decode_line
from core.base.conflict import may_conflict
from core.base.entry import statement_key, statement_mark
from core.base.markdown import parse_bullets, split_lines, without_emphasis
from core.base.paths import Paths
from core.factindex import index
from core.factindex.facts import as_fact, marks_of
from core.factindex.follow import REDACTED, is_of_bullet
from core.factindex.record import history_of, record_path
from core.knowledge.categories import CATEGORY_FILES, note_files, read_text
from core.knowledge.removed import Removed, read_removed

_DASH = "- "
_WORDS = re.compile(r"[a-z0-9]+")
_UNDONE = b'"t":"undone"'


class StandingFacts:
    """What the files say at the moment at which each is first needed: one object answers for one command."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._known: dict[tuple[str, str], bool] = {}

    def tells(self, fact_id: str, text: str) -> bool:
        """Whether a fact may be told: a bullet says it, or it is the user's own, whose words no harvest wrote. Raises
        OSError where a file cannot be read."""
        asked = fact_id, text
        if asked not in self._known:
            self._known[asked] = self._is_told(fact_id, text)
        return self._known[asked]

    def _is_told(self, fact_id: str, text: str) -> bool:
        if REDACTED in text:
            return True  # the words of its bullet are others
        plain = _plain(as_fact(text))
        if plain in self._statements and text not in self._removed:
            return True
        words = self._as_written(fact_id, text)
        return not self._is_harvested(fact_id, words) or self._is_said(words)

    # --- the lines --------------------------------------------------------------------------------------------------

    @cached_property
    def _removed(self) -> Removed:
        return read_removed(self._paths)

    @cached_property
    def _lines(self) -> list[str]:
        return _lines_of(self._paths.knowledge / file for file in CATEGORY_FILES)

    @cached_property
    def _statements(self) -> frozenset[str]:
        """What most lines say, letter by letter: who looks for one finds nearly all of them here."""
        said = (line[len(_DASH) :].partition(" [from: ")[0].rstrip() for line in self._lines)
        return frozenset(map(_plain, said))  # what is struck keeps its tildes, and no fact begins with them

    @cached_property
    def _folded(self) -> list[tuple[str, str]]:
        """Each line as it is looked through, and as it stands; those of the notes too."""
        lines = [*self._lines, *_lines_of(note_files(self._paths))]
        return [(line.casefold(), line) for line in lines]

    def _is_said(self, text: str) -> bool:
        """The same for what differs in signs alone, has a detail behind it, or was removed and written again by hand:
        only the lines that have all words of it are taken apart."""
        said = as_fact(text)
        words = sorted(set(_WORDS.findall(statement_key(said))), key=len, reverse=True)
        wanted = statement_mark(said)
        for folded, line in self._folded:
            if all(word in folded for word in words):
                (bullet,) = parse_bullets(line)
                stands = not bullet.struck and not self._removed.keeps_away(bullet)
                if stands and statement_mark(as_fact(bullet.text)) == wanted:
                    return True
        return False

    # --- the record -------------------------------------------------------------------------------------------------

    @cached_property
    def _index(self) -> bytes:
        return files.read_or_empty(self._paths.knowledge / index.NAME)

    def _as_written(self, fact_id: str, text: str) -> str:
        """The words of a fact that a search shows without emphasis: the record knows it by those that it was given."""
        fact = index.fact_in(self._index, fact_id)
        return fact.fact if fact is not None and without_emphasis(fact.fact) == text else text

    @cached_property
    def _record(self) -> bytes:
        return files.read_or_empty(record_path(self._paths.state))

    def _is_harvested(self, fact_id: str, text: str) -> bool:
        """Whether a harvest made the fact of a bullet with these words."""
        marks = [mark.encode() for mark in marks_of(text)]
        if not any(mark in self._record for mark in marks):
            return False
        wanted = (*marks, f'"{fact_id}"'.encode(), _UNDONE)
        rows = (line for line in self._record.split(b"\n") if any(part in line for part in wanted))
        records = [record for record in map(decode_line, rows) if record is not None]
        return is_of_bullet(history_of(records), fact_id, text)


def _plain(text: str) -> str:
    """A statement without the signs that a search leaves out when it shows a line."""
    return text.replace("`", "").replace("**", "").removeprefix("\\")


def _lines_of(places: Iterable[Path]) -> list[str]:
    """The lines that are bullets; of a merge conflict those of both sides."""
    found: list[str] = []
    for place in places:
        text = read_text(place)
        lines = [row.raw for row in parse_bullets(text)] if may_conflict(text) else split_lines(text)
        found += [line for line in lines if line.startswith(_DASH)]
    return found


def telling(paths: Paths) -> Callable[[str, str], bool]:
    """`StandingFacts.tells`, for who can do nothing about a file that cannot be read: then nobody knows better, and
    every fact is told."""
    standing = StandingFacts(paths)

    def tells(fact_id: str, text: str) -> bool:
        try:
            return standing.tells(fact_id, text)
        except OSError:
            return True

    return tells
