"""Undo at its edges: plans that wait, files that an edit made. If these fail, what was undone returns or is halved."""

from __future__ import annotations

import re

import pytest

from core.base.result import Err, Ok
from core.cli.history import undo_text
from core.commands import bullets
from core.commands.quarantine import quarantine_accept
from core.commands.runs import runs
from core.commands.undo import UndoReport, undo
from core.commands.workspace import open_workspace
from tests.harvest_world import HURRIED, FakeModel, World, says, workspace_of


def taken_back(world: World, run: str) -> UndoReport:
    done = undo(workspace_of(world), run, editor_wait=HURRIED)
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


# --- what an undo tells ----------------------------------------------------------------------------------------------


def test_a_line_that_has_vanished_is_not_said_to_stay(world: World) -> None:
    """Whoever reads "stayed" looks for the line in the file, and it is not there."""
    world.converse("a")
    report = world.run(says(facts=["one", "two", "three"]))
    lines = world.text("facts.md").split("\n")
    vanished, detailed = lines[2], lines[4]
    world.knowledge("facts.md", "\n".join([*lines[:2], *lines[3:5], "  my details", ""]))
    done = taken_back(world, report.run)
    assert (done.gone, done.stayed, done.lines_out) == ([vanished], [detailed], 1)
    assert f"gone before: {vanished}\n" in undo_text(done)
    assert f"stayed (details were written below it): {detailed}\n" in undo_text(done)
    assert done.to_json()["stayed_why"] == {detailed: "details were written below it"}


def test_a_line_in_the_persons_own_words_is_said_to_stay(world: World) -> None:
    world.converse("a")
    report = world.run(says(facts=["one"]))
    line = world.text("facts.md").split("\n")[2]
    world.knowledge("facts.md", f"# Facts\n\n{line.replace('one', 'number one')}\n")
    done = taken_back(world, report.run)
    assert (done.gone, done.stayed) == ([], [line]) and "number one" in world.text("facts.md")
    assert done.stayed_why == {line: "reworded since"}


def test_an_edit_that_was_deleted_in_an_editor_is_gone_and_not_changed(world: World) -> None:
    world.knowledge("facts.md", "# Facts\n\n- mine\n")
    added = bullets.add(workspace_of(world), "facts", "a thought")
    assert isinstance(added, Ok)
    world.knowledge("facts.md", "# Facts\n\n- mine\n")
    done = taken_back(world, added.value.run)
    assert done.gone == list(added.value.added) or "as it was before" in done.notes[0]
    assert not done.stayed and world.text("facts.md") == "# Facts\n\n- mine\n"


@pytest.mark.parametrize("kind", ["edit", "harvest"])
def test_a_second_undo_says_that_there_was_nothing_to_do(world: World, kind: str) -> None:
    """ "undone" for the second time reads as if something had happened again."""
    if kind == "edit":
        world.knowledge("facts.md", "# Facts\n\n- mine\n")
        edited = bullets.edit(workspace_of(world), "facts", "mine", "mine, and better")
        assert isinstance(edited, Ok)
        run = edited.value.run
    else:
        world.converse("a")
        run = world.run(FakeModel()).run
    first, before = taken_back(world, run), world.text("facts.md")
    assert not first.already and undo_text(first).startswith(f"undone: {run}")
    second = taken_back(world, run)
    assert second.already and undo_text(second).startswith(f"already undone: {run}")
    assert world.text("facts.md") == before


def test_the_list_of_runs_says_what_each_one_changed(world: World) -> None:
    """A list of bare ids does not tell which of ten edits the person wants back."""
    world.knowledge("facts.md", "# Facts\n\n- the port is 8080\n- other\n")
    workspace = workspace_of(world)
    assert isinstance(bullets.edit(workspace, "facts", "8080", "the port is 8081"), Ok)
    assert isinstance(bullets.remove(workspace, "facts", "other"), Ok)
    world.converse("a")
    world.run(says(facts=["first", "x" * 90]))
    listed = runs(workspace)
    assert isinstance(listed, Ok)
    texts = sorted(run.text for run in listed.value)
    assert texts == [
        "facts.md: + first (and 1 more)",
        "facts.md: - other",
        "facts.md: the port is 8080 -> the port is 8081",
    ]
    assert f"\n    {texts[2]}\n" in undo_text(listed.value)


def test_a_run_of_which_every_conversation_failed_is_not_offered(world: World) -> None:
    """Five runs with a wrong key stood above the one that the person wanted back."""
    world.converse("a")
    for _ in range(5):
        world.run(FakeModel(lambda number, prompt: "no json"))
    world.converse("b")
    kept = world.run(FakeModel(lambda number, prompt: "no json" if number < 3 else {"facts": [f"x {number}"]}))
    listed = runs(workspace_of(world))
    assert isinstance(listed, Ok) and [run.run for run in listed.value] == [kept.run]
    unknown = undo(workspace_of(world), "20200101T000000-abcdef", editor_wait=HURRIED)
    assert isinstance(unknown, Err) and unknown.error.hint == f"the newest runs are: {kept.run}"
