"""OpenCode's storage before its database: one file a session, a message and a part, below a folder `storage`.

After `packages/opencode/src/storage/storage.ts` and `json-migration.ts` of the project:
`session/<project>/<session>.json`, `message/<session>/<message>.json` and `part/<message>/<part>.json`; before that, in
`project/<project>/storage/session/`, `info/<session>.json`, `message/<session>/<message>.json` and
`part/<session>/<message>/<part>.json`. The first versions kept the parts inside the message. The ids are those of the
file names, as in the project's own move to the database, which leaves these files behind. A session has the same
canonical form here and there, so that it is known again after the move.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from core.base import files
from core.conversations.collections import opencode
from core.conversations.collections.store_file import StoredSession, StoreError, seconds, text
from core.conversations.collections.stores import canonical_form
from core.conversations.formats.opencode import created
from core.conversations.records import parse_object
from core.conversations.turns import table_of

FILE_BYTES = 64 << 20
"""A longer file of one message or part is passed over; its place is kept, so that it is counted."""
_SUFFIX = ".json"
_ID = re.compile(r"[A-Za-z0-9_.-]{1,128}\Z")


class _Layout(NamedTuple):
    """Where the files of a session are, below the folder."""

    messages: str
    parts: str
    by_session: bool


_LAYOUTS = (_Layout("message", "part", False), _Layout("session/message", "session/part", True))


def is_storage(path: str) -> bool:
    """Whether a folder is such a storage. Looks at names alone."""
    return os.path.isdir(os.path.join(path, "session")) and any(
        os.path.isdir(os.path.join(path, layout.messages)) for layout in _LAYOUTS
    )


class OpenFolder:
    """An open storage, with what `OpenStore` offers. Raises OSError (`StoreError` with words) from every method."""

    kind = opencode.NAME

    def __init__(self, path: str) -> None:
        if not is_storage(path):
            raise StoreError("this is no storage of OpenCode", path)
        self._path = path
        self._layout = _LAYOUTS[os.path.isdir(os.path.join(path, "session", "info"))]
        self._lost = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """What was passed over and why, in words."""
        return (f"{self._path}: {self._lost} sessions cannot be read",) if self._lost else ()

    def sessions(self) -> list[StoredSession]:
        """Every session with a message. Of what was said only sizes and times of the files are looked at."""
        self._lost = 0
        return list(self._listed())

    def content(self, session: StoredSession) -> bytes:
        """One session in its canonical form, that of `stores`."""
        return canonical_form(self.kind, session, self._records(session.id))

    def close(self) -> None:
        """Nothing is held open."""

    def _listed(self) -> Iterator[StoredSession]:
        top = os.path.join(self._path, "session")
        folders = ["info"] if self._layout.by_session else _names(top, folders=True)
        for folder in folders:
            for name in _names(os.path.join(top, folder)):
                path = os.path.join(top, folder, name)
                id = name.removesuffix(_SUFFIX)
                about = _read(path) if _ID.match(id) else None
                if about is None:
                    self._lost += 1
                    continue
                paths = ((message, *self._parts(id, _id_of(message))) for message in self._messages(id))
                found = [os.lstat(one) for row in paths for one in row]
                if not found:
                    continue
                times = table_of(about.get("time"))
                stated = seconds(times.get("updated") or times.get("created"))
                updated = max(stated, *(row.st_mtime for row in found))
                size = sum(row.st_size for row in found)
                parent = bool(text(about.get("parentID")))
                yield StoredSession(id, text(about.get("title")), text(about.get("directory")), updated, size, parent)

    def _messages(self, id: str) -> list[str]:
        return _paths(os.path.join(self._path, self._layout.messages, id))

    def _parts(self, id: str, message: str) -> list[str]:
        below = (id, message) if self._layout.by_session else (message,)
        return _paths(os.path.join(self._path, self._layout.parts, *below))

    def _records(self, id: str) -> Iterator[dict[str, Any]]:
        """Messages with their parts, in the order and the form that the database gives them."""
        messages = [(_id_of(path), _read(path)) for path in self._messages(id)]
        for key, message in sorted(messages, key=lambda row: (created(row[1] or {}), row[0])):
            parts = [_named(_id_of(path), _read(path)) for path in self._parts(id, key)]
            if message is not None and not parts and isinstance(message.get("parts"), list):
                yield message
            else:
                yield {"info": _named(key, message) or {"id": key}, "parts": parts}


def _named(key: str, value: dict[str, Any] | None) -> dict[str, Any] | None:
    """A message or part as the database holds it: without the ids of what it belongs to."""
    if value is None:
        return None
    return {"id": key, **{name: row for name, row in value.items() if name not in ("id", "sessionID", "messageID")}}


def _id_of(path: str) -> str:
    return os.path.basename(path).removesuffix(_SUFFIX)


def _paths(folder: str) -> list[str]:
    return [os.path.join(folder, name) for name in _names(folder)]


def _names(folder: str, *, folders: bool = False) -> list[str]:
    """The documents in a folder, or the folders, by name; links are neither. None where there is no such folder."""
    try:
        with os.scandir(folder) as rows:
            if folders:
                return sorted(row.name for row in rows if row.is_dir(follow_symlinks=False))
            return sorted(row.name for row in rows if row.name.endswith(_SUFFIX) and row.is_file(follow_symlinks=False))
    except (FileNotFoundError, NotADirectoryError):
        return []


def _read(path: str) -> dict[str, Any] | None:
    """A document, or None for one that is torn, too long or gone."""
    try:
        return parse_object(files.read_file(path, FILE_BYTES).data)
    except OSError:
        return None
