"""Columns side by side, with handles to drag, that give way in a narrow window."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import dearpygui.dearpygui as dpg

from gui.theme import Look
from gui.widgets_layout import box


@dataclass
class Pane:
    """One column: `width` in unscaled pixels, 0 for the one that takes what is left; never below `least`.

    `good` is what the latter wants: others give way until it has that, unless the person made them so wide (`own`).
    `scroll`: content that is too tall can be moved.
    """

    name: str
    width: float
    least: float = 160
    scroll: bool = False
    item: int = 0
    shown: bool = True
    good: float = 0
    own: bool = False


class Columns:
    """Columns side by side with handles between them that can be dragged; they fill `parent` (a child window).

    Exactly one pane has width 0. `on_moved(widths)` hears the widths of the others after a drag, to be remembered.
    """

    HANDLE = 8

    def __init__(
        self,
        look: Look,
        parent: int,
        panes: list[Pane],
        *,
        kind: str = "clear",
        on_moved: Callable[[dict[str, float]], object] | None = None,
    ) -> None:
        self._look, self.panes, self._on_moved = look, panes, on_moved
        self._inside = (0.0, 0.0)
        self._dragged: tuple[int, float, float] | None = None
        self.crowded: tuple[str, ...] = ()
        """Panes that are hidden for the time being, because the window is too narrow for all; the first ones first."""
        self._handles: list[int] = []
        row = look.theme(int(dpg.add_group(horizontal=True, parent=parent)), "no-gap")
        for number, pane in enumerate(panes):
            if number:
                handle = int(dpg.add_button(label="", parent=row))
                self._handles.append(look.theme(handle, "splitter"))
            pane.item = box(look, row, kind, scroll=pane.scroll)
        look.follow(parent, self._fit)
        look.every_tick(self.tick)

    def widths(self) -> dict[str, float]:
        """Widths in unscaled pixels of all panes but the one that takes what is left."""
        return {pane.name: pane.width for pane in self.panes if pane.width}

    def set_widths(self, widths: Mapping[str, float]) -> None:
        """Put remembered widths back; unknown names and too small ones are put right."""
        for pane in self.panes:
            if pane.width and pane.name in widths:
                pane.width, pane.own = max(pane.least, widths[pane.name]), True
        self._fit(*self._inside)

    def shows(self, name: str) -> bool:
        """Whether a pane is there."""
        return any(pane.shown for pane in self.panes if pane.name == name)

    def show(self, name: str, on: bool) -> None:
        """Hide a pane with the handle beside it, or bring it back as wide as it was; not the elastic one."""
        for number, pane in enumerate(self.panes):
            if pane.name == name and pane.width:
                pane.shown = on
                self._there(number, on)
        self._fit(*self._inside)

    def _there(self, number: int, on: bool) -> None:
        dpg.configure_item(self.panes[number].item, show=on)
        dpg.configure_item(self._handle_of(number), show=on)

    def _crowd(self, width: float) -> None:
        """Hide as many panes as it takes for the others to have their least width, and bring them back."""
        there = [pane for pane in self.panes if pane.shown]
        gone: list[str] = []
        for pane in [pane for pane in there if pane.width]:
            if self._look.px(sum(one.least + self.HANDLE for one in there) - self.HANDLE) > width:
                there.remove(pane)
                gone.append(pane.name)
        if tuple(gone) != self.crowded:
            self.crowded = tuple(gone)
            for number, pane in enumerate(self.panes):
                if pane.width:
                    self._there(number, pane in there)

    def _handle_of(self, number: int) -> int:
        """The handle that moves a pane: at its right for those before the elastic one, at its left after it."""
        elastic = next(at for at, pane in enumerate(self.panes) if not pane.width)
        return self._handles[number if number < elastic else number - 1]

    def tick(self) -> bool:
        """Follow a drag; true while one goes on."""
        held = next((number for number, handle in enumerate(self._handles) if dpg.is_item_active(handle)), None)
        if held is None:
            if self._dragged is not None:
                self._dragged = None
                if self._on_moved is not None:
                    self._on_moved(self.widths())
            return False
        x = dpg.get_mouse_pos(local=False)[0] / self._look.scale
        left, right = self.panes[held], self.panes[held + 1]
        # The pane before the handle grows with the mouse, unless it is the elastic one: then the next one shrinks.
        pane, sign = (left, 1.0) if left.width else (right, -1.0)
        if self._dragged is None or self._dragged[0] != held:
            self._dragged = (held, x, pane.width)
        _, begun, width = self._dragged
        wanted = max(pane.least, width + sign * (x - begun))
        elastic = next((other for other in self.panes if not other.width), None)
        others = sum(other.width for other in self.panes if other is not pane and other.shown)
        handles = sum(other.shown for other in self.panes) - 1
        room = self._inside[0] / self._look.scale - others - self.HANDLE * handles
        pane.width = max(pane.least, min(wanted, room - (elastic.least if elastic else 0)))
        pane.own = True
        self._fit(*self._inside)
        return True

    def _fit(self, width: float, height: float) -> None:
        if width <= 0:
            return
        self._inside = (width, height)
        handle = self._look.px(self.HANDLE)
        for item in self._handles:
            dpg.configure_item(item, width=handle, height=int(height))
        self._crowd(width)
        there = [pane for pane in self.panes if pane.shown and pane.name not in self.crowded]
        fixed = {pane.name: self._look.px(pane.width) for pane in there if pane.width}
        elastic = next(pane for pane in self.panes if not pane.width)
        left = int(width) - sum(fixed.values()) - handle * len(fixed)
        for wanted in (elastic.good, elastic.least):
            short = self._look.px(wanted) - left
            for pane in reversed(there):  # a narrow window: the last columns give way first
                if short > 0 and pane.name in fixed and not (pane.own and wanted == elastic.good):
                    give = min(short, max(0, fixed[pane.name] - self._look.px(pane.least)))
                    fixed[pane.name] -= give
                    short -= give
                    left += give
        for pane in there:
            dpg.configure_item(pane.item, width=fixed.get(pane.name, max(left, 1)), height=int(height))
