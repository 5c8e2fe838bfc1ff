"""Undo at its edges: plans that wait, files that an edit made. If these fail, what was undone returns or is halved."""

from __future__ import annotations

import re

import pytest

from core.base.result import Ok
from core.commands.quarantine import quarantine_accept
from core.commands.undo import UndoReport, undo
from core.commands.workspace import open_workspace
from tests.harvest_world import HURRIED, FakeModel, World, says


def taken_back(world: World, run: str) -> UndoReport:
    workspace = open_workspace(str(world.paths.home))
    assert isinstance(workspace, Ok)
    done = undo(workspace.value, run, patience=HURRIED)
    assert isinstance(done, Ok), done
    return done.value


def test_a_plan_that_waits_to_be_written_is_forgotten_too(world: World) -> None:
    """Otherwise the undone harvest comes back by itself as soon as the file is mended."""
    spoilt = world.paths.knowledge / "questions.md"
    spoilt.mkdir(parents=True)
    world.knowledge("facts.md", "# Facts\n\n- mine\n")
    world.converse("a")
    report = world.run(says(facts=["first"], questions=["really?"]))
    assert report.errors and world.paths.journal.exists()
    done = taken_back(world, report.run)
    assert done.errors == [] or [error.code for error in done.errors] == ["harvest-failed"]
    assert world.text("facts.md") == "# Facts\n\n- mine\n" and not world.paths.journal.exists()
    spoilt.rmdir()
    model = says(facts=["second"])
    world.run(model)
    assert model.calls == 1 and [line.split(" [")[0] for line in world.bullets()] == ["- mine", "- second"]


def test_a_plan_of_another_run_goes_on_waiting(world: World) -> None:
    world.converse("a")
    first = world.run(FakeModel())
    spoilt = world.paths.knowledge / "questions.md"
    spoilt.mkdir()
    world.converse("b")
    world.run(says(questions=["really?"]))
    taken_back(world, first.run)
    assert world.paths.journal.exists()
    spoilt.rmdir()
    world.run(says())
    assert "- really?" in world.text("questions.md")


@pytest.mark.parametrize("category", ["facts", "tasks_open", "tasks_done"])
def test_an_accepted_item_with_details_goes_back_whole(world: World, category: str) -> None:
    """Its file was made for it: the details must not stay behind without their bullet."""
    world.paths.conversations.mkdir(parents=True)
    held = f"# Quarantine\n\n- [no-quote] {category}: held [from: c, 2026-01-01]\n  one\n  two\n"
    world.knowledge("quarantine.md", held)
    workspace = open_workspace(str(world.paths.home))
    assert isinstance(workspace, Ok)
    accepted = quarantine_accept(workspace.value, "held")
    assert isinstance(accepted, Ok) and "  two\n" in world.text(accepted.value.file)
    done = taken_back(world, accepted.value.run)
    assert not done.stayed and world.text("quarantine.md") == held
    assert not {"held", "one", "two"} & set(re.findall(r"\w+", world.text(accepted.value.file)))
