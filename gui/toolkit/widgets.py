"""The small parts: buttons, chips, switches, texts, fields. Built once, changed by their setters.

Every `on_...` runs on the interface thread, one job at a time, after the frame that heard the click. Lengths are
unscaled pixels; colours are names of `styles.py`; `parent` is the item that the part goes into.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import dearpygui.dearpygui as dpg

from gui.toolkit.icons import icon as icon_of
from gui.toolkit.letters import FIELD, LETTERS, LINES, tip_words
from gui.toolkit.styles import FRAME
from gui.toolkit.theme import Look
from gui.toolkit.typeset import lettered

TOOLTIP_SECONDS = 0.35
CONTROL_HEIGHT = 28  # text 16 and the padding of a frame


def labelled(label: str, icon: str = "") -> str:
    """A label with its icon in front; either may be empty."""
    return "  ".join(part for part in (icon_of(icon) if icon else "", label) if part)


def hint(look: Look, item: int, text: str, shortcut: str = "") -> int:
    """A tooltip for `item` after 350 ms that also names the shortcut, gone when the mouse moves or a key is pressed.
    Returns the text's item, for `say_hint`."""
    tip = int(dpg.add_tooltip(item, delay=TOOLTIP_SECONDS, hide_on_activity=True))
    look.tips[tip] = item
    row = dpg.add_group(horizontal=True, parent=look.theme(tip, "tip"))
    words = int(dpg.add_text(tip_words(text), parent=row))
    if shortcut:
        look.tint(look.font(int(dpg.add_text(shortcut, parent=row)), "small"), "hint")
    return words


def tip_of(words: int) -> int:
    """The tooltip that words (`hint`) stand in."""
    return int(dpg.get_item_parent(dpg.get_item_parent(words) or 0) or 0)


def say_hint(words: int, text: str) -> None:
    """Other words in a tooltip (`hint`), in short lines; without any there is none."""
    dpg.set_value(words, tip_words(lettered(text)))
    dpg.configure_item(tip_of(words), show=bool(text))


class Button:
    """A button; `kind` is `primary` (one a view), `secondary`, `danger`, `ghost` (no frame) or `link`."""

    def __init__(
        self,
        look: Look,
        parent: int,
        label: str,
        on_click: Callable[[], object],
        *,
        icon: str = "",
        kind: str = "secondary",
        tip: str = "",
        shortcut: str = "",
        width: float = 0,
    ) -> None:
        self._look = look
        self._icon, self._label, self._wordless = icon, label, False
        self.shown = True
        self._callback = on_click
        self.item = int(dpg.add_button(label=labelled(label, icon), parent=parent, callback=self._clicked))
        look.theme(self.item, kind)
        if width:
            look.size(self.item, width=width)
        self._says = tip
        self._hint = hint(look, self.item, tip or label, shortcut) if tip or shortcut else 0

    def _clicked(self) -> None:
        self._look.jobs.post(self._callback)

    def set_label(self, label: str, icon: str | None = None) -> None:
        """Another label, and another icon when one is given."""
        self._icon, self._label = self._icon if icon is None else icon, label
        self.words(not self._wordless)

    def words(self, on: bool) -> None:
        """Whether its label is there beside its icon; the tooltip has it where it is not."""
        self._wordless = not on and bool(self._icon)
        if self._hint and self._says and self._label:
            say_hint(self._hint, f"{self._label}: {self._says}" if self._wordless else self._says)
        dpg.configure_item(self.item, label=self.label if on else labelled("", self._icon) or self._label)

    @property
    def label(self) -> str:
        """Icon and words."""
        return labelled(self._label, self._icon)

    def set_kind(self, kind: str) -> None:
        """Another style."""
        self._look.theme(self.item, kind)

    def enable(self, on: bool) -> None:
        """Whether it can be pressed; pale when not."""
        dpg.configure_item(self.item, enabled=on)

    def show(self, on: bool) -> None:
        """Whether it is there at all. The tooltip of a hidden item is that of the item before it."""
        self.shown = on
        dpg.configure_item(self.item, show=on)
        if self._hint:
            dpg.configure_item(tip_of(self._hint), show=on)


class Toggle:
    """A switch with its label; a click on either calls `on_change(new state)`."""

    WIDTH, HEIGHT = 30, 16

    def __init__(
        self, look: Look, parent: int, label: str, on_change: Callable[[bool], object], *, tip: str = ""
    ) -> None:
        self._look, self._on_change = look, on_change
        self.on, self.known = False, True
        row = int(dpg.add_group(horizontal=True, parent=parent))
        self.item = int(dpg.add_drawlist(self.WIDTH, CONTROL_HEIGHT, parent=row))
        self._track = int(dpg.draw_rectangle((0, 0), (1, 1), parent=self.item))
        self._knob = int(dpg.draw_circle((0, 0), 1, parent=self.item))
        self.label = int(dpg.add_button(label=label, parent=row, callback=self._clicked))
        look.theme(self.label, "ghost-text")
        clicks = look.own(int(dpg.add_item_handler_registry()))
        dpg.add_item_clicked_handler(dpg.mvMouseButton_Left, parent=clicks, callback=self._clicked)
        dpg.bind_item_handler_registry(self.item, clicks)
        if tip:
            hint(look, self.label, tip)
        look.on_change(self.draw)
        self.draw()

    def _clicked(self) -> None:
        self._look.jobs.post(self._switch)

    def _switch(self) -> None:
        if not self.known:
            return
        self.set_on(not self.on)
        self._on_change(self.on)

    def set_on(self, on: bool) -> None:
        """Show it on or off, without calling anybody."""
        self.on, self.known = on, True
        self.draw()

    def forget(self) -> None:
        """Nobody knows at the moment whether it is on or off; a click does nothing."""
        self.on = self.known = False
        self.draw()

    def set_label(self, label: str) -> None:
        """Other words beside it."""
        dpg.configure_item(self.label, label=label)

    def draw(self) -> None:
        """Put the drawing right for state, palette and scale."""
        look, px = self._look, self._look.scale
        width, height, top = self.WIDTH * px, self.HEIGHT * px, (CONTROL_HEIGHT - self.HEIGHT) * px / 2
        dpg.configure_item(self.item, width=look.px(self.WIDTH), height=look.px(CONTROL_HEIGHT))
        dpg.configure_item(
            self._track,
            pmin=(0, top),
            pmax=(width, top + height),
            rounding=height / 2,
            color=look.rgba("harvested@0" if self.on else "handle"),
            fill=look.rgba("harvested" if self.on else "field"),
            thickness=1,
        )
        dpg.configure_item(
            self._knob,
            show=self.known,
            center=(width - height / 2 if self.on else height / 2, top + height / 2),
            radius=height / 2 - 3 * px,
            color=look.rgba("card" if self.on else "muted"),
            fill=look.rgba("card" if self.on else "muted"),
        )


