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

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB, TIMESTAMP
from sqlalchemy.exc import ProgrammingError
from sqlalchemy.schema import SchemaItem
from sqlalchemy.types import JSON, TypeDecorator, TypeEngine

from core.base.choices import CONTENT_TYPES, OUTCOMES, TASK_TYPES
from core.library import records

# --- types ------------------------------------------------------------------------------------------------------------


class Moment(TypeDecorator[datetime]):
    """A time in UTC. SQLite keeps it as text of one width (`2026-11-22T14:00:00.000000+00:00`), which sorts by time."""

    impl = sa.String(32)
    cache_ok = True

    def load_dialect_impl(self, dialect: sa.Dialect) -> TypeEngine[Any]:
        """The type of a column."""
        return dialect.type_descriptor(TIMESTAMP(timezone=True) if dialect.name == "postgresql" else sa.String(32))

    def process_bind_param(self, value: datetime | None, dialect: sa.Dialect) -> Any:
        """From a record into the database. A time without a zone is refused: nobody could say later what it meant."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a time in the library needs its zone")
        value = value.astimezone(UTC)
        return value if dialect.name == "postgresql" else value.isoformat(timespec="microseconds")

    def process_result_value(self, value: Any, dialect: sa.Dialect) -> datetime | None:
        """From the database into a record."""
        if isinstance(value, str):
            value = datetime.fromisoformat(value)
        return None if value is None else value.astimezone(UTC)


Json = JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")
"""Any JSON value; a tuple of a record is an array."""
ID = sa.String(36)
"""A UUID in its usual spelling."""
WORD = sa.String(64)

_TYPES: dict[str, Any] = {
    "Id": ID, "Word": WORD, "str": sa.Text, "int": sa.Integer, "float": sa.Float, "bool": sa.Boolean,
    "datetime": Moment, "tuple[str, ...]": Json, "Mapping[str, Any]": Json, "Mapping[str, Mapping[str, int]]": Json,
}  # fmt: skip
"""How a field of a record is annotated -> what its column is."""

metadata = sa.MetaData(
    naming_convention={
        "ix": "%(table_name)s_by_%(column_0_N_name)s",
        "uq": "%(table_name)s_one_%(column_0_N_name)s",
        "ck": "%(table_name)s_%(constraint_name)s",
        "fk": "%(table_name)s_to_%(referred_table_name)s_%(column_0_N_name)s",
        "pk": "%(table_name)s_key",
    }
)


def _table_of(kind: type, name: str, *more: SchemaItem, key: str = "id", **options: Any) -> sa.Table:
    """The table of a record, a column for each of its fields but those of a trace's chunks; `more` is what else it
    has."""
    columns = []
    for field in fields(kind):
        said = str(field.type)
        if field.name != "chunk_ids":
            column, nullable = _TYPES[said.removesuffix(" | None")], said.endswith(" | None")
            columns.append(sa.Column(field.name, column, primary_key=field.name == key, nullable=nullable))
    return sa.Table(name, metadata, *columns, *more, **options)


def _goes_with(column: str, table: str, ondelete: str = "CASCADE", **options: Any) -> sa.ForeignKeyConstraint:
    """A column is the id of a row in another table, and its row goes with that one."""
    return sa.ForeignKeyConstraint([column], [f"{table}.id"], ondelete=ondelete, **options)


def _one_of(column: str, words: Iterable[str]) -> sa.CheckConstraint:
    """A column has one of these words."""
    return sa.CheckConstraint(f"{column} IN ({', '.join(map(repr, words))})", name=f"{column}_known")


# --- what there is ----------------------------------------------------------------------------------------------------

entity = sa.Table("entity", metadata, sa.Column("id", ID, primary_key=True), sa.Column("kind", WORD, nullable=False),
                  sa.UniqueConstraint("kind", "id"), _one_of("kind", ("document", "chunk", "concept")))  # fmt: skip

source_profile = _table_of(
    records.SourceProfile,
    "source_profile",
    sa.UniqueConstraint("domain", "source_type"),
    _one_of("source_type", records.SOURCE_TYPES),
)

document = _table_of(
    records.Document,
    "document",
    _goes_with("id", "entity", name="document_entity"),
    _goes_with("source_profile_id", "source_profile", "SET NULL"),
    sa.UniqueConstraint("content_sha256"),
    _one_of("content_type", CONTENT_TYPES),
    _one_of("status", records.STATUSES),
    sa.Index("document_by_source_profile_id", "source_profile_id"),
    sa.Index("document_by_status", "status"),
)

location = _table_of(
    records.Location,
    "location",
    _goes_with("document_id", "document"),
    sa.Index("location_by_document_id", "document_id"),
    key="source",
)

chunk = _table_of(
    records.Chunk,
    "chunk",
    _goes_with("id", "entity"),
    _goes_with("document_id", "document"),
    sa.UniqueConstraint("id"),
    sa.Index("chunk_by_document", "document_id", "position"),
    key="number",
    sqlite_autoincrement=True,
)

concept = _table_of(
    records.Concept,
    "concept",
    _goes_with("id", "entity", name="concept_entity"),
    sa.UniqueConstraint("folded"),
    _one_of("concept_type", records.CONCEPT_TYPES),
)

concept_alias = sa.Table(
    "concept_alias",  # every spelling that means a concept, folded; made from name and aliases
    metadata,
    sa.Column("folded", sa.Text, primary_key=True),
    sa.Column("concept_id", ID, sa.ForeignKey("concept.id", ondelete="CASCADE"), nullable=False, index=True),
)

mention = sa.Table(
    "mention",  # a chunk in whose text the concept stands
    metadata,
    sa.Column("chunk_id", ID, sa.ForeignKey("chunk.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("concept_id", ID, sa.ForeignKey("concept.id", ondelete="CASCADE"), primary_key=True, index=True),
    sa.Column("count", sa.Integer, nullable=False),
    sqlite_with_rowid=False,  # most rows of the library are here, and its key is most of a row
)

link = _table_of(
    records.Link,
    "link",
    sa.ForeignKeyConstraint(["source_type", "source_id"], ["entity.kind", "entity.id"], ondelete="CASCADE"),
    sa.ForeignKeyConstraint(["target_type", "target_id"], ["entity.kind", "entity.id"], ondelete="CASCADE"),
    sa.UniqueConstraint("source_id", "target_id", "relation", "task_type"),
    _one_of("created_by", ("auto", "manual", "consolidated")),
    sa.CheckConstraint("weight >= 0 AND weight <= 1", name="weight_share"),
    sa.Index("link_by_source", "source_type", "source_id"),
    sa.Index("link_by_target", "target_type", "target_id"),
)

# --- how it was used --------------------------------------------------------------------------------------------------

usage_trace = _table_of(
    records.UsageTrace,
    "usage_trace",
    _goes_with("retrieval_id", "retrieval", "SET NULL"),
    _one_of("outcome", OUTCOMES),
    _one_of("recorded", ("explicit", "inferred")),
    _one_of("task_type", TASK_TYPES),
    sa.Index("usage_trace_by_session", "session_id"),
    sa.Index("usage_trace_by_time", "timestamp"),
)

trace_chunk = sa.Table(
    "trace_chunk",  # chunk_ids of a trace, in their order
    metadata,
    sa.Column("trace_id", ID, sa.ForeignKey("usage_trace.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("chunk_id", ID, sa.ForeignKey("chunk.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("position", sa.Integer, nullable=False),
    sa.Index("trace_chunk_by_chunk", "chunk_id"),
)
OF_CHUNKS = {
    "usage_trace": usage_trace.c.id.in_(
        sa.select(trace_chunk.c.trace_id).join(chunk, chunk.c.id == trace_chunk.c.chunk_id)
    ),
    "trace_chunk": trace_chunk.c.chunk_id.in_(sa.select(chunk.c.id)),
}
"""What of these two is about chunks. A library in a file has them in `experience.db`, where other things have traces
too, and no foreign key reaches from one file into another; their columns are in `core/experience/record.py`."""

retrieval = _table_of(  # what was asked, also where nothing was found
    records.Retrieval,
    "retrieval",
    _one_of("task_type", TASK_TYPES),
    sa.Index("retrieval_by_session", "session_id"),
    sa.Index("retrieval_by_time", "timestamp"),
)

retrieval_chunk = sa.Table(
    "retrieval_chunk",
    metadata,
    sa.Column("retrieval_id", ID, sa.ForeignKey("retrieval.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("chunk_id", ID, sa.ForeignKey("chunk.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("rank", sa.Integer, nullable=False),
    sa.Column("score", sa.Float, nullable=False),
    sa.Column("why", Json, nullable=False),  # strategy -> score
    sa.Index("retrieval_chunk_by_chunk", "chunk_id"),
)

embedding = sa.Table(
    "embedding",  # vectors of chunks; little-endian float32. With pgvector there is a column of its type too
    metadata,
    sa.Column("chunk_id", ID, sa.ForeignKey("chunk.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("model", sa.String(200), primary_key=True),
    sa.Column("dimensions", sa.Integer, nullable=False),
    sa.Column("vector", sa.LargeBinary, nullable=False),
    sa.Index("embedding_by_model", "model"),
)

# --- what was changed -------------------------------------------------------------------------------------------------

change_run = _table_of(records.ChangeRun, "change_run")

change = sa.Table(
    "change",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("run_id", ID, sa.ForeignKey("change_run.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("table_name", WORD, nullable=False),
    sa.Column("row_key", Json, nullable=False),  # its primary key: column -> value
    sa.Column("before", Json),  # the row or those columns that changed; null where there was none
    sa.Column("after", Json),  # null where there is none any more
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


def make(connection: sa.Connection) -> None:
    """All tables, in a database that is empty. A file has what is said of uses in another one (`OF_CHUNKS`)."""
    if connection.dialect.name != "postgresql":
        metadata.create_all(connection, [table for table in TABLES if table.name not in OF_CHUNKS], checkfirst=False)
        return
    metadata.create_all(connection, checkfirst=False)
    for statement in _SEARCHED:
        connection.execute(sa.text(statement))
    if connection.execute(sa.text("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'")).scalar():
        point = connection.begin_nested()
        try:
            connection.execute(sa.text("CREATE EXTENSION IF NOT EXISTS vector"))
        except ProgrammingError:  # it takes a right that not every user has: vectors are compared outside then
            point.rollback()
        else:
            point.commit()
            connection.execute(sa.text("ALTER TABLE embedding ADD COLUMN near vector"))
