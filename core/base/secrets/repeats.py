"""Secrets that are said again: what one text gave away as a secret is hidden in the others beside it as well.

`password: K7...` is found by the word in front of the value. Two turns later the value stands alone, and nothing in
that turn says what it is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from core.base.secrets.redact import MARK, redact

LEAST = 6
"""A shorter value is hidden only where its own text shows what it is: it would be found inside ordinary words."""
PART = 8
"""This many letters of a secret, one after the other, give it away."""
CUT = 5
"""This many at the end of a title, which is cut where it is long, are the beginning of one."""
MAX_SECRETS_ONE_BY_ONE = 1000
"""At most this many secrets are looked for one by one in a text; with more it is faster to look at each place of it
once."""
TITLE_CHARACTERS = 2000
"""Of a longer title the beginning is cleared, and the rest is dropped."""
REPEATED = f"{MARK}repeated]"
_PLACEHOLDER = re.compile(r"\[redacted: [^\]\n]{1,40}\]")
_NO_LETTERS = re.compile(r"[\W_]+")
_WORD = re.compile(r"[A-Za-z][a-z]{0,11}|[A-Z]{1,12}|[\d\s.,:;/-]{1,10}")
"""What may be an ordinary word, or a number: hiding it everywhere would make holes in what has nothing to hide."""


class Secrets:
    """The secrets of one conversation. Every text is cleared once, in any order; when all were seen, `hide` takes what
    was found in one of them out of the others."""

    def __init__(self) -> None:
        self._question = ""
        self._answers: set[str] = set()
        self._answered: dict[str, list[tuple[int, int]]] = {}
        self._values: set[str] = set()
        self._by_start: dict[str, list[str]] = {}
        self.kinds: Counter[str] = Counter()

    @property
    def count(self) -> int:
        """How many were replaced so far."""
        return sum(self.kinds.values())

    def said(self, role: str, text: str) -> str:
        """The text of the next turn, which `role` spoke, with placeholders: also where the user only answers what the
        assistant asked for."""
        from core.base.secrets.said import asked, given

        question = self._question if role == "user" else ""
        if text.strip():
            self._question = asked(text) if role == "assistant" else self._question if role == "tool" else ""
        if answers := given(question, text) if question else []:
            self._answered[text] = answers
            self._answers.update(text[start:end] for start, end in answers)
        return self.clear(text)

    def clear(self, text: str) -> str:
        """The text with placeholders, its secrets remembered."""
        if not text:
            return text
        found = redact(text, self._answered.get(text, ()))
        if found.counts:
            self.kinds.update(found.counts)
            for value in _replaced(text, found.text):
                if value not in self._values:
                    self._values.add(value)
                    self._by_start.setdefault(value[:LEAST], []).append(value)
        return found.text

    def title(self, text: str) -> str:
        """A short text that a program made of longer ones, cleared; "" where it has a part of a secret. It may have cut
        one in two, or left out its punctuation, so that nothing is as it was but the letters."""
        if any(value in text for value in self._answers):
            return ""
        text = self.hide(self.clear(text))
        letters = _letters(text)
        for value in self._values:
            known = _letters(value)
            if known and any(known[at : at + PART] in letters for at in range(max(1, len(known) - PART + 1))):
                return ""
            if known and any(letters.endswith(known[:end]) for end in range(CUT, PART)):
                return ""
        return text

    def hide(self, text: str) -> str:
        """A cleared text without the values that were secrets in another one."""
        if len(self._values) <= MAX_SECRETS_ONE_BY_ONE and not any(value in text for value in self._values):
            return text
        places = map(slice, range(len(text)), range(LEAST, len(text) + LEAST))
        found = [
            (place, value)
            for start in self._by_start.keys() & map(text.__getitem__, places)
            for value in self._by_start[start]
            for place in _places(value, text)
        ]
        return _without(text, found)


def _places(value: str, text: str) -> Iterator[int]:
    """Where a value stands, also where it overlaps itself."""
    at = text.find(value)
    while at >= 0:
        yield at
        at = text.find(value, at + 1)


def _without(text: str, found: list[tuple[int, str]]) -> str:
    """The text without the values that stand at these places; where two overlap, without the longer one: of one that
    begins like another the end would be left."""
    hidden = bytearray(len(text))
    taken: list[tuple[int, int]] = []
    for at, value in sorted(found, key=lambda row: (-len(row[1]), row[1], row[0])):
        end = at + len(value)
        if not (hidden[at] or hidden[end - 1]):  # one that is as long or longer covers an end of this one
            hidden[at:end] = b"x" * len(value)
            taken.append((at, end))
    kept, last = list[str](), 0
    for at, end in sorted(taken):
        kept += [text[last:at], REPEATED]
        last = end
    return "".join([*kept, text[last:]])


def clear_title(title: str, texts: Iterable[str]) -> str:
    """A title without what the texts that it may have been made of give away as a secret. Clearing takes its time: only
    texts that have some letters in a row with the title are looked through."""
    title = " ".join(title.split())[:TITLE_CHARACTERS]
    if not title:
        return ""
    secrets, pieces = Secrets(), _pieces(title) | _pieces(_letters(title))
    for text in texts:
        plain = f"{text}\n{_letters(text)}"
        if any(piece in plain for piece in pieces):
            secrets.clear(text)
    return secrets.title(title)


def _pieces(text: str) -> set[str]:
    return {text[at : at + LEAST] for at in range(max(1, len(text) - LEAST + 1))} - {""}


def _letters(text: str) -> str:
    return _NO_LETTERS.sub("", text).casefold()


def _replaced(before: str, after: str) -> list[str]:
    """What stood where the placeholders stand now, as far as it would be known again anywhere."""
    first, *rest = _PLACEHOLDER.split(after)
    found: list[str] = []
    at = len(first)
    for number, kept in enumerate(rest, start=1):
        place = len(before) - len(kept) if number == len(rest) else before.find(kept, at) if kept else at
        if place < at or not before.startswith(first):
            break  # the text had placeholders of its own: what stood where is not known
        value = before[at:place].strip(" \t\r\n\"'`")
        if len(value) >= LEAST and not _WORD.fullmatch(value) and MARK not in value:
            found.append(value)
        at = place + len(kept)
    return found
