"""Everything by keys: the size of everything, the columns at the sides, the buttons of the inspector, and what the keys
dialog says about them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from core.commands.context import context
from core.commands.panel.evidence import how_it_served
from core.experience.record import served
from gui.actions import SHORTCUTS
from gui.toolkit.keys import KEY_NAMES, MODIFIERS
from gui.views.inspector.rows import BUTTONS
from gui.views.inspector.view import Inspector
from gui.workbench import TABS, VIEWS, view_keys
from tests.gui_window import Desk, desk_fixture  # noqa: F401 - pytest finds the fixture by itself
from tests.panel_desk import Seat, at_home_fixture, control_of, harvested_at, seated  # noqa: F401


def test_no_two_commands_share_a_key_and_a_view_is_one_row() -> None:
    """A second view on a key would hide the first one."""
    places = [(key.key, frozenset(key.modifiers)) for key in SHORTCUTS]
    assert len(set(places)) == len(places)
    assert all(key.key in KEY_NAMES and {*key.modifiers} <= {*MODIFIERS} for key in SHORTCUTS)
    assert len(TABS) == 5 == len(VIEWS) - 1
    assert [key.label for key in view_keys()] == [*(f"Ctrl+{row.key}" for row in TABS), "Ctrl+,"]
    assert not any(key.key.isdigit() and not key.modifiers for key in SHORTCUTS), "a bare digit is a trap"
    assert {row.name for row in VIEWS} == {row.view.name for row in VIEWS}


def test_every_button_of_the_inspector_is_told_in_the_keys_dialog() -> None:
    """A key that nobody can look up is none."""
    told = {key for key, _ in Inspector.keys}
    assert {row[5] for row in BUTTONS.values()} <= told


def sizes(seat: Seat) -> tuple[float, float, float]:
    """Height of a row of the ledger, width of the left column, height of the Harvest button."""
    dpg, panel = seat.desk.dpg, seat.panel
    ledger: Any = panel.workbench.views["conversations"]
    rail = panel.columns.side
    button = dpg.get_item_rect_size(panel.status.harvest.item)
    return ledger.table.heights.heights[0], dpg.get_item_width(rail), button[1]


def test_ctrl_plus_minus_and_0_change_the_size_of_everything_at_once(desk: Desk, at_home: Path) -> None:
    """Somebody whose eyes are tired must not have to look for a setting; letters, columns and rows grow together."""
    with seated(desk, harvested_at(at_home)) as seat:
        usual, items = sizes(seat), desk.items()
        for at, plus in enumerate(("equal", "KP_Add", "shift+equal"), start=1):
            desk.press(f"ctrl+{plus}")
            seat.settle()
            assert seat.panel.look.scale == 1 + at / 8, plus
        desk.press("ctrl+minus")
        seat.settle()
        desk.frames(5)
        assert seat.panel.look.scale == 1.25 and seat.panel.shell.scale == 1.25
        large = sizes(seat)
        assert all(now == pytest.approx(before * 1.25, rel=0.08) for now, before in zip(large, usual, strict=True))
        ledger: Any = seat.panel.workbench.views["conversations"]
        one, other = (x for at, _, x, _ in ledger.table.shown() if at in (0, 1))
        assert other - one > 1.15 * 42  # the column of icons
        desk.press("ctrl+0")
        seat.settle()
        desk.frames(5)
        assert sizes(seat) == usual
        assert desk.items() - items <= 40  # the fonts of other sizes


def test_a_key_that_is_held_switches_once_and_moves_on(desk: Desk, at_home: Path) -> None:
    """A slow finger on Enter must not confirm the dry run and then what comes after it; on Down it goes down."""
    with seated(desk, harvested_at(at_home)) as seat:
        light = seat.panel.look.palette.name
        desk.xdotool("keydown", "ctrl", "keydown", "shift", "keydown", "t")
        for _ in range(40):
            desk.frames(1)
            desk.move(500, 500)
        desk.xdotool("keyup", "t", "keyup", "shift", "keyup", "ctrl")
        desk.frames(3)
        assert seat.panel.look.palette.name != light
        desk.press("ctrl+shift+t")
        assert seat.panel.look.palette.name == light
        table: Any = seat.panel.workbench.views["conversations"].table  # type: ignore[attr-defined]
        desk.press("Page_Down")
        desk.press("Page_Down")
        assert table.position(table.selected) == len(table.rows) - 1
        desk.press("Page_Up")
        assert table.position(table.selected) == 0


def test_the_left_column_is_hidden_and_shown_by_key_and_evidence_moves_nothing(desk: Desk, at_home: Path) -> None:
    """On a small screen the work needs the room; what opens over the list must not push it about."""
    workspace = harvested_at(at_home)
    with seated(desk, workspace) as seat:
        dpg, columns = desk.dpg, seat.panel.columns
        wide = dpg.get_item_width(columns.main)
        table: Any = seat.panel.workbench.views["conversations"].table  # type: ignore[attr-defined]
        place = table.place_of(table.rows[1])
        desk.press("Down")
        seat.settle()
        assert dpg.is_item_shown(seat.panel.evidence) and dpg.get_item_width(columns.main) == wide
        assert table.place_of(table.rows[1]) == place
        desk.press("Escape")
        desk.frames(3)
        assert not dpg.is_item_shown(seat.panel.evidence) and seat.state.selected.kind == ""
        desk.press("ctrl+b")
        desk.frames(4)
        assert not dpg.is_item_shown(columns.side)
        assert dpg.get_item_width(columns.main) == wide + dpg.get_item_width(columns.side) + 8
        choices = dict(seat.panel.shell.choices)
    with seated(desk, workspace, choices=choices) as seat:
        columns = seat.panel.columns
        assert not dpg.is_item_shown(columns.side), "what was hidden stays hidden with the next start"
        desk.press("ctrl+b")
        seat.settle()
        assert dpg.get_item_width(columns.main) == wide


def test_the_buttons_of_the_inspector_have_keys(desk: Desk, at_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a mouse a conversation could be looked at, but neither opened nor followed to what it gave."""
    opened: list[str] = []
    with seated(desk, harvested_at(at_home)) as seat:
        shell = seat.panel.shell
        monkeypatch.setattr(shell, "open_path", opened.append)
        desk.press("Down")
        desk.press("Down")
        seat.settle()
        assert shell.state.selected.kind == "conversation"
        desk.press("alt+o")
        assert len(opened) == 1 and Path(opened[0]).is_file()
        desk.press("alt+Down")
        seat.settle()
        assert shell.state.selected.kind == "bullet"
        desk.press("alt+f")
        seat.settle()
        assert shell.state.selected.kind == "conversation"
        desk.press("alt+Down")
        seat.settle()
        desk.press("alt+v")
        seat.settle()
        assert shell.state.view == "knowledge" and shell.state.selected.kind == "bullet"
        before = shell.state.selected
        desk.press("alt+s")
        seat.settle()
        assert "~~" in shell.state.selected.raw and shell.state.selected != before


