"""The panel at every size: if these fail, a user with a small window or large letters reads half a word, or cannot
reach a button."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests import panel_gallery, panel_gallery_strange
from tests.gui_window import Desk, desk_fixture
from tests.panel_desk import at_home_fixture, harvested_at, seated, workspace_at

__all__ = ["at_home_fixture", "desk_fixture"]

SIZES = ((1000, 650, 1.0), (900, 600, 1.0), (1280, 800, 2.0))
"""What each state is looked at in besides a window of the usual size with letters half as large again, which has less
room than most; all states where `EVERY_SIZE` is set, else one."""


TEXT, BUTTON, GROUP, CHILD, SEPARATOR = (
    f"mvAppItemType::mv{name}" for name in ("Text", "Button", "Group", "ChildWindow", "Separator")
)
SLACK = 1.5  # pixels: positions are rounded


def overflowing(dpg: Any) -> list[str]:
    """Every text and button in sight that is wider than its place, in words. What can be scrolled sideways may be."""
    found = []
    for item in dpg.get_all_items():
        kind = _kind(dpg, item)
        if kind not in (TEXT, BUTTON):
            continue
        state = dpg.get_item_state(item)
        if not state.get("visible"):
            continue
        words = str(dpg.get_value(item) if kind == TEXT else dpg.get_item_label(item))
        if not words.strip() or _scrolls(dpg, item):
            continue
        over = state["rect_max"][0] - _limit(dpg, item, state)
        if over > SLACK and _is_drawn(dpg, item):
            found.append(f"{words!r} stands {over:.0f} pixels out")
        if kind == BUTTON and dpg.get_item_configuration(item)["width"] > 0:
            size = dpg.get_text_size(words, font=dpg.get_item_font(item) or 0)
            if size and size[0] > state["rect_size"][0]:
                found.append(f"{words!r} is wider than its button")
    return found


_kinds: dict[int, str] = {}


def _kind(dpg: Any, item: int) -> str:
    """The type of an item, asked once: no number is given twice, and each item is looked at a hundred times."""
    if item not in _kinds:
        _kinds[item] = dpg.get_item_type(item)
    return _kinds[item]


def _limit(dpg: Any, item: int, state: dict[str, Any]) -> float:
    """Where the room of an item ends. Dear PyGui tells what is left from the begin of the next line."""
    parent = dpg.get_item_parent(item)
    begin = state["rect_min"][0]
    if _kind(dpg, parent) == GROUP:
        begin = dpg.get_item_state(parent)["rect_min"][0]
    elif _kind(dpg, parent) == CHILD:
        lines = [one for one in dpg.get_item_children(parent, 1) if _kind(dpg, one) in (TEXT, SEPARATOR)]
        drawn = [dpg.get_item_state(one) for one in lines if dpg.is_item_shown(one)]
        begin -= state["pos"][0] - min(one["pos"][0] for one in (state, *drawn) if one.get("visible"))
    return float(begin + state["content_region_avail"][0])


def _scrolls(dpg: Any, item: int) -> bool:
    """Whether it stands in something that is marked as scrolling sideways."""
    parent = dpg.get_item_parent(item)
    while parent:
        if _kind(dpg, parent) == CHILD and dpg.get_item_configuration(parent).get("horizontal_scrollbar"):
            return True
        parent = dpg.get_item_parent(parent)
    return False


def _is_drawn(dpg: Any, item: int) -> bool:
    """What stands in something hidden keeps saying that it is visible."""
    while item:
        if not dpg.is_item_shown(item):
            return False
        item = dpg.get_item_parent(item)
    return True


def sized(desk: Desk, look: Any, width: int, height: int, scale: float) -> None:
    """Another size of the window and of everything in it."""
    if (desk.dpg.get_viewport_client_width(), desk.dpg.get_viewport_client_height()) != (width, height):
        desk.resize(width, height)
    if look.scale != scale:
        look.change(scale=scale)
    desk.frames(3)
    desk.until(lambda: not look.tick(), 12)


def test_no_word_stands_out_of_its_place_in_any_state(
    desk: Desk, at_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over all states of the picture book, with large letters; in smaller windows and with larger letters too where
    `EVERY_SIZE=1` asks for it, which takes minutes."""
    from gui.panel import _living

    desk.clear()
    desk.resize(1280, 800)
    wrong: list[str] = []
    seen: list[str] = []
    every = bool(os.environ.get("EVERY_SIZE"))
    if not every:
        monkeypatch.setattr(panel_gallery_strange, "LARGE", 12_000)  # as many digits wherever it is counted by status

    def look_at(name: str) -> None:
        look = next(iter(_living)).look
        seen.append(name)
        for width, height, scale in ((1280, 800, 1.5), *(SIZES if every or name == "knowledge" else ())):
            if every or name == "knowledge":
                sized(desk, look, width, height, scale)
            out = overflowing(desk.dpg)
            for _ in range(6):  # a dialog that has just opened knows the widths of its columns some frames later
                if out:
                    desk.frames(3)
                    out = overflowing(desk.dpg)
            wrong.extend(f"{name} {width}x{height} at {scale}: {one}" for one in out)
        if every or name == "knowledge":
            sized(desk, look, 1280, 800, 1.5)

    try:
        panel_gallery.pictures(desk, look_at, "dark", 1.5)
    finally:
        desk.resize()
        desk.fresh()
    assert len(seen) > 35
    assert not wrong, "\n".join(wrong)


