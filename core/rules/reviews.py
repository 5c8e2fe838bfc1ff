"""What a review of one's own code rated and nobody mended."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.rules import words
from core.rules.prose import Row, begun, clean, sentences
from core.rules.sentence import LONG, SHORT, Found, found, shortened
from core.rules.session import Closing, Session

MAX_FINDINGS = 4
_LOW = ("low", "minor", "p3", "低")
SLIGHT = re.compile(
    r"\b(?:optional\w*|low[- ]priority|nice[- ]to[- ]have|small\w*|trivial|consider|might|could|if you|tidy|"
    r"may want)\b|"
    r"^\W*(?:the )?(?:\w+ ){0,2}comments?\b|"
    r"^\W*(?:document|(?:add|write) (?:a |some )?(?:comments?|notes?|docs?)|rename|reword)\b|可选|考虑",
    re.IGNORECASE,
)
"""What whoever reviewed did not insist on, and what only the pages would say better."""
NUMBERS = re.compile(
    r"(?<!\s)\s*(?:\((?:obs|observation|finding|item|point)s?\.? [\d, /&]+\)|^\W*\(\w?\d+\)(?:[/+]\(\w?\d+\))*)",
    re.IGNORECASE,
)
"""The number with which a point of a review calls itself."""


def find_in_review(session: Session) -> Iterator[Found]:
    """The findings of the reviews in a session that are still open, the grave ones where there are many."""
    told = [item for closing in session.closings for item in _in(session, closing)]
    grave = [item for low, item in told if not low]
    yield from (grave if len(told) > MAX_FINDINGS else [item for _, item in told])[:MAX_FINDINGS]


def _in(session: Session, closing: Closing) -> Iterator[tuple[bool, Found]]:
    if closing.refuted or closing.overtaken or closing.changed:
        return
    yield from _rated(closing, session.rows[closing.number])


def _rated(closing: Closing, lines: list[Row]) -> Iterator[tuple[bool, Found]]:
    """What a review rated, and whether each is a small one."""
    for at, row in enumerate(lines):
        text = clean(row.text)
        rated = words.SEVERE.match(text)
        if not rated and not (row.kind == "bullet" and words.SEVERE_HEADING.match(row.heading)):
            continue
        how = (rated["how"] if rated else row.heading.split()[0]).lower()
        said = (rated["rest"] if rated else text).strip()
        first = next(iter(re.split(r"(?<=[.!?。])\s+(?=[A-Z`])", said)), said)
        if not first and at + 1 < len(lines):
            first = clean(lines[at + 1].text)
        if not SHORT <= len(first) <= LONG + 100 or words.TEMPLATE.search(first):
            continue
        more = [clean(later.text) for later in lines[at + 1 : at + 4] if not words.SEVERE.match(later.text)]
        path = re.search(r"`([\w./-]+/[\w.-]+\.\w{1,5})(?::\d[\d,-]*)?`", " ".join((row.text, *more)))
        named = path is not None and path[1].rsplit("/", 1)[-1] in first
        where = f"In `{path[1]}`: " if path and not named else ""
        detail = said[len(first) :].strip() or next((part for part in more if len(part) > SHORT), "")
        statement = f"{where}{first if where else begun(first)} (review finding, {how})"
        quote = next((part.quote for part in sentences(row) if first[:20] in part.text), "")
        yield (
            how in _LOW,
            found("tasks_open", statement, closing.number, detail=shortened(detail), quote=quote, score=68),
        )
