"""Passages taken out of a library for good, wherever they were copied to, and nothing of them left in its file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from sqlalchemy import JSON, String, Text, delete, select
from sqlalchemy.engine import Connection

from core.library import rows, schema
from core.library.database import Library
from core.library.records import Document, sha256_of
from core.library.shelve import in_turn

_SENTENCE_END = re.compile(r"(?<=[.!?;:])\s+|\n+")
Without = Callable[[str], str]
NONE: frozenset[str] = frozenset()
TEXTS = frozenset(("document", "chunk"))
"""Tables whose texts are parts of a document, place by place."""
NAMES = frozenset(("id", "kind", "sha256", "content_sha256", "source", "folded", "path"))
"""Columns that name a row or a place, and quote nobody."""


def purge_rows(library: Library, without: Without, says: Callable[[str], bool], but: frozenset[str] = NONE) -> int:
    """Take passages out of every text of the library but of the tables `but`: `without` gives a text back without
    them (of the same length where offsets into it count), `says` tells a text that is nothing else. A document, chunk
    or concept that is nothing else goes; the other chunks lose their vectors, which were made of the whole text. How
    many rows that were. The space that they took in a file is overwritten."""

    def work(connection: Connection) -> int:
        tables = [table for table in schema.metadata.sorted_tables if table.name not in but]
        return sum(_purge_table(connection, table, without, says) for table in tables)

    changed = in_turn(library, work)
    scour(library)
    return changed


_WHOLE = {"document": "raw_content", "chunk": "content", "concept": "name"}


def _purge_table(connection: Connection, table: Any, without: Without, says: Callable[[str], bool]) -> int:
    texts = [column for column in table.columns if _is_text(column)]
    if not texts:
        return 0
    keys, changed = list(table.primary_key.columns), 0
    for row in connection.execute(select(*keys, *texts)).all():
        old = dict(zip([column.name for column in texts], row[len(keys) :], strict=True))
        new = {name: _clean(value, without, says) for name, value in old.items()}
        differing = {name: value for name, value in new.items() if value != old[name]}
        if table.name not in TEXTS:
            differing = {name: _close(value) for name, value in differing.items()}
        if not differing:
            continue
        changed += 1
        whole = _WHOLE.get(table.name)
        if whole in differing and not new[whole].strip():
            rows.forget(connection, [row[0]])
            continue
        if "content_sha256" in table.columns and whole in differing:
            differing["content_sha256"] = sha256_of(new[whole])
        here = [column == value for column, value in zip(keys, row[: len(keys)], strict=True)]
        connection.execute(table.update().where(*here).values(differing))
        if table.name == "document" and whole in differing:
            _cut_again(connection, row[0], new[whole])
    return changed


def drop_history(connection: Connection, ids: Iterable[str]) -> None:
    """What the history of changes keeps of the rows of these documents and chunks."""
    wanted = set(ids)
    for number, key in connection.execute(select(schema.change.c.id, schema.change.c.row_key)).all():
        if wanted & {value for value in dict(key).values() if isinstance(value, str)}:
            connection.execute(delete(schema.change).where(schema.change.c.id == number))


def _cut_again(connection: Connection, document_id: str, text: str) -> None:
    """Let the chunks of a document be the parts of its text as it is now."""
    for chunk in rows.chunks_of(connection, document_id):
        content = text[chunk.begins : chunk.ends]
        if content == chunk.content:
            continue
        if not content.strip():
            rows.forget(connection, [chunk.id])
            continue
        new = {"content": content, "content_sha256": sha256_of(content), "spaced": ""}
        connection.execute(schema.chunk.update().where(schema.chunk.c.id == chunk.id).values(new))
        connection.execute(delete(schema.embedding).where(schema.embedding.c.chunk_id == chunk.id))


def _is_text(column: Any) -> bool:
    named = column.primary_key or column.foreign_keys or column.name in NAMES
    return not named and isinstance(column.type, (Text, String, JSON)) and column.type is not schema.WORD


def _clean(value: Any, without: Without, says: Callable[[str], bool]) -> Any:
    if isinstance(value, str):
        return " " * len(value) if says(value) else without(value)
    if isinstance(value, (list, tuple)):
        made = [_clean(one, without, says) for one in value if not (isinstance(one, str) and says(one))]
        return tuple(made) if isinstance(value, tuple) else made
    if isinstance(value, dict):
        return {key: _clean(one, without, says) for key, one in value.items()}
    return value


def own_sentences(library: Library, document: Document) -> list[str]:
    """The sentences of a document that no other one has."""
    with library.reading() as connection:
        others = select(schema.document.c.raw_content).where(schema.document.c.id != document.id)
        elsewhere = {one.strip() for text in connection.execute(others).scalars() for one in _SENTENCE_END.split(text)}
    said = [document.title, *document.key_claims, *_SENTENCE_END.split(document.raw_content)]
    return [sentence for one in said if (sentence := one.strip()) and sentence not in elsewhere]


def _close(value: Any) -> Any:
    return " ".join(value.split()) if isinstance(value, str) else value


def scour(library: Library) -> None:
    """Let nothing of deleted rows stay in the file of a library: its full-text tables are made anew, and so is the
    file. A server overwrites in its own time."""
    if not library.is_sqlite:
        return
    connection = library.engine.raw_connection()
    try:
        cursor = connection.cursor()
        for place in ("main", "experience"):
            cursor.execute(f"SELECT name FROM {place}.sqlite_master WHERE sql LIKE '%USING fts5(%'")
            for (name,) in cursor.fetchall():
                cursor.execute(f'INSERT INTO {place}."{name}"("{name}") VALUES (\'optimize\')')
            cursor.execute(f"VACUUM {place}")
            cursor.execute(f"PRAGMA {place}.wal_checkpoint(TRUNCATE)")
        cursor.close()
    finally:
        connection.close()
