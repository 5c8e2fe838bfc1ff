"""The day of a document stands with its chunks, and PostgreSQL searches it as the search of the store does."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_SQLITE = (
    "UPDATE chunk SET day = coalesce((SELECT substr(d.written_at, 1, 10) FROM document d "
    "WHERE d.id = chunk.document_id), '')",
)
_WORDS = "to_tsvector('english', regexp_replace({}, '[^[:alnum:]]+', ' ', 'g'))"
_POSTGRESQL = (
    "UPDATE chunk SET day = coalesce((SELECT to_char(d.written_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') FROM document d "
    "WHERE d.id = chunk.document_id), '')",
    "ALTER TABLE chunk DROP COLUMN words",
    "ALTER TABLE chunk ADD COLUMN words tsvector GENERATED ALWAYS AS ("
    f"setweight({_WORDS.format('heading')}, 'A') || setweight({_WORDS.format('summary')}, 'B') || "
    + _WORDS.format("CASE spaced WHEN '' THEN content ELSE spaced END")
    + f" || setweight({_WORDS.format('day')}, 'C')) STORED",
    "CREATE INDEX chunk_by_words ON chunk USING gin(words)",
)


def upgrade() -> None:
    """The days of chunks that are there, and what PostgreSQL searches made again with them."""
    op.add_column("chunk", sa.Column("day", sa.Text(), server_default="", nullable=False))
    for statement in _POSTGRESQL if op.get_bind().dialect.name == "postgresql" else _SQLITE:
        op.execute(statement)
