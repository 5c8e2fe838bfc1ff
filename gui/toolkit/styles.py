"""How a panel looks, as plain data: a dark and a light palette, and named styles, whose colours are names of
the palette and whose lengths are unscaled pixels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

Rgba = tuple[int, int, int, int]


@dataclass(frozen=True)
class Palette:
    """Named colours as `#RRGGBB`. `ramp` are the category colours: cool blues, so that status colours keep their
    meaning."""

    name: str
    colors: Mapping[str, str]
    ramp: tuple[str, ...]

    def rgba(self, name: str) -> Rgba:
        """The colour of `name`, of `ramp:3` (categories, counted round), or of `name@40` at 40 % opacity."""
        base, _, percent = name.partition("@")
        ramp = base.removeprefix("ramp:")
        value = self.colors[base] if ramp == base else self.ramp[int(ramp) % len(self.ramp)]
        red, green, blue = (int(value[at : at + 2], 16) for at in (1, 3, 5))
        return red, green, blue, round(255 * int(percent) / 100) if percent else 255


_COLORS = {
    "window": ("#0E1116", "#F5F7FA"),
    "panel": ("#13171D", "#FFFFFF"),
    "card": ("#181D24", "#FFFFFF"),
    "field": ("#1F2630", "#E6EBF2"),
    "said": ("#181D24", "#EEF2F7"),
    "code-ground": ("#1F2630", "#DFE5EE"),
    "hover": ("#27303C", "#D9E1EB"),
    "pressed": ("#2F3A49", "#CBD6E3"),
    "line": ("#262E39", "#D5DCE5"),
    "handle": ("#3A4656", "#A9B4C2"),
    "selected": ("#22304A", "#DCE8FE"),
    "text": ("#E4E9F0", "#17202B"),
    "muted": ("#A3AEBD", "#445062"),
    "hint": ("#8E99A7", "#556171"),
    "accent": ("#7AA7FF", "#1D4FB8"),
    "primary": ("#3D6FE0", "#2F62D6"),
    "primary-hover": ("#3868D6", "#3A6EE4"),
    "primary-pressed": ("#335FC6", "#2452B8"),
    "on-primary": ("#FFFFFF", "#FFFFFF"),
    "harvested": ("#63C78F", "#0B6640"),
    "failed": ("#F2776F", "#A8231C"),
    "deleted": ("#B79BF5", "#6235B5"),
    "too-large": ("#EC9A5E", "#8C4208"),
    "edited": ("#E3B558", "#725000"),
    "hit": ("#E3B558", "#F4BE4A"),
    "waiting": ("#A3AEBD", "#445062"),
    "code-word": ("#9BB3F5", "#2F4FB0"),
    "code-name": ("#7CC7D8", "#0E6578"),
    "code-text": ("#9CCB9A", "#2B6B2F"),
    "code-number": ("#E0A878", "#8A4A10"),
    "code-mark": ("#C9A8F0", "#6B3FB0"),
    "code-sign": ("#A3AEBD", "#445062"),
    "code-note": ("#8E99A7", "#556171"),
    "shade": ("#05070A", "#2A3340"),
    "none": ("#000000", "#FFFFFF"),
}
"""Name -> the colour in the dark palette, and in the light one."""
_RAMP = (
    ("#83B2FF", "#1D59C5"),
    ("#5A92EC", "#0E3680"),
    ("#97A5BA", "#44516A"),
    ("#43C6BF", "#0B6A65"),
    ("#8693A9", "#566074"),
    ("#9881F3", "#6742D0"),
    ("#C6E4F8", "#276588"),
)
PALETTES: Mapping[str, Palette] = MappingProxyType({
    name: Palette(name, {color: both[at] for color, both in _COLORS.items()}, tuple(both[at] for both in _RAMP))
    for at, name in enumerate(("dark", "light"))
})  # fmt: skip
DARK, LIGHT = PALETTES["dark"], PALETTES["light"]


@dataclass(frozen=True)
class Rule:
    """Colours and styles for one kind of item (`mvAll`, `mvButton`, ...), named without Dear PyGui's prefixes."""

    kind: str
    colors: Mapping[str, str] = field(default_factory=dict)
    styles: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    enabled: bool = True


CLEAR = "none@0"

FRAME = (10.0, 6.0)

