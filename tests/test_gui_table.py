"""The big table in a real window, with real clicks, wheel and keys."""

from __future__ import annotations

import threading
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from core.commands.panel.ledger_rows import LedgerRows
from core.knowledge import ledger as ledger_module
from core.knowledge.ledger import write_ledger
from gui import gather
from gui.toolkit.keys import moved_to
from gui.toolkit.table import Column
from tests.gui_window import Desk, desk_fixture  # noqa: F401 - pytest finds the fixture by itself
from tests.panel_desk import Seat, at_home_fixture, seated, workspace_at  # noqa: F401 - pytest finds the fixture by itself
from tests.waiting import PATIENCE_SECONDS

COUNT = 100_000


def build(desk: Desk, names: dict[int, str] | None = None, **listeners: Any) -> Any:
    """A table of 100,000 rows; `names` are those that are called otherwise."""
    from gui.toolkit.table import BigTable

    columns = [
        Column("status", "", 24),
        Column("name", "Name"),
        Column("size", "Size", 80),
    ]

    def cell(row: int, column: int) -> Any:
        return (("✓", "harvested"), (names or {}).get(row, f"row {row}"), str(row))[column]

    table = BigTable(desk.look, columns, cell, **listeners)
    table.build(desk.page)
    table.set_rows(range(COUNT))
    desk.frames(8)
    return table


def seen(table: Any) -> list[str]:
    """Names of the rows that are drawn and in sight, from the top."""
    return [table._cell(row, 1) for row in table.in_sight()]


def test_the_keys_move_within_the_rows() -> None:
    assert moved_to("Down", None, 9, 4) == 0 and moved_to("End", None, 9, 4) == 8
    assert moved_to("Up", 0, 9, 4) == 0 and moved_to("Page down", 6, 9, 4) == 8 and moved_to("Home", 6, 9, 4) == 0
    assert moved_to("Down", 0, 0, 4) is None and moved_to("X", 1, 9, 4) is None


def test_a_name_with_line_breaks_keeps_its_row_as_tall_as_the_others() -> None:
    assert Column("a", "A").shown("one\ntwo") == ("one two", "text")


def test_all_rows_can_be_reached_and_no_item_is_made_on_the_way(desk: Desk) -> None:
    """With an item for each cell a ledger of 100,000 rows takes seconds and hundreds of megabytes."""
    table = build(desk)
    for target in (3, 50_000):
        table.select(target)
        desk.frames(5)
    before = desk.items()
    for target in (50_000, COUNT - 1, 3):
        table.select(target)
        desk.frames(5)
        shown = seen(table)
        assert f"row {target}" in shown
        numbers = [int(name.split()[1]) for name in shown]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))  # no gap, no row twice
        words = [one["text"] for one in desk.drawn(table.canvas.drawn) if "text" in one]
        assert set(shown) <= set(words) and len(words) < 300, "what is in sight is drawn, and little more"
    assert desk.items() - before < 100
    table.set_rows(range(COUNT - 1, -1, -1))
    desk.frames(4)
    assert seen(table)[0] == f"row {COUNT - 1}"
    table.set_rows([])
    desk.frames(4)
    assert seen(table) == [] == [one for one in desk.drawn(table.canvas.drawn) if one.get("text")]
    table.set_rows([5, 7])
    desk.frames(4)
    assert seen(table) == ["row 5", "row 7"]


def test_the_wheel_scrolls_and_the_rows_follow(desk: Desk) -> None:
    table = build(desk)
    desk.wheel(partial(table.place_of, 8), 20)
    first = int(seen(table)[0].split()[1])
    assert first > 40
    words = [one["text"] for one in desk.drawn(table.canvas.drawn) if "text" in one]
    assert set(seen(table)) <= set(words)


