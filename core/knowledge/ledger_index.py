"""Single entries of a large ledger, and its figures at a glance, for a window that shows forty of a hundred thousand.

`glance` counts the entries by status in one pass over the bytes, before the whole has been read. In valid JSON a string
holds no line break, so a field that begins a line at its own depth is one of an entry.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path
from typing import BinaryIO

from core.base import files
from core.base.paths import Paths
from core.base.ready import state_of
from core.knowledge.ledger import BETWEEN, HEAD, TAIL, Entry, entry_at

LEAST_BYTES = GLANCE_BYTES = 1 << 20
"""A smaller ledger is read whole in no time; and how much of a larger one is looked at a time."""
_LONGEST = 8 << 20
"""A longer entry is none of ours: to look for its end with each part read would take minutes."""
_STATUS = re.compile(rb'\n      "status": "([^"\\\n]*)"')


def read_entry(ledger: Path, state: list[int], begin: int) -> tuple[str, Entry]:
    """Key and entry of what begins there. Raises OSError, and ValueError or RecursionError where the file is another
    one by now."""
    with os.fdopen(files.open_regular(ledger), "rb") as file:
        if state_of(os.fstat(file.fileno())) != state:
            raise ValueError("the ledger has changed")
        return entry_at(file, begin)


def glance(paths: Paths) -> dict[str, int] | None:
    """How many entries of each status a large ledger has; None for one that is not large, not there, or not in the
    layout that we write."""
    try:
        with os.fdopen(files.open_regular(paths.ledger), "rb") as file:
            return _counted(file) if os.fstat(file.fileno()).st_size >= LEAST_BYTES else None
    except OSError:
        return None


def _counted(file: BinaryIO) -> dict[str, int] | None:
    statuses, entries, first = Counter[bytes](), 1, True
    part = file.read(GLANCE_BYTES)
    while part:
        more = file.read(GLANCE_BYTES)
        stop = max(part.rfind(BETWEEN), 0) if more else len(part)
        if (first and not part.startswith(HEAD)) or (not more and not part.endswith(TAIL)):
            return None
        if b"\n>>>>>>> " in part or len(part) > _LONGEST + GLANCE_BYTES:
            return None
        entries += part.count(BETWEEN, 0, stop)
        statuses.update(_STATUS.findall(part, 0, stop))
        part, first = part[stop:] + more, first and not stop
    whole = entries == sum(statuses.values())
    return {name.decode("utf-8", "replace"): number for name, number in statuses.items()} if whole else None
