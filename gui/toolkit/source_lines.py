"""The text of a file with line numbers, in colours: only what is near the sight is drawn, however long the file is."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import accumulate

from gui.toolkit.canvas import Canvas
from gui.toolkit.drawing import Pen, draw_line
from gui.toolkit.icons import icon
from gui.toolkit.letters import broken, cells, wrapped
from gui.toolkit.theme import Look
from gui.toolkit.typeset import Run, Style, colours_of, lettered

PITCH, LETTER, LEFT, GAP = 19, 7.0, 4, 14
LONGEST = 2000  # letters of one line that are drawn
PIN = 2  # columns before the numbers
COLORED_LETTERS = 400_000  # a longer text is shown without colours
NOTE = 4  # columns that a note has less
INDENT = 4  # columns by which the rest of a broken line stands further in

Spans = Sequence[Style]
"""Parts of one line that have a colour: first letter, letter after the last, name of the colour."""


@dataclass(frozen=True)
class Row:
    """One row on the screen: a line of the file, a part of one that is too long for the width, or of what was noted on
    it: `note` are these words, `key` names the note."""

    line: int
    start: int
    end: int
    indent: int = 0
    note: str = ""
    key: int = -1


Note = tuple[int, int, str]
"""What was noted on a line (from 1; 0: on the file): that line, what names the note, its words."""


def rows_of(lines: Sequence[str], columns: int) -> list[Row]:
    """The rows of lines in a width of `columns`, the rest of a broken line further in."""
    rows: list[Row] = []
    for at, line in enumerate(lines):
        indent = min(len(line) - len(line.lstrip(" ")) + INDENT, columns // 2)
        parts = broken(line, range(len(line) + 1), columns, indent) if len(line) > columns else [(0, len(line))]
        rows += [Row(at, start, end, indent if start else 0) for start, end in parts]
    return rows


def colored(name: str, lines: Sequence[str]) -> tuple[Spans, ...]:
    """The coloured parts of each line of a file, by its name; none for what nobody knows, or for a very long text. Give
    the lines as they are drawn (`drawable`)."""
    text = "\n".join(lines)
    if len(text) > COLORED_LETTERS:
        return ()
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    found: list[list[Style]] = [[] for _ in lines]
    for begin, end, colour in colours_of(text, name):
        for at in range(bisect_right(starts, begin) - 1, bisect_left(starts, end)):
            first, last = max(begin - starts[at], 0), min(end - starts[at], len(lines[at]))
            if first < last:
                found[at].append((first, last, colour))
    return tuple(map(tuple, found)) if any(found) else ()


def woven(rows: Sequence[Row], notes: Sequence[Note], columns: int) -> list[Row]:
    """The rows with those of notes below the last one of their line."""
    below: dict[int, list[Row]] = {}
    for line, key, words in notes:
        wide = [part for one in words.split("\n") for part in wrapped(one, columns, cells).split("\n")]
        below.setdefault(line - 1, []).extend(Row(line - 1, 1, 0, 0, part, key) for part in wide)
    found = below.get(-1, [])
    for at, row in enumerate(rows):
        found.append(row)
        if at + 1 == len(rows) or rows[at + 1].line != row.line:
            found += below.get(row.line, [])
    return found


class SourceLines:
    """Lines of a file in the mono font, in colours, broken where they are too long. `set_lines` shows others, `light`
    puts a colour behind some of them; a pin stands before those that somebody noted something on. `on_note(key)` hears
    of a click on a note that is woven in."""

    def __init__(self, look: Look, on_note: Callable[[int], object] = lambda _key: None) -> None:
        self._look, self._on_note = look, on_note
        self._notes: Sequence[Note] = ()
        self.lines: Sequence[str] = ()
        self.rows: list[Row] = []
        self.lit: tuple[int, int] | None = None
        self._spans: Sequence[Spans] = ()
        self._marks: Collection[int] = ()
        self._first: list[int] = []
        self._headings = False
        self.canvas = Canvas(
            look, settle=lambda scroll, _tall: (float(self.length), scroll), paint=self._paint,
            on_click=self._clicked, on_size=self._sized, bar=True,
        )  # fmt: skip

    def build(self, parent: int) -> None:
        """Make all items; once. `item` is the scrolled child window."""
        self.item = self.canvas.build(parent)

    def set_lines(
        self, lines: Sequence[str], marks: Collection[int], keep_place: bool, headings: bool, spans: Sequence[Spans]
    ) -> None:
        """Show these lines (each `drawable`); those in `marks` (from 1) have a pin, `spans` are the coloured parts of
        each, and with `headings` those of markdown stand out."""
        self._headings, self._spans = headings, spans
        self.lines, self._marks = lines, frozenset(marks)
        self.lit = self.lit if keep_place else None
        if not keep_place:
            self.canvas.go(0.0)
        self._break()

    def weave(self, notes: Sequence[Note]) -> None:
        """Show these notes below their lines."""
        if notes != self._notes:
            self._notes = notes
            self._break()

    def _clicked(self, _x: float, y: float, _when: float) -> None:
        at = int(y / self._look.px(PITCH))
        if 0 <= at < len(self.rows) and self.rows[at].note:
            self._on_note(self.rows[at].key)

    def light(self, start: int, end: int) -> None:
        """Put a colour behind the lines from `start` to `end` (from 1; 0: behind none) and bring them into sight."""
        self.lit = (start, min(end, len(self.lines))) if start else None
        tall, scroll = self.canvas.tall, self.canvas.scroll
        if start and tall > 0 and self._first:
            top = self.top_of(start)
            if not scroll <= top <= scroll + tall - 3 * self._look.px(PITCH):
                self.canvas.go(top - tall / 3)
        self.canvas.renew()

    def scroll_by(self, pages: float) -> None:
        """Move on by pages, back when negative."""
        tall = self.canvas.tall
        self.canvas.go(min(self.canvas.scroll + pages * tall, self.length - tall))

    def top_of(self, line: int) -> int:
        """Where a line (from 1; 0: the file) begins in the text as it is broken, in pixels of the screen."""
        row = self._first[min(line, len(self._first)) - 1] if line and self._first else 0
        return row * self._look.px(PITCH)

    @property
    def length(self) -> int:
        """How high the text is, in pixels of the screen."""
        return len(self.rows) * self._look.px(PITCH)

    def _sized(self, before: tuple[int, int]) -> None:
        if before[0] != self.canvas.width:
            self._break()

    def _break(self) -> None:
        """Break the lines for the width that there is."""
        letter = LETTER * self._look.scale
        gutter = self._look.px(LEFT + GAP + 12) + (len(str(max(1, len(self.lines)))) + PIN) * letter
        wide = self.canvas.width
        columns = max(24, int((wide - gutter) / letter)) if wide > 0 else 80
        self.rows = woven(rows_of(self.lines, columns), self._notes, columns - NOTE)
        self._first = [at for at, row in enumerate(self.rows) if not row.start]
        self.canvas.renew()

    def _paint(self, pen: Pen, top: float, bottom: float) -> None:
        look, pitch = self._look, self._look.px(PITCH)
        digits = len(str(max(1, len(self.lines))))
        left, text = look.px(LEFT), look.px(LEFT + GAP) + round((digits + PIN) * LETTER * look.scale)
        first, last = self.lit or (0, 0)
        for at in range(max(0, int(top / pitch)), min(len(self.rows), int(bottom / pitch) + 1)):
            row, y = self.rows[at], float(at * pitch)
            if row.note:
                pen.box(text - look.px(6), y, self.canvas.width, y + pitch, "accent@8")
                pen.words(text + NOTE / 2 * LETTER * look.scale, y + look.px(2), row.note, "mono", "accent")
                continue
            if first <= row.line + 1 <= last:
                pen.box(0, y, self.canvas.width, y + pitch, "accent@16", look.px(2))
            marked, y = row.line + 1 in self._marks, y + look.px(2)
            name = str(row.line + 1).rjust(digits) if not row.start else " " * (digits - 1) + "\u21b3"
            pin = icon("pin") if marked and not row.start else " "
            pen.words(left, y, f"{pin} {name}", "mono", "accent" if marked else "hint")
            words = self.lines[row.line]
            heading = self._headings and words.startswith("#")
            spans = self._spans[row.line] if row.line < len(self._spans) and not heading else ()
            line = (Run(row.indent * LETTER * look.scale, row.start, row.end, "mono"),)
            tone = "code-word" if heading else "text"
            draw_line(look, pen, line, words, text, float(at * pitch), pitch, tone, (), spans)


def drawable(line: str) -> str:
    """One line of a file as it can be drawn: tabs as spaces, no control characters, not endlessly long."""
    whole = line[: LONGEST + 1].expandtabs(4)
    line = lettered(whole)
    if not line.isprintable():
        line = "".join(letter if letter.isprintable() else "\ufffd" for letter in line)
    return line if max(len(line), len(whole)) <= LONGEST else line[:LONGEST] + "…"
