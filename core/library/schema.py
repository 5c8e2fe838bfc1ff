"""The tables of the library: every entity and field of its records, and what is needed beside them.

The same tables stand in SQLite and in PostgreSQL. `migrations/` makes them; a test compares what the migrations make
with what stands here. What only one of the two databases has (full-text tables, triggers, a vector type) is in the
migrations alone.

Documents, chunks and concepts have their id in `entity` too, with their kind: a link joins any two of them, and with
that table a foreign key can hold its two ends. To delete one of them, delete its entity; the rest follows.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
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
    false,
)
from sqlalchemy.dialects.postgresql import JSONB, TIMESTAMP
from sqlalchemy.types import JSON, TypeDecorator, TypeEngine

from core.library.records import (
    CONCEPT_TYPES,
    CONTENT_TYPES,
    CREATORS,
    ENTITY_TYPES,
    OUTCOMES,
    RECORDED,
    SOURCE_TYPES,
    STATUSES,
    TASK_TYPES,
)

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


class Texts(TypeDecorator[tuple[str, ...]]):
    """A list of texts, as a tuple; a JSON array in the database."""

    impl = JSON
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """The type of a column."""
        return dialect.type_descriptor(JSONB() if dialect.name == "postgresql" else JSON())

    def process_bind_param(self, value: Iterable[str] | None, dialect: Dialect) -> Any:
        """From a record into the database."""
        return None if value is None else list(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> tuple[str, ...] | None:
        """From the database into a record."""
        return None if value is None else tuple(value)


Json = JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql")
"""Any JSON value."""

ID = String(36)
"""A UUID in its usual spelling."""


def _in(column: str, words: Iterable[str]) -> CheckConstraint:
    listed = ", ".join(f"'{word}'" for word in words)
    return CheckConstraint(f"{column} IN ({listed})", name=f"{column}_known")


def _text(name: str) -> Column[str]:
    return Column(name, Text, nullable=False, server_default="")


def _word(name: str, default: str | None = None) -> Column[str]:
    return Column(name, String(64), nullable=False, server_default=default)


def _number(name: str) -> Column[int]:
    return Column(name, Integer, nullable=False, server_default="0")


def _moment(name: str, *, optional: bool = False) -> Column[datetime]:
    return Column(name, Moment, nullable=optional)


def _entity(kind: str) -> tuple[Column[str], ForeignKeyConstraint]:
    """The id of an entity; it goes with its row in `entity`."""
    return (
        Column("id", ID, primary_key=True),
        ForeignKeyConstraint(["id"], ["entity.id"], name=f"{kind}_entity", ondelete="CASCADE"),
    )


metadata = MetaData(
    naming_convention={
        "ix": "%(table_name)s_by_%(column_0_N_name)s",
        "uq": "%(table_name)s_one_%(column_0_N_name)s",
        "ck": "%(table_name)s_%(constraint_name)s",
        "fk": "%(table_name)s_to_%(referred_table_name)s_%(column_0_N_name)s",
        "pk": "%(table_name)s_key",
    }
)

# --- what there is ----------------------------------------------------------------------------------------------------

entity = Table(
    "entity",
    metadata,
    Column("id", ID, primary_key=True),
    _word("kind"),
    UniqueConstraint("kind", "id"),
    _in("kind", ENTITY_TYPES),
)

source_profile = Table(
    "source_profile",
    metadata,
    Column("id", ID, primary_key=True),
    Column("domain", Text, nullable=False),
    _word("source_type"),
    Column("functional_profile", Text),
    Column("strengths", Texts, nullable=False, server_default="[]"),
    Column("weaknesses", Texts, nullable=False, server_default="[]"),
    Column("trace_counts_by_task", Json, nullable=False, server_default="{}"),
    _moment("created_at"),
    _moment("updated_at"),
    _number("profiled_traces"),  # how many traces the profile was written from
    UniqueConstraint("domain", "source_type"),
    _in("source_type", SOURCE_TYPES),
)

document = Table(
    "document",
    metadata,
    *_entity("document"),
    Column("source", Text, nullable=False),
    Column("source_profile_id", ID, ForeignKey("source_profile.id", ondelete="SET NULL"), index=True),
    _word("content_type"),
    Column("title", Text, nullable=False),
    _text("raw_content"),
    _text("top_summary"),
    Column("key_claims", Texts, nullable=False, server_default="[]"),
    _moment("ingested_at"),
    _moment("last_accessed", optional=True),
    _number("access_count"),
    _word("status", "active"),
    Column("content_sha256", String(64), nullable=False, unique=True),  # of raw_content, as it is stored
    _moment("written_at", optional=True),  # when the content was last changed, where its source tells
    _text("language"),  # of code: python, rust, …
    _in("content_type", CONTENT_TYPES),
    _in("status", STATUSES),
    Index("document_by_status", "status"),
)

location = Table(
    "location",  # where a document was found; the same content in two places is one document
    metadata,
    Column("source", Text, primary_key=True),
    Column("document_id", ID, ForeignKey("document.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("sha256", String(64), nullable=False),  # of the bytes that were read there
    _text("state"),  # of the file (size, times) or the ETag of the page: the same means there is nothing to read
    _moment("seen_at"),
)

chunk = Table(
    "chunk",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),  # what the full-text table knows it by
    Column("id", ID, ForeignKey("entity.id", ondelete="CASCADE"), nullable=False, unique=True),
    Column("document_id", ID, ForeignKey("document.id", ondelete="CASCADE"), nullable=False),
    Column("content", Text, nullable=False),
    _number("position"),
    _text("summary"),
    _word("chunk_type", "narrative"),
    _number("token_count"),
    Column("functional_profile", Text),
    Column("needs_context", Boolean(create_constraint=False), nullable=False, server_default=false()),
    _word("rhetorical_mode", "explanatory"),
    _text("heading"),  # the way to it: `Setup > Linux`, `Pool.acquire`, `turn 12`
    _number("begins"),  # raw_content[begins:ends] of its document is its content
    _number("ends"),
    _text("spaced"),  # what is searched instead of content where a script without spaces is in it
    Column("content_sha256", String(64), nullable=False, server_default=""),
    _number("profiled_traces"),  # how many traces the profile was written from
    _number("retrieved_count"),
    _moment("last_retrieved", optional=True),
    _text("day"),  # when its document was written, as 2026-11-22: searched with its words
    Index("chunk_by_document", "document_id", "position"),
    sqlite_autoincrement=True,
)

concept = Table(
    "concept",
    metadata,
    *_entity("concept"),
    Column("name", Text, nullable=False),
    Column("aliases", Texts, nullable=False, server_default="[]"),
    _text("description"),
    _word("concept_type", "topic"),
    Column("functional_profile", Text),
    _text("gap_notes"),
    _moment("created_at"),
    _moment("updated_at"),
    Column("folded", Text, nullable=False, unique=True),  # the name as it is compared: one case, one spelling
    _number("profiled_traces"),
    _in("concept_type", CONCEPT_TYPES),
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
    Column("count", Integer, nullable=False, server_default="1"),
    sqlite_with_rowid=False,  # most rows of the library are here, and its key is most of a row
)

link = Table(
    "link",
    metadata,
    Column("id", ID, primary_key=True),
    _word("source_type"),
    Column("source_id", ID, nullable=False),
    _word("target_type"),
    Column("target_id", ID, nullable=False),
    _word("relation"),
    Column("weight", Float, nullable=False, server_default="1"),
    _moment("created_at"),
    _word("created_by", "auto"),
    _word("task_type", ""),  # of better_for: for which task
    _text("note"),
    ForeignKeyConstraint(["source_type", "source_id"], ["entity.kind", "entity.id"], ondelete="CASCADE"),
    ForeignKeyConstraint(["target_type", "target_id"], ["entity.kind", "entity.id"], ondelete="CASCADE"),
    UniqueConstraint("source_id", "target_id", "relation", "task_type"),
    CheckConstraint("weight >= 0 AND weight <= 1", name="weight_share"),
    _in("created_by", CREATORS),
    Index("link_by_source", "source_type", "source_id"),
    Index("link_by_target", "target_type", "target_id"),
)

# --- how it was used --------------------------------------------------------------------------------------------------

usage_trace = Table(
    "usage_trace",
    metadata,
    Column("id", ID, primary_key=True),
    _text("session_id"),
    _word("task_type"),
    _text("context_summary"),
    _text("query"),
    _word("outcome"),
    _text("notes"),
    _moment("timestamp"),
    _word("recorded", "explicit"),
    Column("retrieval_id", ID, ForeignKey("retrieval.id", ondelete="SET NULL")),
    _in("task_type", TASK_TYPES),
    _in("outcome", OUTCOMES),
    _in("recorded", RECORDED),
    Index("usage_trace_by_session", "session_id"),
    Index("usage_trace_by_time", "timestamp"),
)

trace_chunk = Table(
    "trace_chunk",  # chunk_ids of a trace, in their order
    metadata,
    Column("trace_id", ID, ForeignKey("usage_trace.id", ondelete="CASCADE"), primary_key=True),
    Column("chunk_id", ID, ForeignKey("chunk.id", ondelete="CASCADE"), primary_key=True),
    _number("position"),
    _moment("archived_at", optional=True),  # it has become part of the chunk's profile: its count is in trace_count
    Index("trace_chunk_by_chunk", "chunk_id"),
)

trace_count = Table(
    "trace_count",  # archived traces of a chunk, as numbers
    metadata,
    Column("chunk_id", ID, ForeignKey("chunk.id", ondelete="CASCADE"), primary_key=True),
    Column("task_type", String(64), primary_key=True),
    Column("outcome", String(64), primary_key=True),
    _number("count"),
    _moment("latest"),  # the newest of them
    _in("task_type", TASK_TYPES),
    _in("outcome", OUTCOMES),
)

retrieval = Table(
    "retrieval",  # what was asked, also where nothing was found
    metadata,
    Column("id", ID, primary_key=True),
    _text("session_id"),
    _text("query"),
    _word("task_type"),
    _moment("timestamp"),
    _text("reasoning"),  # of the model that read the dossiers
    _in("task_type", TASK_TYPES),
    Index("retrieval_by_session", "session_id"),
    Index("retrieval_by_time", "timestamp"),
)

retrieval_chunk = Table(
    "retrieval_chunk",
    metadata,
    Column("retrieval_id", ID, ForeignKey("retrieval.id", ondelete="CASCADE"), primary_key=True),
    Column("chunk_id", ID, ForeignKey("chunk.id", ondelete="CASCADE"), primary_key=True),
    _number("rank"),
    Column("score", Float, nullable=False, server_default="0"),
    Column("why", Json, nullable=False, server_default="{}"),  # strategy -> score
    Index("retrieval_chunk_by_chunk", "chunk_id"),
)

ranking = Table(
    "ranking",  # how the features of a candidate count in this source, beside what they count everywhere
    metadata,
    Column("source_profile_id", ID, ForeignKey("source_profile.id", ondelete="CASCADE"), primary_key=True),
    Column("weights", Json, nullable=False, server_default="{}"),  # feature -> what is added to its weight
    _number("uses"),  # how many questions it was learned from
    Column("gain", Float, nullable=False, server_default="0"),  # in log likelihood, on documents left out
    _moment("updated_at"),
)

embedding = Table(
    "embedding",  # vectors of chunks; little-endian float32. With pgvector the migration adds a column of its type
    metadata,
    Column("chunk_id", ID, ForeignKey("chunk.id", ondelete="CASCADE"), primary_key=True),
    Column("model", String(200), primary_key=True),
    _number("dimensions"),
    Column("vector", LargeBinary, nullable=False),
    Index("embedding_by_model", "model"),
)

# --- what was changed -------------------------------------------------------------------------------------------------

change_run = Table(
    "change_run",  # one consolidation, or any other change that can be taken back
    metadata,
    Column("id", ID, primary_key=True),
    _word("kind"),
    _moment("started_at"),
    _moment("finished_at", optional=True),
    _moment("undone_at", optional=True),
    Column("report", Json, nullable=False, server_default="{}"),
)

change = Table(
    "change",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("run_id", ID, ForeignKey("change_run.id", ondelete="CASCADE"), nullable=False, index=True),
    _word("table_name"),
    Column("row_key", Json, nullable=False),  # its primary key: column -> value
    Column("before", Json),  # the row or those columns that changed; null where there was none
    Column("after", Json),  # null where there is none any more
    sqlite_autoincrement=True,
)

TABLES = tuple(metadata.sorted_tables)
"""Parents before children."""
