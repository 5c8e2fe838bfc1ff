"""Crush's database `.crush/crush.db` in a project: `sessions(id, parent_session_id, title, updated_at)` and
`messages(id, session_id, role, parts, model, created_at, is_summary_message)`.

`parts` is JSON, in some versions packed with Zstandard: `[{type: text | reasoning | tool_call | tool_result |
shell_command | finish, data}]`. A text that is `hidden` was made by the program and stands for the user; a shell
command is one that they typed behind `!`. After `internal/db/migrations` and `internal/message` of charmbracelet/crush.
A session with a parent was opened by the assistant. The folder is that of the database, which the rows do not tell.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core.conversations.collections.store_file import StoredSession, StoreFile, number, parsed, seconds, text
from core.conversations.packed import OverpackedError, is_packed, unpack
from core.conversations.turns import Reading, arguments, iso_time, kind_of, table_of, text_of, truth_of

NAME = "crush"
_SILENT = frozenset({"reasoning", "finish", "image_url", "binary", "_meta"})


def fits(store: StoreFile) -> bool:
    return store.has("sessions", "id", "parent_session_id", "title") and store.has(
        "messages", "session_id", "role", "parts"
    )


def sessions(store: StoreFile) -> Iterator[StoredSession]:
    query = "SELECT session_id, SUM(LENGTH(parts)) FROM messages GROUP BY session_id"
    sizes = {text(id): number(size) for id, size in store.rows(query)}
    updated = store.column("sessions", "updated_at", "created_at")
    query = f"SELECT id, parent_session_id, title, {updated} FROM sessions ORDER BY id"
    for id, above, title, at in store.rows(query):
        if sizes.get(text(id)):
            yield StoredSession(text(id), text(title), "", seconds(at), sizes[text(id)], bool(text(above)))


def records(store: StoreFile, id: str) -> Iterator[dict[str, Any]]:
    model, at = store.column("messages", "model"), store.column("messages", "created_at")
    summary = store.column("messages", "is_summary_message")
    query = f"SELECT role, parts, {model}, {at}, {summary} FROM messages WHERE session_id = ? ORDER BY {at}, rowid"
    for role, parts, said_by, made, sums in store.rows(query, (id,)):
        row = {"role": text(role), "parts": _parts(parts), "time": iso_time(made)}
        yield (row | ({"model": text(said_by)} if said_by else {}) | ({"summary": True} if number(sums) else {}))


def _parts(stored: Any) -> Any:
    """The JSON of a message's parts; None for what is none."""
    if not isinstance(stored, bytes) or not is_packed(stored):
        return parsed(stored)
    try:
        return parsed(unpack(stored)[0])
    except OverpackedError:
        return None


def read_record(value: dict[str, Any], reading: Reading) -> None:
    role, parts = value.get("role"), value.get("parts")
    if role not in ("user", "assistant", "tool", "system") or not isinstance(parts, list):
        reading.skipped += 1
        return
    reading.model = text_of(value.get("model")) or reading.model
    for part in parts:
        kind = kind_of(part)
        data = table_of(table_of(part).get("data"))
        if kind == "text":
            _read_text("system" if data.get("hidden") else str(role), text_of(data.get("text")), value, reading)
        elif kind == "tool_call":
            reading.call(data.get("name"), arguments(data.get("input")), id=text_of(data.get("id")))
        elif kind == "tool_result":
            failed = truth_of(data.get("is_error"))
            reading.result(text_of(data.get("content")), id=text_of(data.get("tool_call_id")), failed=failed)
        elif kind == "shell_command":
            reading.say("tool", f"$ {text_of(data.get('command'))}\n{text_of(data.get('output'))}")
        elif kind not in _SILENT:
            reading.skipped += 1


def _read_text(role: str, said: str, value: dict[str, Any], reading: Reading) -> None:
    if value.get("summary"):
        reading.summary(said)
    elif role == "user":
        reading.person(said)
    else:
        reading.say(role if role in ("assistant", "tool") else "system", said)
