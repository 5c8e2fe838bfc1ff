"""One tool in the view of the sources: its switch, what it left here, what it will delete. Made once, filled again."""

from __future__ import annotations

from collections.abc import Callable

import dearpygui.dearpygui as dpg

from gui.toolkit.charts import SegmentBar
from gui.toolkit.icons import icon
from gui.toolkit.layout import box, lowered, spread
from gui.toolkit.letters import END
from gui.toolkit.theme import Look
from gui.toolkit.widgets import Button, ButtonRow, Toggle, hint, say_hint, text
from gui.views.sources_rows import SourceRow

PARTS = 3


class SourceCard:
    """A card for a source that was found. `on_switch(name, on)`, `on_harvest(name)`, `on_folder(row)` hear of it."""

    def __init__(
        self,
        look: Look,
        parent: int,
        on_switch: Callable[[str, bool], object],
        on_harvest: Callable[[str], object],
        on_folder: Callable[[SourceRow], object],
    ) -> None:
        self._look = look
        self.row = SourceRow("", "", False, False)
        self.item = box(look, parent, "card", height=0)
        left, right = spread(look, self.item)
        self.toggle = Toggle(look, left, "", lambda on: on_switch(self.row.name, on),
                             tip="Whether a harvest reads it", shortcut="Space")  # fmt: skip
        self._read = text(look, lowered(look, left, 7), "", "small", "hint", fit=END)
        self.folder = Button(look, right, "", lambda: on_folder(self.row), icon="folder-open", kind="ghost",
                             tip="Open its folder", shortcut="O")  # fmt: skip
        self.harvest = Button(look, right, "Harvest this…", lambda: on_harvest(self.row.name), icon="wheat",
                              tip="A dry run of this source alone: nothing is written", shortcut="Enter")  # fmt: skip
        ButtonRow(look, self.item, (self.folder, self.harvest), taken=210)
        body = look.theme(int(dpg.add_group(parent=self.item)), "row-lines")
        self._words = text(look, body, "", "text", "muted", wrap=True)
        self._bar = SegmentBar(look, body, self.item, height=6, most=PARTS)
        line = int(dpg.add_group(horizontal=True, parent=body))
        self._legend = line
        self._parts = [text(look, line, "", "small", fit=END) for _ in range(PARTS)]
        self.warning = text(look, body, "", "text", "edited", wrap=True)
        self._place = text(look, body, "", "small", "hint", wrap=True)
        self._tip = hint(look, self._place, "")
        dpg.configure_item(self.item, show=False)

    def show(self, row: SourceRow | None) -> None:
        """Fill it; None hides it."""
        dpg.configure_item(self.item, show=row is not None)
        if row is None:
            return
        self.row = row
        self.toggle.set_label(row.title)
        if self.toggle.on != row.on:
            self.toggle.set_on(row.on)
        dpg.set_value(self._read, "read by every harvest" if row.on else "not read unless you ask")
        dpg.set_value(self._words, row.words)
        self._bar.set(row.parts, row.total or 1)
        for item in (self._bar.item, self._legend):
            dpg.configure_item(item, show=bool(row.parts))
        for number, item in enumerate(self._parts):
            part = row.parts[number] if number < len(row.parts) else None
            dpg.configure_item(item, show=part is not None and part.value > 0)
            if part is not None:
                dpg.set_value(item, f"{part.words}   ")
                self._look.tint(item, part.color)
        sign = icon("clock" if row.color == "hint" else "triangle-alert")
        dpg.set_value(self.warning, f"{sign}  {row.warning}")
        self._look.tint(self.warning, row.color)
        dpg.configure_item(self.warning, show=bool(row.warning))
        dpg.set_value(self._place, row.place)
        say_hint(self._tip, "\n".join(row.folders))
        dpg.configure_item(self._place, show=bool(row.folders))
        self.harvest.enable(bool(row.total))

    def mark(self, on: bool) -> None:
        """Whether the keys mean this one."""
        self._look.theme(self.item, "card-on" if on else "card")


class SourceLine:
    """A source of which nothing is here: its switch alone."""

    def __init__(self, look: Look, parent: int, on_switch: Callable[[str, bool], object]) -> None:
        self.row = SourceRow("", "", False, False)
        self.item = look.theme(int(dpg.add_group(horizontal=True, parent=parent, show=False)), "beside")
        self.toggle = Toggle(look, self.item, "", lambda on: on_switch(self.row.name, on),
                             tip="Whether a harvest looks for it")  # fmt: skip
        self._words = text(look, lowered(look, self.item, 7), "", "small", "hint", fit=END)

    def show(self, row: SourceRow | None) -> None:
        """Fill it; None hides it."""
        dpg.configure_item(self.item, show=row is not None)
        if row is None:
            return
        self.row = row
        self.toggle.set_label(row.title)
        if self.toggle.on != row.on:
            self.toggle.set_on(row.on)
        dpg.set_value(self._words, "looked for by every harvest" if row.on else "")
