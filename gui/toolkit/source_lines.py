"""The text of a file with line numbers: a few dozen lines are made, however long the file is."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import dearpygui.dearpygui as dpg

from gui.toolkit.theme import Look

PITCH, LETTER, LEFT, GAP = 19, 8.4, 4, 14
LONGEST = 2000  # letters of one line that are drawn
MORE = 4


class SourceLines:
    """Lines of a file in the mono font. `set_lines` shows others, `light` puts a colour behind some of them."""

    def __init__(self, look: Look) -> None:
        self._look = look
        self.lines: Sequence[str] = ()
        self.lit: tuple[int, int] | None = None
        self._marks: Collection[int] = ()
        self._slots: list[tuple[int, int]] = []
        self._shown: list[tuple[int, bool] | None] = []
        self._tall = self._longest = 0.0
        self._scroll = -1.0
        self._headings = False
        self._wanted: tuple[float, int] | None = None
        self.item = 0

    def build(self, parent: int) -> int:
        """Make all items; once. Returns the scrolled child window."""
        look = self._look
        self.item = int(
            dpg.add_child_window(parent=parent, border=False, width=-1, height=-1, horizontal_scrollbar=True)
        )
        look.theme(self.item, "flow")
        self._rest = int(dpg.add_spacer(parent=self.item, height=1, width=1))
        self._pool = look.font(int(dpg.add_group(parent=self.item)), "mono")
        self._band = int(
            dpg.add_child_window(
                parent=self.item, border=False, show=False, no_scrollbar=True, no_scroll_with_mouse=True, pos=[0, 0]
            )
        )
        look.theme(self._band, "row-lit")
        look.follow(self.item, self._fit)
        look.every_tick(self.tick)
        look.on_change(self._restyle)
        return self.item

    def set_lines(
        self, lines: Sequence[str], marks: Collection[int] = (), keep_place: bool = False, headings: bool = False
    ) -> None:
        """Show these lines; those in `marks` (from 1) stand out, and with `headings` those of markdown."""
        self._headings = headings
        self.lines, self._marks = lines, frozenset(marks)
        self._shown = [None] * len(self._slots)
        self.lit = self.lit if keep_place else None
        longest = max(map(len, lines), default=0)
        self._longest = min(LONGEST, longest) * (1.0 if all(line.isascii() for line in lines[:2000]) else 1.6)
        if not keep_place:
            self._go(0.0)
            dpg.set_x_scroll(self.item, 0.0)
        self._fill()

    def light(self, start: int, end: int) -> None:
        """Put a colour behind the lines from `start` to `end` (from 1; 0: behind none) and bring them into sight."""
        self.lit = (start, min(end, len(self.lines))) if start else None
        if start and self._tall > 0:
            pitch = self._look.px(PITCH)
            scroll, top = self._scrolled(), (start - 1) * pitch
            if not scroll <= top <= scroll + self._tall - 3 * pitch:
                self._go(max(0.0, top - self._tall / 3))
        self._fill()

    def scroll_by(self, pages: float) -> None:
        """Move on by so many pages, back when negative."""
        self._go(max(0.0, min(self._scrolled() + pages * self._tall, self._length() - self._tall)))
        self._fill()

    def tick(self) -> bool:
        """Follow the scroll; before each frame. True when other lines came into sight."""
        scroll = float(dpg.get_y_scroll(self.item))
        if self._wanted is not None:
            wanted, tries = self._wanted
            if abs(scroll - wanted) <= 1 or not tries:
                self._wanted = None
            else:
                self._wanted = (wanted, tries - 1)
                dpg.set_y_scroll(self.item, wanted)
        elif scroll == self._scroll:
            return False
        self._scroll = scroll
        self._fill()
        return True

    def _scrolled(self) -> float:
        return self._wanted[0] if self._wanted is not None else float(dpg.get_y_scroll(self.item))

    def _go(self, scroll: float) -> None:
        self._wanted = (scroll, 5)
        dpg.set_y_scroll(self.item, scroll)

    def _length(self) -> int:
        return len(self.lines) * self._look.px(PITCH)

    def _fill(self) -> None:
        """Put the lines in sight into the pool; makes items only when the window has grown."""
        look, pitch = self._look, self._look.px(PITCH)
        if self._tall <= 0:
            return
        needed = int(self._tall / pitch) + 2 * MORE
        while len(self._slots) < needed:
            number = look.tint(int(dpg.add_text("", parent=self._pool, pos=[0, 0])), "hint")
            self._slots.append((number, look.tint(int(dpg.add_text("", parent=self._pool, pos=[0, 0])), "muted")))
            self._shown.append(None)
        first = max(0, int(self._scrolled() / pitch) - MORE)
        digits = len(str(max(1, len(self.lines))))
        left, text = look.px(LEFT), look.px(LEFT + GAP) + round(digits * LETTER * look.scale)
        dpg.configure_item(
            self._rest, height=max(1, self._length()), width=max(1, text + round(self._longest * LETTER * look.scale))
        )
        shown = set(range(first, min(len(self.lines), first + len(self._slots))))
        for at in range(first, first + len(self._slots)):
            slot = at % len(self._slots)
            number, line = self._slots[slot]
            if at not in shown:
                if self._shown[slot] != (-1, False):
                    self._shown[slot] = (-1, False)
                    dpg.set_value(number, "")
                    dpg.set_value(line, "")
                continue
            wanted = (at, at + 1 in self._marks)
            if self._shown[slot] == wanted:
                continue
            self._shown[slot] = wanted
            dpg.set_value(number, str(at + 1).rjust(digits))
            dpg.set_value(line, drawable(self.lines[at]))
            look.tint(number, "accent" if wanted[1] else "hint")
            heading = self._headings and self.lines[at].startswith("#")
            look.tint(line, "accent" if heading else "text" if wanted[1] else "muted")
            dpg.configure_item(number, pos=[left, at * pitch + look.px(2)])
            dpg.configure_item(line, pos=[text, at * pitch + look.px(2)])
        if self.lit is None:
            dpg.configure_item(self._band, show=False)
        else:
            start, end = self.lit
            wide = max(1, int(dpg.get_item_rect_size(self.item)[0]), text + round(self._longest * LETTER * look.scale))
            place = [0, (start - 1) * pitch]
            dpg.configure_item(self._band, show=True, pos=place, width=wide, height=(end - start + 1) * pitch)

    def _fit(self, _width: float, height: float) -> None:
        self._tall = height
        self._fill()

    def _restyle(self) -> None:
        self._shown = [None] * len(self._slots)
        self._fill()


def drawable(line: str) -> str:
    """One line of a file as it can be drawn: tabs as spaces, no control characters, not endlessly long."""
    line = line[: LONGEST + 1].expandtabs(4)
    if not line.isprintable():
        line = "".join(letter if letter.isprintable() else "\ufffd" for letter in line)
    return line if len(line) <= LONGEST else line[:LONGEST] + "…"
