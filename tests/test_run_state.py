"""How a store stands, told while a second process harvests and after it was killed, at every step that it makes on the
disk. Here trust is decided: a user who is told that a run was cut off, or that they deleted what never was, believes
nothing afterwards."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from core.base import locks
from core.base.result import Ok, attempt
from core.commands.bullets import add
from core.commands.context import digest_off
from core.commands.demo import make_demo_home
from core.commands.harvest import finish_harvest, harvest
from core.commands.harvest_options import HarvestRequest
from core.commands.panel.overview import Overview, overview
from core.commands.status import status_text
from core.commands.workspace import Workspace, open_workspace
from core.knowledge.run_state import (
    DELETED,
    DIFFERENT,
    DONE,
    ELSEWHERE,
    HERE,
    INTERRUPTED,
    MISSING,
    NEVER,
    OFF,
    UNREADABLE,
    UNWRITTEN,
    WRITTEN,
)
from tests.gui_window import Desk, desk_fixture  # noqa: F401 - pytest finds the fixture by itself
from tests.panel_desk import at_home_fixture, seated, workspace_at  # noqa: F401

WALKER = """
import sys
from core.base import disk
from core.commands.harvest import harvest
from core.commands.harvest_options import HarvestRequest
from tests.test_run_state import opened_at
from pathlib import Path

real = disk.perform
def perform(name, call, *arguments, **named):
    if name in disk.CHANGING:
        print(name, flush=True)
        if not sys.stdin.readline():
            sys.exit(3)
    return real(name, call, *arguments, **named)
