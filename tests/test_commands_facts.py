"""The fact index through the commands: harvest, undo, edits, merge, validation, lists. If these fail, a person's facts
are not what they taught, or an edit is lost."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from core.base.answer import Answer
from core.base.result import Err, Ok, Result
from core.cli.main import main
from core.commands.context import context
from core.commands.fact_edits import delete_fact, edit_fact, facts_view, merge_facts
from core.commands.fact_feed import sync_facts
from core.commands.facts import bootstrap, facts_command, list_facts, validate
from core.commands.harvest import harvest
from core.commands.harvest_options import HarvestRequest
from core.commands.quarantine import quarantine_accept, quarantine_drop
from core.commands.undo import undo
from core.commands.workspace import Workspace, open_workspace
from core.factindex.facts import Fact
from core.harvest.report import HarvestReport
from tests.harvest_world import HURRIED, FakeModel, World, says

YAML = "global/facts.yaml"


def value(result: Result[Any]) -> Any:
    assert isinstance(result, Ok), result
    return result.value


def code_of(result: Result[Any]) -> str:
    assert isinstance(result, Err), result
    return result.error.code


def workspace_of(world: World, **settings: Any) -> Workspace:
    opened: Workspace = value(open_workspace(str(world.paths.home), cwd=world.folder))
    loaded = replace(opened.loaded, config=replace(opened.config, **settings))
    return replace(opened, loaded=loaded)


def harvested(world: World, model: FakeModel | None, **settings: Any) -> HarvestReport:
    workspace = workspace_of(world, **({"provider": "openai"} if model else {}), **settings)
    request = HarvestRequest(apply=True, provider="openai" if model else "offline")
    report: HarvestReport = value(
        harvest(workspace, request, generate=model, now=lambda: world.clock, patience=HURRIED)
    )
    return report


def facts_of(world: World) -> list[Fact]:
    return list(value(list_facts(workspace_of(world), now=lambda: world.clock)).facts)


def cli(world: World, *words: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    code = main([*words, "--home", str(world.paths.home)], out, err)
    return code, out.getvalue(), err.getvalue()


def claude_session(folder: str, *said: str) -> str:
    when = "2026-06-01T10:00:00Z"
    rows: Sequence[dict[str, Any]] = [
        {
            "type": "user", "parentUuid": None, "uuid": f"u{number}", "sessionId": "s", "cwd": folder,
            "timestamp": when, "message": {"role": "user", "content": text},
        }
        for number, text in enumerate(said)
    ]  # fmt: skip
    return "".join(json.dumps(row) + "\n" for row in rows)


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
    assert report.facts == {"new": 6, "confirmed": 0, "total": 6} and not report.errors
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
    assert harvested(world, says(facts=["Two"])).facts == {"new": 2, "confirmed": 0, "total": 3}


def test_what_waits_in_quarantine_is_no_fact(world: World) -> None:
    world.converse("User: a\n")
    harvested(world, says(facts=[{"statement": "Invented", "quote": "nobody said that at all"}, "Kept"]))
    assert [fact.fact for fact in facts_of(world)] == ["Kept"]


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
    assert report.facts == {"new": 0, "confirmed": 1, "total": 2}
    assert value(sync_facts(workspace, accepted=True, now=lambda: world.clock)).new == 0
    value(undo(workspace, done.run, now=lambda: world.clock, patience=HURRIED))
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
    assert harvested(world, says(facts=["Other"])).facts == {"new": 2, "confirmed": 0, "total": 2}


def test_a_long_line_is_shortened_to_what_the_seed_allows(world: World) -> None:
    world.converse("User: a\n")
    harvested(world, says(facts=["word " * 90]))
    (fact,) = facts_of(world)
    assert len(fact.fact) <= 280 and fact.fact.endswith("…")


def test_a_second_harvest_and_a_second_sync_change_nothing(world: World) -> None:
    world.converse("User: a\n")
    harvested(world, says(facts=["One"]))
    before = {path: path.read_bytes() for path in world.paths.knowledge.rglob("*") if path.is_file()}
    report = harvested(world, says(facts=["Other words"]))
    assert report.facts == {"new": 0, "confirmed": 0, "total": 1}
    value(sync_facts(workspace_of(world), now=lambda: world.clock))
    after = {path: path.read_bytes() for path in world.paths.knowledge.rglob("*") if path.is_file()}
    locks = {world.paths.lock, world.paths.state / "facts.lock"}
    assert {path for path in before | after if before.get(path) != after.get(path)} <= locks


def test_a_failure_is_told_and_costs_the_harvest_nothing(world: World) -> None:
    """The conversation was harvested and reclaimed; the next run makes up for the facts."""
    world.converse("User: a\n")
    (world.paths.knowledge / "global").mkdir(parents=True)
    (world.paths.knowledge / YAML).write_bytes(b"\xff")
    report = harvested(world, says(facts=["One"]))
    assert [error.code for error in report.errors] == ["facts-unreadable"]
    assert report.harvested == report.reclaimed == 1
    (world.paths.knowledge / YAML).unlink()
    assert harvested(world, says()).facts == {"new": 1, "confirmed": 0, "total": 1}


def test_undo_takes_the_facts_of_the_run_back(world: World) -> None:
    world.converse("User: a\n")
    harvested(world, says(facts=["One"]))
    world.converse("User: b\n")
    run = harvested(world, says(facts=["Two", "One"])).run
    assert {fact.fact: fact.source_count for fact in facts_of(world)} == {"One": 2, "Two": 1}
    report = value(undo(workspace_of(world), run, patience=HURRIED))
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
    value(undo(workspace_of(world), run, patience=HURRIED))
    assert [fact.fact for fact in facts_of(world)] == ["One"]
    assert value(sync_facts(workspace_of(world))).taken_back == 1
    assert facts_of(world) == []


# --- single facts ----------------------------------------------------------------------------------------------------


@pytest.fixture
def taught(world: World) -> World:
    world.converse("User: a\n")
    harvested(world, says(facts=["One", "One or so", {"statement": "Two", "tags": ["git"]}], questions=["Why?"]))
    return world


def test_an_edit_writes_the_yaml_file_and_can_be_undone(taught: World) -> None:
    workspace = workspace_of(taught)
    before = taught.text(YAML)
    row = next(row for row in value(facts_view(workspace)).rows if row.fact.fact == "Two")
    edited = value(
        edit_fact(workspace, row.fact.id, {"confidence": 0.95, "fact": "Two!", "tags": ["a"]}, seen=row.sha256)
    )
    assert taught.text(YAML) == before.replace(
        'fact: "Two"\n  confidence: 0.6\n  tags: [git]', 'fact: "Two!"\n  confidence: 0.95\n  tags: [a]'
    )
    assert json.loads(taught.text("index.json"))["facts"][2]["confidence"] == 0.95
    value(undo(workspace, edited.run, patience=HURRIED))
    assert taught.text(YAML) == before
    assert json.loads(taught.text("index.json"))["facts"][2]["confidence"] == 0.6


def test_an_edit_of_a_file_that_has_changed_since_is_refused(taught: World) -> None:
    """Somebody's editor has saved it meanwhile: neither of the two may be lost."""
    workspace = workspace_of(taught)
    row = value(facts_view(workspace)).rows[0]
    taught.knowledge(YAML, taught.text(YAML) + "\nmy words\n")
    before = taught.text(YAML)
    assert code_of(edit_fact(workspace, row.fact.id, {"confidence": 0.1}, seen=row.sha256)) == "changed-outside"
    assert code_of(delete_fact(workspace, row.fact.id, seen=row.sha256)) == "changed-outside"
    assert code_of(merge_facts(workspace, row.fact.id, "global:fact:002", seen=row.sha256)) == "changed-outside"
    assert taught.text(YAML) == before


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({"confidence": 1.01}, "bad-field"),
        ({"fact": ""}, "bad-field"),
        ({"fact": "x" * 281}, "bad-field"),
        ({"tags": ["Git"]}, "bad-field"),
        ({"expires": "soon"}, "bad-field"),
        ({"id": "global:fact:009"}, "bad-field"),
        ({"confidence": 0.6}, "unchanged"),
    ],
)
def test_what_is_not_valid_is_not_written(taught: World, values: dict[str, Any], code: str) -> None:
    before = taught.text(YAML)
    assert code_of(edit_fact(workspace_of(taught), "global:fact:001", values)) == code
    assert taught.text(YAML) == before


