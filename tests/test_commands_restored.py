"""A person who brings a conversation back from the trash wants to have it: no later harvest takes it away again."""

from __future__ import annotations

import json
from pathlib import Path
from unittest.mock import patch

import pytest

from core.cli.history import released_text
from core.commands import trash as trash_commands
from core.commands.harvest import harvest
from core.commands.harvest_options import HarvestRequest
from core.commands.trash import trash_list, trash_release, trash_restore
from core.commands.undo import undo
from core.commands.workspace import Workspace
from core.knowledge.ledger import read_ledger
from tests.made_home import HURRIED, Clock, Model, converse, error, harvested, make_home, value


def restored(workspace: Workspace, clock: Clock, at: int = 0) -> str:
    """Bring the one at that place of the list back; its hash."""
    row = value(trash_list(workspace))[at]
    value(trash_restore(workspace, row.name, now=clock, editor_wait=HURRIED))
    return row.sha256


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_restored_conversation_stays_through_any_number_of_harvests(tmp_path: Path, clock: Clock) -> None:
    workspace, model = make_home(tmp_path), Model()
    path = converse(workspace)
    harvested(workspace, model, clock)
    restored(workspace, clock)
    for _ in range(3):
        report = harvested(workspace, model, clock)
        assert path.exists() and report.reclaimed == 0 and not report.errors
    assert report.plan.counts["keep"] == 1 and "release" in report.plan.classified[0].reason
    harvested(workspace, model, clock, no_harvest=True)
    assert path.exists() and model.asked == 1


def test_it_is_taken_again_once_it_has_changed(tmp_path: Path, clock: Clock) -> None:
    workspace = make_home(tmp_path)
    path = converse(workspace)
    harvested(workspace, Model(), clock)
    restored(workspace, clock)
    path.write_text(path.read_text() + "User: and one more thing\n")
    assert harvested(workspace, Model(), clock).harvested == 1 and not path.exists()


def test_another_copy_of_the_same_content_goes_as_ever(tmp_path: Path, clock: Clock) -> None:
    workspace = make_home(tmp_path)
    path = converse(workspace, "one", "same")
    harvested(workspace, Model(), clock)
    restored(workspace, clock)
    other = converse(workspace, "two", "same")
    harvested(workspace, Model(), clock)
    assert path.exists() and not other.exists()


def test_a_released_one_goes_with_the_next_harvest(tmp_path: Path, clock: Clock) -> None:
    workspace, model = make_home(tmp_path), Model()
    path = converse(workspace)
    harvested(workspace, model, clock)
    sha = restored(workspace, clock)
    assert error(trash_release(workspace, "0000", now=clock, editor_wait=HURRIED)).code == "not-restored"
    let_go = value(trash_release(workspace, sha[:9], now=clock, editor_wait=HURRIED))
    assert released_text(let_go).startswith(f"released: {path}\n") and let_go.to_json()["paths"] == [str(path)]
    assert harvested(workspace, model, clock).reclaimed == 1 and not path.exists() and model.asked == 1
    assert "nothing is kept" in error(trash_release(workspace, sha)).hint


def test_a_better_model_reads_it_and_leaves_it_there(tmp_path: Path, clock: Clock) -> None:
    """The harvest of the rules is done again by a model; the conversation is still the person's."""
    workspace, model = make_home(tmp_path), Model()
    path = converse(workspace)
    with patch("core.harvest.distil.distil_offline", lambda conversation: {"facts": ["by rule"]}):
        value(harvest(workspace, HarvestRequest(apply=True, provider="offline"), now=clock, editor_wait=HURRIED))
    assert not path.exists()
    restored(workspace, clock)
    report = harvested(workspace, model, clock)
    assert path.exists() and report.harvested == 1 and any("brought back by you" in note for note in report.notes)


def test_a_crash_between_the_promise_and_the_move_keeps_the_promise(tmp_path: Path, clock: Clock) -> None:
    """The file is back in its place; without the note in the ledger the next harvest would take it again."""
    workspace = make_home(tmp_path)
    path = converse(workspace)
    harvested(workspace, Model(), clock)
    [row] = value(trash_list(workspace))
    with patch.object(trash_commands, "note_restored", side_effect=KeyboardInterrupt), pytest.raises(KeyboardInterrupt):
        trash_restore(workspace, row.name, now=clock, editor_wait=HURRIED)
    assert path.exists() and harvested(workspace, Model(), clock).reclaimed == 0 and path.exists()


def test_a_refused_restore_promises_nothing(tmp_path: Path, clock: Clock) -> None:
    workspace = make_home(tmp_path)
    path = converse(workspace)
    harvested(workspace, Model(), clock)
    path.write_text("another one of that name")
    [row] = value(trash_list(workspace))
    assert error(trash_restore(workspace, row.name, now=clock, editor_wait=HURRIED)).code == "occupied"
    assert "restored" not in json.dumps(value(read_ledger(workspace.paths)))


def test_a_copy_that_an_undo_brought_back_stays_while_its_harvest_stands(tmp_path: Path, clock: Clock) -> None:
    """Otherwise the next harvest repeats just what was undone."""
    workspace, model = make_home(tmp_path), Model()
    converse(workspace, "early", "same")
    harvested(workspace, model, clock)
    late = converse(workspace, "late", "same")
    second = harvested(workspace, model, clock)
    value(undo(workspace, second.run, editor_wait=HURRIED))
    harvested(workspace, model, clock)
    assert late.exists() and model.asked == 1
