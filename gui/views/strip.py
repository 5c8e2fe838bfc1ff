"""A strip of the last year: a cell a day, the brighter the more conversations were held on it; a click chooses a week,
a drag a span of weeks, and the list below shows only those."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, timedelta

import dearpygui.dearpygui as dpg

from gui.toolkit.drawing import Drawing
from gui.toolkit.theme import Look

WEEKS, HEIGHT, DAY, MONTHS = 52, 64, 6, 44  # unscaled pixels: the strip, a day, and where the months stand


def shades(most: int) -> tuple[int, int, int]:
    """From how many conversations on a day a cell is brighter: one, a third and two thirds of the most."""
    return 1, max(2, -(-most // 3)), max(3, -(-2 * most // 3))


class Strip:
    """The strip; `on_span(first, last)` hears the days that are wanted as ISO dates, two empty words for all."""

    def __init__(self, look: Look, parent: int, on_span: Callable[[str, str], object]) -> None:
        self._look, self._on_span = look, on_span
        self.today = date.today()
        self.days: Mapping[str, int] = {}
        self.chosen: tuple[int, int] | None = None  # weeks from the left, the first and the last
        self._from: int | None = None
        self._over: int | None = None
        self.drawing = Drawing(look, parent, HEIGHT, self._draw)
        look.every_tick(self.tick)

    def set(self, days: Mapping[str, int]) -> None:
        """How many conversations were held on which day (ISO dates)."""
        self.days, self.today = days, date.today()
        self.drawing.redraw()

    def clear(self) -> None:
        """All weeks again."""
        if self.chosen is not None:
            self._choose(None)

    def step(self, by: int) -> None:
        """The week before or after the chosen ones; the newest where none is."""
        week = WEEKS - 1 if self.chosen is None else min(max(self.chosen[1] + by, 0), WEEKS - 1)
        self._choose((week, week))

    def span(self) -> tuple[str, str]:
        """The days of the chosen weeks."""
        if self.chosen is None:
            return "", ""
        first, last = self._monday(self.chosen[0]), self._monday(self.chosen[1]) + timedelta(days=6)
        return first.isoformat(), last.isoformat()

    def _monday(self, week: int) -> date:
        this = self.today - timedelta(days=self.today.weekday())
        return this - timedelta(weeks=WEEKS - 1 - week)

    def _choose(self, weeks: tuple[int, int] | None) -> None:
        self.chosen = weeks
        self.drawing.redraw()
        self._on_span(*self.span())

    def _at_mouse(self) -> int | None:
        """The week under the mouse; during a drag the one that it is above or below of."""
        wide = self.drawing.width / WEEKS
        place = self.drawing.mouse()
        x = place[0] if place is not None else 0.0
        if place is None and self._from is not None:
            x = dpg.get_mouse_pos(local=False)[0] - dpg.get_item_rect_min(self.drawing.item)[0]
        elif place is None:
            return None
        return min(max(int(x / wide), 0), WEEKS - 1) if wide > 0 else None

    def tick(self) -> bool:
        """Follow the mouse, and a drag; true when something is drawn anew."""
        over, down = self._at_mouse(), dpg.is_mouse_button_down(dpg.mvMouseButton_Left)
        if over is not None and self._from is None and dpg.is_mouse_button_clicked(dpg.mvMouseButton_Left):
            self._from = over
        if self._from is not None and not down:
            end = over if over is not None else self._from
            weeks = (min(self._from, end), max(self._from, end))
            self._from = None
            self._look.jobs.post(self._choose, None if weeks == self.chosen else weeks)
            return True
        if over == self._over:
            return False
        self._over = over
        self.drawing.redraw()
        return True

    def _draw(self, drawing: Drawing) -> None:
        px, wide = self._look.px, drawing.width / WEEKS
        levels = shades(max(self.days.values(), default=0))
        chosen = self.chosen
        if self._from is not None and self._over is not None:
            chosen = min(self._from, self._over), max(self._from, self._over)
        month = 0
        for week in range(WEEKS):
            monday = self._monday(week)
            outside = chosen is not None and not chosen[0] <= week <= chosen[1]
            for day in range(7):
                one = monday + timedelta(days=day)
                if one > self.today:
                    break
                number = self.days.get(one.isoformat(), 0)
                level = sum(number >= least for least in levels)
                color = ("field@60", "accent@30", "accent@60", "accent")[level]
                if outside:
                    color = "field@60" if not level else f"accent@{10 * level}"
                left, top = week * wide, px(DAY) * day
                drawing.below.box(left, top, left + max(wide - px(2), 1), top + px(DAY - 1), color, px(1))
            if monday.month != month and monday.day <= 7:
                month = monday.month
                drawing.below.words(week * wide, px(MONTHS + 4), f"{monday:%b}", "small", "hint")
        if chosen is not None:
            left = chosen[0] * wide - px(2)
            right = (chosen[1] + 1) * wide
            drawing.below.box(left, -px(1), right, px(MONTHS - 1), "accent@10", px(4), "accent@60",
                              1.5 * self._look.scale)  # fmt: skip
        if self._over is not None:
            first, last = self._monday(self._over), self._monday(self._over) + timedelta(days=6)
            days = (first + timedelta(days=day) for day in range(7))
            number = sum(self.days.get(one.isoformat(), 0) for one in days)
            words = f"{first.day} {first:%b} to {last.day} {last:%b}: {number:,}"
            drawing.bubble(words)
