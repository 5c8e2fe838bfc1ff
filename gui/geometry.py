"""Where the window stood and how it looked, remembered between runs as one JSON file."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from core.base import files
from core.base.paths import state_folder
from core.base.result import KnowledgeError

FILE_NAME = "panel.json"
SMALLEST = (480, 360)  # pixels of the window: below it one column has no room
LARGEST = 16_384
BOUNDS = {"x": (-LARGEST, LARGEST), "y": (-LARGEST, LARGEST), "width": (SMALLEST[0], LARGEST),
          "height": (SMALLEST[1], LARGEST), "scale": (0, 4)}  # fmt: skip
"""Within these a remembered number is believed."""
VISIBLE_EDGE = 80  # pixels of the title bar that must be within reach on some screen


@dataclass(frozen=True)
class Geometry:
    """Window position and size in pixels of the desktop, and what else is remembered: `choices` maps names to words
    (theme, last view). `scale` 0 means: ask the monitor."""

    x: int = 80
    y: int = 60
    width: int = 1280
    height: int = 800
    maximized: bool = False
    scale: float = 0.0
    choices: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_usual(self) -> bool:
        """Whether the size is the one that the program begins with: nobody has chosen it."""
        return (self.width, self.height) == (Geometry.width, Geometry.height)


def read_geometry(folder: Path | None = None) -> tuple[Geometry, str]:
    """What was remembered, and a sentence about what had to be ignored ("" for nothing).

    Never fails: a missing, torn or foreign file gives the defaults, value by value.
    """
    path = (folder or state_folder(os.environ)) / FILE_NAME
    try:
        raw = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return Geometry(), ""
    except (OSError, ValueError) as problem:
        return Geometry(), f"The remembered window could not be read and is set back ({path}): {problem}"
    if not isinstance(raw, dict):
        return Geometry(), f"The remembered window is not understood and is set back ({path})"
    kept: dict[str, Any] = {"maximized": raw.get("maximized") is True, "choices": words(raw.get("choices"))}
    for name, (low, high) in BOUNDS.items():
        value = raw.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high:
            kept[name] = float(value) if name == "scale" else round(value)
    return Geometry(**kept), ""


def words(raw: object) -> dict[str, str]:
    """The entries of a JSON object that are text; others are left out."""
    entries = raw.items() if isinstance(raw, dict) else ()
    return {str(key): value for key, value in entries if isinstance(value, str)}


def write_geometry(geometry: Geometry, folder: Path | None = None) -> None:
    """Remember `geometry`."""
    path = (folder or state_folder(os.environ)) / FILE_NAME
    record = {**geometry.__dict__, "choices": dict(geometry.choices)}
    try:
        files.make_folder(path.parent)
        files.write_atomic(path, f"{json.dumps(record, indent=2, sort_keys=True)}\n".encode())
    except OSError as problem:
        raise KnowledgeError(
            "state-not-written", f"The window's place could not be remembered: {problem}", path
        ) from problem


def remembered(before: Geometry, now: Geometry) -> Geometry:
    """What to write at the end: while maximised, the place from before stays and only the fact is noted."""
    if not now.maximized:
        return now
    return replace(now, x=before.x, y=before.y, width=before.width, height=before.height)


def on_screen(geometry: Geometry, screens: Sequence[tuple[int, int, int, int]]) -> Geometry:
    """Move and shrink the window so that its title bar can be reached on one of `screens` (x, y, width, height).

    Without any known screen the window stays where it is, but not above or left of the desktop's origin.
    """
    if not screens:
        return replace(geometry, x=max(geometry.x, 0), y=max(geometry.y, 0))
    for left, top, width, height in screens:
        across = min(geometry.x + geometry.width, left + width) - max(geometry.x, left)
        if across >= VISIBLE_EDGE and top <= geometry.y <= top + height - VISIBLE_EDGE:
            fits = geometry.width <= width and geometry.height <= height
            if fits and geometry.is_usual:  # nobody has put it there: then all of it is in sight
                right, bottom = left + width - geometry.width, top + height - geometry.height
                x, y = max(left, min(geometry.x, right)), max(top, min(geometry.y, bottom))
                return replace(geometry, x=x, y=y)
            if fits:
                return geometry
            return replace(
                geometry, x=left, y=top, width=min(geometry.width, width), height=min(geometry.height, height)
            )
    left, top, width, height = screens[0]
    wide, tall = min(geometry.width, width), min(geometry.height, height)
    return replace(geometry, x=left + (width - wide) // 2, y=top + (height - tall) // 2, width=wide, height=tall)


def grown(geometry: Geometry, scale: float) -> Geometry:
    """The usual window is larger at a larger scale; one that somebody chose stays as it is."""
    by = scale if geometry.is_usual and scale > 1 else 1.0
    return replace(geometry, width=round(geometry.width * by), height=round(geometry.height * by))