def test_every_view_and_the_buttons_of_a_dialog_are_in_reach_of_the_mouse(desk: Desk, at_home: Path) -> None:
    """Also where the window is smaller than it may be, on a screen that has no more."""
    with seated(desk, workspace_at(at_home)) as seat:
        panel, dpg = seat.panel, desk.dpg
        try:
            for width, height, scale in ((900, 600, 1.0), (1280, 800, 2.0)):
                sized(desk, panel.look, width, height, scale)
                for name, tab in panel.header.tabs.items():
                    if name == "library":
                        continue
                    if not dpg.is_item_shown(tab.item):
                        desk.click(panel.header.chooser.item)
                        menu = panel.header._menu
                        at = next(at for at, row in enumerate(menu._rows) if name in row.label.lower())
                        desk.click(menu._items[at])
                    else:
                        assert desk.middle(tab.item)[0] < width, name
                        desk.click(tab.item)
                    seat.settle()
                    assert seat.state.view == name
                desk.click(panel.status.harvest.item)
                seat.until(lambda: panel.run.now.phase == "planned")
                desk.frames(12)
                left, top = dpg.get_item_rect_min(panel.harvest.dialog.confirm_button.item)
                right, bottom = dpg.get_item_rect_max(panel.harvest.dialog.confirm_button.item)
                assert 0 < left < right <= width and 0 < top < bottom <= height, "Apply is in sight"
                desk.press("Escape")
                seat.settle()
        finally:
            desk.resize()


def test_with_large_letters_in_a_small_window_answers_and_edits_are_in_reach_of_the_mouse(
    desk: Desk, at_home: Path
) -> None:
    """The card of the next conversation and the foot left them no room: nobody could say yes or save by mouse."""
    workspace = harvested_at(at_home)
    held = '# Quarantine\n\n- [quote-not-found] facts: tea (quote: "nobody") [from: tea, 2026-05-01]\n'
    (workspace.paths.knowledge / "quarantine.md").write_text(held, encoding="utf-8")
    with seated(desk, workspace, choices={"view": "knowledge"}) as seat:
        panel, dpg = seat.panel, desk.dpg
        view: Any = panel.workbench.views["knowledge"]
        try:
            sized(desk, panel.look, 900, 600, 1.5)
            seat.until(lambda: view.looks.waiting and dpg.is_item_shown(panel.brief.card))
            desk.press("w")
            seat.until(lambda: dpg.is_item_visible(view.looks.answers["yes"].item))
            assert dpg.get_item_rect_max(view.looks.answers["yes"].item)[1] < 600
            desk.press("Escape")
            seat.until(lambda: dpg.is_item_shown(panel.brief.card))
            desk.press("Down")
            desk.press("e")
            seat.until(lambda: view.session.target is not None and not dpg.is_item_shown(panel.brief.card))
            seat.settle()
            assert dpg.get_item_rect_max(view.session.editor.save.item)[1] < 600
            desk.press("Escape")
            seat.settle()
        finally:
            desk.resize()


def test_a_dialog_follows_a_window_that_is_made_lower_while_it_is_open(desk: Desk, at_home: Path) -> None:
    """Two scroll bars stood side by side, and the last rows could be reached by neither alone."""
    with seated(desk, workspace_at(at_home)) as seat:
        panel, dpg = seat.panel, desk.dpg
        try:
            desk.click(panel.status.harvest.item)
            seat.until(lambda: panel.run.now.phase == "planned")
            desk.frames(12)
            desk.resize(820, 520)
            desk.frames(20)
            assert not dpg.get_y_scroll_max(panel.harvest.dialog._page)
        finally:
            desk.resize()


def test_a_narrow_window_hides_the_left_column_and_keeps_the_evidence_inside(desk: Desk, at_home: Path) -> None:
    """Else the middle would be pushed out of the window, and with it the buttons of the evidence."""
    with seated(desk, workspace_at(at_home)) as seat:
        columns, dpg = seat.panel.columns, desk.dpg
        seat.panel.shell.select("file", "facts.md")
        seat.settle()
        for width, height, scale, crowded in (
            (900, 600, 1.0, False),
            (480, 600, 1.0, True),
            (800, 500, 2.0, True),
        ):
            sized(desk, seat.panel.look, width, height, scale)
            assert columns.crowded == crowded, width
            left, top = dpg.get_item_rect_min(seat.panel.inspector.close.item)
            right, bottom = dpg.get_item_rect_max(seat.panel.inspector.close.item)
            assert 0 < left < right <= width and 0 < top < bottom <= height
        sized(desk, seat.panel.look, 1280, 800, 1.0)
        assert columns.shown and not columns.crowded
