"""In which project a question was asked and a use recorded: of what was written before nobody knows it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """A column each."""
    for table in ("retrieval", "usage_trace"):
        op.add_column(table, sa.Column("project", sa.Text(), nullable=True))
