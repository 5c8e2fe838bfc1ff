"""Puts placeholders in the place of passwords, keys and tokens; `core/base/secrets/nets.py` finds them."""

from __future__ import annotations

import re
from bisect import bisect_left, insort
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.base.secrets.nets import Found

MARK = "[redacted: "
_ROUNDS = 8


@dataclass(frozen=True)
class Redacted:
    """The text with placeholders `[redacted: kind]`, and how many secrets of each kind were replaced."""

    text: str
    counts: dict[str, int] = field(default_factory=dict)


def redact(text: str, known: Iterable[tuple[int, int]] = ()) -> Redacted:
    """Replace every secret in `text`, and what stands at the places `known`, which somebody found by other means. One
    that lies over several lines becomes one placeholder.

    Redacting the result again changes nothing. The time grows with the length of the text and no faster.
    """
    counts: dict[str, int] = {}
    for _round in range(_ROUNDS):  # a placeholder may give its neighbour a border that it did not have
        pieces: list[str] = []
        done = 0
        for found in _secrets_of(text, () if _round else known):
            counts[found.kind] = counts.get(found.kind, 0) + 1
            pieces += (text[done : found.start], f"{MARK}{found.kind}]")
            done = found.end
        if not pieces:
            break
        text = "".join((*pieces, text[done:]))
    return Redacted(text, counts)


def _secrets_of(text: str, known: Iterable[tuple[int, int]]) -> list[Found]:
    """What must be replaced, in order, without overlaps."""
    if not text:
        return []
    from core.base.secrets import nets  # 0.1 s, and many a command redacts nothing

    found = nets.found_in(text)
    found += (nets.Found(nets.NAMED, start, end, "password") for start, end in known)
    if not found:
        return []
    marks = [mark.span() for mark in re.finditer(r"\[redacted: [^\]\n]{1,40}\]", text)] if MARK in text else []
    chosen: list[Found] = []
    taken: list[tuple[int, int]] = sorted(marks)
    for one in sorted(found, key=lambda one: (one.net, one.start - one.end, one.start)):
        if _is_free(one.start, one.end, taken):
            end = min(nets.end_of_wrapped(text, one), _next(taken, one.end, len(text)))
            one = one._replace(end=max(one.end, end))
            insort(taken, (one.start, one.end))
            chosen.append(one)
    return sorted(chosen, key=lambda one: one.start)


def _next(taken: list[tuple[int, int]], end: int, last: int) -> int:
    row = bisect_left(taken, (end, 0))
    return taken[row][0] if row < len(taken) else last


def _is_free(start: int, end: int, taken: list[tuple[int, int]]) -> bool:
    row = bisect_left(taken, (end, 0))
    return row == 0 or taken[row - 1][1] <= start
