"""Days, months and years that a query names, and how close to them the date of an entry lies.

What happened on a day is mostly spoken of on that day or soon after, so an entry from after it counts too, less with
each day that passed; one from before it may be the plan. A date without a year means any year.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import MAXYEAR, MINYEAR, date, timedelta
from typing import NamedTuple

FADING_DAYS = 10.0
"""The days after which an entry counts 1/e of one from the day itself."""
REACH_DAYS = 60
"""The days after which it counts nothing."""
MAX_DATES = 4
"""At most this many dates of a query are looked at."""

_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
           "december")  # fmt: skip
_NUMBER = {name[:size]: at for at, name in enumerate(_MONTHS, start=1) for size in (3, len(name))} | {"sept": 9}
_MONTH = "|".join(sorted(_NUMBER, key=len, reverse=True))
_ISO = re.compile(r"(?<![\d.-])([1-9]\d{3})-(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\d|3[01]))?(?![\d-]|\.\d)")
_SAID = re.compile(
    rf"(?:\b(?P<before>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? )?\b(?P<month>{_MONTH})\b\.?"
    r"(?: (?P<after>\d{1,2})(?:st|nd|rd|th)?(?!\d))?(?:,? (?P<year>(?:19|20)\d\d)(?!\d))?",
    re.IGNORECASE,
)
_AT = re.compile(r"\b(?:in|of|on|by|since|during|last|this|next|early|late|mid|until|till|before|after|from) $", re.I)
_YEAR = re.compile(r"\b(?:in|of|since|during|from|until|before|after) ((?:19|20)\d\d)\b(?!-)", re.IGNORECASE)


class Moment(NamedTuple):
    """A day, a month or a year; 0 for what was not said."""

    year: int
    month: int
    day: int


class Closeness(NamedTuple):
    """How far an entry is from what was asked for: 1 `within` it, and what fades on either side; 0 for nothing."""

    within: float
    before: float
    after: float


FAR = Closeness(0.0, 0.0, 0.0)


def moments_of(text: str) -> tuple[Moment, ...]:
    """The dates in a query, in ISO form or with the English name of a month. A month that is also another word (may,
    march, or one cut short) counts only where a number or a word like "in" stands beside it."""
    if not re.search(r"\d|" + _MONTH, text, re.IGNORECASE):
        return ()
    found = [Moment(int(one[1]), int(one[2]), int(one[3] or 0)) for one in _ISO.finditer(text)]
    for one in _SAID.finditer(text):
        day, year = one["before"] or one["after"], one["year"]
        name = one["month"].lower()
        sure = name in _MONTHS and name not in ("may", "march")
        if sure or day or year or (name in _MONTHS and _AT.search(text[: one.start("month")])):
            found.append(Moment(int(year or 0), _NUMBER[name], int(day or 0)))
    if not found:
        found = [Moment(int(one[1]), 0, 0) for one in _YEAR.finditer(text)]
    return tuple(dict.fromkeys(one for one in found if span_of(one._replace(year=one.year or 2000))))[:MAX_DATES]


def closeness(asked: Sequence[Moment], day: str) -> Closeness:
    """How close a date (YYYY-MM-DD) lies to the nearest of what was asked for. FAR for an invalid one."""
    try:
        written = date.fromisoformat(day)
    except ValueError:
        return FAR
    within = after = before = 0.0
    for moment in asked:
        for year in (moment.year,) if moment.year else (written.year - 1, written.year, written.year + 1):
            span = span_of(moment._replace(year=year))
            if span is None:
                continue
            first, last = span
            if written > last:
                after = max(after, _faded((written - last).days))
            elif written < first:
                before = max(before, _faded((first - written).days))
            else:
                within = 1.0
    return Closeness(within, before, after)


def _faded(days: int) -> float:
    return math.exp(-days / FADING_DAYS) if days <= REACH_DAYS else 0.0


def match_dates(asked: Sequence[Moment]) -> str:
    """The dates for the full-text table: those of entries, and those that a text names as the index writes them."""
    return " OR ".join(f'"{numbers}"' for numbers in spelled_dates(asked))


def spelled_dates(asked: Sequence[Moment]) -> list[str]:
    """The numbers that stand in the dates that are meant, in their order."""
    parts = []
    for moment in asked:
        numbers = [f"{moment.year:04}"] if moment.year else []
        numbers += [f"{moment.month:02}"] if moment.month else []
        numbers += [f"{moment.day:02}"] if moment.day else []
        if moment.year or moment.day:  # a month alone is two digits that may be anything
            parts.append(" ".join(numbers))
    return parts


def span_of(moment: Moment) -> tuple[date, date] | None:
    """The first and the last day; None for a date that the calendar does not have."""
    year, month, day = moment
    if not MINYEAR < year < MAXYEAR:  # the days beside them are dates, too
        return None
    try:
        if day:
            return date(year, month, day), date(year, month, day)
        if not month:
            return date(year, 1, 1), date(year, 12, 31)
        following = date(year + month // 12, month % 12 + 1, 1)
        return date(year, month, 1), following - timedelta(days=1)
    except ValueError:
        return None
