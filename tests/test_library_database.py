"""The database of the library: what goes in comes out, and what was committed stays, on SQLite and PostgreSQL."""

from __future__ import annotations

import sqlite3
import stat
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path

import pytest
from sqlalchemy import MetaData, inspect, select, text
from sqlalchemy.exc import IntegrityError

from core.base.result import KnowledgeError, Ok, attempt
from core.experience import record
from core.library import copies, database, rows, schema
from core.library.database import Library, open_library, problems_of, shown_url
from core.library.records import (
    ChangeRun,
    Chunk,
    Concept,
    Document,
    Link,
    Location,
    Retrieval,
    SourceProfile,
    UsageTrace,
    folded,
    new_id,
    sha256_of,
)
from core.library.shelve import counts_of
from tests.library_first import earlier
from tests.library_place import NOW, database_on, later, opened
from tests.library_shelf import asked

TEXT = "Deadlocks in async code.\nA späte Zeile – with 日本語 and 🙂.\n"
PROFILE = SourceProfile(
    new_id(), "reddit.com", "forum", NOW, later(days=1), "Strong for gotchas; weak for facts.",
    ("practical_howto", "mood"), ("accuracy",), {"debugging": {"win": 5, "miss": 1}, "other": {"misleading": 3}}, 9,
)  # fmt: skip
DOCUMENT = Document(
    new_id(), "https://reddit.com/r/python/1", "article", "Why does it hang?", TEXT, NOW, PROFILE.id, "What this is.",
    ("One claim", "Another"), later(hours=2), 7, "archived", sha256_of(TEXT), later(days=-3), "python",
)  # fmt: skip
PLACE = Location(DOCUMENT.source, DOCUMENT.id, "ab", NOW, "12 34", "/srv/shop")
CHUNK = Chunk(
    new_id(), DOCUMENT.id, TEXT[:25], 0, "One sentence.", "definition", 12, "Good for debugging.", True, "anecdotal",
    "Setup > Linux", 0, 25, "spaced", sha256_of(TEXT[:25]), 5, 3, later(minutes=4), 41, "2026-11-19",
)  # fmt: skip
OTHER = replace(
    CHUNK, id=new_id(), content=TEXT[25:], position=1, begins=25, ends=len(TEXT), number=42, content_sha256="x"
)
CONCEPT = Concept(
    new_id(), "async/await", NOW, later(days=2), ("Async IO", "coroutines"), "Waiting together.", "method",
    "Well covered.", "Nothing about theory.", folded("async/await"), 6,
)  # fmt: skip
RETRIEVAL = Retrieval(
    new_id(), "why does it hang?", "debugging", NOW, "session 1", "I shall trust the first.", "/srv/shop"
)
TRACE = UsageTrace(
    new_id(), (OTHER.id, CHUNK.id), "debugging", "win", later(seconds=1), "session 1", "An async bug", "why?",
    "It matched\nmy stack trace", "inferred", RETRIEVAL.id, "/srv/shop",
)  # fmt: skip
LINK = Link(
    new_id(), "chunk", CHUNK.id, "concept", CONCEPT.id, "elaborates", later(seconds=3), 0.25, "consolidated",
    "debugging", "from 4 traces",
)  # fmt: skip
RUN = ChangeRun(new_id(), "consolidate", NOW, later(seconds=9), later(hours=1), {"profiles": 2, "links": ["a"]})


def fill(library: Library) -> None:
    with library.writing() as connection:
        rows.put(connection, schema.source_profile, PROFILE)
        rows.add_document(connection, DOCUMENT)
        rows.add_chunks(connection, [CHUNK, OTHER])
        rows.put(connection, schema.location, PLACE)
        rows.add_concept(connection, CONCEPT)
        rows.add_mentions(connection, {(CHUNK.id, CONCEPT.id): 3})
        rows.add_retrieval(connection, RETRIEVAL, [(CHUNK.id, 0.75, {"semantic": 0.5, "usage": 0.25})])
        rows.add_trace(connection, TRACE)
        assert rows.add_links(connection, [LINK]) == 1
        rows.put(connection, schema.change_run, RUN)


