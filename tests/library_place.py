"""A library for a test: SQLite in a file, or a database of its own on a real PostgreSQL that is started for the run."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TextIO

import pytest

from core.library.database import Library, open_library

NOW = datetime(2026, 11, 22, 14, 0, 0, 123456, tzinfo=UTC)

OUTSIDE = tempfile.gettempdir()
"""No test's own folder: what a test has is gone after it."""


def later(**passed: float) -> datetime:
    """NOW and a while."""
    return NOW + timedelta(**passed)


def opened(url: str) -> Library:
    """The library at an address."""
    return open_library(url)


@contextlib.contextmanager
def postgres_server() -> Iterator[str]:
    """The address of a PostgreSQL 16 with pgvector, in a folder of its own; gone afterwards."""
    pgserver = pytest.importorskip("pgserver", reason="no PostgreSQL for tests: pip install pgserver")
    folder = tempfile.mkdtemp(prefix="pg", dir=OUTSIDE)  # a short path: a socket's may have a hundred letters
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            server = pgserver.get_server(folder)
        try:
            for setting in ("fsync", "synchronous_commit", "full_page_writes"):  # it lives as long as the tests do
                server.psql(f"ALTER SYSTEM SET {setting} = off;")
            server.psql("SELECT pg_reload_conf();")
            yield server.get_uri()
        finally:
            server.cleanup()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def database_on(server: str, template: str = "template1") -> Iterator[str]:
    """The address of a new database on a server: an empty one, or a copy of another."""
    import psycopg

    name = f"test_{os.getpid()}_{secrets.token_hex(4)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
    try:
        yield server.replace("/postgres?", f"/{name}?")
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def empty_library(kind: str, folder: Path, server: str) -> str:
    """A library that was opened once and closed again, to be copied: a path in `folder`, or the name of a database."""
    url, name = str(folder / "library.db"), f"empty_{os.getpid()}"
    if kind == "postgres":
        import psycopg

        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        url = server.replace("/postgres?", f"/{name}?")
    opened(url).close()
    return url if kind == "sqlite" else name


@contextlib.contextmanager
def library_address(kind: str, folder: Path, server: str, empty: str = "") -> Iterator[str]:
    """Where a test's own library is: a path in `folder`, or a new database on `server`. It is a copy of the empty one,
    or still to be made."""
    if kind == "sqlite":
        if empty:
            shutil.copy(empty, folder / "library.db")
        yield str(folder / "library.db")
    else:
        with database_on(server, empty or "template1") as url:
            yield url


def beside(work: Callable[[Callable[[object], None]], object]) -> tuple[int, TextIO]:
    """`work` in a process of its own: its number, and the lines that it says by calling what it is given. It has loaded
    already what this process has, so it is at work at once; connections it must open for itself."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(read)
            work(lambda said: os.write(write, f"{said}\n".encode()))
            os._exit(0)
        except BaseException:  # noqa: BLE001 - the child must not go on as if it were the tests
            traceback.print_exc()
            os._exit(1)
    os.close(write)
    return child, os.fdopen(read, encoding="utf-8")
