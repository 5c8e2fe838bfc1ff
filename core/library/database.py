"""Opening the library: SQLite in a file, or PostgreSQL at an address, with the tables of this program's version.

The database is precious. It is copied before every migration; a migration is one transaction; SQLite runs with a
write-ahead log and synced commits, so that what was committed survives a power cut; foreign keys are on.

SQLAlchemy is an extra (`library`), loaded here and by nobody else: other commands start without it.
"""

from __future__ import annotations

import contextlib
import importlib.util
import itertools
import os
import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.base import files
from core.base.entry import statement_mark
from core.base.installed import how_to_install
from core.base.result import KnowledgeError
from core.experience import record
from core.library.migrations import upgrade
from core.library.searched import file_at
from core.library.told import Told, narrow

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

HEAD = "0007"
"""The version of the tables: a library that has it needs no migration."""
BUSY_SECONDS = 60
"""How long a writer waits for another one before it gives up."""
_MIGRATION_LOCK = 0x6B6E6F77
"""PostgreSQL's advisory lock under which one program at a time migrates."""


@dataclass(frozen=True)
class Library:
    """An open library. `path` is its file, None on PostgreSQL; `backup` the copy that a migration made, if one did;
    `told` what of it may be read, None for all."""

    engine: Engine
    path: Path | None = None
    backup: Path | None = None
    told: Told | None = None

    @property
    def is_sqlite(self) -> bool:
        return self.path is not None

    @contextlib.contextmanager
    def reading(self) -> Iterator[Connection]:
        """One state of the library, however many statements ask for it."""
        with self.engine.connect() as connection:
            if self.told is not None:
                narrow(connection, self.told)
            yield connection

    @contextlib.contextmanager
    def writing(self) -> Iterator[Connection]:
        """One transaction: all of it is there afterwards, or nothing. SQLite takes its one place for writers at the
        beginning, so that what is read inside cannot change before it is written."""
        with self.engine.connect() as connection:
            if self.path is not None:
                connection = connection.execution_options(takes_turn=True)
            with connection.begin():
                yield connection

    def close(self) -> None:
        """Let go of the file, or of the server."""
        self.engine.dispose()


def open_library(
    url: str,
    backups: Path | None = None,
    *,
    experience: Path | None = None,
    patience: float = BUSY_SECONDS,
) -> Library:
    """Open the library at `url`, a path (also `sqlite:///…`) or `postgresql://…`, and migrate it.

    How the chunks of a file served stands in the file `experience`, None for the one beside it; a server has it itself.

    `backups` is the folder for the copy of a file that is made before a migration; None: beside it. PostgreSQL takes
    back a migration that fails, and its administrator makes the copies (pg_dump).
    `patience` is for how many seconds another writer is waited for.
    Raises KnowledgeError, in one sentence, for missing packages, a file that is no library or a damaged one, a library
    of a later version, a server that does not answer.
    """
    try:
        from sqlalchemy.exc import DBAPIError, SQLAlchemyError
    except ImportError as error:
        raise _missing(str(error.name), "library") from error
    shown = shown_url(url)
    try:
        engine, path = _engine(url, patience, experience)
    except ImportError as error:
        raise _missing(str(error.name), "postgres") from error
    except (SQLAlchemyError, ValueError):
        accepted = "give a path, or postgresql://USER@HOST/DATABASE"
        raise KnowledgeError("bad-library", "this is no address of a library", shown, accepted) from None
    try:
        if path is not None:
            files.make_folder(path.parent)
            os.close(files.open_for_append(path))  # 0600 from the first byte on, and never a link to elsewhere
            record.prepare(experience or experience_of(path))
        library = Library(engine, path)
        beside = backups if backups is not None or path is None else path.parent / "backups"
        copy = _migrate(library, beside, shown)
    except KnowledgeError:
        engine.dispose()
        raise
    except DBAPIError as error:
        engine.dispose()
        message = f"the library cannot be opened: {cause_of(error)}"
        raise KnowledgeError("library-failed", message, shown, _hint(error, path)) from error
    except OSError as error:
        engine.dispose()
        message = f"the library cannot be opened: {error.strerror or error}"
        raise KnowledgeError("library-failed", message, shown) from error
    return Library(engine, path, copy)


def database_errors() -> tuple[type[Exception], ...]:
    """What a database raises, for whoever must not load one to name it."""
    from sqlalchemy.exc import SQLAlchemyError

    return SQLAlchemyError, sqlite3.Error


def shown_url(url: str) -> str:
    """An address without its password."""
    return re.sub(
        r"(://[^/@:]*):[^@]+@|([?&]password=)[^&]*",
        lambda found: f"{found[1]}:***@" if found[1] else f"{found[2]}***",
        url,
    )


