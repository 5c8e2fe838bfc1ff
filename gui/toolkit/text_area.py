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

from gui.toolkit.canvas import Canvas
from gui.toolkit.draft import Draft, Layout, after_key, laid, letter_before, moved, spanned, typed, word_at
from gui.toolkit.drawing import Pen
from gui.toolkit.letters import LETTERS
from gui.toolkit.theme import Look

ROW = 21
PADDING = 6
"""Unscaled pixels: the height of a row, and what is above the first and below the last."""
CLICKS_SECONDS, CLICKS_APART = 0.4, 5
CARET = 2.0
SHIFTS = (dpg.mvKey_LShift, dpg.mvKey_RShift)


class TextArea:
    """One such field, of one paragraph: every break that comes in is a space.

    `room()` is how wide a row may be, in pixels of the screen, before the field has been drawn once; `pasted(words)` is
    what comes in of words of somewhere else.
    """

    def __init__(self, look: Look, *, room: Callable[[], float], pasted: Callable[[str], str] = str) -> None:
        self._look, self._room, self._pasted = look, room, pasted
        self.draft = Draft()
        self.field = 0
        self._caught = ""
        self._layout: Layout | None = None
        self._press = (0.0, -99.0, -99.0)  # when and where the mouse was pressed
        self._down = self._drags = self._active = False
        self.canvas = Canvas(look, settle=self._settle, paint=self._paint, on_click=lambda *_: None,
                             on_size=self._sized, bar=True)  # fmt: skip

    def build(self, parent: int) -> int:
        """Make all items; once. Returns the item that has the keyboard."""
        look = self._look
        self.holder = self.canvas.build(parent, pad=(10, PADDING))
        look.theme(self.holder, "area")
        self.field = int(dpg.add_input_text(parent=self.holder, multiline=True, width=1, height=1, pos=[0, 0]))
        look.theme(look.window(self.field), "unseen")  # one of many lines is a window, too
        look.inputs.append(self.field)
        look.writers[self.field] = self.type
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
        self.canvas.go(0.0)

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
        after = (
            after_key(self.draft, key, layout, int(self.canvas.tall / self._look.px(ROW)))
            if layout is not None
            else None
        )
        if after is None:
            return False
        self._set(after)
        return True

    @property
    def layout(self) -> Layout | None:
        """The rows of the text as it is now; None before Dear PyGui can measure."""
        if self._layout is None:
            wide = LETTERS.wide(self._look.font_id("text"))
            if wide is None:
                return None
            room = (self.canvas.width or self._room()) - CARET * self._look.scale
            self._layout = laid(self.words.replace("\t", " "), max(room, 40.0), wide)
        return self._layout

    @property
    def rows(self) -> int:
        """How many rows there are."""
        layout = self.layout
        return len(layout.rows) if layout is not None else 1

    def set_rows(self, rows: int) -> None:
        """This many rows are in sight."""
        self._look.size(self.holder, height=rows * ROW + 2 * PADDING)

    @staticmethod
    def _fitting(words: str) -> str:
        return words.replace("\r\n", " ").replace("\r", " ").replace("\n", " ")

    def _set(self, draft: Draft) -> None:
        """Another text, or another caret, which is brought into sight."""
        if draft.text != self.draft.text:
            self._layout = None
        self.draft = draft
        layout = self.layout
        self.canvas.renew()
        if layout is not None and self.canvas.tall > 0:
            high, scroll = self._look.px(ROW), self.canvas.scroll
            number, _ = layout.point(draft.caret, draft.upstream)
            self.canvas.go(float(min(max(scroll, (number + 1) * high - self.canvas.tall), number * high)))

    # --- mouse and picture ---

    def tick(self) -> bool:
        """Before each frame: letters that were caught, the mouse, and whether it has the keyboard."""
        self._catch()
        self._mouse()
        active = bool(dpg.is_item_active(self.field))
        if active != self._active:
            self._active = active
            self._look.theme(self.holder, "area-on" if active else "area")
            self.canvas.renew()
        return self.layout is None

    def _settle(self, scroll: float, _tall: float) -> tuple[float, float]:
        return self.rows * self._look.px(ROW), scroll

    def _paint(self, pen: Pen, top: float, bottom: float) -> None:
        layout, px, edge = self.layout, self._look.px, self.canvas.width
        if layout is None:
            self.canvas.renew()  # its font is not there yet
            return
        high, offsets, text = px(ROW), layout.offsets, layout.text
        begin, end = self.draft.selection
        for number in range(int(top / high), min(len(layout.rows), int(bottom / high) + 1)):
            row, y = layout.rows[number], float(number * high)
            left = offsets[row.begin]
            a, b = max(begin, row.begin), min(end, row.end)
            if a < b:
                pen.box(offsets[a] - left, y, min(offsets[b] - left, edge), y + high, "accent@35")
            pen.words(0, y + px(2), text[row.begin : row.end])
        if self._active:
            at, far = layout.point(self.draft.caret, self.draft.upstream)
            x, y = min(far, edge - CARET), float(at * high)
            pen.box(x, y + px(2), x + max(1.0, self._look.scale * 1.5), y + high - px(2), "accent")

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
        left, top = self.canvas.in_window(0, 0)
        to, upstream = layout.place(int((y - top) // self._look.px(ROW)), x - left)
        if before:
            after = moved(self.draft, to, True, upstream=upstream)
            if (after.caret, after.anchor) != (self.draft.caret, self.draft.anchor) and (x, y) != self._press[1:]:
                self._set(after)
            return
        self._look.keys_to(self.field)
        when, now = self._press, time.monotonic()
        near = max(abs(x - when[1]), abs(y - when[2])) <= self._look.px(CLICKS_APART)
        self._press = (now, x, y)
        if near and now - when[0] < CLICKS_SECONDS:
            self._set(spanned(self.draft, *word_at(layout.text, letter_before(layout.text, to) if upstream else to)))
        else:
            hold = any(dpg.is_key_down(key) for key in SHIFTS)
            self._set(moved(self.draft, to, hold, upstream=upstream))

    def _sized(self, before: tuple[int, int]) -> None:
        if before[0] != self.canvas.width:
            self._layout = None
            self._set(self.draft)


def added(before: str, now: str) -> str:
    """What was written into a field of which we only see the text: nothing where something went."""
    least = min(len(before), len(now))
    begun = next((at for at in range(least) if before[at] != now[at]), least)
    most, same = least - begun, 0
    while same < most and before[len(before) - 1 - same] == now[len(now) - 1 - same]:
        same += 1
    return now[begun : len(now) - same]
