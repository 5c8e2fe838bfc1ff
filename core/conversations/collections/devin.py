"""The database of Devin's command line, `devin/cli/sessions.db`: `sessions(id, working_directory, title, model,
last_activity_at, hidden)` and `message_nodes(session_id, node_id, chat_message, created_at)`.

`chat_message` is JSON: `{message_id, role, content, tool_calls: [{id, name, arguments}], tool_call_id, metadata}`. Each
turn replays those before it as new nodes with the same `message_id`; what the user typed is marked `is_user_input`, the
other messages of that role are the program's. Times are seconds. The maker does not document the format; this follows
public readers of others.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core.conversations.collections.store_file import StoredSession, StoreFile, number, parsed, seconds, text
from core.conversations.turns import Reading, iso_time, read_calls, table_of, text_of, truth_of

NAME = "devin"


def fits(store: StoreFile) -> bool:
    return store.has("sessions", "id", "working_directory") and store.has("message_nodes", "session_id", "chat_message")


def sessions(store: StoreFile) -> Iterator[StoredSession]:
    query = "SELECT session_id, SUM(LENGTH(chat_message)), MAX(created_at) FROM message_nodes GROUP BY session_id"
    sizes = {text(id): (number(size), at) for id, size, at in store.rows(query)}
    title, hidden = store.column("sessions", "title"), store.column("sessions", "hidden")
    query = f"SELECT id, {title}, working_directory, {hidden} FROM sessions ORDER BY id"
    for id, named, folder, away in store.rows(query):
        size, at = sizes.get(text(id), (0, 0))
        if size and not number(away):
            yield StoredSession(text(id), text(named), text(folder), seconds(at), size)


def records(store: StoreFile, id: str) -> Iterator[dict[str, Any]]:
    """Each message once, where it was said first, and the model with the first."""
    model = store.column("sessions", "model")
    about = [text(name) for (name,) in store.rows(f"SELECT {model} FROM sessions WHERE id = ?", (id,))]
    said: set[str] = set()
    query = "SELECT node_id, chat_message, created_at FROM message_nodes WHERE session_id = ? ORDER BY node_id"
    for node, message, at in store.rows(query, (id,)):
        held = parsed(message)
        key = text_of(table_of(held).get("message_id")) or f"node {node}"
        if key in said:
            continue
        said.add(key)
        row = {"message": held, "time": iso_time(at)}
        yield row | ({"model": about.pop()} if about else {})


def read_record(value: dict[str, Any], reading: Reading) -> None:
    message = table_of(value.get("message"))
    role, words, about = message.get("role"), text_of(message.get("content")), table_of(message.get("metadata"))
    reading.model = text_of(value.get("model")) or reading.model
    if role == "user" and about.get("is_user_input") is True:
        reading.person(words)
    elif role in ("user", "system"):
        reading.say("system", words)
    elif role == "assistant":
        reading.say("assistant", words)
        read_calls(message.get("tool_calls"), reading)
    elif role == "tool":
        told = table_of(table_of(about.get("extensions")).get("chisel/tool_result_meta"))
        success = truth_of(told.get("success"))
        reading.result(words, id=text_of(message.get("tool_call_id")), failed=None if success is None else not success)
    else:
        reading.skipped += 1
