"""A modal question with Esc and Enter."""

from __future__ import annotations

from collections.abc import Callable

import dearpygui.dearpygui as dpg

from gui.icons import icon as icon_of
from gui.theme import Look
from gui.widgets import Button, floating, text
from gui.widgets_layout import lowered, space, spread

MARGIN, EDGE = 24, 12  # the least distance of a dialog from the sides of the window, and from its top and bottom
USUAL_AROUND = 100  # what a dialog has above and below its content, before anybody measured
PADDING = 16  # of the style "modal"


class Dialog:
    """A modal question that says what will happen: title, `body` for the content, a note, Cancel and one button.

    Esc cancels and Enter confirms (`key`, called by the keyboard's layers). Where `kind` is danger, Enter cancels too:
    a finger that is still typing must not destroy anything; Alt with the first letter of the button does it.
    `on_confirm` may return False to keep it open. Only one dialog is open at a time.
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
        self._kind = kind
        self._words = confirm
        self._size: list[int] = []
        self._width = width
        self._fitted = (0, 0)
        self._page_before = (0, 0)
        self._around = float(USUAL_AROUND)
        self.item, self._outer = floating(look, "modal", width, modal=True)
        outer = self._outer
        row = int(dpg.add_group(horizontal=True, parent=outer))
        self._icon = text(
            look, row, icon_of(icon) if icon else "", "heading", "failed" if kind == "danger" else "accent"
        )
        dpg.configure_item(self._icon, show=bool(icon))
        self._title = text(look, row, title, "heading")
        space(look, outer, 2)
        self._page = int(dpg.add_child_window(parent=outer, border=False, width=-1, height=10))
        self.body = int(dpg.add_group(parent=look.theme(self._page, "page")))
        space(look, outer, 2)
        left, right = spread(look, outer)
        self._note = text(look, lowered(look, left, 7), "", "mono", "muted")
        self.cancel_button = Button(look, right, "Cancel  Esc", self.cancel)
        self.confirm_button = Button(look, right, self._label(), self.confirm, kind=kind)
        look.every_tick(self.tick)
        look.on_change(self._forget)

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
        self._words = words
        self.confirm_button.set_label(self._label())

    def set_kind(self, kind: str) -> None:
        """Another kind: `danger` for what destroys something, else `primary`."""
        self._kind = kind
        self.confirm_button.set_kind(kind)
        self._look.tint(self._icon, "failed" if kind == "danger" else "accent")
        self.confirm_button.set_label(self._label())

    def _label(self) -> str:
        return f"{self._words}  {self.confirm_key}"

    @property
    def confirm_key(self) -> str:
        """The key that does it, as it is written on the button."""
        return f"Alt+{self._words[:1].upper()}" if self._kind == "danger" else "Enter"

    def set_note(self, words: str) -> None:
        """A short line beside the buttons: price, time."""
        dpg.set_value(self._note, words)

    def key(self, name: str, modifiers: frozenset[str] = frozenset(), typing: bool = False) -> bool:
        """A layer of the keyboard: takes every key while it is open. Enter in a text field stays the field's."""
        if not self.is_open:
            return False
        enter, danger = name in ("Enter", "Keypad Enter") and not typing and not modifiers, self._kind == "danger"
        if name == "Esc" or (enter and danger):
            self.cancel()
        elif enter or (danger and modifiers == {"Alt"} and name == self._words[:1].upper()):
            self.confirm()
        return True

    def tick(self) -> bool:
        """Keep it in the middle, and its buttons in sight; true while its place is not right yet."""
        if not self.is_open:
            return False
        grown = self._fit()
        if not dpg.is_item_shown(self.item):  # another modal window closed in the same frame took it along
            dpg.configure_item(self.item, show=True)
            self._size = []
            return True
        size = [int(length) for length in dpg.get_item_rect_size(self.item)]
        view = [dpg.get_viewport_client_width(), dpg.get_viewport_client_height()]
        if [*size, *view] == self._size:
            return grown
        self._size = [*size, *view]
        if size[1] < 20:  # not drawn yet: a guess, put right with the next frame
            size = [self._look.px(556), self._look.px(260)]
        left, top = max(0, (view[0] - size[0]) // 2), max(0, int((view[1] - size[1]) * 0.42))
        dpg.configure_item(self.item, pos=[left, top])
        return True

    def _forget(self) -> None:
        self._fitted = (0, 0)

    def _fit(self) -> bool:
        """As high as what is in it; where the window is too low for that, the content scrolls and the buttons stay.
        True while the height is not right yet."""
        look, view = self._look, (dpg.get_viewport_client_width(), dpg.get_viewport_client_height())
        width = min(look.px(self._width), view[0] - 2 * look.px(MARGIN))
        content = int(dpg.get_item_rect_size(self.body)[1]) + look.px(2)
        page = int(dpg.get_item_rect_size(self._page)[1])
        outer = int(dpg.get_item_rect_size(self._outer)[1])
        if page == self._page_before[0] == self._page_before[1] and page < outer:  # at rest: its frame tells the truth
            self._around = (outer - page) / look.scale
        self._page_before = (page, self._page_before[0])
        around = look.px(self._around) + 2 * look.px(PADDING + EDGE)
        height = max(look.px(40), min(content, view[1] - around))
        if (width, height) == self._fitted:
            return False
        self._fitted = (width, height)
        dpg.configure_item(self._outer, width=width)
        dpg.configure_item(self._page, height=height)
        return True