def test_every_field_of_every_record_comes_back_as_it_went_in(library: Library) -> None:
    """A field that the database forgets is knowledge lost, and nobody would notice."""
    fill(library)
    for known in (PROFILE, DOCUMENT, OTHER, CONCEPT, TRACE, LINK, RETRIEVAL, RUN):
        left = [one.name for one in fields(known) if getattr(known, one.name) in ("", (), {}, None, 0)]
        assert not left, f"{type(known).__name__}: this test says nothing about {left}"
    with library.reading() as connection:
        assert rows.by_ids(connection, schema.source_profile, SourceProfile, [PROFILE.id])[PROFILE.id] == PROFILE
        assert rows.document_of(connection, DOCUMENT.id) == DOCUMENT
        assert rows.chunks_of(connection, DOCUMENT.id) == [CHUNK, OTHER]
        assert rows.locations_of(connection, DOCUMENT.id) == [PLACE]
        named = rows.concepts_by_name(connection, ["ASYNC/await", " coroutines", "absent"])
        assert named == {"async/await": CONCEPT, "coroutines": CONCEPT}
        assert rows.traces(connection) == [TRACE]
        assert rows.links_of(connection, CONCEPT.id) == [LINK]
        assert rows.read(connection, schema.retrieval, Retrieval) == [RETRIEVAL]
        assert rows.read(connection, schema.change_run, ChangeRun) == [RUN]
        why = connection.execute(select(schema.retrieval_chunk)).one()
        assert (why.chunk_id, why.rank, why.score, why.why) == (CHUNK.id, 1, 0.75, {"semantic": 0.5, "usage": 0.25})
    assert problems_of(library) == []


