"""What the last words of a session leave open: items below such a heading, and sentences that say so."""

from __future__ import annotations

from collections.abc import Iterator

from core.rules import words
from core.rules.sentence import Found, found, lost, named
from core.rules.session import Session
from core.rules.units import LEANS, Unit, cut
from core.rules.worth import PAST, numberless, stands

MAX_LEFT, LEAST_WORDS = 3, 4
LATE, SHORT = 0.5, 5
"""From this share of the last message on its end begins; all of a message of so few units is one."""


def find_left(session: Session) -> Iterator[Found]:
    """What the last closing message says is not done, open or to be watched, nothing of it doubted by the user."""
    closing = session.closings[-1] if session.closings else None
    if closing is None or not closing.at_end:
        return
    units = list(cut(closing.turn.text, closing.number, "closing"))
    left = [unit for unit in units if _is_left(unit) and (unit.share >= LATE or len(units) < SHORT)]
    for unit in left[-MAX_LEFT:]:
        yield found("tasks_open", numberless(unit.text), closing.number, quote=unit.quote, score=58)


def _is_left(unit: Unit) -> bool:
    """Whether a unit says by its words or its heading that something is left."""
    text = unit.text
    if not stands(text) or len(text.split()) < LEAST_WORDS or lost(text) or LEANS.match(text) or not named(text):
        return False
    if PAST.match(text):
        return False
    listed = unit.kind != "prose" and words.LEFT_HEADING.match(unit.heading) is not None
    return listed or words.LEFT.search(text) is not None
