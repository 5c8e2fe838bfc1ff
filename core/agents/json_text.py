"""Adds a value to a JSON file of another tool and takes it out again; every other byte stays.

Such files are edited by hand and by their tools: comments, commas behind the last member, tabs and CRLF are all met, so
the text is read into places instead of being written again. Both ways end with a proof: what comes out is read again
and must hold what was there before and the one value more or less, else nothing is given back.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from core.agents.appended import changed, decoded, dropped, line_end_of, not_editable
from core.base.result import KnowledgeError

DEPTH = 200
Path = Sequence[str]


class Item(NamedTuple):
    """A member of an object or an element of an array: where it begins (with its key), its value, and the place of the
    comma behind it, -1 for none."""

    key: str
    start: int
    node: Node
    comma: int


class Node(NamedTuple):
    """A value with its place in the text. `items` are those of an object or an array."""

    value: Any
    start: int
    end: int
    items: tuple[Item, ...] = ()


class NotJsonError(ValueError):
    """The text is no JSON, also not with comments; `at` is the place."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.at = at


_GAP = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_WORD = re.compile(r"[-+.\w]+")
_DECODER = json.JSONDecoder()


def _gap(text: str, at: int) -> int:
    found = _GAP.match(text, at)
    return found.end() if found else at


@lru_cache(maxsize=4)
def read(text: str) -> Node | None:
    """The value of a text; None where it is empty but for blanks and comments. Raises NotJsonError."""
    at = _gap(text, 0)
    if at == len(text):
        return None
    node = _value(text, at, 0)
    end = _gap(text, node.end)
    if end != len(text):
        raise NotJsonError("something stands behind the value", end)
    return node


def _value(text: str, at: int, depth: int) -> Node:
    char = text[at : at + 1]
    if depth > DEPTH:
        raise NotJsonError("it is nested too deeply", at)
    if char == '"':
        words, end = _string(text, at)
        return Node(words, at, end)
    if char in ("{", "["):
        return _container(text, at, depth)
    found = _WORD.match(text, at)
    try:
        return Node(json.loads(found[0]), at, found.end()) if found else _refuse(text, at)
    except ValueError:
        return _refuse(text, at)


def _refuse(text: str, at: int) -> Node:
    raise NotJsonError("it ends too early" if at >= len(text) else f"{text[at]!r} was not expected", at)


def _string(text: str, at: int) -> tuple[str, int]:
    try:
        found: tuple[str, int] = _DECODER.raw_decode(text, at)
        return found
    except ValueError as error:
        raise NotJsonError("a text in quotation marks does not end", at) from error


def _container(text: str, start: int, depth: int) -> Node:
    is_object = text[start] == "{"
    close = "}" if is_object else "]"
    items: list[Item] = []
    at = _gap(text, start + 1)
    while text[at : at + 1] != close:
        begins, key = at, ""
        if items and items[-1].comma < 0:
            _refuse(text, at)
        if is_object:
            if text[at : at + 1] != '"':
                _refuse(text, at)
            key, end = _string(text, at)
            at = _gap(text, end)
            if text[at : at + 1] != ":":
                _refuse(text, at)
            at = _gap(text, at + 1)
        node = _value(text, at, depth + 1)
        at = _gap(text, node.end)
        comma = at if text[at : at + 1] == "," else -1
        items.append(Item(key, begins, node, comma))
        at = _gap(text, at + 1) if comma >= 0 else at
    value: Any = {row.key: row.node.value for row in items} if is_object else [row.node.value for row in items]
    return Node(value, start, at + 1, tuple(items))


# --- finding ---------------------------------------------------------------------------------------------------------


def member(node: Node | None, path: Path) -> Node | None:
    """What stands under a path of keys; the last of several members of one name counts, as for every reader."""
    for key in path:
        if node is None or not isinstance(node.value, dict):
            return None
        node = next((row.node for row in reversed(node.items) if row.key == key), None)
    return node


def value_at(data: bytes, path: Path) -> Any:
    """The value under a path in a file's bytes, None where there is none or the file is no JSON."""
    try:
        found = member(read(_text_in(data)[1]), path)
    except (NotJsonError, KnowledgeError):
        return None
    return found.value if found is not None else None


# --- changing --------------------------------------------------------------------------------------------------------


def added(data: bytes, path: Path, value: Any, *, append: bool = False) -> bytes:
    """The bytes with `value` under `path`, or with `append` as the first element of the array there.

    Unchanged where it is there already. Raises KnowledgeError: `not-json`, `taken` (something else stands there),
    `cannot-edit`.
    """
    mark, text, root = _opened(data)
    target = member(root, path)
    if target is not None and not append:
        if target.value != value:
            raise KnowledgeError("taken", f"it has another {'.'.join(path)} already")
        return data
    if target is not None and not isinstance(target.value, list):
        raise KnowledgeError("taken", f"{'.'.join(path)} is no list")
    if target is not None:
        if value in target.value:
            return data
        new = _inserted(text, target, "", value)
    else:
        wanted: Any = [value] if append else value
        known = 0
        while known < len(path) and member(root, path[: known + 1]) is not None:
            known += 1
        for key in reversed(path[known + 1 :]):
            wanted = {key: wanted}
        parent = member(root, path[:known])
        if parent is None:  # nothing but blanks and comments
            whole = {path[0]: wanted} if path else wanted
            line_end = line_end_of(text)
            gap = line_end if text and not text.endswith("\n") else ""
            new = text + gap + (json.dumps(whole, indent=2, ensure_ascii=False) + "\n").replace("\n", line_end)
        elif not isinstance(parent.value, dict):
            raise KnowledgeError("taken", f"{'.'.join(path[:known]) or 'the file'} is no object")
        else:
            new = _inserted(text, parent, path[known], wanted)
    wanted = changed(root and root.value, path, lambda found: [value, *(found or ())] if append else value)
    return _proven(mark, new, wanted)


