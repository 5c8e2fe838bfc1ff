"""What the fact index shows: lists, validation, context, search, the doctor. If these fail, a person sees other facts
than their files hold."""

from __future__ import annotations

import csv
import io
import json

import pytest
import yaml

from core.base.answer import Answer
from core.base.result import Ok
from core.commands.context import context
from core.commands.fact_feed import sync_facts
from tests.facts_home import (
    YAML,
    cli,
    code_of,
    facts_of,
    harvested,
    taught_fixture,  # noqa: F401 - pytest finds the fixture by itself
    value,
    workspace_of,
)
from tests.harvest_world import FakeModel, World, says


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
    loaded = yaml.safe_load(cli(taught, "facts", "list", "--format", "yaml")[1])
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

    from core.commands import fact_feed

    workspace = workspace_of(taught)
    for path in taught.paths.knowledge.rglob("*"):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    asked: list[int] = []
    real = fact_feed.sync
    monkeypatch.setattr(fact_feed, "sync", lambda *args, **named: asked.append(1) or real(*args, **named))
    first = value(sync_facts(workspace, now=lambda: taught.clock))
    assert asked == [1] and fact_feed.unchanged(workspace, taught.clock) == [4, 0, 0]
    again = value(sync_facts(workspace, now=lambda: taught.clock))
    assert asked == [1] and again.total == first.total == 4
    assert [fact.fact for fact in facts_of(taught)] == ["One", "One or so", "Two", "Why?"]
    taught.knowledge(YAML, taught.text(YAML).replace('"Two"', '"2.."'))
    value(sync_facts(workspace, now=lambda: taught.clock))
    assert asked == [1, 1] and "2.." in [fact.fact for fact in facts_of(taught)]
    assert fact_feed.unchanged(workspace, taught.clock) is None, "a file of this very moment is not settled"


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
