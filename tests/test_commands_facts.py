"""The fact index through the commands: harvest, undo, edits, merge, validation, lists. If these fail, a person's facts
are not what they taught, or an edit is lost."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.cli.facts import validation_text
from core.cli.harvest import harvest_text
from core.commands.fact_feed import check_facts, sync_facts
from core.commands.facts import bootstrap, validate
from core.commands.quarantine import quarantine_accept, quarantine_drop
from core.commands.undo import undo
from tests.facts_home import (
    claude_session,
    facts_of,
    harvested,
    taught_fixture,  # noqa: F401 - pytest finds the fixture by itself
    value,
    workspace_of,
)
from tests.harvest_world import HURRIED, World, says

# --- harvest and undo ------------------------------------------------------------------------------------------------


def test_a_harvest_becomes_facts_patterns_and_questions(world: World) -> None:
    world.converse("User: the port is 8080\n")
    model = says(
        facts=[
            {"statement": "The port is 8080", "quote": "the port is 8080"},
            {"statement": "No quote"},
            {
                "statement": "Slow",
                "kind": "pitfall",
                "confidence": 0.95,
                "tags": ["Git", "API v1", 7],
                "domain": "global",
            },
            {"statement": "Odd", "kind": "bug", "confidence": 7, "tags": "git", "domain": 3},
        ],
        playbooks=[{"name": "Release", "steps": "test, build, push"}],
        questions=["Why?"],
        decisions=["Not a fact"],
        tasks_open=["Not a fact either"],
    )
    report = harvested(world, model)
    assert report.facts == {"new": 6, "confirmed": 0, "total": 6, "too_long": 0} and not report.errors
    found = {fact.id: (fact.fact, fact.confidence, fact.tags) for fact in facts_of(world)}
    assert found == {
        "global:fact:001": ("The port is 8080", 0.8, ()),
        "global:fact:002": ("No quote", 0.6, ()),
        "global:fact:003": ("Odd", 0.6, ()),
        "global:pitfall:001": ("Slow", 0.95, ("git", "api-v1")),
        "global:pattern:001": ("Release: test, build, push", 0.6, ()),
        "global:question:001": ("Why?", 0.6, ()),
    }
    assert value(validate(workspace_of(world))).problems == ()


def test_the_domain_is_the_repository_of_the_working_folder(world: World) -> None:
    """Else every repository's facts end in one heap."""
    repository = world.folder / "The-Nexus"
    (repository / ".git").mkdir(parents=True)
    world.converse(claude_session(str(repository / "src"), "We decided on a port"))
    harvested(world, says(facts=["The port is 8080", {"statement": "Everywhere", "domain": "global"}]))
    assert [fact.id for fact in facts_of(world)] == ["the-nexus:fact:001", "the-nexus:fact:002"]
    assert (world.paths.knowledge / "repos" / "the-nexus" / "facts.yaml").is_file()
    asked = replace(workspace_of(world), cwd=repository / "src")
    assert value(bootstrap(asked)).domains == ("the-nexus", "global")


def test_the_offline_rules_feed_it_too_with_little_confidence(world: World) -> None:
    world.converse("User: why?\n\nAssistant: The root cause is that several servers answer 403 to `HEAD` requests.\n")
    harvested(world, None)
    assert [fact.confidence for fact in facts_of(world)] == [0.5]


def test_switched_off_nothing_is_made_and_switched_on_all_is_caught_up(world: World) -> None:
    world.converse("User: a\n")
    assert harvested(world, says(facts=["One"]), fact_index=False).facts is None
    assert not (world.paths.knowledge / "global").exists()
    world.knowledge("global/pitfalls.yaml", "- id: global:pitfall:001\n  fact: Mine\n  confidence: 1\n")
    report = value(sync_facts(workspace_of(world, fact_index=False), now=lambda: world.clock))
    assert (report.new, report.total) == (0, 1), "what a person writes reaches the index all the same"
    world.converse("User: b\n")
    assert harvested(world, says(facts=["Two"])).facts == {"new": 2, "confirmed": 0, "total": 3, "too_long": 0}


def test_what_waits_in_quarantine_is_no_fact(world: World) -> None:
    world.converse("User: a\n")
    harvested(world, says(facts=[{"statement": "Invented", "quote": "nobody said that at all"}, "Kept"]))
    assert [fact.fact for fact in facts_of(world)] == ["Kept"]


def test_a_fact_that_is_too_long_goes_in_without_its_detail_or_not_at_all(world: World) -> None:
    """It stood in the index with an ellipsis in place of its end, which was the part that mattered."""
    world.converse("User: a\n")
    rows = [
        {"statement": "The cache lives in /var/cache", "detail": "because " + "reason " * 50 + "so"},
        {"statement": "s" * 300, "detail": "d" * 100},
        {"statement": "fits " * 40, "detail": "d" * 78},
    ]
    report = harvested(world, says(facts=rows, playbooks=[{"name": "Long", "steps": "step " * 100}]))
    assert {fact.fact for fact in facts_of(world)} == {"The cache lives in /var/cache", f"{'fits ' * 40}— {'d' * 78}"}
    assert report.facts == {"new": 2, "confirmed": 0, "total": 2, "too_long": 2}
    assert "fact index: 2 new, 2 too long for it, 2 in all\n" in harvest_text(report)
    workspace = workspace_of(world)
    found = value(validate(workspace))
    assert found.too_long == ("facts.md:4", "playbooks.md:3") and not found.problems
    assert "2 lines longer than a fact may be, so no fact: facts.md:4, playbooks.md:3" in validation_text(found)
    told = [row for row in check_facts(workspace) if row.code == "facts-too-long"]
    assert len(told) == 1 and told[0].note and "facts.md:4, playbooks.md:3" in told[0].message
    assert found.to_json()["too_long"] == ["facts.md:4", "playbooks.md:3"]


