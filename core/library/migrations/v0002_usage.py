"""What was asked before can be searched, and what usage taught about ranking has a place."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0002"
down_revision = "0001"

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")
MOMENT = sa.String(32).with_variant(postgresql.TIMESTAMP(timezone=True), "postgresql")

# By the id of the trace: a table with a key of texts may get other row numbers when it is vacuumed.
_COLUMNS = "trace_id, query, context_summary"
_SQLITE = (
    "CREATE VIRTUAL TABLE trace_words USING fts5(trace_id UNINDEXED, query, context_summary, "
    "tokenize=\"porter unicode61 remove_diacritics 2 categories 'L* N* Co So Mn Mc'\")",
    f"INSERT INTO trace_words({_COLUMNS}) SELECT id, query, context_summary FROM usage_trace",
    f"CREATE TRIGGER trace_words_add AFTER INSERT ON usage_trace BEGIN INSERT INTO trace_words({_COLUMNS}) "
    "VALUES (new.id, new.query, new.context_summary); END",
    "CREATE TRIGGER trace_words_drop AFTER DELETE ON usage_trace BEGIN "
    "DELETE FROM trace_words WHERE trace_id = old.id; END",
    "CREATE TRIGGER trace_words_change AFTER UPDATE OF query, context_summary ON usage_trace BEGIN "
    "UPDATE trace_words SET query = new.query, context_summary = new.context_summary WHERE trace_id = old.id; END",
)
_POSTGRESQL = (
    "ALTER TABLE usage_trace ADD COLUMN words tsvector GENERATED ALWAYS AS ("
    "to_tsvector('english', regexp_replace(query || ' ' || context_summary, '[^[:alnum:]]+', ' ', 'g'))) STORED",
    "CREATE INDEX usage_trace_by_words ON usage_trace USING gin(words)",
)


def upgrade() -> None:
    """Beside the tables that are there."""
    op.create_table(
        "ranking",
        sa.Column("source_profile_id", sa.String(length=36), nullable=False),
        sa.Column("weights", JSON, server_default="{}", nullable=False),
        sa.Column("uses", sa.Integer(), server_default="0", nullable=False),
        sa.Column("gain", sa.Float(), server_default="0", nullable=False),
        sa.Column("updated_at", MOMENT, nullable=False),
        sa.ForeignKeyConstraint(
            ["source_profile_id"],
            ["source_profile.id"],
            name="ranking_to_source_profile_source_profile_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("source_profile_id", name="ranking_key"),
    )
    for statement in _POSTGRESQL if op.get_bind().dialect.name == "postgresql" else _SQLITE:
        op.execute(statement)