disk.perform = perform
done = harvest(opened_at(Path(sys.argv[1])), HarvestRequest(apply=True, limit=int(sys.argv[2])))
print("END", type(done).__name__, flush=True)
"""


def opened_at(folder: Path) -> Workspace:
    """A home below `folder`, with settings and caches beside it."""
    (folder / "config.toml").write_text(f'[ai_settings.knowledge]\nfile_roots = ["{folder.as_posix()}"]\n', "utf-8")
    environment = {"XDG_CONFIG_HOME": str(folder / "xdg"), "XDG_CACHE_HOME": str(folder / "cache"), "HOME": str(folder)}
    return open_workspace(str(folder / "home"), folder / "config.toml", environment, folder)


def filled(folder: Path) -> Workspace:
    """The same, with the conversations of the demo and nothing harvested."""
    folder.mkdir(parents=True, exist_ok=True)
    make_demo_home(str(folder / "home"))
    return opened_at(folder)


@contextmanager
def second_program(folder: Path, limit: int = 100) -> Iterator[subprocess.Popen[str]]:
    """Another process that harvests and waits for a line before each change of the disk."""
    program = subprocess.Popen(
        [sys.executable, "-c", WALKER, str(folder), str(limit)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[1],
    )
    try:
        yield program
    finally:
        program.kill()
        program.communicate()


def steps(program: subprocess.Popen[str]) -> Iterator[str]:
    """The names of its changes, each before it is made."""
    assert program.stdout is not None and program.stdin is not None
    while (name := program.stdout.readline().strip()) and not name.startswith("END"):
        yield name
        program.stdin.write("\n")
        program.stdin.flush()


def told(workspace: Workspace) -> Overview:
    return overview(workspace)


@pytest.mark.skipif(sys.platform == "win32", reason="a program is stopped in the middle")
def test_a_second_program_is_told_right_at_each_step_and_after_a_kill_at_each(tmp_path: Path) -> None:
    """First a harvest into an empty home, then one of a grown home: at no step is a run said to be cut off that is at
    work, a digest deleted that never was, or a file edited by hand; a copy of the home as it stands then, which is what
    a kill leaves, is said to be cut off exactly while its run owes something, and is whole once that is finished."""
    workspace = filled(tmp_path / "one")
    assert told(workspace).status.stands.run.state == NEVER
    for turn, limit in (("first", 2), ("again", 1)):
        at_work = killed = through = 0
        with second_program(tmp_path / "one", limit) as program:
            for number, _name in enumerate(steps(program)):
                held = locks.holder_of(workspace.paths.lock) is not None
                found = told(workspace)
                run, digest = found.status.stands.run, found.status.stands.digest
                assert not [row.file for row in found.files if row.by_hand], (turn, number)
                assert digest.state not in (DELETED, MISSING), (turn, number, digest)
                if turn == "first" and not workspace.paths.digest.exists():
                    assert digest.state == UNWRITTEN
                if held:
                    at_work += 1
                    assert run.state == ELSEWHERE, (turn, number, run)
                    if workspace.paths.lock.read_text().startswith(str(program.pid)):  # its name is its first write
                        assert (run.work, run.process) == ("harvest", program.pid), (turn, number, run)
                    assert through <= run.through <= run.of or not run.of, run  # at the end the journal is put away
                    through = max(through, run.through)
                if number % 8:
                    continue
                copy = tmp_path / f"{turn}-{number}"
                shutil.copytree(tmp_path / "one", copy, symlinks=True)
                left = opened_at(copy)
                owes = left.paths.journal.exists()
                ended = left.paths.plans.is_dir() and any(left.paths.plans.glob("*.jsonl"))
                after = told(left)
                wanted = INTERRUPTED if owes else DONE if ended else NEVER
                assert after.status.stands.run.state == wanted, (turn, number, after.status.stands)
                assert not [row.file for row in after.files if row.by_hand], "a copy is as its original"
                assert after.status.stands.digest.state != DELETED
                if owes:
                    killed += 1
                    assert "--finish" in status_text(after.status)
                if killed == 2 and owes:
                    report = finish_harvest(left)
                    assert report.harvested == 0 and not report.errors
                    ends = told(left)
                    assert ends.status.stands.run.state == DONE and ends.status.stands.digest.state == WRITTEN
                    assert ends.status.ledger["harvested"] >= after.status.stands.run.owed
                shutil.rmtree(copy)
        assert at_work > 20 and killed > 2 and through, "the program was not looked at while it was at work"
        end = told(workspace)
        assert (end.status.stands.run.state, end.status.stands.digest.state) == (DONE, WRITTEN)
        assert "run: the last harvest left nothing half done" in status_text(end.status)


@pytest.mark.skipif(sys.platform == "win32", reason="a program is killed in the middle")
def test_a_killed_program_is_told_of_by_the_dry_run_and_refuses_nobody(tmp_path: Path) -> None:
    """Killed for good, not as a copy: the lock of a dead process must not count as that of a living one."""
    workspace = filled(tmp_path)
    with second_program(tmp_path) as program:
        for _name in steps(program):
            if workspace.paths.journal.exists() and workspace.paths.journal.stat().st_size > 100:
                break
        run = told(workspace).status.stands.run
        assert run.state == ELSEWHERE and run.of == 6
        refused = attempt(harvest, workspace, HarvestRequest(apply=True))
        assert not isinstance(refused, Ok) and f"process {program.pid}" in refused.error.message
        planned = harvest(workspace, HarvestRequest())
        assert not planned.interrupted and any("is at work" in note for note in planned.notes)
        os.kill(program.pid, signal.SIGKILL)
        program.wait()
    assert told(workspace).status.stands.run.state == INTERRUPTED
    planned = harvest(workspace, HarvestRequest())
    assert planned.interrupted and any("--finish" in note for note in planned.notes)
    finish_harvest(workspace)
    assert told(workspace).status.stands.run.state == DONE


def test_every_way_in_which_a_digest_can_stand(tmp_path: Path) -> None:
    workspace = filled(tmp_path)

    def digest() -> str:
        return told(opened_at(tmp_path)).status.stands.digest.state

    assert digest() == UNWRITTEN
    with locks.locked(workspace.paths.lock, work="harvest"):
        assert told(workspace).status.stands.run.state == HERE
        assert "at its end" in told(workspace).status.stands.digest.words
    harvest(workspace, HarvestRequest(apply=True))
    assert digest() == WRITTEN
    facts = workspace.paths.knowledge / "facts.md"
    facts.write_text(facts.read_text("utf-8") + "- A line of my own\n", "utf-8")
    assert digest() == DIFFERENT
    shown = status_text(told(opened_at(tmp_path)).status)
    assert shown.count("every new conversation") == 1, "of a folder that gets none it said both"
    digest_off(workspace)
    assert digest() == DELETED
    without = replace(workspace.loaded, config=replace(workspace.config, digest_enabled=False))
    assert told(replace(workspace, loaded=without)).status.stands.digest.state == OFF
    broken = overview(workspace, problem="config.toml is not TOML")
    assert broken.status.stands.digest.state == UNREADABLE and not broken.status.digest.injected


def test_edited_by_hand_is_told_by_content(tmp_path: Path) -> None:
    """A copied home is not edited; an editor that keeps the time of change is seen; so is a line that went."""
    workspace = filled(tmp_path / "one")
    harvest(workspace, HarvestRequest(apply=True))
    shutil.copytree(tmp_path / "one", tmp_path / "two")  # every time of change is now
    copied = opened_at(tmp_path / "two")
    assert not [row.file for row in told(copied).files if row.by_hand]
    facts = copied.paths.knowledge / "facts.md"
    before = facts.stat()
    lines = facts.read_text("utf-8").rstrip("\n").split("\n")
    facts.write_text("\n".join([*lines[:-1], "- Mine", "- Mine, too"]) + "\n", "utf-8")
    os.utime(facts, ns=(before.st_atime_ns, before.st_mtime_ns))
    row = told(copied).file("facts.md")
    assert row is not None and (row.yours, row.gone) == (2, 1)
    add(copied, "decisions", "A decision of mine")
    assert [row.file for row in told(copied).files if row.by_hand] == ["facts.md", "decisions.md"]


@pytest.mark.skipif(sys.platform == "win32", reason="a program is killed in the middle")
def test_the_window_sees_another_program_at_work_sees_it_killed_and_finishes_it(desk: Desk, at_home: Path) -> None:
    """Nothing in any file tells that a process was killed: the line at the bottom must not go on saying that it is at
    work, and what it read must be one click away."""
    workspace = workspace_at(at_home)
    with seated(desk, workspace) as seat:
        status, dpg = seat.panel.status, desk.dpg

        def line() -> str:
            return str(dpg.get_value(status._words))

        with second_program(at_home) as program:
            for _name in steps(program):
                if workspace.paths.journal.exists() and workspace.paths.journal.stat().st_size > 100:
                    break
            seat.until(lambda: f"process {program.pid}" in line())
            assert "of 6 conversations read" in line() and not dpg.is_item_shown(status.finish.item)
            head, dialog = seat.panel.status, seat.panel.harvest.dialog
            assert "At work" in head.harvest.label
            desk.press("ctrl+h")
            seat.until(lambda: dialog.is_open)
            error = seat.panel.run.now.error
            assert error is not None and "Another program is at work" in error.message, "nothing is begun"
            os.kill(program.pid, signal.SIGKILL)
            program.wait()
            seat.until(lambda: "cut off" in line())
            assert "Harvest" in head.harvest.label and "At work" not in head.harvest.label
            desk.press("Escape")
            seat.settle()
        assert dpg.is_item_shown(status.finish.item)
        desk.click(status.finish.item)
        seat.until(lambda: seat.state.snapshot.overview.status.stands.run.state == DONE)
        seat.settle()
        assert not dpg.is_item_shown(status.finish.item) and "cut off" not in line()
