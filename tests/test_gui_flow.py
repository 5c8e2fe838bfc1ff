"""The list of wrapped texts: if it fails, a row jumps away under the mouse, or a click means another one."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any

from gui.toolkit.canvas import Heights
from tests.gui_window import Desk, desk_fixture  # noqa: F401 - pytest finds the fixture by itself

WORDS = "Retry only idempotent requests; 429 の Retry-After は秒でも日付でも来る。"


def build(desk: Desk, count: int = 10_000, **listeners: Any) -> Any:
    from gui.toolkit.flow import FlowList
    from gui.toolkit.flow_rows import FlowRow, RowAction
    from gui.toolkit.layout import box

    flow = FlowList(desk.look, actions=[RowAction("copy", "copy", "Copy")], **listeners)
    flow.build(box(desk.look, desk.page, width=500, height=600))
    rows = [
        FlowRow(at, f"{at} {WORDS * (at % 5)}", f"line {at}", "bookmark", can=frozenset({"copy"}))
        for at in range(count)
    ]
    flow.set_rows(rows)
    desk.frames(5)
    return flow


def top_of(desk: Desk, flow: Any, key: int) -> int:
    return int(flow.place_of(key)[1])


def test_heights_are_guessed_measured_and_remembered() -> None:
    exact = [10, 30, 20, 40]
    heights = Heights(lambda at: exact[at], lambda at: at)
    heights.begin([20, 20, 20, 20])
    assert heights.tops == [0, 20, 40, 60, 80] and heights.at(45) == 2
    assert heights.measure(0, 2) and heights.tops == [0, 10, 40, 60, 80] and not heights.measure(0, 2)
    heights.begin([20, 20, 20, 20])
    assert heights.heights == [10, 30, 20, 20]
    heights.fix(3, 100)
    assert heights.total == 160 and not heights.measure(3, 4)
    heights.forget()
    heights.begin([5])
    assert heights.total == 5 and heights.at(-3) == 0 and heights.at(99) == 0
    heights.begin([])
    assert heights.at(7) == 0


def test_rows_stand_under_each_other_without_gap_or_overlap(desk: Desk) -> None:
    """A row whose height is wrong would cut its text or lie over the next."""
    flow = build(desk)
    flow.press("Down")
    flow.bring(5_000)
    desk.frames(6)
    assert len(flow.in_sight()) > 6
    drawn = desk.drawn(flow.canvas.drawn)
    rules = sorted(one["p1"][1] for one in drawn if "p1" in one)
    words = sorted(one["pos"][1] for one in drawn if "text" in one)
    heights = [flow.heights.heights[row.key] for row in flow.in_sight()]
    apart = [round(below - above) for above, below in pairwise(rules)]
    assert str(heights[1:-1]).strip("[]") in str(apart), "each row ends where the next one begins"
    assert not any(-14 < rule - (top + 14) < 0 for rule in rules for top in words), "no rule cuts a line of words"


def test_new_rows_above_do_not_move_what_is_read(desk: Desk) -> None:
    flow = build(desk)
    flow.bring(4_000)
    desk.frames(6)
    before = top_of(desk, flow, 3_999)
    flow.set_rows(flow.rows[:100] + flow.rows[200:], keep_place=True)
    desk.frames(6)
    assert top_of(desk, flow, 3_999) == before
    desk.wheel(partial(flow.place_of, 3_999), -3)  # upwards, over rows that were only guessed
    assert top_of(desk, flow, 3_999) > before


def test_the_chosen_row_stays_in_sight_when_the_list_gets_smaller(desk: Desk) -> None:
    """The inspector opens for the row that was clicked: it must not push that row out of the list."""
    flow = build(desk, 400)
    flow.bring(200)
    desk.frames(6)
    flow.select(199)
    outer = desk.dpg.get_item_parent(flow.holder)
    for width, height in ((500, 300), (230, 300), (230, 200), (500, 600)):
        desk.dpg.configure_item(outer, width=width, height=height)
        desk.frames(8)
        top, bottom = flow.heights.tops[199:201]
        scroll, tall = desk.dpg.get_y_scroll(flow.holder), desk.dpg.get_item_rect_size(flow.holder)[1]
        assert scroll <= top and min(bottom, top + tall) <= scroll + tall, (width, height)
    flow.bring(50)
    desk.frames(6)
    first, scroll = flow.heights.at(desk.dpg.get_y_scroll(flow.holder)), desk.dpg.get_y_scroll(flow.holder)
    desk.dpg.configure_item(outer, height=300)
    desk.frames(8)
    assert flow.heights.at(desk.dpg.get_y_scroll(flow.holder)) == first, "whoever reads elsewhere is not taken away"
    assert desk.dpg.get_y_scroll(flow.holder) == scroll


def test_another_scale_and_palette_change_the_rows_in_place(desk: Desk) -> None:
    from gui.toolkit.styles import LIGHT

    flow = build(desk, 50)
    flow.select(3)
    desk.frames(3)
    tall, items = flow.heights.heights[1], []
    for _ in range(3):
        desk.look.change(LIGHT, 1.5)
        desk.frames(8)
        assert flow.heights.heights[1] > 1.4 * tall and not desk.jobs.errors
        desk.look.change(scale=1.0)
        desk.frames(8)
        items.append(desk.items())
    assert flow.heights.heights[1] == tall and items[1] == items[2], "fonts and lines once, nothing a change"


def test_where_a_row_comes_from_is_read_as_far_as_there_is_room(desk: Desk) -> None:
    """The title of its conversation was left out in a narrow window, and cut to 184 pixels in the widest one."""
    from gui.toolkit.flow import FlowList
    from gui.toolkit.flow_rows import SEPARATOR, FlowRow
    from gui.toolkit.layout import box

    title = "Why the checkout charges some carts twice when the gateway answers late, and what to do about it"
    flow = FlowList(desk.look, aside=True)
    holder = box(desk.look, desk.page, width=500, height=600)
    flow.build(holder)
    flow.set_rows([FlowRow(1, "One key a cart.", SEPARATOR.join(("in 17", "29 Nov", title)), "bookmark")])
    shown = []
    for width in (180, 400, 900, 1250):
        desk.dpg.configure_item(holder, width=width)
        desk.frames(8)
        shown.append(next(one["text"] for one in desk.drawn(flow.canvas.drawn) if "in 17" in one.get("text", "")))
    narrow, short, beside, wide = shown
    assert narrow == f"in 17{SEPARATOR}29 Nov", "what is left of the title says nothing"
    assert "Why the checkout" in short and short.endswith("…")
    assert "Why the checkout" in beside and len(wide) > 1.3 * len(beside)


def test_a_click_means_the_row_that_is_seen_there(desk: Desk) -> None:
    told: list[Any] = []
    flow = build(
        desk, on_select=lambda row: told.append(row.key), on_action=lambda name, row: told.append((name, row.key))
    )
    flow.bring(700)
    desk.frames(6)
    desk.click(partial(flow.place_of, 699))
    desk.move(*desk.middle(partial(flow.place_of, 698)))
    desk.click(flow.bar.buttons["copy"].item)
    assert told == [699, ("copy", 698)] and flow.selected == 699
