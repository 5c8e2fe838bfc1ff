"""Cuts a very long JSON array into its elements while it is read: what is held in memory is one element.

Only the outline is looked at (strings, brackets), so that an element which is no JSON inside costs only itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from core.conversations.lines import BOM

CHUNK_BYTES = 1 << 20
_BETWEEN = re.compile(rb'"|[\[\]{}]|[^\s,"\[\]{}]+')
_CHARACTERS = rb'[^"\\]*+(?:\\.[^"\\]*+)*+'
_WITHIN = re.compile(rb'"' + _CHARACTERS + rb'"|["\[\]{}]', re.DOTALL)
_IN_STRING = re.compile(_CHARACTERS, re.DOTALL)


class Element(NamedTuple):
    """One element as it stands, with the bytes where it begins and ends; `raw` None: it is longer than was allowed, or
    it is no object or array. `size` is `end - start`."""

    raw: bytes | None
    start: int
    end: int

    @property
    def size(self) -> int:
        return self.end - self.start


class ArraySource:
    """The elements of an array in a stream, in their order. May be gone through once.

    `torn` afterwards: the stream ended, or something that is no array stood there, before the array was closed.
    """

    def __init__(self, stream: BinaryIO, limit: int) -> None:
        """`limit` is how many bytes an element may have; a longer one is passed over without being held."""
        self._stream = stream
        self._limit = limit
        self._held: list[bytes] | None = []
        self._length = 0
        self.torn = True

    def __iter__(self) -> Iterator[Element]:
        depth = start = base = 0
        in_string = False
        rest = b""
        while chunk := self._stream.read(CHUNK_BYTES):
            data, rest = rest + chunk, b""
            at = taken = 0  # what stands before `taken` is held, or belongs to no element
            while at < len(data):
                if in_string:
                    found = _IN_STRING.match(data, at)
                    at = found.end() if found else at
                    if data[at : at + 1] == b"\\":  # what it escapes is in the next chunk
                        break
                    in_string = at >= len(data)
                    at += 1
                    if depth == 1 and not in_string:
                        yield Element(None, start, base + at)
                    continue
                token = (_WITHIN if depth > 1 else _BETWEEN).search(data, at)
                if token is None:
                    at = len(data)
                    break
                mark, at = token[0], token.end()
                if depth == 0:
                    if mark == BOM:
                        continue
                    if mark != b"[":
                        return
                    depth = 1
                elif mark == b'"':
                    in_string = True
                    if depth == 1:
                        start = base + token.start()
                elif mark in (b"{", b"["):
                    if depth == 1:
                        start, taken = base + token.start(), token.start()
                        self._held, self._length = [], 0
                    depth += 1
                elif mark in (b"}", b"]"):
                    depth -= 1
                    if depth == 0:
                        self.torn = False
                        return
                    if depth == 1:
                        self._hold(data[taken:at])
                        yield Element(None if self._held is None else b"".join(self._held), start, base + at)
                elif depth == 1:
                    yield Element(None, base + token.start(), base + at)
            at = min(at, len(data))
            rest = data[at:]
            if depth > 1:
                self._hold(data[taken:at])
            base += at

    def _hold(self, data: bytes) -> None:
        self._length += len(data)
        if self._length > self._limit:
            self._held = None
        elif self._held is not None:
            self._held.append(data)