def cause_of(error: Exception) -> str:
    """What a database said, as one line without the statement."""
    said = str(getattr(error, "orig", None) or error).strip()
    return re.sub(r"\s+", " ", said)[:300] or type(error).__name__


def missing() -> KnowledgeError | None:
    """What to install where the packages of the library are not there; None where they are. Loads none of them."""
    return None if importlib.util.find_spec("sqlalchemy") is not None else _missing("sqlalchemy", "library")


def _missing(package: str, extra: str) -> KnowledgeError:
    message = f"the library needs packages that are not installed ({package})"
    return KnowledgeError("no-library-support", message, hint=how_to_install(extra))


def _hint(error: Exception, path: Path | None) -> str:
    if path is None:
        return "check the address, the server, and that this user may make tables in the database"
    if "not a database" in str(error) or "malformed" in str(error):
        return f"put the newest copy from {path.parent / 'backups'} in its place"
    return ""


def experience_of(path: Path) -> Path:
    """Where it stands how the chunks of a library in a file served: beside it, also of a copy."""
    named = path.name.replace("library", "experience", 1)
    return path.with_name(named if named != path.name else f"experience-{path.name}")


def _engine(url: str, patience: float, experience: Path | None) -> tuple[Engine, Path | None]:
    """The engine, and the path where it is a file. Raises ValueError for an address of another kind."""
    import sqlalchemy
    from sqlalchemy import event

    scheme, found, rest = url.partition("://")
    if found and scheme.startswith("postgres"):
        import psycopg  # noqa: F401 - says by name what is missing

        address = sqlalchemy.make_url(f"postgresql+psycopg://{rest}")
        at_most = {"connect_timeout": int(min(10, max(2, patience)))}
        return sqlalchemy.create_engine(address, pool_pre_ping=True, connect_args=at_most), None
    path = file_at(url)
    if path is None:
        raise ValueError(scheme)
    address = sqlalchemy.URL.create("sqlite", database=str(path))
    engine = sqlalchemy.create_engine(address, connect_args={"timeout": patience})
    traces = str(experience or experience_of(path))
    event.listen(engine, "connect", lambda connection, _record: _prepare(connection, traces))
    event.listen(engine, "begin", _begin)
    return engine, path


def _prepare(connection: Any, experience: str) -> None:
    """A new connection to SQLite, with the tables of how chunks served beside those of the library. Transactions begin
    when we say so (`_begin`)."""
    connection.isolation_level = None
    for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", "cache_size = -32000"):
        connection.execute(f"PRAGMA {pragma}")
    connection.execute("ATTACH DATABASE ? AS experience", (experience,))


def _begin(connection: Connection) -> None:
    takes_turn = connection.get_execution_options().get("takes_turn")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if takes_turn else "BEGIN")


# --- migrations -------------------------------------------------------------------------------------------------------


def version_of(connection: Connection) -> str:
    """The migration that the library has reached, "" for an empty database."""
    from sqlalchemy import inspect, text

    if not inspect(connection).has_table("alembic_version"):
        return ""
    return str(connection.execute(text("SELECT version_num FROM alembic_version")).scalar() or "")


def _migrate(library: Library, backups: Path | None, shown: str) -> Path | None:
    """Bring the tables to this version; the copy of what was there before, None where nothing had to be done."""
    from core.library import schema

    with library.reading() as connection:
        before = version_of(connection)
    if before == HEAD:
        return None
    if before > HEAD:
        message = f"this library has version {before}, and this program knows versions up to {HEAD}"
        hint = "use the version of this program that wrote it last, or a later one"
        raise KnowledgeError("newer-library", message, shown, hint)
    copy = None
    if before and backups is not None and library.is_sqlite:
        copy = backup_name(backups, f"before-{HEAD}")
        copy_file(library, copy)
    if "" < before < TRACES_APART and library.is_sqlite:
        _carry_traces(library)
    with library.writing() as connection:
        if library.path is None:
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})")
        reached = version_of(connection)
        if reached and reached != HEAD:
            upgrade(connection, reached, HEAD)
        elif not reached:  # else another program made it while this one waited
            schema.make(connection)
            connection.exec_driver_sql("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)")
            connection.exec_driver_sql(f"INSERT INTO alembic_version VALUES ('{HEAD}')")
    return copy


TRACES_APART = "0005"
"""From this version on a file has its traces in `experience.db`."""


