"""How the panel looks at this moment: fonts and themes by role, changed in place when palette or scale change.

Nothing here is bound globally. The panel binds its own root item (`Look.bind`), and what lives outside of the root
(dialogs, toasts) binds itself. Themes are built once; another palette or scale sets their values again, so that no
item is made again (`design`: build once, then `set_value`).

Fonts are read once for all panels of this process and never given back: deleting one crashes Dear PyGui 2.3.1 now and
then, whose destructor leaves a task for the next frame that looks into the font again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dearpygui.dearpygui as dpg

from gui.toolkit.jobs import Jobs
from gui.toolkit.keys import Focus, KeyGate
from gui.toolkit.letters import LETTERS, Fitting
from gui.toolkit.styles import DARK, UNSCALED, Palette, Rgba, rules_of

SMALLEST_SCALE, LARGEST_SCALE = 0.5, 4.0
LEAST_PLACE = (360, 260)
"""In unscaled pixels: a dialog needs as much."""
TRIES, AFTER = 12, 2
"""Frames in which a field may take the keyboard, and those in which it hears what was typed before."""


@dataclass(frozen=True)
class BuiltTheme:
    """A theme item, its colour items with their palette names, its style items with their unscaled lengths."""

    item: int
    colors: list[tuple[int, str]]
    styles: list[tuple[int, tuple[float, ...]]]

    def apply(self, palette: Palette, scale: float) -> None:
        """Set the values of another palette or scale; whatever is bound to the theme follows."""
        for item, color in self.colors:
            dpg.set_value(item, palette.rgba(color))
        for item, values in self.styles:
            dpg.set_value(item, [value * scale for value in values])


class Look:
    """Palette, scale, fonts and themes of one panel, and the items that follow them.

    All lengths that callers give are unscaled pixels. Items register here once and are set again on a change:
    `size` for widths and heights, `tint` for colours, `font` for fonts, `follow` for what must fit its container.
    `jobs` carries what callbacks ask for. Not thread-safe: the interface thread alone uses it.
    """

    def __init__(self, jobs: Jobs, palette: Palette = DARK, scale: float = 1.0) -> None:
        self.jobs = jobs
        self.palette = palette
        self.scale = min(max(scale, SMALLEST_SCALE), LARGEST_SCALE)
        self._themes: dict[str, BuiltTheme] = {}
        self._font_users: dict[int, str] = {}
        self._theme_users: dict[int, str] = {}
        self._sizes: dict[int, dict[str, float]] = {}
        self._tints: dict[int, str] = {}
        self._follows: dict[int, tuple[list[Callable[[float, float], object]], list[float]]] = {}
        self._changes: list[Callable[[], object]] = []
        self._ticks: list[Callable[[], object]] = []
        self._owned: list[int] = []
        self.inputs: list[int] = []
        self.writers: dict[int, Callable[[str], object]] = {}
        """Fields that have the keyboard for a text that is drawn by us (`editor.py`), and who takes its letters."""
        self.fitting = Fitting(self.font_id)
        self._fonts_came = LETTERS.came()
        self.gate = KeyGate()
        self.focus = Focus()
        self.lists: list[int] = []  # fields that open one: Esc does not close a window of Dear ImGui's own
        self.corner = 0
        self.tips: dict[int, int] = {}
        """Tooltips -> what they are of."""
        self._hushed: list[int] = []
        self._mouse: object = None
        self._wanted = self._tries = self._hearing = 0
        self._held = ""
        self.words = ""
        """What the key press that is being done writes, where that is known."""
        self.leaving = 0
        """A field whose words are being saved: the keys are no longer its."""

    def place(self) -> tuple[int, int, int, int]:
        """Where the panel is in the window, in pixels of the screen: left, top, width, height. All of the window where
        too little of it is in sight for a dialog."""
        wide, tall = dpg.get_viewport_client_width(), dpg.get_viewport_client_height()
        corner = dpg.get_item_state(self.corner).get("rect_min") if self.corner else None
        if corner is None:
            return 0, 0, wide, tall
        width, height = dpg.get_item_rect_size(self.focus.root)
        left, top = max(0, int(corner[0])), max(0, int(corner[1]))
        width, height = min(int(corner[0] + width), wide) - left, min(int(corner[1] + height), tall) - top
        if width < self.px(LEAST_PLACE[0]) or height < self.px(LEAST_PLACE[1]):
            return 0, 0, wide, tall
        return left, top, width, height

    def px(self, length: float) -> int:
        """Unscaled pixels to pixels of the screen."""
        return round(length * self.scale)

    def rgba(self, name: str) -> Rgba:
        """A colour of the palette: `accent`, `ramp:2`, `failed@20` (per cent of opacity)."""
        return self.palette.rgba(name)

    def font_id(self, role: str) -> int:
        """The font item of a role, read from its file when first wanted."""
        return font_item(role, self.scale)

    def font(self, item: int, role: str) -> int:
        """Draw `item` and what is in it in the font of `role`, now and after a change of scale. Returns `item`."""
        self._font_users[item] = role
        dpg.bind_item_font(item, self.font_id(role))
        return item

    def theme(self, item: int, name: str) -> int:
        """Give `item` a theme of `styles.py`, built when first wanted; does nothing when it has that one already.
        Returns `item`."""
        if self._theme_users.get(item) != name:
            self._theme_users[item] = name
            if name not in self._themes:
                self._themes[name] = build_theme(self.palette, self.scale, name)
            dpg.bind_item_theme(item, self._themes[name].item)
        return item

    def bind(self, root: int, style: str = "panel") -> None:
        """Give the root of the panel, or a window outside of it (`modal`, `toast`), the base theme and the text font.

        An item has one theme: whatever is in it adds to it or overrides it.
        """
        self.theme(root, style)
        self.font(root, "text")
        if style == "panel":
            self.focus.root = self.window(root)

    def size(self, item: int, **lengths: float) -> int:
        """Set lengths (width, height, indent, wrap, horizontal_spacing) in unscaled pixels; below 1 they mean what
        Dear PyGui means (-1: to the edge). Returns `item`."""
        self._sizes.setdefault(item, {}).update(lengths)
        dpg.configure_item(item, **self._scaled(lengths))
        return item

    def tint(self, item: int, color: str) -> int:
        """Set the colour of a text by its palette name. Returns `item`."""
        if self._tints.get(item) != color:
            self._tints[item] = color
            dpg.configure_item(item, color=self.rgba(color))
        return item

    def follow(self, container: int, fit: Callable[[float, float], object]) -> None:
        """Call `fit(width, height)` in pixels of the screen whenever the inside of a child window or window changes, or
        palette or scale do."""
        self._follows.setdefault(container, ([], [-1.0, -1.0]))[0].append(fit)

    def on_change(self, redraw: Callable[[], object]) -> None:
        """Call `redraw()` after a change of palette or scale, for what draws itself and follows nothing."""
        self._changes.append(redraw)

    def every_tick(self, call: Callable[[], object]) -> None:
        """Call `call()` before each frame; a true answer asks for another frame at once."""
        self._ticks.append(call)

    def close_list(self) -> bool:
        """Close the list of a field that is open; true when there was one."""
        there = [item for item in self.lists if dpg.is_item_visible(dpg.get_item_parent(item) or 0)]
        # While its list is open a field counts as wide as ever and of no height: out of sight it keeps its height.
        is_open = any(wide and not tall for wide, tall in map(dpg.get_item_rect_size, there))
        if is_open:
            self.focus.take()
        return is_open

    def window(self, item: int) -> int:
        """Remember a window or child window of the panel: the keyboard is the panel's while one of them has it. Returns
        `item`."""
        self.focus.windows.append(item)
        return item

    def own(self, item: int) -> int:
        """Remember an item outside of the root (a window, a handler registry), deleted by `dispose`."""
        self._owned.append(item)
        return item

    def hush(self, *tips: int) -> None:
        """Take away these tooltips, or whichever is there or about to be, until the mouse moves on: a key means
        something else than what the mouse rests on, and so does another row that came under it."""
        there = tips or [
            tip for tip, item in self.tips.items() if dpg.is_item_hovered(item) or dpg.is_item_visible(tip)
        ]
        for tip in there:
            dpg.configure_item(tip, show=False)
        self._hushed += there
        self._mouse = dpg.get_mouse_pos(local=False)

    def _wake_tips(self) -> None:
        if self._hushed and dpg.get_mouse_pos(local=False) != self._mouse:
            for tip in self._hushed:  # the tooltip of a hidden item would be that of the item before it
                dpg.configure_item(tip, show=bool(dpg.get_item_configuration(self.tips[tip])["show"]))
            self._hushed.clear()

    def tick(self) -> bool:
        """Let registered items follow their containers; true when something moved and a frame is wanted."""
        self._wake_tips()
        if self._fonts_came != LETTERS.came():
            self._fonts_came = LETTERS.came()
            self.change()
        answers: list[object] = [self._give_keys(), self.focus.tick(self.holding)]
        for call in self._ticks:
            self.jobs.attempt(lambda call=call: answers.append(call()))
        moved = any(answers)
        for container, (fits, last) in self._follows.items():
            state = dpg.get_item_state(container)
            inside = state.get("content_region_avail") if state.get("ok") else None
            if not inside or list(inside) == last or inside[0] <= 1:
                continue
            last[:] = inside
            moved = True
            for fit in fits:
                self.jobs.attempt(fit, *inside)
        return self.fitting.tick() or moved

    def typing(self) -> bool:
        """True while one of the registered text fields has the keyboard, or is about to."""
        return self.holding or self._writing()

    def _writing(self) -> bool:
        return any(dpg.is_item_active(item) for item in self.inputs if item != self.leaving)

    @property
    def writer(self) -> Callable[[str], object] | None:
        """The drawn text that has the keyboard."""
        active = (one for field, one in self.writers.items() if field != self.leaving and dpg.is_item_active(field))
        return next(active, None)

    def keys_to(self, field: int, words: str = "") -> None:
        """Give a text field the keyboard. What is typed until it has it (see `hold`) goes into it, too, after `words`,
        which were typed before."""
        if dpg.is_item_active(field):
            self._write(field, words)
            return
        self._held = (self._held if self._wanted == field else "") + words
        self._wanted, self._tries, self._hearing = field, TRIES, 0
        dpg.focus_item(field)

    def _write(self, field: int, words: str) -> None:
        if field in self.writers:
            self.writers[field](words)
        else:
            self.gate.replay(words)

    def hold(self, words: str) -> None:
        """Keep what was typed while `holding`."""
        if self._wanted:
            self._held += words

    @property
    def holding(self) -> bool:
        """True while a field is about to have the keyboard: letters are kept for it, other keys have to wait."""
        return self._wanted > 0 or self._hearing > 0

    def _give_keys(self) -> bool:
        """Before each frame: hand on what was typed, once the field that it is for is active."""
        field, words = self._wanted, ""
        if self._hearing:
            self._hearing -= 1
        if self._wanted:
            self._tries -= 1
            if dpg.does_item_exist(self._wanted) and dpg.is_item_active(self._wanted):
                words = self._held + self.gate.take()
                self._wanted, self._hearing = 0, AFTER if words and field not in self.writers else 0
            elif self._tries <= 0 or not dpg.does_item_exist(self._wanted):
                self._wanted = 0
            else:
                dpg.focus_item(self._wanted)
        self.gate.tell(id(self), self._writing(), self.writer is not None)
        if words:
            self._write(field, words)
        return self.holding

    def change(self, palette: Palette | None = None, scale: float | None = None) -> None:
        """Change palette or scale of everything that stands, at once and without making items again."""
        self.palette = palette or self.palette
        if scale is not None and min(max(scale, SMALLEST_SCALE), LARGEST_SCALE) != self.scale:
            self.scale = min(max(scale, SMALLEST_SCALE), LARGEST_SCALE)
            for item, role in self._font_users.items():
                dpg.bind_item_font(item, self.font_id(role))
            for item, lengths in self._sizes.items():
                dpg.configure_item(item, **self._scaled(lengths))
        for built in self._themes.values():
            built.apply(self.palette, self.scale)
        for item, color in self._tints.items():
            dpg.configure_item(item, color=self.rgba(color))
        for _, last in self._follows.values():
            last[:] = [-1.0, -1.0]
        self.fitting.forget()
        for redraw in self._changes:
            self.jobs.attempt(redraw)

    def dispose(self) -> None:
        """Delete themes and everything owned outside of the root, which is the panel's to delete before. Fonts stay."""
        self.gate.forget(id(self))
        self._wanted = self._hearing = 0
        gone = [*self._owned, *(built.item for built in self._themes.values())]
        for item in gone:
            if dpg.does_item_exist(item):
                dpg.delete_item(item)
        of_items = (self._themes, self._font_users, self._theme_users, self._sizes, self._tints, self._follows)
        of_all = (self._changes, self._ticks, self._owned, self._hushed, self.tips, self.inputs, self.writers)
        for kept in (*of_items, *of_all, self.fitting, self.focus.windows):
            kept.clear()

    def _scaled(self, lengths: dict[str, float]) -> dict[str, Any]:
        return {name: self.px(length) if length > 0 else int(length) for name, length in lengths.items()}


