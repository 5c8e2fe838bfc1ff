"""What the fact index says when it cannot do what was asked. If these fail, one odd line or file takes all facts away,
or a user is told something that is not so."""

from __future__ import annotations

import os

import pytest

from core.commands import facts
from core.commands.context import context
from core.commands.fact_feed import sync_facts
from core.commands.facts import confirm_fact
from tests.facts_home import YAML, cli, facts_of, learn, workspace_of
from tests.harvest_world import World
from tests.made_home import error

ITEM = "- id: {id}\n  fact: {fact}\n  confidence: 0.5\n"


@pytest.fixture
def taught(world: World) -> World:
    learn(world, facts=["One", "Two"])
    return world


# --- one odd line or file --------------------------------------------------------------------------------------------


def test_an_id_of_thousands_of_digits_costs_only_its_own_item(taught: World) -> None:
    """Python reads no such number: it must not take the other facts, and the report of a harvest, with it."""
    far = f"global:fact:{'9' * 5000}"
    taught.knowledge(YAML, taught.text(YAML) + "\n" + ITEM.format(id=far, fact='"far"'))
    assert [fact.fact for fact in facts_of(taught)] == ["One", "Two"]
    code, _, err = cli(taught, "facts", "validate")
    assert code == 1 and "facts.yaml:" in err and "the id is" in err and "unexpected" not in err
    assert not learn(taught, "User: b\n", facts=["Three"]).errors
    assert [fact.fact for fact in facts_of(taught)] == ["One", "Two", "Three"]


def test_after_the_highest_number_that_an_id_can_have_new_facts_still_come_in(taught: World) -> None:
    """Counting on from a number that a user made up must not give new facts an id that is not valid."""
    taught.knowledge(YAML, taught.text(YAML) + "\n" + ITEM.format(id=f"global:fact:{'9' * 18}", fact='"far"'))
    learn(taught, "User: b\n", facts=["Three"])
    assert {fact.fact: fact.id for fact in facts_of(taught)}["Three"] == "global:fact:003"


@pytest.mark.parametrize("kind", ["link", "dangling link", "pipe", "linked folder"])
def test_what_is_no_regular_file_is_passed_over_and_named(taught: World, kind: str) -> None:
    """One link must not switch the whole fact index off, and its owner must learn that it is not read."""
    place = taught.paths.knowledge / "global" / "mine.yaml"
    if kind == "pipe":
        os.mkfifo(place)
    else:
        target = taught.folder / "elsewhere"
        if kind == "link":
            target.write_text(ITEM.format(id="global:fact:050", fact='"linked"'))
        if kind == "linked folder":
            place = place.with_name("mine")
            target.mkdir()
        place.symlink_to(target)
    code, out, err = cli(taught, "facts", "list")
    assert code == 0 and "One" in out and "linked" not in out and "'knowledge facts validate'" in err
    code, _, err = cli(taught, "facts", "validate")
    assert code == 1 and f"global/{place.name}: it is a" in err
    report = learn(taught, "User: b\n", facts=["Three"])
    assert not report.errors and "knowledge facts validate" in " ".join(report.notes)
    assert "Three" in [fact.fact for fact in facts_of(taught)]


def test_a_link_that_comes_later_is_told_at_once(taught: World) -> None:
    """The memory of 'nothing has changed' must not hide it."""
    workspace = workspace_of(taught)
    for path in taught.paths.knowledge.rglob("*"):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    assert not sync_facts(workspace).problems
    (taught.paths.knowledge / "global" / "mine.yaml").symlink_to(taught.folder / "nothing")
    assert [problem.code for problem in sync_facts(workspace).problems] == ["not-a-file"]


def test_facts_that_cannot_be_read_are_missed_aloud(taught: World) -> None:
    """A conversation that starts without the facts must not look as if there were none."""
    (taught.paths.knowledge / "index.json").unlink()
    taught.knowledge("global/bad.yaml", b"\xff\xfe")
    found = context(workspace_of(taught, bootstrap_facts=True))
    assert "One" in found.prefix.text, "the digest stays"
    assert [warning for warning in found.warnings if "facts" in warning and "bad.yaml" in warning]
    assert found.to_json()["warnings"] == list(found.warnings)


# --- edits -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def by_hand(world: World) -> World:
    """Items as people write them: with remarks, and with an anchor that other items may point to."""
    head = "---\ndomain: global\ncategory: fact\n---\n\n"
    items = (
        ITEM.format(id="global:fact:001", fact='"One" # why')
        + "\n"
        + ITEM.format(id="global:fact:002", fact='&a "Two"')
    )
    world.knowledge(YAML, head + items)
    return world


def test_what_cannot_be_written_is_not_said_to_stand_there(by_hand: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts, "with_values", lambda *_: None)
    before = by_hand.text(YAML)
    refused = error(confirm_fact, workspace_of(by_hand), "global:fact:001")
    assert refused.code == "not-editable"
    assert f"{YAML}:6" in str(refused) and "text editor" in str(refused)
    assert by_hand.text(YAML) == before


# --- what an action does not take ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (
            "sync --domain nosuch --budget 3 --stale",
            "'knowledge facts sync' takes no --domain nosuch --budget 3 --stale",
        ),
        ("validate --category nonsense", "takes no --category"),
        ("bootstrap --tag x", "takes no --tag x"),
        ("list --budget 0", "takes no --budget 0"),
        ("sync --stale", "takes no --stale"),
    ],
)
def test_an_option_that_would_do_nothing_is_refused(taught: World, words: str, named: str) -> None:
    """Who limits a sync to one domain must not learn later that it ran over all of them."""
    code, out, err = cli(taught, "facts", *words.split())
    assert (code, out) == (2, "") and named in err


def test_the_list_tells_what_it_left_out_once(taught: World) -> None:
    """On stderr: what stands among the facts would be taken for one by whoever reads them on."""
    taught.knowledge(YAML, taught.text(YAML) + "\n" + ITEM.format(id="bad", fact='"x"'))
    for words in ((), ("--json",)):
        code, out, err = cli(taught, "facts", "list", *words)
        assert code == 0 and "left out" not in out and err.count("left out") == 1


# --- secrets ---------------------------------------------------------------------------------------------------------
