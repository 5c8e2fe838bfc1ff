"""A library in a file is searched through the one index in the cache folder, and has no full text of its own."""

from __future__ import annotations

from alembic import op

revision = "0006"
down_revision = "0005"

_SQLITE = (
    "DROP TRIGGER IF EXISTS chunk_words_add",
    "DROP TRIGGER IF EXISTS chunk_words_drop",
    "DROP TRIGGER IF EXISTS chunk_words_change",
    "DROP TABLE IF EXISTS chunk_stems",
    "DROP TABLE IF EXISTS chunk_words",
)


def upgrade() -> None:
    """PostgreSQL keeps its own: there it is what is searched."""
    for statement in _SQLITE if op.get_bind().dialect.name == "sqlite" else ():
        op.execute(statement)
