"""What speaks for a chunk beside its words: concepts, earlier use, the graph, its age. Each strategy scores chunks, and
brings some that no word of the question would have found.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime

from sqlalchemy import Connection, func, select

from core.library import schema
from core.library.records import Link, folded
from core.library.rows import among, links_of

WORDS_OF_A_CONCEPT, CONCEPTS, MENTIONS = 5, 24, 400
"""How many words a concept's name may have in a question, how many concepts and mentions are looked at."""
ROLE = 0.6
"""What the outcomes of a chunk at this kind of task count beside earlier uses like this one. Of three talks of LoCoMo
left out, 135 records on half of 90 needs: reciprocal rank of those asked again 0.58 to 0.89, of the other half 0.49 to
0.52."""
FADES, REACHED = 0.5, 60
FOLLOWED = {
    "same_as": 1.0, "complements": 1.0, "elaborates": 0.8, "supersedes": 0.8, "supports": 0.7, "applies": 0.7,
    "derived_from": 0.6, "better_for": 0.6, "related_to": 0.5, "contradicts": 0.4,
}  # fmt: skip
"""How far a relation leads; one that is not listed leads as far as `related_to`."""
READ = "auto"
"""Who made a link that came with a text. Retrieval does not follow it: of 120 questions about 437 passages no answer
was another with it than without. The others were made by a user or by use, which know what belongs together."""
HALF_LIFE_DAYS = 180.0
ASKS_FOR_NEW = re.compile(
    r"\b(latest|newest|recent(ly)?|current(ly)?|now(adays)?|today|this (week|month|year)|up to date)\b", re.IGNORECASE
)

_m, _c, _a = schema.mention.c, schema.chunk.c, schema.concept_alias.c


# --- concepts ---------------------------------------------------------------------------------------------------------


def concepts_in(connection: Connection, query: str) -> list[str]:
    """Concepts that a question names, by their ids, those with the longest names first."""
    words = [word.strip(".,;:!?()[]{}\"'`") for word in folded(query).split()]
    words = [word for word in words if word][:64]
    parts = {
        " ".join(words[at : at + size])
        for size in range(1, WORDS_OF_A_CONCEPT + 1)
        for at in range(len(words) - size + 1)
    }
    found: dict[str, str] = {}
    asked = select(_a.concept_id, _a.folded).order_by(_a.folded)
    for row in among(connection, asked, _a.folded, sorted(parts)):
        if len(row.folded) > len(found.get(row.concept_id, "")):
            found[row.concept_id] = row.folded
    return sorted(found, key=lambda key: (-len(found[key]), key))[:CONCEPTS]


def by_concept(connection: Connection, concepts: Sequence[str], chunks: int) -> dict[str, float]:
    """Chunks that mention what the question names: the share of it, rare concepts counting more."""
    counted = select(_m.concept_id, func.count()).where(_m.concept_id.in_(concepts)).group_by(_m.concept_id)
    worth = {row[0]: math.log(1 + chunks / (1 + row[1])) for row in connection.execute(counted)}
    whole = sum(worth.values())
    if not whole:
        return {}
    asked = select(_m.chunk_id, _m.concept_id, _m.count.label("often"))
    asked = asked.where(_m.concept_id.in_(list(worth))).order_by(_m.count.desc(), _m.chunk_id).limit(MENTIONS)
    scores: dict[str, float] = {}
    for row in connection.execute(asked):
        scores[row.chunk_id] = scores.get(row.chunk_id, 0.0) + worth[row.concept_id] * (1 - 0.5**row.often) / whole
    return scores


# --- graph ------------------------------------------------------------------------------------------------------------


def by_graph(connection: Connection, seeds: Mapping[str, float], task_type: str) -> dict[str, float]:
    """Walk from seeds (id of a chunk, document or concept -> strength): what is reached, and how strongly, by a link
    that a user or use made. One of `better_for` leads from the worse to the better, and only for its own kind of
    task."""
    reached: dict[str, float] = {}
    for link in links_of(connection, *seeds):
        for here, there in ((link.source_id, link.target_id), (link.target_id, link.source_id)):
            if link.created_by != READ and here in seeds and there not in seeds and _leads(link, here, task_type):
                strength = seeds[here] * link.weight * FOLLOWED.get(link.relation, 0.5) * FADES
                reached[there] = max(reached.get(there, 0.0), strength)
    return reached


def _leads(link: Link, here: str, task_type: str) -> bool:
    if link.relation == "better_for":
        return link.target_id == here and link.task_type in ("", task_type)
    return not (link.relation == "supersedes" and link.source_id == here)  # never from the newer to the older


def chunks_reached(connection: Connection, walk: Mapping[str, float]) -> dict[str, float]:
    """Chunks by id: those reached, the first of documents and those that mention concepts most."""
    reached = dict(sorted(walk.items(), key=lambda row: (-row[1], row[0]))[:REACHED])
    ids, mentions = list(reached), select(_m.chunk_id, _m.concept_id).order_by(_m.count.desc(), _m.chunk_id)
    ways = (
        select(_c.id, _c.id.label("by")).where(_c.id.in_(ids)),
        select(_c.id, _c.document_id).where(_c.document_id.in_(ids), _c.position < 2),
        mentions.where(_m.concept_id.in_(ids)).limit(2 * REACHED),
    )
    found: dict[str, float] = {}
    for chunk, by in (row for asked in ways for row in connection.execute(asked)):
        found[chunk] = max(found.get(chunk, 0.0), reached[by])
    return found


# --- time -------------------------------------------------------------------------------------------------------------


def by_time(day: str, now: datetime) -> float:
    """How new something is that was written on a day, from 0 to 1: half of it after half a year; 0 for no day."""
    if not day:
        return 0.0
    return float(0.5 ** (max(0, (now.date() - date.fromisoformat(day)).days) / HALF_LIFE_DAYS))
