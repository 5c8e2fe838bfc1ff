"""Takes our own pieces out of a text that somebody has edited since, by what stood there before us.

Three texts are known: as it was, as we left it, as it is now. Each piece that we put in is cut out where nobody has
touched it; whatever else differs is the person's, and stays. So comments, commas and a missing line end come back as
they were, which no look at the text as it is now could tell.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

_WORDS = re.compile(r'"(?:[^"\\\r\n]|\\.)*"|\w+|\r?\n[ \t]*|[ \t]+|.', re.DOTALL)
MOST_WORDS = 3000
"""Where more than this differs, comparing takes too long; the caller has another way."""
Change = tuple[int, int, list[str]]
"""A place in a text, from and to, and what stands there instead."""


def without_pieces(before: str, after: str, now: str) -> str | None:
    """`now` without what `after` has more than `before`; None where the two changes touch each other."""
    words = _WORDS.findall(after)
    ours, theirs = _changes(words, _WORDS.findall(before)), _changes(words, _WORDS.findall(now))
    if ours is None or theirs is None:
        return None
    for begin, end, _ in theirs:
        if any(begin < to and start < end if begin < end else start < begin < to for start, to, _ in ours):
            return None
    left, at = list[str](), 0
    for begin, end, instead in sorted([*ours, *theirs], key=lambda change: change[:2]):
        left += words[at:begin] + instead
        at = max(at, end)
    return "".join(left + words[at:])


def _changes(old: Sequence[str], new: Sequence[str]) -> list[Change] | None:
    """What was changed from one text to another."""
    least = min(len(old), len(new))
    head = next((at for at in range(least) if old[at] != new[at]), least)
    tail = next((at for at in range(least - head) if old[-1 - at] != new[-1 - at]), least - head)
    one, other = old[head : len(old) - tail], new[head : len(new) - tail]
    if max(len(one), len(other)) > MOST_WORDS:
        return None
    found = SequenceMatcher(None, one, other, autojunk=False).get_opcodes()
    return [(head + a, head + b, list(other[c:d])) for kind, a, b, c, d in found if kind != "equal"]
