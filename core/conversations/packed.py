"""Zstandard: Codex packs old rollouts with it (`.jsonl.zst`), and so does our own archive."""

from __future__ import annotations

import importlib
import io
from typing import Any

ZSTANDARD = b"\x28\xb5\x2f\xfd"
LEAST_UNPACKED, TIMES, MAX_UNPACKED_BYTES = 16 << 20, 64, 256 << 20
"""What a file may unpack to: 16 MB, or 64 times its own size if that is more (text packs to a tenth, tool output that
repeats itself to a fiftieth), and never above 256 MB. More would be an archive that was made to fill the memory."""
_CHUNK = 1 << 20
LEVEL = 9
"""How hard `pack` tries. Sessions of a corpus came to 6.3% of their size with a level of 3, to 5.7% with 9 and to 5.4%
with 19, which took sixteen times as long as 9."""


class OverpackedError(ValueError):
    """A file unpacks to more than a conversation of its size can hold."""


def most_unpacked(size: int) -> int:
    """The most bytes that a packed file of `size` bytes may hold."""
    return min(MAX_UNPACKED_BYTES, max(LEAST_UNPACKED, TIMES * size))


def is_packed(data: bytes) -> bool:
    """Whether the bytes begin like a Zstandard frame."""
    return data[:4] == ZSTANDARD


def unpack(data: bytes) -> tuple[bytes, bool]:
    """The bytes inside and whether they are whole.

    A frame that breaks off, because it is still being written, gives what could be read. Raises OverpackedError, with
    no more than `most_unpacked` bytes in memory.
    """
    stream, errors = _open(data)
    most = most_unpacked(len(data))
    inside = io.BytesIO()  # its value is handed out without a copy
    try:
        while chunk := stream.read(_CHUNK):
            inside.write(chunk)
            if inside.tell() > most:
                raise OverpackedError(f"it unpacks to more than {most:,} bytes")
    except errors:
        return inside.getvalue(), False
    return inside.getvalue(), True


def pack(data: bytes) -> bytes:
    """A Zstandard frame of the bytes, with a checksum by which `unpack` knows that they are whole."""
    try:
        library = importlib.import_module("compression.zstd")
        checked = {library.CompressionParameter.compression_level: LEVEL, library.CompressionParameter.checksum_flag: 1}
        made: bytes = library.compress(data, options=checked)
    except ImportError:
        library = importlib.import_module("zstandard")
        made = library.ZstdCompressor(level=LEVEL, write_checksum=True).compress(data)
    return made


def _open(data: bytes) -> tuple[Any, tuple[type[Exception], ...]]:
    """A stream of the unpacked bytes and the errors it can raise: of Python 3.14 and later, or of `zstandard`."""
    try:
        library = importlib.import_module("compression.zstd")
        return library.ZstdFile(io.BytesIO(data)), (library.ZstdError, EOFError)
    except ImportError:
        library = importlib.import_module("zstandard")
    stream = library.ZstdDecompressor().stream_reader(io.BytesIO(data), read_across_frames=True)
    return stream, (library.ZstdError, EOFError)
