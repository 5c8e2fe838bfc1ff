"""From harvests to YAML files to index.json, again and again: nothing doubled, nothing brought back, nothing lost."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from core.base import files
from core.factindex.record import read_history
from core.factindex.sync import record_path
from tests.factindex_world import Shelf, lesson


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path / "knowledge")


# --- ids, files, confirmation ----------------------------------------------------------------------------------------


def test_ids_count_up_by_domain_and_category(shelf: Shelf) -> None:
    """An id that is given twice would make two facts one."""
    shelf.teach("One", "Two", lesson("Three", "pitfall"), lesson("Four", domain="the-nexus"))
    report = shelf.sync()
    assert (report.new, report.total) == (4, 4)
    assert shelf.ids() == ["global:fact:001", "global:fact:002", "global:pitfall:001", "the-nexus:fact:001"]
    assert sorted(name for name in shelf.files() if name.endswith(".yaml")) == [
        "global/facts.yaml", "global/pitfalls.yaml", "repos/the-nexus/facts.yaml",
    ]  # fmt: skip


def test_the_number_of_a_deleted_fact_is_not_given_again(shelf: Shelf) -> None:
    """Ids of related facts would point at a stranger."""
    shelf.teach("One", "Two")
    shelf.sync()
    text = shelf.text("global/facts.yaml")
    shelf.write("global/facts.yaml", text[: text.index("- id: global:fact:002")])
    shelf.teach("Three")
    shelf.sync()
    assert shelf.ids() == ["global:fact:001", "global:fact:003"]


def test_the_same_fact_from_another_conversation_confirms(shelf: Shelf) -> None:
    """Else the index fills with the same sentence."""
    shelf.teach("The port is 8080")
    shelf.sync()
    shelf.teach("the port is `8080`.", day="2026-06-20")
    report = shelf.sync()
    assert (report.new, report.confirmed) == (0, 1)
    (fact,) = shelf.facts()
    assert (fact.source_count, fact.first_seen, fact.last_confirmed) == (2, "2026-06-12", "2026-06-20")
    assert fact.fact == "The port is 8080"


def test_the_same_conversation_does_not_confirm_itself(shelf: Shelf) -> None:
    """A second harvest of a conversation, by a better model or because it has grown, is no second witness."""
    shelf.teach("One", "one", path="/talks/a", sha="s1")
    shelf.teach("One", "More", path="/talks/a", sha="s2")
    shelf.teach("One", path="/talks/moved", sha="s1")
    shelf.sync()
    assert {fact.fact: fact.source_count for fact in shelf.facts()} == {"One": 1, "More": 1}


def test_what_is_known_everywhere_is_confirmed_from_a_repository(shelf: Shelf) -> None:
    """A global fact is not repeated in every repository; two repositories' own facts stay two."""
    shelf.teach("Everywhere")
    shelf.teach(lesson("Everywhere", domain="a"), lesson("Here", domain="a"))
    shelf.teach(lesson("Here", domain="b"))
    shelf.sync()
    assert [(fact.id, fact.source_count) for fact in shelf.facts()] == [
        ("a:fact:001", 1), ("b:fact:001", 1), ("global:fact:001", 2),
    ]  # fmt: skip


def test_an_old_file_for_a_whole_repository_is_used(shelf: Shelf) -> None:
    """Seed 5 has `repos/<name>.yaml`; a person who has one finds new facts there, not beside it."""
    shelf.write("repos/the-nexus.yaml", "---\ndomain: the-nexus\ncategory: pitfall\n---\n# Mine\n")
    shelf.write("agents/claude.yaml", "---\ndomain: claude\n---\n")
    shelf.teach(lesson("A", "pitfall", "the-nexus"), lesson("B", "fact", "the-nexus"), lesson("C", "fact", "claude"))
    shelf.sync()
    names = {name for name in shelf.files() if name.endswith(".yaml")}
    assert names == {"repos/the-nexus.yaml", "repos/the-nexus/facts.yaml", "agents/claude.yaml"}
    assert shelf.text("repos/the-nexus.yaml").startswith("---\ndomain: the-nexus\ncategory: pitfall\n---\n# Mine\n")


# --- what a person does ----------------------------------------------------------------------------------------------