def test_a_deleted_fact_stays_deleted_until_it_is_undone(taught: World) -> None:
    workspace = workspace_of(taught)
    before = taught.text(YAML)
    removed = value(delete_fact(workspace, "global:fact:001"))
    taught.converse("User: b\n")
    harvested(taught, says(facts=["One"]))
    assert "One" not in [fact.fact for fact in facts_of(taught)]
    value(undo(workspace, removed.run, patience=HURRIED))
    assert taught.text(YAML) == before
    assert code_of(delete_fact(workspace, "global:fact:01")) == "no-match"


def test_two_facts_become_one_and_its_words_confirm_it(taught: World) -> None:
    workspace = workspace_of(taught)
    before = taught.text(YAML)
    pairs = value(facts_command(workspace, "list", similar=True)).pairs
    assert pairs == ()
    merged = value(facts_command(workspace, "merge", ["global:fact:001", "global:fact:002"]))
    assert (merged.into.source_count, merged.into.related) == (2, ("global:fact:002",))
    assert [fact.id for fact in facts_of(taught)][:2] == ["global:fact:001", "global:fact:003"]
    taught.converse("User: b\n")
    run = harvested(taught, says(facts=["One or so"])).run
    assert facts_of(taught)[0].source_count == 3
    value(undo(workspace, run, patience=HURRIED))
    value(undo(workspace, merged.run, patience=HURRIED))
    assert taught.text(YAML) == before
    assert code_of(merge_facts(workspace, "global:fact:001", "global:fact:001")) == "usage"


