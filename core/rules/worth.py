"""Which units of a session are worth a line, by a fitted linear model: a sum of weights, one a feature.

Four things are looked at: how long a line is, how much it names, whether it tells what was changed, and whether it
tells a limit. The weights stand in `assets/worth.tsv`, a feature a line with what it adds to "worth a line" (log-odds).
`python -m tests.quality.fit` makes them again from labels. They are read when a session is first harvested by rules,
never when the program starts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

from core.conversations.changed import changed_files, of_the_work
from core.rules import words
from core.rules.sentence import Found, alike, found, lost, names_in, stems, whole_quotes
from core.rules.session import Session
from core.rules.units import LEANS, LONGEST, Unit, units_of

WEIGHTS = Path(__file__).resolve().parents[2] / "assets" / "worth.tsv"
LEAST = 0.35
"""From this probability on a unit is worth a line."""
MAX_LINES = 2
"""Lines of one session at most."""
FOUND_IN_REVIEW = "found in a review, not mended there"
OPENING = 200
"""Characters of a first request that say what a session is for."""
SAME_STEMS, LEAST_STEMS = 0.5, 4
BIAS = "bias"
_REVIEW = re.compile(
    r"\b(?:review(?:er|ing)?|revue de code|prüfe|revisi[oó]n de)\b|审查|评审|レビュー|리뷰", re.IGNORECASE
)


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
    """The units of a session that are worth a line, the better one of two that say the same.

    What was said before the last change of files is overtaken by it, or can be read in it: of such units with labels
    readers kept 17 of 104, of the others 18 of 34.
    """
    since = last_work(session)
    detail = FOUND_IN_REVIEW if since < 0 and _is_review(session) else ""
    rated = [(probability(of, weights()), unit, line) for unit, line, of in candidates(session) if unit.turn >= since]
    for rate, unit, line in sorted(best(rated), key=lambda row: (row[1].turn, row[1].at)):
        if holds(line):  # else its place stays empty: of what came next 2 of 12 lines were worth it
            category = "decisions" if _DECIDED.search(line) and not detail else "facts"
            yield found(category, line, unit.turn, detail=detail, quote=unit.quote, score=round(100 * rate))


def _is_review(session: Session) -> bool:
    """Whether a session was to review something. What it finds is mostly mended later, where nothing tells of it."""
    opening = [turn.text for turn in session.conversation.turns[:1]]  # a tool's own command is not the user's
    opening += [row.text for row in session.exchanges[:1]]
    return any(_REVIEW.search(text[:OPENING]) for text in opening)


def last_work(session: Session) -> int:
    """The turn of the last change of the files that a session worked on, -1 where it changed none."""
    work = of_the_work(changed_files(session.conversation.turns))
    return max((row.last for row in work.values()), default=-1)


def holds(line: str) -> bool:
    """Whether a line says what limits a thing or why it is so, without guessing and to nobody. Of units with labels
    that say neither readers kept 4 of 56, and of those that tell what was done (which the ledger and the conversation
    have) 2 of 46: these only where they chose."""
    if words.TALK.search(words.CODE.sub("", line)) or _GUESS.search(line):
        return False  # "d'accord, je vais …": the weights know no word of it
    if PAST.match(line) and not _CHOICE.search(line):
        return False
    return any(table.search(line) for table in (words.RULE, words.BECAUSE, _LIMIT))


def candidates(session: Session) -> Iterator[tuple[Unit, str, frozenset[str]]]:
    """The units of a session that can be a line, each with its line and the features of it."""
    units = [unit for unit in units_of(session) if unit.place != "user" and unit.kind != "check"]
    for at, unit in enumerate(units):
        line = line_of(units, at)
        if line:
            yield unit, line, frozenset(features(line))


def best(
    rated: Iterable[tuple[float, Unit, str]], least: float = LEAST, most: int = MAX_LINES
) -> list[tuple[float, Unit, str]]:
    """The best lines of a session, none that says what a better one says; of two as good the later one."""
    chosen: list[tuple[float, Unit, str]] = []
    for row in sorted(rated, key=lambda row: (-row[0], -row[1].turn, -row[1].at)):
        if row[0] < least or len(chosen) == most:
            break
        if not any(says_same(row[2], line) for _, _, line in chosen):
            chosen.append(row)
    return chosen


def says_same(one: str, other: str) -> bool:
    """Whether two lines of a session say mostly the same."""
    first, second = stems(one), stems(other)
    shared = len(first & second)
    return alike(one, other) or (shared >= LEAST_STEMS and shared >= SAME_STEMS * min(len(first), len(second)))


_DECIDED = re.compile(
    r"\b(?:(?:instead of|rather than)(?! \w+ing\b)|chose|chosen|decided|on purpose|deliberate(?:ly)?)\b", re.IGNORECASE
)
"""Words of a choice. "Skips it instead of crashing" tells what a thing does."""
_CHOICE = re.compile(rf"\b(?:instead of|rather than)\b|{_DECIDED.pattern}", re.IGNORECASE)


# --- what a line looks like ---

PAST = re.compile(
    r"(?:done[.!]|completed(?=[.!:]| \w+:)|builds? clean\w*[.!]|verified\b|verification(?::| was\b)|"
    r"(?:the |key |main )+changes(?: are| include)?:|"
    r"(?:`[^`]+`(?:,? (?:and )?`[^`]+`)*\s*[:—–-]*\s*)?(?:(?:also|now) )?(?:added|removed|renamed|replaced|changed|"
    r"updated|moved|fixed|excluded|downgraded|upgraded|wrapped|reduced|increased|introduced|reordered|consolidated|"
    r"converted|switched|set|made|stopped|kept|restored|extracted|inlined|disabled|enabled|pinned|bumped|dropped|"
    r"merged|wired|gated|scoped|guarded|hardened|rewrote|reworked|adjusted|edited)\b(?!-))",
    re.IGNORECASE,
)
"""How a line begins that tells what was done or looked at."""
_LIMIT = re.compile(
    r"\b(?:only|not|never|no|cannot|can['’]t|doesn['’]t|does not|won['’]t|must|required?|requires|unless|until|"
    r"by default|silently|ignores?|without|fails?|breaks?|limit\w*|at most|at least|unaffected|unsupported|"
    r"harmless|safe to ignore)\b",
    re.IGNORECASE,
)


def features(line: str) -> Iterator[str]:
    """The features of a line."""
    names = names_in(line)
    yield from (f"long>={edge}" for edge in (60, 90, 130, 180, 260, 360) if len(line) >= edge)
    yield from (f"names>={edge}" for edge in (1, 2, 3, 4, 6) if len(names) >= edge)
    if PAST.match(line):
        yield "past"
    if _LIMIT.search(line):
        yield "limit"


# --- what can be a line ---

_SPEAKS = re.compile(r"\b(?:I|[Mm]e|[Mm]y|[Ww]e|[Oo]ur|us|[Yy]ou|[Yy]our|[Ll]et['’]s)\b(?!/)")
"""Words of a talk, not of a statement."""
_GUESS = re.compile(
    r"\b(?:seems?|appears? (?:to|that|safe)|might|maybe|probably|perhaps|likely|possibly|could be)\b", re.IGNORECASE
)
_NUMBER = re.compile(r"^(?:\(\w{1,3}\)\s*|\d{1,2}[.)]\s+|[✅❌⚠️💡❓🔴🟡🟢•👉]+\s*)+")
_TWICE = re.compile(r"(`[^`\n]+`)(?:,? (?:and )?\1)+")


def stands(text: str) -> bool:
    """Whether a text can be a line at all: whole, and no question, lead-in, offer or template."""
    if text.endswith(("?", "？", ":", "：", "…")) or not whole_quotes(text) or len(text) > LONGEST:
        return False
    return not (words.OFFER.search(text) or words.TEMPLATE.search(words.CODE.sub("", text)))


def numberless(text: str) -> str:
    """A text without its number or sign in a list, and without the numbers of lines, which do not last; a name that
    stood twice for two lines of a file stands once."""
    return _TWICE.sub(r"\1", words.LINE_NUMBERS.sub("", _NUMBER.sub("", text)))


def line_of(units: Sequence[Unit], at: int) -> str:
    """The line that a unit makes, as it was said: with its cure where the next unit tells that, behind the sentence
    that it leans on or below its heading where it does not say itself what it is about; "" where it makes none. What
    speaks to somebody makes none: mended, it mostly needs its neighbours still."""
    unit = units[at]
    text = numberless(unit.text)
    if not stands(text) or _SPEAKS.search(text):
        return ""
    if _alone(text):
        return _with_cure(units, at, text)
    leads = [f"{unit.heading.rstrip(':：')}:"] if unit.heading else []
    before = units[at - 1] if at else unit
    if before is not unit and before.turn == unit.turn and before.heading == unit.heading:
        leads.insert(0, before.text)
    wholes = (numberless(f"{lead} {text}") for lead in leads)
    return next((whole for whole in wholes if stands(whole) and _alone(whole)), "")


def _alone(text: str) -> bool:
    return not (lost(text) or LEANS.match(text) or _SPEAKS.search(text))


_FIX = re.compile(
    r"^(?:the |proposed |my )?(?:fix(?:es)?|solution|resolution|cure|workaround|修复|解决方案|解决方法|решение|"
    r"lösung)\b"
    r"(?: is| was)?(?: to)?\s*[:：—–-]*\s*",
    re.IGNORECASE,
)


def _with_cure(units: Sequence[Unit], at: int, text: str) -> str:
    """A cause with what cures it, where the next unit of the message says so by its label or heading."""
    unit, later = units[at], units[at + 1] if at + 1 < len(units) else units[at]
    if later.turn != unit.turn or _FIX.match(unit.text) or _FIX.match(unit.heading):
        return text
    if not (_FIX.match(later.text) or _FIX.fullmatch(later.heading)):
        return text
    whole = f"{text.rstrip(' .;')}. Fix: {_FIX.sub('', later.text)}"
    return whole if stands(whole) and not _SPEAKS.search(whole) else text
