"""An editor in the place of a row: a field with Save and Cancel, and the sentence that says why it was not saved.

First its field, of several lines that wrap while one types. Dear PyGui's own slides sideways, so this one is drawn:
what is written is a `Draft` (draft.py), here are only its picture, the mouse and the clipboard.

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
from gui.toolkit.icons import icon as icon_of
from gui.toolkit.layout import box, lowered
from gui.toolkit.letters import END, LETTERS, wrapped
from gui.toolkit.theme import Look
from gui.toolkit.widgets import Button, text

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

    def press(self, key: str) -> bool:
        """A key that means something to a text (`Ctrl+Left`); true when it did."""
        if not dpg.is_item_active(self.field):
            return False
        if key in ("Ctrl+V", "Shift+Insert"):
            if self._look.gate.listens:
                words = self._pasted(dpg.get_clipboard_text() or "")
                self._set(typed(self.draft, self._fitting(words), run=""))
            return True
        if key in ("Ctrl+C", "Ctrl+X", "Ctrl+Insert", "Shift+Delete"):
            if self.draft.selected:
                dpg.set_clipboard_text(self.draft.selected)
                if key in ("Ctrl+X", "Shift+Delete"):
                    self._set(typed(self.draft, "", run=""))
            return True
        after = after_key(self.draft, key, self.layout, int(self.canvas.tall / self._look.px(ROW)))
        if after is not None:
            self._set(after)
        return after is not None

    @property
    def layout(self) -> Layout:
        """The rows of the text as it is now."""
        if self._layout is None:
            wide = LETTERS.wide(self._look.font_id("text"))
            room = (self.canvas.width or self._room()) - CARET * self._look.scale
            self._layout = laid(self.words.replace("\t", " "), max(room, 40.0), wide)
        return self._layout

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.layout.rows)

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
        if self.canvas.tall > 0:
            high, scroll = self._look.px(ROW), self.canvas.scroll
            number, _ = layout.point(draft.caret, draft.upstream)
            self.canvas.go(float(min(max(scroll, (number + 1) * high - self.canvas.tall), number * high)))

    # --- mouse and picture ---

    def tick(self) -> None:
        """Before each frame: letters that were caught, the mouse, and whether it has the keyboard."""
        self._catch()
        self._mouse()
        active = bool(dpg.is_item_active(self.field))
        if active != self._active:
            self._active = active
            self._look.theme(self.holder, "area-on" if active else "area")
            self.canvas.renew()

    def _settle(self, scroll: float, _tall: float) -> tuple[float, float]:
        return self.rows * self._look.px(ROW), scroll

    def _paint(self, pen: Pen, top: float, bottom: float) -> None:
        layout, px, edge = self.layout, self._look.px, self.canvas.width
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
        if not down:
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


LINE = 16
ROOM = 10 + 8 + 28 + 10  # around the field: above, between, the row of buttons, below
BELOW = 10  # below a sentence
AROUND = 12 + 24 + 12 + 8  # beside a sentence: the frame, the sign
BESIDE = 52  # beside the words of the field: frames, padding, the scroll bar


LEAST, MOST = 2, 9
"""The rows of the field."""


class Editor:
    """One editor, made once and opened over one thing after the other.

    `on_save()` hears that it is to be saved, `on_cancel()` that nothing is to be done. `on_height()` is called when it
    wants another height (`height`, unscaled pixels); `room()` is the width that it has, in pixels of the screen;
    `pasted(words)` is what comes in of words that are pasted.
    """

    def __init__(
        self,
        look: Look,
        *,
        on_save: Callable[[], object],
        on_cancel: Callable[[], object],
        on_height: Callable[[], object],
        room: Callable[[], float],
        pasted: Callable[[str], str] = str,
    ) -> None:
        self._look, self._room = look, room
        self._on_save, self._on_cancel, self._on_height = on_save, on_cancel, on_height
        self.open = False
        self._lines = LEAST
        self._said = 0.0  # how high the sentence is, with what is below it
        self.area = TextArea(look, room=lambda: room() - look.px(BESIDE), pasted=pasted)

    def build(self, parent: int) -> None:
        """Make all items inside the overlay of a list; once."""
        look = self._look
        inside = box(look, parent, "editor")
        self.area.build(inside)
        self._question = int(dpg.add_group(horizontal=True, parent=inside, show=False))
        text(look, self._question, icon_of("triangle-alert"), "text", "edited")
        self.sentence = text(look, self._question, "", "text", "text", wrap=True)
        row = int(dpg.add_group(horizontal=True, parent=inside))
        self.save = Button(look, row, "Save", self._on_save, icon="check", kind="primary", shortcut="Ctrl+Enter")
        self.cancel = Button(look, row, "Cancel", self._on_cancel, kind="ghost", shortcut="Esc")
        self.note = text(look, lowered(look, row, 8), "", "small", "hint", fit=END)
        look.every_tick(self.tick)

    @property
    def height(self) -> float:
        """How high it wants to be, in unscaled pixels."""
        return self._lines * ROW + 2 * PADDING + ROOM + self._said

    @property
    def words(self) -> str:
        """The words that stand in it."""
        return self.area.words.strip()

    def begin(self, words: str, note: str, save: str = "Save", *, mine: str | None = None) -> None:
        """Open it over `words`; `mine` are other words to begin with."""
        self.open = True
        self.area.begin(words)
        self.save.set_label(save)
        dpg.set_value(self.note, note)
        if mine is not None:
            self.area.begin(mine)
        self._make_room()
        self._say("")
        self._look.keys_to(self.area.field)

    def refuse(self, sentence: str) -> None:
        """Say why it cannot be saved as it is, in as many lines as that takes; it can be mended and saved."""
        dpg.set_value(self.note, "")
        self._say(sentence)

    def close(self) -> None:
        """Nothing is edited any more."""
        self.open = False

    def leave(self) -> None:
        """Its words are being saved: the next keys are for what comes after it."""
        dpg.set_value(self.note, "Saving…")
        self._look.leaving = self.area.field
        dpg.configure_item(self.area.field, enabled=False)

    def take_back(self) -> None:
        """They are saved, or were refused."""
        self._look.leaving = 0
        dpg.configure_item(self.area.field, enabled=True)

    def press(self, key: str) -> bool:
        """Ctrl+Enter saves, and so does Enter in the field; Esc cancels; the rest is for the words. True when it was
        used."""
        ends = ("Enter", "Keypad Enter") if self._look.typing() else ()
        if key in ("Ctrl+Enter", "Ctrl+Keypad Enter", *ends):
            self._on_save()
        elif key == "Esc":
            self._on_cancel()
        else:
            return self.area.press(key)
        return True

    def tick(self) -> bool:
        """Draw it and let it grow; true when it did."""
        if not self.open:
            return False
        self.area.tick()
        before = self._lines
        self._make_room()
        if self._lines != before:
            self._on_height()
        return self._lines != before

    def _make_room(self) -> None:
        self._lines = max(LEAST, min(MOST, self.area.rows))
        self.area.set_rows(self._lines)

    def _say(self, sentence: str) -> None:
        dpg.set_value(self.sentence, sentence)
        room = self._room() - self._look.px(AROUND)
        wide = LETTERS.wide(self._look.font_id("text"))
        self._said = (wrapped(sentence, room, wide).count("\n") + 1) * LINE + BELOW if sentence else 0
        dpg.configure_item(self._question, show=self._said > 0)
        self._on_height()
