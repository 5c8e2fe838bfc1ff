"""Draws what stands beside the rows of the library (`rows.sheet`): wrapped words, bars, outcomes, a graph.

One drawing for good: its items are taken from pools. Its height follows what is on it; the box around it scrolls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import dearpygui.dearpygui as dpg

from core.commands.panel.library import OUTCOMES
from gui.toolkit.drawing import Drawing, Layer
from gui.toolkit.layout import box
from gui.toolkit.letters import LETTERS, wrapped
from gui.toolkit.theme import ROLES, Look
from gui.toolkit.typeset import ROLE_OF, lines_of_words
from gui.views.library import rows
from gui.views.reader_rows import inline

LABEL = 92  # the column of labels, in unscaled pixels, as all that follow
LINE, THIN, GAP, PADDING = 1.36, 8, 7, 4
SQUARE, BAR, FIGURE = 11, 9, 132
GRAPH = 330
NODE = 9


class Sheet:
    """The drawing in a box that scrolls; `on_node(id)` hears a click on a node of the graph."""

    def __init__(self, look: Look, parent: int, on_node: Callable[[str], object]) -> None:
        self._look, self._on_node = look, on_node
        self.blocks: Sequence[rows.Block] = ()
        self.nodes: dict[str, tuple[float, float]] = {}
        """Where the nodes of the graph stand, in pixels of the drawing."""
        self.box = box(look, parent, "clear", scroll=True)
        self.drawing = Drawing(look, self.box, 40, self._draw)
        self._fonts = False
        clicks = look.own(int(dpg.add_handler_registry()))
        dpg.add_mouse_click_handler(dpg.mvMouseButton_Left, parent=clicks, callback=self._clicked)
        look.every_tick(self.tick)

    def set(self, blocks: Sequence[rows.Block]) -> None:
        """Show these, from the top when they are others."""
        if blocks != self.blocks:
            self.blocks = blocks
            dpg.set_y_scroll(self.box, 0)
            self.drawing.redraw()

    def tick(self) -> bool:
        """Draw again as soon as there are fonts to measure with."""
        if self._fonts or LETTERS.wide(self._look.font_id("text")) is None:
            return False
        self._fonts = True
        self.drawing.redraw()
        return True

    def _clicked(self) -> None:
        self._look.jobs.post(self._pointed)

    def _pointed(self) -> None:
        place = self.drawing.mouse()
        near = self._look.px(NODE + 8)
        if place is None:
            return
        for node, (x, y) in self.nodes.items():
            if abs(place[0] - x) <= near and abs(place[1] - y) <= near:
                self._on_node(node)
                return

    # --- drawing ---

    def _draw(self, drawing: Drawing) -> None:
        self.nodes = {}
        y, px = float(self._look.px(PADDING)), self._look.px
        for block in self.blocks:
            if isinstance(block, rows.Words):
                y = self._words(drawing, block, y)
            elif isinstance(block, rows.Rule):
                drawing.below.rect(0, y + px(THIN) / 2, drawing.width, 1, "line")
                y += px(THIN) + px(GAP)
            elif isinstance(block, rows.Graph):
                y = self._graph(drawing, block, y)
            elif isinstance(block, rows.Key):
                y = self._key(drawing, y)
            else:
                y = self._figure(drawing, block, y)
        drawing.set_height(max(40.0, y / self._look.scale + PADDING))

    def _tall(self, role: str) -> float:
        return float(round(ROLES[role][1] * self._look.scale * LINE))

    def _words(self, drawing: Drawing, block: rows.Words, y: float) -> float:
        wide, px = LETTERS.wide(self._look.font_id(block.role)), self._look.px
        left = px(LABEL) if block.label else 0
        if block.label:
            drawing.below.words(0, y + px(1), block.label, "hint", "small", room=left - px(8))
        if wide is None:
            return y
        room = max(px(60), drawing.width - left - px(2))
        if block.role == "text":
            y = coded_words(self._look, drawing.below, left, y, block.words, room, block.color, self._tall("text"))
            return y + px(GAP) * (0.6 if block.label else 0.3)
        for line in wrapped(block.words, room, wide).split("\n"):
            drawing.below.words(left, y, line, block.color, block.role)
            y += self._tall(block.role)
        return y + px(GAP) * (0.6 if block.label else 0.3)

    def _figure(self, drawing: Drawing, block: rows.Bar | rows.Squares | rows.Stack, y: float) -> float:
        """A name at the left, its drawing in the middle, its figure at the right; in a narrow sheet the name above."""
        px, tall = self._look.px, self._tall("small")
        narrow = drawing.width < px(360)
        label = drawing.width if narrow else max(px(LABEL), min(px(170), drawing.width * 0.3))
        color = block.color if isinstance(block, rows.Stack) else "muted"
        drawing.below.words(0, y, block.label, color, "small", room=label - px(8) - (px(60) if narrow else 0))
        left = 0.0 if narrow else float(label)
        top = y + (tall if narrow else 0)
        figure = 0.0
        if block.figure:
            figure = drawing.below.words(drawing.width - px(2), y, block.figure, color, "small",
                                        room=px(FIGURE), right=True) + px(12)  # fmt: skip
        right = drawing.width - px(2) if narrow else drawing.width - max(figure, px(70))
        room, middle = max(px(20), right - left), top + (tall - px(BAR)) / 2
        if isinstance(block, rows.Bar):
            drawing.below.rect(left, middle, room, px(BAR) - px(2), "field", px(3))
            if block.share > 0:
                drawing.below.rect(left, middle, max(px(3), room * block.share), px(BAR) - px(2), block.color, px(3))
        elif isinstance(block, rows.Squares):
            for at, outcome in enumerate(block.outcomes):
                drawing.below.rect(left + at * px(SQUARE + 3), middle, px(SQUARE), px(SQUARE),
                                  rows.OUTCOME_LOOKS[outcome].color, px(2))  # fmt: skip
        else:
            whole, x = max(1, sum(block.numbers.values())), left
            for outcome in OUTCOMES:
                long = room * block.numbers.get(outcome, 0) / whole
                if long:
                    drawing.below.rect(
                        x, middle, max(px(2), long - px(2)), px(BAR), rows.OUTCOME_LOOKS[outcome].color, px(2)
                    )
                x += long
        return top + tall + px(GAP) * 0.7

    def _key(self, drawing: Drawing, y: float) -> float:
        px, x, tall = self._look.px, 0.0, self._tall("small")
        for looks in rows.OUTCOME_LOOKS.values():
            drawing.below.rect(x, y + (tall - px(SQUARE)) / 2, px(SQUARE), px(SQUARE), looks.color, px(2))
            x += px(SQUARE + 6)
            x += drawing.below.words(x, y, looks.name, "hint", "small") + px(16)
        return y + tall + px(GAP)

    def _graph(self, drawing: Drawing, block: rows.Graph, y: float) -> float:
        around, px, below = block.around, self._look.px, drawing.below
        self.nodes = {node: (x, y + at) for node, (x, at) in rows.ring(around, drawing.width, px(GRAPH)).items()}
        for edge in around.edges:
            if edge.source in self.nodes and edge.target in self.nodes:
                (x0, y0), (x1, y1) = self.nodes[edge.source], self.nodes[edge.target]
                color = rows.relation_color((edge,))
                below.line(x0, y0, x1, y1, f"{color}@55", px(1) + px(3) * min(1.0, max(0.0, edge.weight)))
        tall, over = self._tall("small"), drawing.over
        taken = [(x - px(NODE), at - px(NODE), x + px(NODE), at + px(NODE)) for x, at in self.nodes.values()]
        wide = LETTERS.wide(self._look.font_id("small"))
        for node in (around.centre, *around.nodes):
            place = self.nodes.get(node.id)
            if place is None or wide is None:
                continue
            centre, concept = node.id == around.centre.id, node.kind == "concept"
            size = px(NODE + 6 if centre else NODE) if concept else px(NODE - 2)
            around_it = "accent" if concept else "edited" if node.kind == "chunk" else "harvested"
            over.rect(place[0] - size, place[1] - size, 2 * size, 2 * size, "accent" if centre else "field",
                      size if concept else px(3), around_it)  # fmt: skip
            name = rows.label_of(node)
            long = wide(name)
            left = min(max(place[0] - long / 2, 0), max(0.0, drawing.width - long))
            for top in (place[1] + size + px(2), place[1] - size - tall):  # below it, or above, where nothing is
                spot = (left, top, left + long, top + tall)
                if not any(_meet(spot, other) for other in taken):
                    taken.append(spot)
                    over.rect(left - px(2), top + px(1), long + px(4), tall - px(2), "panel", px(3))
                    over.words(left, top, name, "text" if centre else "muted")
                    break
        return y + px(GRAPH) + tall


def coded_words(
    look: Look, layer: Layer, x: float, y: float, words: str, room: float, color: str, pitch: float
) -> float:
    """Words that wrap, lines `pitch` apart; what stands in backticks as code on a plate. Where they end."""
    text, styles = inline(words)

    def measure(said: str, role: str) -> float:
        wide = LETTERS.wide(look.font_id(role))
        return wide(said) if wide is not None else 0.0

    for line in lines_of_words(text, styles, room, measure):
        for run in line:
            said, role = text[run.begin : run.end], ROLE_OF[run.style]
            if run.style == "code" and said.strip():
                layer.rect(x + run.x - look.px(3), y - look.px(1), measure(said, role) + look.px(6), look.px(20),
                           "field", look.px(3))  # fmt: skip
            layer.words(x + run.x, y + (look.px(1) if role == "mono" else 0), said, color, role)
        y += pitch
    return y


def _meet(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    """Whether two boxes (left, top, right, bottom) lie over each other."""
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
