"""Layer 0: results, files, lines of text, settings and places. Imports no other room."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any, cast


def late(source: str, flags: int = 0) -> re.Pattern[str]:
    """What `re.compile` gives, but made when it is first used: for modules with many expressions of which a command
    needs few. Those that find secrets took a fifth of `knowledge find`, and three quarters of them were never used."""
    return cast("re.Pattern[str]", _Late(source, flags))


class _Late:
    """Has the methods of a pattern; each is kept here once it was asked for, so that it costs no more than there."""

    def __init__(self, source: str, flags: int) -> None:
        self._source, self._flags = source, flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._source, self._flags)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._compiled, name)
        self.__dict__[name] = found
        return found
