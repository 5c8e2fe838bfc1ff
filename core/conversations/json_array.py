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
_REST_OF_STRING = re.compile(_CHARACTERS + rb'("|\\?\Z)', re.DOTALL)
_OPENING, _CLOSING = (b"[", b"{"), (b"]", b"}")


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
        self._chunk = b""
        self._at = 0  # how far the chunk was read
        self._passed = 0  # how many bytes the chunks before it had
        self._held: list[bytes] | None = None  # what those had of an object or array; None: nothing is kept
        self._length = 0
        self._taken = 0  # where that object or array goes on in the chunk
        self.torn = True

    def __iter__(self) -> Iterator[Element]:
        mark = self._next_mark()
        while mark == BOM:
            mark = self._next_mark()
        if mark != b"[":
            return
        while (mark := self._next_mark()) and mark not in _CLOSING:
            start = self._passed + self._at - len(mark)
            if mark == b'"' and not self._pass_string():
                return
            if mark in _OPENING and not self._pass_brackets():
                return
            yield Element(self._let_go(), start, self._passed + self._at)
        self.torn = not mark

    def _next_mark(self) -> bytes:
        """What comes next outside elements: a quote, a bracket or a bare word; empty where the stream ends."""
        while not (found := _BETWEEN.search(self._chunk, self._at)):
            if not self._read_on():
                return b""
        self._at = found.end()
        return found[0]

    def _pass_string(self) -> bool:
        """Go behind the string that has begun; whether it ends at all."""
        while rest := _REST_OF_STRING.match(self._chunk, self._at):
            if rest[1] == b'"':
                self._at = rest.end()
                return True
            if not self._read_on():
                break
            self._at = len(rest[1])  # what a backslash at the end escapes is the first byte of the next chunk
        return False

    def _pass_brackets(self) -> bool:
        """Go behind the object or array that has begun and hold it; whether it ends at all."""
        self._held, self._length, self._taken = [], 0, self._at - 1
        depth = 1
        while depth:
            mark = b""
            for token in _WITHIN.finditer(self._chunk, self._at):
                mark = token[0]
                depth += (mark in _OPENING) - (mark in _CLOSING)
                if mark == b'"' or not depth:
                    self._at = token.end()
                    break
            else:
                if not self._read_on():
                    return False
            if mark == b'"' and not self._pass_string():
                return False
        return True

    def _read_on(self) -> bool:
        """Take the next chunk; whether there is one."""
        self._hold(len(self._chunk))
        self._passed += len(self._chunk)
        self._chunk, self._at, self._taken = self._stream.read(CHUNK_BYTES), 0, 0
        return bool(self._chunk)

    def _hold(self, end: int) -> None:
        if self._held is None:
            return
        self._length += end - self._taken
        if self._length > self._limit:
            self._held = None
        else:
            self._held.append(self._chunk[self._taken : end])

    def _let_go(self) -> bytes | None:
        self._hold(self._at)
        held, self._held = self._held, None
        return None if held is None else b"".join(held)