def test_the_inspector_speaks_of_what_the_open_view_shows(desk: Desk, at_home: Path) -> None:
    """A conversation that stays beside the settings looks as if it belonged to them."""
    with seated(desk, harvested_at(at_home)) as seat:
        desk.press("Down")
        seat.settle()
        chosen = seat.state.selected
        desk.press(control_of("settings"))
        seat.settle()
        assert seat.state.selected.kind == "" and seat.panel.inspector.page is None
        desk.press(control_of("files"))
        seat.settle()
        assert seat.state.selected.kind == "", "the notes stand beside the text already"
        desk.press(control_of("conversations"))
        seat.settle()
        assert seat.state.selected == chosen


def test_what_a_conversation_starts_with_and_the_settings_file_are_an_action_away(
    desk: Desk, at_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The digest is pasted into a tool that `connect` does not know, and the file of the settings is a person's own."""
    opened: list[str] = []
    monkeypatch.setattr("gui.shell.open_outside", lambda path, *_: opened.append(path) or path)
    workspace = harvested_at(at_home)
    with seated(desk, workspace) as seat:
        seat.panel.shell.run("context.copy")
        seat.settle()
        copied = desk.dpg.get_clipboard_text()
        assert copied == context(workspace).prefix.text and workspace.paths.digest.read_text("utf-8").strip() in copied
        seat.panel.shell.run("config.open")
        seat.settle()
        assert [Path(path).name for path in opened] == ["config.toml"]


def test_how_a_line_served_is_said_by_keys(desk: Desk, at_home: Path) -> None:
    """What helped comes first another time, and what misled is reviewed: from the panel, too."""
    workspace = harvested_at(at_home)
    with seated(desk, workspace, choices={"view": "knowledge"}) as seat:
        desk.press("Down")
        desk.press("u")
        view: Any = seat.panel.workbench.views["knowledge"]
        seat.until(lambda: view._menu.is_open)
        desk.press("Down")
        desk.press("Return")
        seat.settle()
        said = how_it_served(workspace, view.list.current.text)
        assert said and said in desk.dpg.get_value(seat.panel.shell._toast._words)
        assert served(workspace.paths.experience, [view.list.current.text]).popitem()[1].counts() == {"partial": 1}


def test_the_keys_dialog_opens_by_f1_and_closes_by_esc(desk: Desk, at_home: Path) -> None:
    """Whoever forgot a key looks it up without leaving the keyboard."""
    with seated(desk, harvested_at(at_home)) as seat:
        desk.press("F1")
        assert seat.panel.keys.dialog.is_open
        keys = seat.panel.keys.list
        desk.press("Page_Down")
        desk.press("Page_Down")
        assert keys.canvas.scroll > 0
        desk.press("End")
        assert keys.selected == keys.rows[-1].key and keys.rows[-1] in keys.in_sight()
        desk.press("Escape")
        assert not seat.panel.keys.dialog.is_open
        desk.resize(800, 500)
        try:
            desk.press("F1")
            desk.frames(8)
            assert not desk.dpg.get_y_scroll_max(seat.panel.keys.dialog._page), "two scroll bars side by side"
        finally:
            desk.resize()
