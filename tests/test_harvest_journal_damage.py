"""A journal that lost records: what it told of must not be forgotten, and no conversation may become homeless."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import patch

import pytest

from core.base.result import Ok
from core.commands.trash import trash_list, trash_restore
from core.commands.workspace import open_workspace
from core.harvest.committer import Committer
from tests.harvest_world import HURRIED, FakeModel, World, says


def cut(world: World, model: FakeModel) -> None:
    """A run that ends before its records are brought in."""
    with patch.object(Committer, "finish", lambda self: self._journal.close()):
        world.run(model)


def origins(world: World) -> list[str]:
    workspace = open_workspace(str(world.paths.home))
    assert isinstance(workspace, Ok)
    listed = trash_list(workspace.value)
    assert isinstance(listed, Ok)
    return sorted(row.path for row in listed.value)


@pytest.mark.parametrize("at", [0, 1, 2, 4, 7])
def test_damage_in_the_middle_is_set_aside_and_told(world: World, at: int) -> None:
    """One flipped bit: the good records behind it are evidence, and every conversation can still be restored."""
    paths = [world.converse("a"), world.converse("b")]
    cut(world, FakeModel())
    lines = world.paths.journal.read_bytes().split(b"\n")
    lines[at] = lines[at][:20] + bytes([lines[at][20] ^ 1]) + lines[at][21:]
    damaged = b"\n".join(lines)
    world.paths.journal.write_bytes(damaged)
    report = world.run(FakeModel())
    (aside,) = world.paths.state.glob("journal.damaged-*")
    assert aside.read_bytes() == damaged and any(aside.name in note for note in report.notes)
    assert origins(world) == sorted(map(str, paths))


def test_a_torn_end_is_no_damage(world: World) -> None:
    world.converse("a")
    cut(world, FakeModel())
    world.paths.journal.write_bytes(world.paths.journal.read_bytes()[:-5])
    report = world.run(FakeModel())
    assert not list(world.paths.state.glob("journal.damaged-*")) and not report.errors


@pytest.mark.parametrize("again", [False, True])
def test_a_move_that_no_record_tells_of_can_be_taken_back(world: World, again: bool) -> None:
    """A power cut keeps the rename and loses the last records, which were not durable yet."""
    if again:
        world.limits(keep=True).run(FakeModel()) if world.converse("a") else None
        path = next(world.paths.conversations.glob("talk-*"))
        cut(world.limits(keep=False), says())
        world.paths.journal.write_bytes(b"")
    else:
        path = world.converse("a")
        cut(world, FakeModel())
        lines = world.paths.journal.read_bytes().split(b"\n")
        world.paths.journal.write_bytes(
            b"\n".join(line for line in lines if b'"moving"' not in line and b'"reclaimed"' not in line)
        )
    assert not Path(path).exists()
    world.run(says())
    workspace = open_workspace(str(world.paths.home))
    assert isinstance(workspace, Ok) and origins(world) == [str(path)] and world.entry("a")["deleted"]
    back = trash_restore(workspace.value, world.trash()[0].name, patience=HURRIED)
    assert isinstance(back, Ok) and path.read_text() == "a"
