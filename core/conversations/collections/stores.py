"""Databases that hold many conversations: STORES, one row a tool. Read-only, row by row.

A conversation of a store is known by `path#id`. Its content is put into one canonical form, so that it has bytes, a
hash and ranges of turns like any file: JSON lines, the first about the session (`knowledge_session` names the store,
`id`, `folder`, `delegated`), then one record for each message in the order it was said. What the owner changes without
anything being said (a title, a time of access) is not in it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeVar

from core.conversations.collections import crush, cursor, devin, goose, hermes, llm, opencode, zed
from core.conversations.collections.store_file import StoreChangedError, StoredSession, StoreError, StoreFile
from core.conversations.conversation import Conversation
from core.conversations.lines import INJECTED
from core.conversations.records import json_lines, keys_in
from core.conversations.turns import Reading, clean

MARK = "knowledge_session"
ATTEMPTS = 3
T = TypeVar("T")


class Store(NamedTuple):
    """One kind of store. `fits` asks for its tables; `read` hands one record to a `Reading` that stands at it."""

    name: str
    fits: Callable[[StoreFile], bool]
    sessions: Callable[[StoreFile], Iterator[StoredSession]]
    records: Callable[[StoreFile, str], Iterator[dict[str, Any]]]
    read: Callable[[dict[str, Any], Reading], None]


STORES: tuple[Store, ...] = tuple(
    Store(row.NAME, row.fits, row.sessions, row.records, row.read_record)
    for row in (opencode, goose, cursor, llm, hermes, crush, zed, devin)
)
STORE = {row.name: row for row in STORES}


class OpenStore:
    """A store of a known kind. Raises OSError (`StoreError` with words) from every method."""

    notes: tuple[str, ...] = ()

    def __init__(self, path: str) -> None:
        self._path = path
        self._open()

    def _open(self) -> None:
        self._file = StoreFile(self._path)
        kind = next((row for row in STORES if row.fits(self._file)), None)
        if kind is None:
            self._file.close()
            raise StoreError("this is no store of conversations that we know", self._path)
        self.kind = kind

    def sessions(self) -> list[StoredSession]:
        """Every conversation in it, with what a list needs; nothing that was said is read."""
        return self._steadily(lambda: list(self.kind.sessions(self._file)))

    def content(self, session: StoredSession) -> bytes:
        """One conversation in its canonical form."""
        return self._steadily(
            lambda: canonical_form(self.kind.name, session, self.kind.records(self._file, session.id))
        )

    def _steadily(self, look: Callable[[], T]) -> T:
        """A look during which the owner did not write; it is repeated otherwise."""
        for _ in range(ATTEMPTS - 1):
            try:
                return look()
            except StoreChangedError:
                self.close()
                self._open()
        return look()

    def close(self) -> None:
        self._file.close()


def canonical_form(kind: str, session: StoredSession, records: Iterable[dict[str, Any]]) -> bytes:
    """The canonical form of a session of a store of that name, with its records in order."""
    head: dict[str, Any] = {MARK: kind, "id": session.id}
    head |= {"folder": session.folder} if session.folder else {}
    head |= {"delegated": True} if session.delegated else {}
    text = "".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in (head, *records))
    return clean(text).encode("utf-8", "replace")


def sniff(head: str) -> bool:
    """The first line of the canonical form."""
    return MARK in keys_in(head.split("\n", 1)[0])


def read(name: str, data: bytes) -> Conversation:
    """Read the canonical form of one conversation."""
    reading = Reading(INJECTED | {"info-msg": "system"})
    about: dict[str, Any] = {}
    kind: Store | None = None
    for record in json_lines(data):
        value = record.value
        if value is not None and MARK in value and not about:
            about, kind = value, STORE.get(str(value[MARK]))
            reading.delegated = about.get("delegated") is True
            reading.agent = "sub-agent" if reading.delegated else ""
        elif kind is None or value is None:
            reading.skipped += 1
        else:
            reading.at(record, value.get("time"))
            kind.read(value, reading)
    format = kind.name if kind is not None else "store"
    return reading.conversation(name, format, id=about.get("id"), folder=about.get("folder"))
