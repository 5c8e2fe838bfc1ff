"""Which facts may be told: one that a harvest made of a bullet only while a bullet that stands says it.

The files of facts follow the bullets at a harvest and at `facts sync`; whoever reads in between must not be told what
the user has deleted, reworded or struck in an editor. So it is looked up here, for a few facts at a time and without
writing anything: a bullet that comes back brings its fact back. It is the rule of `factindex/follow.py`, which needs
to read all facts and bullets; that takes seconds in a large home, and this a tenth of one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path

from core.base import files
from core.base.checked_lines import decode_line
from core.base.conflict import may_conflict
from core.base.entry import FACT_CHARACTERS, as_fact, statement_key, statement_mark
from core.base.markdown import is_bullet, parse_bullets, split_lines, split_provenance, without_emphasis
from core.base.paths import Paths
from core.factindex import index
from core.factindex.facts import marks_of
from core.factindex.follow import REDACTED, is_of_bullet
from core.factindex.record import History, history_of, record_path
from core.knowledge.categories import CATEGORY_FILES, note_files, read_text
from core.knowledge.removed import Removed, read_removed

_SIGNS = bytes(code for code in range(128) if not chr(code).isalnum() and chr(code) not in "~\n")
"""What two lines may differ in that say the same; not the tilde, by which a struck one is told from the others."""
FEW = 10
"""From so many facts on that no bullet says, the whole record is read: before that single lines of it are quicker."""


class StandingFacts:
    """What the files say at the moment at which each is first needed: one object answers for one command."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._looked_up = 0

    def tells(self, fact_id: str, text: str) -> bool:
        """Whether a fact may be told: a bullet says it, or it is the user's own, whose words no harvest wrote. Raises
        OSError where a file cannot be read."""
        if REDACTED in text or self._is_said(text, self._lines):  # the words of its bullet are others
            return True
        words = self._as_written(fact_id, text)
        if words != text and self._is_said(words, self._lines):
            return True
        if not (self._is_harvested(fact_id, text) or self._is_harvested(fact_id, words)):
            return True
        return self._is_said(text, self._noted) or self._is_said(words, self._noted)

    # --- the bullets ------------------------------------------------------------------------------------------------

    @cached_property
    def _lines(self) -> _Lines:
        return _Lines(self._paths.knowledge / file for file in CATEGORY_FILES)

    @cached_property
    def _noted(self) -> _Lines:
        return _Lines(note_files(self._paths))

    @cached_property
    def _removed(self) -> Removed:
        return read_removed(self._paths)

    def _is_said(self, text: str, lines: _Lines) -> bool:
        for said in dict.fromkeys((as_fact(text), text)):  # a path of a Windows share begins with what escapes a sign
            near = lines.near(said)
            wanted = statement_mark(without_emphasis(said)) if near else ""
            for bullet in (row for line in near for row in parse_bullets(line)):
                fits = statement_mark(without_emphasis(as_fact(bullet.text))) == wanted
                if fits and not bullet.struck and not self._removed.keeps_away(bullet):
                    return True
        return False

    # --- the facts --------------------------------------------------------------------------------------------------

    @cached_property
    def _index(self) -> bytes:
        return files.read_or_empty(self._paths.knowledge / index.NAME)

    def _as_written(self, fact_id: str, text: str) -> str:
        """The words of a fact that a search shows without emphasis: the record knows it by those that it was given."""
        fact = index.fact_in(self._index, fact_id)
        return fact.fact if fact is not None and without_emphasis(fact.fact) == text else text

    @cached_property
    def _record(self) -> list[bytes]:
        return files.read_or_empty(record_path(self._paths.state)).split(b"\n")

    @cached_property
    def _history(self) -> History:
        return history_of(filter(None, map(decode_line, self._record)))

    def _is_harvested(self, fact_id: str, text: str) -> bool:
        """Whether a harvest made the fact of a bullet with these words."""
        self._looked_up += 1
        if self._looked_up > FEW:
            return is_of_bullet(self._history, fact_id, text)
        wanted = (*(mark.encode() for mark in marks_of(text)), f'"{fact_id}"'.encode(), b'"t":"undone"')
        rows = (line for line in self._record if any(part in line for part in wanted))
        return is_of_bullet(history_of(filter(None, map(decode_line, rows))), fact_id, text)


class _Lines:
    """The bullets of some files, by what they say without regard to signs: so one is found without parsing all."""

    def __init__(self, places: Iterable[Path]) -> None:
        self._by_letters: dict[bytes, list[str]] = {}
        for line in (line for place in places for line in _bullets_in(read_text(place))):
            said = split_provenance(line[2:])[0]
            said = said if len(said) <= FACT_CHARACTERS else as_fact(said)
            self._by_letters.setdefault(_letters(said), []).append(line)

    def near(self, text: str) -> Sequence[str]:
        """The lines that may say a text."""
        return self._by_letters.get(_letters(text), ())


def _letters(text: str) -> bytes:
    """Letters and digits alone: equal wherever `statement_mark` is."""
    if text.isascii():
        return text.casefold().encode().translate(None, _SIGNS)
    kept = (char for char in statement_key(text) if char.isalnum() or char == "~")
    return "".join(kept).encode("utf-8", "replace")


def _bullets_in(text: str) -> list[str]:
    """The lines that are bullets, a wrapped one as one line; of a merge conflict those of both sides."""
    if may_conflict(text) or "\n " in text or "\n\t" in text:
        return [row.raw for row in parse_bullets(text)]
    return [line for line in split_lines(text) if is_bullet(line)]


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
