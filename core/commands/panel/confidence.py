"""How sure the store has been of a fact, conversation by conversation, and which of them said it.

Nothing is kept for this: the record of `core/factindex/record.py` tells it, read up to a moment at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

from core.base.checked_lines import Record
from core.base.result import KnowledgeError
from core.commands.workspace import Workspace
from core.factindex.record import NEW, SAME, decayed, history_of, read_history, unconfirmed
from core.factindex.sync import record_path

MOMENTS = 60
"""This many moments at the most; between two of them nothing is told."""


@dataclass(frozen=True)
class Moment:
    """How sure it was once `conversations` had been harvested; `heard` tells that one said it then, `day` (ISO, "" for
    none) is that of the conversation."""

    conversations: int
    confidence: float
    heard: bool
    day: str = ""


@dataclass(frozen=True)
class Heard:
    """One conversation that said it: its key in the ledger, its file's name, its day."""

    sha256: str
    name: str
    day: str


@dataclass(frozen=True)
class Course:
    """The oldest moment first, and the conversations in the order of their harvests."""

    moments: tuple[Moment, ...] = ()
    heard: tuple[Heard, ...] = ()


NO_COURSE = Course()


def course_of(records: Sequence[Record], fact_id: str) -> Course:
    """What the records say of a fact. Harvests that were taken back have never been."""
    now = history_of(records)
    ids = {fact_id, *(old for old, new in now.merged.items() if new == fact_id)}
    said = {
        key: fed for key, fed in now.fed.items() if any(row[1] in ids and row[2] in (NEW, SAME) for row in fed.rows)
    }
    heard = [row.get("t") == "fed" and (str(row.get("sha")), str(row.get("run"))) in said for row in records]
    marked, others = [], []
    for at, row in enumerate(records, 1):
        changed = row.get("t") == "known" and fact_id in (row.get("facts") or {})
        if heard[at - 1] or changed or at == len(records):
            marked.append(at)
        elif row.get("t") == "fed":
            others.append(at)
    step = max(1, len(others) // max(1, MOMENTS - min(len(marked), MOMENTS)))
    moments: list[Moment] = []
    for at in sorted({*marked[-MOMENTS:], *others[::step]}):
        then, row, confirmed = history_of(records[:at]), records[at - 1], heard[at - 1]
        known = then.known.get(fact_id)
        if known is None:
            continue
        sure = decayed(float(known[0]), unconfirmed(fact_id, then))
        last = (moments[-1].conversations, moments[-1].confidence) if moments else None
        if confirmed or (then.total, sure) != last:
            moments.append(Moment(then.total, sure, confirmed, str(row.get("day", "")) if confirmed else ""))
    conversations = (Heard(fed.sha, PurePath(fed.path).name or fed.sha[:10], fed.day) for fed in said.values())
    return Course(tuple(moments), tuple(conversations))


def confidence_over_time(workspace: Workspace, fact_id: str) -> Course:
    """The same for a fact of this store. Raises KnowledgeError when the record cannot be read."""
    path = record_path(workspace.paths.state)
    try:
        records, _ = read_history(path)
    except OSError as error:
        raise KnowledgeError(
            "unreadable", f"the record of facts cannot be read: {error.strerror or error}", path
        ) from error
    return course_of(records, fact_id)