def test_an_edit_reaches_the_index_and_stays_in_the_file(shelf: Shelf) -> None:
    """The YAML files are the truth."""
    shelf.teach("One")
    shelf.sync()
    shelf.edit("global/facts.yaml", "confidence: 0.5", "confidence: 0.95  # I tried it\n  tags: [mine]")
    shelf.teach("one", day="2026-06-20")
    shelf.sync()
    (fact,) = shelf.facts()
    assert (fact.confidence, fact.tags, fact.source_count) == (0.95, ("mine",), 2)
    assert "# I tried it" in shelf.text("global/facts.yaml")


def test_other_words_for_a_fact_keep_its_confirmations(shelf: Shelf) -> None:
    """A fact that a person has reworded must not come back in the old words."""
    shelf.teach("The prot is 8080")
    shelf.sync()
    shelf.edit("global/facts.yaml", "The prot is 8080", "The port is 8080")
    shelf.teach("The prot is 8080")
    shelf.teach("The port is 8080")
    shelf.sync()
    (fact,) = shelf.facts()
    assert (fact.fact, fact.source_count) == ("The port is 8080", 3)


@pytest.mark.parametrize("how", ["item", "file"])
def test_a_fact_deleted_by_hand_stays_deleted(shelf: Shelf, how: str) -> None:
    """From the same conversation or another one, also after index.json was deleted."""
    shelf.teach("Unwanted", sha="s", path="/talks/a")
    shelf.sync()
    if how == "file":
        (shelf.knowledge / "global/facts.yaml").unlink()
        shelf.sync(accept_removals=True)
    else:
        text = shelf.text("global/facts.yaml")
        shelf.write("global/facts.yaml", text[: text.index("- id")])
    shelf.sync()
    (shelf.knowledge / "index.json").unlink()
    shelf.teach("Unwanted", "Wanted", sha="s", path="/talks/a")
    shelf.teach("Unwanted")
    report = shelf.sync()
    assert [fact.fact for fact in shelf.facts()] == ["Wanted"]
    assert report.gone == 1


def test_an_item_that_is_not_valid_stays_and_is_told(shelf: Shelf) -> None:
    """A slip in one item must neither take it away nor have it doubled."""
    shelf.teach("One", "Two")
    shelf.sync()
    shelf.edit("global/facts.yaml", "confidence: 0.5\n", "confidence: high\n")
    before = shelf.text("global/facts.yaml")
    shelf.teach("One", "Three")
    report = shelf.sync()
    assert [problem.code for problem in report.problems] == ["bad-confidence", "bad-confidence"]
    assert shelf.ids() == ["global:fact:003"]
    assert shelf.text("global/facts.yaml").startswith(before.rstrip("\n"))