def _carry_traces(library: Library) -> None:
    """Copy what a library of an earlier version says of uses into the file for it. This is a transaction before the
    one that drops it here: the two files do not become durable together. Done again after a kill, it changes
    nothing."""
    from sqlalchemy import text

    with library.writing() as connection:
        here = {row.name for row in connection.execute(text("PRAGMA main.table_info(usage_trace)"))}
        there = connection.execute(text("PRAGMA experience.table_info(usage_trace)"))
        names = ", ".join(sorted(here & {row.name for row in there}))
        for table, columns in (("usage_trace", names), ("trace_chunk", "trace_id, chunk_id, position")):
            connection.exec_driver_sql(
                f"INSERT OR IGNORE INTO experience.{table}({columns}) SELECT {columns} FROM main.{table}"
            )
        marks = set(connection.execute(text("SELECT chunk_id FROM experience.trace_chunk")).scalars())
        for chunk in connection.execute(text("SELECT id FROM main.chunk")).scalars().all():
            if (mark := statement_mark(chunk)) in marks:  # an earlier format had chunks so
                moved = "UPDATE OR IGNORE experience.trace_chunk SET chunk_id = ? WHERE chunk_id = ?"
                connection.exec_driver_sql(moved, (chunk, mark))


# --- copies -----------------------------------------------------------------------------------------------------------


def copy_file(library: Library, target: Path) -> None:
    """Copy SQLite's file as it is at one moment, while others read and write, and beside it how its chunks served.
    Raises OSError and sqlite3.Error."""
    for name, place in (("experience", experience_of(target)), ("main", target)):
        temporary = files.temporary_name(place)
        try:
            os.close(files.open_for_append(temporary))
            with library.engine.connect() as connection, contextlib.closing(sqlite3.connect(temporary)) as copy:
                source = connection.connection.driver_connection
                assert isinstance(source, sqlite3.Connection)
                source.backup(copy, pages=1000, name=name)
                copy.execute("PRAGMA journal_mode = DELETE")  # one file, nothing beside it
            with files.opened(temporary, os.O_RDWR) as descriptor:
                files.sync(descriptor)
            files.replace_file(temporary, place)
        finally:
            discard_file(temporary)


def discard_file(temporary: Path) -> None:
    """Take away what is left of a file, and what SQLite keeps beside one."""
    for ending in ("", "-wal", "-shm"):
        files.discard(temporary.with_name(temporary.name + ending))


def backup_name(folder: Path, note: str = "", now: datetime | None = None) -> Path:
    """A name that no copy has yet: `library-20261122T140000Z-before-0003.db`."""
    at = (now or datetime.now(UTC)).strftime("%Y%m%dT%H%M%SZ")
    stem = "-".join(filter(None, ("library", at, note)))
    files.make_folder(folder)
    names = (folder / f"{stem}{f'-{number}' if number else ''}.db" for number in itertools.count())
    return next(name for name in names if not files.exists(name))


# --- checks -----------------------------------------------------------------------------------------------------------


def problems_of(library: Library) -> list[str]:
    """What is wrong with the library, a sentence each; [] for a sound one. Reads everything, changes nothing."""
    from sqlalchemy import text

    found: list[str] = []
    with library.reading() as connection:
        if library.path is not None:
            rows = connection.execute(text("PRAGMA integrity_check(5)")).scalars()
            found += [f"the file is damaged: {row}" for row in rows if row != "ok"]
            broken = connection.execute(text("PRAGMA foreign_key_check")).all()
            found += [f"{len(broken)} rows point to rows that are gone, the first in {broken[0][0]}"] if broken else []
        for sentence, statement in _CHECKS.items():
            number = connection.execute(text(statement)).scalar() or 0
            found += [sentence.format(number)] if number else []
    return found


_CHECKS = {
    "{} chunks are not the part of their document that they name": (
        "SELECT count(*) FROM chunk JOIN document ON document.id = chunk.document_id WHERE "
        "substr(document.raw_content, chunk.begins + 1, chunk.ends - chunk.begins) <> chunk.content"
    ),
    "{} entities are listed and are not there": (
        "SELECT count(*) FROM entity WHERE NOT EXISTS (SELECT 1 FROM document WHERE document.id = entity.id) "
        "AND NOT EXISTS (SELECT 1 FROM chunk WHERE chunk.id = entity.id) "
        "AND NOT EXISTS (SELECT 1 FROM concept WHERE concept.id = entity.id)"
    ),
    "{} concepts cannot be found by their name": (
        "SELECT count(*) FROM concept WHERE NOT EXISTS (SELECT 1 FROM concept_alias "
        "WHERE concept_alias.folded = concept.folded AND concept_alias.concept_id = concept.id)"
    ),
    "{} documents are active and have no chunk": (
        "SELECT count(*) FROM document WHERE status = 'active' AND trim(raw_content) <> '' "
        "AND NOT EXISTS (SELECT 1 FROM chunk WHERE chunk.document_id = document.id)"
    ),
}
