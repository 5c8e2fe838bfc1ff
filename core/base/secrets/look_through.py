"""Text as a reader sees it: without the colour codes, escapes and invisible characters that tear words apart.

A key that a program printed in colour, that stands in a JSON string or in an address, or that has a zero-width
character inside is the same key. `look_through` gives the plain reading of the lines that have such things, and the
place in the original of each of its characters, so that what is found in one can be replaced in the other.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass, replace
from html import unescape

from core.base import late

_ROUNDS = 3  # an address inside a JSON string inside a JSON string
_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e01ef\x80-\x9a\x9c-\x9f"
)
_STYLED = "\uff01-\uff5e\U0001d400-\U0001d6a3\U0001d7ce-\U0001d7ff"
"""Full-width and mathematical letters and digits, which a reader takes for the plain ones."""
_CONTROLS = r"\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f"
_CODE = (
    r"(?:\[[0-?]{0,32}[ -/]{0,4}[@-~]|\]8;[^;\x07\x1b\\\n]{0,80};|\][^\x07\x1b\\\n]{0,400}(?:\x07|\x1b\\"
    r"|\\{1,8}(?:(?:u00|x)(?:07|1[bB]\\{1,8})|a)))"
)
_UNDER = (
    rf"(?:(?<=\x1b)(?:{_CODE}|[ -/]{{0,2}}[0-~]|)"
    r"|(?<=\[)(?:(?:\d{1,3}(?:;\d{1,3}){0,6})?m(?:\[K)?|K)"
    rf"|(?<=\\)\\{{0,7}}(?:(?:(?:u00|x)1[bB]|0?33|[eE]){_CODE}|u00(?P<u>[0-7][0-9a-fA-F])|x(?P<x>[2-7][0-9a-fA-F]|08)"
    r"|u(?P<far>[0-9a-fA-F]{4})|u\{0{0,4}(?P<braced>[0-9a-fA-F]{1,5})\}|U000(?P<long>[0-9a-fA-F]{5})"
    r"|x(?P<bytes>[c-eC-E][0-9a-fA-F](?:\\{1,8}x[89abAB][0-9a-fA-F]){1,2})"
    r"|(?P<octets>3[0-5][0-7](?:\\{1,8}2[0-7]{2}){1,2})|(?P<octal>1[0-7]{2}|0?[4-7][0-7]|0?10)"
    r"|(?P<space>[bnrt])|(?P<self>[\"'`/&=$]))"
    r"|(?<=%)(?P<percent>[0-7][0-9a-fA-F]|[c-dC-D][0-9a-fA-F]%[89abAB][0-9a-fA-F]"
    r"|[eE][0-9a-fA-F](?:%[89abAB][0-9a-fA-F]){2}|[fF][0-4](?:%[89abAB][0-9a-fA-F]){3})"
    r"|(?<=&)(?P<entity>#0{0,6}[1-9]\d{1,5};?|#[xX]0{0,6}[1-9a-fA-F][0-9a-fA-F]{1,5};|[A-Za-z][A-Za-z0-9]{1,23};)"
    rf"|(?<=\^)(?P<back>H)|(?<=\^)\[?{_CODE}|(?<=[{_CONTROLS}])|(?<=\r)(?!\n)"
)
_COVER = late(rf"[\x1b\\\[%&^\r{_CONTROLS}]{_UNDER})")
_ANYWHERE = (
    rf"[\x1b\\\[%&^\r{_CONTROLS}\x9b␛{_STYLED}{_INVISIBLE}]{_UNDER}|(?<=(?P<styled>[{_STYLED}]))|(?<=␛){_CODE}"
    rf"|(?<=\x9b)[0-?]{{0,32}}[ -/]{{0,4}}[@-~]|(?<=[\x9b{_INVISIBLE}]))"
)
_COVER_ANYWHERE = late(_ANYWHERE)
"""One escape, code or invisible character. The first character is asked for by itself: only then is the search fast."""
_ERASING = late(rf"[^\n\x08]\x08|{_ANYWHERE}")
_BACK = ("\b", "^H", "\\b", "u0008", "\\x08", "\\010", "\\10")
_ERASING_ROUNDS = 12
"""This many characters in a row are taken away by as many backspaces."""
_BETWEEN = late(r"%|\\+x?")
_MAIL_SIGNS = late(r"=[2-7][0-9A-F]{1,2}=[2-7][0-9A-F]|=3D")
_MAIL = late(r"=(?:\r?\n|(?P<mail>[2-7][0-9A-F]))")
"""Quoted-printable, as mail writes it (RFC 2045): a line that goes on, and a character by its number."""


@dataclass(frozen=True)
class View:
    """The plain reading `text`. `starts` are places in it where a stretch begins; `origins` the ranges of the original
    that these stretches come from: one of the same length is copied, any other stands for a single character."""

    text: str
    starts: list[int]
    origins: list[tuple[int, int]]
    below: View | None = None

    def original(self, start: int, end: int) -> tuple[int, int]:
        """The range of the original text that a range of `text` stands for; it may be longer, never empty."""
        first, last = self._place(start)[0], self._place(end - 1)[1]
        return self.below.original(first, last) if self.below else (first, last)

    def _place(self, at: int) -> tuple[int, int]:
        """The range that one character comes from."""
        row = bisect_right(self.starts, at) - 1
        start, end = self.origins[row]
        length = (self.starts[row + 1] if row + 1 < len(self.starts) else len(self.text)) - self.starts[row]
        offset = at - self.starts[row]
        return (start + offset, start + offset + 1) if end - start == length else (start, end)


def look_through(text: str) -> list[View]:
    """The plain readings of `text`: none where nothing is hidden, one a layer that lies over a line, others where
    a plus may be a blank of an address, where mail goes on behind a line's end, and where a backspace takes away what
    stands before it, as manuals print bold and underlined words."""
    views = _layers(text, _ROUNDS)
    if "%" in text:
        views += [replace(view, text=view.text.replace("+", " ")) for view in views if "+" in view.text]
    if "=\n" in text or "=\r\n" in text or _MAIL_SIGNS.search(text):
        views += _layers(text, 1, _MAIL)
    if any(sign in text for sign in _BACK):
        views += _layers(text, _ERASING_ROUNDS, _ERASING)
    return views


def _layers(text: str, rounds: int, cover: re.Pattern[str] | None = None) -> list[View]:
    """A reading for each layer: a deeper one has only the lines over which something lay until then."""
    views: list[View] = []
    for _round in range(rounds):
        below = views[-1] if views else None
        further = _uncovered(below.text if below else text, below, cover)
        if further is None:
            break
        views.append(further)
    return views


def _uncovered(text: str, below: View | None, cover: re.Pattern[str] | None) -> View | None:
    """One layer less, of the lines that have one; None where no line has."""
    pieces: list[str] = []
    starts: list[int] = []
    origins: list[tuple[int, int]] = []
    at = length = 0
    line_end = -1

    def put(piece: str, start: int, end: int) -> None:
        nonlocal length
        if piece:
            pieces.append(piece)
            starts.append(length)
            origins.append((start, end))
            length += len(piece)

    if cover is None or (cover is _ERASING and "\b" not in text):
        cover = _COVER if text.isascii() else _COVER_ANYWHERE
    for found in cover.finditer(text):
        start, end = found.span()
        if start > line_end:
            if line_end >= 0:
                put(text[at:line_end], at, line_end)
            begins = start  # two lines more: a name may stand above its value
            for _line in range(3):
                begins = text.rfind("\n", 0, max(0, begins - 1)) + 1
            begins = max(begins, line_end + 1)
            if begins > 0 and length:
                put("\n", begins - 1, begins)
            at = begins
        put(text[at:start], at, start)
        put(_meant(found), start, end)
        at = end
        if end > line_end:
            line_end = text.find("\n", end)
            line_end = len(text) if line_end < 0 else line_end
    if line_end < 0:
        return None
    put(text[at:line_end], at, line_end)
    return View("".join(pieces), starts, origins, below) if pieces else None


def _meant(found: re.Match[str]) -> str:
    """The one character that an escape stands for; "" for what nobody sees."""
    group = found.lastgroup
    if group is None:
        return ""
    said = found[group]
    if group == "space":
        return {"b": "\b", "t": "\t"}.get(said, "\n")
    if group == "back":
        return "\b"
    if group == "self":
        return said
    if group == "entity":
        return unescape(f"&{said}")
    if group == "styled":
        return unicodedata.normalize("NFKC", said)
    if group in ("percent", "bytes"):
        return bytes.fromhex(_BETWEEN.sub("", said)).decode("utf-8", "replace")[:1]
    if group == "octets":
        return bytes(int(one, 8) for one in _BETWEEN.split(said)).decode("utf-8", "replace")[:1]
    return chr(int(said, 8 if group == "octal" else 16))