PANEL_COLORS = {
    "Text": "text",
    "TextDisabled": "hint",
    "WindowBg": "window",
    "ChildBg": CLEAR,
    "PopupBg": "card",
    "Border": "line",
    "BorderShadow": CLEAR,
    "FrameBg": "field",
    "FrameBgHovered": "hover",
    "FrameBgActive": "hover",
    "ScrollbarBg": CLEAR,
    "ScrollbarGrab": "hover",
    "ScrollbarGrabHovered": "handle",
    "ScrollbarGrabActive": "handle",
    "Button": "field",
    "ButtonHovered": "hover",
    "ButtonActive": "pressed",
    "Header": "selected",
    "HeaderHovered": "hover@60",
    "HeaderActive": "selected",
    "Separator": "line",
    "InputTextCursor": "accent",
    "PlotHistogram": "accent",
    "TableHeaderBg": CLEAR,
    "TableBorderStrong": "line",
    "TableBorderLight": "line@70",
    "TableRowBg": CLEAR,
    "TableRowBgAlt": CLEAR,
    "TextSelectedBg": "accent@35",
    "NavCursor": "accent",
    "NavHighlight": "accent",
    "ModalWindowDimBg": "shade@60",
}
PANEL_STYLES: dict[str, tuple[float, ...]] = {
    "WindowPadding": (14, 12),
    "FramePadding": FRAME,
    "ItemSpacing": (8, 8),
    "ItemInnerSpacing": (8, 6),
    "CellPadding": (8, 6),
    "FrameRounding": (6,),
    "ChildRounding": (8,),
    "PopupRounding": (8,),
    "WindowRounding": (10,),
    "WindowBorderSize": (1,),
    "ChildBorderSize": (1,),
    "PopupBorderSize": (1,),
    "FrameBorderSize": (0,),
    "ScrollbarSize": (10,),
    "ScrollbarRounding": (5,),
    "GrabRounding": (5,),
    "GrabMinSize": (18,),
    "SelectableTextAlign": (0, 0.5),
    "DisabledAlpha": (0.45,),
}
GHOST_TEXT = {"Button": CLEAR, "ButtonHovered": CLEAR, "ButtonActive": CLEAR, "Text": "text"}
UNSCALED = frozenset({"SelectableTextAlign", "ButtonTextAlign", "DisabledAlpha", "Alpha", "WindowTitleAlign"})


def button(
    fill: str, hover: str, pressed: str, text: str, border: str = "", rounding: float = 6, padding: float = FRAME[0]
) -> tuple[Rule, ...]:
    """A button in three states, and the same pale while it is disabled."""
    styles: dict[str, tuple[float, ...]] = {"FrameRounding": (rounding,), "FramePadding": (padding, FRAME[1])}
    colors = {"Button": fill, "ButtonHovered": hover, "ButtonActive": pressed, "Text": text}
    if border:
        colors["Border"] = border
        styles["FrameBorderSize"] = (1,)
    off = {"Button": "field", "ButtonHovered": "field", "ButtonActive": "field", "Text": "hint@70", "Border": "line"}
    if fill == CLEAR:
        off.update({"Button": CLEAR, "ButtonHovered": CLEAR, "ButtonActive": CLEAR})
    return Rule("mvButton", colors, styles), Rule("mvButton", off, styles, enabled=False)


def box(fill: str, border: str, padding: tuple[float, float], rounding: float = 8) -> tuple[Rule, ...]:
    """A child window with a fill and a line around it; what is in it starts with the usual distances again."""
    return (
        Rule("mvAll", {}, {"ItemSpacing": (8, 8)}),
        Rule(
            "mvChildWindow",
            {"ChildBg": fill, "Border": border},
            {"WindowPadding": padding, "ChildRounding": (rounding,)},
        ),
    )


def floating(fill: str, padding: tuple[float, float]) -> tuple[Rule, ...]:
    """A window over the rest. It passes nothing but colours on to what is in it: the child window inside takes the
    panel's theme again."""
    colors = {**PANEL_COLORS, "WindowBg": fill, "Border": "handle"}
    return (Rule("mvWindowAppItem", colors, {**PANEL_STYLES, "WindowPadding": padding}),)


def spacing(x: float, y: float) -> tuple[Rule, ...]:
    """Distance between items, for a group."""
    return (Rule("mvAll", {}, {"ItemSpacing": (x, y)}),)


UNSEEN = (
    "Text", "Border", "InputTextCursor", "TextSelectedBg", "FrameBg", "FrameBgHovered", "FrameBgActive", "ChildBg",
    "NavCursor", "ScrollbarGrab",
)  # fmt: skip
_LEFT = (Rule("mvButton", {}, {"ButtonTextAlign": (0, 0.5)}),)

# Dear PyGui makes every text as tall as a button; ours are as tall as their letters.
PANEL = (
    Rule("mvAll", PANEL_COLORS, PANEL_STYLES),
    Rule("mvText", {}, {"FramePadding": (0, 0)}),
    *(Rule(kind, {"Border": "line"}, {"FrameBorderSize": (1,)}) for kind in ("mvInputText", "mvCombo", "mvInputInt")),
    Rule("mvInputText", {"Text": "hint@70", "FrameBg": "panel"}, {}, enabled=False),
)

