"""What the panel remembers, and whose home it shows: widths of columns, the demo and the way back from it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.base.result import Ok, attempt
from core.commands.demo import demo_home
from core.commands.harvest import harvest
from core.commands.harvest_options import HarvestRequest
from gui.toolkit.columns import Column, measured, remembered_widths, wide
from gui.views import conversations
from tests.gui_window import Desk, desk_fixture  # noqa: F401 - pytest finds the fixture by itself
from tests.panel_desk import at_home_fixture, control_of, seated, workspace_at  # noqa: F401

COLUMNS = (Column("icon", "", 26), Column("name", "Name", 0, 2.0), Column("folder", "Folder", 0, 1.0),
           Column("size", "Size", 60), Column("why", "Why", 0, 1.0))  # fmt: skip


def test_widths_come_from_where_the_cells_stand() -> None:
    """Padding and border (16) are not part of a width, or columns would grow with every start."""
    lefts = {0: 0.0, 1: 42.0, 2: 258.0, 3: 374.0, 4: 450.0}
    found = measured(COLUMNS, lefts, 600.0, 1.0, {})
    assert found == {"name": 200.0, "folder": 100.0, "size": 60.0, "why": 150.0}
    double = measured(COLUMNS, {at: 2 * left for at, left in lefts.items()}, 1200.0, 2.0, {})
    assert double == found
    narrow = measured(COLUMNS, {0: 0.0, 1: 42.0, 3: 258.0, 4: 334.0}, 434.0, 1.0, {})
    assert narrow["folder"] == 100.0  # left out at the moment: it keeps its share beside the others
    assert measured(COLUMNS, {1: 3.0}, 600.0, 1.0, {}) == {}


def test_a_foreign_width_is_put_right() -> None:
    """A torn file of places must not hide a column for ever."""
    assert wide(COLUMNS[3], {"size": -4.0}, round) == 60 and wide(COLUMNS[3], {"size": 90.0}, round) == 90
    assert wide(COLUMNS[1], {"name": 0.0}, round) == 2.0 and wide(COLUMNS[0], {"icon": 300.0}, round) == 26


def test_a_column_that_was_dragged_is_as_wide_with_the_next_start(desk: Desk, at_home: Path) -> None:
    """Names are long; who made room for them once does not want to do so every morning."""
    workspace = workspace_at(at_home)
    assert isinstance(attempt(harvest, workspace, HarvestRequest(apply=True)), Ok)
    with seated(desk, workspace) as seat:
        table: Any = seat.panel.workbench.views["conversations"].table  # type: ignore[attr-defined]
        day, items = ([column.key for column in conversations.COLUMNS].index(key) for key in ("day", "items"))
        lefts = table._pool.lefts()
        left, top = desk.dpg.get_item_rect_min(table._pool[0].texts[day])
        x, y = desk.dpg.get_viewport_pos()
        desk.move(int(x + left - 9), int(y + top - table.pitch / 2 - 8))  # the line before the column "Day"
        desk.xdotool("mousedown", "1")
        desk.frames(3)
        for part in (20, 40):
            desk.move(int(x + left - 9 + part), int(y + top - table.pitch / 2 - 8))
        desk.xdotool("mouseup", "1")
        desk.frames(6)
        moved = table._pool.lefts()
        assert moved[day] - moved[items] > lefts[day] - lefts[items] + 30
        places = dict(seat.panel.shell.places)
        assert remembered_widths(places, "conversations")["items"] > 62 + 30
    with seated(desk, workspace, places=places) as seat:
        table = seat.panel.workbench.views["conversations"].table  # type: ignore[attr-defined]
        again = table._pool.lefts()
        assert all(abs((again[at] - again[0]) - (moved[at] - moved[0])) <= 4 for at in moved)


def test_the_demo_has_settings_of_its_own_and_a_way_back(desk: Desk, at_home: Path) -> None:
    """Trying things in the demo must not change how one's own conversations are harvested."""
    workspace = workspace_at(at_home)
    mine = workspace.loaded.file.read_bytes()
    with seated(desk, workspace) as seat:
        shell, header = seat.panel.shell, seat.panel.header
        assert not desk.dpg.is_item_shown(header.back.item)
        shell.run("demo")
        seat.until(lambda: shell.state.away and seat.settled())
        seat.settle()
        assert shell.workspace.loaded.file == shell.workspace.paths.home / "config.toml"
        tip = desk.dpg.get_value(header._back_tip).replace(
            "\n", ""
        )  # where to look at its files; broken where it is long
        assert str(shell.workspace.paths.home) in tip
        assert b"sources" not in shell.workspace.loaded.file.read_bytes()  # what theirs says of other tools stays there
        desk.press(control_of("settings"))
        seat.settle()
        editors = seat.panel.workbench.views["settings"].editors  # type: ignore[attr-defined]
        desk.click(editors["digest_enabled"].item)
        seat.settle()
        assert b"digest_enabled = false" in shell.workspace.loaded.file.read_bytes()
        assert workspace.loaded.file.read_bytes() == mine
        desk.click(header.back.item)
        seat.until(lambda: not shell.state.away and seat.settled())
        seat.settle()
        assert shell.workspace.paths.home == workspace.paths.home
        assert shell.state.snapshot is not None and shell.state.snapshot.overview.status.digest.enabled
        assert not desk.dpg.is_item_shown(header.back.item)


def test_a_program_started_with_the_demo_can_go_to_ones_own_home(desk: Desk, at_home: Path) -> None:
    """`knowledge-panel --demo` is how most begin; the next step is their own home."""
    workspace = workspace_at(at_home)
    made = demo_home(workspace)
    with seated(desk, made, own=workspace) as seat:
        assert seat.state.away
        seat.panel.shell.run("home.own")
        seat.until(lambda: not seat.state.away and seat.settled())
        assert seat.state.home == str(workspace.paths.home)
