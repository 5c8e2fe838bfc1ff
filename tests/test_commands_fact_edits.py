"""Edits, deletions and merges of single facts. If these fail, an edit is lost, or a removed fact comes back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.commands.facts import delete_fact, edit_fact, facts_list, facts_view, merge_facts
from core.commands.undo import undo
from tests.facts_home import (
    YAML,
    code_of,
    facts_of,
    harvested,
    taught_fixture,  # noqa: F401 - pytest finds the fixture by itself
    value,
    workspace_of,
)
from tests.harvest_world import HURRIED, World, says


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
    value(undo(workspace, edited.run, editor_wait=HURRIED))
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
    value(undo(workspace, removed.run, editor_wait=HURRIED))
    assert taught.text(YAML) == before
    assert code_of(delete_fact(workspace, "global:fact:01")) == "no-match"


def test_two_facts_become_one_and_its_words_confirm_it(taught: World) -> None:
    workspace = workspace_of(taught)
    before = taught.text(YAML)
    pairs = value(facts_list(workspace, similar=True)).pairs
    assert pairs == ()
    merged = value(merge_facts(workspace, "global:fact:001", "global:fact:002"))
    assert (merged.into.source_count, merged.into.related) == (2, ("global:fact:002",))
    assert [fact.id for fact in facts_of(taught)][:2] == ["global:fact:001", "global:fact:003"]
    taught.converse("User: b\n")
    run = harvested(taught, says(facts=["One or so"])).run
    assert facts_of(taught)[0].source_count == 3
    value(undo(workspace, run, editor_wait=HURRIED))
    value(undo(workspace, merged.run, editor_wait=HURRIED))
    assert taught.text(YAML) == before
    assert code_of(merge_facts(workspace, "global:fact:001", "global:fact:001")) == "usage"


def test_a_merge_that_was_cut_in_the_middle_can_be_done_again(taught: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts must not be added up twice."""
    workspace = workspace_of(taught)
    import core.commands.facts as edits

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
