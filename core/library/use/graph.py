"""Links that a user makes by hand between concepts, chunks and documents."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, func, select

from core.base.choices import RELATIONS
from core.base.result import KnowledgeError
from core.library import schema
from core.library.database import Library
from core.library.records import SYMMETRIC, Link, folded, new_id
from core.library.rows import in_parts, links_of, row_of
from core.library.use.changes import Change, apply, plain
from core.search.words import storable


@dataclass(frozen=True)
class Node:
    """One entity. `weight` says how much there is of it: chunks that mention a concept, chunks of a document, uses of
    a chunk."""

    id: str
    kind: str
    name: str
    weight: int
    profile: str = ""


@dataclass(frozen=True)
class Made:
    """A link that somebody made: its ends, and the run that takes it back."""

    run_id: str
    source: Node
    target: Node


def link(library: Library, one: str, relation: str, other: str, note: str, now: datetime) -> Made:
    """Write down how two entities stand to each other, each named by its id, the beginning of it, or the name of a
    concept. Of a symmetric relation one direction is stored, and both ends tell it."""
    if relation not in RELATIONS:
        raise KnowledgeError("bad-relation", f"{relation!r} is no relation", hint=f"one of {', '.join(RELATIONS)}")
    with library.writing() as connection:
        source, target = _chosen(connection, one), _chosen(connection, other)
        if source.id == target.id:
            raise KnowledgeError("usage", "a link needs two different ends")
        ends = sorted((source, target), key=lambda end: end.id) if relation in SYMMETRIC else [source, target]
        kinds = [(ends[0].kind, ends[0].id), (ends[1].kind, ends[1].id)]
        record = Link(new_id(), *kinds[0], *kinds[1], relation, now, created_by="manual", note=storable(note))
        if any((row.source_id, row.target_id) == (ends[0].id, ends[1].id)
               for row in links_of(connection, source.id, relation=relation)):  # fmt: skip
            raise KnowledgeError("unchanged", f"it is linked so already: {source.name} {relation} {target.name}")
        after = plain({name: value for name, value in row_of(record).items() if name != "id"})
        change = Change("link", {"id": record.id}, None, after, f"{source.name} {relation} {target.name}")
        done = apply(connection, "link", [change], {}, now, now)
    return Made(done.run_id, source, target)


def _chosen(connection: Connection, which: str) -> Node:
    """The entity that somebody means."""
    e, a = schema.entity.c, schema.concept_alias.c
    wanted = which.strip()
    keys = list(connection.execute(select(a.concept_id).where(a.folded == folded(wanted))).scalars())
    if not keys and len(wanted) >= 4:
        begins = e.id.startswith(wanted.lower(), autoescape=True)
        keys = list(connection.execute(select(e.id).where(begins).limit(2)).scalars())
    if len(keys) != 1:
        what = "several things begin with" if keys else "there is nothing called"
        raise KnowledgeError("no-match", f"{what} {which!r} in the library", hint="give more of its id")
    return _nodes(connection, keys)[keys[0]]


def _nodes(connection: Connection, ids: list[str]) -> dict[str, Node]:
    k, m, c, d, j = schema.concept.c, schema.mention.c, schema.chunk.c, schema.document.c, schema.trace_chunk.c
    found: dict[str, Node] = {}
    for part in in_parts(ids):
        asked = (
            select(k.id, k.name, k.functional_profile, func.count(m.chunk_id).label("number"))
            .outerjoin(schema.mention, m.concept_id == k.id)
            .where(k.id.in_(part))
            .group_by(k.id, k.name, k.functional_profile)
        )
        for row in connection.execute(asked):
            found[row.id] = Node(row.id, "concept", row.name, row.number, row.functional_profile or "")
        uses = select(j.chunk_id, func.count().label("number")).where(j.chunk_id.in_(part)).group_by(j.chunk_id)
        used = {row.chunk_id: row.number for row in connection.execute(uses)}
        chunks = select(c.id, c.heading, c.summary, c.content, c.functional_profile).where(c.id.in_(part))
        for row in connection.execute(chunks):
            name = " ".join((row.heading or row.summary or row.content).split())[:80]
            found[row.id] = Node(row.id, "chunk", name, used.get(row.id, 0), row.functional_profile or "")
        documents = (
            select(d.id, d.title, func.count(c.id).label("number"))
            .outerjoin(schema.chunk, c.document_id == d.id)
            .where(d.id.in_(part))
            .group_by(d.id, d.title)
        )
        for row in connection.execute(documents):
            found[row.id] = Node(row.id, "document", row.title, row.number)
    return found
