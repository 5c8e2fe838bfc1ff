"""Conversations found on the disk, drawn over time: a dot for each on the day it was last written to, a row for each
tool, on an axis that runs on to the day when a tool deletes its first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta

import dearpygui.dearpygui as dpg

from gui.toolkit.drawing import Layer
from gui.toolkit.icons import icon
from gui.toolkit.letters import LETTERS
from gui.toolkit.theme import Look
from gui.views.looks import day_words

COLUMNS, STACK = 40, 7
"""This many columns the axis has, and so many dots stand over each other at the most."""
PITCH, DOT = 6, 5  # unscaled pixels, as all that follow
AMOUNT, FIGURE = 76, 58  # the room for the size at the left, and for the number at the right
WIDTH, HEIGHT, HEAD = AMOUNT + COLUMNS * PITCH + FIGURE, 52, 18
BASE = HEIGHT - 5
LEAST, MAX_PAST = timedelta(days=13), timedelta(days=365)
AHEAD = timedelta(days=31)
"""So far ahead the axis goes at the least, where a tool deletes; what is farther off than the past is long is nobody's
worry, and would press all dots into one column."""


@dataclass(frozen=True)
class Span:
    """The days of the axis: the first, today, and the last. `older`: what is from before stands on the first."""

    begin: date
    today: date
    end: date
    older: bool = False

    def column(self, day: date) -> int:
        """The column of a day; of one beside the axis the nearest."""
        share = (day - self.begin) / (self.end - self.begin)
        return round(max(0.0, min(1.0, share)) * (COLUMNS - 1))

    @property
    def words(self) -> str:
        """What stands above its beginning."""
        words = day_words(self.begin.isoformat())
        return f"before {words}" if self.older else words


@dataclass(frozen=True)
class Dots:
    """One row: how many conversations on which day, their size in words, and when the tool deletes its first (None: it
    keeps them)."""

    days: Mapping[date, int] = field(default_factory=dict)
    size: str = ""
    number: int = 0
    ends: date | None = None


def span_of(rows: Iterable[Dots], today: date) -> Span:
    """The axis that all rows share: a year back at the most, two weeks at the least, and on to the last of the days on
    which a tool begins to delete."""
    found = list(rows)
    days = [day for row in found for day in row.days]
    first = min([*days, today - LEAST])
    begin = max(first, today - MAX_PAST)
    last = today + max(AHEAD, today - begin)
    ends = [row.ends for row in found if row.ends is not None and row.ends <= last]
    return Span(begin, today, max([today, *ends]), first < begin)


def columns(row: Dots, span: Span) -> list[int]:
    """How many conversations stand in each column."""
    numbers = [0] * COLUMNS
    for day, number in row.days.items():
        numbers[span.column(min(day, span.today))] += number
    return numbers


def per_dot(rows: Iterable[Sequence[int]]) -> int:
    """How many conversations a dot stands for, so that no stack is higher than `STACK`."""
    return max(1, -(-max((max(row, default=0) for row in rows), default=0) // STACK))


def per_dot_words(number: int) -> str:
    """What the drawing's dots are."""
    return "one dot is one conversation" if number == 1 else f"one dot is up to {number:,} conversations"


class DotRow:
    """A drawing of one row, or of the head above all of them."""

    def __init__(self, look: Look, parent: int) -> None:
        self._look = look
        self.item = int(dpg.add_drawlist(10, 10, parent=parent))
        self._layer = Layer(look, self.item)
        look.on_change(self._layer.pen.forget)

    def _begin(self, height: float) -> Layer:
        look = self._look
        dpg.configure_item(self.item, width=look.px(WIDTH), height=look.px(height))
        self._layer.begin()
        return self._layer

    def head(self, span: Span | None) -> None:
        """The days at the two ends of the axis, and today."""
        layer, px = self._begin(HEAD), self._look.px
        if span is not None:
            layer.words(px(AMOUNT), 0, span.words, "hint", "small")
            line = px(AMOUNT + (span.column(span.today) + 1) * PITCH)
            if span.end > span.today:
                words, wide = day_words(span.end.isoformat()), LETTERS.wide(self._look.font_id("small"))
                end = max(line + px(8), px(AMOUNT + span.column(span.end) * PITCH) - px(18))
                # Where the past is short, "today" would stand on the day at its beginning: it stands behind its line.
                behind = wide is not None and px(AMOUNT + 12) + wide(span.words) + wide("today") > line
                layer.words(line + px(4 if behind else -4), 0, "today", "muted", "small", right=not behind)
                end = max(end, line + px(14) + int(wide("today"))) if behind and wide is not None else end
                layer.words(end, 0, words, "edited", "small")
            else:
                layer.words(line, 0, "today", "muted", "small", right=True)
        layer.end()

    def draw(self, row: Dots, span: Span, each: int, most: bool) -> None:
        """Dots, axis, size and number; `each`: conversations a dot, `most`: it has more than any other row."""
        layer, px = self._begin(HEIGHT), self._look.px
        layer.words(px(AMOUNT - 14), px(BASE - 22), row.size, "hint", "mono", right=True)
        left, today = px(AMOUNT), px(AMOUNT + (span.column(span.today) + 1) * PITCH)
        layer.line(left, px(BASE), today, px(BASE), "handle")
        layer.line(today, px(2), today, px(BASE + 4), "handle")
        first, ends = True, row.ends if row.ends is not None and row.ends <= span.end else None
        for at, number in enumerate(columns(row, span)):
            for high in range(-(-number // each)):
                color = "edited" if first and ends is not None else "accent"
                first = False
                layer.rect(px(AMOUNT + at * PITCH), px(BASE - 2 - (high + 1) * PITCH), px(DOT), px(DOT), color,
                           px(DOT) / 2)  # fmt: skip
        if ends is not None:
            end = px(AMOUNT + span.column(ends) * PITCH)
            for x in range(today + px(5), end - px(4), px(6)):
                layer.rect(x, px(BASE - 6), max(1, px(2)), max(1, px(2)), "edited")
            layer.words(max(today + px(4), end), px(BASE - 13), icon("trash-2"), "edited", "small")
        figure, wide = f"{row.number:,}", LETTERS.wide(self._look.font_id("number"))
        large = most and wide is not None and wide(figure) < px(FIGURE - 8)  # a wider one would stand on the dots
        role, top = ("number", 14) if large else ("heading", 24)
        layer.words(px(WIDTH - 2), px(top), figure, "text", role, right=True)
        layer.end()
