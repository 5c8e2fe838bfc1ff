"""JSON records with the bytes that they stand in: one a line, or the elements of one big document.

A line or an element that is no JSON object is handed on as None, so that a reader can count it. A document that ends
too early, because it is still being written or was cut, gives what stands before the damage.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from core.conversations.lines import BOM

# Control characters inside strings are forbidden by the standard and written by some tools all the same.
DECODER = json.JSONDecoder(strict=False)
_SPACE = re.compile(r"[ \t\r\n]*")
_TOKEN = re.compile(r'"([^"\\]*+(?:\\.[^"\\]*+)*+)"(\s{0,8}:)?|[{}\[\]]', re.DOTALL)


class Record(NamedTuple):
    """One JSON object, or None for anything else; `start` and `end` in bytes; `key` where it is a member of one."""

    value: dict[str, Any] | None
    start: int
    end: int
    key: str = ""


class Document(NamedTuple):
    """A big document: the members of its object, or under "" the elements of its array. `torn`: it breaks off."""

    members: dict[str, Any]
    torn: bool

    def records(self, key: str = "") -> list[Record]:
        """The elements below `key`, when that was one of the keys to look into."""
        found = self.members.get(key)
        return found if isinstance(found, list) and all(isinstance(row, Record) for row in found) else []


@lru_cache(maxsize=4)
def keys_in(head: str) -> frozenset[str]:
    """The names of members in the beginning of a JSON text; empty when it does not begin like one.

    Those of the outermost objects stand as they are, those of the objects in them behind a dot (`.role`), deeper ones
    not at all. The elements of an array at the beginning count as outermost.
    """
    opener = head.lstrip()[:1]
    if opener not in ("{", "["):
        return frozenset()
    names: set[str] = set()
    depth = end = 0
    for found in _TOKEN.finditer(head):
        # An opening quote that is never closed would make the rest look inside out.
        if '"' in head[end : found.start()]:
            break
        end = found.end()
        mark = found[0]
        if mark in "{}":
            depth += 1 if mark == "{" else -1
        elif found[2] and 1 <= depth <= 2:
            names.add(found[1] if depth == 1 else f".{found[1]}")
    return frozenset(names)


def object_keys(head: str) -> frozenset[str]:
    """The same where the text begins like an object; empty for a list."""
    return keys_in(head) if head.lstrip().startswith("{") else frozenset()


def json_lines(data: bytes) -> Iterator[Record]:
    """One record a line; blank lines are passed over. The last line may be torn: it then comes as None."""
    start = len(BOM) if data.startswith(BOM) else 0
    while start < len(data):
        cut = data.find(b"\n", start)
        end = len(data) if cut < 0 else cut + 1
        raw = data[start:end].strip()
        if raw:
            yield Record(parse_object(raw), start, end)
        start = end


def branch(records: Sequence[Record], key: str, above: str) -> list[Record]:
    """Of records that make a tree, those on the way from the last one to the root, in the file's order; records without
    the member `key` belong to every branch. `above` names the record that one follows. Where the way breaks off, or
    goes in a circle, all of them: nothing is left out then that could have been said."""
    known = {row.value[key]: at for at, row in enumerate(records) if row.value and isinstance(row.value.get(key), str)}
    inside = set(known.values())
    way: set[int] = set()
    at = max(inside, default=-1)
    if not any((records[row].value or {}).get(above) for row in inside):
        return list(records)
    while at >= 0 and at not in way:
        way.add(at)
        parent = (records[at].value or {}).get(above)
        if parent is None:
            return [row for number, row in enumerate(records) if number in way or number not in inside]
        at = known.get(parent, -1) if isinstance(parent, str) else -1
    return list(records)


def parse_object(raw: bytes | str) -> dict[str, Any] | None:
    """The JSON object that `raw` is, else None: also when its bytes are no UTF-8, for half of a word may be another."""
    try:
        text = raw if isinstance(raw, str) else raw.decode("utf-8")
        value = DECODER.decode(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def json_document(data: bytes, inner: Collection[str] = ()) -> Document:
    """Read a document whose elements matter one by one.

    Of an object, the members named in `inner` (arrays or objects) come as lists of `Record`. Of an array, each element
    does; its own members named in `inner` again as lists of `Record`.
    """
    scanner = _Scanner(data)
    members: dict[str, Any] = {}
    try:
        at = scanner.space(scanner.first)
        mark = scanner.text[at : at + 1]
        if mark == "{":
            scanner.members(at, inner, members)
        elif mark == "[":
            members[""] = found = list[Record]()
            scanner.elements(at, inner, found)
        else:
            return Document(members, torn=bool(scanner.text.strip()))
    except (ValueError, RecursionError):
        return Document(members, torn=True)
    return Document(members, torn=False)


class _Scanner:
    """Walks the outer levels of a document itself and leaves everything below to the parser of the library."""

    def __init__(self, data: bytes) -> None:
        # Escaped surrogates keep the bytes that are no UTF-8 countable; `turns.clean` makes U+FFFD of them.
        self.text = data.decode("utf-8", "surrogateescape")
        self.first = 1 if self.text.startswith("\ufeff") else 0
        self._plain = self.text.isascii()
        self._at = (0, 0)
        self._end = 0

    def byte(self, at: int) -> int:
        """The byte at which a character stands. Asked in ascending order, all answers together take one pass."""
        if self._plain:
            return at
        known, count = self._at if at >= self._at[0] else (0, 0)
        self._at = (at, count + len(self.text[known:at].encode("utf-8", "surrogateescape")))
        return self._at[1]

    def space(self, at: int) -> int:
        found = _SPACE.match(self.text, at)
        return found.end() if found else at

    def members(self, at: int, inner: Collection[str], into: dict[str, Any]) -> int:
        """Fill `into` with the members of the object at `at`; what was read stays when it breaks off."""
        for key, start in self._names(at):
            if key in inner and self.text[start] in "[{":
                into[key] = found = list[Record]()
                self._end = self.elements(start, (), found)
            else:
                into[key], self._end = DECODER.raw_decode(self.text, start)
        return self._end

    def elements(self, at: int, inner: Collection[str], into: list[Record]) -> int:
        """Fill `into` with the elements of an array or the members of an object."""
        steps = self._names(at) if self.text[at] == "{" else self._items(at)
        for key, start in steps:
            first = self.byte(start)
            if inner and self.text[start] == "{":
                value: Any = {}
                into.append(Record(value, first, first, key))
                try:
                    self.members(start, inner, value)
                except (ValueError, RecursionError):
                    into[-1] = Record(value, first, self.byte(len(self.text)), key)
                    raise
                into.pop()
            else:
                value, self._end = DECODER.raw_decode(self.text, start)
            end = self._end
            into.append(Record(value if isinstance(value, dict) else None, first, self.byte(end), key))
        return self._end

    def _names(self, at: int) -> Iterator[tuple[str, int]]:
        """Each name of an object with the place of its value; the caller leaves the value's end in `_end`."""
        for _, start in self._items(at, "}"):
            name, end = DECODER.raw_decode(self.text, start)
            end = self.space(end)
            if not isinstance(name, str) or self.text[end : end + 1] != ":":
                raise ValueError("a name and a colon are missing")
            value = self.space(end + 1)
            if value >= len(self.text):
                raise ValueError("the text ends")
            yield name, value

    def _items(self, at: int, closing: str = "]") -> Iterator[tuple[str, int]]:
        at = self.space(at + 1)
        if self.text[at : at + 1] == closing:
            self._end = at + 1
            return
        while True:
            if at >= len(self.text):
                raise ValueError("the text ends")
            yield "", at
            at = self.space(self._end)
            mark = self.text[at : at + 1]
            if mark == closing:
                self._end = at + 1
                return
            if mark != ",":
                raise ValueError("a comma is missing")
            at = self.space(at + 1)
