"""A YAML file that is damaged or gone: it is named and left out, all others work, and the facts that it held stay in
the index until a person says that they may go. If these fail, a bad block or a lost folder empties what is known."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.commands.doctor import doctor
from core.commands.fact_feed import sync_facts
from core.factindex.held import MANY
from tests.factindex_world import Shelf, lesson
from tests.facts_home import cli, facts_of, harvested, value, workspace_of
from tests.harvest_world import World, says

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
def shelf(tmp_path: Path) -> Shelf:
    made = Shelf(tmp_path / "knowledge")
    made.teach("Port 8080", "Redis is used", lesson("Of the shop", domain="shop"))
    made.sync()
    return made


def ids(shelf: Shelf, unread: bool) -> list[str]:
    return [fact.id for fact in shelf.facts() if fact.unread is unread]


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_broken_file_is_named_and_its_facts_stay(shelf: Shelf, kind: str) -> None:
    """Before, zero bytes shrank the index in silence, and one odd byte stopped every domain."""
    path = shelf.knowledge / "global/facts.yaml"
    path.write_bytes(DAMAGE[kind])
    shelf.teach("Newly learned", lesson("Of the shop, too", domain="shop"))
    report = shelf.sync()
    assert [(row.code, row.file) for row in report.problems] == [
        ("broken-file", "global/facts.yaml"), ("held-facts", "global/facts.yaml"),
    ]  # fmt: skip
    assert ids(shelf, unread=True) == ["global:fact:001", "global:fact:002"]
    assert {fact.fact for fact in shelf.facts()} == {
        "Port 8080", "Redis is used", "Newly learned", "Of the shop", "Of the shop, too",
    }  # fmt: skip
    assert path.read_bytes() == DAMAGE[kind], "nothing is written into a broken file"
    assert "global:fact:003" in shelf.text("global/facts-2.yaml")
    before = shelf.files()
    shelf.sync()
    assert shelf.files() == before, "and it stays so"


def test_what_is_held_survives_the_loss_of_the_index_and_comes_back_with_its_file(shelf: Shelf) -> None:
    path = shelf.knowledge / "global/facts.yaml"
    whole = path.read_bytes()
    path.write_bytes(b"\0" * len(whole))
    shelf.sync()
    index = shelf.files()["index.json"]
    (shelf.knowledge / "index.json").unlink()
    shelf.sync()
    assert shelf.files()["index.json"] == index
    path.write_bytes(whole)
    assert not shelf.sync().problems
    assert not ids(shelf, unread=True) and len(shelf.facts()) == 3


def test_what_a_broken_file_held_is_neither_doubled_nor_taken_for_deleted(shelf: Shelf) -> None:
    shelf.write("global/facts.yaml", "a: [b")
    shelf.teach("Port 8080", "Redis is used")
    report = shelf.sync()
    assert (report.new, report.confirmed, report.gone) == (0, 0, 0)


def test_a_file_that_is_gone_takes_its_facts_along_only_when_that_is_said(shelf: Shelf) -> None:
    (shelf.knowledge / OTHER).unlink()
    report = shelf.sync()
    (problem,) = report.problems
    assert (problem.file, "--accept-removals" in problem.message) == (OTHER, True)
    assert ids(shelf, unread=True) == ["shop:fact:001"]
    assert not shelf.sync(accept_removals=True).problems
    assert "shop:fact:001" not in shelf.ids()
    shelf.teach(lesson("Of the shop", domain="shop"))
    assert shelf.sync().gone == 1, "what was let go of stays away"


def test_a_file_that_moved_is_not_missed(shelf: Shelf) -> None:
    (shelf.knowledge / OTHER).rename(shelf.knowledge / "repos/shop/mine.yaml")
    assert not shelf.sync().problems


def test_most_of_a_large_file_vanishing_at_once_is_not_believed(tmp_path: Path) -> None:
    """A copy that was cut off is a whole file to a reader."""
    shelf = Shelf(tmp_path / "knowledge")
    shelf.teach(*(f"Fact number {number}" for number in range(3 * MANY)))
    shelf.sync()
    text = shelf.text("global/facts.yaml")
    shelf.write("global/facts.yaml", text[: text.index(f"- id: global:fact:{MANY:03d}")])
    assert [row.code for row in shelf.sync().problems] == ["held-facts"]
    assert len(shelf.facts()) == 3 * MANY
    shelf.sync(accept_removals=True)
    assert len(shelf.facts()) == MANY - 1


def test_a_few_facts_deleted_in_an_editor_need_no_word(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path / "knowledge")
    shelf.teach(*(f"Fact number {number}" for number in range(4)))
    shelf.sync()
    text = shelf.text("global/facts.yaml")
    shelf.write("global/facts.yaml", text[: text.index("- id: global:fact:002")])
    assert not shelf.sync().problems
    assert shelf.ids() == ["global:fact:001"]


def test_a_run_that_is_undone_takes_its_file_along(shelf: Shelf) -> None:
    """What the program itself takes away is not missed."""
    run = shelf.teach(lesson("Of a third", domain="third"))
    shelf.sync()
    shelf.undo(run)
    assert not shelf.sync().problems
    assert not (shelf.knowledge / "repos/third").exists()


def test_a_plan_that_was_cut_writes_beside_a_file_that_broke_meanwhile(shelf: Shelf) -> None:
    """The journal of a killed sync must not keep all later ones from working."""
    from core.factindex import sync as module

    shelf.teach("Later")
    real = module._carry_out
    try:
        module._carry_out = lambda *_: (_ for _ in ()).throw(KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            shelf.sync()
    finally:
        module._carry_out = real
    (shelf.knowledge / "global/facts.yaml").write_bytes(b"\0")
    shelf.sync()
    assert [fact.fact for fact in shelf.facts() if not fact.unread] == ["Later", "Of the shop"]


# --- the command line ------------------------------------------------------------------------------------------------


def test_every_command_works_on_the_rest(world: World) -> None:
    world.converse("User: a\n")
    harvested(world, says(facts=["One", "Two"]))
    world.knowledge(
        OTHER, "---\ndomain: shop\ncategory: fact\n---\n\n- id: shop:fact:001\n  fact: shop\n  confidence: 1\n"
    )
    value(sync_facts(workspace_of(world)))
    world.knowledge("global/facts.yaml", b"\0" * 100)
    world.knowledge("repos/bad/facts.yaml", b"\xff")
    code, out, err = cli(world, "facts", "list")
    assert code == 0 and "[file unreadable] One" in out and "shop" in out
    assert "repos/bad/facts.yaml:1" in err and "global/facts.yaml:1" in err
    code, _, err = cli(world, "facts", "validate")
    assert code == 1 and err.count("The file is left out") == 2 and "2 facts stood in it" in err
    code, out, err = cli(world, "facts", "sync")
    assert code == 1 and "3 in all" in out and "repos/bad/facts.yaml:1" in err
    assert cli(world, "facts", "bootstrap", "--domain", "shop")[0] == 0
    world.converse("User: b\n")
    report = harvested(world, says(facts=["Three"]))
    assert not report.errors and "repos/bad/facts.yaml" in " ".join(report.notes)
    assert {fact.fact for fact in facts_of(world)} == {"One", "Two", "Three", "shop"}
    found = [row for row in value(doctor(workspace_of(world))).findings if row.code in ("broken-file", "held-facts")]
    assert len(found) == 3 and not any(row.note for row in found)
    code, _, err = cli(world, "facts", "sync", "--accept-removals")
    assert code == 1 and "stood in it" not in err
    assert {fact.fact for fact in facts_of(world)} == {"Three", "shop"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_left_out(shelf: Shelf) -> None:
    path = shelf.knowledge / "global/facts.yaml"
    path.chmod(0)
    try:
        assert [row.code for row in shelf.sync().problems] == ["broken-file", "held-facts"]
    finally:
        path.chmod(0o600)
    assert not shelf.sync().problems


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
