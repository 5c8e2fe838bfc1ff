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
from core.library.records import Link, folded, new_id
from core.library.rows import BY_HAND, beginning, link_row, links_of
from core.library.use.changes import apply, of_link
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
        said, ends = f"{source.name} {relation} {target.name}", (source.kind, source.id, target.kind, target.id)
        row = link_row(Link(new_id(), *ends, relation, now, created_by=BY_HAND, note=storable(note)))
        made_so = (row["source_id"], row["target_id"], relation)
        if any((one.source_id, one.target_id, one.relation) == made_so for one in links_of(connection, source.id)):
            raise KnowledgeError("unchanged", f"it is linked so already: {said}")
        run_id, _ = apply(connection, "link", [of_link(row, said)], {}, now)
    return Linked(run_id, source.name, relation, target.name)


def _chosen(connection: Connection, which: str) -> Node:
    """The entity that somebody means."""
    e, a = schema.entity.c, schema.concept_alias.c
    wanted = which.strip()
    keys = list(connection.execute(select(a.concept_id).where(a.folded == folded(wanted))).scalars())
    keys = keys or list(beginning(connection, e.id, wanted))
    if len(keys) != 1:
        what = "several things begin with" if keys else "there is nothing called"
        raise KnowledgeError("no-match", f"{what} {which!r} in the library", hint="give more of its id")
    (key,) = keys
    k, c, d = schema.concept.c, schema.chunk.c, schema.document.c
    chunk = connection.execute(select(c.heading, c.summary, c.content).where(c.id == key)).first()
    if chunk is not None:
        return Node(key, "chunk", " ".join((chunk.heading or chunk.summary or chunk.content).split())[:80])
    title = connection.execute(select(d.title).where(d.id == key)).scalar()
    if title is not None:
        return Node(key, "document", title)
    return Node(key, "concept", connection.execute(select(k.name).where(k.id == key)).scalar_one())
