"""Links that a user makes by hand between concepts, chunks and documents."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, select

from core.base.choices import RELATIONS
from core.base.result import KnowledgeError
from core.library import schema
from core.library.database import Library
from core.library.records import SYMMETRIC, Link, folded, new_id
from core.library.rows import beginning, links_of, row_of
from core.library.use.changes import Change, apply, plain
from core.search.words import storable


class Node(NamedTuple):
    """One entity: a document, a chunk or a concept."""

    id: str
    kind: str
    name: str


@dataclass(frozen=True)
class Linked:
    """A link that somebody made by hand: its two ends as the library names them; `run_id` takes it back."""

    run_id: str
    source: str
    relation: str
    target: str


def link(library: Library, one: str, relation: str, other: str, note: str, now: datetime) -> Linked:
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
    return Linked(done.run_id, source.name, relation, target.name)


def _chosen(connection: Connection, which: str) -> Node:
    """The entity that somebody means."""
    e, a = schema.entity.c, schema.concept_alias.c
    wanted = which.strip()
    keys = list(connection.execute(select(a.concept_id).where(a.folded == folded(wanted))).scalars())
    keys = keys or list(beginning(connection, e.id, wanted))
    if len(keys) != 1:
        what = "several things begin with" if keys else "there is nothing called"
        raise KnowledgeError("no-match", f"{what} {which!r} in the library", hint="give more of its id")
    return Node(keys[0], *_names(connection, keys[0]))


def _names(connection: Connection, key: str) -> tuple[str, str]:
    """The kind of an entity, and what it is called."""
    k, c, d = schema.concept.c, schema.chunk.c, schema.document.c
    chunk = connection.execute(select(c.heading, c.summary, c.content).where(c.id == key)).first()
    if chunk is not None:
        return "chunk", " ".join((chunk.heading or chunk.summary or chunk.content).split())[:80]
    title = connection.execute(select(d.title).where(d.id == key)).scalar()
    if title is not None:
        return "document", str(title)
    return "concept", str(connection.execute(select(k.name).where(k.id == key)).scalar_one())
