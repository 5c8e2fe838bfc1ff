"""Lines that carry their own checksum: eight hex digits of CRC-32, a space, JSON.

What the logs of the program are made of: a line that a crash has torn, or a disk has changed, is noticed. One that
several programs write takes its lines through `append`, one writer at a time.
"""

from __future__ import annotations

import contextlib
import json
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.base import files, locks

Record = dict[str, Any]
_ENCODER = json.JSONEncoder(separators=(",", ":"), check_circular=False)


def encode(record: Record) -> bytes:
    """One line, with its line break."""
    body = _ENCODER.encode(record).encode("ascii")
    return b"%08x %s\n" % (zlib.crc32(body), body)


def decode_line(line: bytes) -> Record | None:
    """The record of one line without its break, or None when it is damaged."""
    body = line[9:]
    if len(line) < 10 or line[8:9] != b" " or line[:8] != b"%08x" % zlib.crc32(body):
        return None
    try:
        record = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def decode(data: bytes) -> Iterator[Record]:
    """The records up to the first damaged line: what follows a torn write is not trusted."""
    for line in data.split(b"\n"):
        record = decode_line(line)
        if record is None:
            return
        yield record


def each(data: bytes) -> Iterator[Record]:
    """Every whole record: in a log of several writers each line vouches for itself."""
    return (record for record in map(decode_line, data.split(b"\n")) if record is not None)


def unfinished(data: bytes) -> dict[str, Record]:
    """The intents of a log that are neither done nor void, by their ids."""
    found: dict[str, Record] = {}
    for record in each(data):
        name = str(record.get("id"))
        if record.get("t") == "intent":
            found[name] = record
        elif record.get("t") in ("done", "void"):
            found.pop(name, None)
    return found


def append(path: Path, record: Record, *, durable: bool = False) -> None:
    """Add one record to a log, made if it is not there; it begins a line of its own whatever stands before it. Raises
    OSError."""
    with opened(path) as fd, files.naming(path):
        files.append_lines(fd, encode(record))
        if durable:
            files.sync(fd, data_only=True)


def finish(path: Path, name: str) -> None:
    """The intent of that id is done, and nobody need know of it any more: where a log holds nothing else it is emptied.
    Raises OSError."""
    with opened(path) as fd, files.naming(path):
        if all(record.get("id") == name for record in each(files.read_descriptor(fd))):
            files.empty(fd)
        else:
            files.append_lines(fd, encode({"t": "done", "id": name}))


@contextlib.contextmanager
def opened(path: Path) -> Iterator[int]:
    """A log, made if it is not there, for as long as it is this writer's turn."""
    while True:
        new = not files.exists(path)
        if new:
            files.make_folder(path.parent)
        fd = files.open_for_append(path)
        try:
            if new:
                files.sync_folder(path.parent)
            locks.wait_for_turn(fd)
            if files.is_same_file(fd, path):  # else it was taken away while we waited for our turn
                yield fd
                return
        finally:
            os.close(fd)
