"""A journal that lost records: what it told of must not be forgotten, and no conversation may become homeless."""

from __future__ import annotations

import os
import shutil
from itertools import count
from pathlib import Path
from unittest.mock import patch

import pytest

from core.base import disk
from core.base.checked_lines import decode
from core.base.result import Ok
from core.commands.trash import trash_list, trash_restore
from core.commands.undo import undo
from core.commands.workspace import open_workspace
from core.harvest.committer import Committer
from tests.faults.fault import Counter, Fault
from tests.harvest_world import HURRIED, FakeModel, World, says, workspace_of
from tests.histories.ground import in_child


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
    back = trash_restore(workspace.value, world.trash()[0].name, editor_wait=HURRIED)
    assert isinstance(back, Ok) and path.read_text() == "a"


# --- nothing stands twice, nothing is lost, wherever the damage is ---------------------------------------------------


def other_words() -> FakeModel:
    """A model that never says a thing in the same words: an item that is harvested twice is seen by its kind."""
    told = next(_ANSWERS)
    return FakeModel(
        lambda number, prompt: {
            "facts": [f"The cache is slow {told}.{number}", f"The disk is old {told}.{number}"],
            "decisions": [f"We keep SQLite {told}.{number}"],
            "tasks_open": [f"Write the parser {told}.{number}"],
        }
    )


_ANSWERS = count(1)
KINDS = ("The cache is slow", "The disk is old", "We keep SQLite", "Write the parser")


def standing(world: World) -> list[str]:
    return [line for line in world.bullets() if not line.startswith("- mine")]


def times(world: World, kind: str, name: str) -> int:
    return sum(kind in line and name in line for line in standing(world))


def doubled(world: World, names: list[str]) -> list[str]:
    """Items that stand more than once, by kind and conversation."""
    return [f"{kind} {name}" for kind in KINDS for name in names if times(world, kind, name) > 1]


def whole(world: World, names: list[str]) -> list[str]:
    """Conversations of which each item stands exactly once."""
    return [name for name in names if all(times(world, kind, name) == 1 for kind in KINDS)]


def killed_run(folder: Path, kill: int | None) -> World:
    """A home after a run over two conversations that was killed: at an operation, or before its records came in."""
    world = World(folder)
    folder.mkdir()
    world.knowledge("facts.md", "# Facts\n\n- mine, and not of a model\n")
    world.converse("User: one\n")
    world.converse("User: two\n")
    if kill is None:
        cut(world, other_words())
    else:

        def work() -> None:
            with patch.object(disk, "perform", Counter(Fault(kill, "after"))):
                world.run(other_words())

        in_child(work)
    return world


def damages(data: bytes, stride: int) -> list[tuple[str, bytes]]:
    """A byte flipped, the journal cut off, at every `stride`-th position; and a file of zeros."""
    found = [("zeros", bytes(len(data)))]
    for at in range(0, len(data), stride):
        found.append((f"flip at {at}", data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :]))
        found.append((f"cut at {at}", data[:at]))
    breaks = [at + 1 for at, byte in enumerate(data) if byte == 10]
    return found + [(f"cut behind a record, at {at}", data[:at]) for at in breaks]


def judged(world: World, what: str, data: bytes, before: list[str], names: list[str]) -> list[str]:
    """What is wrong after the run that finds the damage, the one after it, and the way that is told."""
    world.paths.journal.write_bytes(data)
    wrong = []
    report = world.run(other_words())
    lost = [line for line in before if line not in standing(world)]
    wrong += [f"{what}: lost {lost}"] if lost else []
    wrong += [f"{what}: twice {twice}"] if (twice := doubled(world, names)) else []
    held = [error for error in report.errors if "nothing stands there twice" in error.message]
    wrong += [f"{what}: {error}" for error in report.errors if error not in held]
    clean = data[-1:] in (b"", b"\n") and what.startswith("cut")  # nobody can see that there was more
    if held and not clean and not list(world.paths.state.glob("journal.damaged-*")):
        wrong.append(f"{what}: the damaged journal is not kept")
    texts = standing(world)
    again = world.run(other_words())
    if standing(world) != texts or again.failed:
        wrong.append(f"{what}: the second run is not quiet: {again.errors}")
    for run in dict.fromkeys(str(entry.get("run")) for entry in world.entries().values() if "unproven" in entry):
        assert isinstance(undo(workspace_of(world), run, editor_wait=HURRIED), Ok)
    world.run(other_words())
    here = [path.name for path in world.paths.conversations.glob("talk-*")]
    trashed = len(world.trash())
    if len(whole(world, names)) != len(names) or here or trashed != len(names):
        wrong.append(f"{what}: in the end {standing(world)}, {here}, {trashed} in the trash")
    return wrong


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("kill", [None, 28, 37, 45, 52])
def test_no_damage_of_the_journal_doubles_or_loses_an_item(tmp_path: Path, kill: int | None) -> None:
    """The model answers in other words each time: whoever asks it again about what stands already has it twice."""
    world = killed_run(tmp_path / "model", kill)
    data, before = world.paths.journal.read_bytes(), standing(world)
    names = [path.name for path in world.paths.conversations.glob("talk-*")]
    names += [str(row.get("path", "")).rsplit("/", 1)[-1] for row in decode(data) if row.get("t") == "intent"]
    names = list(dict.fromkeys(names))
    wrong: list[str] = []
    stride = int(os.environ.get("DAMAGE_STRIDE", "599"))
    shutil.copytree(world.folder, tmp_path / "as it was")
    for what, bad in damages(data, stride):
        shutil.rmtree(world.folder)
        shutil.copytree(tmp_path / "as it was", world.folder)
        wrong += judged(world, what, bad, before, names)
    assert not wrong, wrong[:5]
