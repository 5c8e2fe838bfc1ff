"""The sheet that the reader scrolls: where each piece of a conversation stands, and how it is drawn.

Pieces are laid out when they come near the sight; until then their height is a guess. Places are pixels of the screen.

Below, the strip at its right: the whole conversation in small, where the sight is, what was harvested and what was
found. A click or a drag goes there.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import dearpygui.dearpygui as dpg

from gui.toolkit.canvas import Canvas, Heights
from gui.toolkit.drawing import Mark as Ground
from gui.toolkit.drawing import Pen, draw_line
from gui.toolkit.icons import icon
from gui.toolkit.letters import LETTERS, Wide, cut, wrapped
from gui.toolkit.theme import Look
from gui.toolkit.typeset import Line, Run, Style, lines_of_code, lines_of_words
from gui.views.looks import CATEGORIES, ROLES
from gui.views.reader_rows import CALL, CODE, HEAD, NOTE, OUTPUT, WORDS, Mark, Piece, Place, Script, one_line_of

LEFT, TIME, FACE, TEXT = 14, 14, 58, 92  # unscaled pixels: where time, face and words begin
NARROW_TEXT = 30
PITCH, CODE_PITCH, SMALL_PITCH, BLANK = 22, 19, 18, 10
HEAD_ABOVE, HEAD_HEIGHT, CALL_HEIGHT, CALL_GAP = 16, 24, 28, 4
CODE_HEAD, CODE_EDGE, BOX, AFTER, APART = 28, 8, 9, 8, 6
WIDEST, NOTES, NOTES_LEAST, NOTES_GAP, ICONS = 760, 300, 210, 24, 44
ROOM_FOR_NOTES, ROOM_FOR_TIME = 860, 560
WIDER, NOTES_WIDER = 80, 140
NOTE_LINES = 7
LAID = 600
"""This many pieces stay laid out."""
TOP_SHARE = 0.3
"""What is jumped to stands at this share of the sight."""


@dataclass(frozen=True)
class Geometry:
    """Where things stand across, in pixels of the screen. `notes` is the width of the notes, 0 for icons alone."""

    left: int
    width: int
    notes_at: int
    notes: int
    times: bool


def geometry(width: float, px: Callable[[float], int]) -> Geometry:
    """How a width is shared: words at most `WIDEST`; notes beside them where there is room, else their icons."""
    times = width >= px(ROOM_FOR_TIME)
    left = px(TEXT if times else NARROW_TEXT)
    room = int(width) - left - px(LEFT)
    if width < px(ROOM_FOR_NOTES):
        column = max(px(120), room - px(ICONS))
        return Geometry(left, column, left + column + px(20), 0, times)
    notes = max(px(NOTES_LEAST), min(px(NOTES), int(room * 0.32)))
    spare = max(
        0, room - notes - px(NOTES_GAP) - px(WIDEST)
    )  # of a wide window: some for the words, more for the notes
    column = min(px(WIDEST) + min(px(WIDER), spare // 4), room - notes - px(NOTES_GAP))
    notes += min(px(NOTES_WIDER), spare // 3)
    return Geometry(left, column, left + column + px(NOTES_GAP), notes, times)


def inner_of(piece: Piece) -> int:
    """How far its lines are from the edge of its box."""
    return CODE_EDGE if piece.kind != WORDS else BOX if piece.state == "user" else 0


@dataclass(frozen=True)
class Laid:
    """A piece as lines of the width at hand, and its height in pixels of the screen."""

    lines: tuple[Line, ...]
    height: int


@dataclass(frozen=True)
class Spot:
    """A place that can be clicked, in pixels of the whole."""

    x0: float
    y0: float
    x1: float
    y1: float
    act: Callable[[], object]


class Sheet:
    """The pieces of one conversation at one width. `places` are what was found, `place` and `mark` the numbers of the
    place and of the item that are looked at, -1 for none. `on_fold(fold)`, `on_copy(piece)` and `on_item(number)` hear
    clicks; `on_code(piece)` is asked once for the colours of some code, which go into `colours`."""

    def __init__(
        self,
        look: Look,
        *,
        on_fold: Callable[[int], object],
        on_copy: Callable[[int], object],
        on_item: Callable[[int], object],
        on_code: Callable[[int, Piece], object],
    ) -> None:
        self._look = look
        self._on_fold, self._on_copy, self._on_item, self._on_code = on_fold, on_copy, on_item, on_code
        self.script = Script()
        self.open_folds: set[int] = set()
        self.places: tuple[Place, ...] = ()
        self.place = self.mark = -1
        self.colours: dict[int, tuple[Style, ...]] = {}
        self.goal: tuple[int, float] | None = None
        """A piece to bring into sight, and how far below its top."""
        self.spots: list[Spot] = []
        self._laid: dict[int, Laid] = {}
        self._notes: dict[int, list[str]] = {}
        self._asked: set[int] = set()
        self._guesses: list[int] = []
        self._wide: dict[str, Wide] = {}
        self.heights = Heights(self._exactly, lambda at: (at, self.hidden(at)))
        self.shape = Geometry(0, 1, 0, 0, True)

    def set(self, script: Script) -> None:
        """Another conversation."""
        self.script = script
        self.open_folds, self.places, self.place, self.mark, self.goal = set(), (), -1, -1, None
        self.colours.clear()
        self._asked.clear()
        self.again()

    def fit(self, width: float) -> None:
        """Another width, or another scale."""
        self.shape = geometry(width - self._look.px(4), self._look.px)
        self.again()

    def spot_at(self, x: float, y: float) -> Spot | None:
        """What can be clicked at a place."""
        return next((one for one in reversed(self.spots) if one.x0 <= x <= one.x1 and one.y0 <= y <= one.y1), None)

    def again(self) -> None:
        """Every height is another one: the width, the scale, or the conversation has changed."""
        self._laid.clear()
        self._notes.clear()
        self._wide.clear()
        self.heights.forget()
        self._guesses = [self._guess(piece) for piece in self.script.pieces]
        self.arrange()

    def arrange(self) -> None:
        """Begin with guesses and what is known; what is folded has no height."""
        self.heights.begin([0 if self.hidden(at) else guess for at, guess in enumerate(self._guesses)])

    def hidden(self, at: int) -> bool:
        """Whether a piece is folded away."""
        piece = self.script.pieces[at]
        return piece.kind == OUTPUT and piece.fold not in self.open_folds

    def _guess(self, piece: Piece) -> int:
        px = self._look.px
        if piece.kind in (HEAD, CALL):
            return px(HEAD_ABOVE + HEAD_HEIGHT if piece.kind == HEAD else CALL_HEIGHT + CALL_GAP)
        pitch, letter = (PITCH, 7.7) if piece.kind == WORDS else (CODE_PITCH, 8.4)
        across = max(8.0, self.shape.width / max(1.0, letter * self._look.scale))
        lines = piece.text.count("\n") + 1 + int(len(piece.text) / across * (0.9 if piece.kind == WORDS else 0.3))
        return px(pitch) * lines + self._edges(piece)

    def _edges(self, piece: Piece) -> int:
        """What stands above and below the lines of a piece."""
        px = self._look.px
        return self._above(piece) + (px(inner_of(piece)) + px(AFTER)) * piece.closes

    def _above(self, piece: Piece) -> int:
        px, head = self._look.px, CODE_HEAD if piece.kind == CODE else inner_of(piece)
        return px(APART) * piece.apart + px(head) * piece.opens

    def _exactly(self, at: int) -> int:
        return 0 if self.hidden(at) else self.laid(at).height

    def laid(self, at: int) -> Laid:
        """The lines of a piece."""
        known = self._laid.get(at)
        if known is not None:
            return known
        piece, px = self.script.pieces[at], self._look.px
        if piece.kind in (HEAD, CALL):
            made = Laid((), self._guess(piece))
        elif piece.kind == WORDS:
            room = self.shape.width - (2 * px(BOX + 4) if piece.state == "user" else 0)
            lines = lines_of_words(piece.text, piece.styles, room, self.measure)
            blank = sum(not line for line in lines)
            made = Laid(lines, px(PITCH) * (len(lines) - blank) + px(BLANK) * blank + self._edges(piece))
        else:
            lines = lines_of_code(piece.text, self.shape.width - 2 * px(BOX + 4), self.measure)
            made = Laid(lines, px(CODE_PITCH) * len(lines) + self._edges(piece))
        if len(self._laid) >= LAID:
            self._laid.clear()
        self._laid[at] = made
        return made

    def measure(self, words: str, role: str) -> float:
        """How wide words are, in pixels of the screen."""
        if role not in self._wide:
            self._wide[role] = LETTERS.wide(self._look.font_id(role))
        return self._wide[role](words)

    def settle(self, scroll: float, tall: float) -> tuple[float, float]:
        """Exact heights for what will be painted: the height of the whole, and the scroll at which the first piece in
        sight, or what was jumped to, stays where it is."""
        heights = self.heights
        if not heights.heights:
            return 0.0, 0.0
        over = self._look.px(600)
        for _ in range(6 if self.goal is not None else 0):
            at, inside = self.goal or (0, 0.0)
            heights.measure(at - 1, at + 1)
            scroll = max(0.0, heights.tops[at] + inside - tall * TOP_SHARE)
            if not heights.measure(heights.at(scroll - over), heights.at(scroll + tall + over) + 1):
                break
        self.goal = None
        scroll = heights.settle(scroll, tall, over)
        total = float(heights.total)
        return total, min(scroll, max(0.0, total - tall))

    def paint(self, pen: Pen, top: float, bottom: float) -> None:
        self.spots = []
        if not self.script.pieces:
            return
        start, end = self.heights.at(top), self.heights.at(bottom) + 1
        lit = self._lit(start, end)
        for at in range(start, min(end, len(self.script.pieces))):
            if self.heights.heights[at] > 0:
                self._paint_piece(pen, at, self.heights.tops[at], lit.get(at, ()))
        self._paint_notes(pen, start, end)

    def _lit(self, start: int, end: int) -> dict[int, list[Place]]:
        found: dict[int, list[Place]] = {}
        low = bisect_left(self.places, Place(start, 0, 0))
        for place in self.places[low:]:
            if place.piece >= end:
                break
            found.setdefault(place.piece, []).append(place)
        return found

    def _paint_piece(self, pen: Pen, at: int, y: float, lit: Sequence[Place]) -> None:
        piece = self.script.pieces[at]
        if piece.kind == HEAD:
            self._paint_head(pen, piece, y)
        elif piece.kind == CALL:
            self._paint_call(pen, piece, y, lit)
        else:
            self._paint_lines(pen, at, piece, y, lit)

    def _paint_head(self, pen: Pen, piece: Piece, y: float) -> None:
        px, shape = self._look.px, self.shape
        _, sign, color, _ = ROLES.get(piece.state, ROLES["system"])
        y += px(HEAD_ABOVE)
        if shape.times:
            pen.words(px(TIME), y + px(2), piece.aside, "mono", "hint")
            size = px(24)
            x = px(FACE)
            pen.box(x, y - px(3), x + size, y - px(3) + size, f"{color}@16", size / 2)
            pen.words(x + px(4), y + px(1), icon(sign), "text", color)
        else:
            pen.words(px(8), y, icon(sign), "text", color)
        pen.words(shape.left, y, piece.label, "strong", "text")
        number = f"{piece.turn:,}"
        pen.words(shape.left + shape.width - self.measure(number, "mono"), y + px(2), number, "mono", "hint")

    def _paint_call(self, pen: Pen, piece: Piece, y: float, lit: Sequence[Place]) -> None:
        px, shape = self._look.px, self.shape
        on = piece.fold in self.open_folds
        x, right, height = shape.left, shape.left + shape.width, px(CALL_HEIGHT)
        quiet = piece.state == NOTE
        pen.box(x, y, right, y + height, "card" if not quiet else "panel", px(5), "line")
        line = y + px(6)
        pen.words(x + px(8), line, icon("chevron-down" if on else "chevron-right"), "text", "hint")
        label_at = x + px(30)
        pen.words(label_at, line, piece.label, "strong" if not quiet else "small", "muted" if not quiet else "hint")
        words_at = label_at + self.measure(piece.label, "strong") + px(12)
        aside = self.measure(piece.aside, "small")
        aside_at = right - px(12) - aside
        pen.words(aside_at, line + px(1), piece.aside, "small", "failed" if piece.state == "failed" else "hint")
        if piece.state in ("ok", "failed"):
            sign, color = ("x", "failed") if piece.state == "failed" else ("check", "harvested")
            aside_at -= px(24)
            pen.words(aside_at, line, icon(sign), "text", color)
        shown = cut(piece.text, aside_at - words_at - px(10), partial(self.measure, role="mono"))
        run = (Run(0.0, 0, len(shown), "mono"),)
        tone = "hint" if quiet else "text"
        draw_line(self._look, pen, run, shown, words_at, line - px(1), px(CODE_PITCH), tone, self._grounds(lit))
        self.spots.append(Spot(x, y, right, y + height, partial(self._on_fold, piece.fold)))

    def _paint_lines(self, pen: Pen, at: int, piece: Piece, y: float, lit: Sequence[Place]) -> None:
        px, shape = self._look.px, self.shape
        x, right = shape.left, shape.left + shape.width
        height = self.heights.heights[at] - px(APART) * piece.apart
        y += px(APART) * piece.apart
        code = piece.kind != WORDS
        bottom = y + height - (px(AFTER) if piece.closes else 0)
        inner = x
        if code:
            inner = x + px(BOX + 4)
            self._paint_ground(pen, at, piece, x, y, right, bottom)
            if piece.opens:
                y += px(CODE_HEAD if piece.kind == CODE else CODE_EDGE)
        elif piece.state == "user":
            inner = x + px(BOX + 4)
            pen.box(x, y, right, bottom, "said", px(6) if piece.opens and piece.closes else 0)
            y += px(BOX) * piece.opens
        colours, marks = self._coloured(at, piece) if code else (), self._grounds(lit)
        pitch = px(CODE_PITCH if code else PITCH)
        tone = "text" if piece.kind == WORDS and piece.state in ("user", "assistant") else "muted"
        for line in self.laid(at).lines:
            if not line:
                y += px(BLANK)
                continue
            if code and piece.language == "diff":
                sign = piece.text[line[0].begin : line[0].begin + 1]
                if sign in ("+", "-") and piece.text[line[0].begin : line[0].begin + 3] not in ("+++", "---"):
                    pen.box(x + 1, y, right - 1, y + pitch, "harvested@10" if sign == "+" else "failed@10")
            draw_line(self._look, pen, line, piece.text, inner, y, pitch, tone, marks, colours)
            y += pitch

    def _paint_ground(self, pen: Pen, at: int, piece: Piece, x: float, y: float, right: float, bottom: float) -> None:
        px = self._look.px
        whole = piece.opens and piece.closes
        pen.box(x, y, right, bottom, "window", px(6) if whole else 0, "line" if whole else "")
        if piece.kind != CODE or not piece.opens:
            return
        label = cut(piece.label or "code", self.shape.width - px(110), partial(self.measure, role="small"))
        pen.words(x + px(12), y + px(7), icon("file-code"), "small", "hint")
        pen.words(x + px(32), y + px(7), label, "small", "muted")
        copy_at = right - px(58)
        pen.words(copy_at, y + px(7), f"{icon('copy')} copy", "small", "hint")
        self.spots.append(Spot(copy_at - px(6), y, right, y + px(CODE_HEAD), partial(self._on_copy, at)))

    def _grounds(self, lit: Sequence[Place]) -> list[Ground]:
        """What was found, the place that the search stands at with a line around it."""
        now = self.places[self.place] if 0 <= self.place < len(self.places) else None
        return [(one.begin, one.end, "hit@38", "hit" if one == now else "") for one in lit]

    def _coloured(self, at: int, piece: Piece) -> tuple[Style, ...]:
        """The colours of some code; asked for once, and painted when they are there."""
        known = self.colours.get(at)
        if known is None and piece.language and at not in self._asked:
            self._asked.add(at)
            self._on_code(at, piece)
        return known or ()

    # --- the margin ---

    def _paint_notes(self, pen: Pen, start: int, end: int) -> None:
        """Each item at the height of its quote, pushed down by the one above it."""
        px, marks = self._look.px, self.script.marks
        low = bisect_left([mark.piece for mark in marks], start)
        low = max(0, low - 12)  # those above may push down what is in sight
        edge = -1.0
        for number in range(low, len(marks)):
            mark = marks[number]
            if mark.piece >= end:
                break
            top = self.heights.tops[mark.piece] + self.line_top(mark.piece, mark.begin)
            color, strong = CATEGORIES[mark.category].color, number == self.mark
            x, long = self.shape.notes_at, self._mark_height(mark)
            pen.box(x - px(10), top, x - px(7), top + max(px(14), long), color if strong else f"{color}@70")
            place = max(top, edge)
            if not self.shape.notes:
                pen.words(x, place, icon(CATEGORIES[mark.category].icon), "text", color)
                self.spots.append(Spot(x - px(4), place, x + px(24), place + px(22), partial(self._on_item, number)))
                edge = place + px(24)
                continue
            edge = self._paint_note(pen, number, mark, x + px(4), place, strong) + px(14)

    def _paint_note(self, pen: Pen, number: int, mark: Mark, x: float, y: float, strong: bool) -> float:
        px, looks, item = self._look.px, CATEGORIES[mark.category], mark.item
        width = self.shape.notes - px(10)
        where = f"{item.file.rpartition('/')[2]}:{item.line}" if item.line else "not there any more"
        lines = self._note_lines(number, mark, width - px(34))
        bottom = y + px(22) + px(SMALL_PITCH) * len(lines)
        if strong:
            pen.box(x - px(2), y - px(5), x + width, bottom + px(4), f"{looks.color}@10", px(6))
        pen.words(x + px(2), y, icon(looks.icon), "text", looks.color)
        pen.words(x + px(24), y, looks.noun.capitalize(), "strong", looks.color)
        room = width - px(40) - self.measure(looks.noun.capitalize(), "strong")
        where = cut(where, room, partial(self.measure, role="small"))
        pen.words(x + width - px(6) - self.measure(where, "small"), y + px(2), where, "small", "hint")
        for at, words in enumerate(lines):
            pen.words(x + px(24), y + px(22) + px(SMALL_PITCH) * at, words, "small", "text" if item.line else "hint")
        self.spots.append(Spot(x, y - px(4), x + width, bottom, partial(self._on_item, number)))
        return bottom

    def _note_lines(self, number: int, mark: Mark, room: float) -> list[str]:
        known = self._notes.get(number)
        if known is None:
            shown = one_line_of(mark.item.text).replace("`", "").replace("**", "")[:600]
            known = wrapped(shown, room, partial(self.measure, role="small")).split("\n")
            if len(known) > NOTE_LINES:
                known = [*known[: NOTE_LINES - 1], f"{known[NOTE_LINES - 1].rstrip()} …"]
            self._notes[number] = known
        return known

    def line_top(self, at: int, begin: int) -> float:
        """How far below the top of its piece a letter stands."""
        piece, px = self.script.pieces[at], self._look.px
        if piece.kind == HEAD:
            return float(px(HEAD_ABOVE))
        if piece.kind == CALL or self.hidden(at):
            return 0.0
        y = float(self._above(piece))
        for line in self.laid(at).lines:
            if line and line[-1].end > begin:
                break
            y += px(BLANK) if not line and piece.kind == WORDS else px(PITCH if piece.kind == WORDS else CODE_PITCH)
        return y

    def _mark_height(self, mark: Mark) -> float:
        if mark.end <= mark.begin or self.hidden(mark.piece):
            return 0.0
        last = self.line_top(mark.piece, mark.end - 1)
        return last - self.line_top(mark.piece, mark.begin) + self._look.px(20)


BIN, EDGE, MARK = 3, 8, 9
MAX_PLACES_LIT = 300


def look_of(piece: Piece) -> tuple[str, float]:
    """Colour and length (of the whole width) of a piece in small."""
    if piece.kind == CALL:
        return ("failed", 0.45) if piece.state == "failed" else ("hint@30", 0.3 if piece.state == NOTE else 0.45)
    if piece.kind in (CODE, OUTPUT):
        return "ramp:2@28", 0.7
    if piece.state == "user":
        return "accent@55", 1.0
    return ("hint@45", 0.9) if piece.kind != HEAD else ("hint@20", 0.3)


class ReaderMap:
    """Draws the strip; asked for another picture by `renew`. `on_share(share)` hears where a click or a drag points, as
    a share (0.0 to 1.0) of the whole."""

    def __init__(self, look: Look, sheet: Sheet, canvas: Canvas, on_share: Callable[[float], object]) -> None:
        self._look, self._sheet, self._canvas, self._on_share = look, sheet, canvas, on_share
        self.width = self.tall = 0
        self._dirty, self._held = True, False

    def build(self, parent: int) -> None:
        """Make the drawing; once."""
        look = self._look
        self.item = int(dpg.add_drawlist(10, 10, parent=parent))
        self._pen = Pen(look, self.item)
        look.follow(parent, self._fit)
        look.every_tick(self.tick)

    def renew(self) -> None:
        """Something has changed."""
        self._dirty = True

    def _fit(self, width: float, height: float) -> None:
        self.width, self.tall = int(width), int(height)
        dpg.configure_item(self.item, width=max(1, self.width), height=max(1, self.tall))
        self.renew()

    def tick(self) -> bool:
        """Before each frame: follow a mouse that is held down here, and draw what has changed."""
        pieces = bool(self._sheet.script.pieces)
        if self.width <= 0 or not (pieces or self._dirty):
            self._held = False
            return False
        down = pieces and bool(dpg.is_mouse_button_down(dpg.mvMouseButton_Left))
        if down and not self._held and dpg.is_item_hovered(self.item):
            self._held = True
        self._held = self._held and down
        if self._held:
            top = dpg.get_item_rect_min(self.item)[1]
            share = (dpg.get_mouse_pos(local=False)[1] - top) / max(1.0, self._drawn())
            self._on_share(min(1.0, max(0.0, share)))
        if not self._dirty:
            return self._held
        self._dirty = False
        self._draw()
        return True

    def _drawn(self) -> float:
        """How much of the strip stands for the conversation: a short one does not fill it."""
        return float(min(self.tall, max(1, self._sheet.heights.total)))

    def _draw(self) -> None:
        sheet, px, pen = self._sheet, self._look.px, self._pen
        pen.begin(0.0)
        heights, pieces = sheet.heights, sheet.script.pieces
        total = heights.total
        if pieces and total > 0:
            drawn, step = self._drawn(), max(2, px(BIN))
            scale = drawn / total
            left, right = px(EDGE + 12), self.width - px(EDGE + 8)
            for y in range(0, int(drawn), step):
                color, long = look_of(pieces[heights.at((y + step / 2) / scale)])
                pen.box(left, y, left + max(2.0, (right - left) * long), y + step - 1, color)
            top, tall = self._canvas.scroll * scale, self._canvas.tall * scale
            pen.box(1, top, self.width - 2, min(top + max(tall, px(8)), self.tall - 1), "accent@14", px(4), "accent@60")
            for mark in sheet.script.marks:
                at = heights.tops[mark.piece] * scale
                color = CATEGORIES[mark.category].color
                pen.box(px(4), at, px(4 + MARK), at + px(3), color, px(1))
            every = max(1, len(sheet.places) // MAX_PLACES_LIT)
            for place in sheet.places[::every]:
                at = heights.tops[place.piece] * scale
                pen.box(self.width - px(4 + MARK), at, self.width - px(4), at + px(2), "edited")
        pen.end()
