"""Which lines of a source file a note speaks of: `line 42`, `lines 4-6`, `L12`, a name like `foo()`, a quoted piece."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

LINES = 400
"""The longest span that is taken for what a note speaks of."""

_NUMBERED = re.compile(
    r"(?:\blines?\s+|\bL|\.\w{1,8}:)(\d{1,6})(?:\s*(?:[-–—]|to|and)\s*L?(\d{1,6}))?\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"`([^`]{2,200})`")
_CALLED = re.compile(r"\b([^\W\d][\w.]*)\(\)?")
_JOINED = re.compile(r"\b(?:[^\W\d]\w*_\w+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]+)+)\b")
_WORD = re.compile(r"[^\W\d]\w*")
_DEFINES = re.compile(
    r"^\s*(?:export\s+|pub(?:\(\w+\))?\s+|public\s+|private\s+|static\s+|async\s+|default\s+)*"
    r"(?:def|class|function|func|fn|struct|enum|trait|interface|type|const|let|var|val|module|impl|macro_rules!)\s+\*?"
    r"([^\W\d]\w*)|^\s*([^\W\d]\w*)\s*(?::[^=]+)?=(?!=)|^#+\s+(.+)$"
)

Span = tuple[int, int]


def mentioned_lines(notes: Sequence[str], lines: Sequence[str]) -> list[Span | None]:
    """For each note the first and the last line (from 1) that it speaks of, None when it speaks of the whole file.

    A number of a line that is there wins, then a name where it is defined, then a name or a quoted piece where it
    stands first.
    """
    wanted = [(_numbered(note, len(lines)), list(_names(note)), _QUOTED.findall(note)) for note in notes]
    defined, first = _places(lines, {name for _, names, _ in wanted for name in names})
    spans: list[Span | None] = []
    for numbered, names, quoted in wanted:
        at = next((defined[name] for name in names if name in defined), 0)
        at = at or next((first[name] for name in names if name in first), 0)
        at = at or _quoted(quoted, lines)
        spans.append(numbered or ((at, at) if at else None))
    return spans


def _numbered(note: str, count: int) -> Span | None:
    for found in _NUMBERED.finditer(note):
        start = int(found[1])
        end = int(found[2]) if found[2] else start
        if 1 <= start <= count:
            return start, max(start, min(end, count, start + LINES))
    return None


def _names(note: str) -> Iterable[str]:
    """Names in a note, the likeliest first: what stands in backticks, what is called, what is joined of words."""
    for quoted in _QUOTED.findall(note):
        words = _WORD.findall(quoted)
        if words and len(words) <= 3 and re.fullmatch(r"[\w.:()\[\]#]+", quoted):
            yield words[-1]
    for called in _CALLED.findall(note):
        yield called.rsplit(".", 1)[-1]
    yield from _JOINED.findall(note)


def _places(lines: Sequence[str], names: set[str]) -> tuple[dict[str, int], dict[str, int]]:
    """The line where each name is defined, and the first on which it stands."""
    defined: dict[str, int] = {}
    first: dict[str, int] = {}
    if not names:
        return defined, first
    for number, line in enumerate(lines, start=1):
        here = names.intersection(_WORD.findall(line))
        if not here:
            continue
        made = _DEFINES.match(line)
        name = (made[1] or made[2] or "") if made is not None else ""
        for word in here:
            first.setdefault(word, number)
        if name in here:
            defined.setdefault(name, number)
    return defined, first


def _quoted(quoted: Sequence[str], lines: Sequence[str]) -> int:
    for piece in quoted:
        for number, line in enumerate(lines, start=1):
            if piece in line:
                return number
    return 0
