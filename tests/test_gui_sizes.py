"""The panel at every size: if these fail, a person with a small window or large letters reads half a word, or cannot
reach a button."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests import panel_gallery
from tests.gui_window import Desk, desk_fixture
from tests.panel_desk import at_home_fixture
from tests.panel_overflow import overflowing

__all__ = ["at_home_fixture", "desk_fixture"]

SIZES = ((1000, 650, 1.0), (1280, 800, 1.0), (1280, 800, 1.5))


def sized(desk: Desk, look: Any, width: int, height: int, scale: float) -> None:
    """Another size of the window and of everything in it."""
    desk.resize(width, height)
    if look.scale != scale:
        look.change(scale=scale)
    desk.frames(3)
    desk.until(lambda: not look.tick(), 12)


def test_no_word_stands_out_of_its_place_in_any_state(desk: Desk, at_home: Path) -> None:
    """Over all states of the picture book, in a small window, the usual one, and with large letters."""
    from gui.panel import _living

    desk.clear()
    wrong: list[str] = []
    seen: list[str] = []

    def look_at(name: str) -> None:
        look = next(iter(_living)).look
        seen.append(name)
        for width, height, scale in SIZES[:: 1 if len(seen) % 2 else -1]:  # the next state begins where this one ends
            sized(desk, look, width, height, scale)
            wrong.extend(f"{name} {width}x{height} at {scale}: {one}" for one in overflowing(desk.dpg))

    try:
        panel_gallery.pictures(desk, look_at, "dark", 1.0)
    finally:
        desk.resize()
        desk.fresh()
    assert len(seen) > 35
    assert wrong == []
