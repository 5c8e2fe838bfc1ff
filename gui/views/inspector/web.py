"""The selection as a small graph, from left to right: conversations, what they taught, the files where it stands; and
how sure a fact was over time. The graph as plain data first, then both drawings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import dearpygui.dearpygui as dpg

from core.base.figures import count
from core.base.markdown import without_emphasis
from core.commands.fact_edits import FactRow
from core.commands.panel.bullets import BulletView, local_day
from core.commands.panel.confidence import NO_COURSE, Course
from core.commands.panel.conversations import ConversationView
from core.commands.panel.files import NoteView
from core.commands.statements import Found
from gui.state import Selection
from gui.toolkit.drawing import Drawing
from gui.toolkit.icons import icon
from gui.toolkit.letters import LETTERS, cut
from gui.toolkit.theme import Look
from gui.views.looks import CATEGORIES, FACT_CATEGORIES, OTHER, category_of, joined, short_name

MAX_NODES = 6
"""At most this many nodes stand below each other; of more, the last one tells how many there are."""
ROW, EDGE, COURSE = 26, 8, 104
"""Unscaled pixels: the height of a node, the distance around the picture, the height of the course."""
WIDTHS = (0.30, 0.40, 0.30)
GAP = 18
NARROW, SMALL_GAP, ICON_ALONE = 300, 10, 30
"""Below which width of the picture what is selected is its icon alone (its words stand above), how far the columns are
apart then, and how wide such an icon's node is."""


class Node(NamedTuple):
    """What it says, its icon and colour, what a click on it selects (None: nothing), and all that it says."""

    label: str
    icon: str
    color: str
    to: Selection | None = None
    tip: str = ""


@dataclass(frozen=True)
class Web:
    """Nodes in three columns, and which node of a column leads to which of the next: (column, from, to)."""

    columns: tuple[tuple[Node, ...], ...] = ((), (), ())
    links: tuple[tuple[int, int, int], ...] = ()

    @property
    def tall(self) -> int:
        """How many nodes stand below each other."""
        return max(map(len, self.columns))


NO_WEB = Web()


def widths_of(web: Web, wide: float) -> tuple[float, list[float]]:
    """How far the columns of a picture of this width are apart, and how wide each is; all in unscaled pixels."""
    alone = next((at for at, column in enumerate(web.columns) if len(column) == 1 and column[0].to is None), None)
    if wide >= NARROW or alone is None:
        return GAP, [(wide - 2 * GAP) * share for share in WIDTHS]
    other = (wide - 2 * SMALL_GAP - ICON_ALONE) / 2
    return SMALL_GAP, [ICON_ALONE if at == alone else other for at in range(len(WIDTHS))]


def web_of(subject: Any, course: Course = NO_COURSE) -> Web:
    """The graph of what is selected; empty where it would be no more than one node."""
    if isinstance(subject, ConversationView):
        here = Node(subject.title or short_name(subject.name), "messages-square", "accent", None, subject.name)
        return _joined([here], [(0, _given(at, subject), given.file) for at, given in enumerate(subject.given)])
    if isinstance(subject, BulletView) and subject.found is not None:
        lines = [subject.found, *subject.others]
        return _of_lines(lines, here=subject.found, key=subject.conversation)
    if isinstance(subject, NoteView):
        return _of_lines(list(subject.rows), source=subject.source)
    if isinstance(subject, FactRow):
        looks = FACT_CATEGORIES.get(subject.fact.category, OTHER)
        said = [
            Node(short_name(one.name), "messages-square", "accent", Selection("conversation", one.sha256),
                 joined(short_name(one.name), local_day(one.day) if one.day else ""))
            for one in reversed(course.heard)
        ]  # fmt: skip
        fact = Node(without_emphasis(subject.fact.fact), looks.icon, looks.color)
        return _joined(said, [(at, fact, subject.file) for at in range(len(said))])
    return NO_WEB


def _given(at: int, view: ConversationView) -> Node:
    given = view.given[at]
    looks = CATEGORIES[category_of(given.file)]
    to = Selection("bullet", given.file, given.line, given.raw) if given.line else None
    words = without_emphasis(given.text)
    return Node(words, looks.icon, looks.color if to is not None else "hint", to, words)


