"""The reader: one conversation over the whole width, with what was harvested from it in the margin.

Only what is in sight is laid out and drawn (`gui/toolkit/canvas.py`); heights of the rest are guessed until they are
seen. What is shown as data is made in `reader_rows.py`, on a worker.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import dearpygui.dearpygui as dpg

from core.base.figures import count
from core.base.result import Err, Result
from core.commands.panel.bullets import local_day
from core.commands.workspace import Workspace
from core.conversations.readable import ReadableConversation
from gui.shell import READ, Reading, Shell
from gui.toolkit.canvas import Canvas, Pen
from gui.toolkit.flow import Heights
from gui.toolkit.icons import icon
from gui.toolkit.layout import box, gap, lowered, spread
from gui.toolkit.letters import END, LETTERS, cut
from gui.toolkit.theme import Look
from gui.toolkit.widgets import Button, ButtonRow, text, text_field
from gui.views.looks import CATEGORIES, short_folder
from gui.views.reader_map import ReaderMap
from gui.views.reader_rows import (
    CALL,
    CODE,
    HEAD,
    NOTE,
    OUTPUT,
    ROLE_OF,
    WORDS,
    Line,
    Mark,
    Piece,
    Place,
    Run,
    Script,
    Style,
    clock,
    colours_of,
    legend,
    lines_of_code,
    lines_of_words,
    places_of,
)  # fmt: skip

LEFT, TIME, FACE, TEXT = 14, 14, 58, 92  # unscaled pixels: where time, face and words begin
NARROW_TEXT = 30
PITCH, CODE_PITCH, SMALL_PITCH, BLANK = 22, 19, 18, 10
HEAD_ABOVE, HEAD_HEIGHT, CALL_HEIGHT, CALL_GAP = 16, 24, 28, 4
CODE_HEAD, CODE_EDGE, BOX, AFTER = 28, 8, 9, 8
WIDEST, NOTES, NOTES_LEAST, NOTES_GAP, ICONS = 760, 300, 210, 24, 34
ROOM_FOR_NOTES, ROOM_FOR_TIME = 700, 560
ROLES = {
    "user": ("user", "accent"), "assistant": ("sparkles", "ramp:2"), "agent": ("users", "ramp:5"),
    "system": ("settings", "hint"), "tool": ("terminal", "hint"),
}  # fmt: skip
LAID = 600
"""So many pieces stay laid out."""
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
        return Geometry(left, column, left + column + px(12), 0, times)
    notes = max(px(NOTES_LEAST), min(px(NOTES), int(room * 0.32)))
    column = min(px(WIDEST), room - notes - px(NOTES_GAP))
    return Geometry(left, column, left + column + px(NOTES_GAP), notes, times)


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


class Reader:
    """The page over the middle of the panel. `on_close()` is called when it is left."""

    name = "reader"
    keys = (
        ("Esc", "Back"),
        ("Ctrl+F, /", "Find in the conversation"),
        ("Enter, Shift+Enter", "The next place that was found, the one before"),
        ("N, Shift+N", "The next harvested item, the one before"),
        ("Left, Right", "What you said before, what you said next"),
        ("F", "Unfold or fold all calls"),
        ("O", "Open the original file"),
        ("R", "Copy the command that goes on with it in its tool"),
        ("Ctrl+C", "Copy the turn that is at the top"),
        ("Up, Down, Page up, Page down, Home, End", "Move"),
    )

    def __init__(self, look: Look, shell: Shell, on_close: Callable[[], object]) -> None:
        self._look, self._shell, self._on_close = look, shell, on_close
        self.is_open = False
        self.talk: ReadableConversation | None = None
        self.script = Script()
        self.open_folds: set[int] = set()
        self.places: tuple[Place, ...] = ()
        self.place = -1
        self.mark = -1
        self._ticket = 0
        self._wanted = Reading()
        self._laid: dict[int, Laid] = {}
        self._colours: dict[int, tuple[Style, ...]] = {}
        self._asked: set[int] = set()
        self._guesses: list[int] = []
        self._spots: list[Spot] = []
        self._words: dict[tuple[str, str], float] = {}
        self._turns: list[int] = []  # the piece at which each thing that the person said begins
        self._goal: tuple[int, float] | None = None  # a piece to bring into sight, and where in it
        self.heights = Heights(self._exactly, lambda at: (at, self.hidden(at)))
        self.shape = Geometry(0, 1, 0, 0, True)
        self.canvas = Canvas(
            look, settle=self._settle, paint=self._paint, on_click=self._clicked, on_size=self._sized,
            on_moved=self._moved,
        )  # fmt: skip
        self.map = ReaderMap(look, self)

    # --- items ---

    def build(self, parent: int) -> int:
        """Make everything once; hidden."""
        look = self._look
        self.item = box(look, parent, "reader")
        dpg.configure_item(self.item, show=False)
        left, right = spread(look, self.item)
        Button(look, left, "", self.close, icon="arrow-left", kind="ghost", tip="Back", shortcut="Esc")
        self._title = text(look, lowered(look, left, 4), "", "heading", fit=END)
        self.resume = Button(look, right, "Resume", self.copy_resume, icon="play", kind="secondary", shortcut="R",
                             tip="Copy the command that goes on with it in its own tool")  # fmt: skip
        self._original = Button(look, right, "", self.open_original, icon="external-link", kind="ghost",
                                tip="Open the original file", shortcut="O")  # fmt: skip
        self._about = text(look, self.item, "", "small", "muted", fit=END)
        left, right = spread(look, self.item)
        self.field = text_field(look, left, placeholder=f"{icon('search')}  Find in it   /", width=230,
                                on_change=self._typed, anew=True)  # fmt: skip
        self._found = text(look, lowered(look, left, 7), "", "small", "hint")
        before = Button(look, left, "", lambda: self.go_place(-1), icon="chevron-up", kind="ghost",
                        tip="The place before", shortcut="Shift+Enter")  # fmt: skip
        after = Button(look, left, "", lambda: self.go_place(1), icon="chevron-down", kind="ghost",
                       tip="The next place", shortcut="Enter")  # fmt: skip
        self._walk = (before, after)
        gap(look, left, 6)
        legends = lowered(look, left, 7)
        self._legend = {name: (text(look, legends, "", "small", looks.color), text(look, legends, "", "small", "muted"))
                        for name, looks in CATEGORIES.items()}  # fmt: skip
        self._none = text(look, legends, "", "small", "hint")
        self._next = Button(look, right, "Next item", lambda: self.go_mark(1), icon="arrow-down", kind="ghost",
                            tip="The next harvested item", shortcut="N")  # fmt: skip
        self._unfold = Button(look, right, "Unfold calls", self.fold_all, icon="chevrons-up-down", kind="ghost",
                              tip="Unfold or fold all calls", shortcut="F")  # fmt: skip
        ButtonRow(look, self.item, [self._next, self._unfold], taken=620)
        ButtonRow(look, self.item, [self.resume], taken=420)
        row = look.theme(int(dpg.add_group(horizontal=True, parent=self.item)), "no-gap")
        self._side = box(look, row, "clear")
        self.canvas.build(self._side)
        self._says = text(look, self._side, "", "text", "hint", wrap=True)
        self._strip = box(look, row, "clear")
        self.map.build(self._strip)
        look.follow(self.item, self._fit)
        return self.item

    def _fit(self, width: float, height: float) -> None:
        look = self._look
        strip = look.px(96 if width > look.px(1000) else 64 if width > look.px(620) else 34)
        top = dpg.get_item_pos(self._side)[1]
        tall = max(50, int(height + (0 if top <= 0 else 0)))
        dpg.configure_item(self._side, width=max(1, int(width) - strip), height=tall)
        dpg.configure_item(self._strip, width=strip, height=tall)

    # --- opening and closing ---

    def open(self, wanted: Reading) -> None:
        """Show a conversation; it is read on a worker, and the page stands at once."""
        self._ticket += 1
        ticket, workspace = self._ticket, self._shell.workspace
        self._wanted, self.is_open = wanted, True
        self._show_script(None, Script())
        dpg.set_value(self.field, "")
        dpg.set_value(self._title, "Reading…")
        dpg.configure_item(self.item, show=True)

        def done(result: Result[Any]) -> None:
            if ticket != self._ticket or not self.is_open:
                return
            if isinstance(result, Err):
                dpg.set_value(self._title, "This conversation cannot be shown")
                dpg.set_value(self._says, str(result.error))
                return
            talk, script = result.value
            self._show_script(talk, script)
            self._begin(wanted)

        self._shell.submit("The conversation", lambda _job: read_script(workspace, wanted), done, lane=READ)

    def close(self) -> None:
        """Back to where it was opened."""
        if self.is_open:
            self.is_open = False
            self._ticket += 1
            dpg.configure_item(self.item, show=False)
            self._show_script(None, Script())
            self._on_close()

    def _begin(self, wanted: Reading) -> None:
        if wanted.turn:
            marks = [
                at for at, mark in enumerate(self.script.marks) if self.script.pieces[mark.piece].turn == wanted.turn
            ]
            self.mark = marks[0] if marks else -1
            self.go_turn(wanted.turn)
        if wanted.words:
            dpg.set_value(self.field, wanted.words)
            self._typed(wanted.words)

    def _show_script(self, talk: ReadableConversation | None, script: Script) -> None:
        self.talk, self.script = talk, script
        self.open_folds, self.places, self.place, self.mark = set(), (), -1, -1
        self._colours.clear()
        self._asked.clear()
        self._goal = None
        pieces = script.pieces
        self._turns = [at for at, piece in enumerate(pieces) if piece.kind == HEAD and piece.state == "user"]
        self._again()
        self.canvas.go(0.0)
        dpg.set_value(self._says, "")
        if talk is not None:
            self._tell(talk)
        self._name_places()

    def _tell(self, talk: ReadableConversation) -> None:
        dpg.set_value(self._title, one(talk.title) or one(talk.name))
        day = local_day(talk.started or talk.day)
        begun, ended = clock(talk.started), clock(talk.ended)
        last = local_day(talk.ended or talk.day)
        span = (
            f"{day}, {begun} – {ended}"
            if begun and ended and last == day
            else f"{day} – {last}"
            if last != day
            else day
        )
        calls = f"{count(self.script.calls, 'call')}, {self.script.failed:,} failed" if self.script.calls else ""
        parts = (talk.tool, short_folder(talk.folder), talk.branch, span, count(talk.count, "turn"), calls,
                 "in the trash" if talk.in_trash else "", f"{count(talk.secrets, 'secret')} hidden" if talk.secrets else "")  # fmt: skip
        dpg.set_value(self._about, "    ·    ".join(one(part) for part in parts if part))
        self.resume.show(bool(talk.resume))
        self.resume.set_label(f"Resume in {one(talk.tool)}")
        found = dict(legend(self.script))
        for name, (sign, words) in self._legend.items():
            dpg.configure_item(sign, show=name in found)
            dpg.configure_item(words, show=name in found)
            dpg.set_value(sign, icon(CATEGORIES[name].icon))
            dpg.set_value(words, f"{found.get(name, 0)}  ")
        other = len(self.script.elsewhere)
        said = "Nothing was harvested here" if not found else ""
        dpg.set_value(
            self._none, f"{count(other, 'item')} harvested, nobody knows where" if other and not found else said
        )
        self._next.enable(bool(found))
        self._unfold.enable(bool(self.script.calls))

    # --- heights and lines ---

    def _again(self) -> None:
        """Every height is another one: the width, the scale, or the conversation has changed."""
        self._laid.clear()
        self._words.clear()
        self.heights.forget()
        self._guesses = [self._guess(piece) for piece in self.script.pieces]
        self._arrange()

    def _arrange(self) -> None:
        """Begin with guesses and what is known; what is folded has no height."""
        pieces, folds = self.script.pieces, self.open_folds
        self.heights.begin([0 if piece.kind == OUTPUT and piece.fold not in folds else guess
                            for piece, guess in zip(pieces, self._guesses, strict=True)])  # fmt: skip
        for at, piece in enumerate(pieces):
            if piece.kind == OUTPUT and piece.fold not in folds:
                self.heights.heights[at] = 0
        self.heights.sum_up()
        self.canvas.touch()
        self.map.touch()

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
        if piece.kind == WORDS:
            inner = px(BOX) if piece.state == "user" else 0
            return inner * piece.opens + (inner + px(AFTER)) * piece.closes
        above = (px(CODE_HEAD) if piece.kind == CODE else px(CODE_EDGE)) * piece.opens
        return above + (px(CODE_EDGE) + px(AFTER)) * piece.closes

    def _exactly(self, at: int) -> int | None:
        if self.hidden(at):
            return 0
        laid = self.laid(at)
        return laid.height if laid is not None else None

    def laid(self, at: int) -> Laid | None:
        """The lines of a piece; None while its font is not there to measure with."""
        known = self._laid.get(at)
        if known is not None:
            return known
        piece, px = self.script.pieces[at], self._look.px
        if LETTERS.wide(self._look.font_id("text")) is None:
            return None
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
            for old in list(self._laid)[: LAID // 4]:
                del self._laid[old]
        self._laid[at] = made
        return made

    def measure(self, words: str, role: str) -> float:
        """How wide words are, in pixels of the screen; every word is measured once."""
        known = self._words.get((role, words))
        if known is None:
            wide = LETTERS.wide(self._look.font_id(role))
            known = wide(words) if wide is not None else 0.0
            if len(words) < 40:
                if len(self._words) > 60_000:
                    self._words.clear()
                self._words[role, words] = known
        return known

    def _sized(self, width: float) -> None:
        at, inside = self._top()
        self.shape = geometry(width - self._look.px(4), self._look.px)
        self._again()
        if self.script.pieces and (at or inside):
            self.canvas.go(self.heights.tops[at] + inside)

    def _top(self) -> tuple[int, float]:
        """The first piece in sight, and how much of it is above the edge."""
        if not self.script.pieces or self.canvas.item == 0:
            return 0, 0.0
        scroll = self.canvas.scroll
        at = self.heights.at(scroll)
        return at, scroll - self.heights.tops[at]

    def _settle(self, scroll: float, tall: float) -> tuple[float, float]:
        """Exact heights for what will be painted; the first piece in sight, or what was jumped to, stays where it is."""
        heights = self.heights
        if not heights.heights:
            return 0.0, 0.0
        over = self._look.px(600)
        for _ in range(6):
            if self._goal is not None:
                at, inside = self._goal
                heights.measure(at - 1, at + 1)
                scroll = max(0.0, heights.tops[at] + inside - tall * TOP_SHARE)
            first = heights.at(scroll)
            offset = scroll - heights.tops[first]
            start, end = heights.at(max(0.0, scroll - over)), heights.at(scroll + tall + over) + 1
            changed = heights.measure(start, end)
            if self._goal is None:
                scroll = heights.tops[first] + offset
            if not changed:
                break
        self._goal = None
        total = float(heights.total + self._look.px(80))
        return total, min(scroll, max(0.0, total - tall))

    # --- painting ---

    def _paint(self, pen: Pen, top: float, bottom: float) -> None:
        self._spots = []
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
        piece, laid = self.script.pieces[at], self.laid(at)
        if laid is None:
            return
        if piece.kind == HEAD:
            self._paint_head(pen, piece, y)
        elif piece.kind == CALL:
            self._paint_call(pen, at, piece, y, lit)
        else:
            self._paint_lines(pen, at, piece, laid, y, lit)

    def _paint_head(self, pen: Pen, piece: Piece, y: float) -> None:
        px, shape = self._look.px, self.shape
        sign, color = ROLES.get(piece.state, ROLES["system"])
        y += px(HEAD_ABOVE)
        if shape.times:
            pen.words(px(TIME), y + px(2), piece.aside, "mono", "hint")
            size = px(24)
            x = px(FACE)
            pen.box(x, y - px(3), x + size, y - px(3) + size, f"{color}@16", size / 2)
            pen.words(x + px(4), y + px(1), icon(sign), "text", color)
            pen.words(shape.left, y, piece.label, "strong", "text")
        else:
            pen.words(px(8), y, icon(sign), "text", color)
            pen.words(shape.left, y, piece.label, "strong", "text")
        number = f"{piece.turn:,}"
        pen.words(shape.left + shape.width - self.measure(number, "mono"), y + px(2), number, "mono", "hint")

    def _paint_call(self, pen: Pen, at: int, piece: Piece, y: float, lit: Sequence[Place]) -> None:
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
        for place in lit:
            if place.begin < len(shown):
                left = words_at + self.measure(piece.text[: place.begin], "mono")
                wide = self.measure(piece.text[place.begin : min(place.end, len(shown))], "mono")
                pen.box(left, line - px(2), left + wide, line + px(17), self._light(at, place), px(3))
        pen.words(words_at, line + px(1), shown, "mono", "text" if not quiet else "hint")
        self._spots.append(Spot(x, y, right, y + height, partial(self.toggle, piece.fold)))

    def _paint_lines(self, pen: Pen, at: int, piece: Piece, laid: Laid, y: float, lit: Sequence[Place]) -> None:
        px, shape = self._look.px, self.shape
        x, right, height = shape.left, shape.left + shape.width, self.heights.heights[at]
        code = piece.kind != WORDS
        bottom = y + height - (px(AFTER) if piece.closes else 0)
        inner = x
        if code:
            inner = x + px(BOX + 4)
            self._paint_ground(pen, piece, x, y, right, bottom)
            if piece.opens:
                y += px(CODE_HEAD if piece.kind == CODE else CODE_EDGE)
        elif piece.state == "user":
            inner = x + px(BOX + 4)
            pen.box(x, y, right, bottom, "card", px(6) if piece.opens and piece.closes else 0)
            y += px(BOX) * piece.opens
        colours = self._coloured(at, piece) if code else ()
        pitch = px(CODE_PITCH if code else PITCH)
        tone = "text" if piece.kind == WORDS and piece.state in ("user", "assistant") else "muted"
        for line in laid.lines:
            if not line:
                y += px(BLANK)
                continue
            if code and piece.language == "diff":
                sign = piece.text[line[0].begin : line[0].begin + 1]
                if sign in "+-" and sign:
                    pen.box(x + 1, y, right - 1, y + pitch, "harvested@10" if sign == "+" else "failed@10")
            for run in line:
                self._paint_run(pen, at, piece, run, inner, y, tone, lit, colours)
            y += pitch

    def _paint_ground(self, pen: Pen, piece: Piece, x: float, y: float, right: float, bottom: float) -> None:
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
        self._spots.append(Spot(copy_at - px(6), y, right, y + px(CODE_HEAD), partial(self.copy_code, piece)))

    def _paint_run(
        self, pen: Pen, at: int, piece: Piece, run: Run, left: float, y: float, tone: str, lit: Sequence[Place],
        colours: Sequence[Style],
    ) -> None:  # fmt: skip
        px, role = self._look.px, ROLE_OF[run.style]
        x, words = left + run.x, piece.text[run.begin : run.end]
        down = px(1) if role == "mono" else 0
        pitch = px(CODE_PITCH if piece.kind != WORDS else PITCH)
        if run.style == "code" and words.strip():
            pen.box(x - 2, y - px(1), x + self.measure(words, role) + 2, y + px(18), "field", px(3))
        for place in lit:
            begin, end = max(place.begin, run.begin), min(place.end, run.end)
            if begin < end:
                from_ = x + self.measure(piece.text[run.begin : begin], role)
                wide = self.measure(piece.text[begin:end], role)
                pen.box(from_ - 1, y - px(1), from_ + wide + 1, y + pitch - px(2), self._light(at, place), px(3))
        if not colours:
            if words.strip():
                pen.words(x, y + down, words, role, tone)
            return
        here = bisect_left(colours, (run.begin, -1, "")) - 1
        shown = run.begin
        for begin, end, color in colours[max(0, here) :]:
            if begin >= run.end:
                break
            begin, end = max(begin, run.begin), min(end, run.end)
            if begin >= end:
                continue
            for a, b, tint in ((shown, begin, tone), (begin, end, color)):
                if piece.text[a:b].strip():
                    pen.words(x + self.measure(piece.text[run.begin : a], role), y + down, piece.text[a:b], role, tint)
            shown = end
        if piece.text[shown : run.end].strip():
            from_ = x + self.measure(piece.text[run.begin : shown], role)
            pen.words(from_, y + down, piece.text[shown : run.end], role, tone)

    def _light(self, at: int, place: Place) -> str:
        current = 0 <= self.place < len(self.places) and self.places[self.place] == place
        return "edited@75" if current and place.piece == at else "edited@28"

    def _coloured(self, at: int, piece: Piece) -> tuple[Style, ...]:
        """The colours of some code; asked of a worker once, and painted when they come."""
        known = self._colours.get(at)
        if known is not None or not piece.language or at in self._asked:
            return known or ()
        self._asked.add(at)
        ticket = self._ticket

        def done(result: Result[Any]) -> None:
            if ticket == self._ticket and not isinstance(result, Err):
                self._colours[at] = result.value if hasattr(result, "value") else result
                self.canvas.touch()

        self._shell.submit("Colours of code", lambda _job: colours_of(piece.text, piece.language), done, lane=READ)
        return ()

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
            top = self.mark_top(mark)
            color = CATEGORIES[mark.category].color
            strong = number == self.mark
            x = self.shape.notes_at
            long = self._mark_height(mark)
            pen.box(x - px(10), top, x - px(7), top + max(px(14), long), color if strong else f"{color}@70")
            if not self.shape.notes:
                place = max(top, edge)
                pen.words(x, place, icon(CATEGORIES[mark.category].icon), "text", color)
                self._spots.append(Spot(x - px(4), place, x + px(24), place + px(22), partial(self.show_item, number)))
                edge = place + px(24)
                continue
            place = max(top, edge)
            edge = self._paint_note(pen, number, mark, x + px(4), place, strong) + px(14)

    def _paint_note(self, pen: Pen, number: int, mark: Mark, x: float, y: float, strong: bool) -> float:
        px, looks, item = self._look.px, CATEGORIES[mark.category], mark.item
        width = self.shape.notes - px(10)
        where = f"{item.file.rpartition('/')[2]}:{item.line}" if item.line else "not there any more"
        lines = self._note_lines(number, mark, width - px(24))
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
        self._spots.append(Spot(x, y - px(4), x + width, bottom, partial(self.show_item, number)))
        return bottom

    def _note_lines(self, number: int, mark: Mark, room: float) -> list[str]:
        from gui.toolkit.letters import wrapped

        key = -1 - number
        known = self._laid.get(key)
        if known is not None:
            return [str(line) for line in known.lines]
        words = wrapped(one(mark.item.text)[:600], room, partial(self.measure, role="small")).split("\n")
        if len(words) > 7:
            words = [*words[:6], words[6].rstrip() + " …"]
        self._laid[key] = Laid(tuple(words), 0)  # type: ignore[arg-type]
        return words

    def mark_top(self, mark: Mark) -> float:
        """The height at which the words stand that an item came from."""
        y = float(self.heights.tops[mark.piece])
        return y + self._line_top(mark.piece, mark.begin)

    def _line_top(self, at: int, begin: int) -> float:
        """How far below the top of its piece a letter stands."""
        piece, px = self.script.pieces[at], self._look.px
        if piece.kind == HEAD:
            return float(px(HEAD_ABOVE))
        if piece.kind == CALL or self.hidden(at):
            return 0.0
        laid = self._laid.get(at) or self.laid(at)
        if laid is None:
            return 0.0
        y = 0.0
        if piece.kind == WORDS:
            y += px(BOX) * piece.opens * (piece.state == "user")
        elif piece.opens:
            y += px(CODE_HEAD if piece.kind == CODE else CODE_EDGE)
        for line in laid.lines:
            if line and line[-1].end > begin:
                break
            y += px(BLANK) if not line and piece.kind == WORDS else px(PITCH if piece.kind == WORDS else CODE_PITCH)
        return y

    def _mark_height(self, mark: Mark) -> float:
        if mark.end <= mark.begin or self.hidden(mark.piece):
            return 0.0
        last = self._line_top(mark.piece, mark.end - 1)
        return last - self._line_top(mark.piece, mark.begin) + self._look.px(20)

    # --- moving ---

    def _moved(self) -> None:
        self.map.touch()

    def go_piece(self, at: int, begin: int = 0) -> None:
        """Bring a letter of a piece into sight; what is folded around it is unfolded."""
        piece = self.script.pieces[at]
        if self.hidden(at):
            self.open_folds.add(piece.fold)
            self._arrange()
        self.heights.measure(at, at + 1)
        self._goal = (at, self._line_top(at, begin))
        self.canvas.go(max(0.0, self.heights.tops[at] - self.canvas.tall * TOP_SHARE))

    def go_turn(self, number: int) -> None:
        """Bring a turn into sight; of one that is not shown by itself, the next."""
        first = self.script.first
        able = first.get(number)
        if able is None and first:
            able = first[min(first, key=lambda one: (abs(one - number), one))]
        if able is not None:
            mark = self.script.marks[self.mark] if 0 <= self.mark < len(self.script.marks) else None
            if mark is not None and self.script.pieces[mark.piece].turn == number:
                self.go_piece(mark.piece, mark.begin)
            else:
                self.go_piece(able)

    def go_mark(self, by: int) -> None:
        """The next harvested item, or the one before."""
        marks = self.script.marks
        if not marks:
            self._shell.toast("Nothing was harvested here", icon="info", color="accent", seconds=2.5)
            return
        if self.mark < 0:
            here = self._top()[0]
            after = [at for at, mark in enumerate(marks) if mark.piece >= here]
            self.mark = (
                (after[0] if after else 0) if by > 0 else (after[0] - 1 if after else len(marks) - 1) % len(marks)
            )
        else:
            self.mark = (self.mark + by) % len(marks)
        self.go_piece(marks[self.mark].piece, marks[self.mark].begin)

    def go_said(self, by: int) -> None:
        """What the person said next, or before."""
        if not self._turns:
            return
        here = self.heights.at(self.canvas.scroll + self.canvas.tall * TOP_SHARE + 2)
        at = bisect_left(self._turns, here + (by > 0)) - (by < 0)
        self.go_piece(self._turns[max(0, min(len(self._turns) - 1, at))])

    def go_place(self, by: int) -> None:
        """The next place that was found, or the one before."""
        if self.places:
            self.place = (self.place + by) % len(self.places)
            self.go_piece(self.places[self.place].piece, self.places[self.place].begin)
            self._name_places()

    def go_share(self, share: float) -> None:
        """Bring a share (0.0 to 1.0) of the whole into the middle."""
        self._goal = None
        self.canvas.go(max(0.0, share * self.heights.total - self.canvas.tall / 2))

    def scroll_by(self, pixels: float) -> None:
        """Move by so many pixels of the screen."""
        self._goal = None
        last = max(0.0, self.heights.total + self._look.px(80) - self.canvas.tall)
        self.canvas.go(min(last, max(0.0, self.canvas.scroll + pixels)))

    # --- finding ---

    def _typed(self, words: str) -> None:
        """Other words stand in the field: look for them on a worker."""
        script, ticket = self.script, self._ticket

        def done(result: Result[Any]) -> None:
            if ticket != self._ticket or str(dpg.get_value(self.field)) != words or isinstance(result, Err):
                return
            self.places = result.value if hasattr(result, "value") else result
            here = self._top()[0]
            self.place = next((at for at, one in enumerate(self.places) if one.piece >= here), 0) - 1
            self.canvas.touch()
            self.map.touch()
            if self.places:
                self.go_place(1)
            self._name_places()

        self._shell.submit("Finding words", lambda _job: places_of(script, words), done, lane=READ)

    def _name_places(self) -> None:
        words = str(dpg.get_value(self.field)).strip() if self.talk is not None else ""
        found = f"{self.place + 1:,} of {len(self.places):,}" if self.places else "not found" if words else ""
        dpg.set_value(self._found, found)
        for button in self._walk:
            button.enable(len(self.places) > 1)

    # --- acts ---

    def _clicked(self, x: float, y: float) -> None:
        spot = next((one for one in reversed(self._spots) if one.x0 <= x <= one.x1 and one.y0 <= y <= one.y1), None)
        if spot is not None:
            spot.act()

    def toggle(self, fold: int) -> None:
        """Unfold a call, or fold it again; what is at the top stays there."""
        at, inside = self._top()
        self.open_folds ^= {fold}
        self._arrange()
        self.canvas.go(self.heights.tops[at] + inside)

    def fold_all(self) -> None:
        """Unfold all calls, or fold all of them."""
        at, inside = self._top()
        folds = {piece.fold for piece in self.script.pieces if piece.kind == CALL}
        self.open_folds = set() if self.open_folds else folds
        self._unfold.set_label("Fold calls" if self.open_folds else "Unfold calls")
        self._arrange()
        while at > 0 and self.hidden(at):
            at, inside = at - 1, 0.0
        self.canvas.go(self.heights.tops[at] + inside)

    def copy_code(self, piece: Piece) -> None:
        """Copy a whole block of code."""
        pieces = self.script.pieces
        at = pieces.index(piece)
        end = at
        while not pieces[end].closes:
            end += 1
        self._shell.copy("\n".join(one.text for one in pieces[at : end + 1]), "Copied the code")

    def copy_turn(self) -> None:
        """Copy what is said in the turn at the top."""
        if self.talk is None or not self.script.pieces:
            return
        number = self.script.pieces[self.heights.at(self.canvas.scroll + self._look.px(40))].turn
        turn = next((one for one in self.talk.turns if one.number == number), None)
        if turn is not None:
            self._shell.copy(turn.text, f"Copied turn {number:,}")

    def copy_resume(self) -> None:
        """Copy the command that goes on with it."""
        if self.talk is None:
            return
        if self.talk.resume:
            self._shell.copy(self.talk.resume, f"Copied for a terminal: {self.talk.resume}")
        else:
            self._shell.toast(self.talk.why_not or "It cannot be resumed", icon="info", color="accent")

    def open_original(self) -> None:
        """Open the file."""
        if self.talk is not None:
            self._shell.open_path(self.talk.path.partition("#")[0])

    def show_item(self, number: int) -> None:
        """A click on an item brings its words into sight; on the chosen one, it goes to its line."""
        mark = self.script.marks[number]
        if number != self.mark:
            self.mark = number
            self.go_piece(mark.piece, mark.begin)
            return
        if mark.item.line:
            self.close()
            raw = self._raw(mark)
            self._shell.select("bullet", mark.item.file, mark.item.line, raw)
            self._shell.run("view.files" if mark.item.file.startswith("files/") else "view.knowledge")

    def _raw(self, mark: Mark) -> str:
        data = self._shell.state.of("knowledge")
        found = getattr(data, "found", {}) or {}
        return next((one.bullet.raw for one in found.values()
                     if (one.file, one.bullet.line) == (mark.item.file, mark.item.line)), "")  # fmt: skip

    def dispose(self) -> None:
        """Nothing lives outside of the parent."""

    # --- keys ---

    def press(self, key: str, typing: bool) -> bool:
        """The keys of the page; while somebody types, those of the field."""
        if key == "Esc":
            if typing or str(dpg.get_value(self.field)):
                dpg.set_value(self.field, "")
                self._typed("")
                dpg.focus_item(self._next.item)
            else:
                self.close()
            return True
        if key in ("Enter", "Keypad Enter", "Shift+Enter", "F3", "Shift+F3"):
            self.go_place(-1 if key.startswith("Shift") else 1)
            return True
        if key in ("Ctrl+F",) or (key == "/" and not typing):
            self._look.keys_to(self.field)
            return True
        if typing:
            return False
        act = self._moves().get(key)
        if act is not None:
            act()
        return act is not None

    def _moves(self) -> dict[str, Callable[[], object]]:
        page = self.canvas.tall * 0.9
        step = float(self._look.px(66))
        return {
            "Down": partial(self.scroll_by, step), "Up": partial(self.scroll_by, -step),
            "Page down": partial(self.scroll_by, page), "Page up": partial(self.scroll_by, -page),
            "Space": partial(self.scroll_by, page), "Shift+Space": partial(self.scroll_by, -page),
            "Home": partial(self.scroll_by, -1e9), "End": partial(self.scroll_by, 1e9),
            "Left": partial(self.go_said, -1), "Right": partial(self.go_said, 1),
            "N": partial(self.go_mark, 1), "Shift+N": partial(self.go_mark, -1),
            "F": self.fold_all, "O": self.open_original, "R": self.copy_resume, "Ctrl+C": self.copy_turn,
        }  # fmt: skip


def one(words: str) -> str:
    """Words as one line that can be drawn."""
    from gui.views.reader_rows import visible

    return " ".join(visible(words).split())


def read_script(workspace: Workspace, wanted: Reading) -> Result[Any]:
    """Read a conversation and make its pieces; on a worker."""
    raise NotImplementedError
