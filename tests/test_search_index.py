"""The search index is disposable: whatever happens to it, a user gets the answers that their files hold."""

from __future__ import annotations

import contextlib
import os
import random
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.base import files, locks
from core.base.entry import SearchSource
from core.search import query, store
from core.search.index import open_index
from tests.search_shelf import Shelf, answers, entries_of
from tests.waiting import PATIENCE_SECONDS

QUERIES = ("port 8080", "session_store.py", "ession_st", "the server", "C++", "数据", "nothing of the kind")


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    made = Shelf(tmp_path)
    made.write("facts", "The server listens on port 8080", "Written in C++ and C", "数据库使用SQLite存储知识")
    made.write("notes", "session_store.py keeps sessions", "Ports of the exporter: 8080, 8081", "The end")
    return made


def test_a_second_opening_reads_no_file_again(shelf: Shelf) -> None:
    """A user with a large store does not wait for it at every search."""
    settle(shelf)
    shelf.open().close()
    read: list[str] = []
    rows = [one._replace(entries=lambda data: read.append("x") or [], read=None) for one in shelf.sources()]  # type: ignore[func-returns-value]
    open_index(shelf.cache, lambda: rows).close()
    assert read == []


def test_what_changed_is_parsed_once_and_nothing_else_is(shelf: Shelf) -> None:
    """One line more in a file of years is no reason to wait twice."""
    shelf.open().close()
    shelf.write("facts", "The server listens on port 9090")
    parsed: list[str] = []

    def watched(source: SearchSource) -> SearchSource:
        return source._replace(entries=lambda data: parsed.append(source.name) or source.entries(data))  # type: ignore[func-returns-value]

    open_index(shelf.cache, lambda: list(map(watched, shelf.sources()))).close()
    assert parsed == ["facts"]
    assert shelf.texts("9090") == ["The server listens on port 9090"]


@pytest.mark.skipif(os.name == "nt", reason="there the folder decides")
def test_nobody_else_may_read_the_index(shelf: Shelf) -> None:
    """It holds the text of everything that is known; SQLite alone would make it readable by all."""
    shelf.texts("port")
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) & 0o077 for path in shelf.cache.iterdir()}
    assert modes == {"search.db": 0, "search.seal": 0, "search.lock": 0}


def test_a_search_lets_the_index_go(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """A panel that keeps an index open, or a search that broke off, would keep every update waiting."""
    index = shelf.open()

    def somebody_writes() -> None:
        with contextlib.closing(sqlite3.connect(shelf.cache / store.FILE, timeout=0, isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            other.execute("ROLLBACK")

    def breaks_off(*_: object) -> None:
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            somebody_writes()  # while it reads, all that it reads is of one state
        raise sqlite3.OperationalError("disk I/O error")

    assert query.search(index, "port 8080")
    somebody_writes()
    monkeypatch.setattr(query, "see_all", breaks_off)
    with pytest.raises(sqlite3.OperationalError, match="disk"):
        query.search(index, "port 8080")
    somebody_writes()
    index.close()


def test_deleted_index_gives_the_same_answers(shelf: Shelf) -> None:
    """Deleting the cache folder loses nothing."""
    before = answers(shelf, QUERIES)
    assert before[0] and before[2] and before[5]
    files.remove_tree(shelf.cache)
    assert answers(shelf, QUERIES) == before


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_half_written_index_gives_the_same_answers(shelf: Shelf, share: float) -> None:
    """A full disk or a killed machine left a part of the file."""
    before = answers(shelf, QUERIES)
    path = shelf.cache / store.FILE
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    assert answers(shelf, QUERIES) == before
    assert path.stat().st_size > 0


@pytest.mark.parametrize("seed", range(6))
def test_damaged_index_gives_the_same_answers(shelf: Shelf, seed: int) -> None:
    """Bytes in the middle were overwritten, and the file's time set back to hide it."""
    before = answers(shelf, QUERIES)
    path = shelf.cache / store.FILE
    found = path.stat()
    data, dice = bytearray(path.read_bytes()), random.Random(seed)
    for _ in range(200):
        data[dice.randrange(len(data))] = dice.randrange(256)
    path.write_bytes(bytes(data))
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))
    assert answers(shelf, QUERIES) == before


def test_index_of_another_version_or_another_program_is_made_anew(shelf: Shelf) -> None:
    """After an update of the program, and beside a file that is no index at all."""
    before = answers(shelf, QUERIES)
    path = shelf.cache / store.FILE
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 99")
    database.close()
    store.seal(shelf.cache)
    assert answers(shelf, QUERIES) == before
    path.write_text("not a database")
    store.seal(shelf.cache)
    assert answers(shelf, QUERIES) == before
    for name in (store.SEAL, store.LOCK):
        (shelf.cache / name).write_bytes(b"\xff\x00{")
        assert answers(shelf, QUERIES) == before


def test_a_changed_file_is_seen_even_with_its_old_size_and_time(shelf: Shelf) -> None:
    """A search never shows a line that is no longer there."""
    path = shelf.write("facts", "The port is 8080")
    settle(shelf)
    assert shelf.texts("8080")[0] == "The port is 8080"
    shelf.open().close()
    found = path.stat()
    path.write_text("The port is 9090", encoding="utf-8")
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))
    assert shelf.texts("9090") == ["The port is 9090"]


