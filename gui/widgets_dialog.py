"""A modal question with Esc and Enter."""

from __future__ import annotations

from collections.abc import Callable

import dearpygui.dearpygui as dpg

from gui.icons import icon as icon_of
from gui.theme import Look
from gui.widgets import Button, floating, text
from gui.widgets_layout import lowered, space, spread


class Dialog:
    """A modal question that says what will happen: title, `body` for the content, a note, Cancel and one button.

    Esc cancels and Enter confirms (`key`, called by the keyboard's layers). `on_confirm` may return False to keep it
    open. Only one dialog is open at a time.
    """

    def __init__(
        self,
        look: Look,
        title: str,
        confirm: str,
        on_confirm: Callable[[], object],
        *,
        icon: str = "",
        kind: str = "primary",
        width: float = 520,
        on_cancel: Callable[[], object] | None = None,
    ) -> None:
        self._look, self._on_confirm, self._on_cancel = look, on_confirm, on_cancel
        self.is_open = False
        self.enabled = True
        self._size: list[int] = []
        self.item, outer = floating(look, "modal", width, modal=True)
        row = int(dpg.add_group(horizontal=True, parent=outer))
        if icon:
            text(look, row, icon_of(icon), "heading", "failed" if kind == "danger" else "accent")
        self._title = text(look, row, title, "heading")
        space(look, outer, 2)
        self.body = int(dpg.add_group(parent=outer))
        space(look, outer, 2)
        left, right = spread(look, outer)
        self._note = text(look, lowered(look, left, 7), "", "mono", "muted")
        self.cancel_button = Button(look, right, "Cancel  Esc", self.cancel)
        self.confirm_button = Button(look, right, f"{confirm}  Enter", self.confirm, kind=kind)
        look.every_tick(self.tick)

    def open(self) -> None:
        """Show it, in the middle of the viewport."""
        self.is_open = True
        self._size = []
        dpg.configure_item(self.item, show=True)
        self.tick()

    def close(self) -> None:
        """Hide it, calling nobody."""
        self.is_open = False
        dpg.configure_item(self.item, show=False)

    def cancel(self) -> None:
        """Hide it and tell that nothing is to be done."""
        self.close()
        if self._on_cancel is not None:
            self._on_cancel()

    def confirm(self) -> None:
        """Do it, when that is possible at the moment."""
        if self.enabled and self._on_confirm() is not False:
            self.close()

    def enable(self, on: bool) -> None:
        """Whether it can be confirmed at the moment."""
        self.enabled = on
        self.confirm_button.enable(on)

    def set_title(self, words: str) -> None:
        """Another title."""
        dpg.set_value(self._title, words)

    def set_confirm(self, words: str) -> None:
        """Another label for the button that does it."""
        self.confirm_button.set_label(f"{words}  Enter")

    def set_note(self, words: str) -> None:
        """A short line beside the buttons: price, time."""
        dpg.set_value(self._note, words)

    def key(self, name: str, _modifiers: frozenset[str] = frozenset(), typing: bool = False) -> bool:
        """A layer of the keyboard: takes every key while it is open. Enter in a text field stays the field's."""
        if not self.is_open:
            return False
        if name == "Esc":
            self.cancel()
        elif name in ("Enter", "Keypad Enter") and not typing:
            self.confirm()
        return True

    def tick(self) -> bool:
        """Keep it in the middle; true while its place is not right yet."""
        if not self.is_open:
            return False
        if not dpg.is_item_shown(self.item):  # another modal window closed in the same frame took it along
            dpg.configure_item(self.item, show=True)
            self._size = []
            return True
        size = [int(length) for length in dpg.get_item_rect_size(self.item)]
        view = [dpg.get_viewport_client_width(), dpg.get_viewport_client_height()]
        if [*size, *view] == self._size:
            return False
        self._size = [*size, *view]
        if size[1] < 20:  # not drawn yet: a guess, put right with the next frame
            size = [self._look.px(556), self._look.px(260)]
        left, top = max(0, (view[0] - size[0]) // 2), max(0, int((view[1] - size[1]) * 0.42))
        dpg.configure_item(self.item, pos=[left, top])
        return True
