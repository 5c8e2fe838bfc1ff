"""The fonts of all panels of this process, read once and never given back.

Deleting a font crashes Dear PyGui 2.3.1 now and then: its destructor leaves a task for the next frame that looks into
the font again. So fonts stay, shared by every panel; a panel that comes and goes adds none the second time.
"""

from __future__ import annotations

from pathlib import Path

import dearpygui.dearpygui as dpg

FONT_FOLDER = Path(__file__).resolve().parents[1] / "assets" / "fonts"

# role: (file, height of a line in unscaled pixels)
ROLES: dict[str, tuple[str, int]] = {
    "text": ("text.ttf", 16),
    "strong": ("heading.ttf", 16),
    "heading": ("heading.ttf", 20),
    "number": ("heading.ttf", 30),
    "small": ("text.ttf", 14),
    "mono": ("mono.ttf", 14),
    "picture": ("text.ttf", 40),
}

_fonts: dict[str, int] = {}


def font_item(role: str, scale: float, folder: Path = FONT_FOLDER) -> int:
    """The font of a role at a scale: its item, read from its file when first wanted."""
    file, size = ROLES[role]
    pixels = max(6, round(size * scale))
    name = f"{folder / file} {pixels}"
    if not _stands(name):
        registry = dpg.add_font_registry()
        _fonts[name] = int(dpg.add_font(str(folder / file), pixels, parent=registry, label=name))
    return _fonts[name]


def _stands(name: str) -> bool:
    """Whether a font read before still belongs to this context: a program may have destroyed it and made another."""
    item = _fonts.get(name, 0)
    return bool(item and dpg.does_item_exist(item) and dpg.get_item_label(item) == name)
