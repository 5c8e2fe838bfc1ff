"""What stands at the end of a file of another tool: a table of a TOML file, a line of a file of rules.

A table is appended as text wherever TOML allows it, so that nothing before it is touched; where it does not (the tables
are written inline) tomlkit puts it inside. What comes out is read again and must hold what was there before and the one
table more or less.
"""

from __future__ import annotations

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


def decoded(data: bytes, code: str) -> str:
    """The bytes as text. Raises KnowledgeError with this code."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"it is not UTF-8 text (byte {error.start + 1})"
        raise KnowledgeError(code, message, hint="save it as UTF-8") from error


def not_editable() -> KnowledgeError:
    """What is said where a change fails its proof."""
    message = "it cannot be changed without touching something else"
    return KnowledgeError("cannot-edit", message, hint="change it by hand")


def changed(value: Any, path: Sequence[str], change: Callable[[Any], Any]) -> Any:
    """The value with a change to what stands under a path; objects on the way that are not there yet are made."""
    if not path:
        return change(value)
    inner = value if isinstance(value, dict) else {}
    return {**inner, path[0]: changed(inner.get(path[0]), path[1:], change)}


def dropped(value: Any, path: Sequence[str]) -> Any:
    """The value without what stands under a path."""
    return changed(value, path[:-1], lambda found: {key: row for key, row in found.items() if key != path[-1]})


def _parsed(data: bytes) -> tuple[str, dict[str, Any]]:
    text = decoded(data, "not-toml")
    try:
        return (text, tomllib.loads(text.removeprefix(MARK)))
    except (ValueError, RecursionError) as error:
        raise KnowledgeError("not-toml", f"it is no valid TOML: {error}", hint="correct that place") from error


def table_at(data: bytes, path: Sequence[str]) -> Any:
    """What stands under a path of tables; None where there is nothing, or the file is no TOML."""
    try:
        return _at(_parsed(data)[1], path)
    except KnowledgeError:
        return None


def _at(found: Any, path: Sequence[str]) -> Any:
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found


def with_table(data: bytes, path: Sequence[str], table: Mapping[str, Any]) -> bytes:
    """The bytes with a table of that name at their end. Raises KnowledgeError: `not-toml`, `taken`, `cannot-edit`."""
    text, document = _parsed(data)
    there, above = _at(document, path), _at(document, path[:-1])
    if there is not None:
        if there != dict(table):
            raise KnowledgeError("taken", f"it has another [{'.'.join(path)}] already")
        return data
    if not (above is None or isinstance(above, dict)):
        raise KnowledgeError("taken", f"{'.'.join(path[:-1])} is no table")
    expected = changed(document, path, lambda _: dict(table))
    for new in (_appended(text, path, table), _inside(text, path, table)):
        if new is not None and _holds(new, expected):
            return new.encode("utf-8")
    raise not_editable()


def without_table(data: bytes, path: Sequence[str], table: Mapping[str, Any]) -> bytes:
    """The bytes without that table; unchanged where another of that name stands there, or none."""
    text, document = _parsed(data)
    if _at(document, path) != dict(table):
        return data
    expected = dropped(document, path)
    for new in (_cut_off(text, path), _edited(text, path, lambda above: above.pop(path[-1]))):
        if new is not None and (_holds(new, expected) or _holds(new, _without_empty(expected, path))):
            return new.encode("utf-8")
    raise not_editable()


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
    for depth in range(len(path) - 1, 0, -1):
        if _at(document, path[:depth]) == {}:
            document = dropped(document, path[:depth])
    return document


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
    text = decoded(data, "not-text")
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
