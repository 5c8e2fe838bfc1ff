"""Lines that carry their own checksum: eight hex digits of CRC-32, a space, JSON.

What the journals of the program are made of: a line that a crash has torn, or a disk has changed, is noticed.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from typing import Any

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
