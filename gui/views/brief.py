"""Knowledge in one column: what the next conversation starts with, folded into a card above the list, and below it
what of the files and the ledger is not zero.

First the words of the foot, as plain data; then the two.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import partial

import dearpygui.dearpygui as dpg

from core.base.figures import count
from core.commands.panel.start import Start
from gui.shell import Shell
from gui.state import State
from gui.toolkit.drawing import SegmentBar
from gui.toolkit.icons import icon
from gui.toolkit.layout import box, lowered, spread
from gui.toolkit.rows import Line
from gui.toolkit.theme import Look
from gui.toolkit.widgets import Button, choices, text
from gui.views.digest_switch import DigestSwitch
from gui.views.looks import CATEGORIES, STATUSES
from gui.views.start import COUNTED, StartColumn, file_lines, known_counts, ledger_lines

CARD, FOOT, LETTER = 92, 40, 9  # unscaled pixels: the heights, and a letter of the foot


def foot_lines(state: State) -> list[Line]:
    """How many files are edited or damaged, and the statuses of the ledger: what is not zero."""
    found, first = state.snapshot, state.first_counts
    counts = known_counts(found) if found is not None else first or {}
    lines: list[Line] = []
    if found is not None:
        files = file_lines(found.overview, frozenset(one.path for one in found.problems if one.path), 0)
        for word in ("edited", "damaged"):
            odd = [line for line in files if line.aside == word]
            lines += [Line(word, aside=f"{len(odd):,}", key=odd[0].key)] if odd else []
    return lines + [line for line in ledger_lines(counts)[: len(COUNTED)] if line.aside != "0"]


def foot_words(lines: Sequence[Line], letters: float) -> list[str]:
    """What the foot says: figures with their words, or with the signs of the statuses where there is no room for so
    many letters."""
    said = [f"{line.aside} {line.words.lower()}" for line in lines]
    if sum(map(len, said)) + 3 * len(said) <= letters:
        return said
    signs = [STATUSES[line.key[1]].icon if line.key in KNOWN and isinstance(line.key, tuple) else "file-pen"
             for line in lines]  # fmt: skip
    return [f"{icon(sign)} {line.aside}" for sign, line in zip(signs, lines, strict=True)]


KNOWN = {("status", name) for name in COUNTED}


def start_words(start: Start) -> str:
    """How much a conversation starts with."""
    if start.problem or not start.most:
        return start.problem
    if not start.injected:
        return "starts with your words only" if start.words else "starts with nothing"
    return f"{start.bytes:,} of {start.most:,} bytes in {count(len(start.lines), 'line')}"


class Brief:
    """Card and foot; `side` is the column that they stand for while there is no room for it."""

    def __init__(self, look: Look, shell: Shell, side: StartColumn) -> None:
        self._look, self._side = look, side
        self.digest = DigestSwitch(look, shell)
        self.shown = False
        self._keys: list[Hashable] = []
        self._seen: object = None

    def build_card(self, parent: int) -> None:
        """Make the card."""
        look = self._look
        self.card = box(look, parent, "gutter", height=CARD, show=False)
        inside = box(look, self.card, "card", height=CARD)
        row = int(dpg.add_group(horizontal=True, parent=inside))
        text(look, lowered(look, row, 6), "Your next conversation in", "strong")
        self.project = choices(look, row, [], self._side.chosen, 140)
        left, right = spread(look, inside)
        self.digest.build(left)
        self._words = text(look, right, "", "small", "muted")
        self._bar = SegmentBar(look, inside, height=4)

    def build_foot(self, parent: int) -> None:
        """Make the foot."""
        look = self._look
        self.foot = box(look, parent, "foot", height=FOOT, show=False)
        row = int(dpg.add_group(horizontal=True, parent=self.foot))
        self.links = [Button(look, row, "", partial(self._follow, at), kind="words-pale")
                      for at in range(len(COUNTED) + 2)]  # fmt: skip

    def _follow(self, at: int) -> None:
        self._side.picked(self._keys[at])

    def show(self, on: bool) -> bool:
        """Show both, or neither; true when that is another state."""
        if on == self.shown:
            return False
        self.shown = on
        for item in (self.card, self.foot):
            dpg.configure_item(item, show=on)
        return True

    def refresh(self, state: State) -> None:
        """Show how it stands, while they are shown."""
        if not self.shown:
            return
        self.digest.refresh(state)
        start, names = self._side.start, self._side.projects
        lines = foot_lines(state)
        seen = (start, names, lines, self._look.place()[2], self._look.scale)
        if seen == self._seen:
            return
        self._seen = seen
        dpg.configure_item(self.project, items=list(names))
        dpg.set_value(self.project, self._side.project_name)
        dpg.set_value(self._words, start_words(start))
        parts = [(amount, CATEGORIES[name].color) for name, amount in start.sections]
        self._bar.set(parts if start.injected else (), start.most or 1)
        self._put(lines)

    def _put(self, lines: Sequence[Line]) -> None:
        self._keys = [line.key for line in lines]
        words = foot_words(lines, self._look.place()[2] / self._look.px(LETTER))
        for at, link in enumerate(self.links):
            link.show(at < len(lines))
            if at < len(lines):
                link.set_label(words[at])