def removed(data: bytes, path: Path, value: Any, *, append: bool = False, keep: Sequence[Path] = ()) -> bytes:
    """The bytes without that value; objects and arrays above it in which nothing is left, no comment either, go too,
    unless they are in `keep`. Unchanged where it is not there (what stands under that name is somebody else's then)."""
    mark, text, root = _opened(data)
    target = member(root, path)
    if root is None or target is None:
        return data
    if append:
        if not isinstance(target.value, list) or value not in target.value:
            return data
        at = target.value.index(value)
        text = _cut(text, target, at)
        expected = changed(root.value, path, lambda found: [*found[:at], *found[at + 1 :]])
    elif target.value == value:
        text, expected = _cut_member(text, root, path), dropped(root.value, path)
    else:
        return data
    level = len(path) if append else len(path) - 1
    kept = {tuple(row) for row in keep}
    while level > 0:
        node = read(text)
        above = member(node, path[:level])
        if node is None or above is None or tuple(path[:level]) in kept:
            break
        if text[above.start + 1 : above.end - 1].strip():  # another member, or somebody's comment
            break
        text = _cut_member(text, node, path[:level])
        expected = dropped(expected, path[:level])
        level -= 1
    return _proven(mark, text, expected)


def _opened(data: bytes) -> tuple[bytes, str, Node | None]:
    """The byte order mark, the text behind it, and what it holds."""
    mark, text = _text_in(data)
    try:
        return (mark, text, read(text))
    except NotJsonError as error:
        line = text.count("\n", 0, error.at) + 1
        message = f"it is no valid JSON (line {line}: {error})"
        raise KnowledgeError("not-json", message, hint="correct that place") from error


def _text_in(data: bytes) -> tuple[bytes, str]:
    mark = b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b""
    return mark, decoded(data[len(mark) :], "not-json")


def _proven(mark: bytes, text: str, expected: Any) -> bytes:
    try:
        again = read(text)
    except NotJsonError:
        again = None
    if again is None or again.value != expected:
        raise not_editable()
    return mark + text.encode("utf-8")


def _inserted(text: str, node: Node, key: str, value: Any) -> str:
    """The text with one more item at the beginning of an object or array, in the style of its first one: there no comma
    or comment of somebody else is in the way."""
    name = f"{json.dumps(key, ensure_ascii=False)}: " if key else ""
    begin, first = node.start + 1, node.items[0] if node.items else None
    head, rest = text[:begin], text[begin:]
    gap = text[begin : first.start if first else node.end - 1]
    if first and "\n" not in gap:
        return f"{head}{name}{json.dumps(value, ensure_ascii=False)}, {rest}"
    unit, base, line_end = _unit(text), _indent_of(text, node.start), line_end_of(text)
    indent = _indent_of(text, first.start) if first else base + unit
    step: Any = unit if "\t" in unit else len(unit)
    words = name + json.dumps(value, indent=step, ensure_ascii=False).replace("\n", line_end + indent)
    behind = "," if first else "" if "\n" in gap else line_end + base
    if first or "\n" in gap:
        return f"{head}{line_end}{indent}{words}{behind}{rest}"
    return f"{head}{line_end}{indent}{words}{gap.rstrip()}{behind}{text[node.end - 1 :]}"


def _unit(text: str) -> str:
    """One step of the file's own indentation."""
    found = re.search(r"\n([ \t]+)[\"\[{]", text)
    if found is None:
        return "  "
    return "\t" if found[1].startswith("\t") else found[1]


def _indent_of(text: str, at: int) -> str:
    """The blanks at the beginning of the line of a place."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _cut_member(text: str, root: Node, path: Path) -> str:
    parent = member(root, path[:-1])
    assert parent is not None
    at = max(number for number, row in enumerate(parent.items) if row.key == path[-1])
    return _cut(text, parent, at)


def _cut(text: str, node: Node, at: int) -> str:
    """The text without one item, the comma that it needed, and its line where it had one to itself."""
    item = node.items[at]
    begin, end = item.start, item.comma + 1 if item.comma >= 0 else item.node.end
    if len(node.items) == 1 and not (text[node.start + 1 : begin] + text[end : node.end - 1]).strip():
        return text[: node.start + 1] + text[node.end - 1 :]
    above = text[:begin].rstrip(" \t")
    if above.endswith("\n") and re.match(r"[ \t]*[\r\n]", text[end:]):
        begin = len(above.removesuffix("\n").removesuffix("\r"))
    elif text[end : end + 1] == " ":
        end += 1
    head = text[:begin]
    if item.comma < 0 and at > 0:
        comma = node.items[at - 1].comma
        head = head[:comma] + head[comma + 1 :]
    return head + text[end:]
