"""The day of a document is searched with its chunks, as it is in the search of the store."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_SEARCHED = "{0}.heading, {0}.summary, CASE {0}.spaced WHEN '' THEN {0}.content ELSE {0}.spaced END, {0}.day"
_COLUMNS = "rowid, heading, summary, content, about"
_DROP = f"INSERT INTO chunk_words(chunk_words, {_COLUMNS}) VALUES ('delete', old.number, {_SEARCHED.format('old')})"
_ADD = f"INSERT INTO chunk_words({_COLUMNS}) VALUES (new.number, {_SEARCHED.format('new')})"
_SQLITE = (
    "UPDATE chunk SET day = coalesce((SELECT substr(d.written_at, 1, 10) FROM document d "
    "WHERE d.id = chunk.document_id), '')",
    "DROP TRIGGER chunk_words_add",
    "DROP TRIGGER chunk_words_drop",
    "DROP TRIGGER chunk_words_change",
    "DROP TABLE chunk_stems",
    "DROP TABLE chunk_words",
    "CREATE VIRTUAL TABLE chunk_words USING fts5(heading, summary, content, about, content='', "
    "tokenize=\"porter unicode61 remove_diacritics 2 categories 'L* N* Co So Mn Mc'\")",
    "CREATE VIRTUAL TABLE chunk_stems USING fts5vocab(chunk_words, row)",
    f"INSERT INTO chunk_words({_COLUMNS}) SELECT c.number, {_SEARCHED.format('c')} FROM chunk c ORDER BY c.number",
    f"CREATE TRIGGER chunk_words_add AFTER INSERT ON chunk BEGIN {_ADD}; END",
    f"CREATE TRIGGER chunk_words_drop AFTER DELETE ON chunk BEGIN {_DROP}; END",
    "CREATE TRIGGER chunk_words_change AFTER UPDATE OF heading, summary, content, spaced, day ON chunk "
    f"BEGIN {_DROP}; {_ADD}; END",
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
    """The days of chunks that are there, and what is searched made again with them."""
    op.add_column("chunk", sa.Column("day", sa.Text(), server_default="", nullable=False))
    for statement in _POSTGRESQL if op.get_bind().dialect.name == "postgresql" else _SQLITE:
        op.execute(statement)
