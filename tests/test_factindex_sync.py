"""The fact index and its files agree, whatever happened to either."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from core.base import files
from core.commands.doctor import doctor
from core.commands.fact_feed import sync_facts
from core.factindex.held import MIN_SUDDEN_REMOVALS
from core.factindex.record import read_history, record_path
from tests.factindex_crashes import campaign
from tests.factindex_world import Shelf, lesson
from tests.facts_home import cli, facts_of, harvested, workspace_of
from tests.harvest_world import World, says

# --- From harvests to YAML files to index.json, again and again: nothing doubled, nothing brought back, nothing lost.


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
    shelf.cut("global/facts.yaml", "- id: global:fact:002")
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
    """Seed 5 has `repos/<name>.yaml`; a user who has one finds new facts there, not beside it."""
    shelf.write("repos/the-nexus.yaml", "---\ndomain: the-nexus\ncategory: pitfall\n---\n# Mine\n")
    shelf.write("agents/claude.yaml", "---\ndomain: claude\n---\n")
    shelf.teach(lesson("A", "pitfall", "the-nexus"), lesson("B", "fact", "the-nexus"), lesson("C", "fact", "claude"))
    shelf.sync()
    names = {name for name in shelf.files() if name.endswith(".yaml")}
    assert names == {"repos/the-nexus.yaml", "repos/the-nexus/facts.yaml", "agents/claude.yaml"}
    assert shelf.text("repos/the-nexus.yaml").startswith("---\ndomain: the-nexus\ncategory: pitfall\n---\n# Mine\n")


# --- what a user does ----------------------------------------------------------------------------------------------


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


def test_other_words_for_a_fact_stay_and_count_on(shelf: Shelf) -> None:
    """A fact that a user has reworded must not come back in the old words."""
    shelf.teach("The prot is 8080")
    shelf.sync()
    shelf.edit("global/facts.yaml", "The prot is 8080", "The port is 8080")
    shelf.teach("The prot is 8080")
    shelf.teach("The port is 8080")
    shelf.sync()
    (fact,) = shelf.facts()
    assert (fact.fact, fact.source_count) == ("The port is 8080", 2)


@pytest.mark.parametrize("how", ["item", "file"])
def test_a_fact_deleted_by_hand_stays_deleted(shelf: Shelf, how: str) -> None:
    """From the same conversation or another one, also after index.json was deleted."""
    shelf.teach("Unwanted", sha="s", path="/talks/a")
    shelf.sync()
    if how == "file":
        (shelf.knowledge / "global/facts.yaml").unlink()
        shelf.sync(accept_removals=True)
    else:
        shelf.cut("global/facts.yaml", "- id")
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


# --- A YAML file that is damaged or gone: it is named and left out, all others work, and the facts that it held stay in
# the index until a user says that they may go. If these fail, a bad block or a lost folder empties what is known.

DAMAGE = {
    "zero bytes": b"\0" * 300,
    "no UTF-8": b"- id: global:fact:001\n  fact: caf\xe9\n  confidence: 0.5\n",
    "an open bracket": b"a: [b\n",
    "plain text": b"just some words\n",
    "empty": b"",
    "a merge": b"<<<<<<< HEAD\n- id: global:fact:001\n=======\n- id: global:fact:001\n>>>>>>> x\n",
}
OTHER = "repos/shop/facts.yaml"


@pytest.fixture
def held_shelf(tmp_path: Path) -> Shelf:
    made = Shelf(tmp_path / "knowledge")
    made.teach("Port 8080", "Redis is used", lesson("Of the shop", domain="shop"))
    made.sync()
    return made


def ids(held_shelf: Shelf, unread: bool) -> list[str]:
    return [fact.id for fact in held_shelf.facts() if fact.unread is unread]


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_broken_file_is_named_and_its_facts_stay(held_shelf: Shelf, kind: str) -> None:
    """Before, zero bytes shrank the index in silence, and one odd byte stopped every domain."""
    path = held_shelf.knowledge / "global/facts.yaml"
    path.write_bytes(DAMAGE[kind])
    held_shelf.teach("Newly learned", lesson("Of the shop, too", domain="shop"))
    report = held_shelf.sync()
    assert [(row.code, row.file) for row in report.problems] == [
        ("broken-file", "global/facts.yaml"), ("held-facts", "global/facts.yaml"),
    ]  # fmt: skip
    assert ids(held_shelf, unread=True) == ["global:fact:001", "global:fact:002"]
    assert {fact.fact for fact in held_shelf.facts()} == {
        "Port 8080", "Redis is used", "Newly learned", "Of the shop", "Of the shop, too",
    }  # fmt: skip
    assert path.read_bytes() == DAMAGE[kind], "nothing is written into a broken file"
    assert "global:fact:003" in held_shelf.text("global/facts-2.yaml")
    before = held_shelf.files()
    held_shelf.sync()
    assert held_shelf.files() == before, "and it stays so"


def test_what_is_held_survives_the_loss_of_the_index_and_comes_back_with_its_file(held_shelf: Shelf) -> None:
    path = held_shelf.knowledge / "global/facts.yaml"
    whole = path.read_bytes()
    path.write_bytes(b"\0" * len(whole))
    held_shelf.sync()
    index = held_shelf.files()["index.json"]
    (held_shelf.knowledge / "index.json").unlink()
    held_shelf.sync()
    assert held_shelf.files()["index.json"] == index
    path.write_bytes(whole)
    assert not held_shelf.sync().problems
    assert not ids(held_shelf, unread=True) and len(held_shelf.facts()) == 3


def test_what_a_broken_file_held_is_neither_doubled_nor_taken_for_deleted(held_shelf: Shelf) -> None:
    held_shelf.write("global/facts.yaml", "a: [b")
    held_shelf.teach("Port 8080", "Redis is used")
    report = held_shelf.sync()
    assert (report.new, report.confirmed, report.gone) == (0, 0, 0)


def test_a_file_that_is_gone_takes_its_facts_along_only_when_that_is_said(held_shelf: Shelf) -> None:
    (held_shelf.knowledge / OTHER).unlink()
    report = held_shelf.sync()
    (problem,) = report.problems
    assert (problem.file, "--accept-removals" in problem.message) == (OTHER, True)
    assert ids(held_shelf, unread=True) == ["shop:fact:001"]
    assert not held_shelf.sync(accept_removals=True).problems
    assert "shop:fact:001" not in held_shelf.ids()
    held_shelf.teach(lesson("Of the shop", domain="shop"))
    assert held_shelf.sync().gone == 1, "what was let go of stays away"


def test_a_file_that_moved_is_not_missed(held_shelf: Shelf) -> None:
    (held_shelf.knowledge / OTHER).rename(held_shelf.knowledge / "repos/shop/mine.yaml")
    assert not held_shelf.sync().problems


def test_most_of_a_large_file_vanishing_at_once_is_not_believed(tmp_path: Path) -> None:
    """A copy that was cut off is a whole file to a reader."""
    shelf = Shelf(tmp_path / "knowledge")
    shelf.teach(*(f"Fact number {number}" for number in range(3 * MIN_SUDDEN_REMOVALS)))
    shelf.sync()
    shelf.cut("global/facts.yaml", f"- id: global:fact:{MIN_SUDDEN_REMOVALS:03d}")
    assert [row.code for row in shelf.sync().problems] == ["held-facts"]
    assert len(shelf.facts()) == 3 * MIN_SUDDEN_REMOVALS
    shelf.sync(accept_removals=True)
    assert len(shelf.facts()) == MIN_SUDDEN_REMOVALS - 1


def test_a_few_facts_deleted_in_an_editor_need_no_word(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path / "knowledge")
    shelf.teach(*(f"Fact number {number}" for number in range(4)))
    shelf.sync()
    shelf.cut("global/facts.yaml", "- id: global:fact:002")
    assert not shelf.sync().problems
    assert shelf.ids() == ["global:fact:001"]


def test_a_run_that_is_undone_takes_its_file_along(held_shelf: Shelf) -> None:
    """What the program itself takes away is not missed."""
    run = held_shelf.teach(lesson("Of a third", domain="third"))
    held_shelf.sync()
    held_shelf.undo(run)
    assert not held_shelf.sync().problems
    assert not (held_shelf.knowledge / "repos/third").exists()


def test_a_plan_that_was_cut_writes_beside_a_file_that_broke_meanwhile(
    held_shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The journal of a killed sync must not keep all later ones from working."""
    held_shelf.teach("Later")
    with monkeypatch.context() as cut:

        def killed(*_: object) -> None:
            raise KeyboardInterrupt

        cut.setattr("core.factindex.sync.apply_operations", killed)
        with pytest.raises(KeyboardInterrupt):
            held_shelf.sync()
    (held_shelf.knowledge / "global/facts.yaml").write_bytes(b"\0")
    held_shelf.sync()
    assert [fact.fact for fact in held_shelf.facts() if not fact.unread] == ["Later", "Of the shop"]


