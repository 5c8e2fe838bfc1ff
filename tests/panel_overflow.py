"""What of a window's words does not fit where it stands. For `test_gui_sizes.py`; not a test itself."""

from __future__ import annotations

from typing import Any

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
