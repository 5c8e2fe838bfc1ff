"""What was asked before can be searched."""

from __future__ import annotations

from alembic import op

revision = "0002"
down_revision = "0001"

_POSTGRESQL = (
    "ALTER TABLE usage_trace ADD COLUMN words tsvector GENERATED ALWAYS AS ("
    "to_tsvector('english', regexp_replace(query || ' ' || context_summary, '[^[:alnum:]]+', ' ', 'g'))) STORED",
    "CREATE INDEX usage_trace_by_words ON usage_trace USING gin(words)",
)


def upgrade() -> None:
    """A file has its traces, and what is searched of them, in `experience.db`."""
    for statement in _POSTGRESQL if op.get_bind().dialect.name == "postgresql" else ():
        op.execute(statement)
