"""What time does to a fact: confidence that fades while nobody says it again, and the day after which it is stale.

Both are computed from what is recorded (the order of harvested conversations, the newest day there has been), and are
written into the index only: the number in the YAML file stays the person's, and computing twice changes nothing.
"""

from __future__ import annotations

from core.factindex.facts import Fact
from core.factindex.record import History

SESSIONS = 30
FACTOR = 0.9
DIGITS = 4


def decayed(confidence: float, sessions: int) -> float:
    """The confidence after `sessions` further conversations without a confirmation: × 0.9 at each crossing of 30."""
    crossings = max(0, sessions) // SESSIONS
    return round(confidence * FACTOR**crossings, DIGITS) if crossings else confidence


def unconfirmed(fact_id: str, history: History) -> int:
    """How many conversations were harvested since the fact was last confirmed, or written or changed by a person."""
    return history.total - history.anchors.get(fact_id, history.total)


def aged(fact: Fact, history: History, today: str) -> Fact:
    """The fact as it stands in the index. `today` is YYYY-MM-DD; an earlier day than one that was recorded does not
    count, so that a clock that is set back brings no fact back to life."""
    left = decayed(fact.confidence, unconfirmed(fact.id, history))
    stale = bool(fact.expires) and max(today, history.day) > fact.expires
    return fact if left == fact.confidence and not stale else fact._replace(confidence=left, stale=stale)
