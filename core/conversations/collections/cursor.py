"""Cursor's database `state.vscdb`: table `cursorDiskKV(key, value)`, JSON values.

`composerData:<id>` is a conversation (`name`, `createdAt`, `lastUpdatedAt`) with either its bubbles (`conversation`) or
their order (`fullConversationHeadersOnly`), and then `bubbleId:<id>:<bubble>` is what was said: `type` 1 the person, 2
the assistant, `text`, and for tools `toolFormerData {name, rawArgs, result}`. The maker does not document it; this
follows public readers of others. What only draws the window is left out of the records.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlsplit

from core.conversations.collections.session import StoredSession, number, parsed, seconds, text
from core.conversations.collections.store_file import StoreFile
from core.conversations.records import Record, parse_object
from core.conversations.turns import Reading, iso_time, text_of

NAME = "cursor"
_DATA, _BUBBLE = "composerData:", "bubbleId:"


def fits(store: StoreFile) -> bool:
    return store.has("cursorDiskKV", "key", "value")


def sessions(store: StoreFile) -> Iterator[StoredSession]:
    sizes: dict[str, int] = {}
    # Ranges instead of LIKE, so that the index on the key is used.
    query = "SELECT key, LENGTH(value) FROM cursorDiskKV WHERE key >= ? AND key < ?"
    for key, size in store.rows(query, (_BUBBLE, "bubbleId;")):
        id = text(key)[len(_BUBBLE) :].partition(":")[0]
        sizes[id] = sizes.get(id, 0) + number(size)
    query = "SELECT key, value FROM cursorDiskKV WHERE key >= ? AND key < ? ORDER BY key"
    for key, value in store.rows(query, (_DATA, "composerData;")):
        data = parsed(value)
        if not isinstance(data, dict):
            continue
        id = text(key)[len(_DATA) :]
        inline = data.get("conversation")
        size = len(text(value)) if isinstance(inline, list) and inline else sizes.get(id, 0)
        if size:
            updated = seconds(data.get("lastUpdatedAt")) or seconds(data.get("createdAt"))
            yield StoredSession(id, text(data.get("name")), _folder(store, id, data), updated, size)


def _folder(store: StoreFile, id: str, data: dict[str, Any]) -> str:
    """The workspace, as the conversation or the first bubbles that know it tell."""
    found = _workspace(data)
    if found:
        return found
    query = "SELECT value FROM cursorDiskKV WHERE key >= ? AND key < ? AND INSTR(CAST(value AS TEXT), 'workspaceUris')"
    for (value,) in store.rows(f"{query} LIMIT 3", (f"{_BUBBLE}{id}:", f"{_BUBBLE}{id};")):
        bubble = parsed(value)
        found = found or (_workspace(bubble) if isinstance(bubble, dict) else "")
    return found


def _workspace(data: dict[str, Any]) -> str:
    rows = data.get("workspaceUris")
    first = rows[0] if isinstance(rows, list) and rows and isinstance(rows[0], str) else ""
    try:
        return unquote(urlsplit(first).path) if first.startswith("file://") else ""
    except ValueError:
        return ""


def records(store: StoreFile, id: str) -> Iterator[dict[str, Any]]:
    """What was said, in the order of the conversation; a bubble that is missing is passed over."""
    data = None
    for (value,) in store.rows("SELECT value FROM cursorDiskKV WHERE key = ?", (f"{_DATA}{id}",)):
        data = parsed(value)
    data = data if isinstance(data, dict) else {}
    inline = data.get("conversation")
    if isinstance(inline, list) and inline:
        for bubble in inline:
            yield _said(bubble)
        return
    heads = data.get("fullConversationHeadersOnly")
    for head in heads if isinstance(heads, list) else ():
        key = head.get("bubbleId") if isinstance(head, dict) else None
        if not isinstance(key, str):
            continue
        for (value,) in store.rows("SELECT value FROM cursorDiskKV WHERE key = ?", (f"{_BUBBLE}{id}:{key}",)):
            yield _said(parsed(value))


def _said(bubble: Any) -> dict[str, Any]:
    if not isinstance(bubble, dict):
        return {"type": 0}
    row = {"type": bubble.get("type"), "text": text_of(bubble.get("text"))}
    at = iso_time(bubble.get("createdAt"))
    tool = bubble.get("toolFormerData")
    if isinstance(tool, dict) and tool:
        given = tool.get("rawArgs", tool.get("params"))
        row["tool"] = {"name": tool.get("name"), "input": given, "result": tool.get("result")}
    return row | ({"time": at} if at else {})


def read_record(record: Record, reading: Reading, delegated: bool) -> None:
    value = record.value or {}
    place = (str(value.get("time", "")), record.start, record.end)
    kind, tool = value.get("type"), value.get("tool")
    if kind not in (1, 2):
        reading.skipped += 1
    elif kind == 1 and not delegated:
        reading.person(text_of(value.get("text")), *place)
    else:
        reading.say("assistant" if kind == 2 else "system", text_of(value.get("text")), *place)
    if isinstance(tool, dict):
        given, result = tool.get("input"), tool.get("result")
        given = parse_object(given) or given if isinstance(given, str) else given
        reading.call(tool.get("name"), given, *place, id="call")
        answer = parse_object(result) if isinstance(result, str) else None
        answer = answer or {}
        shown = text_of(answer.get("output")) or text_of(answer.get("contents"))
        code = next((answer[key] for key in ("exitCode", "exitCodeV2") if isinstance(answer.get(key), int)), None)
        refused = answer.get("rejected") is True
        if result is not None:
            failed = True if refused or answer.get("error") else None
            reading.result(shown or text_of(result), *place, id="call", failed=failed, status=code, refused=refused)
