"""Whose the keyboard is: Dear ImGui gives it to one window at a time, and only in a window of its own does a part of a
host's program act on keys. A field of the host's, its tabs, its questions are windows that nobody here knows of.

A window that is hidden while it has the keyboard leaves it to nobody for a frame, and Dear ImGui then picks any window:
what was ours is taken back. A press that falls into such a frame waits (`mine` is None).

In a host's window Tab leads from a field of the host's into one of ours. That is no wish to work here: only a click
gives us the keyboard, or the host (`take`).
"""

from __future__ import annotations

import dearpygui.dearpygui as dpg

TRIES, EVERY = 12, 4
"""Frames in which the root may take the keyboard, and how often it asks: it has it two frames after it was asked."""
MOUSE = (dpg.mvMouseButton_Left, dpg.mvMouseButton_Right, dpg.mvMouseButton_Middle)
CLICK = 4
"""Frames that a window has taken the keyboard in after it was clicked."""
UNSURE = 3
"""Frames in which nobody may have the keyboard while one window of ours hands it to another."""


class Focus:
    """One for a panel; `root` is the child window that everything else lies in, `windows` are all of them."""

    def __init__(self) -> None:
        self.root = 0
        self.windows: list[int] = []
        self.alone = False
        """Nothing but the panel is in this window."""
        self._last = self._frame = self._left = self._clicked = 0
        self._asks = False
        self._mine: bool | None = False

    def take(self) -> None:
        """Give the panel the keyboard, with the next frames."""
        self._mine, self._left, self._asks = None, TRIES, True

    def back(self) -> None:
        """A window of ours that lay over the rest is closed: if it had the keyboard, the root gets it, for what had it
        before may be hidden by now."""
        if self.mine() is not False:
            self.take()

    def mine(self) -> bool | None:
        """Whether one of our windows has the keyboard; None while that shows with the next frames only."""
        frame = dpg.get_frame_count()
        if frame == self._frame:
            return self._mine
        self._frame = frame
        touched = any(dpg.is_mouse_button_clicked(one) or dpg.is_mouse_button_released(one) for one in MOUSE)
        self._clicked = CLICK if touched else max(0, self._clicked - 1)
        has = self._has()
        if has and (self.alone or self._clicked or self._mine is not False):
            self._last, self._mine = has, True
        elif self._mine and self._was_hidden(self._last):
            self.take()
        elif self._mine:
            self._mine, self._left, self._asks = None, UNSURE, False
        elif self._mine is None and self._left:
            self._left -= 1
        else:
            self._mine = False
        return self._mine

    def tick(self, wanted: bool) -> bool:
        """Before each frame; `wanted`: a field of ours is about to have the keyboard. True while a frame is needed."""
        if self.mine() is None and self._asks and self._left % EVERY == 0 and not wanted:
            dpg.focus_item(self.root)
        return self._mine is None

    def _has(self) -> int:
        """The window of ours that has the keyboard, 0 for none; most often it is the last one."""
        return next((one for one in (self._last, *self.windows) if one and dpg.is_item_focused(one)), 0)

    def _was_hidden(self, item: int) -> bool:
        """Whether we hid a window inside of the root, or what it lies in: after a popup Dear ImGui itself gives the
        keyboard to what was clicked, and where the host hides the root, the keyboard is the host's."""
        hidden = False
        while item and item != self.root:
            hidden = hidden or not dpg.is_item_shown(item)
            item = dpg.get_item_parent(item) or 0
        return hidden and item == self.root
