"""What there is in the library, for a user who looks: documents, one of them with its parts, numbers."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, func, or_, select

from core.base.result import KnowledgeError
from core.library import rows, schema
from core.library.database import Library, version_of
from core.library.fetch import is_address, shown, stored_name
from core.library.places import standing_at
from core.library.records import Chunk, Document, SourceProfile, UsageTrace
from core.library.shelve import Shelved, counts_of, in_turn

CONCEPTS_SHOWN = 20


def listed(library: Library, content_type: str, status: str, limit: int) -> tuple[list[dict[str, Any]], int]:
    """Documents of a type and a status ("" for any), the latest first, and how many there are."""
    d, c = schema.document.c, schema.chunk.c
    wanted = [*([d.content_type == content_type] if content_type else []), *([d.status == status] if status else [])]
    chunks = select(func.count()).where(c.document_id == d.id).correlate(schema.document).scalar_subquery()
    columns = (d.id, d.source, d.title, d.content_type, d.status, d.ingested_at, d.top_summary)
    asked = select(*columns, chunks.label("chunks")).where(*wanted).order_by(d.ingested_at.desc(), d.title)
    with library.reading() as connection:
        number = rows.counted(connection, schema.document, *wanted)
        found = connection.execute(asked.limit(limit)).all()
    return [
        {
            **Shelved(row.id, row.source, row.title, row.content_type, row.chunks, row.status).to_json(),
            "ingested_at": row.ingested_at.isoformat(),
            "summary": row.top_summary,
        }
        for row in found
    ], number


@dataclass(frozen=True)
class Shown:
    """One document with its source, chunks, the concepts that it speaks of most (name, in how many chunks), where it
    was found, how its chunks were used, the latest first, where each stands in it (`page 3`), and how it and they
    stand to others, by id, as sentences."""

    document: Document
    profile: SourceProfile | None
    chunks: tuple[Chunk, ...]
    concepts: tuple[tuple[str, int], ...]
    places: tuple[str, ...]
    traces: tuple[UsageTrace, ...]
    at: dict[str, str]
    links: dict[str, list[str]]

    def to_json(self) -> dict[str, Any]:
        """The document's fields, and the others beside them."""
        return {
            **asdict(self.document),
            "source_profile": None if self.profile is None else asdict(self.profile),
            "chunks": [{**asdict(row), "place": self.at.get(row.id)} for row in self.chunks],
            "concepts": [{"name": name, "chunks": number} for name, number in self.concepts],
            "places": list(self.places),
            "traces": [row.to_json() for row in self.traces],
            "links": self.links,
        }


def shown_document(library: Library, document: Document) -> Shown:
    """A document with all that belongs to it."""
    m, c, used = schema.mention.c, schema.chunk.c, schema.trace_chunk.c
    number = func.count().label("number")
    asked = (
        select(schema.concept.c.name, number)
        .join(schema.mention, m.concept_id == schema.concept.c.id)
        .join(schema.chunk, c.id == m.chunk_id)
        .where(c.document_id == document.id)
        .group_by(schema.concept.c.id, schema.concept.c.name)
        .order_by(number.desc(), schema.concept.c.name)
        .limit(CONCEPTS_SHOWN)
    )
    uses = select(used.trace_id).join(schema.chunk, c.id == used.chunk_id).where(c.document_id == document.id)
    with library.reading() as connection:
        source = document.source_profile_id or ""
        chunks = rows.chunks_of(connection, document.id)
        return Shown(
            document,
            rows.by_ids(connection, schema.source_profile, SourceProfile, [source]).get(source),
            tuple(chunks),
            tuple((row.name, row.number) for row in connection.execute(asked)),
            tuple(row.source for row in rows.locations_of(connection, document.id)),
            tuple(reversed(rows.traces(connection, uses))),
            standing_at(connection, [chunk.id for chunk in chunks]),
            rows.told_links(connection, [document.id, *(chunk.id for chunk in chunks)]),
        )


def chosen(library: Library, which: str, folder: Path) -> Document:
    """The document that a user means: by its id or that of a chunk (four letters of it at the least), its path
    (relative to `folder`), or its address."""
    wanted = which.strip()
    if not wanted:
        message = "which document? give its id or its path"
        raise KnowledgeError("usage", message, hint="'knowledge library list' lists them")
    path = shown(wanted) if is_address(wanted) else os.path.abspath(folder / os.path.expanduser(wanted))
    d, c, place = schema.document.c, schema.chunk.c, schema.location.c
    ways: list[Any] = [d.id.in_(select(place.document_id).where(place.source.in_([path, wanted, stored_name(path)])))]
    if len(wanted) >= 4:
        of_chunk = select(c.document_id).where(c.id.startswith(wanted, autoescape=True))
        ways += [d.id.startswith(wanted, autoescape=True), d.id.in_(of_chunk)]
    with library.reading() as connection:
        found = rows.read(connection, schema.document, Document, or_(*ways))
    if len(found) == 1:
        return found[0]
    if found:
        names = "; ".join(f"{row.id[:8]} {row.title}" for row in found[:5])
        raise KnowledgeError("ambiguous", f"{len(found)} documents fit {wanted!r}: {names}", hint="give more of the id")
    raise KnowledgeError("no-match", f"there is no document {which!r}", hint="'knowledge library list' lists them")


def set_status(library: Library, document_id: str, status: str) -> int:
    """Take a document out (`archived`) or bring it back (`active`); how many chunks it has."""

    def work(connection: Connection) -> int:
        rows.change(connection, schema.document, document_id, status=status)
        return rows.counted(connection, schema.chunk, schema.chunk.c.document_id == document_id)

    return in_turn(library, work)


def erase(library: Library, document_id: str) -> int:
    """Take a document out for good with all that hangs on it, and with what the history of changes keeps of it; how
    many chunks it had."""
    from core.library.purge import drop_history

    def uses(connection: Connection) -> None:  # before the rest: two files do not become durable together
        rows.forget_uses(connection, [chunk.id for chunk in rows.chunks_of(connection, document_id)])

    def work(connection: Connection) -> int:
        chunks = [chunk.id for chunk in rows.chunks_of(connection, document_id)]
        drop_history(connection, [document_id, *chunks])
        rows.forget(connection, [document_id])
        return len(chunks)

    in_turn(library, uses)
    return in_turn(library, work)


def state_of(library: Library) -> dict[str, Any]:
    """What the library holds: how many entities (`counts`), active documents by type (`types`), `bytes` of the file
    (0 on a server), `version` of the tables."""
    c = schema.document.c
    asked = select(c.content_type, func.count()).where(c.status == "active").group_by(c.content_type)
    with library.reading() as connection:
        counts, version = counts_of(connection), version_of(connection)
        types = {str(row[0]): int(row[1]) for row in connection.execute(asked.order_by(c.content_type))}
    size = library.path.stat().st_size if library.path is not None else 0
    return {"counts": counts, "types": types, "bytes": size, "version": version}
