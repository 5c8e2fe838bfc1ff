"""Where the steps begin: a library of this version. A new one has the tables of `schema.make` at once."""

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Nothing: there is no library of an earlier version."""
