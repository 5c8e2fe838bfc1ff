"""Why an entry is a hit, in words that a person understands; and what shares so little with a query that it is none.

Two kinds of queries bring too much. One name with punctuation (`session_store.py`, `C++`) falls into words, and some of
them are in every second text: an ending, a single letter, a number. And the numbers of a date (`on 21 November`) stand
in the source of everything that was told on some 21st. What has nothing but these is left out, unless the letters of
the query stand in it as they were typed. A piece of a conversation stays: what is around it may speak for it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from core.search.reading import READ_CHARACTERS, Seen
from core.search.store import Row
from core.search.terms import Query
from core.search.when import moments_of
from core.search.words import folded, spaced

NEAR_SAID = 2.0
"""From so many deviations on, that an entry is near by vector is a reason."""
NEAR_DATE = 0.1
"""As close to a date as this (`Closeness`) is a reason: some three weeks."""
SHORT, ENDING = 2, 4
"""Among several words of a name one of so few letters says nothing, nor does the last, behind a dot, of so few."""

_NAME = re.compile(r"[^\W_][._/\\:+#@~$-]+[^\W_]|[^\W_][+#]+\Z|\A[.@#$/\\~-]+[^\W_]|_")
_SPLIT = re.compile(r'[\s"]')


def is_name(query: Query) -> bool:
    """Whether a query is one name whose punctuation belongs to it. A date is none, nor is what is written without
    spaces, each character of which is a word."""
    text = query.text
    return bool(
        _NAME.search(text) and not _SPLIT.search(text) and not query.moments and query.words and spaced(text) == text
    )


def reasons(query: Query, seen: Seen, literal: str, how: str, near: float) -> tuple[str, ...]:
    """What matched, the strongest first; nothing for an entry that is no hit. `literal`: the letters that stand in it
    as they were typed; `how` it came (`Found.how`); `near` it is by vector."""
    row, why = seen.row, []
    numbers = _numbers(query)
    words = sorted(word for word in seen.words if word not in numbers)
    if literal:
        why.append(f"exact: {literal}")
    if words and not literal and is_name(query) and not _has_all(query, seen):
        if row.thread or _says_enough(query, seen):
            why.append(f"part of the name: {', '.join(words)}")
    elif words:
        why.append(f"words: {', '.join(words)}")
    if seen.titled:
        why.append("title")
    if seen.dated.within:
        why.append(f"date: {row.date}")
    if how == "prefix":
        why.append(f"begins like: {', '.join(term.word for term in query.terms if not term.found)}")
    elif how == "part" and not literal:
        why.append(f"part of a word: {query.literal}")
    elif how == "beside" and not words:
        why.append("beside a match")
    if how == "vector" or near >= NEAR_SAID:
        why.append("alike in meaning")
    if not why and max(seen.dated) >= NEAR_DATE:
        why.append(f"near the date: {row.date}")
    if not why and query.moments and _names_the_date(query, row):
        why.append("names the date")
    if not why and (row.thread or not (seen.words or _is_number_alone(query, row))):
        why.append("related")
    return tuple(why)


def _is_number_alone(query: Query, row: Row) -> bool:
    """Whether an entry in whose text nothing was seen can only have been found by a number in its date: the whole text
    was read, and the query has such numbers."""
    numbers = bool(query.moments) or (is_name(query) and any(term.word.isdigit() for term in query.terms))
    return numbers and len(row.text) <= READ_CHARACTERS


def _has_all(query: Query, seen: Seen) -> bool:
    """Whether every word of a name is there; those that are but fragments, such as numbers, side by side. One word is
    never all of it: its punctuation was to be looked for too."""
    if len(query.terms) < 2 or not all(seen.counts):
        return False
    return bool(seen.near) or not all(_is_fragment(query, at) for at in range(len(query.terms)))


def _says_enough(query: Query, seen: Seen) -> bool:
    """Whether an entry has, whole or within a longer word, a word of the name that is more than a fragment."""
    text = ""
    for at, term in enumerate(query.terms):
        if not _is_fragment(query, at):
            text = text or folded(f"{seen.row.title}\n{seen.row.text}")
            if seen.counts[at] or term.word in text:
                return True
    return False


def _is_fragment(query: Query, at: int) -> bool:
    word = query.terms[at].word
    if len(query.terms) == 1:
        return len(word) == 1
    is_ending = len(word) <= ENDING and query.text.lower().endswith(f".{word}")
    return len(word) <= SHORT or word.isdigit() or is_ending


def _numbers(query: Query) -> Collection[str]:
    """The words of a query that are numbers of its dates."""
    said: set[str] = set()
    for moment in query.moments:
        for number in filter(None, moment):
            said |= {str(number), f"{number:02}", *(f"{number}{end}" for end in ("st", "nd", "rd", "th"))}
    return said.intersection(query.words)


def _names_the_date(query: Query, row: Row) -> bool:
    """Whether the text itself names a date that was asked for: what is planned is told before."""
    named: Sequence[tuple[int, int, int]] = moments_of(row.text)
    return any(
        all(not one or not other or one == other for one, other in zip(asked, moment, strict=True))
        for asked in query.moments
        for moment in named
    )
