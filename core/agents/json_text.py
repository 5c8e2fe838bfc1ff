"""Adds a value to a JSON file of another tool and takes it out again; every other byte stays.

Such files are edited by hand and by their tools: comments, commas behind the last member, tabs and CRLF are all met, so
the text is read into places instead of being written again. Both ways end with a proof: what comes out is read again
and must hold what was there before and the one value more or less, else nothing is given back.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from core.agents.appended import line_end_of
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
_REST_OF_LINE = re.compile(r"(?:[ \t]*/\*[^\r\n]*?\*/)*(?:[ \t]*//[^\r\n]*)?")
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
        found = member(read(_decoded(data)[1]), path)
    except (NotJsonError, UnicodeDecodeError):
        return None
    return found.value if found is not None else None


def has(data: bytes, path: Path, value: Any, *, append: bool) -> bool:
    """Whether a file holds the value: under that path, or with `append` as an element of the array there."""
    found = value_at(data, path)
    return (isinstance(found, list) and value in found) if append else bool(found == value)


# --- changing --------------------------------------------------------------------------------------------------------


def added(data: bytes, path: Path, value: Any, *, append: bool = False) -> bytes:
    """The bytes with `value` under `path`, or with `append` as the last element of the array there.

    Unchanged where it is there already. Errors: `not-json`, `taken` (something else stands there), `cannot-edit`.
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
            new = _begun(text, whole)
        elif not isinstance(parent.value, dict):
            raise KnowledgeError("taken", f"{'.'.join(path[:known]) or 'the file'} is no object")
        else:
            new = _inserted(text, parent, path[known], wanted)
    wanted = _changed(root and root.value, path, lambda found: [*(found or ()), value] if append else value)
    return _proven(mark, new, wanted)


def removed(data: bytes, path: Path, value: Any, *, append: bool = False, keep: Sequence[Path] = ()) -> bytes:
    """The bytes without that value; objects and arrays above it that are empty then go too, unless they are in `keep`.
    Unchanged where it is not there (what stands under that name is somebody else's then)."""
    mark, text, root = _opened(data)
    if not has(data, path, value, append=append) or root is None:
        return data
    if append:
        array = member(root, path)
        assert array is not None
        at = len(array.value) - 1 - array.value[::-1].index(value)
        text = _cut(text, array, at)
        expected = _changed(root.value, path, lambda found: [*found[:at], *found[at + 1 :]])
    else:
        text, expected = _cut_member(text, root, path), _dropped(root.value, path)
    level = len(path) if append else len(path) - 1
    kept = {tuple(row) for row in keep}
    while level > 0:
        node = read(text)
        above = member(node, path[:level])
        if node is None or above is None or above.value or tuple(path[:level]) in kept:
            break
        text = _cut_member(text, node, path[:level])
        expected = _dropped(expected, path[:level])
        level -= 1
    return _proven(mark, text, expected)


def _opened(data: bytes) -> tuple[bytes, str, Node | None]:
    """The byte order mark, the text behind it, and what it holds."""
    try:
        mark, text = _decoded(data)
        return (mark, text, read(text))
    except UnicodeDecodeError as error:
        raise KnowledgeError(
            "not-json", f"it is not UTF-8 text (byte {error.start + 1})", hint="save it as UTF-8"
        ) from error
    except NotJsonError as error:
        line = text.count("\n", 0, error.at) + 1
        raise KnowledgeError(
            "not-json", f"it is no valid JSON (line {line}: {error})", hint="correct that place"
        ) from error


def _decoded(data: bytes) -> tuple[bytes, str]:
    mark = b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b""
    return mark, data[len(mark) :].decode("utf-8")


def _proven(mark: bytes, text: str, expected: Any) -> bytes:
    try:
        again = read(text)
    except NotJsonError:
        again = None
    if again is None or again.value != expected:
        raise KnowledgeError(
            "cannot-edit", "it cannot be changed without touching something else", hint="change it by hand"
        )
    return mark + text.encode("utf-8")


def _changed(value: Any, path: Path, change: Callable[[Any], Any]) -> Any:
    """The value with a change to what stands under a path; objects on the way that are not there yet are made."""
    if not path:
        return change(value)
    inner = value if isinstance(value, dict) else {}
    return {**inner, path[0]: _changed(inner.get(path[0]), path[1:], change)}


def _dropped(value: Any, path: Path) -> Any:
    return _changed(value, path[:-1], lambda found: {key: row for key, row in found.items() if key != path[-1]})