def test_a_click_selects_the_row_under_the_mouse_also_after_scrolling(desk: Desk) -> None:
    heard: list[tuple[str, int]] = []
    table = build(
        desk,
        on_select=lambda row: heard.append(("select", row)),
        on_open=lambda row: heard.append(("open", row)),
    )
    table.select(70_000)
    desk.frames(5)
    place = partial(table.place_of, 69_990)
    desk.click(place)
    assert heard == [("select", 69_990)] and table.selected == 69_990
    desk.click(place, times=2)
    assert heard[-1] == ("open", 69_990) or ("open", 69_990) in heard
    assert table.press("Down") and table.selected == 69_991
    assert table.press("Enter") and heard[-1] == ("open", 69_991)
    table.set_rows(range(10))
    assert not table.press("Enter") and heard[-1] == ("open", 69_991), "what is filtered away is not opened"
    table.set_rows(range(COUNT))
    assert table.press("End") and table.selected == COUNT - 1
    desk.frames(4)
    assert f"row {COUNT - 1}" in seen(table)
    assert not table.press("A")


def test_a_refresh_touches_only_what_changed(desk: Desk) -> None:
    names: dict[int, str] = {}
    table = build(desk, names)
    names[3] = "renamed"
    calls: list[str] = []
    dpg = desk.dpg
    original = dpg.configure_item
    dpg.configure_item = lambda item, **more: (calls.append(str(more.get("text", ""))), original(item, **more))
    try:
        table.refresh()
        desk.frames(3)
    finally:
        dpg.configure_item = original
    assert [words for words in calls if words] == ["renamed"] and seen(table)[3] == "renamed"


def test_theme_and_scale_change_without_new_rows(desk: Desk, tmp_path: Path) -> None:
    from gui.toolkit.styles import LIGHT

    table = build(desk)
    desk.look.change(LIGHT, 1.5)
    desk.frames(6)
    assert table.heights.heights[0] == 42 and seen(table)[0] == "row 0"
    table.select(60_000)
    desk.frames(5)
    assert "row 60000" in seen(table)
    assert desk.screenshot(tmp_path / "table.png").stat().st_size > 10_000


def test_a_narrow_table_leaves_columns_out_instead_of_squeezing_all(desk: Desk) -> None:
    from gui.toolkit.layout import box
    from gui.toolkit.table import BigTable

    narrow = box(desk.look, desk.page, width=260, height=300)
    columns = [Column("name", "Name"), Column("size", "Size", 120, least=400)]
    table = BigTable(desk.look, columns, lambda row, column: str(row))
    table.build(narrow)
    table.set_rows(range(100))
    desk.frames(5)
    assert [column.key for _, column, _, _ in table.shown()] == ["name"]
    desk.look.size(narrow, width=700)
    desk.frames(5)
    assert [column.key for _, column, _, _ in table.shown()] == ["name", "size"]


def test_a_window_of_900_pixels_says_when_a_conversation_will_be_gone(desk: Desk) -> None:
    """Whoever reads "gone in 1 day" harvests it; the day it is of saves nothing."""
    from gui.toolkit.layout import box
    from gui.toolkit.table import BigTable
    from gui.views.conversations import COLUMNS

    holder = box(desk.look, desk.page, width=560, height=300)
    table = BigTable(desk.look, COLUMNS, lambda row, column: str(row))
    table.build(holder)
    table.set_rows(range(10))
    desk.frames(5)
    assert "ends" in [column.key for _, column, _, _ in table.shown()]


def test_a_tooltip_is_of_the_row_under_the_mouse_and_goes_when_another_comes_there(desk: Desk) -> None:
    """A tooltip that only followed the mouse told of a row that was long out of sight."""
    dpg = desk.dpg
    table = build(desk, tip=lambda row: f"about row {row}")

    def told() -> str:
        return str(dpg.get_value(table._tip_words)) if dpg.is_item_visible(table._tip_words) else ""

    desk.move(*desk.middle(partial(table.place_of, 4)))
    assert desk.until(lambda: told() == "about row 4")
    table.select(60_000)
    desk.frames(3)
    assert not told()
    desk.move(*desk.middle(partial(table.place_of, 60_000)))
    assert desk.until(lambda: told() == "about row 60000")


