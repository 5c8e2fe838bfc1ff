"""The panel inside of a host: if these fail, what is typed into the host's own fields changes the user's tasks."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.gui_window import Desk, desk_fixture  # noqa: F401 - pytest finds the fixture by itself
from tests.made_home import read
from tests.panel_desk import at_home_fixture  # noqa: F401 - pytest finds the fixture by itself
from tests.panel_embedded import HOSTS, TASKS, hosted, on_disk, typed
from tests.waiting import PATIENCE_SECONDS

SECONDS = 0.6  # `python -m tests.panel_embedded` types for a minute


@pytest.mark.parametrize("name", HOSTS)
def test_what_is_typed_into_a_host_stays_the_hosts(desk: Desk, at_home: Path, name: str) -> None:
    """A letter in the host's prompt marked a task as done, Delete deleted another. Tab leads from the host's field into
    one of the panel's, which makes nothing of the panel's keys. After a click into the panel the
    keys are its own again, also once its palette has been closed and another view was open."""
    with hosted(desk, at_home / name, name) as host:
        keys, changed = typed(host, SECONDS)
        assert keys > 20 and changed == []
        for item in host.windows[: len(host.windows) if name != "windows" else 0]:
            desk.dpg.configure_item(item, show=False)
        desk.frames(3)
        if name == "in a tab":
            bar = desk.dpg.get_item_children(desk.page, 1)[-1]
            desk.dpg.set_value(bar, desk.dpg.get_item_children(bar, 1)[0])
            desk.frames(4)
        host.select()
        seat, workspace = host.seats[-1], host.workspaces[len(host.seats) - 1]
        desk.press("ctrl+k")
        seat.settle()
        assert seat.state.view == "search"
        desk.press("Escape")
        seat.settle()
        assert seat.state.view == "knowledge"
        desk.press("ctrl+2")
        seat.settle()
        assert seat.state.view == "conversations"
        desk.press("ctrl+1")
        seat.settle()
        before = on_disk(host)
        desk.press("space")
        seat.settle()
        assert read(workspace, "tasks.md") != TASKS
        assert {path for path, text in on_disk(host).items() if before.get(path) != text and "tasks.md" in path} == {
            str(workspace.paths.knowledge / "tasks.md")
        }
        for other in host.seats[:-1]:
            assert other.state.view == "knowledge"


def test_what_lies_over_the_panel_stays_inside_of_it(desk: Desk, at_home: Path) -> None:
    """A message in the corner of the host's window lay over the host's own buttons."""
    dpg = desk.dpg
    with hosted(desk, at_home / "two", "two panels") as host:
        for seat in host.seats:
            left, top = dpg.get_item_rect_min(seat.panel.look.corner)
            width, height = dpg.get_item_rect_size(seat.panel.root)
            shell = seat.panel.shell
            tab = dpg.get_item_rect_min(seat.panel.header.tabs["knowledge"].item)
            assert tab[1] - top <= 10, "nothing of the host shows above the header"
            desk.click(seat.panel.header.mark)
            shell.toast("Saved, with a sentence that has some words in it", action="Undo", on_action=lambda: None)
            shell.ask("Delete the digest?", "It is made again by the next harvest.", "Delete", lambda: None)
            desk.frames(8)
            toast, question = shell._toast, shell._question
            assert toast is not None and question is not None
            x, y = dpg.get_item_rect_min(toast._button.item)
            assert left < x < left + width and top < y < top + height
            x, y = dpg.get_item_pos(question.dialog.item)
            wide, tall = dpg.get_item_rect_size(question.dialog.item)
            assert left <= x and x + wide <= left + width and top <= y and y + tall <= top + height
            desk.press("Escape")
            assert not question.dialog.is_open


def test_the_example_with_docking_keeps_its_own_field(desk: Desk, tmp_path: Path) -> None:
    """The file that embed.md names, run as it is: a task is selected, and the host's field is typed into."""
    program = [sys.executable, "-m", "tests.panel_docked", str(tmp_path)]
    ran = subprocess.run(program, capture_output=True, text=True, timeout=4 * PATIENCE_SECONDS, check=False)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout.splitlines()[-1])
    assert found["changed"] == [] and found["selected"] and found["view"] == "knowledge", "no key was the panel's"
    assert "".join(line.removeprefix("You: ") for line in found["said"].split("\n")[1:]) == found["typed"]
    assert found["after_show"] == "files" and found["heard"] == "The panel has read 0 conversations."
    left, top, right, bottom = found["root"]
    x, y, end, foot = found["toast"]
    assert left <= x < end <= right and top <= y < foot <= bottom, "a message stays inside its place"
