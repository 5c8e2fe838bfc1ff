"""A glance at a large ledger: the newest entries, and how many there are, before the whole of it has been read.

It reads the bytes as `format_ledger` lays them out and parses single entries only: of a hundred thousand a window shows
forty. In valid JSON a string holds no line break, so a field that begins a line at its own depth is one of an entry.
"""

from __future__ import annotations

import json
import os
import re
from array import array
from collections import Counter
from typing import Any, BinaryIO

from core.base import files
from core.base.paths import Paths

LEAST_BYTES = PART_BYTES = 1 << 20
_HEAD, _TAIL, _BETWEEN = b'{\n  "entries": {\n    "', b"\n    }\n  }\n}\n", b'\n    },\n    "'
_AT = re.compile(rb'\n      "at": "([^"\\\n]*)"')
_STATUS = re.compile(rb'\n      "status": "([^"\\\n]*)"')


class LedgerGlance:
    """The entries of a ledger, newest first. Of each only the place in the file is kept; `counts` are by status."""

    def __init__(self, path: str, found: os.stat_result) -> None:
        self._path, self._size, self._state = path, found.st_size, _state(found)
        self._starts = array("Q")  # where the first field of each entry begins, in the order of the file
        self._order = array("I")
        self.counts: dict[str, int] = {}

    def read(self, file: BinaryIO) -> bool:
        """Go through the file; false where it is not in the layout that we write."""
        times, statuses, between = list[bytes](), Counter[bytes](), 0
        part, base = file.read(PART_BYTES), 0
        while part:
            more = file.read(PART_BYTES)
            stop = max(part.rfind(_BETWEEN), 0) if more else len(part)
            if (base == 0 and not part.startswith(_HEAD)) or (not more and not part.endswith(_TAIL)):
                return False
            if b"\n>>>>>>> " in part:
                return False
            for found in _AT.finditer(part, 0, stop):
                self._starts.append(base + found.start())
                times.append(found[1])
            statuses.update(_STATUS.findall(part, 0, stop))
            between += part.count(_BETWEEN, 0, stop)
            part, base = part[stop:] + more, base + stop
        backwards = range(len(times) - 1, -1, -1)  # entries of one time: by their key, as the whole ledger has them
        self._order.extend(sorted(backwards, key=times.__getitem__, reverse=True))
        self.counts = {name.decode("utf-8", "replace"): number for name, number in statuses.items()}
        return base == self._size and len(times) == sum(statuses.values()) == between + 1

    @property
    def is_large(self) -> bool:
        """Whether a glance saves anything: a smaller ledger is read whole in no time."""
        return self._size >= LEAST_BYTES

    def __len__(self) -> int:
        return len(self._starts)

    def entry(self, place: int) -> tuple[str, dict[str, Any]] | None:
        """The key and the entry at a place, 0 for the newest; None where the file is another one by now, or where it
        is damaged there. Raises IndexError."""
        at = self._order[place]
        begin = self._starts[at - 1] if at else 0
        end = self._starts[at + 1] if at + 1 < len(self._starts) else self._size
        try:
            with os.fdopen(files.open_regular(self._path), "rb") as file:
                if _state(os.fstat(file.fileno())) != self._state:
                    return None
                file.seek(begin)
                part = file.read(end - begin)
            first = self._starts[at] - begin
            key, last = part.rfind(b'\n    "', 0, first), part.find(b"\n    }", first)
            found = json.loads(b"{" + part[key:last] + b"}}")
        except (OSError, ValueError, RecursionError):
            return None
        return next(iter(found.items())) if len(found) == 1 else None


def glance(paths: Paths) -> LedgerGlance | None:
    """What a glance tells; None for a ledger that is not large, not there, or not in the layout that we write."""
    try:
        with os.fdopen(files.open_regular(str(paths.ledger)), "rb") as file:
            found = LedgerGlance(str(paths.ledger), os.fstat(file.fileno()))
            return found if found.is_large and found.read(file) else None
    except OSError:
        return None


def _state(found: os.stat_result) -> tuple[int, ...]:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
