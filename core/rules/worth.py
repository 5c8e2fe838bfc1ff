"""Which units of a session are worth a line, by a fitted linear model: a sum of weights, one a feature.

The weights stand in `assets/worth.tsv`, a feature a line with what it adds to "worth a line" (log-odds).
`python -m tests.quality.fit` makes them again from labels. They are read when a session is first harvested by rules,
never when the program starts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

from core.rules import words
from core.rules.features import Scene, asked_again, features, gates
from core.rules.prose import begun
from core.rules.sentence import Found, alike, found, lost, named, stems, whole_quotes
from core.rules.session import Session
from core.rules.units import LEANS, LONGEST, Unit, units_of

WEIGHTS = Path(__file__).resolve().parents[2] / "assets" / "worth.tsv"
LEAST = 0.3
"""From this probability on a unit is worth a line."""
MAX_LINES = 4
"""Lines of one session at most."""
PLACES = ("closing", "commit")
"""Where such units stand: what is said in the middle of work is often refuted before its end, and what the user wants
for good they say in explicit words."""
SHORTEST_LINE, LEAST_ENGLISH = 60, 2
SAME_STEMS, LEAST_STEMS = 0.5, 4
BIAS = "bias"


@cache
def weights() -> dict[str, float]:
    """The weights by their features."""
    rows = (line.split("\t") for line in WEIGHTS.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    return {name: float(weight) for name, weight in rows}


def probability(of: Iterable[str], by: dict[str, float]) -> float:
    """How likely a unit of these features is worth a line, by these weights."""
    total = by.get(BIAS, 0.0) + math.fsum(by.get(name, 0.0) for name in of)
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


def find_worth(session: Session) -> Iterator[Found]:
    """The units of a session that are worth a line, the better one of two that say the same."""
    units = units_of(session)
    scene = Scene(session, units)
    lines = [
        (unit, line) for at, unit in enumerate(units) if (line := line_of(units, at)) and passes(unit, line, scene)
    ]
    rated = [(probability(features(unit, line, scene), weights()), unit, line) for unit, line in lines]
    for rate, unit, line in sorted(best(rated), key=lambda row: (row[1].turn, row[1].at)):
        category = "decisions" if _CHOICE.search(line) else "facts"
        yield found(category, line, unit.turn, quote=unit.quote, score=round(100 * rate))


def best(rated: Iterable[tuple[float, Unit, str]], least: float = LEAST) -> list[tuple[float, Unit, str]]:
    """The best lines of a session, none that says what a better one says; of two as good the later one."""
    chosen: list[tuple[float, Unit, str]] = []
    for row in sorted(rated, key=lambda row: (-row[0], -row[1].turn, -row[1].at)):
        if row[0] < least or len(chosen) == MAX_LINES:
            break
        if not any(says_same(row[2], line) for _, _, line in chosen):
            chosen.append(row)
    return chosen


_CHOICE = re.compile(r"\b(?:instead of|rather than|chose|chosen|decided|on purpose|deliberate(?:ly)?)\b", re.IGNORECASE)


# --- what can be a line ---

_LOG = re.compile(
    r"\b(?:all|the|\d+) (?:[\w-]+ ){0,3}tests? (?:now |all )?(?:pass\w*|succeed\w*|green)|\bBUILD SUCCESS|"
    r"\blint(?:er)? (?:is )?clean|^(?:optional|alternatively|next|in summary|summary|verified|confirmed)\b\s*[:,]|"
    r"^(?:key )?(?:changes?|improvements?)(?: made)?\s*:|\buser (?:wanted|asked|requested)\b",
    re.IGNORECASE,
)
"""What was seen on the day, and what may as well be left."""
_REASON = re.compile(r"\b(?:because|since|otherwise|must|never|only|fails?|cannot|can't|until|not)\b", re.IGNORECASE)


def stands(unit: Unit) -> bool:
    """Whether a unit can be a line at all: whole, and no question, lead-in, template, or account of the day."""
    text = unit.text
    if text.endswith(("?", "？", ":", "：", "…")) or not whole_quotes(text) or len(text) > LONGEST:
        return False
    if words.OFFER.search(text) or words.TEMPLATE.search(words.CODE.sub("", text)):
        return False
    return _LOG.search(text) is None or (_REASON.search(text) is not None and _LOG.match(text) is None)


def line_of(units: Sequence[Unit], at: int) -> str:
    """The line that a unit makes, "" where it makes none."""
    return completed(units, at) if stands(units[at]) else ""


def passes(unit: Unit, line: str, scene: Scene) -> bool:
    """Whether a line says a thing of its own, and passes every gate (which are written for English alone)."""
    if unit.place not in PLACES or len(line) < SHORTEST_LINE or not named(line):
        return False
    if len({word.casefold() for word in words.ENGLISH.findall(line)}) < LEAST_ENGLISH:
        return False
    return not gates(line) and not asked_again(unit, scene)


def says_same(one: str, other: str) -> bool:
    """Whether two lines of a session say mostly the same."""
    first, second = stems(one), stems(other)
    shared = len(first & second)
    return alike(one, other) or (shared >= LEAST_STEMS and shared >= SAME_STEMS * min(len(first), len(second)))


# --- how a unit reads as a line ---

_NUMBER = re.compile(
    r"^(?:\(\w{1,3}\)\s*|\d{1,2}[.)]\s+|[✅❌⚠️💡❓🔴🟡🟢•👉]+\s*)+|"
    r"\s*\((?:obs(?:ervation)?s?|item|finding)\.? [\d, /&]+\)"
)
_LEAD = re.compile(
    r"^(?:(?:summary|result|important|update|short answer|bottom line|one (?:note|wrinkle|caveat)|"
    r"why (?:this|it) fix\w* it|(?:the )?(?:issue|problem|root cause)(?: is(?: that)?)?)\s*:\s*|"
    r"the (?:issue|problem|error) (?:is|means) that |(?:ok(?:ay)?|good|great|perfect|got it|found it|yes|right|"
    r"certainly|sure|absolutely|excellent|done|fixed|that's the fix|clear)\b\s*[.!:,—–-]+\s*|"
    r"(?:done|fixed|updated|added)\b[^.!:]{0,40}[.!]\s+(?=[A-Z`]))+",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`])")
_SPEAKS = re.compile(
    r"\b(?:I['’](?:ll|m|d)|let me|let['’]s|I will|I need to|I can|we should submit|want me)\b", re.IGNORECASE
)
"""What the assistant is about to do."""
_YOURS = re.compile(r"\b(?P<your>your|our) (?=(?:[\w.`/-]+ ){0,2}(?:\w+|`))", re.IGNORECASE)


def completed(units: Sequence[Unit], at: int) -> str:
    """The line that a unit makes: without its number in a list and an opening phrase; behind the sentence that it leans
    on, or below its heading, where it does not say itself what it is about; "" where nothing does."""
    unit = units[at]
    text = _neutral(unit.text, unit.place)
    if text and not (lost(text) or LEANS.match(text)):
        return _with_cure(units, at, text)
    before = units[at - 1] if at else unit
    if not text:
        return ""
    leads = [f"{unit.heading.rstrip(':：')}:"] if unit.heading else []
    if (
        before.turn == unit.turn
        and before.place == unit.place
        and before.heading == unit.heading
        and before is not unit
    ):
        leads.insert(0, _neutral(before.text, unit.place))
    for lead in leads:
        whole = f"{lead} {text}"
        if (
            stands(unit)
            and not (lost(whole) or LEANS.match(whole))
            and len(whole) <= LONGEST
            and not lead.endswith("?")
        ):
            return whole
    return ""


_FIX = re.compile(
    r"^(?:the |proposed |my )?(?:fix(?:es)?|solution|resolution|cure|workaround|修复|解决方案|解决方法|решение|"
    r"lösung)\b"
    r"(?: is| was)?(?: to)?\s*[:：—–-]*\s*",
    re.IGNORECASE,
)


def _with_cure(units: Sequence[Unit], at: int, text: str) -> str:
    """A cause with what cures it, where the next unit of the message says so by its label or heading."""
    unit, later = units[at], units[at + 1] if at + 1 < len(units) else units[at]
    if later.turn != unit.turn or later.place != unit.place or _FIX.match(unit.text) or _FIX.match(unit.heading):
        return text
    if not (_FIX.match(later.text) or _FIX.fullmatch(later.heading)):
        return text
    whole = f"{text.rstrip(' .;')}. Fix: {_FIX.sub('', _neutral(later.text, later.place))}"
    return whole if len(whole) <= LONGEST and stands(later) else text


def _neutral(text: str, place: str) -> str:
    text = words.LINE_NUMBERS.sub("", _NUMBER.sub("", text))
    if place != "user":
        text = " ".join(part for part in _SENTENCE.split(text) if not _SPEAKS.search(part))
        text = _YOURS.sub("the ", text)
    return begun(_LEAD.sub("", text).strip())
