"""What the panel remembers, and whose home it shows: widths of columns, the demo and the way back from it."""

from __future__ import annotations

from pathlib import Path

from core.commands.demo import demo_home
from tests.gui_window import Desk, desk_fixture  # noqa: F401 - pytest finds the fixture by itself
from tests.panel_desk import at_home_fixture, control_of, seated, workspace_at  # noqa: F401


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