def test_a_merge_that_was_cut_in_the_middle_can_be_done_again(taught: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts must not be added up twice."""
    workspace = workspace_of(taught)
    import core.commands.fact_edits as edits

    real = edits._change

    def cut(*arguments: Any) -> Any:
        if arguments[2] is None:
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(edits, "_change", cut)
    with pytest.raises(KeyboardInterrupt):
        merge_facts(workspace, "global:fact:001", "global:fact:002")
    monkeypatch.undo()
    assert value(merge_facts(workspace, "global:fact:001", "global:fact:002")).into.source_count == 2


# --- the command line ------------------------------------------------------------------------------------------------


def test_validate_ends_with_1_and_names_every_error(taught: World) -> None:
    """A person mends a file in one go, not error by error."""
    assert cli(taught, "facts", "validate")[0] == 0
    path = taught.knowledge(
        "global/pitfalls.yaml",
        "---\ndomain: global\ncategory: pitfall\n---\n- id: x:fact:1\n  fact: a\n  confidence: 2\n"
        "- id: global:pitfall:001\n  fact: a\n  confidence: 1\n  tags: [A]\n- id: global:fact:001\n",
    )
    code, out, err = cli(taught, "facts", "validate")
    assert code == 1 and out == "4 valid facts in 4 files, 6 problems\n"
    for words in ("pitfalls.yaml:5: x:fact:1: the id is", "the confidence is 2", "pitfalls.yaml:8: global:pitfall:001"):
        assert words in err
    assert cli(taught, "facts", "validate", str(path))[0] == 1
    shown = json.loads(cli(taught, "facts", "validate", str(path), "--json")[1])
    assert shown["valid"] is False and {"code", "file", "line", "id", "message"} == set(shown["problems"][0])
    assert cli(taught, "facts", "validate", str(taught.paths.knowledge / "index.json"))[0] == 0
    assert cli(taught, "facts", "validate", "nothing-here.yaml")[0] == 1
    assert cli(taught, "facts", "merge", "a")[0] == 2


def test_every_format_of_the_list(taught: World) -> None:
    """What leaves the program can be read by others."""
    assert [row["id"] for row in json.loads(cli(taught, "facts", "list", "--format", "json")[1])] == [
        fact.id for fact in facts_of(taught)
    ]
    rows = list(csv.DictReader(io.StringIO(cli(taught, "facts", "list", "--format", "csv")[1])))
    assert [(row["id"], row["tags"]) for row in rows if row["tags"]] == [("global:fact:003", "git")]
    from ruamel.yaml import YAML as Library

    loaded = Library(typ="safe", pure=True).load(cli(taught, "facts", "list", "--format", "yaml")[1])
    assert [row["fact"] for row in loaded] == ["One", "One or so", "Two", "Why?"]
    assert "- Two [global:fact:003, 0.6] (git)" in cli(taught, "facts", "list", "--format", "md")[1]
    assert cli(taught, "facts", "list", "--tag", "git")[1].endswith("1 fact\n")
    assert cli(taught, "facts", "list", "--category", "question", "--domain", "global")[1].count("\n") == 2
    assert cli(taught, "facts", "list", "--category", "bug")[0] == 1


def test_a_formula_is_not_handed_to_a_spreadsheet(world: World) -> None:
    world.converse("User: a\n")
    harvested(world, says(facts=['=HYPERLINK("http://x")']))
    rows = list(csv.DictReader(io.StringIO(cli(world, "facts", "list", "--format", "csv")[1])))
    assert rows[0]["fact"].startswith("'=")


def test_an_edit_in_an_editor_shows_at_once_and_a_missing_index_is_no_loss(taught: World) -> None:
    taught.knowledge(YAML, taught.text(YAML).replace('"Two"', '"Two, edited"'))
    (taught.paths.knowledge / "index.json").unlink()
    assert "Two, edited" in cli(taught, "facts", "list")[1]
    assert "Two, edited" in cli(taught, "facts", "bootstrap")[1]
    assert not (taught.paths.knowledge / "index.json").exists()
    assert cli(taught, "facts", "sync")[0] == 0
    assert "Two, edited" in taught.text("index.json")


def test_the_context_carries_facts_only_when_it_is_told_to(taught: World) -> None:
    plain = value(context(workspace_of(taught))).prefix.text
    with_facts = value(context(workspace_of(taught, bootstrap_facts=True))).prefix.text
    assert with_facts.startswith(plain) and with_facts.count("{knowledge}") == plain.count("{knowledge}") + 1
    assert "- Two (global, 0.6)" in with_facts[len(plain) :]


def test_facts_are_found_by_the_search(taught: World) -> None:
    found = json.loads(cli(taught, "search", "Two", "--kind", "fact", "--json")[1])
    assert [row["key"] for row in found] == ["global:fact:003"]
    taught.knowledge(YAML, taught.text(YAML).replace('"Two"', '"Zebra"'))
    assert [row["key"] for row in json.loads(cli(taught, "search", "zebra", "--json")[1])] == ["global:fact:003"]


def test_what_did_not_change_is_not_read_again_and_what_did_is(taught: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A look at the times of files must never hide an edit."""
    import os

    from core.commands import fact_cache, fact_feed

    workspace = workspace_of(taught)
    for path in taught.paths.knowledge.rglob("*"):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    asked: list[int] = []
    real = fact_feed.sync
    monkeypatch.setattr(fact_feed, "sync", lambda *args, **named: asked.append(1) or real(*args, **named))
    first = value(sync_facts(workspace, now=lambda: taught.clock))
    assert asked == [1] and fact_cache.unchanged(workspace, taught.clock) == [4, 0, 0]
    again = value(sync_facts(workspace, now=lambda: taught.clock))
    assert asked == [1] and again.total == first.total == 4
    assert [fact.fact for fact in facts_of(taught)] == ["One", "One or so", "Two", "Why?"]
    taught.knowledge(YAML, taught.text(YAML).replace('"Two"', '"2.."'))
    value(sync_facts(workspace, now=lambda: taught.clock))
    assert asked == [1, 1] and "2.." in [fact.fact for fact in facts_of(taught)]
    assert fact_cache.unchanged(workspace, taught.clock) is None, "a file of this very moment is not settled"


def test_the_doctor_sees_an_index_that_is_not_what_the_files_say(taught: World) -> None:
    """And mends it; what only the person can mend it names."""
    assert cli(taught, "doctor")[0] == 0
    index = taught.paths.knowledge / "index.json"
    whole = index.read_bytes()
    index.write_bytes(b"garbage")
    (taught.paths.state / "facts.journal").write_bytes(b"")
    code, out, _ = cli(taught, "doctor")
    assert code == 1 and "repairable: the index is damaged" in out and "sync of the fact index was interrupted" in out
    assert cli(taught, "doctor", "--repair")[0] == 0
    assert index.read_bytes() == whole and not (taught.paths.state / "facts.journal").exists()
    taught.knowledge(YAML, taught.text(YAML).replace("0.6\n", "0.6.1\n", 1))
    code, out, _ = cli(taught, "doctor")
    assert code == 0 and "note: global/facts.yaml:" in out and "note: the fact index is older" in out


def test_two_processes_at_once_wait_for_each_other(taught: World) -> None:
    from core.base import locks

    with locks.locked(taught.paths.state / "facts.lock"):
        assert code_of(sync_facts(workspace_of(taught), wait=0.05)) == "lock-held"


def test_an_unusual_answer_of_a_model_is_no_traceback(world: World) -> None:
    """Every field of a row is a stranger's."""
    world.converse("User: a\n")
    odd = {"statement": "One", "kind": [], "confidence": "NaN", "tags": [[], {}, None, "x" * 99], "domain": "../../etc"}
    answer = json.dumps({"facts": [odd, {"statement": "Two", "confidence": True, "domain": "a" * 500}]})
    report = harvested(world, FakeModel(lambda number, prompt: Ok(Answer(answer, "fake", 1, 1))))
    assert not report.errors
    assert [fact.domain for fact in facts_of(world)] == ["global", "global"]
