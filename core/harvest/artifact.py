"""One thing that lies in the home folder or in another tool's, as the scan saw it."""

from __future__ import annotations

from typing import NamedTuple

HOME = "home"


class Artifact(NamedTuple):
    """`kind` is conversation, store (a file or folder that holds many), session (one of those), index, split, trash or
    odd (a link, folder, FIFO, device); `trouble` says in words why an odd one is odd. Sizes in bytes, times in
    nanoseconds since 1970. `source` is `home` or the tool that owns the file; `name` is what provenances call it. The
    `path` of a session is that of its store, a `#` and the session's id. A tuple: a home can hold very many."""

    path: str
    name: str
    kind: str
    size: int = 0
    mtime_ns: int = 0
    ctime_ns: int = 0
    ino: int = 0
    dev: int = 0
    trouble: str = ""
    source: str = HOME

    @property
    def is_foreign(self) -> bool:
        """Whether it belongs to another tool."""
        return self.source != HOME
