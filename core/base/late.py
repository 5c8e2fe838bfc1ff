"""Regular expressions that are compiled when they are first used.

Python compiles an expression in a tenth of a millisecond to ten. The tables of this program hold hundreds, and a
command that adds one line needs a handful of them: all together took longer than everything else that it does.
"""

from __future__ import annotations

import re
from typing import Any, cast


class _Late:
    """Stands for a pattern: the first look at any of its attributes compiles it, every other finds what is there."""

    def __init__(self, expression: str, flags: int) -> None:
        self._made_from = (expression, flags)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        found = getattr(re.compile(*self._made_from), name)
        setattr(self, name, found)
        return found


def late(expression: str, flags: int = 0) -> re.Pattern[str]:
    """As `re.compile`, put off. Only its methods and attributes may be used: `re.sub(late(…), …)` does not know it."""
    return cast("re.Pattern[str]", _Late(expression, flags))
