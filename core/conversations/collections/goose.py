"""Goose's database `sessions.db`: `sessions(id, name, description, working_dir, session_type, updated_at …)` and
`messages(id, session_id, role, content_json, created_timestamp, metadata_json)`.

After `crates/goose/src/session/session_manager.rs` of block/goose. What sub-agents, scheduled recipes and hidden
sessions are asked was typed by nobody. In a session of the type `terminal` the shell notes each command as a user's
message that the agent does not see, until the next question takes them up (`crates/goose-cli/src/commands/term.rs`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core.conversations.collections.store_file import StoredSession, StoreFile, number, parsed, seconds, text
from core.conversations.formats import goose
from core.conversations.turns import table_of

NAME = "goose"


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
            yield StoredSession(key, text(named), text(folder), seconds(at), sizes[key], text(sort) in goose.DELEGATED)


def records(store: StoreFile, id: str) -> Iterator[dict[str, Any]]:
    """Messages as the older files have them."""
    created, about = store.column("messages", "created_timestamp"), store.column("messages", "metadata_json")
    order = store.column("messages", "id", "created_timestamp")
    answered = f"SELECT MAX({order}) FROM messages WHERE session_id = sessions.id AND role = 'assistant'"
    kind = store.column("sessions", "session_type")
    query = f"SELECT COALESCE(({answered}), -1) FROM sessions WHERE id = ? AND {kind} = 'terminal'"
    noted_behind = next((number(row[0]) for row in store.rows(query, (id,))), None)
    columns = f"role, content_json, {created}, {about}, {order}"
    query = f"SELECT {columns} FROM messages WHERE session_id = ? ORDER BY {order}"
    for role, content, at, metadata, place in store.rows(query, (id,)):
        row = {"role": text(role), "created": at, "content": parsed(content)}
        details = parsed(metadata) if metadata is not None else None
        if noted_behind is not None and number(place) > noted_behind and table_of(details).get("agentVisible") is False:
            row["metadata"], details = {"userVisible": False}, None
        yield row | ({"metadata": details} if isinstance(details, dict) else {})


read_record = goose.read_message
