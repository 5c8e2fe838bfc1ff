"""Vectors of what was said: a conversation is found by what it means, whatever words it used; words never wait for it,
and nothing stays that the files or the user took back."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from core import conversation_index
from core.base.result import KnowledgeError, attempt
from core.commands.conversations import VectorsReport, build_vectors
from core.commands.transcript import index_folder
from core.search import embedders, kept_vectors
from core.search.conversations import open_sealed
from tests.search_shelf import Topics
from tests.spoken_home import Disk

pytest.importorskip("numpy")


@pytest.fixture
def topics(monkeypatch: pytest.MonkeyPatch) -> Topics:
    made = Topics()
    monkeypatch.setitem(embedders._LOADED, "minilm", made)
    return made


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Disk:
    monkeypatch.setattr(conversation_index, "SETTLED_NS", 0)
    made = Disk(tmp_path, {"embedder": "minilm"})
    made.claude("red", ("user", "The automobile is red"), ("assistant", "Painted it was, last spring"))
    made.claude("meal", ("user", "Broth with noodles"), ("assistant", "Boil them for a while"), day="2026-05-05")
    made.claude("list", ("user", "A list of names"), ("assistant", "Nothing else"), day="2026-05-06")
    return made


def made(disk: Disk, **named: Callable[[], bool]) -> VectorsReport:
    return build_vectors(disk.workspace, **named)  # type: ignore[arg-type]


def held(disk: Disk) -> tuple[int, int]:
    """How many vectors the index has, and how many of them are of no turn that can be found."""
    database = open_sealed(index_folder(disk.workspace))
    assert database is not None
    lost = (
        "SELECT count(*) FROM vectors WHERE turn NOT IN (SELECT turns.id FROM turns JOIN conversations ON"
        " conversations.id = thread)"
    )
    found = [database.execute(sql).fetchone()[0] for sql in ("SELECT count(*) FROM vectors", lost)]
    database.close()
    return found[0], found[1]


def test_a_conversation_is_found_by_what_it_means(disk: Disk, topics: Topics) -> None:
    """Nobody remembers the word that was used. Before there are vectors, words answer, and the way to them is named."""
    before = disk.find("which car")
    assert not before.hits and any("knowledge vectors" in one for one in before.warnings) and not topics.texts
    report = made(disk)
    assert (report.turns, report.waiting) == (9, 0)
    found = disk.find("which car")
    assert found.hits[0].name == "claude_code/red" and found.hits[0].text == "The automobile is red"
    assert "alike in meaning" in found.hits[0].why and not found.warnings
    assert disk.names("a cooked meal", since="2026-05-05")[0] == "claude_code/meal"


def test_vectors_follow_the_files(disk: Disk, topics: Topics) -> None:
    """What was deleted cannot be found by its meaning either, and only what is new is embedded again."""
    made(disk)
    grown = disk.folder / ".claude/projects/p/red.jsonl"
    disk.claude("red", ("user", "The automobile is red"), ("assistant", "Painted it was, last spring"),
                ("user", "Dark it is tonight"))  # fmt: skip
    before = len(topics.texts)
    assert (made(disk).turns, len(topics.texts) - before) == (10, 1)
    assert disk.names("moon")[0] == "claude_code/red"
    grown.unlink()
    assert "claude_code/red" not in [name for word in ("moon", "car") for name in disk.names(word)]
    assert held(disk) == (6, 0)


def test_a_build_that_is_stopped_goes_on(disk: Disk, topics: Topics, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hours of work are not lost to Ctrl-C, nor to an embedder that goes away; the newest turns come first."""
    monkeypatch.setattr("core.search.kept_vectors.BATCH", 2)
    monkeypatch.setattr(kept_vectors, "AT_ONCE", 2)
    disk.build()
    some = made(disk, cancelled=lambda: len(topics.texts) >= 4)
    assert (some.turns, some.waiting) == (4, 5) and "A list of names" in topics.texts
    assert any("5 turns have no vectors" in one for one in disk.find("car").warnings)

    def failing(texts: Sequence[str]) -> Sequence[Sequence[float]]:
        if len(topics.texts) >= 6:
            raise KnowledgeError("down", "the server is down")
        return topics(texts)

    monkeypatch.setitem(embedders._LOADED, "minilm", failing)
    assert isinstance(attempt(build_vectors, disk.workspace), KnowledgeError)
    monkeypatch.setitem(embedders._LOADED, "minilm", topics)
    assert (made(disk).turns, made(disk).waiting) == (9, 0)
    assert len(topics.texts) <= 9 + 2 * 2  # queries beside the turns


