"""An edit that a crash cut off can still be undone: else a slip just before it could not be taken back."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any
from unittest.mock import patch

import pytest

from core.base import disk, files
from core.base.result import Ok
from core.commands import bullets
from core.commands.runs import runs
from core.commands.undo import undo
from core.knowledge import edit as edits
from core.knowledge.changes import Change, read_changes
from core.knowledge.promises import promise, settle_promises
from tests.faults.fault import Counter, Fault
from tests.harvest_world import HURRIED, NOW, World, workspace_of
from tests.histories.ground import in_child

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
BEFORE = "# Facts\n\n- one\n- two\n"


def remove_one(world: World) -> Any:
    return bullets.remove(workspace_of(world), "facts", "one", now=lambda: NOW)


@pytest.mark.parametrize("kind", ["before", "half", "after"])
@pytest.mark.parametrize("at", range(1, 36))
def test_whatever_an_edit_had_done_when_it_was_killed_can_be_taken_back(world: World, at: int, kind: str) -> None:
    world.knowledge("facts.md", BEFORE)

    def killed() -> None:
        with patch.object(disk, "perform", Counter(Fault(at, kind))):
            remove_one(world)

    assert in_child(killed) in (0, -9)
    after = world.text("facts.md")
    listed = runs(workspace_of(world))  # at once: nobody waits for the next harvest to take a slip back
    assert isinstance(listed, Ok)
    assert [(row.kind, row.removed) for row in listed.value] == ([("edit", 1)] if after != BEFORE else [])
    world.run()
    told = read_changes(world.paths)
    assert [row.removed for row in told] == ([("- one",)] if after != BEFORE else [])
    if told:
        done = undo(workspace_of(world), told[0].run, patience=HURRIED)
        assert isinstance(done, Ok) and done.value.lines_back == 1
    assert world.text("facts.md") == BEFORE and not list(world.paths.edits.glob("*"))


@pytest.mark.parametrize("kind", ["before", "half", "after"])
@pytest.mark.parametrize("at", range(1, 26))
def test_a_first_bullet_that_was_killed_half_way_can_be_taken_back(world: World, at: int, kind: str) -> None:
    def killed() -> None:
        with patch.object(disk, "perform", Counter(Fault(at, kind))):
            bullets.add(workspace_of(world), "decisions", "we keep it small", now=lambda: NOW)

    assert in_child(killed) in (0, -9)
    path = world.paths.knowledge / "decisions.md"
    stands = "we keep it small" in path.read_text() if path.exists() else False
    world.run()
    told = read_changes(world.paths)
    assert [row.file for row in told] == ["decisions.md"] * stands
    if told:
        assert isinstance(undo(workspace_of(world), told[0].run, patience=HURRIED), Ok)
        assert "we keep it small" not in path.read_text()
    assert not list(world.paths.edits.glob("*"))


def test_an_edit_at_work_is_left_alone(world: World) -> None:
    """Its row would be told twice, and an undo would take it back twice."""
    world.knowledge("facts.md", BEFORE)
    real = files.sync_folder
    seen: list[int] = []

    def meanwhile(path: Any) -> None:
        real(path)
        if path == world.paths.knowledge:
            seen.append(settle_promises(world.paths))

    with patch.object(files, "sync_folder", meanwhile):
        assert isinstance(remove_one(world), Ok)
    assert seen and not any(seen) and len(read_changes(world.paths)) == 1


@pytest.mark.parametrize(
    ("now", "made"),
    [
        ("# Facts\n\n- new\n- two\n- more\n", True),
        ("# Facts\n\n- one\n- two\n- more\n", False),
        ("# Facts\n\n- two\n", False),
        ("", False),
    ],
)
def test_after_another_save_the_lines_tell_whether_it_was_made(world: World, now: str, made: bool) -> None:
    world.knowledge("facts.md", BEFORE)
    told: list[Change] = []
    with patch.object(edits, "promise", lambda paths, change: told.append(change) or promise(paths, change)):
        assert isinstance(bullets.edit(workspace_of(world), "facts", "one", "new", now=lambda: NOW), Ok)
    world.paths.changes.unlink()
    gone = int(subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True).stdout)
    with patch("os.getpid", lambda: gone):
        promise(world.paths, told[0])
    world.knowledge("facts.md", now)
    assert settle_promises(world.paths) == made and len(read_changes(world.paths)) == made
    assert list(world.paths.edits.iterdir()) == []


def test_what_is_no_promise_is_no_trouble(world: World) -> None:
    world.paths.edits.mkdir(parents=True)
    for name in ("notes.txt", "edit-1.999999999.json", ".x.1.json"):
        (world.paths.edits / name).write_text("{")
    world.run()
    assert sorted(path.name for path in world.paths.edits.iterdir()) == [".x.1.json", "notes.txt"]