def test_what_is_let_in_and_too_long_for_a_fact_is_told(world: World) -> None:
    world.converse("User: a\n")
    harvested(world, says(facts=["x" * 501]))
    done = value(quarantine_accept(workspace_of(world), "xxx"))
    assert done.file == "facts.md" and "too long for the fact index (280 characters): 1" in done.warning
    assert facts_of(world) == []


def test_what_is_let_out_of_the_quarantine_becomes_a_fact(world: World) -> None:
    """Once, for good, with its conversation; and undoing it takes the fact back."""
    world.converse("User: a\n")
    held = {"statement": "Invented", "quote": "nobody said that at all"}
    waits = {"statement": "Waits", "quote": "nor did anybody say this"}
    harvested(world, says(facts=[held, waits, "Kept"], decisions=[held]))
    workspace = workspace_of(world)
    done = value(quarantine_accept(workspace, "facts: Invented", now=lambda: world.clock))
    assert not done.warning
    assert {(fact.fact, fact.id, fact.source_count) for fact in facts_of(world)} == {
        ("Kept", "global:fact:001", 1),
        ("Invented", "global:fact:002", 1),
    }
    value(quarantine_accept(workspace, "decisions: Invented", now=lambda: world.clock))
    value(quarantine_drop(workspace, "facts: Waits", now=lambda: world.clock))
    world.converse("User: b\n")
    report = harvested(world, says(facts=["Invented"]))
    assert report.facts == {"new": 0, "confirmed": 1, "total": 2, "too_long": 0}
    assert value(sync_facts(workspace, accepted=True, now=lambda: world.clock)).new == 0
    value(undo(workspace, done.run, now=lambda: world.clock, editor_wait=HURRIED))
    left = {fact.fact: fact.source_count for fact in facts_of(world)}
    assert left == {"Kept": 1, "Invented": 1}, "the second conversation still says so"
    assert value(sync_facts(workspace, accepted=True, now=lambda: world.clock)).new == 0


def test_an_accepted_item_whose_feed_was_cut_off_is_a_fact_after_the_next_harvest(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.converse("User: a\n")
    harvested(world, says(facts=[{"statement": "Invented", "quote": "nobody said that at all"}]))
    with monkeypatch.context() as patch:
        patch.setattr("core.commands.fact_feed.after_accept", lambda *_: "")
        value(quarantine_accept(workspace_of(world), "Invented", now=lambda: world.clock))
    assert not facts_of(world)
    world.converse("User: b\n")
    assert harvested(world, says(facts=["Other"])).facts == {"new": 2, "confirmed": 0, "total": 2, "too_long": 0}


def test_a_second_harvest_and_a_second_sync_change_nothing(world: World) -> None:
    world.converse("User: a\n")
    harvested(world, says(facts=["One"]))
    before = {path: path.read_bytes() for path in world.paths.knowledge.rglob("*") if path.is_file()}
    report = harvested(world, says(facts=["Other words"]))
    assert report.facts == {"new": 0, "confirmed": 0, "total": 1, "too_long": 0}
    value(sync_facts(workspace_of(world), now=lambda: world.clock))
    after = {path: path.read_bytes() for path in world.paths.knowledge.rglob("*") if path.is_file()}
    locks = {world.paths.lock, world.paths.state / "facts.lock"}
    assert {path for path in before | after if before.get(path) != after.get(path)} <= locks


def test_a_failure_is_told_and_costs_the_harvest_nothing(world: World) -> None:
    """The conversation was harvested and reclaimed; the next run makes up for the facts."""
    world.converse("User: a\n")
    world.knowledge("global", "no folder")
    report = harvested(world, says(facts=["One"]))
    assert [error.code for error in report.errors] == ["facts-failed"]
    assert report.harvested == report.reclaimed == 1
    (world.paths.knowledge / "global").unlink()
    harvested(world, says())
    assert [fact.fact for fact in facts_of(world)] == ["One"]


def test_undo_takes_the_facts_of_the_run_back(world: World) -> None:
    world.converse("User: a\n")
    harvested(world, says(facts=["One"]))
    world.converse("User: b\n")
    run = harvested(world, says(facts=["Two", "One"])).run
    assert {fact.fact: fact.source_count for fact in facts_of(world)} == {"One": 2, "Two": 1}
    report = value(undo(workspace_of(world), run, editor_wait=HURRIED))
    assert report.notes == ["1 fact of the run left the fact index too"]
    assert {fact.fact: fact.source_count for fact in facts_of(world)} == {"One": 1}
    harvested(world, says(facts=["Three"]))
    assert [fact.id for fact in facts_of(world)] == ["global:fact:001", "global:fact:003"]


def test_an_undo_that_was_cut_before_the_facts_is_finished_by_the_next_sync(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.converse("User: a\n")
    run = harvested(world, says(facts=["One"])).run
    monkeypatch.setattr("core.commands.undo._undo_facts", lambda *_: None)
    value(undo(workspace_of(world), run, editor_wait=HURRIED))
    assert [fact.fact for fact in facts_of(world)] == ["One"]
    assert value(sync_facts(workspace_of(world))).taken_back == 1
    assert facts_of(world) == []
