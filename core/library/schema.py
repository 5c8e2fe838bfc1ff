"""The tables of the library: every entity and field of its records, and what is needed beside them.

The same tables stand in SQLite and in PostgreSQL. `make` makes them in a new database, with what PostgreSQL alone has;
one of an earlier version gets there by the steps of `migrations.py`, and a test compares the two.

Documents, chunks and concepts have their id in `entity` too, with their kind: a link joins any two of them, and with
that table a foreign key can hold its two ends. To delete one of them, delete its entity; the rest follows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    Connection,
    Dialect,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    select,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB, TIMESTAMP
from sqlalchemy.exc import ProgrammingError
from sqlalchemy.schema import SchemaItem
from sqlalchemy.types import JSON, TypeDecorator, TypeEngine

from core.base.choices import CONTENT_TYPES, OUTCOMES, TASK_TYPES
from core.library import records

# --- types ------------------------------------------------------------------------------------------------------------


class Moment(TypeDecorator[datetime]):
    """A time in UTC. SQLite keeps it as text of one width (`2026-11-22T14:00:00.000000+00:00`), which sorts by time."""

    impl = String(32)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """The type of a column."""
        return dialect.type_descriptor(TIMESTAMP(timezone=True) if dialect.name == "postgresql" else String(32))

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        """From a record into the database. A time without a zone is refused: nobody could say later what it meant."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a time in the library needs its zone")
        value = value.astimezone(UTC)
        return value if dialect.name == "postgresql" else value.isoformat(timespec="microseconds")

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        """From the database into a record."""
        if isinstance(value, str):
            value = datetime.fromisoformat(value)
        return None if value is None else value.astimezone(UTC)


Json = JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")
"""Any JSON value; a tuple of a record is an array."""
ID = String(36)
"""A UUID in its usual spelling."""
WORD = String(64)

_TYPES: dict[str, Any] = {
    "Id": ID, "Word": WORD, "str": Text, "int": Integer, "float": Float, "bool": Boolean, "datetime": Moment,
    "tuple[str, ...]": Json, "Mapping[str, Any]": Json, "Mapping[str, Mapping[str, int]]": Json,
}  # fmt: skip
"""How a field of a record is annotated -> what its column is."""

metadata = MetaData(
    naming_convention={
        "ix": "%(table_name)s_by_%(column_0_N_name)s",
        "uq": "%(table_name)s_one_%(column_0_N_name)s",
        "ck": "%(table_name)s_%(constraint_name)s",
        "fk": "%(table_name)s_to_%(referred_table_name)s_%(column_0_N_name)s",
        "pk": "%(table_name)s_key",
    }
)


def _table_of(kind: type, name: str, *more: SchemaItem, key: str = "id", **options: Any) -> Table:
    """The table of a record, a column for each of its fields but those of a trace's chunks; `more` is what else it
    has."""
    columns = []
    for field in fields(kind):
        said = str(field.type)
        if field.name != "chunk_ids":
            column = _TYPES[said.removesuffix(" | None")]
            columns.append(Column(field.name, column, primary_key=field.name == key, nullable=said.endswith(" | None")))
    return Table(name, metadata, *columns, *more, **options)


def _goes_with(column: str, table: str, ondelete: str = "CASCADE", **options: Any) -> ForeignKeyConstraint:
    """A column is the id of a row in another table, and its row goes with that one."""
    return ForeignKeyConstraint([column], [f"{table}.id"], ondelete=ondelete, **options)


def _one_of(column: str, words: Iterable[str]) -> CheckConstraint:
    """A column has one of these words."""
    return CheckConstraint(f"{column} IN ({', '.join(map(repr, words))})", name=f"{column}_known")


# --- what there is ----------------------------------------------------------------------------------------------------

entity = Table("entity", metadata, Column("id", ID, primary_key=True), Column("kind", WORD, nullable=False),
               UniqueConstraint("kind", "id"), _one_of("kind", ("document", "chunk", "concept")))  # fmt: skip

