"""The graph of the library as one walks it: a concept, chunk or document, and what it is joined with, by hand too."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, func, select

from core.base.choices import RELATIONS
from core.base.result import KnowledgeError
from core.library import schema
from core.library.database import Library
from core.library.records import SYMMETRIC, Link, folded, new_id
from core.library.rows import in_parts, links_of, row_of
from core.library.use.changes import Change, apply, plain
from core.search.words import storable

MAX_NODES = 40


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
class Edge:
    """How two nodes are joined: by a link, `mentions` or `part_of`; `beside`: chunks mention them together."""

    source: str
    target: str
    relation: str
    weight: float


@dataclass(frozen=True)
class Neighbourhood:
    """A node and those that one step leads to, the strongest first; `more` are not shown."""

    centre: Node
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    more: int

    def to_json(self) -> dict[str, Any]:
        """Stable keys for `--json`."""
        return asdict(self)


def concepts(library: Library, text: str = "", limit: int = MAX_NODES) -> list[Node]:
    """Concepts whose name has this text in it, those that most chunks mention first."""
    k, m = schema.concept.c, schema.mention.c
    number = func.count(m.chunk_id).label("number")
    asked = select(k.id, number).outerjoin(schema.mention, m.concept_id == k.id).group_by(k.id)
    if text.strip():
        asked = asked.where(k.folded.contains(folded(text), autoescape=True))
    with library.reading() as connection:
        ids = [row.id for row in connection.execute(asked.order_by(number.desc(), k.id).limit(limit))]
        nodes = _nodes(connection, ids)
    return [nodes[one] for one in ids]


def neighbourhood(library: Library, which: str) -> Neighbourhood:
    """What stands around an entity, named by its id or, for a concept, by its name."""
    with library.reading() as connection:
        centre = _chosen(connection, which)
        edges = _edges(connection, centre)
        around: dict[str, float] = {}
        for edge in edges:
            other = edge.target if edge.source == centre.id else edge.source
            around[other] = max(around.get(other, 0.0), edge.weight)
        best = sorted(around, key=lambda one: (-around[one], one))[:MAX_NODES]
        nodes = _nodes(connection, best)
    shown = {centre.id, *best}
    kept = [edge for edge in edges if {edge.source, edge.target} <= shown]
    found = tuple(nodes[one] for one in best if one in nodes)
    return Neighbourhood(centre, found, tuple(kept), len(around) - len(best))


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


def _edges(connection: Connection, centre: Node) -> list[Edge]:
    m, c = schema.mention.c, schema.chunk.c
    edges = [Edge(one.source_id, one.target_id, one.relation, one.weight) for one in links_of(connection, centre.id)]
    if centre.kind == "concept":
        asked = select(m.chunk_id, m.count.label("often")).where(m.concept_id == centre.id)
        rows = connection.execute(asked.order_by(m.count.desc(), m.chunk_id).limit(MAX_NODES // 2)).all()
        edges += [Edge(row.chunk_id, centre.id, "mentions", 1 - 0.5**row.often) for row in rows]
        mine = schema.mention.alias("mine")
        number = func.count().label("number")
        beside = (
            select(m.concept_id, number)
            .join(mine, (mine.c.chunk_id == m.chunk_id) & (mine.c.concept_id == centre.id))
            .where(m.concept_id != centre.id)
            .group_by(m.concept_id)
            .order_by(number.desc(), m.concept_id)
            .limit(MAX_NODES)
        )
        whole = max(centre.weight, 1)
        edges += [Edge(centre.id, row.concept_id, "beside", row.number / whole) for row in connection.execute(beside)]
    elif centre.kind == "chunk":
        mentioned = connection.execute(select(m.concept_id, m.count.label("often")).where(m.chunk_id == centre.id))
        edges += [Edge(centre.id, row.concept_id, "mentions", 1 - 0.5**row.often) for row in mentioned]
        document = connection.execute(select(c.document_id).where(c.id == centre.id)).scalar_one()
        edges.append(Edge(centre.id, document, "part_of", 1.0))
    else:
        asked = select(c.id).where(c.document_id == centre.id).order_by(c.position).limit(MAX_NODES)
        edges += [Edge(one, centre.id, "part_of", 1 / (2 + at)) for at, one in
                  enumerate(connection.execute(asked).scalars())]  # fmt: skip
    return edges


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
