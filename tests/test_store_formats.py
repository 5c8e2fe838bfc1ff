"""Stores of earlier formats are carried over at the first write, with what a crash of the earlier program had cut off;
those of later formats are refused. If these fail, an upgrade costs a user lines, or the undo of an edit.

`stores/format_1.json` was made by the last program of that format, killed in a sync of the fact index, in a harvest and
in an edit. A log is a list of records there, so that it can be put into any folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.base.checked_lines import encode
from core.base.homes import FORMAT, format_of
from core.base.result import KnowledgeError, Ok, attempt
from core.commands import bullets
from core.commands.fact_feed import sync_facts
from core.commands.history.runs import runs
from core.commands.workspace import Workspace, open_workspace
from core.factindex.index import read_index
from core.knowledge.journal import read_plans
from tests.harvest_world import NOW, FakeModel, World, workspace_of

OLD = Path(__file__).parent / "stores" / "format_1.json"
SECOND = "User: the second talk\n"


def put_down(folder: Path) -> World:
    """The home of that store, as its program left it."""
    world = World(folder)
    rows: dict[str, Any] = json.loads(OLD.read_text().replace("{folder}", str(folder)))
    for name, held in rows.items():
        path = world.paths.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(held.encode() if isinstance(held, str) else b"".join(map(encode, held)))
    return world


def harvest(world: World) -> None:
    world.run(FakeModel())


def add(world: World) -> None:
    bullets.add(workspace_of(world), "decisions", "by hand", now=lambda: NOW)


def reading(world: World) -> None:
    assert isinstance(attempt(runs, workspace_of(world)), Ok)


@pytest.mark.parametrize("first", [harvest, add, reading])
def test_a_store_of_format_1_is_carried_over_by_whatever_writes_first(
    tmp_path: Path, first: Callable[[World], None]
) -> None:
    world = put_down(tmp_path)
    first(world)
    assert format_of(world.paths) == (1 if first is reading else FORMAT)
    world.run(FakeModel())
    synced = attempt(sync_facts, workspace_of(world), now=lambda: NOW)
    assert isinstance(synced, Ok) and not synced.value.problems
    assert not (world.paths.state / "facts.journal").exists() and not world.paths.journal.exists()
    assert not [path for path in world.paths.home.rglob("*") if path.name.endswith(".knowledge-tmp")]

    for words in (
        "The cache holds 201",
        "The cache holds 301",
        "We keep 301",
        "Count 301",
        "Why are there 301",
        "8081",
    ):
        assert sum(words in line for line in world.bullets()) == 1, words
    entry = world.entry(SECOND)
    assert entry["status"] == "harvested" and entry["deleted"] and not list(world.paths.conversations.glob("talk-*"))
    assert read_plans(world.paths.plans, entry["run"])
    facts = read_index(world.paths.knowledge)
    texts = [fact.fact for fact in facts]
    assert sorted(texts) == sorted(set(texts)) and {"The cache holds 201 rows", "The cache holds 301 rows"} <= {*texts}


def opened(world: World) -> Workspace:
    return open_workspace(str(world.paths.home), None, {}, world.folder)


@pytest.mark.parametrize(
    ("text", "refused"),
    [("1\n", False), ("2\n", False), (f"{FORMAT}\n", False), (f"{FORMAT + 1}\n", True), ("", False), ("x", False)],
)
def test_a_store_of_a_later_format_is_refused_in_a_sentence(world: World, text: str, refused: bool) -> None:
    """Whoever goes back to an older version must not write into what that does not understand."""
    world.knowledge("facts.md", "# Facts\n\n- one\n")
    harvest(world)
    workspace, before = workspace_of(world), world.text("facts.md")
    world.paths.format.write_text(text)
    found = attempt(opened, world)
    assert isinstance(found, KnowledgeError) == refused
    if isinstance(found, KnowledgeError):
        assert found.error.code == "newer-store" and f"format {FORMAT + 1}" in found.error.message and found.error.hint
        edited = attempt(
            bullets.strike, workspace, "facts", "one"
        )  # opened before another program carried the store over
        assert isinstance(edited, KnowledgeError) and f"format {FORMAT + 1}" in edited.error.message
        ran = attempt(world.try_run, FakeModel())
        assert isinstance(ran, KnowledgeError) and f"format {FORMAT + 1}" in ran.error.message
        assert world.text("facts.md") == before and world.paths.format.read_text() == text
    else:
        harvest(world)
        assert format_of(world.paths) == FORMAT
