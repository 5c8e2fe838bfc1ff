"""Days as people say them: `yesterday`, `last week`, `3 days ago`, `since monday`; and questions about a day."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import NamedTuple

from core.search.when import Moment, moments_of, span_of

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_ISO = re.compile(r"(\d{4})(?:-(\d\d))?(?:-(\d\d))?\Z")
_AGO = re.compile(r"(\d{1,4}) ?(d|w|m|days?|weeks?|months?)(?: ago)?\Z")
_SAID = re.compile(
    rf"(?<![\w'’-])(?:(?P<since>since) )?(?:(?:on|from) )?(?P<day>today|yesterday|(?:last|this) (?:week|month)|"
    rf"\d{{1,3}} (?:days?|weeks?|months?) ago|(?:(?:last|on) )?(?:{'|'.join(WEEKDAYS)}))(?![\w'’-])",
    re.IGNORECASE,
)
_DATED = re.compile(
    r"(?<![\w'’-])(?:on|in|from|during) (?:the )?(?P<day>(?:\d{1,2}(?:st|nd|rd|th)?(?: of)? )?[a-z]{3,9}\.?"
    r"(?: \d{1,2}(?:st|nd|rd|th)?)?(?:,? \d{4})?|\d{4}-\d\d(?:-\d\d)?)(?![\w'’-])",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"\b(?:in|on|for) (?:the |my )?(?:(?:project|repo|repository) )?(?P<name>[\w.-]+)(?: (?:project|repo|repository))?"
    r"[?.!]*\s*\Z",
    re.IGNORECASE,
)
_ASKING = re.compile(
    r"\A\W*(?:(?:what|which things) (?:have|did|had|was|were) (?:i|we)(?: been)? (?:do|done|doing|work|worked|working)"
    r"(?: (?:on|at))?|what (?:i|we) (?:did|worked on)|what (?:happened|was done)|my (?:work|sessions|conversations))\b",
    re.IGNORECASE,
)


class Span(NamedTuple):
    """Days from `since` on (YYYY-MM-DD) and before `before`; "" for no end."""

    since: str = ""
    before: str = ""


class Question(NamedTuple):
    """A query without what it says of a time and a project: `words` are what is left to be found, `span` the days,
    `place` the word that may name a project, `said` the words that were taken for a time ("" for none). `open`: it asks
    what was done then, and for no words."""

    words: str
    span: Span = Span()
    place: str = ""
    said: str = ""
    open: bool = False


def day_span(text: str, today: date) -> Span | None:
    """The days that a text means: an ISO date (a month, a year), a day as people say it, or how long ago. None for
    anything else."""
    said = " ".join(text.strip().lower().split())
    if iso := _ISO.match(said):
        return _calendar(Moment(int(iso[1]), int(iso[2] or 0), int(iso[3] or 0)))
    if ago := _AGO.match(said):
        number = int(ago[1])
        days = number * {"d": 1, "w": 7, "m": 30}[ago[2][0]]
        return _one(today - timedelta(days=days)) if days < 36_500 else None
    first = said.removeprefix("last ").removeprefix("on ")
    if first in WEEKDAYS:
        return _one(today - timedelta(days=(today.weekday() - WEEKDAYS.index(first)) % 7 or 7))
    monday, before = today - timedelta(days=today.weekday()), today.replace(day=1) - timedelta(days=1)
    spans = {
        "today": _one(today),
        "yesterday": _one(today - timedelta(days=1)),
        "this week": Span(str(monday), str(monday + timedelta(days=7))),
        "last week": Span(str(monday - timedelta(days=7)), str(monday)),
        "this month": _calendar(Moment(today.year, today.month, 0)),
        "last month": _calendar(Moment(before.year, before.month, 0)),
    }
    return spans.get(said)


def question(text: str, today: date) -> Question:
    """A query as a question about a time. Careful: it is one only where a whole phrase says a time outside of quotation
    marks, and a project is looked for only beside such a phrase, at the end."""
    said = [one for one in _SAID.finditer(text) if text.count('"', 0, one.start()) % 2 == 0]
    if len(said) != 1:
        return _on_a_date(text, today)
    one = said[0]
    span = day_span(one["day"], today)
    if span is None:
        return Question(text)
    return _parted(text, one, Span(span.since, "") if one["since"] else span)


def _on_a_date(text: str, today: date) -> Question:
    """What was done on a date. Where other words are asked for, a date only brings forward what was said then."""
    for one in _DATED.finditer(text) if _ASKING.match(text) else ():
        for moment in moments_of(one[0]):
            year = moment.year or today.year - ((moment.month, moment.day) > (today.month, today.day))
            span = _calendar(moment._replace(year=year))
            asked = _parted(text, one, span) if span is not None else Question(text)
            if asked.open:
                return asked
    return Question(text)


def _parted(text: str, one: re.Match[str], span: Span) -> Question:
    """A query without the words for a time."""
    rest = f"{text[: one.start()]} {text[one.end() :]}"
    place = _PLACE.search(rest.strip())
    words = rest.strip()[: place.start()] if place is not None else rest.strip()
    asked = _ASKING.match(words)
    words = " ".join(words[asked.end() if asked else 0 :].split()).strip(" ?!.,")
    return Question(words, span, place["name"] if place is not None else "", one[0], asked is not None and not words)


def _one(day: date) -> Span:
    return Span(str(day), str(day + timedelta(days=1)))


def _calendar(moment: Moment) -> Span | None:
    found = span_of(moment)
    return Span(str(found[0]), str(found[1] + timedelta(days=1))) if found is not None else None
