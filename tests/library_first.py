"""The first tables of the library as they were released, for tests that open one of an earlier version."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from alembic import op
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy.dialects import postgresql

from core.library import database, schema
from core.library.database import Library, open_library

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")
MOMENT = sa.String(32).with_variant(postgresql.TIMESTAMP(timezone=True), "postgresql")

TASKS = (
    "task_type IN ('factual_lookup', 'implementation_howto', 'conceptual_understanding', 'opinion_gathering', "
    "'decision_support', 'debugging', 'exploratory_research', 'creative_inspiration', 'other')"
)


def earlier(url: str, version: str, monkeypatch: pytest.MonkeyPatch) -> Library:
    """A new library of an earlier version, open: the first tables, and the steps from there on."""
    for reached in ("0001", version):
        with monkeypatch.context() as then:
            then.setattr(database, "HEAD", reached)
            then.setattr(schema, "make", make)
            library = open_library(url)
    return library


def make(connection: sa.Connection) -> None:
    """Everything, in a database that is empty."""
    with Operations.context(MigrationContext.configure(connection)):
        _tables()
        if connection.dialect.name == "postgresql":
            for statement in _POSTGRESQL:
                op.execute(statement)
            _vectors()


def _vectors() -> None:
    """A column of pgvector's type where the server has pgvector and this user may use it. A server without it keeps
    vectors as bytes, and they are compared outside."""
    bind = op.get_bind()
    if not bind.execute(sa.text("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'")).scalar():
        return
    point = bind.begin_nested()
    try:
        bind.execute(sa.text("CREATE EXTENSION IF NOT EXISTS vector"))
    except sa.exc.ProgrammingError:  # it takes a right that not every person has: ask the administrator for it first
        point.rollback()
        return
    point.commit()
    op.execute("ALTER TABLE embedding ADD COLUMN near vector")


_WORDS = "to_tsvector('english', regexp_replace({}, '[^[:alnum:]]+', ' ', 'g'))"
_POSTGRESQL = (
    "ALTER TABLE chunk ADD COLUMN words tsvector GENERATED ALWAYS AS ("
    f"setweight({_WORDS.format('heading')}, 'A') || setweight({_WORDS.format('summary')}, 'B') || "
    + _WORDS.format("CASE spaced WHEN '' THEN content ELSE spaced END")
    + ") STORED",
    "CREATE INDEX chunk_by_words ON chunk USING gin(words)",
)


def _tables() -> None:
    op.create_table(
        "change_run",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("kind", sa.String(length=64), nullable=False),
        sa.Column("started_at", MOMENT, nullable=False),
        sa.Column("finished_at", MOMENT, nullable=True),
        sa.Column("undone_at", MOMENT, nullable=True),
        sa.Column("report", JSON, server_default="{}", nullable=False),
        sa.PrimaryKeyConstraint("id", name="change_run_key"),
    )
    op.create_table(
        "entity",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("kind", sa.String(length=64), nullable=False),
        sa.CheckConstraint("kind IN ('document', 'chunk', 'concept')", name="entity_kind_known"),
        sa.PrimaryKeyConstraint("id", name="entity_key"),
        sa.UniqueConstraint("kind", "id", name="entity_one_kind_id"),
    )
    op.create_table(
        "retrieval",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("session_id", sa.Text(), server_default="", nullable=False),
        sa.Column("query", sa.Text(), server_default="", nullable=False),
        sa.Column("task_type", sa.String(length=64), nullable=False),
        sa.Column("timestamp", MOMENT, nullable=False),
        sa.Column("reasoning", sa.Text(), server_default="", nullable=False),
        sa.CheckConstraint(
            TASKS,
            name="retrieval_task_type_known",
        ),
        sa.PrimaryKeyConstraint("id", name="retrieval_key"),
    )
    op.create_index("retrieval_by_session", "retrieval", ["session_id"], unique=False)
    op.create_index("retrieval_by_time", "retrieval", ["timestamp"], unique=False)
    op.create_table(
        "source_profile",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("domain", sa.Text(), nullable=False),
        sa.Column("source_type", sa.String(length=64), nullable=False),
        sa.Column("functional_profile", sa.Text(), nullable=True),
        sa.Column("strengths", JSON, server_default="[]", nullable=False),
        sa.Column("weaknesses", JSON, server_default="[]", nullable=False),
        sa.Column("trace_counts_by_task", JSON, server_default="{}", nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("updated_at", MOMENT, nullable=False),
        sa.Column("profiled_traces", sa.Integer(), server_default="0", nullable=False),
        sa.CheckConstraint(
            "source_type IN ('forum', 'academic', 'news', 'docs', 'social', 'conversation', 'personal_notes')",
            name="source_profile_source_type_known",
        ),
        sa.PrimaryKeyConstraint("id", name="source_profile_key"),
        sa.UniqueConstraint("domain", "source_type", name="source_profile_one_domain_source_type"),
    )
    op.create_table(
        "change",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("run_id", sa.String(length=36), nullable=False),
        sa.Column("table_name", sa.String(length=64), nullable=False),
        sa.Column("row_key", JSON, nullable=False),
        sa.Column("before", JSON, nullable=True),
        sa.Column("after", JSON, nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["change_run.id"], name="change_to_change_run_run_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="change_key"),
        sqlite_autoincrement=True,
    )
    op.create_index("change_by_run_id", "change", ["run_id"], unique=False)
    op.create_table(
        "concept",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("aliases", JSON, server_default="[]", nullable=False),
        sa.Column("description", sa.Text(), server_default="", nullable=False),
        sa.Column("concept_type", sa.String(length=64), server_default="topic", nullable=False),
        sa.Column("functional_profile", sa.Text(), nullable=True),
        sa.Column("gap_notes", sa.Text(), server_default="", nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("updated_at", MOMENT, nullable=False),
        sa.Column("folded", sa.Text(), nullable=False),
        sa.Column("profiled_traces", sa.Integer(), server_default="0", nullable=False),
        sa.CheckConstraint(
            "concept_type IN ('topic', 'entity', 'method', 'claim', 'question')", name="concept_concept_type_known"
        ),
        sa.ForeignKeyConstraint(["id"], ["entity.id"], name="concept_entity", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="concept_key"),
        sa.UniqueConstraint("folded", name="concept_one_folded"),
    )
    op.create_table(
        "document",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("source_profile_id", sa.String(length=36), nullable=True),
        sa.Column("content_type", sa.String(length=64), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("raw_content", sa.Text(), server_default="", nullable=False),
        sa.Column("top_summary", sa.Text(), server_default="", nullable=False),
        sa.Column("key_claims", JSON, server_default="[]", nullable=False),
        sa.Column("ingested_at", MOMENT, nullable=False),
        sa.Column("last_accessed", MOMENT, nullable=True),
        sa.Column("access_count", sa.Integer(), server_default="0", nullable=False),
        sa.Column("status", sa.String(length=64), server_default="active", nullable=False),
        sa.Column("content_sha256", sa.String(length=64), nullable=False),
        sa.Column("written_at", MOMENT, nullable=True),
        sa.Column("language", sa.Text(), server_default="", nullable=False),
        sa.CheckConstraint(
            "content_type IN ('article', 'paper', 'note', 'code', 'conversation', 'reference')",
            name="document_content_type_known",
        ),
        sa.CheckConstraint("status IN ('active', 'archived', 'superseded')", name="document_status_known"),
        sa.ForeignKeyConstraint(["id"], ["entity.id"], name="document_entity", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["source_profile_id"],
            ["source_profile.id"],
            name="document_to_source_profile_source_profile_id",
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("id", name="document_key"),
        sa.UniqueConstraint("content_sha256", name="document_one_content_sha256"),
    )
    op.create_index("document_by_source_profile_id", "document", ["source_profile_id"], unique=False)
    op.create_index("document_by_status", "document", ["status"], unique=False)
    op.create_table(
        "link",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("source_type", sa.String(length=64), nullable=False),
        sa.Column("source_id", sa.String(length=36), nullable=False),
        sa.Column("target_type", sa.String(length=64), nullable=False),
        sa.Column("target_id", sa.String(length=36), nullable=False),
        sa.Column("relation", sa.String(length=64), nullable=False),
        sa.Column("weight", sa.Float(), server_default="1", nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("created_by", sa.String(length=64), server_default="auto", nullable=False),
        sa.Column("task_type", sa.String(length=64), server_default="", nullable=False),
        sa.Column("note", sa.Text(), server_default="", nullable=False),
        sa.CheckConstraint("created_by IN ('auto', 'manual', 'consolidated')", name="link_created_by_known"),
        sa.CheckConstraint("weight >= 0 AND weight <= 1", name="link_weight_share"),
        sa.ForeignKeyConstraint(
            ["source_type", "source_id"],
            ["entity.kind", "entity.id"],
            name="link_to_entity_source_type_source_id",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["target_type", "target_id"],
            ["entity.kind", "entity.id"],
            name="link_to_entity_target_type_target_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="link_key"),
        sa.UniqueConstraint(
            "source_id", "target_id", "relation", "task_type", name="link_one_source_id_target_id_relation_task_type"
        ),
    )
    op.create_index("link_by_source", "link", ["source_type", "source_id"], unique=False)
    op.create_index("link_by_target", "link", ["target_type", "target_id"], unique=False)
    op.create_table(
        "usage_trace",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("session_id", sa.Text(), server_default="", nullable=False),
        sa.Column("task_type", sa.String(length=64), nullable=False),
        sa.Column("context_summary", sa.Text(), server_default="", nullable=False),
        sa.Column("query", sa.Text(), server_default="", nullable=False),
        sa.Column("outcome", sa.String(length=64), nullable=False),
        sa.Column("notes", sa.Text(), server_default="", nullable=False),
        sa.Column("timestamp", MOMENT, nullable=False),
        sa.Column("recorded", sa.String(length=64), server_default="explicit", nullable=False),
        sa.Column("retrieval_id", sa.String(length=36), nullable=True),
        sa.CheckConstraint("outcome IN ('win', 'partial', 'miss', 'misleading')", name="usage_trace_outcome_known"),
        sa.CheckConstraint("recorded IN ('explicit', 'inferred')", name="usage_trace_recorded_known"),
        sa.CheckConstraint(
            TASKS,
            name="usage_trace_task_type_known",
        ),
        sa.ForeignKeyConstraint(
            ["retrieval_id"], ["retrieval.id"], name="usage_trace_to_retrieval_retrieval_id", ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name="usage_trace_key"),
    )
    op.create_index("usage_trace_by_session", "usage_trace", ["session_id"], unique=False)
    op.create_index("usage_trace_by_time", "usage_trace", ["timestamp"], unique=False)
    op.create_table(
        "chunk",
        sa.Column("number", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("document_id", sa.String(length=36), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), server_default="0", nullable=False),
        sa.Column("summary", sa.Text(), server_default="", nullable=False),
        sa.Column("chunk_type", sa.String(length=64), server_default="narrative", nullable=False),
        sa.Column("token_count", sa.Integer(), server_default="0", nullable=False),
        sa.Column("functional_profile", sa.Text(), nullable=True),
        sa.Column("needs_context", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("rhetorical_mode", sa.String(length=64), server_default="explanatory", nullable=False),
        sa.Column("heading", sa.Text(), server_default="", nullable=False),
        sa.Column("begins", sa.Integer(), server_default="0", nullable=False),
        sa.Column("ends", sa.Integer(), server_default="0", nullable=False),
        sa.Column("spaced", sa.Text(), server_default="", nullable=False),
        sa.Column("content_sha256", sa.String(length=64), server_default="", nullable=False),
        sa.Column("profiled_traces", sa.Integer(), server_default="0", nullable=False),
        sa.Column("retrieved_count", sa.Integer(), server_default="0", nullable=False),
        sa.Column("last_retrieved", MOMENT, nullable=True),
        sa.ForeignKeyConstraint(
            ["document_id"], ["document.id"], name="chunk_to_document_document_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["id"], ["entity.id"], name="chunk_to_entity_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("number", name="chunk_key"),
        sa.UniqueConstraint("id", name="chunk_one_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("chunk_by_document", "chunk", ["document_id", "position"], unique=False)
    op.create_table(
        "concept_alias",
        sa.Column("folded", sa.Text(), nullable=False),
        sa.Column("concept_id", sa.String(length=36), nullable=False),
        sa.ForeignKeyConstraint(
            ["concept_id"], ["concept.id"], name="concept_alias_to_concept_concept_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("folded", name="concept_alias_key"),
    )
    op.create_index("concept_alias_by_concept_id", "concept_alias", ["concept_id"], unique=False)
    op.create_table(
        "location",
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("document_id", sa.String(length=36), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("state", sa.Text(), server_default="", nullable=False),
        sa.Column("seen_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(
            ["document_id"], ["document.id"], name="location_to_document_document_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("source", name="location_key"),
    )
    op.create_index("location_by_document_id", "location", ["document_id"], unique=False)
    op.create_table(
        "embedding",
        sa.Column("chunk_id", sa.String(length=36), nullable=False),
        sa.Column("model", sa.String(length=200), nullable=False),
        sa.Column("dimensions", sa.Integer(), server_default="0", nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["chunk_id"], ["chunk.id"], name="embedding_to_chunk_chunk_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("chunk_id", "model", name="embedding_key"),
    )
    op.create_index("embedding_by_model", "embedding", ["model"], unique=False)
    op.create_table(
        "mention",
        sa.Column("chunk_id", sa.String(length=36), nullable=False),
        sa.Column("concept_id", sa.String(length=36), nullable=False),
        sa.Column("count", sa.Integer(), server_default="1", nullable=False),
        sa.ForeignKeyConstraint(["chunk_id"], ["chunk.id"], name="mention_to_chunk_chunk_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["concept_id"], ["concept.id"], name="mention_to_concept_concept_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("chunk_id", "concept_id", name="mention_key"),
        sqlite_with_rowid=False,
    )
    op.create_index("mention_by_concept_id", "mention", ["concept_id"], unique=False)
    op.create_table(
        "retrieval_chunk",
        sa.Column("retrieval_id", sa.String(length=36), nullable=False),
        sa.Column("chunk_id", sa.String(length=36), nullable=False),
        sa.Column("rank", sa.Integer(), server_default="0", nullable=False),
        sa.Column("score", sa.Float(), server_default="0", nullable=False),
        sa.Column("why", JSON, server_default="{}", nullable=False),
        sa.ForeignKeyConstraint(
            ["chunk_id"], ["chunk.id"], name="retrieval_chunk_to_chunk_chunk_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["retrieval_id"], ["retrieval.id"], name="retrieval_chunk_to_retrieval_retrieval_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("retrieval_id", "chunk_id", name="retrieval_chunk_key"),
    )
    op.create_index("retrieval_chunk_by_chunk", "retrieval_chunk", ["chunk_id"], unique=False)
    op.create_table(
        "trace_chunk",
        sa.Column("trace_id", sa.String(length=36), nullable=False),
        sa.Column("chunk_id", sa.String(length=36), nullable=False),
        sa.Column("position", sa.Integer(), server_default="0", nullable=False),
        sa.Column("archived_at", MOMENT, nullable=True),
        sa.ForeignKeyConstraint(["chunk_id"], ["chunk.id"], name="trace_chunk_to_chunk_chunk_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["trace_id"], ["usage_trace.id"], name="trace_chunk_to_usage_trace_trace_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("trace_id", "chunk_id", name="trace_chunk_key"),
    )
    op.create_index("trace_chunk_by_chunk", "trace_chunk", ["chunk_id"], unique=False)
