"""sha256 of conversations, remembered between runs: a file whose stat did not change is not read again."""

from __future__ import annotations

import hashlib
import json
import os
import time
from typing import Any

from core.base import files
from core.harvest.artifact import Artifact

WORKERS = 2
CHUNK = 64
SETTLED_NS = 2_000_000_000
"""A file changed less than this before it was hashed is not remembered: a second change within one tick of the file
system's clock (two seconds on FAT) would leave size and times as they are."""


class HashCache:
    """path -> "inode size mtime_ns ctime_ns sha256". A projection: losing it costs time only."""

    def __init__(self, rows: dict[str, Any] | None = None) -> None:
        self._rows = rows or {}
        self._asked: set[str] = set()
        self._added = False

    @property
    def changed(self) -> bool:
        """Whether `to_json` would differ from what was read."""
        return self._added or not self._asked.issuperset(self._rows)

    @staticmethod
    def from_json(data: bytes) -> HashCache:
        """Whatever cannot be understood is left out."""
        try:
            loaded = json.loads(data or b"{}")
        except (ValueError, RecursionError):
            return HashCache()
        if not isinstance(loaded, dict):
            return HashCache()
        return HashCache(loaded)

    def to_json(self) -> bytes:
        """Without files that nobody asked for any more: they are gone."""
        rows = {path: row for path, row in self._rows.items() if path in self._asked}
        return json.dumps(rows, separators=(",", ":")).encode("ascii")

    def get(self, item: Artifact) -> str:
        """The hash of a file that is as it was, else ""."""
        self._asked.add(item.path)
        row = self._rows.get(item.path)
        if type(row) is not str or row[:-64] != _stat(item):
            return ""
        return row[-64:]

    def put(self, item: Artifact, sha256: str, hashed_ns: int) -> None:
        """Remember a hash; `hashed_ns` is the time before the file was read, nanoseconds since 1970."""
        if hashed_ns - max(item.mtime_ns, item.ctime_ns) > SETTLED_NS:
            self._rows[item.path] = _stat(item) + sha256
            self._added = True


def _stat(item: Artifact) -> str:
    return f"{item.ino} {item.size} {item.mtime_ns} {item.ctime_ns} "


def hash_artifacts(artifacts: list[Artifact], cache: HashCache) -> dict[str, str]:
    """sha256 by path; files that cannot be read are left out. `cache` is updated in place."""
    hashes: dict[str, str] = {}
    wanted: list[Artifact] = []
    for item in artifacts:
        if sha := cache.get(item):
            hashes[item.path] = sha
        else:
            wanted.append(item)
    chunks = [wanted[at : at + CHUNK] for at in range(0, len(wanted), CHUNK)]
    started = time.time_ns()
    if len(chunks) > 1:
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(WORKERS) as pool:
            results = list(pool.map(_hash_chunk, chunks))
    else:
        results = [_hash_chunk(chunk) for chunk in chunks]
    for item, sha in (pair for result in results for pair in result):
        if sha:
            hashes[item.path] = sha
            cache.put(item, sha, started)
    return hashes


def _hash_chunk(chunk: list[Artifact]) -> list[tuple[Artifact, str]]:
    return [(item, _sha256(item)) for item in chunk]


def _sha256(item: Artifact) -> str:
    """One read for a file that is as large as it was when it was listed: no seek, no spare buffer."""
    try:
        fd = files.open_regular(item.path)
    except OSError:
        return ""
    try:
        digest = hashlib.sha256()
        step = min(item.size + 1, files.BUFFER_BYTES)
        while data := os.read(fd, step):
            digest.update(data)
            if len(data) == item.size < step:
                break  # one read had room for more and got no more
        return digest.hexdigest()
    except OSError:
        return ""
    finally:
        os.close(fd)