STYLES: Mapping[str, tuple[Rule, ...]] = {
    "panel": PANEL,
    "root": box("window", CLEAR, (0, 0), 0),
    "card": box("card", "line", (12, 9)),
    "card-on": box("selected", "accent@60", (12, 9)),
    "settings": box("card", "line", (6, 5)),
    "setting": box(CLEAR, CLEAR, (6, 5), 6),
    "setting-on": box("selected", CLEAR, (6, 5), 6),
    "wants": box("hit@9", "hit@40", (12, 8)),
    "evidence": box("card", "handle", (14, 12)),
    "pane": box("panel", "line", (12, 10)),
    "bar": box("window", CLEAR, (14, 10), 0),
    "foot": box("window", CLEAR, (14, 5), 0),
    "gutter": box(CLEAR, CLEAR, (14, 0), 0),
    "well": box("window", "line", (10, 8)),
    "reader": box("panel", "line", (12, 8)),
    "clear": box(CLEAR, CLEAR, (0, 0), 0),
    "banner": box("card", "failed@45", (12, 9)),
    "modal": floating("card", (18, 16)),
    "toast": box("field", "handle", (14, 4)),
    "menu": floating("field", (6, 6)),
    "page": (*PANEL, *box(CLEAR, CLEAR, (0, 0), 0)),
    "tip": (
        Rule(
            "mvAll",
            {"PopupBg": "card", "Border": "handle"},
            {"WindowPadding": (10, 8), "ItemSpacing": (12, 4), "PopupBorderSize": (1,)},
        ),
    ),
    "primary": button("primary", "primary-hover", "primary-pressed", "on-primary"),
    "secondary": button("field", "hover", "pressed", "text", "line"),
    "danger": button("failed@16", "failed@28", "failed@40", "failed", "failed@45"),
    "ghost": button(CLEAR, "hover", "pressed", "muted"),
    "tab": button(CLEAR, "hover", "pressed", "muted"),
    "tab-on": button("field", "field", "field", "text", "line"),
    "search-button": (*button("field", "hover", "pressed", "hint", "line"), *_LEFT),
    "menu-row": (*button(CLEAR, "hover", "pressed", "text"), *_LEFT),
    "menu-row-on": (*button("selected", "hover", "pressed", "text"), *_LEFT),
    "ghost-text": (Rule("mvButton", GHOST_TEXT, {"FramePadding": (0, 6)}),),
    "words": button(CLEAR, "hover@60", "pressed", "text", padding=4),
    "words-lit": button(CLEAR, "hover@60", "pressed", "accent", padding=4),
    "words-pale": button(CLEAR, "hover@60", "pressed", "muted", padding=4),
    "link": button(CLEAR, "accent@14", "accent@24", "accent"),
    "flow": (*box(CLEAR, CLEAR, (0, 0), 0), *spacing(0, 0)),
    "row-on": box("selected", CLEAR, (0, 0), 4),
    "area": box("field", "line", (10, 6), 6),
    "area-on": box("field", "accent@60", (10, 6), 6),
    "unseen": (
        Rule(
            "mvInputText",
            dict.fromkeys(UNSEEN, CLEAR),
            {"FramePadding": (0, 0), "FrameBorderSize": (0,)},
        ),
        Rule("mvInputText", {"Text": CLEAR, "FrameBg": CLEAR}, {}, enabled=False),
    ),
    "editor": box(CLEAR, CLEAR, (12, 10), 0),
    "row-buttons": spacing(2, 0),
    "row-action": tuple(
        replace(rule, styles={**rule.styles, "FramePadding": (5, 3)})
        for rule in button(CLEAR, "pressed", "handle", "muted")
    ),
    "copy": (
        Rule(
            "mvInputText",
            {"Border": CLEAR, "FrameBg": CLEAR, "FrameBgHovered": "hover@40", "FrameBgActive": "hover@60"},
            {"FramePadding": (0, 2), "FrameRounding": (4,)},
        ),
    ),
    "search": (Rule("mvInputText", {"FrameBg": "field"}, {"FramePadding": (12, 6)}),),
    "progress": (Rule("mvProgressBar", {"PlotHistogram": "accent", "FrameBg": "field"}, {"FrameRounding": (4,)}),),
    "bare-table": (Rule("mvTable", {}, {"CellPadding": (0, 0)}),),
    "no-gap": spacing(0, 0),
    "gap": spacing(8, 8),
    "columns": spacing(8, 0),
    "tight": spacing(8, 3),
    "row-lines": spacing(8, 6),
    "chips": spacing(6, 6),
}


def rules_of(name: str) -> tuple[Rule, ...]:
    """The rules of a style: one of `STYLES`, `chip:COLOUR` or `chip-on:COLOUR`, `text:COLOUR`, `tight:X,Y`."""
    kind, _, color = name.partition(":")
    if kind == "chip":
        return button(f"{color}@8", f"{color}@13", f"{color}@20", color, f"{color}@30", rounding=14, padding=8)
    if kind == "chip-on":
        return button(f"{color}@26", f"{color}@34", f"{color}@40", "text", f"{color}@80", rounding=14, padding=8)
    if kind == "text":
        return (Rule("mvAll", {"Text": color}),)
    if kind == "copy" and color:
        return (*STYLES["copy"], Rule("mvInputText", {"Text": color}))
    return STYLES[name]