source_profile = _table_of(
    records.SourceProfile,
    "source_profile",
    UniqueConstraint("domain", "source_type"),
    _one_of("source_type", records.SOURCE_TYPES),
)

document = _table_of(
    records.Document,
    "document",
    _goes_with("id", "entity", name="document_entity"),
    _goes_with("source_profile_id", "source_profile", "SET NULL"),
    UniqueConstraint("content_sha256"),
    _one_of("content_type", CONTENT_TYPES),
    _one_of("status", records.STATUSES),
    Index("document_by_source_profile_id", "source_profile_id"),
    Index("document_by_status", "status"),
)

location = _table_of(
    records.Location,
    "location",
    _goes_with("document_id", "document"),
    Index("location_by_document_id", "document_id"),
    key="source",
)

chunk = _table_of(
    records.Chunk,
    "chunk",
    _goes_with("id", "entity"),
    _goes_with("document_id", "document"),
    UniqueConstraint("id"),
    Index("chunk_by_document", "document_id", "position"),
    key="number",
    sqlite_autoincrement=True,
)

concept = _table_of(
    records.Concept,
    "concept",
    _goes_with("id", "entity", name="concept_entity"),
    UniqueConstraint("folded"),
    _one_of("concept_type", records.CONCEPT_TYPES),
)

concept_alias = Table(
    "concept_alias",  # every spelling that means a concept, folded; made from name and aliases
    metadata,
    Column("folded", Text, primary_key=True),
    Column("concept_id", ID, ForeignKey("concept.id", ondelete="CASCADE"), nullable=False, index=True),
)

mention = Table(
    "mention",  # a chunk in whose text the concept stands
    metadata,
    Column("chunk_id", ID, ForeignKey("chunk.id", ondelete="CASCADE"), primary_key=True),
    Column("concept_id", ID, ForeignKey("concept.id", ondelete="CASCADE"), primary_key=True, index=True),
    Column("count", Integer, nullable=False),
    sqlite_with_rowid=False,  # most rows of the library are here, and its key is most of a row
)

link = _table_of(
    records.Link,
    "link",
    ForeignKeyConstraint(["source_type", "source_id"], ["entity.kind", "entity.id"], ondelete="CASCADE"),
    ForeignKeyConstraint(["target_type", "target_id"], ["entity.kind", "entity.id"], ondelete="CASCADE"),
    UniqueConstraint("source_id", "target_id", "relation", "task_type"),
    _one_of("created_by", ("auto", "manual", "consolidated")),
    CheckConstraint("weight >= 0 AND weight <= 1", name="weight_share"),
    Index("link_by_source", "source_type", "source_id"),
    Index("link_by_target", "target_type", "target_id"),
)

# --- how it was used --------------------------------------------------------------------------------------------------

usage_trace = _table_of(
    records.UsageTrace,
    "usage_trace",
    _goes_with("retrieval_id", "retrieval", "SET NULL"),
    _one_of("outcome", OUTCOMES),
    _one_of("recorded", ("explicit", "inferred")),
    _one_of("task_type", TASK_TYPES),
    Index("usage_trace_by_session", "session_id"),
    Index("usage_trace_by_time", "timestamp"),
)

trace_chunk = Table(
    "trace_chunk",  # chunk_ids of a trace, in their order
    metadata,
    Column("trace_id", ID, ForeignKey("usage_trace.id", ondelete="CASCADE"), primary_key=True),
    Column("chunk_id", ID, ForeignKey("chunk.id", ondelete="CASCADE"), primary_key=True),
    Column("position", Integer, nullable=False),
    Index("trace_chunk_by_chunk", "chunk_id"),
)
OF_CHUNKS = {
    "usage_trace": usage_trace.c.id.in_(
        select(trace_chunk.c.trace_id).join(chunk, chunk.c.id == trace_chunk.c.chunk_id)
    ),
    "trace_chunk": trace_chunk.c.chunk_id.in_(select(chunk.c.id)),
}
"""What of these two is about chunks. A library in a file has them in `experience.db`, where other things have traces
too, and no foreign key reaches from one file into another; their columns are in `core/experience/record.py`."""

