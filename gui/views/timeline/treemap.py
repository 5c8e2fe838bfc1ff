"""What is known, by project and category, as a map of tiles as large as their lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from core.base.figures import count
from gui.toolkit.drawing import Drawing
from gui.toolkit.icons import icon
from gui.toolkit.theme import Look
from gui.views.looks import CATEGORIES
from gui.views.timeline.rows import Rect, squarified


class Tile(NamedTuple):
    """One tile, or the head of a project (`category` is ""): where it is, and how many lines it stands for."""

    place: Rect
    project: str
    category: str
    amount: int


class TreeMap:
    """Draws `known` on a drawing of its owner, and knows what is under the mouse."""

    def __init__(self, look: Look) -> None:
        self._look = look
        self._found: Sequence[tuple[str, dict[str, int]]] = ()
        self.tiles: list[Tile] = []

    def set(self, found: Sequence[tuple[str, dict[str, int]]]) -> None:
        """What is known: lines by project and category, the largest first."""
        self._found = found

    def draw(self, drawing: Drawing) -> None:
        """All of it."""
        layer, px = drawing.below, self._look.px
        self.tiles = []
        sums = [sum(lines.values()) for _, lines in self._found]
        wide = layer.words(0, 0, "What is known", "text", "strong")
        about = f"{count(sum(sums), 'bullet')} by project and category"
        layer.words(wide + px(12), px(2), about, "hint", "small", room=max(drawing.width - wide - px(12), 8))
        room = (0.0, float(px(24)), drawing.width, drawing.tall - px(24))
        for (name, lines), place in zip(self._found, squarified(sums, room), strict=True):
            self._project(drawing, name, lines, place)

    def _project(self, drawing: Drawing, name: str, lines: dict[str, int], place: Rect) -> None:
        layer, px, total = drawing.below, self._look.px, sum(lines.values())
        x, y, w, h = place[0], place[1], place[2] - px(4), place[3] - px(4)
        if w < px(14) or h < px(14):
            return
        layer.rect(x, y, w, h, "window", px(4))
        head = px(20) if h > px(48) else 0
        if head:
            said = f"{total:,}"
            taken = layer.words(x + w - px(6), y + px(3), said, "hint", "small", right=True) if w > px(80) else 0
            layer.words(x + px(6), y + px(3), name, "text", "small", room=max(w - taken - px(16), 8))
        self.tiles.append(Tile((x, y, w, head or h), name, "", total))
        inside = (x + px(3), y + (head or px(3)), w - px(6), h - (head or px(3)) - px(3))
        order = sorted(lines.items(), key=lambda one: -one[1])
        for (category, amount), (a, b, c, d) in zip(order, squarified([one for _, one in order], inside), strict=True):
            self._tile(drawing, Tile((a, b, c - px(2), d - px(2)), name, category, amount))

    def _tile(self, drawing: Drawing, tile: Tile) -> None:
        layer, px, (x, y, w, h) = drawing.below, self._look.px, tile.place
        if w < 2 or h < 2:
            return
        looks = CATEGORIES[tile.category]
        layer.rect(x, y, w, h, f"{looks.color}@45", px(3))
        if w > px(52) and h > px(20):
            layer.words(x + px(5), y + px(3), f"{icon(looks.icon)} {tile.amount:,}", "text", "small")
        elif w > px(18) and h > px(18):
            layer.words(x + w / 2, y + h / 2 - px(8), icon(looks.icon), "text", "small", middle=True)
        self.tiles.append(tile)

    def at(self, place: tuple[float, float]) -> Tile | None:
        """What is there: a tile before the project that it lies in."""
        for tile in reversed(self.tiles):
            x, y, w, h = tile.place
            if x <= place[0] < x + w and y <= place[1] < y + h:
                return tile
        return None

    @staticmethod
    def words(tile: Tile) -> str:
        """What stands beside the mouse."""
        category = f"  ·  {CATEGORIES[tile.category].name}" if tile.category else ""
        return f"{tile.project}{category}  ·  {count(tile.amount, 'bullet')}"
