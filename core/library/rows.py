"""Records into the tables and out of them. Every function works inside the transaction of the connection it is given.

An entity (document, chunk, concept) gets its row in `entity` with it; `forget` takes any of them out again, with all
that hangs on it: chunks, mentions, links, what was counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from datetime import UTC
from typing import Any, TypeVar

from sqlalchemy import Connection, Select, Table, delete, func, or_, select, text
from sqlalchemy.dialects import postgresql, sqlite

from core.experience.record import write
from core.library import records, schema
from core.library.records import Chunk, Concept, Document, Link, Retrieval, UsageTrace, folded, sha256_of

R = TypeVar("R")
AT_ONCE = 500
"""Ids in one statement: SQLite takes some thousands of parameters and no more."""


# --- any record -------------------------------------------------------------------------------------------------------


def row_of(record: Any) -> dict[str, Any]:
    """The columns of a record."""
    return {field.name: getattr(record, field.name) for field in fields(record)}


def record_of(kind: type[R], row: Mapping[str, Any]) -> R:
    """A record of the columns that it has fields for; an array is a tuple."""
    values = {field.name: row[field.name] for field in fields(kind)}  # type: ignore[arg-type]
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in values.items()})


def columns_of(table: Table, kind: type) -> list[Any]:
    """The columns that a record is made of, for `select`."""
    return [table.c[field.name] for field in fields(kind)]


def read(connection: Connection, table: Table, kind: type[R], *conditions: Any, order: Sequence[Any] = ()) -> list[R]:
    """The records of the rows that meet all conditions."""
    asked = select(*columns_of(table, kind)).where(*conditions).order_by(*order)
    return [record_of(kind, dict(row)) for row in connection.execute(asked).mappings()]


def by_ids(connection: Connection, table: Table, kind: type[R], ids: Iterable[str]) -> dict[str, R]:
    """Records by id; an id that is not there is left out."""
    found = (one for part in in_parts(ids) for one in read(connection, table, kind, table.c.id.in_(part)))
    return {one.id: one for one in found}  # type: ignore[attr-defined]


def change(connection: Connection, table: Table, key: str, **values: Any) -> None:
    """Give the row of an id these values."""
    connection.execute(table.update().where(table.c.id == key).values(**values))


def beginning(connection: Connection, column: Any, given: str) -> Sequence[str]:
    """Ids that are this one or begin so, two at the most; none for less than four letters."""
    name = given.strip().lower()
    begins = column == name if len(name) == 36 else column.startswith(name, autoescape=True)
    return connection.execute(select(column).where(begins).limit(2)).scalars().all() if len(name) >= 4 else []


def in_parts(ids: Iterable[str]) -> Iterator[list[str]]:
    """Ids without repetition, in parts that fit into one statement."""
    listed = list(dict.fromkeys(ids))
    for start in range(0, len(listed), AT_ONCE):
        yield listed[start : start + AT_ONCE]


def among(connection: Connection, asked: Select[Any], column: Any, ids: Iterable[str]) -> Iterator[Any]:
    """The rows of a query whose column has one of these ids, however many there are."""
    for part in in_parts(ids):
        yield from connection.execute(asked.where(column.in_(part)))


def put_new(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> int:
    """Insert what is not there yet, by any key of the table; how many rows came."""
    if not rows:
        return 0
    statement = _insert(connection, table).on_conflict_do_nothing()
    return int(connection.execute(statement, rows, execution_options={"preserve_rowcount": True}).rowcount)


def put(connection: Connection, table: Table, record: Any) -> None:
    """Insert a record, or give the row with its primary key these values."""
    row, statement = row_of(record), _insert(connection, table)
    keys = [column.name for column in table.primary_key]
    given = {name: statement.excluded[name] for name in row if name not in keys}
    connection.execute(statement.on_conflict_do_update(index_elements=keys, set_=given), row)


def _insert(connection: Connection, table: Table) -> Any:
    return (postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert)(table)


def _entities(connection: Connection, kind: str, ids: Sequence[str]) -> None:
    connection.execute(schema.entity.insert(), [{"id": one, "kind": kind} for one in ids])


def forget(connection: Connection, ids: Iterable[str]) -> int:
    """Take documents, chunks and concepts out for good, with what hangs on them; how many there were. The chunks of a
    document go with it."""
    went = 0
    for part in in_parts(ids):
        inside = connection.execute(select(schema.chunk.c.id).where(schema.chunk.c.document_id.in_(part))).scalars()
        for more in in_parts(inside):
            forget_uses(connection, more)
            connection.execute(delete(schema.entity).where(schema.entity.c.id.in_(more)))
        forget_uses(connection, part)
        went += connection.execute(delete(schema.entity).where(schema.entity.c.id.in_(part))).rowcount
    return went


def forget_uses(connection: Connection, chunks: Sequence[str]) -> None:
    """Take chunks out of the traces that tell of them, and traces that tell of nothing else: no foreign key does it."""
    j, t = schema.trace_chunk, schema.usage_trace
    told: list[str] = []
    for part in in_parts(chunks):
        told += connection.execute(select(j.c.trace_id).where(j.c.chunk_id.in_(part))).scalars()
        connection.execute(delete(j).where(j.c.chunk_id.in_(part)))
    for part in in_parts(told):
        connection.execute(delete(t).where(t.c.id.in_(part), t.c.id.not_in(select(j.c.trace_id))))


# --- documents and chunks ---------------------------------------------------------------------------------------------


def add_document(connection: Connection, record: Document) -> None:
    """A document without its chunks. The hash of its content is made where the record has none."""
    _entities(connection, "document", [record.id])
    row = row_of(replace(record, content_sha256=record.content_sha256 or sha256_of(record.raw_content)))
    connection.execute(schema.document.insert().values(**row))


def add_chunks(connection: Connection, records: Sequence[Chunk]) -> None:
    """Chunks of documents that are there. The database numbers them."""
    if not records:
        return
    _entities(connection, "chunk", [record.id for record in records])
    rows = [row_of(replace(one, content_sha256=one.content_sha256 or sha256_of(one.content))) for one in records]
    unnumbered = [{name: value for name, value in row.items() if value or name != "number"} for row in rows]
    connection.execute(schema.chunk.insert(), unnumbered)


def document_of(connection: Connection, document_id: str) -> Document | None:
    """One document, None where there is none of that id."""
    return by_ids(connection, schema.document, Document, [document_id]).get(document_id)


def chunks_of(connection: Connection, document_id: str) -> list[Chunk]:
    """The chunks of a document in their order."""
    c = schema.chunk.c
    return read(connection, schema.chunk, Chunk, c.document_id == document_id, order=(c.position, c.number))


def locations_of(connection: Connection, document_id: str) -> list[records.Location]:
    """Where a document was found."""
    c = schema.location.c
    return read(connection, schema.location, records.Location, c.document_id == document_id, order=(c.source,))


# --- concepts and links -----------------------------------------------------------------------------------------------


def add_concept(connection: Connection, record: Concept) -> None:
    """A concept, and every spelling by which it is known; a spelling that another concept has stays with that one."""
    _entities(connection, "concept", [record.id])
    record = replace(record, folded=record.folded or folded(record.name))
    connection.execute(schema.concept.insert().values(**row_of(record)))
    spellings = dict.fromkeys(folded(name) for name in (record.name, *record.aliases))
    rows = [{"folded": name, "concept_id": record.id} for name in spellings if name]
    put_new(connection, schema.concept_alias, rows)


def add_mentions(connection: Connection, counts: Mapping[tuple[str, str], int]) -> None:
    """(chunk, concept) -> how often the concept stands in the chunk."""
    rows = [{"chunk_id": chunk, "concept_id": concept, "count": count} for (chunk, concept), count in counts.items()]
    if rows:
        connection.execute(schema.mention.insert(), rows)


def concepts_by_name(connection: Connection, names: Iterable[str]) -> dict[str, Concept]:
    """Folded spelling -> concept, of those spellings that are known."""
    alias = schema.concept_alias.c
    asked = select(alias.folded, alias.concept_id)
    found = among(connection, asked, alias.folded, (folded(name) for name in names))
    ids = {row.folded: row.concept_id for row in found}
    concepts = by_ids(connection, schema.concept, Concept, ids.values())
    return {name: concepts[one] for name, one in ids.items()}


def add_links(connection: Connection, records: Iterable[Link]) -> int:
    """Links, each unless there is one of the same relation between the same two; how many came."""
    return put_new(connection, schema.link, [link_row(record) for record in records])


def link_row(record: Link) -> dict[str, Any]:
    """The columns of a link. Of a symmetric relation one direction is stored."""
    row = row_of(record)
    if record.relation in records.SYMMETRIC and record.source_id > record.target_id:
        for what in ("type", "id"):
            row[f"source_{what}"], row[f"target_{what}"] = row[f"target_{what}"], row[f"source_{what}"]
    return row


def links_of(connection: Connection, *ids: str) -> list[Link]:
    """The links that begin or end at any of these entities."""
    c = schema.link.c
    found: dict[str, Link] = {}
    for part in in_parts(ids):
        ends = or_(c.source_id.in_(part), c.target_id.in_(part))
        found |= {one.id: one for one in read(connection, schema.link, Link, ends, order=(c.created_at, c.id))}
    return list(found.values())


# --- how things stand to each other, in words: for who reads one of them ----------------------------------------------

BY_HAND = "manual"
"""Who made a link that a user made."""
TOLD = ("contradicts", "better_for", "supersedes")
"""Relations that are told whoever found them; the others where a user made them."""
_BACK = {
    "supports": "supported by", "supersedes": "superseded by", "elaborates": "elaborated by", "applies": "applied by",
    "derived_from": "a source of",
}  # fmt: skip
_FORTH = {"supersedes": "newer than"}
"""A relation as the other end, and as this one, has it; where neither tells, by its name."""


def told_links(connection: Connection, ids: Iterable[str]) -> dict[str, list[str]]:
    """For documents, chunks and concepts, by their ids, the links that should be known to who trusts them, as
    sentences."""
    wanted = set(ids)
    links = [one for one in links_of(connection, *sorted(wanted)) if one.relation in TOLD or one.created_by == BY_HAND]
    texts = _texts(connection, links)
    sentences: dict[str, list[str]] = {}
    for link in links:
        for here, there in ((link.source_id, link.target_id), (link.target_id, link.source_id)):
            if here in wanted and there in texts:
                said = f"{_relation(link, here == link.source_id)} {texts[there]}"
                why = f" ({' '.join(link.note.split())})" if link.note and link.created_by == BY_HAND else ""
                sentences.setdefault(here, []).append(said + why)
    return sentences


def _relation(link: Link, forward: bool) -> str:
    if link.relation == "better_for":
        return f"{'better' if forward else 'worse'} for {link.task_type or 'some tasks'} than"
    return (_FORTH if forward else _BACK).get(link.relation, link.relation.replace("_", " "))


def _texts(connection: Connection, links: Iterable[Link]) -> Mapping[str, str]:
    """The ends of links, each by its kind and what it says: `chunk 3f2a91c0: "…"`."""
    c, d, k = schema.chunk.c, schema.document.c, schema.concept.c
    ends = sorted({end for link in links for end in (link.source_id, link.target_id)})
    texts: dict[str, str] = {}
    for key, summary, content in among(connection, select(c.id, c.summary, c.content), c.id, ends):
        texts[key] = f"chunk {key[:8]}: {_quoted((summary or content)[:160])}"
    for key, title in among(connection, select(d.id, d.title), d.id, ends):
        texts[key] = f"document {key[:8]}: {_quoted(title)}"
    for key, name in among(connection, select(k.id, k.name), k.id, ends):
        texts[key] = f"concept {_quoted(name)}"
    return texts


def _quoted(text: str) -> str:
    return f'"{" ".join(text.split())}"'


# --- usage ------------------------------------------------------------------------------------------------------------


def add_trace(connection: Connection, record: UsageTrace) -> None:
    """A trace with its chunks, all of which must be there. Raises KnowledgeError for an outcome or a kind of task that
    is none."""
    row = row_of(record) | {"timestamp": record.timestamp.astimezone(UTC).isoformat(timespec="microseconds")}
    chunk_ids = row.pop("chunk_ids")
    write(lambda statement, values: connection.execute(text(statement), values), row, chunk_ids)


def traces(connection: Connection, asked: Select[Any] | None = None) -> list[UsageTrace]:
    """Traces of chunks that are there, oldest first; of those whose ids `asked` selects, or all."""
    table, joined = schema.usage_trace, schema.trace_chunk
    names = [field.name for field in fields(UsageTrace) if field.name != "chunk_ids"]
    statement = select(*(table.c[name] for name in names)).order_by(table.c.timestamp, table.c.id)
    pairs = select(joined.c.trace_id, joined.c.chunk_id).order_by(joined.c.trace_id, joined.c.position)
    pairs = pairs.join(schema.chunk, schema.chunk.c.id == joined.c.chunk_id)
    if asked is not None:
        statement = statement.where(table.c.id.in_(asked))
        pairs = pairs.where(joined.c.trace_id.in_(asked))
    chunks: dict[str, list[str]] = {}
    for trace, chunk in connection.execute(pairs):
        chunks.setdefault(trace, []).append(chunk)
    return [
        UsageTrace(**row, chunk_ids=tuple(chunks[row["id"]]))
        for row in map(dict, connection.execute(statement).mappings())
        if row["id"] in chunks
    ]


def add_retrieval(
    connection: Connection, record: Retrieval, found: Sequence[tuple[str, float, Mapping[str, float]]]
) -> None:
    """A question with the chunks that answered it, best first: id, score, score of each strategy."""
    connection.execute(schema.retrieval.insert().values(**row_of(record)))
    rows = [
        {"retrieval_id": record.id, "chunk_id": chunk, "rank": rank, "score": score, "why": dict(why)}
        for rank, (chunk, score, why) in enumerate(found, start=1)
    ]
    if rows:
        connection.execute(schema.retrieval_chunk.insert(), rows)


# --- how much there is ------------------------------------------------------------------------------------------------


def counted(connection: Connection, table: Table, *conditions: Any) -> int:
    """How many rows meet the conditions."""
    return int(connection.execute(select(func.count()).select_from(table).where(*conditions)).scalar_one())