retrieval = _table_of(  # what was asked, also where nothing was found
    records.Retrieval,
    "retrieval",
    _one_of("task_type", TASK_TYPES),
    Index("retrieval_by_session", "session_id"),
    Index("retrieval_by_time", "timestamp"),
)

retrieval_chunk = Table(
    "retrieval_chunk",
    metadata,
    Column("retrieval_id", ID, ForeignKey("retrieval.id", ondelete="CASCADE"), primary_key=True),
    Column("chunk_id", ID, ForeignKey("chunk.id", ondelete="CASCADE"), primary_key=True),
    Column("rank", Integer, nullable=False),
    Column("score", Float, nullable=False),
    Column("why", Json, nullable=False),  # strategy -> score
    Index("retrieval_chunk_by_chunk", "chunk_id"),
)

embedding = Table(
    "embedding",  # vectors of chunks; little-endian float32. With pgvector there is a column of its type too
    metadata,
    Column("chunk_id", ID, ForeignKey("chunk.id", ondelete="CASCADE"), primary_key=True),
    Column("model", String(200), primary_key=True),
    Column("dimensions", Integer, nullable=False),
    Column("vector", LargeBinary, nullable=False),
    Index("embedding_by_model", "model"),
)

# --- what was changed -------------------------------------------------------------------------------------------------

change_run = _table_of(records.ChangeRun, "change_run")

change = Table(
    "change",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("run_id", ID, ForeignKey("change_run.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("table_name", WORD, nullable=False),
    Column("row_key", Json, nullable=False),  # its primary key: column -> value
    Column("before", Json),  # the row or those columns that changed; null where there was none
    Column("after", Json),  # null where there is none any more
    sqlite_autoincrement=True,
)

TABLES = tuple(metadata.sorted_tables)
"""Parents before children."""

# --- making them ------------------------------------------------------------------------------------------------------

_WORDS = "to_tsvector('english', regexp_replace({}, '[^[:alnum:]]+', ' ', 'g'))"
_SEARCHED = (  # what PostgreSQL searches
    "ALTER TABLE chunk ADD COLUMN words tsvector GENERATED ALWAYS AS ("
    f"setweight({_WORDS.format('heading')}, 'A') || setweight({_WORDS.format('summary')}, 'B') || "
    + _WORDS.format("CASE spaced WHEN '' THEN content ELSE spaced END")
    + f" || setweight({_WORDS.format('day')}, 'C')) STORED",
    "CREATE INDEX chunk_by_words ON chunk USING gin(words)",
    "ALTER TABLE usage_trace ADD COLUMN words tsvector GENERATED ALWAYS AS ("
    + _WORDS.format("query || ' ' || context_summary")
    + ") STORED",
    "CREATE INDEX usage_trace_by_words ON usage_trace USING gin(words)",
)


def make(connection: Connection) -> None:
    """All tables, in a database that is empty. A file has what is said of uses in another one (`OF_CHUNKS`)."""
    if connection.dialect.name != "postgresql":
        metadata.create_all(connection, [table for table in TABLES if table.name not in OF_CHUNKS], checkfirst=False)
        return
    metadata.create_all(connection, checkfirst=False)
    for statement in _SEARCHED:
        connection.execute(text(statement))
    if connection.execute(text("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'")).scalar():
        point = connection.begin_nested()
        try:
            connection.execute(text("CREATE EXTENSION IF NOT EXISTS vector"))
        except ProgrammingError:  # it takes a right that not every user has: vectors are compared outside then
            point.rollback()
        else:
            point.commit()
            connection.execute(text("ALTER TABLE embedding ADD COLUMN near vector"))
