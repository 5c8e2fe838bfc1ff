"""Goose's database `sessions.db`: `sessions(id, name, description, working_dir, session_type, updated_at …)` and
`messages(id, session_id, role, content_json, created_timestamp, metadata_json)`.

After `crates/goose/src/session/session_manager.rs` of block/goose. What sub-agents, scheduled recipes and hidden
sessions are asked was typed by nobody.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core.conversations.collections.store_file import StoredSession, StoreFile, number, parsed, seconds, text
from core.conversations.formats import goose

NAME = "goose"
_DELEGATED = ("sub_agent", "subagent", "scheduled", "hidden")


def fits(store: StoreFile) -> bool:
    return store.has("sessions", "id", "working_dir") and store.has("messages", "session_id", "role", "content_json")


def sessions(store: StoreFile) -> Iterator[StoredSession]:
    query = "SELECT session_id, SUM(LENGTH(content_json)) FROM messages GROUP BY session_id"
    sizes = {text(id): number(size) for id, size in store.rows(query)}
    name, kind = store.column("sessions", "name", "description"), store.column("sessions", "session_type")
    updated = store.column("sessions", "updated_at", "created_at")
    for id, named, folder, sort, at in store.rows(f"SELECT id, {name}, working_dir, {kind}, {updated} FROM sessions"):
        key = text(id)
        if sizes.get(key):
            yield StoredSession(key, text(named), text(folder), seconds(at), sizes[key], text(sort) in _DELEGATED)


def records(store: StoreFile, id: str) -> Iterator[dict[str, Any]]:
    """Messages as the older files have them."""
    created, about = store.column("messages", "created_timestamp"), store.column("messages", "metadata_json")
    order = store.column("messages", "id", "created_timestamp")
    query = f"SELECT role, content_json, {created}, {about} FROM messages WHERE session_id = ? ORDER BY {order}"
    for role, content, at, metadata in store.rows(query, (id,)):
        row = {"role": text(role), "created": at, "content": parsed(content)}
        details = parsed(metadata) if metadata is not None else None
        yield row | ({"metadata": details} if isinstance(details, dict) else {})


read_record = goose.read_message
