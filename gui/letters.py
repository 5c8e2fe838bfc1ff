"""Words that are as wide as their room: cut, and then they end with "…", or broken into lines. Pure, but for measuring.

Every text of the panel that may be too wide comes through here, measured with the font that draws it. Dear PyGui's own
wrapping is not used: it breaks inside "4,096" and after "https://github.".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

Wide = Callable[[str], float]
"""How wide a piece of one line is. Widths add up: that of "ab" is that of "a" and that of "b"."""

ELLIPSIS = "…"
TIP_CELLS = 60  # letters in a line of a tooltip
_SAMPLE = 64  # Dear PyGui rounds a width up to a whole pixel; of so many letters that does not matter
_WIDE = r"\u2e80-\u2fff\u3005-\u30ff\u3400-\u9fff\uf900-\ufaff\uff10-\uffef"
_CLOSING = r"、。，．・：；？！）」』】〉》〕ー々,.!?;:)\]}"
_ATOMS = re.compile(
    r"\d[\d.,]*\s(?:bytes?|tokens?|[KMG]?B|%|min|s|h|d)\b[.,;:!?)]*"  # a number stays with its unit
    rf"|[{_WIDE}][{_CLOSING}]*|\s+|[^\s{_WIDE}]+"
)


def cut(words: str, room: float, wide: Wide) -> str:
    """Words that end with "…" where they do not fit into the room; one line, none where not even two letters fit."""
    if wide(words) <= room:
        return words
    low, high = 0, len(words)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if wide(words[:middle].rstrip() + ELLIPSIS) <= room else (low, middle - 1)
    return words[:low].rstrip(" ·,;:–-") + ELLIPSIS if low > 1 else ""


def cut_path(path: str, room: float, wide: Wide) -> str:
    """A path that loses its middle where it does not fit: the beginning and, above all, the name of the file stay."""
    if wide(path) <= room:
        return path
    folder, slash, name = path.rpartition("/")
    tail = ELLIPSIS + slash + name
    left = room - wide(tail)
    if left < 0:  # the name alone is too long: its end tells more than its middle
        end = name[-min(8, len(name) // 3) :] if len(name) > 11 else ""
        begin = cut(name.removesuffix(end), room - wide(end), wide)
        return begin + end if begin else cut(name, room, wide)
    kept = 0
    while kept < len(folder) and wide(folder[: kept + 1]) <= left:
        kept += 1
    return folder[:kept] + tail


def wrapped(words: str, room: float, wide: Wide) -> str:
    """Words broken into lines that fit, at spaces and between the letters of scripts that have none. A word that is
    wider than the room by itself breaks after "/" where it has one, then after another mark, then anywhere."""
    return "\n".join(line for one in words.split("\n") for line in _lines(one, room, wide))


def _lines(words: str, room: float, wide: Wide) -> list[str]:
    if not words or wide(words) <= room:
        return [words]
    lines: list[str] = []
    line, used, gap = "", 0.0, ""
    for atom in _ATOMS.findall(words):
        if atom.isspace():
            gap = atom
            continue
        between, width = (wide(gap) if gap else 0.0), wide(atom)
        if used + between + width <= room:
            line, used, gap = line + gap + atom, used + between + width, ""
            continue
        if line:
            lines.append(line.removesuffix("·").rstrip())  # what parts two words parts no two lines
        gap = ""
        *whole, line = _parts(atom, room, wide)
        lines += whole
        used = wide(line)
    return [*lines, line] if line or not lines else lines


def _parts(atom: str, room: float, wide: Wide) -> list[str]:
    """One word that may be wider than a line, in lines."""
    if wide(atom) <= room:
        return [atom]
    for pattern in (r"\S+\s+|\S+", r"[^/\\]*[/\\]+|[^/\\]+", r"[^-_.=&?,]*[-_.=&?,]+|[^-_.=&?,]+"):
        pieces = re.findall(pattern, atom)
        if len(pieces) > 1:
            break
    else:
        pieces = list(atom)
    lines = [""]
    for piece in pieces:
        if wide(lines[-1] + piece.rstrip()) <= room:
            lines[-1] += piece
        elif len(piece) > 1 and wide(piece) > room:
            lines += _parts(piece, room, wide)
        else:
            lines.append(piece)
    return [line.rstrip() for line in lines if line]


def cells(words: str) -> float:
    """The width of a line in letters, wide ones counted twice: for what is broken before its font can be asked."""
    return float(sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in words))


def tip_words(words: str) -> str:
    """Words for a tooltip, in lines of at most `TIP_CELLS` letters."""
    return wrapped(words, TIP_CELLS, cells)


class Letters:
    """How wide letters are in each font; every letter is measured once."""

    def __init__(self) -> None:
        self._known: dict[int, dict[str, float]] = {}

    def wide(self, font: int) -> Wide | None:
        """What measures lines in a font, in pixels of the screen; None while Dear PyGui cannot measure yet."""
        import dearpygui.dearpygui as dpg

        if dpg.get_text_size("a", font=font) is None:
            return None
        known = self._known.setdefault(font, {})

        def measure(words: str) -> float:
            total = 0.0
            for letter in words:
                width = known.get(letter)
                if width is None:
                    size = dpg.get_text_size(letter * _SAMPLE, font=font)
                    width = known[letter] = size[0] / _SAMPLE if size else 0.0
                total += width
            return total

        return measure


LETTERS = Letters()
"""Fonts are shared by all panels of a process, and so are their widths."""
