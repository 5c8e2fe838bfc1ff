"""One thing that lies in the home folder, as the scan saw it."""

from __future__ import annotations

from typing import NamedTuple


class Artifact(NamedTuple):
    """`kind` is conversation, index, split, trash or odd (a link, folder, FIFO, device); `trouble` says in words why an
    odd one is odd. Sizes in bytes, times in nanoseconds since 1970. A tuple: a home can hold very many."""

    path: str
    name: str
    kind: str
    size: int = 0
    mtime_ns: int = 0
    ctime_ns: int = 0
    ino: int = 0
    dev: int = 0
    trouble: str = ""
