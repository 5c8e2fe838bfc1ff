"""What stands at the end of a file of another tool: a table of a TOML file, a line of a file of rules.

A table is appended as text wherever TOML allows it, so that nothing before it is touched; where it does not (the tables
are written inline) tomlkit puts it inside. What comes out is read again and must hold what was there before and the one
table more or less.
"""

from __future__ import annotations

import copy
import json
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from core.base.result import KnowledgeError

MARK = "\ufeff"


def line_end_of(text: str) -> str:
    """How the lines of a text end."""
    return "\r\n" if "\r\n" in text else "\n"


def _parsed(data: bytes) -> tuple[str, dict[str, Any]]:
    try:
        text = data.decode("utf-8")
        return (text, tomllib.loads(text.removeprefix(MARK)))
    except UnicodeDecodeError as error:
        message = f"it is not UTF-8 text (byte {error.start + 1})"
        raise KnowledgeError("not-toml", message, hint="save it as UTF-8") from error
    except (ValueError, RecursionError) as error:
        raise KnowledgeError("not-toml", f"it is no valid TOML: {error}", hint="correct that place") from error


def table_at(data: bytes, path: Sequence[str]) -> Any:
    """What stands under a path of tables; None where there is nothing, or the file is no TOML."""
    try:
        found: Any = _parsed(data)[1]
    except KnowledgeError:
        return None
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found


def with_table(data: bytes, path: Sequence[str], table: Mapping[str, Any]) -> bytes:
    """The bytes with a table of that name at their end. Raises KnowledgeError: `not-toml`, `taken`, `cannot-edit`."""
    text, document = _parsed(data)
    there = table_at(data, path)
    if there is not None:
        if there != dict(table):
            raise KnowledgeError("taken", f"it has another [{'.'.join(path)}] already")
        return data
    expected = copy.deepcopy(document)
    inner: Any = expected
    for name in path[:-1]:
        inner = inner.setdefault(name, {}) if isinstance(inner, dict) else None
    if not isinstance(inner, dict):
        raise KnowledgeError("taken", f"{'.'.join(path[:-1])} is no table")
    inner[path[-1]] = dict(table)
    for new in (_appended(text, path, table), _inside(text, path, table)):
        if new is not None and _holds(new, expected):
            return new.encode("utf-8")
    message = "it cannot be changed without touching something else"
    raise KnowledgeError("cannot-edit", message, hint="change it by hand")


def without_table(data: bytes, path: Sequence[str], table: Mapping[str, Any]) -> bytes:
    """The bytes without that table; unchanged where another of that name stands there, or none."""
    text, document = _parsed(data)
    if table_at(data, path) != dict(table):
        return data
    expected: Any = copy.deepcopy(document)
    inner = expected
    for name in path[:-1]:
        inner = inner[name]
    del inner[path[-1]]
    for new in (_cut_off(text, path), _edited(text, path, lambda above: above.pop(path[-1]))):
        if new is not None and (_holds(new, expected) or _holds(new, _without_empty(expected, path))):
            return new.encode("utf-8")
    message = "it cannot be changed without touching something else"
    raise KnowledgeError("cannot-edit", message, hint="change it by hand")


def _appended(text: str, path: Sequence[str], table: Mapping[str, Any]) -> str:
    line_end = line_end_of(text)
    bare = not text.removeprefix(MARK)
    gap = "" if bare else line_end if text.endswith("\n") else line_end * 2
    rows = [f"{key} = {tomlkit.item(value).as_string()}" for key, value in table.items()]
    return text + gap + line_end.join([f"[{'.'.join(path)}]", *rows, ""])


def _inside(text: str, path: Sequence[str], table: Mapping[str, Any]) -> str | None:
    """The table as the last member of the inline table above it."""
    row = tomlkit.inline_table()
    row.update(dict(table))
    return _edited(text, path, lambda above: above.update({path[-1]: row}))


def _edited(text: str, path: Sequence[str], change: Callable[[Any], Any]) -> str | None:
    """The text with a change to the table above a path, all else as it is written."""
    mark = MARK if text.startswith(MARK) else ""
    try:
        document = tomlkit.parse(text.removeprefix(MARK))
        above: Any = document
        for name in path[:-1]:
            above = above[name]
        change(above)
        return mark + tomlkit.dumps(document)
    except (TOMLKitError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _cut_off(text: str, path: Sequence[str]) -> str:
    """The text without the table and those below it. Comments at their end stay: they belong to what follows."""
    mark = MARK if text.startswith(MARK) else ""
    own = re.compile(r"[ \t]*\[[ \t]*" + r"[ \t]*\.[ \t]*".join(map(re.escape, path)) + r"[ \t]*[].]")
    left, behind, inside = list[str](), list[str](), False
    for row in text.removeprefix(mark).splitlines(keepends=True):
        plain = row.strip()
        if plain.startswith("["):
            began, inside = inside, own.match(row) is not None
            if inside and not began and left and not left[-1].strip():
                left.pop()  # the blank line above it came with it
            if not inside:
                left += behind
            behind = []
        if not inside:
            left.append(row)
        elif plain and not plain.startswith("#"):
            behind = []
        else:
            behind.append(row)
    return mark + "".join(left + behind)


def _without_empty(document: Any, path: Sequence[str]) -> Any:
    """The same document without the tables above ours that held nothing else."""
    rest = copy.deepcopy(document)
    for depth in range(len(path) - 1, 0, -1):
        above = rest
        for name in path[: depth - 1]:
            above = above[name]
        if above.get(path[depth - 1]) == {}:
            del above[path[depth - 1]]
    return rest


def _holds(text: str, expected: Any) -> bool:
    """Whether a text says exactly that, in whatever order its tables stand."""
    try:
        found = tomllib.loads(text.removeprefix(MARK))
        one, other = (json.dumps(row, sort_keys=True, default=repr) for row in (found, expected))
        return one == other
    except (ValueError, RecursionError):
        return False


# --- a line of a file of rules ---------------------------------------------------------------------------------------


def has_line(data: bytes, line: str) -> bool:
    """Whether a file has exactly that line."""
    return line in data.decode("utf-8", "replace").removeprefix(MARK).splitlines()


def with_line(data: bytes, line: str) -> bytes:
    """The bytes with the line at their end; unchanged where it stands there already."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"it is not UTF-8 text (byte {error.start + 1})"
        raise KnowledgeError("not-text", message, hint="save it as UTF-8") from error
    if has_line(data, line):
        return data
    line_end = line_end_of(text)
    gap = line_end if text.removeprefix(MARK) and not text.endswith("\n") else ""
    return (text + gap + line + line_end).encode("utf-8")


def without_line(data: bytes, line: str) -> bytes:
    """The bytes without that line."""
    rows = data.decode("utf-8", "surrogateescape").splitlines(keepends=True)
    left = [row for row in rows if row.rstrip("\r\n").removeprefix(MARK) != line]
    mark = MARK if rows and rows[0].startswith(MARK) and not (left and left[0].startswith(MARK)) else ""
    return (mark + "".join(left)).encode("utf-8", "surrogateescape")
