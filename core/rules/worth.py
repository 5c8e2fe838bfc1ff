"""Which units of a session are worth a line: those that give a reason or a condition, in the words with which the
session ended or in a commit's message.

Where a unit stands tells more than its words. What an earlier message says, the session often overtakes, and what was
done is a log; the last message and the commits speak of what holds then, and a reason in them is what nobody sees in
the code (`tests/quality/SOURCES.md` has the figures).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from core.rules import words
from core.rules.sentence import STRONG, Found, alike, cue_of, found, lost, stems, whole_quotes
from core.rules.session import Session
from core.rules.units import LEANS, LONGEST, Unit, units_of

MAX_LINES = 2
"""Lines of one session at most."""
SAME_STEMS, LEAST_STEMS = 0.5, 4


def find_worth(session: Session) -> Iterator[Found]:
    """The units of a session that are worth a line, those that give a reason first."""
    for unit, line in sorted(best(candidates(session)), key=lambda row: (row[0].turn, row[0].at)):
        category = "decisions" if _CHOICE.search(line) else "facts"
        yield found(category, line, unit.turn, quote=unit.quote, score=50 + gives_reason(line))


def candidates(session: Session) -> Iterator[tuple[Unit, str]]:
    """The units of a session that can be a line, each with its line: of commits, and of the last closing message."""
    last = session.closings[-1].number if session.closings else -1
    units = [unit for unit in units_of(session) if unit.place != "user" and unit.kind != "check"]
    for at, unit in enumerate(units):
        line = line_of(units, at) if unit.place == "commit" or unit.turn == last else ""
        if line and says_why(line):
            yield unit, line


def best(rows: Iterable[tuple[Unit, str]]) -> list[tuple[Unit, str]]:
    """The best lines of a session, none that says what a better one says; of two as good the later one."""
    chosen: list[tuple[Unit, str]] = []
    for row in sorted(rows, key=lambda row: (-gives_reason(row[1]), -row[0].turn, -row[0].at)):
        if len(chosen) == MAX_LINES:
            break
        if not any(says_same(row[1], line) for _, line in chosen):
            chosen.append(row)
    return chosen


def says_same(one: str, other: str) -> bool:
    """Whether two lines of a session say mostly the same."""
    first, second = stems(one), stems(other)
    shared = len(first & second)
    return alike(one, other) or (shared >= LEAST_STEMS and shared >= SAME_STEMS * min(len(first), len(second)))


_CHOICE = re.compile(r"\b(?:instead of|rather than|chose|chosen|decided|on purpose|deliberate(?:ly)?)\b", re.IGNORECASE)


# --- what a line looks like ---

PAST = re.compile(
    r"(?:`[^`]+`(?:,? (?:and )?`[^`]+`)*\s*[:—–-]+\s*)?(?:(?:also|now) )?(?:added|removed|renamed|replaced|changed|"
    r"updated|moved|fixed|excluded|downgraded|upgraded|wrapped|reduced|increased|introduced|reordered|consolidated|"
    r"converted|switched|set|made|stopped|kept|left|restored|extracted|inlined|disabled|enabled|pinned|bumped|dropped|"
    r"split|merged|wired|gated|scoped|guarded|hardened|rewrote|reworked|adjusted|edited)\b",
    re.IGNORECASE,
)
"""How a line begins that tells what was done."""
_CONDITION = re.compile(r"\b(?:when|if|unless|until|while|even though)\b", re.IGNORECASE)
_DONE = re.compile(
    r"^[A-Z][a-z]+(?:ed|ing)\b|^[A-Z][a-z]+s (?:the|an?|to|from|on|all|every|each|new|its|full)\b|\b(?:is|are) now\b|"
    r"^(?:[Yy]es|[Nn]o|[Oo]k(?:ay)?|[Ss]ure)\b[:,.]|\btypos?\b|\b[Tt]he user (?:is asking|wants|asked|said|mentioned)\b"
)
"""What tells what was done: a line without a subject, a slip that is mended; an answer to
somebody; or what a model thinks aloud."""
_GUESS = re.compile(
    r"\b(?:likely|probably|might|may|could|would|should|seems?|suggests?|appears?|possibl[ey]|perhaps|maybe)\b",
    re.IGNORECASE,
)


def says_why(line: str) -> bool:
    """Whether a line tells a reason or a condition, and neither guesses nor only tells what was done."""
    told = gives_reason(line) or _CONDITION.search(line) is not None
    return told and not (PAST.match(line) or _DONE.search(line) or _GUESS.search(line))


def gives_reason(line: str) -> bool:
    """Whether a line tells why, and not only when."""
    return cue_of(line) == STRONG


# --- what can be a line ---

_SPEAKS = re.compile(r"\b(?:I|[Mm]e|[Mm]y|[Ww]e|[Oo]ur|us|[Yy]ou|[Yy]our|[Ll]et['’]s)\b(?!/)")
"""Words of a talk, not of a statement."""
_NUMBER = re.compile(r"^(?:\(\w{1,3}\)\s*|\d{1,2}[.)]\s+|[✅❌⚠️💡❓🔴🟡🟢•👉]+\s*)+")


def stands(text: str) -> bool:
    """Whether a text can be a line at all: whole, and no question, lead-in, offer or template."""
    if text.endswith(("?", "？", ":", "：", "…")) or not whole_quotes(text) or len(text) > LONGEST:
        return False
    return not (words.OFFER.search(text) or words.TEMPLATE.search(words.CODE.sub("", text)))


def numberless(text: str) -> str:
    """A text without its number or sign in a list, and without the numbers of lines, which do not last."""
    return words.LINE_NUMBERS.sub("", _NUMBER.sub("", text))


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
    wholes = (f"{lead} {text}" for lead in leads)
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
