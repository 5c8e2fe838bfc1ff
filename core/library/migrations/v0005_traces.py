"""How chunks served has one place for all that is known: a file beside that of the library. What a profile has taken in
is not counted twice any more, and weights of ranking are not learned."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Drop what was copied before (`database._carry_traces`) from a file; a server keeps its traces."""
    connection = op.get_bind()
    for table in ("ranking", "trace_count"):  # a library that is new has never had them
        op.execute(f"DROP TABLE IF EXISTS {table}")
    if connection.dialect.name == "postgresql":
        op.drop_column("trace_chunk", "archived_at")
        return
    asked = "SELECT count(*) FROM main.usage_trace WHERE id NOT IN (SELECT id FROM experience.usage_trace)"
    if connection.execute(sa.text(asked)).scalar():
        raise RuntimeError("traces came while they were carried over; open the library again")
    for trigger in ("trace_words_add", "trace_words_drop", "trace_words_change"):
        op.execute(f"DROP TRIGGER IF EXISTS main.{trigger}")
    for table in ("trace_words", "trace_chunk", "usage_trace"):
        op.execute(f"DROP TABLE IF EXISTS main.{table}")
