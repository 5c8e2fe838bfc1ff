"""The vectors of a library in a file lie in the search index, in the cache folder, where those of all entries do."""

from __future__ import annotations

from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """PostgreSQL compares its own, and keeps them."""
    if op.get_bind().dialect.name == "sqlite":
        op.execute("DELETE FROM embedding")
