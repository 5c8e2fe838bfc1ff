"""What a person has struck through stays struck: a harvest that reads the conversation once more does not bring it back
beside itself."""

from __future__ import annotations

import pytest

from core.base.result import Ok
from core.commands import bullets
from core.commands.undo import undo
from core.commands.workspace import Workspace, open_workspace
from tests.harvest_world import World, says


def opened(world: World) -> Workspace:
    workspace = open_workspace(str(world.paths.home))
    assert isinstance(workspace, Ok)
    return workspace.value


@pytest.mark.parametrize(("category", "file"), [("facts", "facts.md"), ("tasks_open", "tasks.md")])
def test_a_struck_line_is_not_written_beside_itself_after_an_undo(world: World, category: str, file: str) -> None:
    """Undo leaves it, for the person has changed it; the next harvest reads the conversation again."""
    world.converse("a")
    first = world.run(says(**{category: ["one", "two"]}))
    assert isinstance(bullets.strike(opened(world), category, "one"), Ok)
    undone = undo(opened(world), first.run)
    assert isinstance(undone, Ok) and list(undone.value.stayed_why.values()) == ["struck through since"]
    struck = [line for line in world.text(file).split("\n") if line.startswith("- ")]
    assert len(struck) == 1 and struck[0].startswith("- ~~one~~")
    again = world.run(says(**{category: ["one", "two", "three"]}))
    lines = [line.split(" [from")[0] for line in world.text(file).split("\n") if line.startswith("- ")]
    assert lines == ["- ~~one~~", "- two", "- three"] and not again.errors


def test_the_same_words_of_another_conversation_are_written(world: World) -> None:
    """Two people may say it, and only one of them was wrong."""
    world.knowledge("facts.md", "# Facts\n\n- ~~one~~ [from: theirs, 2026-01-01]\n- ~~two~~\n")
    world.converse("a")
    world.run(says(facts=["one", "two"]))
    assert world.text("facts.md").count("\n- one [from: ") == world.text("facts.md").count("\n- two [from: ") == 1
