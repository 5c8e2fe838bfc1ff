"""Unpacks what a tool has compressed: Codex packs old rollouts with Zstandard (`.jsonl.zst`)."""

from __future__ import annotations

import importlib
import io
from typing import Any

ZSTANDARD = b"\x28\xb5\x2f\xfd"
# A conversation is not larger; more would be an archive that was made to fill the memory.
MAX_UNPACKED = 1 << 30
_CHUNK = 1 << 20


def is_packed(data: bytes) -> bool:
    """Whether the bytes begin like a Zstandard frame."""
    return data[:4] == ZSTANDARD


def unpack(data: bytes) -> tuple[bytes, bool] | None:
    """The bytes inside and whether they are whole; None when no library for it is installed.

    A frame that breaks off, because it is still being written, gives what could be read.
    """
    opened = _open(data)
    if opened is None:
        return None
    stream, errors = opened
    parts: list[bytes] = []
    size = 0
    try:
        while chunk := stream.read(_CHUNK):
            parts.append(chunk)
            size += len(chunk)
            if size > MAX_UNPACKED:
                return b"".join(parts), False
    except errors:
        return b"".join(parts), False
    return b"".join(parts), True


def _open(data: bytes) -> tuple[Any, tuple[type[Exception], ...]] | None:
    """A stream of the unpacked bytes and the errors it can raise: of Python 3.14 and later, or of `zstandard`."""
    try:
        library = importlib.import_module("compression.zstd")
        return library.ZstdFile(io.BytesIO(data)), (library.ZstdError, EOFError)
    except ImportError:
        pass
    try:
        library = importlib.import_module("zstandard")
    except ImportError:
        return None
    stream = library.ZstdDecompressor().stream_reader(io.BytesIO(data), read_across_frames=True)
    return stream, (library.ZstdError, EOFError)