def test_a_person_who_saves_in_that_moment_loses_nothing(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between reading and replacing a file an editor may save it."""
    shelf.teach("One")
    shelf.sync()
    real, saved = files.write_temporary, []

    def meanwhile(path: Path, data: bytes, mode: int, note: str = "") -> Path:
        if path.name == "facts.yaml" and not saved:
            saved.append(path)
            shelf.edit("global/facts.yaml", "## Harvested", "my own words\n\n## Harvested")
        return real(path, data, mode, note)

    monkeypatch.setattr(files, "write_temporary", meanwhile)
    shelf.teach("Two")
    shelf.sync()
    assert saved and "my own words" in shelf.text("global/facts.yaml")
    assert [fact.fact for fact in shelf.facts()] == ["One", "Two"]


# --- the projection --------------------------------------------------------------------------------------------------


def test_a_second_sync_changes_nothing(shelf: Shelf) -> None:
    shelf.teach("One", lesson("Two", "pitfall", "the-nexus"))
    shelf.sync()
    before = shelf.files()
    shelf.clock += timedelta(days=3)
    assert not shelf.sync().written
    assert shelf.files() == before


def test_a_deleted_index_comes_back_byte_for_byte(shelf: Shelf) -> None:
    """It is a projection, time stamp and all."""
    shelf.teach("One", "Two")
    shelf.silence(31)
    shelf.sync()
    shelf.edit("global/facts.yaml", "0.5", "0.7")
    shelf.clock += timedelta(hours=1)
    shelf.sync()
    before = shelf.files()["index.json"]
    (shelf.knowledge / "index.json").unlink()
    shelf.clock += timedelta(days=9)
    shelf.sync()
    assert shelf.files()["index.json"] == before
    (shelf.knowledge / "index.json").write_bytes(b"garbage")
    shelf.sync()
    assert shelf.files()["index.json"] == before


def test_the_index_is_the_seeds(shelf: Shelf) -> None:
    """Other tools read it by these keys."""
    shelf.teach(lesson("One", "tool-quirk", "the-nexus", 0.9, ("git", "auth")))
    shelf.sync()
    loaded = json.loads(shelf.text("index.json"))
    assert list(loaded) == ["version", "last_updated", "total_facts", "facts"]
    assert (loaded["version"], loaded["total_facts"]) == (1, 1)
    assert loaded["last_updated"] == "2026-06-12T14:23:45+00:00"
    assert loaded["facts"] == [
        {
            "id": "the-nexus:tool-quirk:001", "fact": "One", "category": "tool-quirk", "domain": "the-nexus",
            "confidence": 0.9, "tags": ["git", "auth"], "source_count": 1, "first_seen": "2026-06-12",
            "last_confirmed": "2026-06-12",
        }
    ]  # fmt: skip


def test_a_store_without_facts_gets_no_index(shelf: Shelf) -> None:
    shelf.sync()
    assert "index.json" not in shelf.files()


# --- taking back -----------------------------------------------------------------------------------------------------


def test_an_undone_run_takes_its_facts_with_it(shelf: Shelf) -> None:
    shelf.teach("Before")
    shelf.sync()
    before = {name: data for name, data in shelf.files().items() if name.endswith(".yaml")}
    run = shelf.teach("One", "Two", "Before", day="2026-06-20")
    shelf.sync()
    shelf.undo(run)
    report = shelf.sync()
    assert report.taken_back == 2
    (fact,) = shelf.facts()
    assert (fact.fact, fact.source_count, fact.last_confirmed) == ("Before", 1, "2026-06-12")
    after = {name: data.replace(b"2026-06-20", b"2026-06-12") for name, data in shelf.files().items() if name in before}
    assert after == before
    shelf.teach("One")
    shelf.sync()
    assert [fact.id for fact in shelf.facts()] == ["global:fact:001", "global:fact:004"]


def test_an_undo_leaves_what_others_rest_on_and_what_the_person_changed(shelf: Shelf) -> None:
    run = shelf.teach("Shared", "Edited", "Removed", "Plain")
    shelf.teach("Shared", day="2026-06-20")
    shelf.sync()
    shelf.edit("global/facts.yaml", '"Edited"', '"Edited by me"')
    text = shelf.text("global/facts.yaml")
    start = text.index("- id: global:fact:003")
    shelf.write("global/facts.yaml", text[:start] + text[text.index("- id: global:fact:004") :])
    shelf.undo(run)
    report = shelf.sync()
    assert report.stayed == ["global:fact:002"]
    assert {fact.fact: fact.source_count for fact in shelf.facts()} == {"Shared": 1, "Edited by me": 1}
    shelf.teach("Removed", "Plain")
    shelf.sync()
    assert "Removed" not in [fact.fact for fact in shelf.facts()], "deleted by hand before the undo: it stays so"
    assert "Plain" in [fact.fact for fact in shelf.facts()]


# --- damage ----------------------------------------------------------------------------------------------------------


def test_a_damaged_line_of_the_record_harms_no_other(shelf: Shelf) -> None:
    """A bad block must not make the program forget everything else that was deleted by hand."""
    shelf.teach("One")
    shelf.teach("Two")
    shelf.sync()
    (shelf.knowledge / "global/facts.yaml").unlink()
    shelf.sync(accept_removals=True)
    path = record_path(shelf.state)
    lines = path.read_bytes().split(b"\n")
    lines[0] = lines[0].replace(b"global", b"glubal")
    path.write_bytes(b"\n".join(lines))
    assert read_history(path)[1].damaged == 1
    report = shelf.sync()
    assert any("damaged" in note for note in report.notes)
    assert [fact.fact for fact in shelf.facts()] == ["One"]


def test_a_journal_that_is_torn_is_as_if_it_had_not_been_written(shelf: Shelf) -> None:
    shelf.teach("One")
    shelf.sync()
    (shelf.state / "facts.journal").write_bytes(b"0badc0de {")
    shelf.teach("Two")
    shelf.sync()
    assert [fact.fact for fact in shelf.facts()] == ["One", "Two"]
    assert not (shelf.state / "facts.journal").exists()


def test_lessons_of_one_text_in_one_conversation_are_one(shelf: Shelf) -> None:
    shelf.teach("One", "one.", replace(lesson("ONE"), category="pitfall"))
    assert shelf.sync().new == 1