def test_neither_a_search_nor_a_look_waits_for_the_embedder(disk: Disk, topics: Topics) -> None:
    """While vectors are made, a new conversation is found at once, by its words."""
    disk.build()

    def look_meanwhile() -> None:
        topics.act = lambda: None
        disk.claude("new", ("user", "Something about a lighthouse"))
        assert disk.names("lighthouse")[0] == "claude_code/new"

    topics.act = look_meanwhile
    report = made(disk)
    assert report.waiting == 0 and held(disk) == (report.turns, 0) and report.turns == 11


def test_no_secret_is_embedded(disk: Disk, topics: Topics) -> None:
    """A vector tells of its text, and a text may go to a server: what is a secret is hidden from both."""
    key = "ghp_" + "a1B2" * 9
    disk.claude("key", ("user", f"The token is {key}, use it"), ("assistant", f"I keep {key} in mind"))
    made(disk)
    disk.find(f"token {key}")
    assert any("The token is" in text for text in topics.texts)
    turns = [text for text in topics.texts if not text.startswith("token ")]
    assert not [text for text in turns if key in text]


def test_vectors_of_another_embedder_are_not_compared(disk: Disk, topics: Topics) -> None:
    """Numbers of two models say nothing about each other."""
    made(disk)
    database = open_sealed(index_folder(disk.workspace))
    assert database is not None
    database.execute("UPDATE known SET value = 'other' WHERE key = 'embedder'")
    database.close()
    found = disk.find("car")
    assert not found.hits and any("knowledge vectors" in one for one in found.warnings)
    assert made(disk).turns == 9 and disk.names("car")[0] == "claude_code/red"


def test_two_embedders_never_mix_their_vectors(disk: Disk, topics: Topics, monkeypatch: pytest.MonkeyPatch) -> None:
    """A build that waits for its model while another one is done put its numbers under the other's name, for good."""
    disk.build()
    folder = index_folder(disk.workspace)

    def another_builds() -> None:
        topics.act = lambda: None
        kept_vectors.build(folder, "other", lambda texts: [[1.0, 0.0]] * len(texts))

    topics.act = another_builds
    late = attempt(build_vectors, disk.workspace)
    assert isinstance(late, KnowledgeError) and "another embedder" in late.error.message
    database = open_sealed(folder)
    assert database is not None and kept_vectors.are_there(database, "other")
    lengths = {row[0] for row in database.execute("SELECT length(vector) FROM vectors")}
    database.close()
    assert len(lengths) == 1


def test_turns_of_a_forgotten_conversation_wait_for_no_vectors(disk: Disk, topics: Topics) -> None:
    """A search told of turns without vectors after every build, which no build could make."""
    disk.build()
    database = open_sealed(index_folder(disk.workspace))
    assert database is not None
    before = kept_vectors.counted(database)
    database.execute("DELETE FROM conversations WHERE id = (SELECT min(id) FROM conversations)")
    after = kept_vectors.counted(database)
    database.close()
    assert before.waiting == 9 and after.waiting == 6


def test_a_full_disk_is_one_sentence(disk: Disk, topics: Topics, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who waits an hour for vectors and reads of a fault in the program does not think of making room."""
    disk.build()

    def full(*arguments: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(kept_vectors, "_put", full)
    refused = attempt(build_vectors, disk.workspace)
    assert isinstance(refused, KnowledgeError) and "disk is full" in refused.error.message
