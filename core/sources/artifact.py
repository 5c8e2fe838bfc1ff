"""One thing that lies in the home folder or in another tool's, as the scan saw it, and its sha256.

Hashes are remembered between runs: a file whose stat did not change is not read again.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from dataclasses import dataclass, field
from typing import NamedTuple

from core.base import files
from core.base.result import ErrorInfo

HOME = "home"
SHA256 = re.compile(r"[0-9a-f]{64}\Z")


class Artifact(NamedTuple):
    """`kind` is conversation, store (a file or folder that holds many), session (one of those), index, split, trash or
    odd (a link, folder, FIFO, device); `trouble` says in words why an odd one is odd. Sizes in bytes, times in
    nanoseconds since 1970. `source` is `home` or the tool that owns the file; `name` is what provenances call it. The
    `path` of a session is that of its store, a `#` and the session's id. `kept` is the file of our archive that
    stands in for a conversation which is not at its path any more; its kind is session too. A tuple: a home can hold
    very many."""

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
    kept: str = ""

    @classmethod
    def seen(cls, path: str, name: str, kind: str, found: os.stat_result, source: str = HOME) -> Artifact:
        """A file with the size, times and identity that the disk tells."""
        times = (found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_dev)
        return cls(path, name, kind, found.st_size, *times, source=source)

    @property
    def is_foreign(self) -> bool:
        """Whether it belongs to another tool."""
        return self.source != HOME


@dataclass
class Survey:
    """What a look into places or stores found. `notes` tell in words what kept it from being whole, `errors` which of
    what the user named cannot be read."""

    artifacts: list[Artifact] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    errors: list[ErrorInfo] = field(default_factory=list)


SETTLED_NS = 2_000_000_000
"""A file changed less than this before it was hashed is not remembered: a second change within one tick of the file
system's clock (two seconds on FAT) would leave size and times as they are."""


class HashCache:
    """The state of a file (device, inode, size, mtime, ctime) -> the sha256 of its content. A projection: losing it
    costs time only."""

    def __init__(self, rows: dict[str, str] | None = None) -> None:
        self._rows = rows or {}
        self._kept: dict[str, str] = {}
        self._added = False

    @property
    def changed(self) -> bool:
        """Whether `to_bytes` would differ from what was read."""
        return self._added or len(self._kept) != len(self._rows)

    @staticmethod
    def from_bytes(data: bytes) -> HashCache:
        """What is no cache of ours, or was damaged, is an empty one."""
        try:
            rows = json.loads(data)
        except (ValueError, RecursionError):
            return HashCache()
        whole = isinstance(rows, dict) and all(isinstance(sha, str) and SHA256.match(sha) for sha in rows.values())
        return HashCache(rows if whole else None)

    def to_bytes(self) -> bytes:
        """Without files that nobody asked for any more: they are gone."""
        return json.dumps(self._kept, separators=(",", ":")).encode()

    def known(self, artifacts: list[Artifact]) -> tuple[dict[str, str], list[Artifact]]:
        """The hashes, by path, of the files that are as they were, and the files that must be read."""
        hashes: dict[str, str] = {}
        others: list[Artifact] = []
        for item in artifacts:
            key = _state_of(item)
            if sha256 := self._rows.get(key):
                hashes[item.path] = self._kept[key] = sha256
            else:
                others.append(item)
        return hashes, others

    def put(self, item: Artifact, sha256: str, hashed_ns: int) -> None:
        """Remember a hash; `hashed_ns` is the time before the file was read, nanoseconds since 1970."""
        if hashed_ns - max(item.mtime_ns, item.ctime_ns) > SETTLED_NS:
            key = _state_of(item)
            self._rows[key] = self._kept[key] = sha256
            self._added = True


def _state_of(item: Artifact) -> str:
    return f"{item.dev} {item.ino} {item.size} {item.mtime_ns} {item.ctime_ns}"


def hash_artifacts(artifacts: list[Artifact], cache: HashCache) -> dict[str, str]:
    """sha256 by path; files that cannot be read are left out. `cache` is updated in place."""
    hashes, wanted = cache.known(artifacts)
    started = time.time_ns()
    for item in wanted:
        try:
            with os.fdopen(files.open_regular(item.path), "rb") as file:
                hashes[item.path] = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError:
            continue
        cache.put(item, hashes[item.path], started)
    return hashes