# --- the command line ------------------------------------------------------------------------------------------------


def test_every_command_works_on_the_rest(world: World) -> None:
    world.converse("User: a\n")
    harvested(world, says(facts=["One", "Two"]))
    world.knowledge(
        OTHER, "---\ndomain: shop\ncategory: fact\n---\n\n- id: shop:fact:001\n  fact: shop\n  confidence: 1\n"
    )
    sync_facts(workspace_of(world))
    world.knowledge("global/facts.yaml", b"\0" * 100)
    world.knowledge("repos/bad/facts.yaml", b"\xff")
    code, out, err = cli(world, "facts", "list")
    assert code == 0 and "[file unreadable] One" in out and "shop" in out
    assert "repos/bad/facts.yaml" in err and "global/facts.yaml" in err
    code, _, err = cli(world, "facts", "validate")
    assert code == 1 and err.count("The file is left out") == 2 and "2 facts stood in it" in err
    code, out, err = cli(world, "facts", "sync")
    assert code == 1 and "3 in all" in out and "repos/bad/facts.yaml:1" in err
    assert cli(world, "facts", "bootstrap", "--domain", "shop")[0] == 0
    world.converse("User: b\n")
    report = harvested(world, says(facts=["Three"]))
    assert not report.errors and "repos/bad/facts.yaml" in " ".join(report.notes)
    assert {fact.fact for fact in facts_of(world)} == {"One", "Two", "Three", "shop"}
    found = [row for row in doctor(workspace_of(world)).findings if row.code in ("broken-file", "held-facts")]
    assert len(found) == 3 and not any(row.note for row in found)
    code, _, err = cli(world, "facts", "sync", "--accept-removals")
    assert code == 1 and "stood in it" not in err
    assert {fact.fact for fact in facts_of(world)} == {"Three", "shop"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_left_out(held_shelf: Shelf) -> None:
    path = held_shelf.knowledge / "global/facts.yaml"
    path.chmod(0)
    try:
        assert [row.code for row in held_shelf.sync().problems] == ["broken-file", "held-facts"]
    finally:
        path.chmod(0o600)
    assert not held_shelf.sync().problems


def test_nine_hundred_of_a_thousand_files_overwritten_are_all_named(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path / "knowledge")
    shelf.teach(*(lesson(f"Of {number}", domain=f"repo-{number}") for number in range(1000)))
    shelf.sync()
    for number in range(900):
        path = shelf.knowledge / f"repos/repo-{number}/facts.yaml"
        path.write_bytes(b"\0" * path.stat().st_size)
    report = shelf.sync()
    assert len(shelf.facts()) == 1000 and len(ids(shelf, unread=True)) == 900
    assert len({row.file for row in report.problems}) == 900
    assert len(report.errors) == 21 and "1780 more" in report.errors[-1].message


# --- A sample of the crash campaign of the fact index (tests/factindex_crashes.py). If it fails, a kill or a full disk
# costs a user a fact, doubles one, or brings back one that they deleted.

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


@needs_fork
@pytest.mark.parametrize(("kinds", "stride", "least"), [("k", 10, 10), ("e", 60, 8), ("p", 24, 8)])
def test_a_sync_that_is_cut_anywhere_is_finished_by_the_next_one(kinds: str, stride: int, least: int) -> None:
    points, findings = campaign(stride, kinds)
    assert findings == {}
    assert points >= least