def text(
    look: Look, parent: int, words: str, role: str = "text", color: str = "text", wrap: bool = False, fit: str = ""
) -> int:
    """A line of text, or a paragraph that wraps at the edge of its container. `fit`: a line that ends with "…" where
    there is no room for it (`END`; `PATH` keeps the name of the file)."""
    item = int(dpg.add_text(words, parent=parent, wrap=0 if wrap else -1))
    if wrap or fit:
        look.fitting.add(item, fit or LINES, role)
    if role != "text":
        look.font(item, role)
    return look.tint(item, color)


def say(item: int, words: str) -> None:
    """Other words in a text; it is hidden while there are none."""
    dpg.set_value(item, words)
    dpg.configure_item(item, show=bool(words))


def copy_text(look: Look, parent: int, color: str = "hint") -> int:
    """A line that can be selected and copied: labels of Dear PyGui cannot. Returns its item."""
    item = int(dpg.add_input_text(readonly=True, width=-1, parent=parent))
    look.theme(look.font(item, "mono"), f"copy:{color}")
    return look.fitting.add(item, FIELD, "mono")


def text_field(
    look: Look, parent: int, *, placeholder: str = "", width: float = -1,
    on_change: Callable[[str], object] | None = None, anew: bool = False,
) -> int:  # fmt: skip
    """A text field; plain-letter shortcuts rest while it has the keyboard. With `anew` what is typed takes the place
    of what stood in it before it got the keyboard. Returns its item."""

    def changed(_sender: int, words: str) -> None:
        if on_change is not None:
            look.jobs.post(on_change, words)

    item = int(dpg.add_input_text(hint=placeholder, parent=parent, callback=changed, auto_select_all=anew))
    look.size(item, width=width)
    look.inputs.append(item)
    return item


def choices(look: Look, parent: int, names: Sequence[str], on_choice: Callable[[str], object], width: float) -> int:
    """A field that opens a list of names, the first of them chosen; Esc closes the list. Returns its item."""
    chosen = lambda _sender, name: look.jobs.post(on_choice, name)  # noqa: E731
    item = int(dpg.add_combo(list(names), default_value=next(iter(names), ""), parent=parent, callback=chosen))
    look.lists.append(item)
    return look.size(item, width=width)


def floating(look: Look, style: str, width: float, *, modal: bool = False, popup: bool = False) -> tuple[int, int]:
    """A hidden window above everything, as high as what is in it, and its body of a fixed width. Both items."""
    window = look.own(
        int(
            dpg.add_window(
                modal=modal, popup=popup, show=False, autosize=True, no_title_bar=True, no_move=True,
                no_saved_settings=True, min_size=[10, 10],
            )
        )
    )  # fmt: skip
    look.bind(look.window(window), style)
    body = look.window(int(dpg.add_child_window(parent=window, border=False, auto_resize_y=True)))
    return window, look.size(look.theme(body, "page"), width=width)


class Progress:
    """A thin bar with words under no mouse: `fraction` 0 to 1. The words stand beside it, so that they never hide."""

    def __init__(self, look: Look, parent: int, *, width: float = 220) -> None:
        self.item = int(dpg.add_progress_bar(default_value=0.0, parent=parent))
        look.size(self.item, width=width, height=8)
        look.theme(self.item, "progress")

    def set(self, fraction: float) -> None:
        """How far it is; values outside of 0 to 1 are cut."""
        dpg.set_value(self.item, min(max(fraction, 0.0), 1.0))

    def show(self, on: bool) -> None:
        """Whether it is there at all."""
        dpg.configure_item(self.item, show=on)


GAP = 8


class ButtonRow:
    """Watches buttons in a row as wide as `container`."""

    def __init__(self, look: Look, container: int, buttons: Sequence[Button]) -> None:
        self._look, self._buttons = look, buttons
        self._width = 0.0
        look.follow(container, self._follow)

    def _follow(self, width: float, _height: float) -> None:
        self._width = width
        self.fit()

    def fit(self) -> None:
        """Give words to as many as there is room for; call it when other buttons are shown, or other words."""
        wide = LETTERS.wide(self._look.font_id("text"))
        if self._width <= 0:
            return
        shown = [button for button in self._buttons if button.shown]
        around = self._look.px(2 * FRAME[0] + GAP)
        used = sum(wide(button.label) + around for button in shown) - self._look.px(GAP)
        for button in reversed(shown):
            fits = used <= self._width
            button.words(fits)
            if not fits:
                used -= wide(button.label) - self._look.px(18)