def build_theme(palette: Palette, scale: float, name: str) -> BuiltTheme:
    """Make the theme of a style, unbound."""
    theme = int(dpg.add_theme())
    built = BuiltTheme(theme, [], [])
    for rule in rules_of(name):
        part = dpg.add_theme_component(getattr(dpg, rule.kind), enabled_state=rule.enabled, parent=theme)
        for key, color in rule.colors.items():
            constant = getattr(dpg, f"mvThemeCol_{key}")
            built.colors.append((int(dpg.add_theme_color(constant, palette.rgba(color), parent=part)), color))
        for key, values in rule.styles.items():
            constant = getattr(dpg, f"mvStyleVar_{key}")
            if key in UNSCALED:
                dpg.add_theme_style(constant, *values, parent=part)
                continue
            scaled = [value * scale for value in values]
            built.styles.append((int(dpg.add_theme_style(constant, *scaled, parent=part)), values))
    return built


FONT_FOLDER = Path(__file__).resolve().parents[2] / "assets" / "fonts"

# role: (file, height of a line in unscaled pixels)
ROLES: dict[str, tuple[str, int]] = {
    "text": ("text.ttf", 16),
    "strong": ("heading.ttf", 16),
    "heading": ("heading.ttf", 20),
    "small": ("text.ttf", 14),
    "mono": ("mono.ttf", 14),
    "picture": ("text.ttf", 40),
}

_fonts: dict[str, int] = {}


def font_item(role: str, scale: float) -> int:
    """The font of a role at a scale: its item, read from its file when first wanted."""
    file, size = ROLES[role]
    pixels = max(6, round(size * scale))
    name = f"{file} {pixels}"
    item = _fonts.get(name, 0)
    # A program may have destroyed the context that it was read in, and made another one.
    if not item or not dpg.does_item_exist(item) or dpg.get_item_label(item) != name:
        registry = dpg.add_font_registry()
        item = _fonts[name] = int(dpg.add_font(str(FONT_FOLDER / file), pixels, parent=registry, label=name))
    return item
