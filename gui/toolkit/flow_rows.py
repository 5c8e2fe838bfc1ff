"""One row of a list of wrapped texts: what it says, how it is laid out and drawn."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from gui.toolkit.drawing import Pen, draw_line
from gui.toolkit.icons import icon as icon_of
from gui.toolkit.letters import LETTERS, cut
from gui.toolkit.theme import Look
from gui.toolkit.typeset import Line, lettered, lines_of_words

LEFT, ICON, RIGHT, TOP, GAP, BOTTOM = 12, 24, 14, 8, 2, 8
PITCH, SMALL = 20, 16
"""The height of a line of the text, and of the small line below it."""
LEAST = 64  # of a small line that is cut: less says nothing
BUTTON = 28
ASIDE = 330
"""The width of the small line where it stands at the right of the text."""
ASIDE_FROM = 760
"""The width of the list from which it does, where it is wished."""
ASIDE_MORE = 900
"""The width above which half of what is more is the small line's."""
LETTER = 7.7  # a usual width of a letter of the text font, for guesses
SEPARATOR = "  ·  "


@dataclass(frozen=True)
class FlowRow:
    """One row: `text` wraps, `meta` is the small pale line below it ("": none), `icon` stands in front in `color`.

    `key` says which row it is, also after the list was read again. `can` names the actions that are offered for it.
    `code` are parts of the text, as (first letter, letter after the last), that are code, `marks` parts that are
    shaded; the first `strong` letters are stronger.
    """

    key: Hashable
    text: str
    meta: str = ""
    icon: str = ""
    color: str = "accent"
    text_color: str = "text"
    can: frozenset[str] = frozenset()
    marks: tuple[tuple[int, int], ...] = ()
    code: tuple[tuple[int, int], ...] = ()
    strong: int = 0
    head: bool = False  # it stands above others as their name: the keys pass over it

    def drawn(self) -> FlowRow:
        """The row as the fonts can show it: scripts without letters are named, and then nothing of it is marked."""
        text = lettered(self.text)
        return self if text == self.text else replace(self, text=text, marks=(), code=(), strong=0)


def told(icon: str, color: str, words: str, aside: str = "") -> FlowRow:
    """A sentence with its sign and a figure, as a row."""
    return FlowRow(("told", words, aside), words, aside, icon, color)


@dataclass(frozen=True)
class RowAction:
    """A small button that is shown at the row under the mouse, or else at the selected one."""

    name: str
    icon: str
    tip: str
    shortcut: str = ""


def draw_row(
    look: Look, pen: Pen, row: FlowRow, lines: Sequence[Line], y: int, width: int, aside: bool, crowded: int
) -> None:  # fmt: skip
    """A row in a list so wide, its top at `y`; `crowded` is the room that its buttons take, in pixels of the screen."""
    px, left, pitch = look.px, look.px(LEFT + ICON), look.px(PITCH)
    if row.icon:
        pen.words(px(LEFT), y + px(TOP + 2), icon_of(row.icon), "text", row.color)
    if row.text:
        marks = [(*mark, "hit@40", "") for mark in row.marks]
        for at, line in enumerate(lines):
            draw_line(look, pen, line, row.text, left, y + px(TOP) + pitch * at, pitch, row.text_color, marks)
    wide = LETTERS.wide(look.font_id("small"))
    if not row.meta:
        return
    # The small line, below the text or beside it; cut where the row ends, or where its buttons begin.
    beside = aside_of(look, width, aside)
    left = width - beside if beside else left
    above = beside and len(lines) > 1  # the buttons stand on the last line
    room, words = width - left - px(RIGHT) - (0 if above else crowded), lettered(row.meta)
    while not beside and wide(words) > room and SEPARATOR in words:
        rest = words.rpartition(SEPARATOR)[0]
        if wide(rest + SEPARATOR) + px(LEAST) <= room:
            break  # the last part is cut where some of it can be read, else it goes as a whole
        words = rest
    if wide(words) <= room or room >= px(LEAST):
        below = y + px(TOP + 2 if beside else TOP + GAP) + (0 if beside else pitch * len(lines))
        pen.words(left, below, cut(words, room, wide), "small", "hint")


def aside_of(look: Look, width: int, aside: bool) -> int:
    """How wide the small line is that stands at the right of the text, 0 where it stands below it."""
    if not aside or width < look.px(ASIDE_FROM):
        return 0
    return look.px(ASIDE) + max(0, width - look.px(ASIDE_MORE)) // 2


def wrap_of(look: Look, width: int, aside: bool = False) -> int:
    """How wide the text of a row may be, in pixels of the screen."""
    return max(40, width - look.px(LEFT + ICON + RIGHT) - aside_of(look, width, aside))


def height_of(look: Look, row: FlowRow, lines: int, width: int, aside: bool) -> int:
    """The height of a row whose text takes `lines`, in pixels of the screen."""
    below = bool(row.meta) and not aside_of(look, width, aside)
    return look.px(TOP) + look.px(PITCH) * lines + look.px(BOTTOM) + below * look.px(GAP + SMALL)


def guessed(look: Look, rows: Sequence[FlowRow], width: int, aside: bool = False) -> list[int]:
    """Heights of rows in a list so wide, by their number of letters; pixels of the screen."""
    whole, beside = (max(4.0, wrap_of(look, width, one) / (LETTER * look.scale)) for one in (False, aside))
    lines = [1 + int(len(row.text) / (beside if row.meta else whole)) + row.text.count("\n") for row in rows]
    return [height_of(look, row, number, width, aside) for row, number in zip(rows, lines, strict=True)]


def lines_of(look: Look, row: FlowRow, width: int, aside: bool) -> tuple[Line, ...]:
    """The text of a row in lines that fit into a list so wide."""
    fonts = {name: LETTERS.wide(look.font_id(name)) for name in ("text", "strong", "mono")}
    styles = [(begin, end, "code") for begin, end in row.code]
    if row.strong:
        styles = [(0, row.strong, "strong"), *(one for one in styles if one[0] >= row.strong)]
    room = wrap_of(look, width, aside and bool(row.meta))
    return lines_of_words(row.text, styles, room, lambda words, role: fonts[role](words))


def matching(rows: Sequence[FlowRow], words: str) -> Sequence[FlowRow]:
    """The rows in which every one of the words stands, in the text or below it; small and capital letters are one."""
    found = rows
    for word in words.casefold().split():
        found = [row for row in found if word in row.text.casefold() or word in row.meta.casefold()]
    return found