def _of_lines(lines: list[Found], here: Found | None = None, key: str = "", source: str = "") -> Web:
    """Lines of the store with the conversations that they name."""
    names: list[str] = []
    rows: list[tuple[int, Node, str]] = []
    for line in lines:
        came = line.bullet.provenance
        name = came.source if came is not None else ""
        if name not in names:
            names.append(name)
        looks, words = CATEGORIES[line.category], without_emphasis(line.bullet.text)
        to = None if line is here else Selection("bullet", line.file, line.bullet.line, line.bullet.raw)
        node = Node(words, looks.icon, looks.color, to, words)
        if here is not None:  # the same words, said again: one node
            node = rows[0][1] if rows else node
        rows.append((names.index(name), node, source or line.file))
    begun = here.bullet.provenance.source if here is not None and here.bullet.provenance is not None else None
    left = [
        Node(short_name(name), "messages-square", "accent",
             Selection("conversation", key) if key and name == begun else None, short_name(name))
        if name else Node("written by hand", "pen", "muted")
        for name in names
    ]  # fmt: skip
    return _joined(left, rows)


def _joined(left: list[Node], rows: Iterable[tuple[int, Node, str]]) -> Web:
    """The columns with no more than `MAX_NODES` nodes each, and the lines between them."""
    found = list(rows)
    if not left or not found:
        return NO_WEB
    middle = list(dict.fromkeys(node for _, node, _ in found))
    files = Counter({file: 0 for _, _, file in found})
    files.update({file: len({node for _, node, other in found if other == file}) for file in files})
    right = [
        Node(name.rpartition("/")[2] + (f"  {many:,}" if many > 1 else ""), "file-text", "muted",
             Selection("file", name) if "/" not in name or name.startswith("global/") else None, name)
        for name, many in files.most_common()
    ]  # fmt: skip
    places = {name: at for at, (name, _) in enumerate(files.most_common())}
    links: dict[tuple[int, int, int], None] = {}
    for at, node, file in found:
        item = middle.index(node)
        links[0, _row(at, left), _row(item, middle)] = None
        links[1, _row(item, middle), _row(places[file], right)] = None
    return Web(tuple(map(_most, (left, middle, right))), tuple(links))


def _row(at: int, nodes: list[Node]) -> int:
    return at if len(nodes) <= MAX_NODES else min(at, MAX_NODES - 1)


def _most(nodes: list[Node]) -> tuple[Node, ...]:
    if len(nodes) <= MAX_NODES:
        return tuple(nodes)
    more = len(nodes) - MAX_NODES + 1
    return (*nodes[: MAX_NODES - 1], Node(f"{more:,} more", "ellipsis", "hint"))


