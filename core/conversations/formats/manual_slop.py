"""Manual Slop's discussions, in a project's TOML or a `*_history.toml`: any list that is called `history`.

The format could not be checked against its source, so nothing is relied on but that list: of tables with a role and
content (and a time), or of strings, which may begin with a line `@<time>` and one `<role>:`. TOML readers tell no
positions, so every turn's range is the whole file.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from datetime import date
from typing import Any

from core.conversations import plain
from core.conversations.conversation import Conversation
from core.conversations.records import Record
from core.conversations.turns import Reading, clean, table_of, text_of

_HISTORY = re.compile(
    r"^[ \t]{0,8}(?:history[ \t]{0,8}=[ \t]{0,8}\[|\[\[[\w. \"'-]{0,200}history[\"']?\]\]|\[discussions?(?:\]|\.))",
    re.MULTILINE,
)
_ENTRY = re.compile(r"(?:@([^\n]{4,40})\n)?[ \t]{0,8}(?:\[?([A-Za-z][\w ]{0,30})\]?:)[ \t]*(?:\n|(?=\S))")
_KEYS = ("content", "text", "message")
_DEEP = 20


def sniff(head: str) -> bool:
    """A list called history, or the table of discussions, at the beginning of a line, and no JSON."""
    return head.lstrip()[:1] not in ("{", "<") and bool(_HISTORY.search(head)) and "=" in head


def read_all(name: str, data: bytes) -> tuple[Conversation, ...]:
    """Each discussion of the file on its own; what is no TOML, or has no such list, is plain text."""
    try:
        document = tomllib.loads(data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return (plain.read(name, data),)
    about = table_of(document.get("project"))
    found = []
    for title, rows in _histories(document, "", 0):
        reading = Reading()
        for row in rows:
            _read_entry(row, reading, Record(None, 0, len(data)))
        key = f"{name}#{title}" if title else name
        folder = next((about[key] for key in ("git_dir", "base_dir", "path", "root") if about.get(key)), "")
        title = title or text_of(about.get("name"))
        found.append(reading.conversation(key, "manual_slop", title=title, folder=folder))
    return tuple(found) or (plain.read(name, data),)


def _histories(table: dict[str, Any], title: str, depth: int) -> Iterator[tuple[str, list[Any]]]:
    for key, value in table.items():
        if key == "history" and isinstance(value, list):
            yield title, value
        elif isinstance(value, dict) and depth < _DEEP:
            yield from _histories(value, key if key not in ("discussion", "discussions") else title, depth + 1)


def _read_entry(row: Any, reading: Reading, file: Record) -> None:
    if isinstance(row, dict):
        said = next((text_of(row[key]) for key in _KEYS if key in row), "")
        spoken, when = text_of(row.get("role")), row.get("ts", row.get("time", ""))
    elif isinstance(row, str):
        found = _ENTRY.match(clean(row))
        known = found is not None and (found[1] or _role(found[2]))
        said = clean(row)[found.end() :] if found and known else row
        spoken, when = (found[2], found[1] or "") if found and known else ("user", "")
    else:
        reading.skipped += 1
        return
    reading.at(file, when.isoformat() if isinstance(when, date) else when)
    role = _role(spoken) or ("user" if not spoken else "system")
    if not said.strip():
        reading.skipped += not isinstance(row, str)
    elif role == "user":
        reading.person(said)
    else:
        reading.say(role, said)


def _role(name: str) -> str:
    return plain.SPEAKERS.get(name.strip().lower(), "")
