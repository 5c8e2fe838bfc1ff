"""The answers of the library as cards: what a passage says, what it is good for, why it was found, how it served, and
four keys to say how it served now. First as plain data, then the drawing; a click on a key is the same as the key."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import dearpygui.dearpygui as dpg

from gui.toolkit.drawing import Drawing
from gui.toolkit.icons import icon
from gui.toolkit.layout import box
from gui.toolkit.letters import LETTERS
from gui.toolkit.theme import ROLES, Look
from gui.views.library.rows import (
    FIND,
    KEY_OF,
    ORDERS,
    OUTCOME_LOOKS,
    STRATEGIES,
    TYPES,
    LibraryPage,
    named,
    percent,
    place_of,
    plain,
    shares_of,
    short,
)
from gui.views.library.sheet import coded_words
from gui.views.looks import joined

if TYPE_CHECKING:
    from core.commands.panel.library import Dossier

QUOTE, SHORT, LOW_QUOTE = 260, 150, 60
"""This many letters of a passage stand on a card, so many where only the chosen one is shown in full, and so many where
the box is lower than `LOW`: there the keys stay in sight."""
LOW = 230  # unscaled pixels
WHOLE, LAST = 2, 10
"""This many cards are shown in full beside the chosen one, and so many of the last uses are shown."""
PAD, KEY, SQUARE, LABEL, WHY = 12, 26, 11, 70, 190  # unscaled pixels
NARROW = 380
LINE = 1.3
_HEADINGS = re.compile(r"\A(?:\s*#{1,6} .*(?:\n|\Z))+")
MORE = (("walk", "shapes"), ("copy", "copy"))
"""What else can be done to the chosen one: an action of the list, and its icon."""


class Served(NamedTuple):
    """How a passage served one kind of task: the last outcomes, the oldest first, and the share of success."""

    task: str
    last: tuple[str, ...]
    figure: str
    asked: bool


class Card(NamedTuple):
    """One passage. `labelled` are lines with their labels, `why` the parts of its score as shares of the best, `said`
    the outcome that was given to it since the question; `whole`: all of it is shown."""

    key: str
    icon: str
    title: str
    about: str
    score: str
    quote: str
    labelled: tuple[tuple[str, str, str], ...]
    why: tuple[tuple[str, float, bool], ...]
    served: tuple[Served, ...]
    said: str
    whole: bool


def cards_of(page: LibraryPage) -> list[Card]:
    """The answers in the order that is wanted."""
    return [
        card_of(one, page.dossiers, page.said.get(one.chunk.id, ""), at < WHOLE or one.chunk.id == page.chosen)
        for at, one in enumerate(sorted(page.dossiers, key=ORDERS[page.order][1]))
    ]


def card_of(one: Dossier, everything: Sequence[Dossier], said: str, whole: bool) -> Card:
    """One answer."""
    quote = _HEADINGS.sub("", one.chunk.content)  # in front alone: further down "#" begins a comment as well
    labelled = []
    if one.chunk.summary and plain(one.chunk.summary) not in plain(one.chunk.content):
        labelled.append(("In short", plain(one.chunk.summary), "muted"))
    if one.chunk.functional_profile:
        labelled.append(("Good for", plain(one.chunk.functional_profile), "text"))
    if one.source is not None and one.source.functional_profile:
        labelled.append(("Source", plain(one.source.functional_profile), "muted"))
    labelled += [("Beware", plain(caution), "edited") for caution in one.beside]
    shares = shares_of(one, everything)
    top = max(shares, key=lambda name: shares[name], default="")
    served = []
    for task in sorted(one.tally, key=lambda task: (task != one.task_type, task)):
        last = tuple(trace.outcome for trace in reversed(one.traces) if trace.task_type == task)[-LAST:]
        figure = percent(one.success) if task == one.task_type and one.success is not None else ""
        served.append(Served(named(task), last, figure, task == one.task_type))
    about = joined(one.document.content_type, f"chunk {one.chunk.position + 1}", one.chunk.rhetorical_mode,
                   f"{one.chunk.token_count} tokens" if one.chunk.token_count else "")  # fmt: skip
    return Card(
        one.chunk.id, TYPES.get(one.document.content_type, "file"), place_of(one), about, f"{one.score:.2f}",
        short(plain(quote if quote.strip() else one.chunk.content), QUOTE if whole else SHORT), tuple(labelled),
        tuple((STRATEGIES.get(name, name), share, name == top) for name, share in shares.items()), tuple(served),
        said, whole,
    )  # fmt: skip


class Cards:
    """The cards in a box that scrolls, in the place of the list `beside` it. `on_act(name, key)` hears a click on a
    card: "" where it is chosen, an outcome, or one of `MORE`."""

    def __init__(self, look: Look, beside: int, on_act: Callable[[str, str], object]) -> None:
        self._look, self._beside, self._on_act = look, beside, on_act
        self.cards: Sequence[Card] = ()
        self.chosen: object = None
        self.spots: list[tuple[str, str, tuple[float, float, float, float]]] = []
        """What can be clicked: the card, what is done to it ("": it is chosen), and where: left, top, right, bottom."""
        self._fonts = False
        self.box = box(look, int(dpg.get_item_parent(beside) or 0), "clear", scroll=True)
        self.drawing = Drawing(look, self.box, 40, self._draw)
        clicks = look.own(int(dpg.add_handler_registry()))
        dpg.add_mouse_click_handler(dpg.mvMouseButton_Left, parent=clicks, callback=self._clicked)
        look.every_tick(self.tick)
        look.follow(self.box, self._fit)
        self._low = False
        dpg.configure_item(self.box, show=False)

    def take(self, page: LibraryPage, rows: bool) -> None:
        """The answers to a question stand as cards in the place of their rows, which the keys still walk."""
        on = page.page == FIND and rows
        dpg.configure_item(self.box, show=on)
        dpg.configure_item(self._beside, show=rows and not on)
        self.set(cards_of(page) if on else (), page.chosen)

    def set(self, cards: Sequence[Card], chosen: object) -> None:
        """Show these, and bring the chosen one into sight."""
        if (cards, chosen) == (self.cards, self.chosen):
            return
        others = [card.key for card in cards] != [card.key for card in self.cards]
        moved, self.cards, self.chosen = chosen != self.chosen, cards, chosen
        self.drawing.redraw()
        if others:
            dpg.set_y_scroll(self.box, 0)
        elif moved:
            self._bring()

    def _bring(self) -> None:
        spot = next((place for key, outcome, place in self.spots if key == self.chosen and not outcome), None)
        if spot is not None:
            room, scroll = dpg.get_item_rect_size(self.box)[1], dpg.get_y_scroll(self.box)
            dpg.set_y_scroll(self.box, min(max(scroll, spot[3] - room), spot[1]))

    def tick(self) -> bool:
        """Draw again as soon as there are fonts to measure with."""
        known = LETTERS.wide(self._look.font_id("text")) is not None
        if known == self._fonts:
            return False
        self._fonts = known
        self.drawing.redraw()
        return True

    def _fit(self, _width: float, height: float) -> None:
        low = height < self._look.px(LOW)
        if low != self._low:
            self._low = low
            self.drawing.redraw()

    def _clicked(self) -> None:
        self._look.jobs.post(self._pointed)

    def _pointed(self) -> None:
        place = self.drawing.mouse() if dpg.is_item_shown(self.box) else None
        if place is None:
            return
        for key, outcome, (left, top, right, bottom) in reversed(self.spots):
            if left <= place[0] <= right and top <= place[1] <= bottom:
                self._on_act(outcome, key)
                return

    # --- drawing ---

    def _draw(self, drawing: Drawing) -> None:
        self.spots = []
        y = 0.0
        for card in self.cards:
            y = self._card(drawing, card, y) + self._look.px(8)
        drawing.set_height(max(40.0, y / self._look.scale))

    def _tall(self, role: str) -> float:
        return float(round(ROLES[role][1] * self._look.scale * LINE))

    def _measure(self, words: str, role: str) -> float:
        wide = LETTERS.wide(self._look.font_id(role))
        return wide(words) if wide is not None else 0.0

    def _words(self, drawing: Drawing, x: float, y: float, words: str, room: float, color: str) -> float:
        return coded_words(self._look, drawing.over, x, y, words, room, color, self._tall("text"))

    def _card(self, drawing: Drawing, card: Card, y: float) -> float:
        px, wide = self._look.px, drawing.width - self._look.px(4)
        pad, on = px(PAD), card.key == self.chosen
        self.spots.append((card.key, "", (0, y, wide, y)))  # as tall as what is in it: that is known when it is drawn
        mine = len(self.spots) - 1
        bottom = self._inside(drawing, card, y + pad, pad, wide - 2 * pad) + pad
        self.spots[mine] = (card.key, "", (0, y, wide, bottom))
        ground, edge = ("selected", "accent@60") if on else ("card", "line")
        drawing.below.rect(1, y, wide - 2, bottom - y, ground, px(8), edge=edge)
        return bottom

    def _inside(self, drawing: Drawing, card: Card, y: float, x: float, room: float) -> float:
        px, over, small = self._look.px, drawing.over, self._tall("small")
        whole = card.whole and room >= px(NARROW)  # the sheet beside it tells the rest, and the keys stay in sight
        whole = whole and not self._low
        quote = card.quote if whole else short(card.quote, LOW_QUOTE if self._low else SHORT)
        over.words(x, y, icon(card.icon), "muted", "text")
        score = self._measure(card.score, "strong")
        over.words(x + room, y, card.score, "text", "strong", right=True)
        space = room - px(26) - score - px(12)
        title = min(self._measure(card.title, "strong"), space)
        over.words(x + px(26), y, card.title, "text", "strong", room=space)
        if space - title > px(120):
            over.words(x + px(38) + title, y + px(2), card.about, "hint", "small", room=space - title - px(12))
        y += self._tall("strong") + px(5)
        first = y
        y = self._words(drawing, x + px(12), y, quote, room - px(12), "text")
        over.rect(x, first, px(2), y - first - px(2), "handle")
        if whole:
            y = self._told(drawing, card, y + px(6), x, room)
        over.line(x, y + px(4), x + room, y + px(4), "line")
        y += px(11)
        more = MORE if card.key == self.chosen else ()
        left = x + room - px((len(OUTCOME_LOOKS) + len(more)) * (KEY + 6) - 6)
        self._served(drawing, card, x, y + px(3), left - x - px(8))
        for name, sign in more:
            over.words(left + px(KEY) / 2, y + px(1), icon(sign), "muted", "text", middle=True)
            self.spots.append((card.key, name, (left, y - px(2), left + px(KEY), y + px(20))))
            left += px(KEY + 6)
        for outcome, looks in OUTCOME_LOOKS.items():
            lit = card.said == outcome
            ground, words = (f"{looks.color}@70", "text") if lit else ("field", looks.color)
            over.rect(left, y - px(2), px(KEY), px(22), ground, px(5), edge=looks.color if lit else "line")
            over.words(left + px(KEY) / 2, y + px(1), KEY_OF[outcome], words, "small", middle=True)
            self.spots.append((card.key, outcome, (left, y - px(2), left + px(KEY), y + px(20))))
            left += px(KEY + 6)
        return y + max(small, px(18))

    def _told(self, drawing: Drawing, card: Card, y: float, x: float, room: float) -> float:
        """Profiles at the left and why it was found at the right; in a narrow card below them."""
        px, over, small = self._look.px, drawing.over, self._tall("small")
        beside = room >= px(LABEL + 240 + WHY) and bool(card.labelled)
        first, left = y, room - px(WHY + 20) if beside else room
        for label, words, color in card.labelled:
            over.words(x, y + px(1), label, "accent" if label == "Good for" else "hint", "small")
            y = self._words(drawing, x + px(LABEL), y, words, left - px(LABEL), color) + px(3)
        at, high = (x + room - px(WHY), first) if beside else (x, y)
        if card.why:
            over.words(at, high, "Why it was found", "muted", "small")
            high += small + px(2)
        for name, share, best in card.why:
            over.words(at, high, name, "hint", "small", room=px(LABEL - 6))
            track = (px(WHY) if beside else min(room, px(320))) - px(LABEL)
            middle = high + (small - px(6)) / 2
            over.rect(at + px(LABEL), middle, track, px(6), "field", px(3))
            if share > 0:
                over.rect(at + px(LABEL), middle, max(px(3), track * share), px(6), "accent" if best else "accent@70",
                           px(3))  # fmt: skip
            high += small
        return max(y, high) + px(2)

    def _served(self, drawing: Drawing, card: Card, x: float, y: float, room: float) -> None:
        """Squares of the last uses for each kind of task, as many kinds as there is room for."""
        px, over, end = self._look.px, drawing.over, x + room
        if not card.served:
            over.words(x, y, "never used yet", "hint", "small", room=room)
        for one in card.served:
            figure = self._measure(one.figure, "small") + px(6) if one.figure else 0
            need = self._measure(one.task, "small") + px(8) + len(one.last) * px(SQUARE + 2) + figure
            if x + need > end and x > end - room:
                return
            x += over.words(x, y, one.task, "text" if one.asked else "hint", "small", room=max(px(30), end - x))
            x += px(8)
            for outcome in one.last[-max(0, int((end - x) / px(SQUARE + 2))) :] if end - x >= px(SQUARE + 2) else ():
                over.rect(x, y + px(2), px(SQUARE), px(SQUARE), OUTCOME_LOOKS[outcome].color, px(2))
                x += px(SQUARE + 2)
            if one.figure and x + figure <= end:
                x += px(4) + over.words(x + px(4), y, one.figure, "hint", "small")
            x += px(16)
