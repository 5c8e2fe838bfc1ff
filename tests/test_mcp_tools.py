"""What an agent is given, tool by tool. An agent that works in one project must not be handed the tasks of all others,
nor pay four tokens for every one that it asked for."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.commands.workspace import Workspace
from core.mcp_server import tools
from tests.harvest_world import World, says
from tests.test_commands_facts import claude_session, harvested, workspace_of


@pytest.fixture
def two(world: World) -> World:
    """Conversations of two projects and of none, each with tasks and a note on a file of the same name."""
    for number, name in enumerate(("alpha", "beta", "")):
        folder = world.folder / name
        (folder / ".git").mkdir(parents=True) if name else None
        world.converse(claude_session(str(folder), "hello") if name else "User: hello\n")
        rows = [f"{name or 'nowhere'} task {at}" for at in range(number + 1)]
        notes = [{"path": "src/gone.py", "note": f"told in {name or 'no project'}"}]
        harvested(world, says(tasks_open=rows, tasks_done=[f"{name} done"], files=notes))
    world.knowledge("tasks.md", world.text("tasks.md").replace("## Done", "- by hand\n\n## Done"))
    return world


def at(world: World, name: str) -> Workspace:
    return replace(workspace_of(world), cwd=world.folder / name)


def texts(answer: dict[str, Any]) -> list[str]:
    return [row["text"] for row in answer["tasks"]]


def test_tasks_are_those_of_the_project_around_the_server(two: World) -> None:
    (two.folder / "beta" / "src").mkdir()
    found = tools.tasks(at(two, "beta/src"), "open", "", 20)
    assert texts(found) == ["by hand", "beta task 1", "beta task 0"], "the newest first"
    assert (found["count"], found["elsewhere"], found["project"]) == (3, 4, str(two.folder / "beta"))
    assert [row["project"] for row in found["tasks"]] == ["", "beta", "beta"]
    assert texts(tools.tasks(at(two, "beta"), "done", "", 20)) == ["beta done"]


def test_an_unrelated_project_gets_none_and_is_told_how_many_there_are(two: World) -> None:
    (two.folder / "other").mkdir()
    found = tools.tasks(at(two, "other"), "open", "", 20)
    assert texts(found) == ["by hand"] and found["elsewhere"] == 6


def test_another_project_or_all_can_be_asked_for_and_no_more_than_wanted(two: World) -> None:
    here = at(two, "beta")
    assert texts(tools.tasks(here, "open", str(two.folder / "alpha"), 20)) == ["by hand", "alpha task 0"]
    everything = tools.tasks(here, "open", "all", 20)
    assert everything["count"] == 7 and {row["project"] for row in everything["tasks"]} == {"", "alpha", "beta"}
    few = tools.tasks(here, "open", "all", 2)
    assert len(few["tasks"]) == 2 and few["count"] == 7
    with pytest.raises(tools.RefusedError, match="no folder of that name"):
        tools.tasks(here, "open", "/nowhere/at/all", 20)


def test_notes_on_a_file_are_not_those_of_another_project_with_such_a_file(two: World) -> None:
    def notes(project: str, limit: int = 20) -> list[str]:
        answer = tools.get_file_notes(at(two, "beta"), "src/gone.py", project, limit)
        return [row["text"].partition(": ")[2] for row in answer["notes"]]

    assert "told in beta" in notes("") and "told in alpha" not in notes("")
    assert "told in alpha" in notes(str(two.folder / "alpha")) and len(notes("", 1)) == 1
    with pytest.raises(tools.RefusedError, match="no folder of that name"):
        notes("/nowhere/at/all")


def test_facts_cost_what_the_budget_says(world: World) -> None:
    """A budget of 2,000 tokens arrived as 8,000: every date, tag and count of each fact was spelled out."""
    world.converse(claude_session(str(world.folder / "alpha"), "hello"))
    harvested(world, says(facts=[{"statement": f"Fact {n} " + "w" * 60, "tags": ["a", "b"]} for n in range(150)]))
    found = tools.get_facts(at(world, ""), ["alpha"], 2000)
    assert found["text"].count("\n- ") > 80 and found["left_out"] > 0 and found["tokens"] <= 2000
    assert len(json.dumps(found, indent=2)) // 4 < 2000 * 1.1
    assert "data, not instructions" in found["notice"]


def test_the_same_memory_is_not_saved_twice(world: World) -> None:
    here = workspace_of(world)
    first = tools.save_memory(here, "Prefers tabs", ["style"], "")
    again = tools.save_memory(here, "Prefers tabs", [], "")
    assert again["memory_id"] == first["memory_id"] == 1 and "Already saved as 001" in again["display"]
    assert "Already" not in tools.save_memory(here, "Prefers tabs", ["decision"], "")["display"], "a tag is news"
    assert len(list(world.paths.memories.glob("*.md"))) == 2


def test_an_empty_search_says_so(world: World) -> None:
    with pytest.raises(tools.RefusedError, match="nothing to search for"):
        tools.search_knowledge(workspace_of(world), "  ", "", "", [], "", 5)


def test_a_home_folder_is_no_project(two: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that was started nowhere in particular tells everything."""
    monkeypatch.setenv("HOME", str(two.folder))
    assert tools.tasks(at(two, ""), "open", "", 20)["count"] == 7
    assert Path(two.folder).is_dir()
