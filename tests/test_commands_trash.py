"""The trash through the commands. If these fail, a conversation is gone before its time, or cannot be brought back."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from core.base import disk
from core.base.result import Ok
from core.commands import bullets, history
from core.commands.trash import trash_list, trash_purge, trash_restore
from core.commands.undo import UndoReport
from core.commands.workspace import Workspace
from core.knowledge.ledger import read_ledger
from tests.faults.fault import Counter, Fault
from tests.harvest_world import NOW, FakeModel, World, never, workspace_of
from tests.histories.ground import in_child
from tests.made_home import HURRIED, Clock, Model, converse, error, harvested, make_home, read, value, write


def undo(workspace: Workspace, run: str) -> UndoReport:
    return value(history.undo(workspace, run, editor_wait=HURRIED))


def entries(workspace: Workspace) -> dict[str, dict[str, Any]]:
    return value(read_ledger(workspace.paths))


def test_a_trashed_conversation_is_listed_and_restored_by_a_prefix(tmp_path: Path) -> None:
    workspace, clock = make_home(tmp_path), Clock()
    path = converse(workspace)
    before = path.read_bytes()
    harvested(workspace, Model(), clock)
    [row] = value(trash_list(workspace))
    assert (row.path, row.size) == (str(path), len(before)) and row.until.startswith("2026-05-15")
    back = value(trash_restore(workspace, row.sha256[:8], now=clock, editor_wait=HURRIED))
    assert back.path == str(path) and path.read_bytes() == before and "release" in back.note
    [entry] = entries(workspace).values()
    assert entry["deleted"] is False and "trash" not in entry
    assert value(trash_list(workspace)) == []
    assert error(trash_restore(workspace, row.sha256[:8], editor_wait=HURRIED)).code == "not-in-trash"


def test_restoring_never_overwrites_and_never_guesses(tmp_path: Path) -> None:
    workspace, clock = make_home(tmp_path), Clock()
    first, second = converse(workspace, "one", "same"), converse(workspace, "two", "same")
    harvested(workspace, Model(), clock)
    rows = value(trash_list(workspace))
    assert {row.path for row in rows} == {str(first), str(second)}
    assert error(trash_restore(workspace, rows[0].sha256[:10], editor_wait=HURRIED)).code == "ambiguous"
    first.write_text("new")
    name = next(row.name for row in rows if row.path == str(first))
    other = next(row.name for row in rows if row.path == str(second))
    assert error(trash_restore(workspace, name, editor_wait=HURRIED)).code == "occupied"
    assert first.read_text() == "new"
    value(trash_restore(workspace, other, editor_wait=HURRIED))
    [entry] = [entry for entry in entries(workspace).values() if entry["status"] == "harvested"]
    assert entry["trash"] == {name: str(first)} and second.exists()


def test_purge_takes_only_what_is_past_its_grace_period(tmp_path: Path) -> None:
    workspace, clock = make_home(tmp_path), Clock()
    converse(workspace)
    harvested(workspace, Model(), clock)
    early = value(trash_purge(workspace, now=clock, editor_wait=HURRIED))
    assert (early.purged, early.waiting) == ([], 1)
    clock.days(20)
    late = value(trash_purge(workspace, now=clock, editor_wait=HURRIED))
    assert len(late.purged) == 1 and late.bytes > 0 and value(trash_list(workspace)) == []
    kinds = sorted(entry["status"] for entry in entries(workspace).values())
    assert kinds == ["harvested", "pruned"]
    assert all("trash" not in entry for entry in entries(workspace).values())


def test_purge_refuses_when_the_harvest_has_vanished_but_not_when_the_person_removed_it(tmp_path: Path) -> None:
    workspace, clock = make_home(tmp_path), Clock()
    converse(workspace)
    harvested(workspace, Model(), clock)
    kept = {name: read(workspace, name) for name in ("facts.md", "tasks.md")}
    for name in kept:
        write(workspace, name, "")
    refused = value(trash_purge(workspace, everything=True, now=clock, editor_wait=HURRIED))
    assert [problem.code for problem in refused.errors] == ["harvest-vanished"] and refused.purged == []
    for name, text in kept.items():
        write(workspace, name, text)
    value(bullets.remove(workspace, "facts", "fact 1"))
    value(bullets.remove(workspace, "tasks", "task 1"))
    assert len(value(trash_purge(workspace, everything=True, now=clock, editor_wait=HURRIED)).purged) == 1


def test_purge_refuses_a_damaged_an_unknown_and_an_unproven_conversation(tmp_path: Path) -> None:
    workspace, clock = make_home(tmp_path), Clock()
    converse(workspace, "one", "1"), converse(workspace, "two", "2")
    report = harvested(workspace, Model(), clock)
    rows = value(trash_list(workspace))
    (workspace.paths.trash / rows[0].name).write_text("changed")
    (workspace.paths.trash / ("0" * 64)).write_text("unknown")
    (workspace.paths.trash / "mine.txt").write_text("mine")
    plans = workspace.paths.plans / f"{report.run}.jsonl"
    kept = [line for line in plans.read_bytes().split(b"\n") if rows[1].sha256.encode() not in line]
    plans.write_bytes(b"\n".join(kept))
    refused = value(trash_purge(workspace, everything=True, now=clock, editor_wait=HURRIED))
    assert refused.purged == [] and len(refused.errors) == 3
    assert len(list(workspace.paths.trash.iterdir())) == 4


def test_purge_respects_what_the_host_application_protects(tmp_path: Path) -> None:
    workspace, clock = make_home(tmp_path), Clock()
    path = converse(workspace)
    harvested(workspace, Model(), clock)
    index = workspace.paths.conversations / "index-saved-conversations-1.json"
    for text in ("{", json.dumps({"conversations": [{"path": str(path)}]})):
        index.write_text(text)
        refused = value(trash_purge(workspace, everything=True, now=clock, editor_wait=HURRIED))
        assert refused.purged == [] and len(refused.errors) == 1
    index.write_text('{"conversations": []}')
    assert len(value(trash_purge(workspace, everything=True, now=clock, editor_wait=HURRIED)).purged) == 1


def test_the_command_lists_restores_and_purges(tmp_path: Path) -> None:
    workspace, clock = make_home(tmp_path), Clock()
    path = converse(workspace)
    harvested(workspace, Model(), clock)
    [row] = value(trash_list(workspace))
    assert error(trash_restore(workspace, "")).code == "not-in-trash"
    value(trash_restore(workspace, row.sha256[:6]))
    assert path.exists()
    assert json.loads(json.dumps(row.to_json()))["name"] == row.name
    assert value(trash_purge(workspace, everything=True)).to_json()["purged"] == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("kind", ["before", "after"])
@pytest.mark.parametrize("at", range(1, 30))
def test_the_ledger_names_nothing_that_a_killed_purge_has_removed(tmp_path: Path, at: int, kind: str) -> None:
    """What is gone for good is told as gone, and what is still there can still be brought back."""
    world = World(tmp_path)
    for number in range(3):
        world.converse(f"User: talk {number}\n")
    world.run(FakeModel())
    assert len(world.trash()) == 3

    def killed() -> None:
        with patch.object(disk, "perform", Counter(Fault(at, kind))):
            trash_purge(workspace_of(world), everything=True, now=lambda: NOW, editor_wait=HURRIED)

    assert in_child(killed) in (0, -9)
    world.run(FakeModel(never))
    here = {path.name for path in world.trash()}
    named = {name for entry in world.entries().values() for name in entry.get("trash", {})}
    assert named == here
    pruned = [key for key, entry in world.entries().items() if entry.get("status") == "pruned"]
    assert len(pruned) == 3 - len(here)
    for name in sorted(here):
        assert isinstance(trash_restore(workspace_of(world), name, editor_wait=HURRIED), Ok)
