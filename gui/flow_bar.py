"""The small buttons of one row of a flowing list: made once, shown at whichever row is meant."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import dearpygui.dearpygui as dpg

from gui.flow_rows import BUTTON, RowAction
from gui.theme import Look
from gui.widgets import Button

HEIGHT, MARGIN = 24, 6


class RowBar:
    """Buttons at the lower right of a row. `on_click(name)` hears which one."""

    def __init__(
        self, look: Look, parent: int, actions: Sequence[RowAction], on_click: Callable[[str], object]
    ) -> None:
        self._look = look
        self._labels = {action.name: action.label for action in actions}
        self._shown: tuple[object, ...] = ()
        self.item = int(dpg.add_child_window(parent=parent, show=False, border=False, no_scrollbar=True, pos=[0, 0]))
        look.theme(self.item, "clear")
        line = look.theme(int(dpg.add_group(horizontal=True, parent=self.item)), "row-buttons")
        self.buttons = {
            action.name: Button(
                look,
                line,
                action.label,
                lambda name=action.name: on_click(name),  # type: ignore[misc]
                icon=action.icon,
                kind="row-action",
                tip=action.tip,
                shortcut=action.shortcut,
            )
            for action in actions
        }

    def show(self, can: frozenset[str], right: int, bottom: int) -> None:
        """Show the buttons named in `can`, their lower right corner at a place of the content; none: hide."""
        names = tuple(name for name in self._labels if name in can)
        shown: tuple[object, ...] = (names, right, bottom) if names else ()
        if shown == self._shown:
            return
        self._shown = shown
        if not names:
            dpg.configure_item(self.item, show=False)
            return
        for name, button in self.buttons.items():
            button.show(name in names)
        px = self._look.px
        wide = self.width(can) + px(MARGIN)
        place = [right - wide - px(MARGIN), bottom - px(HEIGHT) - 2]
        dpg.configure_item(self.item, show=True, pos=place, width=wide, height=px(HEIGHT))

    def width(self, can: frozenset[str]) -> int:
        """How wide the buttons named in `can` are together, in pixels of the screen."""
        look, wide = self._look, 0
        for name, label in self._labels.items():
            if name in can:
                words = dpg.get_text_size(f"  {label}", font=look.font_id("text")) if label else None
                wide += look.px(BUTTON) + (int(words[0]) if words else 0)
        return wide

    def hide(self) -> None:
        """Show nothing."""
        self.show(frozenset(), 0, 0)

    def forget(self) -> None:
        """Let the next `show` set everything anew, after a change of scale."""
        self._shown = (None,)

    def is_used(self) -> bool:
        """Whether the mouse is over it. While a button is pressed, no window counts as being under the mouse."""
        held = any(dpg.is_item_active(button.item) for button in self.buttons.values())
        return held or bool(dpg.is_item_hovered(self.item))
