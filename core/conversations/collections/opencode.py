"""OpenCode's database `opencode.db`: tables `session`, `message`, `part`; from version 2 on `session_v2` and
`session_message`. Kilo Code's `kilo.db` is made from it.

Tables after `packages/opencode/src/session/session.sql.ts` and `packages/core/src/session/sql.ts` of the project:
`session(id, parent_id, directory, title, time_created, time_updated …)` with times in milliseconds, `message(id,
session_id, time_created, data)`, `part(id, message_id, data)`, `session_message(id, session_id, type, seq, data)`; each
`data` is JSON without the ids beside it. A session with a parent was opened by the assistant.

Version 2 copies each older session once, under its id and those of its messages, and leaves the older tables as they
are (`packages/core/src/database/v1-migration.bun.ts`): what stands there is read as before, so that the session is
known again, and from the newer table what is not a copy.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core.conversations.collections.store_file import StoredSession, StoreFile, number, parsed, seconds, text
from core.conversations.formats import opencode
from core.conversations.turns import Reading, iso_time, kind_of, list_of, table_of, text_in, text_of, whole_of

NAME = "opencode"
# Records of the newer table in which nothing is said.
_SILENT = frozenset({"agent-switched", "model-switched", "location-switched", "idle", "agent", "model", "reasoning"})
_NEWER = "session_v2"
_NO_COPY = """AND NOT EXISTS (SELECT 1 FROM message AS old WHERE old.session_id = new.session_id
    AND (old.id = new.id OR old.time_created = new.time_created))"""
"""What the tool put into a message becomes a record of its own, of the same time."""


def fits(store: StoreFile) -> bool:
    newer = store.has("session_message", "id", "session_id", "data")
    older = store.has("session", "id", "directory") and (store.has("message", "id", "session_id", "data") or newer)
    return older or (newer and store.has(_NEWER, "id", "directory"))


def sessions(store: StoreFile) -> Iterator[StoredSession]:
    sizes, found = dict[str, int](), dict[str, StoredSession]()
    for table in ("message", "part", "session_message"):
        if store.has(table, "session_id", "data"):
            query = f"SELECT session_id, SUM(LENGTH(data)) FROM {table} GROUP BY session_id"
            for id, size in store.rows(query):
                sizes[text(id)] = sizes.get(text(id), 0) + number(size)
    for table in ("session", _NEWER):
        if not store.has(table, "id", "directory"):
            continue
        parent, title = store.column(table, "parent_id"), store.column(table, "title")
        updated = store.column(table, "time_updated", "time_created")
        query = f"SELECT id, {parent}, directory, {title}, {updated} FROM {table} ORDER BY id"
        for id, above, folder, named, at in store.rows(query):
            key, last = text(id), max(seconds(at), found[text(id)].updated if text(id) in found else 0.0)
            if sizes.get(key):
                found[key] = StoredSession(key, text(named), text(folder), last, sizes[key], bool(text(above)))
    yield from found.values()


def records(store: StoreFile, id: str) -> Iterator[dict[str, Any]]:
    """Messages with their parts as an export has them, and the records of the newer table: where the session has
    messages, those alone that version 2 put behind its copies of them."""
    found, newer = False, store.has("session_message", "session_id", "data")
    if store.has("message", "session_id", "data"):
        order = store.column("message", "time_created")
        parts = f"SELECT id, data FROM part WHERE message_id = ? ORDER BY {store.column('part', 'id')}"
        query = f"SELECT id, data FROM message WHERE session_id = ? ORDER BY {order}, id"
        for key, data in list(store.rows(query, (id,))):
            found = True
            rows = store.rows(parts, (key,)) if store.has("part", "message_id", "data") else ()
            own = [_named(part, parsed(value)) for part, value in rows]
            yield {"info": _named(key, parsed(data)) or {"id": text(key)}, "parts": own}
    if found:
        newer = newer and store.has(_NEWER, "id") and any(store.rows(f"SELECT 1 FROM {_NEWER} WHERE id = ?", (id,)))
    if newer:
        order = store.column("session_message", "seq", "time_created")
        made = store.column("session_message", "time_created")
        fresh = _NO_COPY if found else ""
        query = f"SELECT type, {made}, data FROM session_message AS new WHERE session_id = ? {fresh}"
        for kind, at, data in store.rows(f"{query} ORDER BY {order}, id", (id,)):
            yield {"type": text(kind), "time": iso_time(at), "data": parsed(data)}


def _named(key: Any, value: Any) -> dict[str, Any] | None:
    return {"id": text(key), **value} if isinstance(value, dict) else None


def read_record(value: dict[str, Any], reading: Reading) -> None:
    kind, data = kind_of(value), value.get("data")
    if "parts" in value:
        opencode.read_message(value, reading)
    elif not isinstance(data, dict):
        reading.skipped += 1
    elif kind == "user":
        reading.person(text_of(data.get("text")))
    elif kind in ("system", "synthetic", "skill"):
        reading.remind(text_of(data.get("text")))
    elif kind == "compaction":
        reading.summary(text_of(data.get("summary")))
    elif kind == "shell":
        # Typed by the user, run by the tool.
        output = text_in(data.get("output"), "output")
        reading.say("tool", f"{text_of(data.get('command'))}\n{output}")
        reading.called("bash", {"command": data.get("command")}, id="shell")
        reading.settle("shell", output, status=whole_of(data.get("exit")))
    elif kind == "assistant":
        reading.model = text_in(data.get("model"), "id") or reading.model
        for part in list_of(data.get("content")):
            _read_part(part, reading)
    elif kind not in _SILENT:
        reading.skipped += 1


def _read_part(part: Any, reading: Reading) -> None:
    kind = kind_of(part)
    if kind == "text":
        reading.say("assistant", text_of(part.get("text")))
    elif kind == "tool":
        state = table_of(part.get("state"))
        key = text_of(part.get("callID") or part.get("id")) or "call"
        reading.call(part.get("name", part.get("tool")), state.get("input"), id=key)
        opencode.read_state(state, key, reading)
    elif kind not in _SILENT:
        reading.skipped += 1
