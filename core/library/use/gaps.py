"""What is missing, left alone or in conflict: questions without an answer of use, claims that deny each other, chunks
that nobody has used, or not for long. Read by `consolidate` and `reflect`; nothing is changed here.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, func, select

from core.library import schema
from core.library.use.strategies import concepts_in

STALE_DAYS = 90
LISTED = 200
"""This many lonely and stale chunks are named; all are counted."""
UNANSWERED = 500
"""This many of the latest questions are looked at for gaps."""
_c, _d, _j, _t = schema.chunk.c, schema.document.c, schema.trace_chunk.c, schema.usage_trace.c


@dataclass(frozen=True)
class Quiet:
    """A chunk that nobody has used, or not for long."""

    chunk_id: str
    document_id: str
    document: str
    text: str
    since: datetime

    def to_json(self) -> dict[str, Any]:
        """Stable keys for `--json`."""
        return {
            "chunk": self.chunk_id,
            "document": self.document_id,
            "title": self.document,
            "text": self.text,
            "since": self.since.isoformat(timespec="seconds"),
        }


def asked_about(connection: Connection) -> dict[str, list[str]]:
    """Concept (by id) -> the questions without an answer of use that name it, each once."""
    found: dict[str, dict[str, None]] = {}
    for query, _task, _at in unanswered(connection):
        for concept in concepts_in(connection, query):
            found.setdefault(concept, {})[query] = None
    return {concept: list(queries) for concept, queries in found.items()}


def unanswered(connection: Connection) -> list[tuple[str, str, datetime]]:
    """The latest questions that found nothing, or nothing of use, newest first: question, task, when. One that was
    answered later is left out."""
    r, f, t = schema.retrieval.c, schema.retrieval_chunk.c, schema.usage_trace.c
    good: set[str] = set()
    bad: dict[str, tuple[str, datetime]] = {}
    asked = select(t.query, t.task_type, t.outcome, t.timestamp).where(t.query != "").order_by(t.timestamp.desc(), t.id)
    for row in connection.execute(asked.limit(20 * UNANSWERED)):
        if row.outcome in ("win", "partial"):
            good.add(row.query)
        else:
            bad.setdefault(row.query, (row.task_type, row.timestamp))
    empty = (
        select(r.query, r.task_type, r.timestamp)
        .outerjoin(schema.retrieval_chunk, f.retrieval_id == r.id)
        .where(f.chunk_id.is_(None), r.query != "")
        .order_by(r.timestamp.desc(), r.id)
        .limit(UNANSWERED)
    )
    for query, task, at in connection.execute(empty):
        bad.setdefault(query, (task, at))
    found = [(query, task, at) for query, (task, at) in bad.items() if query not in good]
    return sorted(found, key=lambda row: (-row[2].timestamp(), row[0]))[:UNANSWERED]


_USED = (  # chunk -> when it was last used
    select(_j.chunk_id, func.max(_t.timestamp).label("used_at"))
    .join(schema.usage_trace, _t.id == _j.trace_id)
    .group_by(_j.chunk_id)
    .subquery()
)


def lonely_chunks(connection: Connection, most: int = LISTED) -> tuple[list[Quiet], int]:
    """Chunks of active documents that were never retrieved and never used: the oldest, and how many there are."""
    never = (_c.last_retrieved.is_(None), _USED.c.used_at.is_(None))
    return _quiet(connection, never, _d.ingested_at, most)


def stale_chunks(connection: Connection, now: datetime, most: int = LISTED) -> tuple[list[Quiet], int]:
    """Chunks of active documents that nobody retrieved or used for 90 days: the oldest, and how many there are. One
    that was never touched counts from the day on which it was taken in."""
    touched = (_c.last_retrieved, _USED.c.used_at)
    limit = now - timedelta(days=STALE_DAYS)
    old = (_d.ingested_at < limit, *(func.coalesce(one, _d.ingested_at) < limit for one in touched))
    return _quiet(connection, old, func.coalesce(*touched, _d.ingested_at), most)


def _quiet(connection: Connection, conditions: Any, since: Any, most: int) -> tuple[list[Quiet], int]:
    joined = schema.chunk.join(schema.document, _d.id == _c.document_id).outerjoin(_USED, _USED.c.chunk_id == _c.id)
    where = (_d.status == "active", *conditions)
    number = connection.execute(select(func.count()).select_from(joined).where(*where)).scalar_one()
    asked = select(_c.id, _d.id.label("document"), _d.title, _c.summary, _c.content, since.label("since"))
    rows = connection.execute(asked.select_from(joined).where(*where).order_by(since, _c.number).limit(most))
    found = []
    for row in rows:
        at = row.since if isinstance(row.since, datetime) else datetime.fromisoformat(row.since)
        found.append(Quiet(row.id, row.document, row.title, gist(row), at))
    return found, int(number)


def gist(row: Any) -> str:
    """What a chunk says, on one line: its summary, or how it begins."""
    return " ".join((row.summary or row.content).split())[:160]
