"""An edit that a crash cut off can still be undone: else a slip just before it could not be taken back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any
from unittest.mock import patch

import pytest

from core.base import disk, files
from core.base.checked_lines import decode_line, encode
from core.base.result import Ok
from core.commands import bullets
from core.commands.runs import runs
from core.commands.undo import undo
from core.knowledge.changes import Change, append_changes, read_changes
from core.knowledge.log import carry_out, settle, untold
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
        done = undo(workspace_of(world), told[0].run, editor_wait=HURRIED)
        assert isinstance(done, Ok) and done.value.lines_back == 1
    assert world.text("facts.md") == BEFORE and not untold(world.paths)


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
        assert isinstance(undo(workspace_of(world), told[0].run, editor_wait=HURRIED), Ok)
        assert "we keep it small" not in path.read_text()
    assert not untold(world.paths)


def test_an_edit_at_work_is_left_alone(world: World) -> None:
    """Its row would be told twice, and an undo would take it back twice."""
    world.knowledge("facts.md", BEFORE)
    real = files.sync_folder
    seen: list[int] = []

    def meanwhile(path: Any) -> None:
        real(path)
        if path == world.paths.knowledge:
            seen.append(settle(world.paths))

    with patch.object(files, "sync_folder", meanwhile):
        assert isinstance(remove_one(world), Ok)
    assert seen and not any(seen) and len(read_changes(world.paths)) == 1


def a_process_that_ended() -> int:
    return int(subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True).stdout)


@pytest.mark.parametrize(
    ("now", "made"),
    [
        ("# Facts\n\n- new\n- two\n- more\n", True),
        ("# Facts\n\n- one\n- two\n- more\n", False),
        ("# Facts\n\n- two\n", False),
        ("", False),
    ],
)
@pytest.mark.parametrize("earlier", [False, True])
def test_after_another_save_the_lines_tell_whether_it_was_made(
    world: World, now: str, made: bool, earlier: bool
) -> None:
    """Also of an edit that an earlier version had written down in a file of its own."""
    world.knowledge("facts.md", BEFORE)
    assert isinstance(bullets.edit(workspace_of(world), "facts", "one", "new", now=lambda: NOW), Ok)
    [change] = read_changes(world.paths)
    world.paths.changes.unlink()
    world.paths.log.unlink()
    gone = a_process_that_ended()
    if earlier:
        world.paths.edits.mkdir()
        path = world.paths.edits / f"{change.run}-facts.md.{gone}.json"
        path.write_text(json.dumps(change.to_json()))
    else:
        assert change.edit is not None
        with patch("os.getpid", lambda: gone), pytest.raises(OSError):
            carry_out(world.paths, change, cut_off, before=change.edit.before, after=change.edit.after)
    world.knowledge("facts.md", now)
    assert settle(world.paths) == made == len(read_changes(world.paths))
    assert not world.paths.edits.exists() and not files.read_or_empty(world.paths.log)


def cut_off() -> bool:
    raise OSError("killed here")


def test_what_is_no_promise_is_no_trouble(world: World) -> None:
    world.paths.edits.mkdir(parents=True)
    for name in ("notes.txt", "edit-1.999999999.json", ".x.1.json"):
        (world.paths.edits / name).write_text("{")
    world.run()
    assert sorted(path.name for path in world.paths.edits.iterdir()) == [".x.1.json", "notes.txt"]


@pytest.mark.parametrize("cut", ["- by", "- by hand", "\0\0\0\0\0\0", "- b\0\0\0"])
@pytest.mark.parametrize("then", ["run", "edit"])
def test_a_bullet_that_a_crash_tore_is_whole_again(world: World, cut: str, then: str) -> None:
    """An append that was killed in its middle, or whose bytes a power cut took: half a bullet stays nobody's."""
    world.knowledge("facts.md", BEFORE)
    gone = a_process_that_ended()
    with patch("os.getpid", lambda: gone):
        assert isinstance(bullets.add(workspace_of(world), "facts", "by hand", now=lambda: NOW), Ok)
    whole = world.text("facts.md")
    world.paths.changes.unlink()
    log = world.paths.log.read_bytes().split(b"\n")
    world.paths.log.write_bytes(log[0] + b"\n" + log[1][:7])
    world.knowledge("facts.md", BEFORE + cut)
    if then == "run":
        world.run()
    else:
        assert isinstance(bullets.add(workspace_of(world), "facts", "more", now=lambda: NOW), Ok)
        whole += whole.split("\n")[-2].replace("by hand", "more", 1) + "\n"
    assert world.text("facts.md") == whole
    row = read_changes(world.paths)[0]
    done = undo(workspace_of(world), row.run, editor_wait=HURRIED)
    assert isinstance(done, Ok) and done.value.lines_out == 1 and "- by hand" not in world.text("facts.md")


def test_a_row_that_a_power_cut_took_is_told_again(world: World) -> None:
    """changes.jsonl is not synced for each edit; the log is, and the row is made from it, also of a later-changed
    line."""
    world.knowledge("facts.md", BEFORE)
    for old, new in (("one", "three"), ("three", "four")):
        assert isinstance(bullets.edit(workspace_of(world), "facts", old, new, now=lambda: NOW), Ok)
    told = read_changes(world.paths)
    world.paths.changes.write_bytes(b"\0" * 40)
    listed = runs(workspace_of(world))
    assert isinstance(listed, Ok) and [row.added for row in listed.value] == [1, 1]
    world.run()
    assert read_changes(world.paths) == told


def test_the_log_does_not_grow_for_ever(world: World) -> None:
    world.knowledge("facts.md", BEFORE)
    sizes = []
    for number in range(60):
        text = f"{number} " + "x" * 400
        assert isinstance(bullets.add(workspace_of(world), "facts", text, now=lambda: NOW), Ok)
        sizes.append(world.paths.log.stat().st_size)
    assert max(sizes) < 80_000 and min(sizes[30:]) < 40_000 and len(read_changes(world.paths)) == 60


@pytest.mark.parametrize("file", ["../outside.md", "/etc/passwd", "a\0b"])
def test_a_log_that_names_other_places_moves_nothing(world: World, file: str) -> None:
    world.knowledge("facts.md", BEFORE)
    append_changes(world.paths, [])
    world.paths.state.mkdir(exist_ok=True)
    change = Change(NOW.isoformat(), "edit-1", file, ("- x",))
    row = {"t": "intent", "id": "a", "pid": 0, "at": 0, "change": change.to_json(), "size": 0}
    world.paths.log.write_bytes(encode(row) + encode({"t": "done", "id": "a"}))
    assert settle(world.paths) == 0 and not read_changes(world.paths)


def test_two_programs_edit_at_once(world: World) -> None:
    """No line of the log is torn by another writer, and every edit can be taken back."""
    world.knowledge("facts.md", BEFORE)
    children = []
    for name in "abcd":
        child = os.fork()
        if child == 0:
            made = [bullets.add(workspace_of(world), "facts", f"{name} {n}", now=lambda: NOW) for n in range(8)]
            os._exit(0 if all(isinstance(row, Ok) for row in made) else 1)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4
    lines = world.paths.log.read_bytes().split(b"\n")
    assert all(decode_line(line) for line in lines[:-1]) and lines[-1] == b""
    assert len(read_changes(world.paths)) == 32 == world.text("facts.md").count("by-hand")
    assert settle(world.paths) == 0 and len(read_changes(world.paths)) == 32
