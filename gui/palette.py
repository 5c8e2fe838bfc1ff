"""The colours of the panel as plain data: a dark and a light palette, and the arithmetic of contrast."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

Rgba = tuple[int, int, int, int]

# Statuses always come as an icon and a colour, so that neither carries the meaning alone.
STATUS_ICONS: Mapping[str, str] = MappingProxyType(
    {
        "harvested": "circle-check",
        "failed": "circle-x",
        "deleted": "file-x",
        "too-large": "weight",
        "edited": "file-pen",
        "waiting": "circle-dashed",
    }
)


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


DARK = Palette(
    "dark",
    MappingProxyType(
        {
            "window": "#0E1116",
            "panel": "#13171D",
            "card": "#181D24",
            "field": "#1F2630",
            "hover": "#27303C",
            "pressed": "#2F3A49",
            "line": "#262E39",
            "handle": "#3A4656",
            "selected": "#22304A",
            "text": "#E4E9F0",
            "muted": "#A3AEBD",
            "hint": "#7E8A9A",
            "accent": "#7AA7FF",
            "primary": "#3D6FE0",
            "primary-hover": "#4B7CEB",
            "primary-pressed": "#335FC6",
            "on-primary": "#FFFFFF",
            "harvested": "#63C78F",
            "failed": "#F2776F",
            "deleted": "#B79BF5",
            "too-large": "#EC9A5E",
            "edited": "#E3B558",
            "waiting": "#A3AEBD",
            "shade": "#05070A",
            "none": "#000000",
        }
    ),
    ("#7AA7FF", "#4F95E0", "#48BFC8", "#6E82E8", "#8E9CBA", "#5FB4F0", "#7FD0D6"),
)

LIGHT = Palette(
    "light",
    MappingProxyType(
        {
            "window": "#E9EDF2",
            "panel": "#F5F7FA",
            "card": "#FFFFFF",
            "field": "#E6EBF2",
            "hover": "#D9E1EB",
            "pressed": "#CBD6E3",
            "line": "#D5DCE5",
            "handle": "#A9B4C2",
            "selected": "#DCE8FE",
            "text": "#17202B",
            "muted": "#445062",
            "hint": "#5C697B",
            "accent": "#1D4FB8",
            "primary": "#2F62D6",
            "primary-hover": "#3A6EE4",
            "primary-pressed": "#2452B8",
            "on-primary": "#FFFFFF",
            "harvested": "#0B6640",
            "failed": "#A8231C",
            "deleted": "#6235B5",
            "too-large": "#8C4208",
            "edited": "#725000",
            "waiting": "#445062",
            "shade": "#2A3340",
            "none": "#FFFFFF",
        }
    ),
    ("#1D4FB8", "#1668A8", "#0E6D78", "#4450C0", "#4C5A75", "#0F6FB5", "#237A80"),
)

PALETTES: Mapping[str, Palette] = MappingProxyType({"dark": DARK, "light": LIGHT})


def luminance(color: Rgba) -> float:
    """Relative luminance as WCAG 2 defines it, 0 to 1; opacity is left out."""
    parts = []
    for part in color[:3]:
        share = part / 255
        parts.append(share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4)
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def contrast(one: Rgba, other: Rgba) -> float:
    """Contrast ratio of two opaque colours as WCAG 2 defines it, 1 to 21."""
    bright, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)
