"""What lies over the rest: a modal window with Esc and Enter, the one question of a panel (a title, what will happen, a
yes that somebody hears), and a menu."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import dearpygui.dearpygui as dpg

from gui.toolkit.icons import icon as icon_of
from gui.toolkit.layout import lowered, space, spread
from gui.toolkit.letters import END
from gui.toolkit.theme import Look
from gui.toolkit.typeset import lettered
from gui.toolkit.widgets import Button, floating, labelled, text

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
        icon: str,
        width: float = 520,
        on_cancel: Callable[[], object] | None = None,
    ) -> None:
        self._look, self._on_confirm, self._on_cancel = look, on_confirm, on_cancel
        self.is_open = False
        self.enabled = True
        self.on_room: Callable[[], object] | None = None
        """Called when it opens and when the window becomes higher or lower: time to make its lists fit `room`."""
        self._high = 0
        self._kind = "primary"
        self._words = confirm
        self._size: list[int] = []
        self._width = width
        self._fitted = (0, 0)
        self._page_before = (0, 0)
        self._around = float(USUAL_AROUND)
        self.item, self._outer = floating(look, "modal", width, modal=True)
        outer = self._outer
        row = int(dpg.add_group(horizontal=True, parent=outer))
        self._icon = text(look, row, icon_of(icon), "heading", "accent")
        self._title = text(look, row, title, "heading", fit=END)
        space(look, outer, 2)
        self._page = look.window(int(dpg.add_child_window(parent=outer, border=False, width=-1, height=10)))
        self.body = int(dpg.add_group(parent=look.theme(self._page, "page")))
        space(look, outer, 2)
        left, right = spread(look, outer)
        self.foot = int(dpg.add_group(horizontal=True, parent=left))
        """For buttons at the left, where changing words do not move them."""
        self._note = text(look, lowered(look, left, 7), "", "small", "muted")
        self.cancel_button = Button(look, right, "Cancel  Esc", self.cancel)
        self.confirm_button = Button(look, right, self._label(), self.confirm, kind=self._kind)
        look.every_tick(self.tick)
        look.on_change(self._forget)

    def open(self) -> None:
        """Show it, in the middle of the panel."""
        self.is_open = True
        self._size = []
        self._high = 0
        dpg.configure_item(self.item, show=True)
        self.tick()

    def close(self) -> None:
        """Hide it, calling nobody."""
        self.is_open = False
        dpg.configure_item(self.item, show=False)
        self._look.focus.back()

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

    @property
    def room(self) -> float:
        """How tall its content may be in this window, in unscaled pixels, without scrolling."""
        return float(self._look.place()[3] / self._look.scale - self._around - 2 * (PADDING + EDGE) - 2)

    def set_title(self, words: str) -> None:
        """Another title."""
        dpg.set_value(self._title, lettered(words))

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
        """What stands on the button: what it does, and the key that does it."""
        key = f"Alt+{self._words[:1].upper()}" if self._kind == "danger" else "Enter"
        return f"{self._words}  {key}"

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
        feet = dpg.get_item_children(self.foot, 1) or ()
        dpg.configure_item(self.foot, show=any(dpg.get_item_configuration(one)["show"] for one in feet))
        if self._high != (high := self._look.place()[3]):
            self._high = high
            if self.on_room is not None:
                self.on_room()
        grown = self._fit()
        if not dpg.is_item_shown(self.item):  # another modal window closed in the same frame took it along
            dpg.configure_item(self.item, show=True)
            self._size = []
            return True
        size = [int(length) for length in dpg.get_item_rect_size(self.item)]
        x, y, *view = place = self._look.place()
        if [*size, *place] == self._size:
            return grown
        self._size = [*size, *place]
        if size[1] < 20:  # not drawn yet: a guess, put right with the next frame
            size = [self._look.px(556), self._look.px(260)]
        left, top = x + max(0, (view[0] - size[0]) // 2), y + max(0, int((view[1] - size[1]) * 0.42))
        dpg.configure_item(self.item, pos=[left, top])
        return True

    def _forget(self) -> None:
        self._fitted = (0, 0)

    def _fit(self) -> bool:
        """As high as what is in it; where the window is too low for that, the content scrolls and the buttons stay.
        True while the height is not right yet."""
        look, view = self._look, self._look.place()[2:]
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


class Question:
    """A dialog that is filled again for every question. Esc is a no; Enter is a yes, and where something is destroyed
    (`kind` danger) a no as well."""

    def __init__(self, look: Look) -> None:
        self._answer: Callable[[], object] | None = None
        self.dialog = Dialog(look, "", "Yes", self._confirmed, icon="circle-question-mark", width=480)
        self.words = text(look, self.dialog.body, "", wrap=True)

    def ask(self, title: str, words: str, confirm: str, on_confirm: Callable[[], object], kind: str) -> None:
        """Show it; `on_confirm()` is called for a yes, nothing for a no."""
        self._answer = on_confirm
        self.dialog.set_title(title)
        self.dialog.set_kind(kind)
        self.dialog.set_confirm(confirm)
        dpg.set_value(self.words, lettered(words))
        self.dialog.open()

    def _confirmed(self) -> None:
        answer, self._answer = self._answer, None
        if answer is not None:
            answer()


MENU_WIDTH = 232


@dataclass(frozen=True)
class MenuRow:
    """One line: what it does in words, its icon, the key that does the same ("" for none), and what to do."""

    label: str
    icon: str
    act: Callable[[], object]
    key: str = ""


class Menu:
    """A popup built once for `most` lines; `open(rows, place)` fills and shows it. Esc and a click beside close
    it; Up, Down and Enter work as well."""

    def __init__(self, look: Look, most: int = 8) -> None:
        self._look = look
        self._rows: Sequence[MenuRow] = ()
        self._at = -1
        self.item, body = floating(look, "menu", MENU_WIDTH, popup=True)
        group = look.theme(int(dpg.add_group(parent=body)), "tight")
        self._items = []
        for number in range(most):
            item = int(dpg.add_button(parent=group, label="", width=-1, callback=self._clicked, user_data=number))
            self._items.append(look.theme(item, "menu-row"))

    @property
    def is_open(self) -> bool:
        """Whether it is there: Dear PyGui closes it by itself after a click beside it."""
        return bool(self._rows) and bool(dpg.is_item_shown(self.item))

    def open(self, rows: Sequence[MenuRow], place: tuple[float, float]) -> None:
        """Show these lines at a place in the window, the first of them chosen for the keys."""
        self._rows, self._at = rows[: len(self._items)], 0
        for number, item in enumerate(self._items):
            row = self._rows[number] if number < len(self._rows) else None
            dpg.configure_item(item, show=row is not None)
            if row is not None:
                dpg.configure_item(item, label=labelled(row.label, row.icon) + (f"   {row.key}" if row.key else ""))
        self._light()
        x, y = place
        wide, tall = self._look.px(MENU_WIDTH + 14), self._look.px(14 + 31 * len(self._rows))
        from_left, from_top, width, height = self._look.place()
        left, top = min(int(x), from_left + width - wide), min(int(y), from_top + height - tall)
        dpg.configure_item(self.item, show=True, pos=[max(0, left), max(0, top)])

    def close(self) -> None:
        """Hide it."""
        self._rows = ()
        dpg.configure_item(self.item, show=False)
        self._look.focus.back()

    def key(self, name: str, _modifiers: frozenset[str] = frozenset(), _typing: bool = False) -> bool:
        """A layer of the keyboard: while it is open, every key is its."""
        if not self.is_open:
            return False
        if name == "Esc":
            self.close()
        elif name in ("Up", "Down"):
            self._at = (self._at + (1 if name == "Down" else -1)) % len(self._rows)
            self._light()
        elif name in ("Enter", "Keypad Enter") and self._at >= 0:
            self._do(self._at)
        return True

    def _light(self) -> None:
        for number, item in enumerate(self._items):
            self._look.theme(item, "menu-row-on" if number == self._at else "menu-row")

    def _clicked(self, _sender: int, _value: object, number: int) -> None:
        self._look.jobs.post(self._do, number)

    def _do(self, number: int) -> None:
        row = self._rows[number] if number < len(self._rows) else None
        self.close()
        if row is not None:
            row.act()
