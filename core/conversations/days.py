"""The day of a conversation, told in one place: by its turns, else by its header, its name, or its file.

Days are those of UTC where a time says its zone, else as they are written. A file's own time is the last resort: a
copy, a download or a checkout makes an old conversation the newest of all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, date, datetime

from core.base.figures import iso_of
from core.conversations.conversation import Conversation

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_YEAR_FIRST = re.compile(
    r"(?<![^\W_])(20\d\d)(?:(?:([-./_])\s?|年\s?)(\d{1,2})(?:\2\s?|月\s?)(\d{1,2})(?!\d)|(\d\d)(\d\d)(?![^\W_T]|T\D))"
)
_YEAR_LAST = re.compile(r"(?<!\d)(\d{1,2})([-./])(\d{1,2})\2(20\d\d)(?!\d)")
_NAMED_MONTH = re.compile(
    rf"(?<![a-z\d])(?:(\d{{1,2}})[ ._-])?({'|'.join(_MONTHS)})[a-z]{{0,6}}[ ._-]+"
    r"(?:(\d{1,2})(?:st|nd|rd|th)?,?[ ._-]+)?(20\d\d)(?!\d)",
    re.IGNORECASE,
)


def day_of(conversation: Conversation, name: str, mtime_ns: int) -> str:
    """The day (YYYY-MM-DD) of a conversation: that of its last turn, else of the end or the beginning that its header
    tells, else the one in the `name` of its file, else of the file (nanoseconds since 1970); "" where nothing tells.
    A name that speaks of a day after the file was written tells of something else."""
    times = (turn.time for turn in reversed(conversation.turns) if turn.time)
    for written in (*times, conversation.ended, conversation.started):
        if day := utc_day(written):
            return day
    of_file = iso_of(max(0, mtime_ns) / 1e9)[:10]
    named = written_day(name)
    if not of_file or not named:
        return of_file or named
    # It may tell the day of a place where it is tomorrow already.
    return of_file if (date.fromisoformat(named) - date.fromisoformat(of_file)).days > 1 else named


def utc_day(written: str) -> str:
    """The UTC day of an ISO 8601 time, of one without a zone as it is written; "" for anything else."""
    try:
        at = datetime.fromisoformat(written)
        return (at if at.tzinfo is None else at.astimezone(UTC)).date().isoformat()
    except (ValueError, OverflowError):
        return ""


def written_day(text: str) -> str:
    """The first day that a name or a heading tells, however its writer writes days; "" for none. Of two numbers the
    first is the month, as an American clock has it, unless it cannot be one or is filled up with a zero."""
    for year, month, day in _days(text):
        with suppress(ValueError):
            return date(year, month, day).isoformat()
    return ""


def _days(text: str) -> Iterator[tuple[int, int, int]]:
    """What may be a year, a month and a day."""
    for found in _YEAR_FIRST.finditer(text):
        yield int(found[1]), int(found[3] or found[5]), int(found[4] or found[6])
    for found in _YEAR_LAST.finditer(text):
        first, second = int(found[1]), int(found[3])
        day_first = first > 12 or found[2] == "." or "0" in (found[1][0], found[3][0])
        yield int(found[4]), *((second, first) if day_first else (first, second))
    for found in _NAMED_MONTH.finditer(text):
        if day := found[1] or found[3]:
            yield int(found[4]), _MONTHS.index(found[2].lower()) + 1, int(day)
