"""A library into another, table by table: PostgreSQL to a file as its backup, a file to PostgreSQL when a team takes
over what one person began.
"""

from __future__ import annotations

import struct
from contextlib import closing
from datetime import datetime
from pathlib import Path

from sqlalchemy import Connection, func, select, text, true

from core.base import files
from core.base.result import KnowledgeError
from core.library import schema
from core.library.database import Library, backup_name, copy_file, discard_file, experience_of, open_library
from core.library.rows import counted

AT_ONCE = 1000


def back_up(library: Library, folder: Path, *, now: datetime | None = None) -> Path:
    """A whole copy of one moment, while others read and write: of SQLite by its own online backup, of PostgreSQL as a
    SQLite file, which is a library like any other. Raises OSError and what the database raises."""
    target = backup_name(folder, now=now)
    if library.is_sqlite:
        copy_file(library, target)
        return target
    temporary = files.temporary_name(target)
    try:
        with closing(open_library(str(temporary))) as made:
            copy_library(library, made)
            copy_file(made, target)
    finally:
        discard_file(temporary)
        discard_file(experience_of(temporary))
    return target


def copy_library(source: Library, target: Library) -> dict[str, int]:
    """Every row of one moment of `source` into `target`, which must be empty; table -> rows.

    One transaction on either side: the copy is whole or not there. Vectors come as bytes; `near` is made from them
    where the target has pgvector.
    """
    counts: dict[str, int] = {}
    with source.reading() as old, target.writing() as new:
        if old.dialect.name == "postgresql":
            old.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"))
        held = [table.name for table in schema.TABLES if table.name not in schema.OF_CHUNKS and counted(new, table)]
        if held:
            message = f"the target holds a library already ({', '.join(held[:3])}); nothing was copied"
            raise KnowledgeError("not-empty", message)
        for table in schema.TABLES:
            asked = select(table).where(schema.OF_CHUNKS.get(table.name, true()))
            rows = old.execution_options(yield_per=AT_ONCE).execute(asked).mappings()
            counts[table.name] = 0
            for part in rows.partitions(AT_ONCE):
                new.execute(table.insert(), [dict(row) for row in part])
                counts[table.name] += len(part)
        _go_on_counting(new)
        fill_near(new)
    return counts


def _go_on_counting(connection: Connection) -> None:
    """PostgreSQL's counters do not notice numbers that were given."""
    if connection.dialect.name != "postgresql":
        return
    for table, column in ((schema.chunk, schema.chunk.c.number), (schema.change, schema.change.c.id)):
        highest = connection.execute(select(func.max(column))).scalar()
        if highest:
            counter = f"pg_get_serial_sequence('{table.name}', '{column.name}')"
            connection.execute(text(f"SELECT setval({counter}, {int(highest)})"))


def has_near(connection: Connection) -> bool:
    """Whether vectors can be compared by the server: PostgreSQL with pgvector."""
    if connection.dialect.name != "postgresql":
        return False
    asked = "SELECT 1 FROM information_schema.columns WHERE table_name = 'embedding' AND column_name = 'near'"
    return connection.execute(text(asked)).first() is not None


def fill_near(connection: Connection) -> None:
    """Give pgvector, where the server has it, its copy of every vector that it has not got."""
    if not has_near(connection):
        return
    missing = text("SELECT chunk_id, model, vector FROM embedding WHERE near IS NULL LIMIT 1000")
    change = text("UPDATE embedding SET near = CAST(:near AS vector) WHERE chunk_id = :chunk_id AND model = :model")
    while some := connection.execute(missing).all():  # not all of a large library at once
        rows = [(row.chunk_id, row.model, struct.unpack(f"<{len(row.vector) // 4}f", row.vector)) for row in some]
        connection.execute(change, [{"chunk_id": of, "model": by, "near": str(list(near))} for of, by, near in rows])
