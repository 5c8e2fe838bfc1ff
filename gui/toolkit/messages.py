"""What speaks to the user: empty states that teach, errors where they happen, toasts."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypedDict, Unpack

import dearpygui.dearpygui as dpg

from core.base.result import ErrorInfo
from gui.toolkit.drawing import Pen
from gui.toolkit.icons import icon as icon_of
from gui.toolkit.layout import box, lowered, spread
from gui.toolkit.letters import LETTERS, cut, wrapped
from gui.toolkit.styles import FRAME
from gui.toolkit.theme import Look
from gui.toolkit.typeset import lettered
from gui.toolkit.widgets import CONTROL_HEIGHT, Button, text

LINE, AROUND, FOOT = 18, 26, 36
"""The heights of a line of an error, of what is around its lines, and of its button where that stands below them."""
BELOW = AROUND + FOOT + 2 * LINE
"""An error that may not be so high has its button beside its lines."""
TOAST_SECONDS = 6.0
TOAST_SHARE = 0.6  # of the window's width is a toast's at most, so that progress and Stop at the left stay in sight


def begun(sentence: str) -> str:
    """A sentence as it begins on a page. What begins with a name (config.toml, a path) begins as that is written."""
    first = sentence.partition(" ")[0]
    return sentence[:1].upper() + sentence[1:] if first.isalpha() and first.islower() else sentence


def error_words(error: ErrorInfo) -> str:
    """An error as a user reads it: a sentence, with the folder of the user as `~`."""
    home = os.path.expanduser("~")
    within = rf"(?<![\w./\\-]){re.escape(home)}(?=[/\\])"  # not of `/backup/home/someone`
    return begun(re.sub(within, "~", str(error)) if len(home) > 1 else str(error))


@dataclass(frozen=True)
class Teach:
    """What stands in the place of something while there is none. `act` names a method of the view, for a button."""

    icon: str
    title: str
    words: str
    command: str = ""
    action: str = ""
    act: str = ""


class EmptyState:
    """What goes here, and the command that fills it; in the middle of `parent`, until there is something."""

    def __init__(self, look: Look, parent: int, told: Teach, on_action: Callable[[], object] | None = None) -> None:
        self._look, self._told = look, told
        self.item = int(dpg.add_group(parent=parent, show=False))
        self._drawn = int(dpg.add_drawlist(10, 10, parent=self.item))
        self._pen = Pen(look, self._drawn)
        self._button = Button(look, self.item, told.action, on_action) if told.action and on_action else None
        self._room = (0.0, 0.0)
        self._stale = True
        look.follow(parent, self._fit)
        look.every_tick(self.tick)

    def show(self, on: bool) -> None:
        """Whether it is there."""
        dpg.configure_item(self.item, show=on)

    def tell(self, told: Teach) -> None:
        """Other words, and another title."""
        self._stale = self._stale or told != self._told
        self._told = told

    def _fit(self, width: float, height: float) -> None:
        self._room, self._stale = (width, height), True

    def tick(self) -> bool:
        """Draw it where somebody sees it: the font of its icon takes five megabytes, in a full home nobody does."""
        if not self._stale or self._room[0] <= 0 or not dpg.get_item_state(self._drawn).get("visible"):
            return False
        look, (width, height), told = self._look, self._room, self._told
        wide = LETTERS.wide(look.font_id("text"))
        room = width - look.px(4)
        lines = told.words.splitlines()  # as they are written, or in other lines where the place is too narrow
        if any(wide(line) > room for line in lines):
            lines = wrapped(" ".join(lines), room, wide).split("\n")
        shown = [(icon_of(told.icon), "picture", "hint", 56), (told.title, "heading", "text", 32)]
        shown += [(line, "text", "muted", 24) for line in lines]
        shown += [("", "text", "text", 6), (told.command, "mono", "accent", 28)] if told.command else []
        tall = look.px(sum(high for *_, high in shown))
        y = max(0.0, (height - tall - look.px(40 if self._button else 0)) * 0.4)
        dpg.configure_item(self._drawn, width=max(1, int(width)), height=max(1, int(y + tall)))
        self._pen.begin()
        self._stale = False
        for words, role, color, high in shown:
            self._pen.words(width / 2, y, words, role, color, room=room, middle=True)
            y += look.px(high)
        self._pen.end()
        if self._button is not None:
            indent = (width - wide(self._button.label)) / 2 - look.px(FRAME[0])
            dpg.configure_item(self._button.item, indent=max(1, int(indent)))
        return True


class Banner:
    """An error where it happened: a sentence, and the way out as a button. Hidden until `set`.

    A long sentence scrolls, so that it is never higher than `fit` says, and its button stays in sight.

    What is told of one act goes with the next act that succeeds (`outlive`). What `stays` is a state of the store, and
    goes when that is mended.
    """

    def __init__(self, look: Look, parent: int, *, on_height: Callable[[int], object] = lambda _high: None) -> None:
        self._look, self._stays, self._on_height = look, False, on_height
        self._action: Callable[[], object] | None = None
        self.item = look.window(
            int(dpg.add_child_window(parent=parent, width=-1, auto_resize_y=True, border=True, show=False))
        )
        look.theme(self.item, "banner")
        left, right = spread(look, self.item)
        words = lowered(look, left, 6)
        text(look, words, icon_of("circle-alert"), "text", "failed")
        self._well = box(look, words, "clear", height=LINE, scroll=True)
        self._words = text(look, self._well, "", wrap=True)
        self._foot = int(dpg.add_group(horizontal=True, parent=self.item, show=False))
        self._beside, self._most, self._below = right, 10_000, False
        self._button = Button(look, right, "", self._act, kind="link")
        self._close = Button(look, right, "", self.hide, icon="x", kind="ghost", tip="Close this message")
        self.shown: ErrorInfo | None = None
        self.height = 0
        """How high it stands there now, in pixels of the screen."""
        look.every_tick(self.tick)

    def set(
        self, error: ErrorInfo, action: str = "", on_action: Callable[[], object] | None = None, stays: bool = False
    ) -> None:
        """Show `error`; `action` names the way out."""
        self.shown, self._stays = error, stays
        dpg.set_value(self._words, error_words(error))
        dpg.set_y_scroll(self._well, 0)
        self._action = on_action
        self._button.set_label(action)
        self._button.show(bool(action and on_action))
        dpg.configure_item(self._foot, show=self._below and self._button.shown)
        dpg.configure_item(self.item, show=True)

    def fit(self, width: int, most: int, narrow: bool) -> None:
        """How wide it is, how high at the most, in pixels of the screen; its button stands below where it is `narrow`
        and high enough."""
        dpg.configure_item(self.item, width=width)
        self._most = most
        below = narrow and most >= self._look.px(BELOW)
        if below != self._below:
            self._below = below
            place = {"parent": self._foot} if below else {"parent": self._beside, "before": self._close.item}
            dpg.move_item(self._button.item, **place)
            dpg.configure_item(self._foot, show=below and self._button.shown)

    def hide(self) -> None:
        """Take it away."""
        self.shown = None
        dpg.configure_item(self.item, show=False)

    def outlive(self) -> None:
        """Something else has been done since: an error of one act is over."""
        if self.shown is not None and not self._stays:
            self.hide()

    def tick(self) -> bool:
        """Tell another height; true when there was one."""
        if self.shown is not None:
            room = self._most - self._look.px(AROUND + (FOOT if self._below and self._button.shown else 0))
            tall = max(int(min(dpg.get_item_rect_size(self._words)[1], room)), self._look.px(LINE))
            if tall != dpg.get_item_height(self._well):
                dpg.configure_item(self._well, height=tall)
                return True
        high = int(dpg.get_item_rect_size(self.item)[1]) if self.shown is not None else 0
        if high == self.height:
            return False
        self.height = high
        self._on_height(high)
        return True

    def _act(self) -> None:
        if self._action is not None:
            self._action()


class ToastLook(TypedDict, total=False):
    """How a toast looks, for how many seconds, and its button (such as Undo) when `action` is given."""

    icon: str
    color: str
    action: str
    on_action: Callable[[], object] | None
    seconds: float


class Toast:
    """A short message at the bottom of the panel, above what `at_foot` says has to stay in sight there; gone after some
    seconds; one at a time, the newest."""

    def __init__(
        self, look: Look, at_foot: Callable[[], int] = lambda: 0, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._look, self._at_foot, self._now = look, at_foot, now
        self._until = 0.0
        self._action: Callable[[], object] | None = None
        self.item = look.window(
            int(
                dpg.add_child_window(
                    parent=look.focus.root, show=False, auto_resize_x=True, auto_resize_y=True, no_scrollbar=True,
                    always_use_window_padding=True, border=True, pos=[0, 0],
                )
            )
        )  # fmt: skip
        look.theme(self.item, "toast")
        row = int(dpg.add_group(horizontal=True, parent=self.item))
        look.size(int(dpg.add_spacer(parent=row)), width=1, height=CONTROL_HEIGHT)  # room below the line of text
        words = lowered(look, row, 6)
        self._icon = text(look, words, "")
        self._words = text(look, words, "")
        self._button = Button(look, row, "", self._act, kind="link")
        look.every_tick(self.tick)

    def show(self, words: str, **how: Unpack[ToastLook]) -> None:
        """Show `words` for some seconds."""
        dpg.set_value(self._icon, icon_of(how.get("icon", "circle-check")))
        self._look.tint(self._icon, how.get("color", "harvested"))
        dpg.set_value(self._words, self._cut(lettered(words)))
        self._action = how.get("on_action")
        self._button.set_label(how.get("action", ""))
        self._button.show(bool(how.get("action") and self._action))
        self._until = self._now() + how.get("seconds", TOAST_SECONDS)
        dpg.configure_item(self.item, show=True)

    def hide(self) -> None:
        """Take it away."""
        self._until = 0.0
        dpg.configure_item(self.item, show=False)

    def tick(self) -> bool:
        """Keep it in the corner, and take it away in time; true while its place is not right yet."""
        if not self._until:
            return False
        if self._now() >= self._until:
            self.hide()
            return True
        width, height = dpg.get_item_rect_size(self.item)
        around = dpg.get_item_rect_size(self._look.focus.root)
        down = int(around[1] - height) - self._look.px(4) - self._at_foot()
        place = [int(around[0] - width) - self._look.px(8), down]
        if place == dpg.get_item_pos(self.item):
            return False
        dpg.configure_item(self.item, pos=place)
        return True

    def _cut(self, words: str) -> str:
        """The words in one line that leaves room beside it."""
        words, wide = " ".join(words.split()), LETTERS.wide(self._look.font_id("text"))
        room = dpg.get_item_rect_size(self._look.focus.root)[0] * TOAST_SHARE
        return cut(words, room, wide) if room > 0 else words

    def _act(self) -> None:
        self.hide()
        if self._action is not None:
            self._action()
