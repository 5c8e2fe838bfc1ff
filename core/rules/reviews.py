"""What a review of one's own code found and nobody mended: rated or numbered findings, and weak points."""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.rules import words
from core.rules.prose import Row, begun, clean, sentences, whole
from core.rules.sentence import LONG, SHORT, Found, found, names_in, readable, shortened
from core.rules.session import Closing, Session

MAX_FINDINGS = 4
LEAST_NAMES = 2
_LOW = ("low", "minor", "p3", "低")
_HARMLESS = re.compile(
    r"\b(?:non-issue|nits?|not (?:a |really a )?block\w*|acceptable|no action|fine|cosmetic|informational|optional|"
    r"reasonable|minor|inefficien\w+|already (?:handled|fixed)|currently safe)\b",
    re.IGNORECASE,
)
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
    lines = session.rows[closing.number]
    yield from _rated(closing, lines)
    yield from _numbered(session, closing, lines)
    yield from _risks(session, closing, lines)


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


_POINT = re.compile(r"^(?:\d{1,2}[.):]|[A-Z]\d{0,2}[.):]|#\d{1,2}[:.]?)\s+(?P<what>\S.{8,120})$")
_WRONG = re.compile(
    r"\b(?:silent\w*|missing|never|not|no longer|fails?|skips?|swallow\w*|stale|race|leaks?|wrong|incorrect\w*|"
    r"inconsistent|unbounded|lacks?|without|ignor\w+|hard\w*|duplicat\w*|breaks?|errors?|bugs?|unsafe|lost|drops?|"
    r"overwrit\w+|vulnerab\w+|unused|dead|fragile|can't|cannot|doesn't)\b|风险|缺|不",
    re.IGNORECASE,
)


def _numbered(session: Session, closing: Closing, lines: list[Row]) -> Iterator[tuple[bool, Found]]:
    """Numbered findings of a review, each below a heading of its own, of which nothing is spoken of afterwards."""
    parts: dict[str, list[Row]] = {}
    for row in lines:
        parts.setdefault(row.heading, []).append(row)
    points = [(point["what"], rows) for heading, rows in parts.items() if (point := _POINT.match(heading))]
    if len(points) < LEAST_NAMES or sum(words.ORDER.match(what) is not None for what, _ in points) > 1:
        return
    for what, rows in points:
        said = " ".join(clean(row.text) for row in rows)
        if not words.ANCHOR.search(f"{what} {said}") or not _WRONG.search(what) or _HARMLESS.search(f"{what} {said}"):
            continue
        if session.spoken_of(closing.number, what if words.ANCHOR.search(what) else said[:LONG]):
            continue
        bare = [(part, words.LINE_NUMBERS.sub("", part.text)) for row in rows for part in sentences(row)]
        first, text = next(((part, text) for part, text in bare if readable(text)), (None, ""))
        statement = f"{begun(clean(what))}{': ' if text else ''}{text}".rstrip(".")
        quote = first.quote if first else ""
        yield False, found("tasks_open", f"{statement} (review finding)", closing.number, quote=quote, score=66)


_RISK_HEADING = re.compile(
    r"^(?:\W*\d*\W*)(?:(?:main|known|open|remaining|major|key|potential)\s+)?(?:risks?|weakness(?:es)?|shortcomings?|"
    r"security (?:issues|concerns|risks))(?:\s*(?:and|&|/)\s*\w+)?$|风险|不足|缺点|リスク|課題|위험",
    re.IGNORECASE,
)


def _risks(session: Session, closing: Closing, lines: list[Row]) -> Iterator[tuple[bool, Found]]:
    """Weak points of one's own project that an assessment named and that nobody came back to."""
    for row in lines:
        text = whole(row).text
        if row.kind != "bullet" or not _RISK_HEADING.search(row.heading) or not readable(text):
            continue
        slight = _HARMLESS.search(text) or words.UNSURE.search(text)
        if len([name for name in names_in(text) if len(name) > 4]) < LEAST_NAMES or slight:
            continue
        if not session.spoken_of(closing.number, text):
            detail = "a weak point that was named and not worked on"
            yield True, found("tasks_open", text, closing.number, detail=detail, quote=whole(row).quote, score=54)
