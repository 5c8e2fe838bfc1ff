"""The items of a big table: the table itself with its columns, and the rows of its pool."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import dearpygui.dearpygui as dpg

from gui.columns import Column
from gui.theme import Look
from gui.widgets import hint

MONO_LOWER = 2  # the small letters of figures stand on the line of the others


@dataclass(frozen=True)
class PoolRow:
    """One row on the screen: the table's row, what hears the mouse, one text a column, the text of its tooltip or 0."""

    item: int
    selectable: int
    texts: tuple[int, ...]
    tip: int = 0


def make_table(
    look: Look, parent: int, columns: Sequence[tuple[Column, float]], on_sort: Callable[..., object]
) -> tuple[int, dict[int, Column]]:
    """The table without rows, and its columns by their items; `columns` come with their width or share."""
    table = int(
        dpg.add_table(
            parent=parent, height=-1, header_row=True, freeze_rows=1, scrollY=True, resizable=True, sortable=True,
            sort_tristate=True, hideable=True, borders_innerH=True, borders_innerV=True, pad_outerX=True,
            policy=dpg.mvTable_SizingStretchProp, no_saved_settings=True, callback=on_sort,
        )
    )  # fmt: skip
    look.theme(table, "table")
    made: dict[int, Column] = {}
    for column, width in columns:
        item = int(
            dpg.add_table_column(
                parent=table,
                label=column.title,
                width_fixed=column.width > 0,
                width_stretch=column.width <= 0,
                init_width_or_weight=width,
                no_sort=not column.sortable,
                default_sort=column.sorted_first,
                prefer_sort_descending=column.descending_first,
                prefer_sort_ascending=not column.descending_first,
                no_resize=column.width > 0 and not column.title,
            )
        )
        made[item] = column
    return table, made


def make_row(
    look: Look, table: int, before: int, columns: Sequence[Column], slot: int, clicked: Any, clicks: int, tipped: bool
) -> PoolRow:
    """One hidden row in front of the item `before`; `clicks` is the registry of its other mouse buttons."""
    row = int(dpg.add_table_row(parent=table, before=before, show=False))
    texts: list[int] = []
    selectable = 0
    for number, column in enumerate(columns):
        parent = row
        if number == 0:
            parent = int(dpg.add_group(parent=row, horizontal=True, horizontal_spacing=0.01))
            selectable = int(dpg.add_selectable(parent=parent, span_columns=True, callback=clicked, user_data=slot))
            dpg.bind_item_handler_registry(selectable, clicks)
        elif column.role == "mono":
            parent = look.theme(int(dpg.add_group(parent=row)), "no-gap")
            look.size(int(dpg.add_spacer(parent=parent)), height=MONO_LOWER)
        item = int(dpg.add_text("", parent=parent))
        if column.role != "text":
            look.font(item, column.role)
        texts.append(item)
    tip = 0
    if tipped:
        tip = hint(look, selectable, "")
    return PoolRow(row, selectable, tuple(texts), tip)
