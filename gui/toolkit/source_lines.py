"""The text of a file with line numbers, in colours: a few dozen rows are made, however long the file is."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import accumulate

import dearpygui.dearpygui as dpg

from gui.toolkit.flow import Scroll
from gui.toolkit.icons import icon
from gui.toolkit.theme import Look
from gui.toolkit.typeset import CODE_COLOURS, colours_of

PITCH, LETTER, LEFT, GAP = 19, 8.4, 4, 14
LONGEST = 2000  # letters of one line that are drawn
MORE = 4


KINDS = ("text", *dict.fromkeys(colour for _, colour in CODE_COLOURS))
"""Colours of the parts of a line."""
HEADING = KINDS.index("code-word")
PIN = 2  # columns before the numbers
COLORED_LETTERS = 400_000  # a longer text is shown without colours
INDENT = 4  # columns by which the rest of a broken line stands further in

Spans = Sequence[tuple[int, int, int]]
"""Parts of one line that have a colour: first letter, letter after the last, number of the colour in `KINDS`."""


@dataclass(frozen=True)
class Row:
    """One row on the screen: a line of the file, or a part of one that is too long for the width."""

    line: int
    start: int
    end: int
    indent: int = 0


def broken(lines: Sequence[str], columns: int) -> list[Row]:
    """The rows of lines that have room for so many columns: broken at blanks, the rest of a line further in."""
    rows: list[Row] = []
    for at, line in enumerate(lines):
        if len(line) <= columns:
            rows.append(Row(at, 0, len(line)))
            continue
        own = len(line) - len(line.lstrip(" "))
        start, indent = 0, 0
        while start < len(line):
            room = max(columns - indent, 12)
            end = min(start + room, len(line))
            if end < len(line):
                blank = line.rfind(" ", start + room // 2, end)
                end = blank + 1 if blank > 0 else end
            rows.append(Row(at, start, end, indent))
            start, indent = end, min(own + INDENT, columns // 2)
    return rows


def layers(words: str, spans: Spans, start: int, indent: int, usual: int = 0) -> list[str]:
    """One row as a text for each colour, with blanks where the others stand: in a font whose letters are of one
    width these make one line. A row with other letters than ASCII is of one colour."""
    if not words.isascii() or not spans:
        found = [""] * len(KINDS)
        found[usual] = " " * indent + words
        return found
    kinds = [usual] * len(words)
    for first, last, kind in spans:
        for at in range(max(first - start, 0), min(last - start, len(words))):
            kinds[at] = kind
    return [
        (" " * indent + "".join(letter if kind == number else " " for letter, kind in zip(words, kinds, strict=True)))
        .rstrip()
        for number in range(len(KINDS))
    ]  # fmt: skip


def colored(name: str, lines: Sequence[str]) -> tuple[Spans, ...]:
    """The coloured parts of each line of a file, by its name; none for what nobody knows, or for a very long text. Give
    the lines as they are drawn (`drawable`)."""
    text = "\n".join(lines)
    if len(text) > COLORED_LETTERS:
        return ()
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    found: list[list[tuple[int, int, int]]] = [[] for _ in lines]
    for begin, end, colour in colours_of(text, name):
        for at in range(bisect_right(starts, begin) - 1, bisect_left(starts, end)):
            first, last = max(begin - starts[at], 0), min(end - starts[at], len(lines[at]))
            if first < last:
                found[at].append((first, last, KINDS.index(colour)))
    return tuple(map(tuple, found)) if any(found) else ()


class SourceLines:
    """Lines of a file in the mono font, in colours, broken where they are too long. `set_lines` shows others, `light`
    puts a colour behind some of them; a pin stands before those that somebody noted something on."""

    def __init__(self, look: Look) -> None:
        self._look = look
        self.lines: Sequence[str] = ()
        self.rows: list[Row] = []
        self.lit: tuple[int, int] | None = None
        self._spans: Sequence[Spans] = ()
        self._marks: Collection[int] = ()
        self._slots: list[tuple[int, list[int]]] = []
        self._shown: list[tuple[object, ...] | None] = []
        self._first: list[int] = []
        self._tall = self._wide = 0.0
        self._columns = 0
        self._headings = False
        self.item = 0

    def build(self, parent: int) -> int:
        """Make all items; once. Returns the scrolled child window."""
        look = self._look
        self.item = look.window(int(dpg.add_child_window(parent=parent, border=False, width=-1, height=-1)))
        look.theme(self.item, "flow")
        self._scroll = Scroll(self.item)
        self._rest = int(dpg.add_spacer(parent=self.item, height=1, width=1))
        self._pool = look.font(int(dpg.add_group(parent=self.item)), "mono")
        self._band = int(
            dpg.add_child_window(
                parent=self.item, border=False, show=False, no_scrollbar=True, no_scroll_with_mouse=True, pos=[0, 0]
            )
        )
        look.theme(look.window(self._band), "row-lit")
        look.follow(self.item, self._fit)
        look.every_tick(self.tick)
        look.on_change(self._restyle)
        return self.item

    def set_lines(
        self, lines: Sequence[str], marks: Collection[int], keep_place: bool, headings: bool, spans: Sequence[Spans]
    ) -> None:
        """Show these lines; those in `marks` (from 1) have a pin, `spans` are the coloured parts of each, and with
        `headings` those of markdown stand out."""
        self._headings, self._spans = headings, spans
        self.lines, self._marks = [drawable(line) for line in lines], frozenset(marks)
        self.lit = self.lit if keep_place else None
        self._columns = 0
        if not keep_place:
            self._scroll.go(0.0)
        self._break()

    def light(self, start: int, end: int) -> None:
        """Put a colour behind the lines from `start` to `end` (from 1; 0: behind none) and bring them into sight."""
        self.lit = (start, min(end, len(self.lines))) if start else None
        if start and self._tall > 0 and self._first:
            pitch = self._look.px(PITCH)
            scroll, top = self._scroll.at, self._row_of(start) * pitch
            if not scroll <= top <= scroll + self._tall - 3 * pitch:
                self._scroll.go(top - self._tall / 3)
        self._fill()

    def scroll_by(self, pages: float) -> None:
        """Move on by so many pages, back when negative."""
        self._scroll.go(min(self._scroll.at + pages * self._tall, self._length() - self._tall))
        self._fill()

    def tick(self) -> bool:
        """Follow the scroll; before each frame. True when other lines came into sight."""
        moved = self._scroll.tick()
        if moved:
            self._fill()
        return moved

    @property
    def scroll(self) -> Scroll:
        """The scroll of the text, for whoever keeps another one beside it."""
        return self._scroll

    def top_of(self, line: int) -> int:
        """Where a line (from 1; 0: the file) begins in the text as it is broken, in pixels of the screen."""
        return self._row_of(line) * self._look.px(PITCH) if line else 0

    @property
    def length(self) -> int:
        """How high the text is, in pixels of the screen."""
        return self._length()

    def _length(self) -> int:
        return len(self.rows) * self._look.px(PITCH)

    def _row_of(self, line: int) -> int:
        """The first row of a line (from 1)."""
        return self._first[min(line, len(self._first)) - 1] if self._first else 0

    def _break(self) -> None:
        """Break the lines for the width that there is."""
        digits = len(str(max(1, len(self.lines))))
        gutter = self._look.px(LEFT + GAP + 12) + (digits + PIN) * LETTER * self._look.scale
        columns = max(24, int((self._wide - gutter) / (LETTER * self._look.scale))) if self._wide > 0 else 80
        if columns != self._columns or not self.rows:
            self._columns = columns
            self.rows = broken(self.lines, columns)
            self._first = [at for at, row in enumerate(self.rows) if not row.start]
        self._shown = [None] * len(self._slots)
        self._fill()

    def _fill(self) -> None:
        """Put the rows in sight into the pool; makes items only when the window has grown."""
        look, pitch = self._look, self._look.px(PITCH)
        if self._tall <= 0:
            return
        needed = int(self._tall / pitch) + 2 * MORE
        while len(self._slots) < needed:
            number = look.tint(int(dpg.add_text("", parent=self._pool, pos=[0, 0])), "hint")
            parts = [look.tint(int(dpg.add_text("", parent=self._pool, pos=[0, 0])), color) for color in KINDS]
            self._slots.append((number, parts))
            self._shown.append(None)
        first = max(0, int(self._scroll.at / pitch) - MORE)
        digits = len(str(max(1, len(self.lines))))
        left = look.px(LEFT)
        text = look.px(LEFT + GAP) + round((digits + PIN) * LETTER * look.scale)
        dpg.configure_item(self._rest, height=max(1, self._length()), width=1)
        for at in range(first, first + len(self._slots)):
            slot = at % len(self._slots)
            number, parts = self._slots[slot]
            row = self.rows[at] if at < len(self.rows) else None
            marked = row is not None and row.line + 1 in self._marks
            wanted = (at, row, marked)
            if self._shown[slot] == wanted:
                continue
            self._shown[slot] = wanted
            if row is None:
                for item in (number, *parts):
                    dpg.set_value(item, "")
                continue
            name = str(row.line + 1).rjust(digits) if not row.start else " " * (digits - 1) + "\u21b3"
            dpg.set_value(number, f"{icon('pin') if marked and not row.start else ' '} {name}")
            look.tint(number, "accent" if marked else "hint")
            words = self.lines[row.line]
            heading = self._headings and words.startswith("#")
            spans = self._spans[row.line] if row.line < len(self._spans) else ()
            drawn = layers(words[row.start : row.end], () if heading else spans, row.start, row.indent,
                          HEADING if heading else 0)  # fmt: skip
            top = at * pitch + look.px(2)
            dpg.configure_item(number, pos=[left, top])
            for item, part in zip(parts, drawn, strict=True):
                dpg.set_value(item, part)
                dpg.configure_item(item, pos=[text, top], show=bool(part))
        self._show_band()

    def _show_band(self) -> None:
        if self.lit is None or not self.rows:
            dpg.configure_item(self._band, show=False)
            return
        pitch = self._look.px(PITCH)
        start, end = self._row_of(self.lit[0]), self._row_of(self.lit[1])
        last = self.rows[end].line
        while end + 1 < len(self.rows) and self.rows[end + 1].line == last:
            end += 1
        wide = max(1, int(dpg.get_item_rect_size(self.item)[0]))
        dpg.configure_item(self._band, show=True, pos=[0, start * pitch], width=wide, height=(end - start + 1) * pitch)

    def _fit(self, width: float, height: float) -> None:
        self._tall, self._wide = height, width
        self._break()

    def _restyle(self) -> None:
        self._columns = 0
        self._break()


def drawable(line: str) -> str:
    """One line of a file as it can be drawn: tabs as spaces, no control characters, not endlessly long."""
    line = line[: LONGEST + 1].expandtabs(4)
    if not line.isprintable():
        line = "".join(letter if letter.isprintable() else "\ufffd" for letter in line)
    return line if len(line) <= LONGEST else line[:LONGEST] + "…"