@pytest.mark.filterwarnings("ignore:Did not recognize type")  # of a column that is left out below
@pytest.mark.parametrize("version", ["", "0001", "0003"])
def test_the_steps_from_an_earlier_version_make_what_the_schema_says(
    version: str, new_library_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a new column would be there in new libraries alone."""
    if version:
        earlier(new_library_url, version, monkeypatch).close()
    library = opened(new_library_url)
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    own = {"trace_words", "words", "near", "chunk_by_words", "usage_trace_by_words"}
    with library.reading() as connection:
        options = {"compare_type": True, "include_name": lambda name, *_: not any(str(name).startswith(x) for x in own)}
        context = MigrationContext.configure(connection, opts=options)
        context.impl.connection.info["test"] = True
        apart = schema.OF_CHUNKS if library.is_sqlite else ()
        there = [table for table in schema.TABLES if table.name not in apart]
        for name in apart:
            columns = {row["name"] for row in inspect(connection).get_columns(name, schema="experience")}
            assert {column.name for column in schema.metadata.tables[name].columns} <= columns
        wanted = MetaData(naming_convention=schema.metadata.naming_convention)
        for table in there:
            table.to_metadata(wanted)
        found = [row for row in compare_metadata(context, wanted) if not any(x in repr(row) for x in own)]
        assert found == []  # but what is of one database alone
        assert database.version_of(connection) == database.HEAD
        columns = {row["name"] for row in inspect(connection).get_columns("chunk")}
        assert {"id", "content", "functional_profile", "needs_context"} <= columns
    library.close()


def test_words_that_the_program_does_not_know_are_refused(library: Library) -> None:
    for table, row in (
        (schema.document, {**rows.row_of(DOCUMENT), "status": "lost"}),
        (schema.entity, {"id": new_id(), "kind": "thing"}),
    ):
        with pytest.raises(IntegrityError), library.writing() as connection:
            connection.execute(table.insert().values(**row))
    for wrong in (replace(TRACE, task_type="guessing"), replace(TRACE, outcome="great")):
        with pytest.raises(KnowledgeError, match="is no"), library.writing() as connection:
            rows.add_trace(connection, wrong)


def test_a_link_has_two_ends_of_the_kind_it_names(library: Library) -> None:
    """A link to what is gone, or to a chunk that it calls a concept, leads retrieval nowhere."""
    fill(library)
    for wrong in (
        replace(LINK, id=new_id(), target_id=new_id()),
        replace(LINK, id=new_id(), source_type="concept", relation="supports"),
        replace(LINK, id=new_id(), relation="applies", weight=1.5),
    ):
        with pytest.raises(IntegrityError), library.writing() as connection:
            rows.add_links(connection, [wrong])


def test_a_symmetric_link_is_stored_once_in_whatever_direction(library: Library) -> None:
    fill(library)
    both = Link(new_id(), "chunk", CHUNK.id, "chunk", OTHER.id, "complements", NOW, 0.5)
    back = replace(both, id=new_id(), source_id=OTHER.id, target_id=CHUNK.id)
    with library.writing() as connection:
        assert [rows.add_links(connection, [one]) for one in (both, back, both)] == [1, 0, 0]
        assert [one.relation for one in rows.links_of(connection, CHUNK.id)].count("complements") == 1


def test_what_is_forgotten_takes_all_with_it_that_hangs_on_it(library: Library) -> None:
    fill(library)
    with library.writing() as connection:
        assert rows.forget(connection, [DOCUMENT.id]) == 1
        left = {table.name: rows.counted(connection, table) for table in schema.TABLES}
    assert {name for name, number in left.items() if number} == {
        "source_profile", "entity", "concept", "concept_alias", "retrieval", "change_run",
    }  # fmt: skip
    assert problems_of(library) == []


def test_a_transaction_is_whole_or_not_there(library: Library) -> None:
    with pytest.raises(RuntimeError), library.writing() as connection:
        rows.put(connection, schema.source_profile, PROFILE)
        raise RuntimeError
    with library.reading() as connection:
        assert rows.counted(connection, schema.source_profile) == 0


def test_a_copy_of_a_library_is_that_library(library: Library, tmp_path: Path) -> None:
    """A backup of PostgreSQL is a SQLite file, and a file moves to PostgreSQL: nothing may change on the way."""
    fill(library)
    vector = {"chunk_id": CHUNK.id, "model": "m", "dimensions": 2, "vector": b"\0\0\x80?\0\0\0@"}
    with library.writing() as connection:
        connection.execute(schema.embedding.insert().values(**vector))
    copy = attempt(copies.back_up, library, tmp_path / "backups", now=NOW)
    assert isinstance(copy, Ok) and copy.value.name == "library-20261122T140000Z.db"
    made = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "backups").iterdir()}
    assert made == {copy.value.name: 0o600, "experience-20261122T140000Z.db": 0o600}
    again = opened(str(copy.value))
    with library.reading() as one, again.reading() as other:
        for table in schema.TABLES:
            key = list(table.primary_key)
            here, there = (list(each.execute(select(table).order_by(*key))) for each in (one, other))
            assert here == there, table.name
    assert problems_of(again) == []
    again.close()
    refused = attempt(copies.copy_library, library, library)
    assert isinstance(refused, KnowledgeError) and "holds a library already" in str(refused.error)


def test_a_file_moves_to_postgresql_and_goes_on(postgres: str, tmp_path: Path) -> None:
    """A team takes over what one person began: also the next chunk must find a free number there."""
    mine = opened(str(tmp_path / "library.db"))
    fill(mine)
    vector = {"chunk_id": CHUNK.id, "model": "m", "dimensions": 2, "vector": b"\0\0\x80?\0\0\0@"}
    with mine.writing() as connection:
        connection.execute(schema.embedding.insert().values(**vector))
    with database_on(postgres) as url:
        theirs = opened(url)
        copies.copy_library(mine, theirs)
        with theirs.writing() as connection:
            rows.add_chunks(connection, [replace(CHUNK, id=new_id(), number=0, position=2)])
            assert copies.has_near(connection)
            assert connection.execute(text("SELECT near FROM embedding")).scalar() == "[1,2]"
        theirs.close()
    mine.close()


# --- opening ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Path]:
    opened(str(tmp_path / "library.db")).close()
    yield tmp_path / "library.db"


def test_a_library_is_private_and_synced_and_holds_its_keys(file: Path) -> None:
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    library = opened(f"sqlite:///{file}")
    names = ("journal_mode", "synchronous", "foreign_keys")
    with library.reading() as connection:
        assert [connection.execute(text(f"PRAGMA {name}")).scalar() for name in names] == ["wal", 2, 1]
    library.close()


def test_vectors_of_an_older_library_go_and_nothing_else(file: Path) -> None:
    """They lie in the search index now, and are made again there."""
    library = opened(str(file))
    fill(library)
    vector = {"chunk_id": CHUNK.id, "model": "m", "dimensions": 2, "vector": b"\0\0\x80?\0\0\0@"}
    with library.writing() as connection:
        connection.execute(schema.embedding.insert().values(**vector))
        connection.execute(text("UPDATE alembic_version SET version_num = '0006'"))
    library.close()
    again = opened(str(file))
    with again.reading() as connection:
        assert rows.counted(connection, schema.embedding) == 0 and rows.counted(connection, schema.chunk) == 2
    assert again.backup is not None
    again.close()


def test_a_library_is_copied_before_it_is_migrated(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The step that fails must be one that can be taken back."""
    library = opened(str(file))
    fill(library)
    library.close()
    monkeypatch.setattr(database, "HEAD", "0999")

    def fail(*_given: object) -> None:
        raise sqlite3.OperationalError("no such step")

    monkeypatch.setattr(database, "upgrade", fail)
    with pytest.raises(sqlite3.OperationalError):
        open_library(str(file))
    (copy,) = (file.parent / "backups").glob("library-*")
    assert "before-0999" in copy.name
    monkeypatch.undo()
    for path in (file, copy):
        library = opened(str(path))
        with library.reading() as connection:
            assert rows.counted(connection, schema.chunk) == 2
        library.close()


def earlier_library(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A library of the version that had its traces in its own file, with one that a profile has taken in."""
    library = earlier(str(path), "0004", monkeypatch)
    with library.writing() as connection:
        rows.put(connection, schema.source_profile, PROFILE)
        rows.add_document(connection, DOCUMENT)
        rows.add_chunks(connection, [CHUNK, OTHER])
        rows.add_retrieval(connection, RETRIEVAL, [])
        row = rows.row_of(TRACE)
        del row["chunk_ids"]
        values = ", ".join(f":{name}" for name in row)
        statement = f"INSERT INTO main.usage_trace({', '.join(row)}) VALUES ({values})"
        connection.exec_driver_sql(statement, row | {"timestamp": TRACE.timestamp.isoformat()})
        for at, chunk in enumerate(TRACE.chunk_ids):
            connection.exec_driver_sql(
                "INSERT INTO main.trace_chunk VALUES (?, ?, ?, ?)", (TRACE.id, chunk, at, NOW.isoformat())
            )
    library.close()


def test_what_an_earlier_library_knows_of_uses_is_carried_over_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also after a kill between the copy into the other file and the end of the old tables."""
    path = tmp_path / "library.db"
    earlier_library(path, monkeypatch)

    def fail(*_given: object) -> None:
        raise RuntimeError("killed")

    for _ in range(2):
        with monkeypatch.context() as killed, pytest.raises(RuntimeError):
            killed.setattr(database, "upgrade", fail)
            opened(str(path))
    for _ in range(2):
        library = opened(str(path))
        with library.reading() as connection:
            assert rows.traces(connection) == [TRACE]
            assert not inspect(connection).has_table("usage_trace") and not inspect(connection).has_table("trace_count")
        assert problems_of(library) == []
        library.close()
    known = record.served(tmp_path / "experience.db", TRACE.chunk_ids)
    assert [known[chunk].tally for chunk in TRACE.chunk_ids] == [{"debugging": {"win": 1}}] * 2


def test_the_traces_of_other_things_are_no_part_of_a_library(library: Library, postgres: str, tmp_path: Path) -> None:
    """They stand in the same file, and a team that takes a library over gets what is said of its chunks alone."""
    if library.path is None:
        pytest.skip("a server has no other traces")
    fill(library)
    line = "The staging database listens on port 6543"
    record.record(tmp_path / "experience.db", [record.Use(line, "miss", "", why="a private word")])
    with library.reading() as connection:
        assert rows.traces(connection) == [TRACE]
        assert counts_of(connection)["usage_trace"] == 1
    with database_on(postgres) as url:
        theirs = opened(url)
        copies.copy_library(library, theirs)
        with theirs.reading() as connection:
            assert connection.execute(select(schema.usage_trace.c.notes)).scalars().all() == [TRACE.notes]
        theirs.close()
    with library.writing() as connection:
        rows.forget(connection, [DOCUMENT.id])
        assert connection.execute(select(schema.usage_trace.c.notes)).scalars().all() == ["a private word"]


def test_an_earlier_librarys_chunks_are_found_by_date(new_library_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was taken in before the third step had no day: it must not stay behind."""
    library = earlier(new_library_url, "0002", monkeypatch)
    with library.writing() as connection:
        rows.add_document(connection, replace(DOCUMENT, source_profile_id=None, status="active"))
        connection.execute(schema.entity.insert().values(id=CHUNK.id, kind="chunk"))
        row = rows.row_of(replace(CHUNK, last_retrieved=None))
        del row["day"]
        connection.execute(schema.chunk.insert().values(**row))
    library.close()
    library = opened(new_library_url)
    for query, number in (("on 19 November 2026", 1), ("in 2024", 0), ("deadlock", 1)):
        assert len(asked(library, query, now=NOW, log=False).dossiers) == number, query
    with library.writing() as connection:
        assert rows.read(connection, schema.chunk, Chunk) == [replace(CHUNK, last_retrieved=None)]
        rows.forget(connection, [DOCUMENT.id])
    assert not asked(library, "on 19 November 2026", now=NOW, log=False).dossiers
    assert problems_of(library) == []
    library.close()


@pytest.mark.parametrize("damage", ["text", "newer", "link", "folder"])
def test_what_is_no_library_is_said_in_one_sentence_and_left_alone(damage: str, tmp_path: Path) -> None:
    path = tmp_path / "library.db"
    if damage == "text":
        path.write_bytes(b"these are notes, and no database\n" * 100)
    elif damage == "newer":
        library = opened(str(path))
        with library.writing() as connection:
            connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
        library.close()
    elif damage == "link":
        (tmp_path / "elsewhere").write_bytes(b"")
        path.symlink_to(tmp_path / "elsewhere")
    else:
        path.mkdir()
    before = path.read_bytes() if path.is_file() else b""
    result = attempt(open_library, str(path))
    assert isinstance(result, KnowledgeError)
    assert str(result.error).count("\n") == 0 and str(path) in str(result.error)
    assert not path.is_file() or path.read_bytes() == before


@pytest.mark.parametrize(
    "url", ["mysql://x/y", "postgresql://nobody@127.0.0.1:1/none", "postgresql://u:hidden@/a?host=/nowhere"]
)
def test_an_address_that_leads_nowhere_is_told_without_its_password(url: str) -> None:
    result = attempt(open_library, url)
    assert isinstance(result, KnowledgeError) and "hidden" not in str(result.error)
    assert "hidden" not in shown_url("postgresql://u@/a?password=hidden&x=1")


def test_damage_is_found(file: Path) -> None:
    library = opened(str(file))
    fill(library)
    with sqlite3.connect(file) as connection:  # as another program would, with foreign keys off
        connection.execute("DELETE FROM concept")
        connection.execute("UPDATE document SET raw_content = 'x'")
    connection.close()
    found = "; ".join(problems_of(library))
    assert "not the part of their document" in found and "are listed and are not there" in found
    assert "point to rows that are gone" in found
    library.close()
