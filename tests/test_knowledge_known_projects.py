"""The projects of a large ledger are remembered; what is remembered is never older than the ledger."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import pytest

from core.base.paths import cache_folder
from core.base.result import Ok
from core.commands.workspace import Workspace
from core.knowledge import projects
from core.knowledge.ledger import Entries, write_ledger
from core.knowledge.projects import projects_of
from tests.harvest_world import World, workspace_of


def at_home(world: World) -> Workspace:
    return replace(workspace_of(world), environment={"XDG_CACHE_HOME": str(world.folder / "cache")})


def entries(number: int, folder: str) -> Entries:
    return {
        f"{one:064x}": {"path": f"/talks/talk-{one}", "status": "harvested", "project": f"{folder}/{one % 3}"}
        for one in range(number)
    }


def told(workspace: Workspace, rows: Entries, seconds: int) -> None:
    """A ledger that was written so many seconds after 1970."""
    write_ledger(workspace.paths, rows)
    os.utime(workspace.paths.ledger, (seconds, seconds))


def asked(workspace: Workspace) -> dict[str, Any]:
    found = projects.known_projects(workspace.paths, workspace.environment)
    assert isinstance(found, Ok)
    return dict(found.value)


def test_a_second_look_does_not_read_the_ledger(world: World) -> None:
    """Every prompt waited for it: most of a second, and hundreds of megabytes, with a hundred thousand entries."""
    workspace, rows = at_home(world), entries(20, "/work")
    rows["f" * 64] = {"path": "/talks/talk-0", "status": "harvested"}
    told(workspace, rows, 1000)
    assert asked(workspace) == projects_of(rows)
    with patch.object(projects, "seen_ledger", side_effect=AssertionError):
        assert asked(workspace) == projects_of(rows)


def test_a_ledger_that_changed_is_read_again_also_with_the_same_time_and_size(world: World) -> None:
    """Or one project is shown the words of another."""
    workspace = at_home(world)
    told(workspace, entries(5, "/work"), 1000)
    asked(workspace)
    told(workspace, entries(5, "/home"), 1000)
    assert asked(workspace) == projects_of(entries(5, "/home"))


def test_what_was_written_just_now_is_not_remembered(world: World) -> None:
    workspace = at_home(world)
    write_ledger(workspace.paths, entries(5, "/work"))
    asked(workspace)
    assert not (cache_folder(workspace.paths.home, workspace.environment) / "projects").exists()


@pytest.mark.parametrize("spoil", [b"", b"[]", b"{", b'{"ledger": 1}', b"\xff"])
def test_a_damaged_memory_is_made_anew(world: World, spoil: bytes) -> None:
    workspace = at_home(world)
    told(workspace, entries(5, "/work"), 1000)
    asked(workspace)
    cache = cache_folder(workspace.paths.home, workspace.environment) / "projects"
    good = json.loads(cache.read_bytes())
    cache.write_bytes(spoil)
    assert asked(workspace) == projects_of(entries(5, "/work")) and json.loads(cache.read_bytes()) == good
    cache.write_text(json.dumps({**good, "folders": []}))
    assert asked(workspace) == projects_of(entries(5, "/work"))
