"""Harvested bullets in the library: which of them usage has confirmed.

The category files can be ingested like any document. A use that went well confirms the bullets of the chunks that it
had: the one bullet of a chunk, or of several those that share words with the question or with what was noted. One that
misled takes its confirmation back.
"""

from __future__ import annotations

from sqlalchemy import select

from core.base.markdown import parse_bullets
from core.library import schema
from core.library.database import Library
from core.library.records import UsageTrace
from core.library.rows import traces
from core.search.words import STOP_WORDS, words_of

SHARED = 2
"""So many telling words of a bullet in a question or a note say that it was about this one."""
_SAYS = {"win": 1, "partial": 1, "miss": 0, "misleading": -1}


def confirmed_lines(library: Library, folder: str) -> dict[str, int]:
    """Text of a bullet -> how many uses confirmed it, of documents whose files lie in `folder`."""
    c, d, place = schema.chunk.c, schema.document.c, schema.location.c
    below = place.source.startswith(f"{folder.rstrip('/')}/", autoescape=True)
    with library.reading() as connection:
        asked = (
            select(c.id, c.content)
            .join(schema.document, d.id == c.document_id)
            .where(d.status == "active", d.id.in_(select(place.document_id).where(below)))
        )
        bullets = {row.id: bullets_of(row.content) for row in connection.execute(asked)}
        known = traces(connection) if bullets else []
    counts: dict[str, int] = {}
    for trace in known:
        for chunk in trace.chunk_ids:
            for text in _meant(bullets.get(chunk, []), trace):
                counts[text] = counts.get(text, 0) + _SAYS[trace.outcome]
    return {text: number for text, number in counts.items() if number > 0}


def bullets_of(content: str) -> list[str]:
    """The bullets of a chunk, without their dash, strike and provenance, as the category files read them."""
    return [bullet.text for bullet in parse_bullets(content) if not bullet.struck]


def _meant(bullets: list[str], trace: UsageTrace) -> list[str]:
    if len(bullets) <= 1:
        return bullets
    said = {word for word in words_of(f"{trace.query} {trace.notes}") if word not in STOP_WORDS}
    return [text for text in bullets if len(said.intersection(words_of(text))) >= SHARED]
