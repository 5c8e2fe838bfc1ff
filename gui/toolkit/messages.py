"""What speaks to the user: empty states that teach, errors where they happen, toasts."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Mapping

import dearpygui.dearpygui as dpg

from core.base.result import ErrorInfo
from gui.toolkit.icons import icon as icon_of
from gui.toolkit.layout import lowered, spread
from gui.toolkit.letters import LETTERS, cut, wrapped
from gui.toolkit.theme import Look
from gui.toolkit.widgets import CONTROL_HEIGHT, Button, text

TOAST_SECONDS = 5.0
NARROW = 460  # a message narrower than this has its button below
SPARE_LINES = 6  # for words that need more lines in a narrow place
TOAST_SHARE = 0.6  # of the window's width is a toast's at most, so that progress and Stop at the left stay in sight
BANNER_SECONDS = 20.0  # so long an error stays once somebody has been there to see it


def begun(sentence: str) -> str:
    """A sentence as it begins on a page. What begins with a name (config.toml, a path) begins as that is written."""
    first = sentence.partition(" ")[0]
    return sentence[:1].upper() + sentence[1:] if first.isalpha() and first.islower() else sentence


def error_words(error: ErrorInfo) -> str:
    """An error as a user reads it: a sentence, with the folder of the user as `~`."""
    home = os.path.expanduser("~")
    within = rf"(?<![\w./\\-]){re.escape(home)}(?=[/\\])"  # not of `/backup/home/someone`
    return begun(re.sub(within, "~", str(error)) if len(home) > 1 else str(error))


class EmptyState:
    """What goes here, and the command that fills it; in the middle of `container`, until there is something."""

    def __init__(
        self,
        look: Look,
        parent: int,
        container: int,
        *,
        icon: str,
        title: str,
        words: str,
        command: str = "",
        action: str = "",
        on_action: Callable[[], object] | None = None,
    ) -> None:
        self._look = look
        self.item = int(dpg.add_group(parent=parent, show=False))
        self._space = int(dpg.add_spacer(parent=self.item, height=1))
        self._lines = [
            text(look, self.item, icon_of(icon), "text", "hint"),
            text(look, self.item, title, "heading"),
        ]
        self._single = [(self._lines[1], title, "heading")]
        self._told = " ".join(words.splitlines())
        self._usual = words.splitlines()
        self._words = [text(look, self.item, "", "text", "muted") for _ in range(len(self._usual) + SPARE_LINES)]
        self._lines += self._words
        if command:
            look.size(int(dpg.add_spacer(parent=self.item)), height=2)
            self._lines.append(text(look, self.item, command, "mono", "accent"))
            self._single.append((self._lines[-1], command, "mono"))
        if action and on_action is not None:
            look.size(int(dpg.add_spacer(parent=self.item)), height=4)
            self._lines.append(Button(look, self.item, action, on_action).item)
        self._width = self._height = 0.0
        self._seen = False
        self._middles: list[float] = []
        look.follow(container, self._fit)
        look.every_tick(self.tick)

    def show(self, on: bool) -> None:
        """Whether it is there."""
        dpg.configure_item(self.item, show=on)
        self._middles = []

    def _fit(self, width: float, height: float) -> None:
        self._width, self._height = width, height
        self._break()
        self._middles = []

    def tell(self, words: str, title: str = "") -> None:
        """Other words, of at most `SPARE_LINES` more lines, and another title where one is given."""
        self._told, self._usual = " ".join(words.splitlines()), words.splitlines()
        if title:
            self._single[0] = (self._lines[1], title, "heading")
        self._break()
        self._middles = []

    def _break(self) -> None:
        """The words in lines as they are written, or in other ones where the place is too narrow for those."""
        wide = LETTERS.wide(self._look.font_id("text"))
        lines = self._usual
        if wide is not None and any(wide(line) > self._width for line in lines):
            lines = wrapped(self._told, self._width - self._look.px(4), wide).split("\n")
        for item, words, role in self._single:
            wide = LETTERS.wide(self._look.font_id(role))
            dpg.set_value(item, words if wide is None else cut(words, self._width - self._look.px(4), wide))
        for number, item in enumerate(self._words):
            dpg.set_value(item, (lines[number] or " ") if number < len(lines) else "")
            dpg.configure_item(item, show=number < len(lines))

    def tick(self) -> bool:
        """Bring every line into the middle once its width is known; true when one moved."""
        if self._width <= 0 or not dpg.is_item_shown(self.item):
            return False
        if not self._seen:
            # The font of the icon takes five megabytes: it is read once somebody sees it, in a full home never.
            if not dpg.get_item_state(self.item).get("visible"):
                return False
            self._seen = True
            self._look.font(self._lines[0], "picture")
            return True
        shown = [item for item in self._lines if dpg.is_item_shown(item)]
        wide = [dpg.get_item_rect_size(item)[0] for item in shown]
        if wide == self._middles or not all(wide):
            return False
        self._middles = wide
        for item, width in zip(shown, wide, strict=True):
            dpg.configure_item(item, indent=max(1, int((self._width - width) / 2)))
        tall = self._look.px(40 + 34 * len(shown))
        dpg.configure_item(self._space, height=max(1, int((self._height - tall) * 0.4)))
        return True


class Teaching:
    """Several empty states, of which one stands in the place of a list (`holder`) while that has no rows."""

    def __init__(self, holder: int, states: Mapping[str, EmptyState]) -> None:
        self._holder, self._states = holder, states
        self._shown = ""

    def show(self, name: str) -> None:
        """Show one of them instead of the list; "" shows the list."""
        if name == self._shown:
            return
        if self._shown:
            self._states[self._shown].show(False)
        if name:
            self._states[name].show(True)
        dpg.configure_item(self._holder, show=not name)
        self._shown = name


class Banner:
    """An error where it happened: a sentence, and the way out as a button. Hidden until `set`.

    What is told of one act goes by itself: some time after the mouse or a key has told that somebody is there. What
    `stays` is a state of the store, and goes when that is mended.
    """

    def __init__(
        self,
        look: Look,
        parent: int,
        *,
        on_height: Callable[[int], object] = lambda _high: None,
    ) -> None:
        self._look, self._now, self._stays, self._on_height = look, time.monotonic, False, on_height
        self._shown_at = self._seen_at = 0.0
        self._mouse: object = None
        self._action: Callable[[], object] | None = None
        self.item = look.window(
            int(dpg.add_child_window(parent=parent, width=-1, auto_resize_y=True, border=True, show=False))
        )
        look.theme(self.item, "banner")
        left, right = spread(look, self.item)
        words = lowered(look, left, 6)
        text(look, words, icon_of("circle-alert"), "text", "failed")
        self._words = text(look, words, "", wrap=True)
        self._button = Button(look, right, "", self._act, kind="link")
        self._below = Button(look, self.item, "", self._act, kind="link")
        self._narrow = False
        look.follow(self.item, self._fit)
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
        self._shown_at, self._seen_at, self._mouse = self._now(), 0.0, dpg.get_mouse_pos(local=False)
        dpg.set_value(self._words, error_words(error))
        self._action = on_action
        for button in (self._button, self._below):
            button.set_label(action)
        self._place()
        dpg.configure_item(self.item, show=True)

    def _fit(self, width: float, _height: float) -> None:
        self._narrow = width < self._look.px(NARROW)
        self._place()

    def _place(self) -> None:
        """The way out stands at the right of the sentence, in a narrow place below it."""
        there = self._action is not None and bool(dpg.get_item_label(self._below.item))
        self._button.show(there and not self._narrow)
        self._below.show(there and self._narrow)

    def hide(self) -> None:
        """Take it away."""
        self.shown = None
        dpg.configure_item(self.item, show=False)

    def outlive(self, seconds: float = 0.0) -> None:
        """Something else has been done since: an error of one act, shown for so long, is over."""
        if self.shown is not None and not self._stays and self._now() - self._shown_at >= seconds:
            self.hide()

    def tick(self) -> bool:
        """Tell another height; take it away once it has been seen for a while."""
        high = int(dpg.get_item_rect_size(self.item)[1]) if self.shown is not None else 0
        if high != self.height:
            self.height = high
            self._on_height(high)
            return True
        if self.shown is None or self._stays:
            return False
        if not self._seen_at and dpg.get_mouse_pos(local=False) != self._mouse:
            self._seen_at = self._now()
        over = self._seen_at > 0 and self._now() - self._seen_at > BANNER_SECONDS
        if over:
            self.hide()
        return over

    def _act(self) -> None:
        if self._action is not None:
            self._action()


class Toast:
    """A short message over the line at the bottom of the panel, where it hides nothing that can be worked with; gone
    after five seconds; one at a time, the newest."""

    def __init__(self, look: Look, now: Callable[[], float] = time.monotonic) -> None:
        self._look, self._now = look, now
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

    def show(
        self,
        words: str,
        *,
        icon: str = "circle-check",
        color: str = "harvested",
        action: str = "",
        on_action: Callable[[], object] | None = None,
        seconds: float = TOAST_SECONDS,
    ) -> None:
        """Show `words` for some seconds, with a button (such as Undo) when `action` is given."""
        dpg.set_value(self._icon, icon_of(icon))
        self._look.tint(self._icon, color)
        dpg.set_value(self._words, self._cut(words))
        self._action = on_action
        self._button.set_label(action)
        self._button.show(bool(action and on_action))
        self._until = self._now() + seconds
        dpg.configure_item(self.item, show=True)

    def hide(self) -> None:
        """Take it away."""
        self._until = 0.0
        dpg.configure_item(self.item, show=False)

    @property
    def shown(self) -> bool:
        """Whether it is there."""
        return self._until > 0

    def tick(self) -> bool:
        """Keep it in the corner, and take it away in time; true while its place is not right yet."""
        if not self._until:
            return False
        if self._now() >= self._until:
            self.hide()
            return True
        width, height = dpg.get_item_rect_size(self.item)
        around = dpg.get_item_rect_size(self._look.focus.root)
        place = [int(around[0] - width) - self._look.px(8), int(around[1] - height) - self._look.px(4)]
        if place == dpg.get_item_pos(self.item):
            return False
        dpg.configure_item(self.item, pos=place)
        return True

    def _cut(self, words: str) -> str:
        """The words in one line that leaves room beside it."""
        words, wide = " ".join(words.split()), LETTERS.wide(self._look.font_id("text"))
        room = dpg.get_item_rect_size(self._look.focus.root)[0] * TOAST_SHARE
        return words if wide is None or room <= 0 else cut(words, room, wide)

    def _act(self) -> None:
        self.hide()
        if self._action is not None:
            self._action()
