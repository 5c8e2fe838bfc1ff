"""Entries: one thing in a file of another tool, looked for by its value, put in, and taken out again."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.agents import appended, json_text
from core.agents.tools import Entry
from core.base.result import KnowledgeError


def sha(data: bytes | None) -> str:
    """The sha256 of a file, "" for none."""
    return hashlib.sha256(data).hexdigest() if data is not None else ""


def _standing(entry: Entry, data: bytes | None) -> Any:
    """What a file has of an entry, None for nothing: also one to which the tool or the user has added something, such
    as a time-out or what is allowed, for it starts the same."""
    if data is None:
        return None
    match entry.form:
        case "json":
            found = json_text.value_at(data, entry.path)
            if not entry.append:
                return found if found == entry.value or _same_start(found, entry.value) else None
            rows = found if isinstance(found, list) else []
            alike = (row for row in rows if _same_start(row, entry.value))
            return entry.value if entry.value in rows else next(alike, None)
        case "toml":
            found = appended.table_at(data, entry.path)
            return found if found == entry.value or _same_start(found, entry.value) else None
        case "rules":
            return entry.value if appended.has_line(data, entry.value) else None
        case _:
            return entry.value if data == str(entry.value).encode() else None


def has(entry: Entry, data: bytes | None) -> bool:
    """Whether a file has an entry, also one to which something was added since."""
    return _standing(entry, data) is not None


def is_changed(entry: Entry, data: bytes | None) -> bool:
    """Whether a file has an entry, but not in our words: without a record of it, it may be the user's own."""
    return _standing(entry, data) not in (None, entry.value)


def _same_start(found: Any, value: Any) -> bool:
    return bool(_starts(value)) and _starts(found) == _starts(value)


def _starts(value: Any) -> list[Any]:
    """What a server or a hook runs, with its arguments."""
    if not isinstance(value, dict):
        return []
    hooks = value.get("hooks")
    inner = [_starts(row) for row in hooks] if isinstance(hooks, list) else []
    return [value[key] for key in ("command", "args", "bash") if key in value] + inner


def put(entry: Entry, data: bytes | None) -> bytes:
    """The file with an entry. Raises KnowledgeError: those of its form; `taken` where something else has its name."""
    if entry.append and has(entry, data):  # one of the user's own, which runs the same: twice would be once too often
        return data or b""
    match entry.form:
        case "json":
            return json_text.added(data or b"", entry.path, entry.value, append=entry.append)
        case "toml":
            return appended.with_table(data or b"", entry.path, entry.value)
        case "rules":
            return appended.with_line(data or b"", entry.value)
        case _:
            if data is not None and data != entry.value.encode():
                raise KnowledgeError("taken", "there is another file of that name already")
            return str(entry.value).encode()


def take(entry: Entry, data: bytes, before: bytes | None) -> bytes | None:
    """The file without one entry; None where nothing is left of what was not there before we came."""
    if has(entry, before):  # it was the user's own before
        return data
    standing = _standing(entry, data)
    found = entry.value if standing is None else standing  # where it is gone, a file that cannot be read is still told
    match entry.form:
        case "json":
            kept = [entry.path[:n] for n in range(1, len(entry.path) + 1)]
            kept = [path for path in kept if before is not None and json_text.value_at(before, path) is not None]
            return json_text.removed(data, entry.path, found, append=entry.append, keep=kept)
        case "toml":
            return appended.without_table(data, entry.path, found)
        case "rules":
            return appended.without_line(data, entry.value)
        case _:
            return data if standing is None else None


def as_row(entry: Entry) -> dict[str, Any]:
    """An entry for the record."""
    row = {**entry._asdict(), "path": list(entry.path)}
    del row["file"]
    return row


def _from_row(file: Path, row: Any) -> Entry | None:
    """An entry of the record, None for one that is damaged."""
    if not isinstance(row, dict) or not isinstance(row.get("path"), list) or row.get("form") not in _FORMS:
        return None
    path, kind = tuple(map(str, row["path"])), {"json": object, "toml": dict}.get(row["form"], str)
    if not isinstance(row.get("value"), kind) or (not path and kind is not str):
        return None
    return Entry(str(row.get("part", "")), file, str(row["form"]), row.get("value"), path, row.get("append") is True)


def of_row(file: Path, row: Mapping[str, Any]) -> list[Entry]:
    """The entries that the record has of a file, without those that are damaged."""
    rows = row.get("entries")
    return [entry for one in (rows if isinstance(rows, list) else []) if (entry := _from_row(file, one))]


_FORMS = ("json", "toml", "rules", "own")
