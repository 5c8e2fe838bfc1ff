"""The steps from one version of the tables to the next; one that was released never changes.

A new library has the tables of `schema.make` at once. What is said of uses lies in a file of its own from 0005 on
(`database._carry_traces` has copied it); before, it was in the library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from sqlalchemy import Connection

_WORDS = "to_tsvector('english', regexp_replace({}, '[^[:alnum:]]+', ' ', 'g'))"


class Step(NamedTuple):
    """What is done to a library in a file, and to one in PostgreSQL."""

    version: str
    sqlite: tuple[str, ...] = ()
    postgresql: tuple[str, ...] = ()


_PROJECTS = tuple(f"ALTER TABLE {table} ADD COLUMN project TEXT" for table in ("location", "retrieval", "usage_trace"))
_DAY = "ALTER TABLE chunk ADD COLUMN day TEXT DEFAULT '' NOT NULL"
_DAY_OF = "UPDATE chunk SET day = coalesce((SELECT {} FROM document d WHERE d.id = chunk.document_id), '')"
_COUNTED = ("DROP TABLE IF EXISTS ranking", "DROP TABLE IF EXISTS trace_count")

STEPS = (
    Step(
        "0002",  # what was asked before can be searched
        postgresql=(
            "ALTER TABLE usage_trace ADD COLUMN words tsvector GENERATED ALWAYS AS ("
            + _WORDS.format("query || ' ' || context_summary")
            + ") STORED",
            "CREATE INDEX usage_trace_by_words ON usage_trace USING gin(words)",
        ),
    ),
    Step(
        "0003",  # the day of a document stands with its chunks, and is searched
        (_DAY, _DAY_OF.format("substr(d.written_at, 1, 10)")),
        (
            _DAY,
            _DAY_OF.format("to_char(d.written_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')"),
            "ALTER TABLE chunk DROP COLUMN words",
            "ALTER TABLE chunk ADD COLUMN words tsvector GENERATED ALWAYS AS ("
            f"setweight({_WORDS.format('heading')}, 'A') || setweight({_WORDS.format('summary')}, 'B') || "
            + _WORDS.format("CASE spaced WHEN '' THEN content ELSE spaced END")
            + f" || setweight({_WORDS.format('day')}, 'C')) STORED",
            "CREATE INDEX chunk_by_words ON chunk USING gin(words)",
        ),
    ),
    Step("0004", _PROJECTS, _PROJECTS),  # in which project; of what was written before nobody knows
    Step(
        "0005",
        (
            *_COUNTED,
            *(f"DROP TRIGGER IF EXISTS main.trace_words_{name}" for name in ("add", "drop", "change")),
            *(f"DROP TABLE IF EXISTS main.{name}" for name in ("trace_words", "trace_chunk", "usage_trace")),
        ),
        (*_COUNTED, "ALTER TABLE trace_chunk DROP COLUMN archived_at"),
    ),
    Step(
        "0006",  # a library in a file is searched through the one index in the cache folder
        (
            *(f"DROP TRIGGER IF EXISTS chunk_words_{name}" for name in ("add", "drop", "change")),
            *(f"DROP TABLE IF EXISTS {name}" for name in ("chunk_stems", "chunk_words")),
        ),
    ),
    Step("0007", ("DELETE FROM embedding",)),  # its vectors lie in that index too
)


def upgrade(connection: Connection, reached: str, wanted: str) -> None:
    """Take every step that is missing, in the transaction of this connection."""
    is_sqlite = connection.dialect.name == "sqlite"
    for step in STEPS:
        if not reached < step.version <= wanted:
            continue
        if is_sqlite and step.version == "0005":
            asked = "SELECT count(*) FROM main.usage_trace WHERE id NOT IN (SELECT id FROM experience.usage_trace)"
            if connection.exec_driver_sql(asked).scalar():
                raise RuntimeError("traces came while they were carried over; open the library again")
        for statement in step.sqlite if is_sqlite else step.postgresql:
            connection.exec_driver_sql(statement)
    connection.exec_driver_sql(f"UPDATE alembic_version SET version_num = '{wanted}'")
