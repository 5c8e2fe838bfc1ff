"""Which of many words a text holds, in one pass over it.

RE2 seeks hundreds of them together at the speed of one; where it cannot be had, each is sought by itself, which is
right and several times slower.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence


def seeker(words: Sequence[str], further: Sequence[str] = ()) -> Callable[[bytes], frozenset[str]]:
    """A function from a text in small ASCII letters to those of `words` (literal, small letters) and of `further`
    (expressions that RE2 and `re` read alike) that are in it."""
    names = (*dict.fromkeys(words), *further)
    literal = len(names) - len(further)
    expressions = [re.escape(name) if number < literal else name for number, name in enumerate(names)]
    try:
        import re2
    except ImportError:
        return _one_by_one(names, literal)
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    together = re2.Set.SearchSet(options)
    for expression in expressions:
        together.Add(expression)
    together.Compile()

    def found(text: bytes) -> frozenset[str]:
        numbers: Iterable[int] = together.Match(text) or ()
        return frozenset(names[number] for number in numbers)

    return found


def _one_by_one(names: Sequence[str], literal: int) -> Callable[[bytes], frozenset[str]]:
    plain = [(name, name.encode()) for name in names[:literal]]
    further = [(name, re.compile(name.encode())) for name in names[literal:]]

    def found(text: bytes) -> frozenset[str]:
        return frozenset(
            [name for name, word in plain if word in text] + [name for name, one in further if one.search(text)]
        )

    return found