class SelectionPicture:
    """Draws both above the parts of the inspector; `on_select(selection)` hears a click on a node."""

    def __init__(self, look: Look, parent: int, on_select: Callable[[Selection], object]) -> None:
        self._look, self._on_select = look, on_select
        self._web, self._course = NO_WEB, NO_COURSE
        self._places: list[tuple[float, float, float, float, Node]] = []
        self._under: Node | None = None
        self._down = False
        self.drawing = Drawing(look, parent, 10, self._draw)
        self.show(NO_WEB, NO_COURSE)
        look.every_tick(self.tick)

    def show(self, web: Web, course: Course) -> None:
        """Another selection."""
        self._web, self._course, self._under = web, course, None
        drawn = (COURSE if len(course.moments) > 1 else 0) + (web.tall * ROW + 2 * EDGE if web.tall else 0)
        dpg.configure_item(self.drawing.holder, show=drawn > 0)
        if drawn:
            self.drawing.set_height(drawn)
            self.drawing.redraw()

    def node_at(self, x: float, y: float) -> Node | None:
        """What is drawn at a place of the picture, in pixels of the screen."""
        return next((one for a, b, c, d, one in self._places if a <= x <= c and b <= y <= d), None)

    def place_of(self, label: str) -> tuple[float, float]:
        """The middle of a node, from the upper left corner of the picture."""
        return next(((a + c) / 2, (b + d) / 2) for a, b, c, d, one in self._places if one.label == label)

    def tick(self) -> bool:
        """Follow the mouse; true when something is drawn again."""
        if not self._places or not dpg.is_item_shown(self.drawing.holder):
            return False
        place = self.drawing.mouse()
        node = self.node_at(*place) if place is not None else None
        down = dpg.is_mouse_button_down(dpg.mvMouseButton_Left)
        if node is not None and node.to is not None and down and not self._down:
            self._on_select(node.to)
        self._down = down
        if node is self._under:
            return False
        self._under = node
        self.drawing.redraw()
        return True

    def _draw(self, drawing: Drawing) -> None:
        self._places = []
        top = 0.0
        if len(self._course.moments) > 1:
            self._draw_course(drawing)
            top = float(self._look.px(COURSE))
        if self._web.tall:
            self._draw_web(drawing, top)
        if self._under is not None and (self._under.tip or self._under.label):
            words, wide = self._under.tip or self._under.label, LETTERS.wide(self._look.font_id("small"))
            drawing.bubble(cut(words, drawing.width - self._look.px(24), wide) if wide is not None else words)

    def _draw_web(self, drawing: Drawing, top: float) -> None:
        px, layer = self._look.px, drawing.below
        gap, unscaled = widths_of(self._web, drawing.width / self._look.scale)
        lefts, wide = [], [width * self._look.scale for width in unscaled]
        x = 0.0
        for width in wide:
            lefts.append(x)
            x += width + px(gap)
        middle: list[list[float]] = []
        for column in self._web.columns:
            first = top + px(EDGE) + (self._web.tall - len(column)) * px(ROW) / 2
            middle.append([first + (at + 0.5) * px(ROW) for at in range(len(column))])
        for column_at, begin, end in self._web.links:
            from_x, to_x = lefts[column_at] + wide[column_at], lefts[column_at + 1]
            layer.line(from_x, middle[column_at][begin], to_x, middle[column_at + 1][end], "handle", 1.5)
        for number, column in enumerate(self._web.columns):
            for at, node in enumerate(column):
                x0, y0 = lefts[number], middle[number][at] - px(ROW) / 2 + px(2)
                x1, y1 = x0 + wide[number], y0 + px(ROW) - px(4)
                lit = node is self._under and node.to is not None
                layer.rect(x0, y0, x1 - x0, y1 - y0, "hover" if lit else "card", px(5), edge="line")
                layer.words(x0 + px(6), y0 + px(3), icon(node.icon), node.color)
                if unscaled[number] > ICON_ALONE:
                    layer.words(x0 + px(24), y0 + px(3), node.label, "text" if node.to else "muted", "small",
                                room=max(1.0, x1 - x0 - px(28)))  # fmt: skip
                self._places.append((x0, y0, x1, y1, node))

    def _draw_course(self, drawing: Drawing) -> None:
        """Steps from left to right, one for each conversation; a dot where one said it."""
        px, layer, moments = self._look.px, drawing.below, self._course.moments
        left, right, high, low = float(px(30)), drawing.width - px(8), float(px(24)), float(px(COURSE) - px(26))
        first, last = moments[0].conversations, moments[-1].conversations
        step = (right - left) / max(1, last - first)

        def place(conversations: int, sure: float) -> tuple[float, float]:
            return left + (conversations - first) * step, low - (low - high) * min(max(sure, 0.0), 1.0)

        layer.words(0, 0, "How sure, conversation by conversation", "hint", "small")
        for share, words in ((0.0, "0"), (0.5, "0.5"), (1.0, "1")):
            y = place(first, share)[1]
            layer.line(left, y, right, y, "line")
            layer.words(left - px(6), y - px(8), words, "hint", "small", right=True)
        for one, other in pairwise(moments):
            (x0, y0), (x1, y1) = place(one.conversations, one.confidence), place(other.conversations, other.confidence)
            layer.line(x0, y0, x1, y0, "accent", 2.0)
            layer.line(x1, y0, x1, y1, "accent", 2.0)
        dot = px(7)
        for one in moments:
            if one.heard:
                x, y = place(one.conversations, one.confidence)
                layer.rect(x - dot / 2, y - dot / 2, dot, dot, "accent", dot / 2)
        day = next((one.day for one in moments if one.day), "")
        layer.words(left, low + px(6), local_day(day) if day else "first said", "hint", "small")
        since = moments[-1].conversations - max((one.conversations for one in moments if one.heard), default=first)
        said = f"now {moments[-1].confidence:.2f}" + (f", {count(since, 'conversation')} since" if since else "")
        layer.words(right, low + px(6), said, "muted", "small", right=True)
