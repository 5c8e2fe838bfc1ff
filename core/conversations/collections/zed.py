"""Zed's threads, `threads.db`: `threads(id, summary, updated_at, data_type, data, parent_id, folder_paths …)`.

`data` is a document, packed with Zstandard where `data_type` says so: `{messages: [{User: {content}} | {Agent:
{content, tool_results}} | "Resume"], model}`, a content of `{Text}`, `{Thinking}`, `{Mention}` and `{ToolUse}`.
Messages have no times. A thread with a parent was opened for a sub-agent. After `crates/agent/src/db.rs` and
`thread.rs` of zed-industries/zed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core.base.installed import how_to_install
from core.conversations.collections.store_file import (
    StoredSession,
    StoreError,
    StoreFile,
    number,
    parsed,
    seconds,
    text,
)
from core.conversations.packed import OverpackedError, is_packed, unpack
from core.conversations.records import Record
from core.conversations.turns import Reading, list_of, table_of, text_of, truth_of

NAME = "zed"


def fits(store: StoreFile) -> bool:
    return store.has("threads", "id", "summary", "data_type", "data")


def sessions(store: StoreFile) -> Iterator[StoredSession]:
    folders, parent = store.column("threads", "folder_paths"), store.column("threads", "parent_id")
    query = f"SELECT id, summary, {folders}, updated_at, LENGTH(data), {parent} FROM threads ORDER BY id"
    for id, title, paths, at, size, above in store.rows(query):
        folder = next(iter(text(paths).splitlines()), "")
        yield StoredSession(text(id), text(title), folder, seconds(at), number(size), bool(text(above)))


def records(store: StoreFile, id: str) -> Iterator[dict[str, Any]]:
    """The messages as the thread has them, after the model that it was held with."""
    for (data,) in store.rows("SELECT data FROM threads WHERE id = ?", (id,)):
        thread = table_of(parsed(_unpacked(data, store)))
        if model := text_of(table_of(thread.get("model")).get("model")):
            yield {"model": model}
        yield from (row for row in list_of(thread.get("messages")) if isinstance(row, dict))


def _unpacked(data: Any, store: StoreFile) -> Any:
    if not isinstance(data, bytes) or not is_packed(data):
        return data
    try:
        found = unpack(data)
    except OverpackedError as error:
        raise StoreError(f"a thread of Zed is too large: {error}", store.path) from error
    if found is None:
        raise StoreError(f"Zed's threads are packed with Zstandard ({how_to_install('zst')})", store.path)
    if not found[1]:
        raise StoreError("a thread of Zed breaks off, or is damaged", store.path)
    return found[0]


def read_record(record: Record, reading: Reading) -> None:
    """One message."""
    value = record.value or {}
    user, agent = table_of(value.get("User")), table_of(value.get("Agent"))
    reading.at(record)
    reading.model = text_of(value.get("model")) or reading.model
    if user:
        reading.person("\n".join(text_of(table_of(part).get("Text")) for part in list_of(user.get("content"))))
    results = table_of(agent.get("tool_results"))
    for part in list_of(agent.get("content")):
        row = table_of(part)
        call = table_of(row.get("ToolUse"))
        reading.say("assistant", text_of(row.get("Text")))
        if not call:
            continue
        key = text_of(call.get("id"))
        reading.call(call.get("name"), call.get("input"), id=key)
        if isinstance(back := results.get(key), dict):
            content = back.get("content")
            shown = text_of(table_of(content).get("Text")) or text_of(content) or text_of(back.get("output"))
            reading.result(shown, id=key, failed=truth_of(back.get("is_error")))
    if not (user or agent or "model" in value):
        reading.skipped += 1
