"""What the host application's index files say about conversations: which are saved, which belong to a file.

Formats after storage.md. We only read them. One that cannot be understood whole makes us careful: what it would have
protected is unknown, so nothing is reclaimed while it is like that.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from core.base import files
from core.harvest.artifact import Artifact

INDEX_LIMIT_BYTES = 64 << 20


@dataclass(frozen=True)
class Protection:
    """`saved` holds resolved paths of conversations the person keeps; `owners` maps a conversation's name to (path of
    the file it belongs to, whether that exists); `unreadable` names index files that could not be understood."""

    saved: frozenset[str] = frozenset()
    owners: dict[str, tuple[str, bool]] = field(default_factory=dict)
    unreadable: tuple[str, ...] = ()


def is_saved_index(name: str) -> bool:
    return name.startswith("index-saved-conversations-") and name.endswith(".json")


def is_file_index(name: str) -> bool:
    return name.startswith("file-index-") and name.endswith(".json")


def is_index(name: str) -> bool:
    return name.endswith(".json") and (is_saved_index(name) or is_file_index(name))


def read_protection(artifacts: Iterable[Artifact]) -> Protection:
    """Read every index among `artifacts`. One that is a link, a folder or the like counts as unreadable."""
    saved: set[str] = set()
    owners: dict[str, tuple[str, bool]] = {}
    unreadable: list[str] = []
    for item in [item for item in artifacts if item.name[-5:] == ".json" and is_index(item.name)]:
        loaded = read_index(item.path) if item.kind == "index" else None
        read = _read_saved if is_saved_index(item.name) else _read_owners
        if loaded is None or not read(loaded, os.path.dirname(item.path), saved, owners):
            unreadable.append(item.path)
    return Protection(frozenset(saved), owners, tuple(unreadable))


def read_index(path: str) -> dict[str, Any] | None:
    """One index file as a table, or None."""
    try:
        loaded = json.loads(files.read_file(path, INDEX_LIMIT_BYTES).data.decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return None
    return loaded if isinstance(loaded, dict) else None


def why_careful(unreadable: tuple[str, ...]) -> str:
    """Why nothing may be reclaimed, "" when it may."""
    return f"{unreadable[0]} cannot be read: what it protects is unknown" if unreadable else ""


def is_gone(path: str) -> bool:
    """Whether there is certainly nothing of that name. A folder that may not be entered is no proof."""
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False
    return False


def _read_saved(loaded: dict[str, Any], folder: str, saved: set[str], owners: dict[str, tuple[str, bool]]) -> bool:
    rows = loaded.get("conversations")
    if not isinstance(rows, list):
        return False
    whole = True
    for row in rows:
        path = row.get("path") if isinstance(row, dict) else None
        if not isinstance(path, str) or not path:
            whole = False
            continue
        try:
            # A relative path is taken from the folder of the index.
            saved.add(os.path.realpath(os.path.join(folder, os.path.expanduser(path))))
        except ValueError:
            whole = False
    return whole


def _read_owners(loaded: dict[str, Any], folder: str, saved: set[str], owners: dict[str, tuple[str, bool]]) -> bool:
    rows = loaded.get("by_file_id")
    if not isinstance(rows, dict):
        return False
    whole = True
    for row in rows.values():
        name, path = (row.get("conversation"), row.get("path")) if isinstance(row, dict) else (None, None)
        if not (isinstance(name, str) and name and isinstance(path, str) and path):
            whole = False
        elif not owners.get(name, ("", False))[1]:  # in two indexes: one file that exists is enough
            owners[name] = (path, not is_gone(os.path.join(folder, os.path.expanduser(path))))
    return whole
