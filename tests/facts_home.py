"""A home with facts in it, for the tests of the commands: harvested by a model that says what a test wants."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from core.commands.facts import list_facts
from core.commands.harvest import harvest
from core.commands.harvest_options import HarvestRequest
from core.commands.workspace import Workspace, open_workspace
from core.factindex.facts import Fact
from core.harvest.report import HarvestReport
from tests.cli_call import call
from tests.harvest_world import HURRIED, FakeModel, World, says
from tests.made_home import error

YAML = "global/facts.yaml"


def code_of(call: Callable[..., Any], *arguments: Any, **named: Any) -> str:
    """The code of the error that a call is refused with."""
    return error(call, *arguments, **named).code


def workspace_of(world: World, **settings: Any) -> Workspace:
    opened: Workspace = open_workspace(str(world.paths.home), cwd=world.folder)
    loaded = replace(opened.loaded, config=replace(opened.config, **settings))
    return replace(opened, loaded=loaded)


def harvested(world: World, model: FakeModel | None, again: bool = False, **settings: Any) -> HarvestReport:
    workspace = workspace_of(world, **({"provider": "openai"} if model else {}), **settings)
    request = HarvestRequest(apply=True, provider="openai" if model else "offline", again=again)
    return harvest(workspace, request, generate=model, now=lambda: world.clock, editor_wait=HURRIED)


def learn(world: World, talk: str = "User: a\n", **rows: Any) -> HarvestReport:
    """Harvest one more conversation, in which a model finds these rows."""
    world.converse(talk)
    return harvested(world, says(**rows))


def facts_of(world: World) -> list[Fact]:
    return list(list_facts(workspace_of(world), now=lambda: world.clock).facts)


def cli(world: World, *words: str) -> tuple[int, str, str]:
    return call(*words, "--home", str(world.paths.home))


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


@pytest.fixture(name="taught")
def taught_fixture(world: World) -> World:
    """A home whose facts came from one conversation."""
    learn(world, facts=["One", "One or so", {"statement": "Two", "tags": ["git"]}], questions=["Why?"])
    return world
