"""A field of several lines that wraps while one types. Dear PyGui's own slides sideways, so this one is drawn: what is
written is a `Draft` (draft.py), here are only its picture, the mouse and the clipboard.

A field of Dear PyGui one pixel large has the keyboard for it, so that focus, Tab and clicks elsewhere work as in every
other field. Where the window is our own the keys come through `KeyGate`, in their order; in a host's window that little
field catches the letters, and `tick` takes them out of it.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import dearpygui.dearpygui as dpg

from gui.toolkit.draft import (
    Draft,
    Layout,
    after_key,
    code_in,
    dragged,
    laid,
    letter_before,
    moved,
    paragraph_at,
    spanned,
    typed,
    word_at,
)
from gui.toolkit.drawing import Pen
from gui.toolkit.letters import LETTERS
from gui.toolkit.theme import Look

ROW = 21
PADDING = 6
"""Unscaled pixels: the height of a row, and what is above the first and below the last."""
CLICKS_SECONDS, CLICKS_APART = 0.4, 5
CARET = 2.0
UNITS = {2: word_at, 3: paragraph_at}
"""What so many clicks select."""
SHIFTS = (dpg.mvKey_LShift, dpg.mvKey_RShift)


class TextArea:
    """One such field. With `lines` Enter breaks a line; without, every break that comes in is a space.

    `room()` is how wide a row may be, in pixels of the screen, before the field has been drawn once; `pasted(words)` is
    what comes in of words of somewhere else.
    """

    def __init__(
        self, look: Look, *, lines: bool, room: Callable[[], float], pasted: Callable[[str], str] = str
    ) -> None:
        self._look, self._lines, self._room, self._pasted = look, lines, room, pasted
        self.draft = Draft()
        self.field = self.holder = 0
        self._width = self._tall = 0.0
        self._caught = ""
        self._layout: Layout | None = None
        self._drawn: object = None
        self._press: tuple[float, float, float, int] = (0.0, -99.0, -99.0, 0)
        self._clicked = (0, 0)
        self._down = self._drags = self._follows = False

    def build(self, parent: int) -> int:
        """Make all items; once. Returns the item that has the keyboard."""
        look = self._look
        self.holder = look.window(int(dpg.add_child_window(parent=parent, border=True, width=-1)))
        look.theme(self.holder, "area")
        self._list = int(dpg.add_drawlist(10, 10, parent=self.holder))
        self.field = int(dpg.add_input_text(parent=self.holder, multiline=True, width=1, height=1, pos=[0, 0]))
        look.theme(look.window(self.field), "unseen")  # one of many lines is a window, too
        look.inputs.append(self.field)
        look.writers[self.field] = self
        boxes, words = (int(dpg.add_draw_layer(parent=self._list)) for _ in range(2))
        self._pen = Pen(look, boxes, words)
        look.follow(self.holder, self._fit)
        look.on_change(self._restyle)
        return self.field

    # --- what stands in it ---

    @property
    def words(self) -> str:
        """The text."""
        return self.draft.text

    def begin(self, words: str) -> None:
        """Another text, the caret before it; nothing of before can be undone."""
        self._set(Draft(self._fitting(words)))
        self._caught = str(dpg.get_value(self.field))
        dpg.set_y_scroll(self.holder, 0)

    def type(self, words: str) -> None:
        """Letters, as they come from the keyboard."""
        if dpg.is_item_enabled(self.field):
            self._set(typed(self.draft, self._fitting(words)))

    def paste(self) -> None:
        """What is on the clipboard, in the place of the selection."""
        self._set(typed(self.draft, self._fitting(self._pasted(dpg.get_clipboard_text() or "")), run=""))

    def press(self, key: str) -> bool:
        """A key that means something to a text (`Ctrl+Left`); true when it did."""
        if not dpg.is_item_active(self.field):
            return False
        catches = not self._look.gate.listens
        if key in ("Enter", "Keypad Enter", "Shift+Enter"):
            if self._lines and not catches:
                self._set(typed(self.draft, "\n", run=""))
            return self._lines
        if key in ("Ctrl+V", "Shift+Insert"):
            if not catches:
                self.paste()
            return True
        if key in ("Ctrl+C", "Ctrl+X", "Ctrl+Insert", "Shift+Delete"):
            if self.draft.selected:
                dpg.set_clipboard_text(self.draft.selected)
                if key in ("Ctrl+X", "Shift+Delete"):
                    self._set(typed(self.draft, "", run=""))
            return True
        layout = self.layout
        after = after_key(self.draft, key, layout, int(self._tall / self._look.px(ROW))) if layout is not None else None
        if after is None:
            return False
        self._set(after)
        return True

    @property
    def layout(self) -> Layout | None:
        """The rows of the text as it is now; None before Dear PyGui can measure."""
        if self._layout is None:
            words, mono = (LETTERS.wide(self._look.font_id(role)) for role in ("text", "mono"))
            if words is None or mono is None:
                return None
            fonts = (words, mono)
            shown = self.words.replace("\t", " ")
            room = (self._width or self._room()) - CARET * self._look.scale
            self._layout = laid(shown, max(room, 40.0), lambda letter, code: fonts[code](letter))
        return self._layout

    @property
    def rows(self) -> int:
        """How many rows there are."""
        layout = self.layout
        return len(layout.rows) if layout is not None else 1

    def set_rows(self, rows: int) -> None:
        """This many rows are in sight."""
        self._look.size(self.holder, height=rows * ROW + 2 * PADDING)

    def _fitting(self, words: str) -> str:
        words = words.replace("\r\n", "\n").replace("\r", "\n")
        return words if self._lines else words.replace("\n", " ")

    def _set(self, draft: Draft) -> None:
        if draft.text != self.draft.text:
            self._layout = None
        self.draft, self._follows = draft, True

    # --- mouse and picture ---

    def tick(self) -> bool:
        """Before each frame: letters that were caught, the mouse, and a new picture where there is something new."""
        self._catch()
        self._mouse()
        layout, active = self.layout, dpg.is_item_active(self.field)
        if layout is None or self._width <= 0:
            return True
        high = self._look.px(ROW)
        number, far = layout.point(self.draft.caret, self.draft.upstream)
        scroll = dpg.get_y_scroll(self.holder)
        if self._follows and self._tall > 0:
            self._follows = False
            wanted = min(max(scroll, (number + 1) * high - self._tall), number * high)
            if wanted != scroll:
                dpg.set_y_scroll(self.holder, wanted)
                scroll = wanted
        first = max(0, int(scroll / high) - 2)
        last = min(len(layout.rows), int((scroll + max(self._tall, high)) / high) + 3)
        now = (layout, self.draft.caret, self.draft.anchor, self.draft.upstream, active, first, last, self._width)
        if now == self._drawn:
            return False
        self._drawn = now
        self._look.theme(self.holder, "area-on" if active else "area")
        dpg.configure_item(self._list, width=max(1, int(self._width)), height=max(1, len(layout.rows) * high))
        self._paint(layout, range(first, last), (number, far) if active else None)
        return True

    def _paint(self, layout: Layout, shown: range, caret: tuple[int, float] | None) -> None:
        pen, px, offsets, text = self._pen, self._look.px, layout.offsets, layout.text
        high, edge = px(ROW), self._width
        begin, end = self.draft.selection
        codes = code_in(text)
        pen.begin(0.0)
        for number in shown:
            row, y = layout.rows[number], float(number * high)
            left = offsets[row.begin]
            for first, last in codes:
                a, b = max(first, row.begin), min(last, row.end)
                if a < b:
                    pen.box(
                        offsets[a] - left, y + px(1), min(offsets[b] - left, edge), y + high - px(1), "hover", px(3)
                    )
            a, b = max(begin, row.begin), min(end, row.end)
            if a < b or begin <= row.end < end:
                right = offsets[b] - left if a < b else offsets[row.end] - left
                right += px(5) if end > row.end and text[row.end : row.end + 1] == "\n" else 0
                pen.box(offsets[max(a, row.begin)] - left if a < b else right - px(5), y, min(right, edge), y + high,
                        "accent@35")  # fmt: skip
            at = row.begin
            for first, last in (*((a, b) for a, b in codes if b > row.begin and a < row.end), (row.end, row.end)):
                for stop, role in ((min(first, row.end), "text"), (min(last, row.end), "mono")):
                    if stop > at:
                        low = px(2) if role == "text" else px(3)
                        pen.words(offsets[at] - left, y + low, text[at:stop], role)
                        at = stop
        if caret is not None:
            x, y = min(caret[1], edge - CARET), float(caret[0] * high)
            pen.box(x, y + px(2), x + max(1.0, self._look.scale * 1.5), y + high - px(2), "accent")
        pen.end()

    def _catch(self) -> None:
        """In a host's window: what Dear PyGui has written into the little field."""
        caught = str(dpg.get_value(self.field))
        if caught != self._caught:
            before, self._caught = self._caught, caught
            new = added(before, caught)
            if new and dpg.is_item_enabled(self.field):
                self._set(typed(self.draft, self._fitting(new), run="type" if len(new) < 3 else ""))

    def _mouse(self) -> None:
        down = dpg.is_mouse_button_down(dpg.mvMouseButton_Left)
        before, self._down = self._down, down
        layout = self.layout
        if layout is None or not down:
            self._drags = False
            return
        if not before:
            self._drags = dpg.is_item_hovered(self.holder) and dpg.is_item_enabled(self.field)
        if not self._drags:
            return
        x, y = dpg.get_mouse_pos(local=False)
        left, top = dpg.get_item_rect_min(self._list)
        to, upstream = layout.place(int((y - top) // self._look.px(ROW)), x - left)
        within = letter_before(layout.text, to) if upstream else to
        times = self._press[3]
        if before:
            if times > 1:  # by whole words, or lines, from the one that was clicked
                after = dragged(self.draft, self._clicked, UNITS[times](layout.text, within))
            else:
                after = moved(self.draft, to, True, upstream=upstream)
            if (after.caret, after.anchor) != (self.draft.caret, self.draft.anchor):
                self._set(after)
            return
        self._look.keys_to(self.field)
        when, now = self._press, time.monotonic()
        near = max(abs(x - when[1]), abs(y - when[2])) <= self._look.px(CLICKS_APART)
        times = when[3] % 3 + 1 if near and now - when[0] < CLICKS_SECONDS else 1
        self._press = (now, x, y, times)
        if times == 1:
            hold = any(dpg.is_key_down(key) for key in SHIFTS)
            self._set(moved(self.draft, to, hold, upstream=upstream))
        else:
            self._clicked = UNITS[times](layout.text, within)
            self._set(spanned(self.draft, *self._clicked))

    def _fit(self, width: float, height: float) -> None:
        self._tall = height
        if width != self._width:
            self._width, self._layout = width, None
            self._follows = True

    def _restyle(self) -> None:
        self._layout = self._drawn = None
        self._pen.forget()


def added(before: str, now: str) -> str:
    """What was written into a field of which we only see the text: nothing where something went."""
    least = min(len(before), len(now))
    begun = next((at for at in range(least) if before[at] != now[at]), least)
    most, same = least - begun, 0
    while same < most and before[len(before) - 1 - same] == now[len(now) - 1 - same]:
        same += 1
    return now[begun : len(now) - same]