def _begun(text: str, value: Any) -> str:
    """A file that held nothing, or comments alone."""
    line_end = line_end_of(text)
    gap = line_end if text and not text.endswith("\n") else ""
    return text + gap + (json.dumps(value, indent=2, ensure_ascii=False) + "\n").replace("\n", line_end)


def _unit(text: str) -> str:
    """One step of the file's own indentation."""
    found = re.search(r"\n([ \t]+)[\"\[{]", text)
    if found is None:
        return "  "
    return "\t" if found[1].startswith("\t") else found[1]


def _indent_of(text: str, at: int) -> str:
    """The blanks at the beginning of the line of a place."""
    begin = text.rfind("\n", 0, at) + 1
    return text[begin : begin + len(text[begin:at]) - len(text[begin:at].lstrip(" \t"))]


def _inserted(text: str, node: Node, key: str, value: Any) -> str:
    """The text with one more item at the end of an object or array, in the style of its neighbours."""
    inside = text[node.start + 1 : node.end - 1]
    last = node.items[-1] if node.items else None
    beginning = text[node.start : node.items[0].start] if node.items else text.strip()
    if "\n" not in beginning and (last is not None or text.strip() != text[node.start : node.end]):
        return _inserted_in_line(text, node, key, value)
    line_end, unit, base = line_end_of(text), _unit(text), _indent_of(text, node.start)
    indent = _indent_of(text, node.items[0].start) if node.items else base + unit
    step: Any = unit if "\t" in unit else len(unit)
    words = json.dumps(value, indent=step, ensure_ascii=False).replace("\n", line_end + indent)
    words = f"{json.dumps(key, ensure_ascii=False)}: {words}" if key else words
    if last is None:
        above = inside.rstrip() if inside.strip() else ""
        return f"{text[: node.start + 1]}{above}{line_end}{indent}{words}{line_end}{base}{text[node.end - 1 :]}"
    end = last.comma + 1 if last.comma >= 0 else last.node.end
    found = _REST_OF_LINE.match(text, end)
    rest = found.end() if found else end
    comma, more = ("", ",") if last.comma >= 0 else (",", "")
    return f"{text[:end]}{comma}{text[end:rest]}{line_end}{indent}{words}{more}{text[rest:]}"


def _inserted_in_line(text: str, node: Node, key: str, value: Any) -> str:
    """The same for a container that stands on one line, as tight as the file itself."""
    tight = '":' in text and re.search(r'":\s', text) is None
    comma, colon = (",", ":") if tight else (", ", ": ")
    words = json.dumps(value, separators=(comma, colon), ensure_ascii=False)
    words = json.dumps(key, ensure_ascii=False) + colon + words if key else words
    if not node.items:
        return f"{text[: node.end - 1]}{words}{text[node.end - 1 :]}"
    last = node.items[-1]
    if last.comma >= 0:
        return f"{text[: last.comma]}{comma}{words}{text[last.comma :]}"
    return f"{text[: last.node.end]}{comma}{words}{text[last.node.end :]}"


def _cut_member(text: str, root: Node, path: Path) -> str:
    parent = member(root, path[:-1])
    assert parent is not None
    at = max(number for number, row in enumerate(parent.items) if row.key == path[-1])
    return _cut(text, parent, at)


def _cut(text: str, node: Node, at: int) -> str:
    """The text without one item: its line or lines, and the comma that it needed."""
    item = node.items[at]
    begin = item.start - (len(text[: item.start]) - len(text[: item.start].rstrip(" \t")))
    before, end = text[:begin], item.comma + 1 if item.comma >= 0 else item.node.end
    is_last = at == len(node.items) - 1
    if not is_last and before.endswith("\n") and "\n" not in text[end : node.items[at + 1].start]:
        return before + text[end:]  # the next one stands on its line, and above may be a comment
    if before.endswith("\r\n"):
        before = before[:-2]
    elif before.endswith("\n"):
        before = before[:-1]
    elif at == 0 or text[begin - 1] != ",":
        before = text[: item.start]  # something else stands on its line
    if is_last and item.comma < 0 and at > 0:
        comma = node.items[at - 1].comma
        before = before[:comma] + before[comma + 1 :]
    rest = text[end:]
    if not is_last and at == 0 and not before.endswith("\n") and "\n" not in text[node.start : item.start]:
        rest = rest.lstrip(" ")
    if len(node.items) == 1 and not text[node.start + 1 : item.start].strip() and not text[end : node.end - 1].strip():
        return text[: node.start + 1] + text[node.end - 1 :]
    return before + rest
