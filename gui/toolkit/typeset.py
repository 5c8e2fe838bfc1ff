"""Text as it can be drawn: without what cannot be seen, in lines of a width, with words in several fonts.

Dear PyGui draws one line of one font at a time and wraps nothing: here a text becomes lines of runs, each with its
place. Lengths are pixels of the screen.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import NamedTuple

from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
from pygments.util import ClassNotFound

from gui.toolkit.letters import broken

Style = tuple[int, int, str]
"""Letters of a text, from the first to behind the last, and how they look."""

_ESCAPES = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]{0,500}(?:\x07|\x1b\\)|[@-Z\\-_])")
_ODD = re.compile(
    r"[^\n -~\u00a1-\u00ac\u00ae-\u02ff\u0370-\u0377\u0384-\u0386\u0388-\u038a\u038e-\u03a1\u03a3-\u052f"
    r"\u2010-\u2027\u2030-\u205e\u20a0-\u20c0\u2190-\u23ff\u2500-\u27bf\u3001-\u303f\u3041-\u3096\u30a0-\u30ff"
    r"\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff5e\U0001f300-\U0001faf8]"
)
"""What has to be looked at; the rest can be drawn."""
_DROPPED = frozenset("\u200b\u200c\u200d\ufe0e\ufe0f\ufeff\u00ad\r")


def visible(text: str) -> str:
    """A text as it can be drawn: colour codes and joiners out, tabs as spaces; what turns the reading round, or cannot
    be seen, as a sign that tells so."""
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    if "\t" in text:
        text = text.expandtabs(4)
    return _ODD.sub(_drawn, lettered(text))


_LESS = "\u0530-\u10ff\u1200-\u1cff\ua840-\ua8ff\ufb1d-\ufdff\ufe70-\ufefc"
_LETTERLESS = re.compile(rf"[{_LESS}](?:[{_LESS}\s.,:;!?-]*[{_LESS}])?")
"""Writing that the fonts of the panel have no letters for: Armenian to Georgian, Ethiopic to Vedic, Arabic forms."""


def lettered(text: str) -> str:
    """A text with words instead of what the fonts cannot show: nobody reads rows of replacement marks. A stretch in
    several such scripts has the name of its first letter's."""
    told: set[str] = set()

    def name(found: re.Match[str]) -> str:
        script = unicodedata.name(found[0][0], "unknown").split()[0].capitalize()
        again = script in told
        told.add(script)
        return f"[{script}]" if again else f"[{script}: open it in your editor]"

    return _LETTERLESS.sub(name, text)


def _drawn(found: re.Match[str]) -> str:
    letter = found[0]
    if letter in _DROPPED:
        return ""
    if letter.isprintable():
        return letter
    return " " if unicodedata.category(letter) == "Zs" else "\ufffd"


Measure = Callable[[str, str], float]
"""How wide words are in the font of a role (`text`, `strong`, `mono`), in pixels of the screen."""


class Run(NamedTuple):
    """Words of one look on one line: where they begin, their letters in the piece's text, their style."""

    x: float
    begin: int
    end: int
    style: str


Line = tuple[Run, ...]

CODE_PAD = 0.7
"""Room beside code among words, in blanks."""
ROLE_OF = {"": "text", "strong": "strong", "code": "mono", "mono": "mono"}


def lines_of_words(text: str, styles: Sequence[Style], room: float, measure: Measure) -> tuple[Line, ...]:
    """Words wrapped (`broken`); lines that begin with a list's sign, or are indented, go on below their words."""
    pad, widths = measure(" ", "text") * CODE_PAD, list[float]()
    parts = _parts(text, styles)
    for begin, end, style in parts:
        widths += (measure(letter, ROLE_OF[style]) for letter in text[begin:end])
        if style == "code":
            widths[begin] += pad
            widths[end - 1] += pad
    offsets, begins = list(accumulate(widths, initial=0.0)), [part[0] for part in parts]
    lines: list[Line] = []
    start = 0
    for source in text.split("\n"):
        lead = _LEAD.match(source)
        own = offsets[start : start + len(source) + 1]
        hang = min(own[lead.end()] - own[0] if lead is not None else 0.0, room / 3)
        for row, (begin, end) in enumerate(broken(source, own, room, hang)):
            first, stop, left = start + begin, start + end, hang if row else 0.0
            runs = []
            for at in range(max(0, bisect_right(begins, first) - 1), bisect_left(begins, stop)):
                part, until, style = parts[at]
                a, b = max(part, first), min(until, stop)
                x = left + offsets[a] - offsets[first] + pad * (style == "code" and a == part)
                runs += [Run(x, a, b, style)] if a < b else []
            lines.append(tuple(runs))
        start += len(source) + 1
    return tuple(lines)


_LEAD = re.compile(r"\s*(?:[-*•]\s+|\d{1,3}[.)]\s+)?")


def _parts(text: str, styles: Sequence[Style]) -> list[Style]:
    """All of a text in parts of one style."""
    parts: list[Style] = []
    at = 0
    for begin, end, style in (*styles, (len(text), len(text), "")):
        begin, end = min(max(begin, at), len(text)), min(end, len(text))
        parts += [(at, begin, "")] if at < begin else []
        parts += [(begin, end, style)] if begin < end else []
        at = max(begin, end)
    return parts


def lines_of_code(text: str, room: float, measure: Measure) -> tuple[Line, ...]:
    """Code line by line; a line that is too long goes on below itself."""
    lines: list[Line] = []
    letter = measure("0", "mono") or 1.0
    start = 0
    for source in text.split("\n"):
        ruled = not source.strip("─┼")  # below the head of a table
        widths = (letter if one.isascii() else measure(one, "mono") for one in source)
        parts = broken(source, list(accumulate(widths, initial=0.0)), room, 4 * letter)[: 1 if ruled else None]
        lines += [(Run(4 * letter if begin else 0.0, start + begin, start + end, "mono"),) for begin, end in parts]
        start += len(source) + 1
    return tuple(lines)


# --- colours of code -------------------------------------------------------------------------------------------------

CODE_COLOURS = (
    ("Comment", "code-note"), ("Keyword", "code-word"), ("Operator.Word", "code-word"), ("Literal.String", "code-text"),
    ("Literal.Number", "code-number"), ("Name.Decorator", "code-mark"), ("Name.Function", "code-name"),
    ("Name.Class", "code-name"), ("Name.Tag", "code-word"), ("Name.Builtin", "code-name"), ("Operator", "code-sign"),
    ("Name.Attribute", "code-name"), ("Generic.Heading", "code-word"), ("Generic.Subheading", "code-mark"),
)  # fmt: skip
"""Kinds of token of Pygments -> a colour of the palette; what is none of them has that of plain text."""


def colours_of(text: str, language: str) -> tuple[Style, ...]:
    """The coloured parts of some code, for a worker; `language` is a language or the path of a file. None for one that
    nobody knows: a guess would be wrong."""
    try:
        lexer = get_lexer_for_filename(language.rpartition("/")[2])
    except ClassNotFound:
        try:
            lexer = get_lexer_by_name(language.lower())
        except ClassNotFound:
            return ()
    found: list[Style] = []
    for at, kind, words in lexer.get_tokens_unprocessed(text):
        named = str(kind).removeprefix("Token.")
        colour = next((one for begin, one in CODE_COLOURS if named.startswith(begin)), "")
        if colour and words.strip():
            found.append((at, at + len(words), colour))
    return tuple(found)
