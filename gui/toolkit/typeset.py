"""Text as it can be drawn: without what cannot be seen, in lines of a width, with words in several fonts.

Dear PyGui draws one line of one font at a time and wraps nothing: here a text becomes lines of runs, each with its
place. Lengths are pixels of the screen.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
from pygments.util import ClassNotFound

from gui.toolkit.letters import BREAKABLE, WITHOUT_BLANKS

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


def over(under: Sequence[Style], above: Sequence[Style]) -> Sequence[Style]:
    """Styles in the order of their letters, those of `above` in place of what they cover."""
    for begin, end, style in above:
        left = [(a, min(b, begin), one) for a, b, one in under if a < begin]
        right = [(max(a, end), b, one) for a, b, one in under if b > end]
        under = (*left, (begin, end, style), *right)
    return under


Measure = Callable[[str, str], float]
"""How wide words are in the font of a role (`text`, `strong`, `mono`), in pixels of the screen."""


class Run(NamedTuple):
    """Words of one look on one line: where they begin, their letters in the piece's text, their style."""

    x: float
    begin: int
    end: int
    style: str


Line = tuple[Run, ...]

_BREAKS = "/\\-_.=&?,"
CODE_PAD = 0.7
"""Room beside code among words, in blanks."""
ROLE_OF = {"": "text", "strong": "strong", "code": "mono", "mono": "mono"}


def lines_of_words(text: str, styles: Sequence[Style], room: float, measure: Measure) -> tuple[Line, ...]:
    """Words wrapped at blanks and between the letters of scripts without any; lines that begin with a list's sign, or
    are indented, go on below their words."""
    bounds = sorted({0, len(text), *(end for one in styles for end in one[:2])})
    begins, ends = ({one[at] for one in styles if one[2] == "code"} for at in (0, 1))
    pad = measure(" ", "text") * CODE_PAD
    names = {one[0]: one[2] for one in styles}
    lines: list[Line] = []
    start = 0
    for source in text.split("\n"):
        end = start + len(source)
        lead = re.match(r"\s*(?:[-*•]\s+|\d{1,3}[.)]\s+)?", source)
        hang = min(measure(lead[0], "text") if lead is not None else 0.0, room / 3)
        row: list[Run] = []
        x, left = 0.0, 0.0
        cut = bisect_right(bounds, start)
        parts: list[tuple[int, int, str]] = []
        at = start
        while at < end:
            until = min(end, bounds[cut]) if cut < len(bounds) else end
            style = names.get(bounds[cut - 1], "") if cut else ""
            if until > at:
                parts.append((at, until, style))
            at, cut = until, cut + 1
        for group in _groups(text, parts):
            width = sum(measure(text[a:b], ROLE_OF[style]) + 2 * pad * (style == "code") for a, b, style in group)
            blank = text[group[0][0] : group[0][1]].isspace()
            if x + width > room and row and not blank:
                lines.append(tuple(row))
                row, x, left = [], hang, hang
            if blank and x == left and lines and not row and left:
                continue
            for a, b, style in group:
                for c, d in _fitting(text, a, b, room - left, style, measure):
                    wide = measure(text[c:d], ROLE_OF[style])
                    if x + wide > room and row and not blank:
                        lines.append(tuple(row))
                        row, x, left = [], hang, hang
                    if row and row[-1].style == style and row[-1].end == c:
                        row[-1] = row[-1]._replace(end=d)
                    else:
                        x += pad * (style == "code" and c in begins)
                        row.append(Run(x, c, d, style))
                    x += wide + pad * (style == "code" and d in ends)
        lines.append(tuple(row))
        start = end + 1
    return tuple(lines)


def _groups(text: str, parts: Iterable[Style]) -> Iterator[list[Style]]:
    """Pieces of text that no line break parts: a word with the marks that stand at it, whatever their styles."""
    group: list[Style] = []
    for begin, end, style in parts:
        for found in BREAKABLE.finditer(text, begin, end):
            if group and (_apart(found[0]) or _apart(text[group[-1][0]])):
                yield group
                group = []
            group.append((found.start(), found.end(), style))
    if group:
        yield group


def _apart(words: str) -> bool:
    return words.isspace() or WITHOUT_BLANKS.match(words) is not None


def _fitting(text: str, begin: int, end: int, room: float, style: str, measure: Measure) -> Iterator[tuple[int, int]]:
    """One atom, in pieces where it alone is wider than a line."""
    role = ROLE_OF[style]
    if measure(text[begin:end], role) <= room or end - begin < 2:
        yield begin, end
        return
    at = begin
    while at < end:
        wide, to = 0.0, at
        while to < end:
            letter = measure(text[to], role)
            if wide + letter > room and to > at:
                break
            wide += letter
            to += 1
        if to < end:  # better behind a mark than between two letters
            mark = max(text.rfind(sign, at + (to - at) // 2, to) for sign in _BREAKS)
            to = mark + 1 if mark > at else to
        yield at, to
        at = to


def lines_of_code(text: str, room: float, measure: Measure) -> tuple[Line, ...]:
    """Code line by line; a line that is too long goes on below itself, at blanks where there are any."""
    lines: list[Line] = []
    letter = measure("0", "mono") or 1.0
    columns = max(8, int(room / letter))
    start = 0
    for source in text.split("\n"):
        end, at = start + len(source), start
        if not source.strip("─┼"):  # a rule below the head of a table
            end_shown = min(end, start + columns)
            lines.append((Run(0.0, start, end_shown, "mono"),))
            start = end + 1
            continue
        if len(source) <= columns and source.isascii():
            lines.append((Run(0.0, start, end, "mono"),))
            start = end + 1
            continue
        first = True
        while True:
            limit = room if first else room - 4 * letter
            to, wide = at, 0.0
            if source.isascii():
                to = min(end, at + max(4, int(limit / letter)))
            else:
                while to < end and (wide := wide + measure(text[to], "mono")) <= limit:
                    to += 1
                to = max(to, min(at + 1, end))
            if to < end:
                blank = text.rfind(" ", at + 1, to)
                to = blank + 1 if blank > at + (to - at) // 2 else to
            lines.append((Run(0.0 if first else 4 * letter, at, to, "mono"),))
            at, first = to, False
            if at >= end:
                break
        start = end + 1
    return tuple(lines)


# --- colours of code -------------------------------------------------------------------------------------------------

CODE_COLOURS = (
    ("Comment", "code-note"), ("Keyword", "code-word"), ("Operator.Word", "code-word"), ("Literal.String", "code-text"),
    ("Literal.Number", "code-number"), ("Name.Decorator", "code-mark"), ("Name.Function", "code-name"),
    ("Name.Class", "code-name"), ("Name.Tag", "code-word"), ("Name.Builtin", "code-name"), ("Operator", "code-sign"),
    ("Name.Attribute", "code-name"), ("Generic.Heading", "code-word"), ("Generic.Subheading", "code-mark"),
)  # fmt: skip
"""Kinds of token of Pygments -> a colour of the palette; what is none of them has that of plain text."""
_PLAIN = ("", "text", "txt", "plain", "plaintext", "output")


def colours_of(text: str, language: str) -> tuple[Style, ...]:
    """The coloured parts of some code, for a worker; `language` is a language or the path of a file. None for one that
    nobody knows: a guess would be wrong."""

    if language.lower() in _PLAIN:
        return ()
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