def held(monkeypatch: pytest.MonkeyPatch, room: Any, name: str) -> tuple[threading.Event, threading.Event]:
    """A function of a module waits before it begins: that it was called, and what lets it go on."""
    begun, go_on, real = threading.Event(), threading.Event(), getattr(room, name)

    def slowly(*args: Any, **more: Any) -> Any:
        begun.set()
        assert go_on.wait(PATIENCE_SECONDS)
        return real(*args, **more)

    monkeypatch.setattr(room, name, slowly)
    return begun, go_on


def entries() -> dict[str, dict[str, Any]]:
    """Three hundred for a ledger, every fourth too large."""
    return {
        f"{number:064x}": {
            "at": f"2026-05-01T{number % 24:02d}:00:00+00:00", "path": f"/c/talk-{number:03d}", "items": {},
            "status": "harvested" if number % 4 else "too-large", "title": f"Talk {number % 7}", "error": "long",
        }
        for number in range(300)
    }  # fmt: skip


def test_a_large_ledger_shows_its_newest_rows_before_it_has_been_read(
    desk: Desk, at_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever keeps a hundred thousand conversations would look at an empty window for seconds, or at wrong counts."""
    monkeypatch.setattr(ledger_module, "LARGE_BYTES", 0)
    _, read_on = held(monkeypatch, gather, "overview")
    workspace = workspace_at(at_home, demo=False)
    write_ledger(workspace.paths, entries())
    seat = Seat(desk, workspace)
    try:
        view = seat.panel.workbench.views["conversations"]
        seat.until(lambda: hasattr(view, "table") and len(view.table.rows) == 300)
        assert seat.state.snapshot is None and seat.state.first_counts == {"harvested": 225, "too-large": 75}
        assert view.row(0).when == view.row(11).when > view.row(12).when
        assert view.chips["too-large"].count == 75 and view.all.count == 300
        first, sixth = [view.row(at) for at in range(40)], view.entries[5].key
        view.table.select(5)
        view._select(5)
        view._toggle("too-large")  # what is wished meanwhile is there when it has been read
        desk.frames(3)
        read_on.set()
        seat.settle()
        assert len(view.table.rows) == 75 and {view.row(at).status for at in view.table.rows} == {"too-large"}
        assert seat.state.selected.key == sixth == view._selected_key()
        view._only()
        assert [view.row(at) for at in view.table.rows[:40]] == first
        assert seat.faults() == []
    finally:
        read_on.set()
        seat.leave()


def test_no_entry_of_a_large_ledger_is_read_to_find_a_selected_row(
    desk: Desk, at_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is read from the file when it is asked for: while a hundred thousand of them are looked through for a row of
    another home, or of a file that was exchanged, the window stands still for seconds. Nor is one chosen that has gone.
    """
    monkeypatch.setattr(ledger_module, "LARGE_BYTES", 20_000)
    asked, row_at = list[int](), LedgerRows.__getitem__

    def counted(rows: LedgerRows, place: Any) -> Any:
        asked.extend([place] if isinstance(place, int) else [])
        return row_at(rows, place)

    made = entries()
    small, large = workspace_at(at_home, demo=False), at_home / "large"
    large.mkdir()
    other = workspace_at(large, demo=False)
    write_ledger(small.paths, dict(list(made.items())[:20]))
    write_ledger(other.paths, made)
    with seated(desk, small) as seat:
        view = seat.panel.workbench.views["conversations"]
        view.table.select(5)
        view._select(5)
        desk.frames(3)
        _, read_on = held(monkeypatch, gather, "overview")
        monkeypatch.setattr(LedgerRows, "__getitem__", counted)
        try:
            seat.panel.shell.use_home(other)
            seat.until(lambda: len(view.table.rows) == 300)
            assert view.table.selected is None and max(asked) < 100
            view.table.select(3)
            view._select(3)
            chosen = seat.state.selected.key
            write_ledger(other.paths, made | {"f" * 64: made[f"{4:064x}"]})
            view._rows.clear()
            view._select(250)
            view._open(250)
            assert chosen and seat.state.selected.key == chosen
            asked.clear()
        finally:
            read_on.set()
        seat.panel.shell.refresh()
        seat.settle()
        assert len(view.table.rows) == 301 and max(asked, default=0) < 100
        assert view._selected_key() == chosen