def test_a_file_that_is_as_before_again_is_read_again(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody else brought in other words while this search waited, and the file went back."""
    shelf.write("facts", "The port is 8080")
    shelf.open().close()
    real, waits = locks.locked, iter([True])

    @contextlib.contextmanager
    def waited(*given: object, **named: object) -> Iterator[None]:
        if next(waits, False):
            shelf.write("facts", "The port is 9090")
            shelf.open().close()
            shelf.write("facts", "The port is 8080")
        with real(*given, **named):  # type: ignore[arg-type]
            yield

    shelf.write("notes", "Something new")
    monkeypatch.setattr(locks, "locked", waited)
    assert [row.text for row in entries_of(shelf.open())] == ["The port is 8080", "Something new"]


def test_a_file_that_was_made_while_a_search_waited_stays(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever listed the files before does not take out of the index what somebody brought in meanwhile."""
    shelf.open().close()
    real, theirs = locks.locked, []

    @contextlib.contextmanager
    def waited(*given: object, **named: object) -> Iterator[None]:
        if not theirs:
            theirs.append("")
            shelf.write("new", "The exporter was renamed")
            theirs[0] = shelf.open()
        with real(*given, **named):  # type: ignore[arg-type]
            yield

    shelf.write("notes", "Something else")
    monkeypatch.setattr(locks, "locked", waited)
    shelf.open().close()
    [index] = theirs
    assert [hit.entry.text for hit in query.search(index, "renamed exporter")] == ["The exporter was renamed"]
    index.close()


def test_updates_end_where_a_rebuild_ends(shelf: Shelf) -> None:
    """After any edits, the index that was kept up to date answers like a new one, and holds nothing else."""
    dice = random.Random(5)
    words = ("port", "server", "session", "store", "8080", "exporter", "C++", "数据", "end")
    for step in range(25):
        name = dice.choice(["facts", "notes", "more"])
        if step % 9 == 8:
            (shelf.folder / f"{name}.txt").unlink(missing_ok=True)
        else:
            shelf.write(name, *(" ".join(dice.choices(words, k=4)) for _ in range(dice.randrange(6))))
        shelf.open().close()
    settle(shelf)
    shelf.open().close()
    kept = shelf.open()
    held, seen = entries_of(kept), answers(shelf, QUERIES)
    kept.close()
    (shelf.cache / store.SEAL).unlink()
    assert entries_of(shelf.open()) == held
    assert answers(shelf, QUERIES) == seen


def test_a_source_that_cannot_be_read_is_told_and_mended(shelf: Shelf) -> None:
    """What is not searched is said; once it is readable again it is found."""
    path = shelf.write("more", "damaged")
    index = shelf.open()
    assert [problem.message for problem in index.problems] == ["more is damaged."]
    index.close()
    assert shelf.open().problems, "it is said again at the next search"
    path.write_text("a healed line")
    assert shelf.texts("healed") == ["a healed line"]
    path.unlink()
    path.mkdir()
    index = shelf.open()
    assert "cannot be read" in index.problems[0].message
    assert shelf.texts("healed") == []


def test_without_a_cache_folder_a_search_still_answers(shelf: Shelf) -> None:
    """A file in the way of the cache folder, or another program that holds the lock for ever: a note, and answers."""
    shelf.cache.write_text("in the way")
    index = shelf.open()
    assert "in memory" in index.note
    assert shelf.texts("8080")
    shelf.cache.unlink()
    with locks.locked(shelf.cache / store.LOCK):
        index = shelf.open(editor_wait=0.05)
        assert "another program is writing it" in index.note
        assert entries_of(index)[0].kind == "bullet"


def test_two_processes_that_edit_and_search_at_once_agree(shelf: Shelf) -> None:
    """Neither crashes, neither misses its own line, and the index they leave is that of the files."""
    script = (
        "import sys\nfrom pathlib import Path\nfrom tests.search_shelf import Shelf\n"
        "shelf, me = Shelf(Path(sys.argv[1])), sys.argv[2]\n"
        "for step in range(12):\n"
        "    shelf.write(me, *(f'{me} wrote line{number}' for number in range(step + 1)))\n"
        "    found = shelf.texts(f'{me} line{step}', limit=30)\n"
        "    assert f'{me} wrote line{step}' in found, (step, found)\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", script, str(shelf.folder), me], cwd=Path(__file__).parents[1])
        for me in ("anna", "boris")
    ]
    assert [process.wait(timeout=PATIENCE_SECONDS) for process in running] == [0, 0]
    settle(shelf)
    index = shelf.open()
    assert index.note == ""
    index.close()
    assert sum(text.startswith(("anna", "boris")) for text in shelf.texts("wrote", limit=50)) == 24


def settle(shelf: Shelf) -> None:
    """Make the files old enough to be trusted by their time."""
    for path in shelf.folder.glob("*.txt"):
        found = path.stat()
        os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns - 10_000_000_000))
