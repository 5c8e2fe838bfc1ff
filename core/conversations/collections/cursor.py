"""Cursor's database `state.vscdb`: table `cursorDiskKV(key, value)`, JSON values.

`composerData:<id>` is a conversation (`name`, `createdAt`, `lastUpdatedAt`) with either its bubbles (`conversation`) or
their order (`fullConversationHeadersOnly`), and then `bubbleId:<id>:<bubble>` is what was said: `type` 1 the user, 2
the assistant, `text`, and for tools `toolFormerData {name, rawArgs, result}`. One with a `subagentInfo` was opened by
the assistant. The maker does not document it; this
follows public readers of others. What only draws the window is left out of the records.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core.conversations.collections.store_file import StoredSession, StoreFile, number, parsed, seconds, text
from core.conversations.records import parse_object
from core.conversations.turns import Reading, arguments, iso_time, list_of, path_of, table_of, text_of

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
            above = id.startswith("task-") or bool(table_of(data.get("subagentInfo")).get("parentComposerId"))
            yield StoredSession(id, text(data.get("name")), _folder(store, id, data), updated, size, above)


def _folder(store: StoreFile, id: str, data: dict[str, Any]) -> str:
    """The workspace, as the conversation or the first bubbles that know it tell."""
    place = table_of(table_of(data.get("workspaceIdentifier")).get("uri"))
    found = _workspace(data) or text_of(place.get("fsPath"))
    if found:
        return found
    query = "SELECT value FROM cursorDiskKV WHERE key >= ? AND key < ? AND INSTR(CAST(value AS TEXT), 'workspaceUris')"
    for (value,) in store.rows(f"{query} LIMIT 3", (f"{_BUBBLE}{id}:", f"{_BUBBLE}{id};")):
        found = found or _workspace(table_of(parsed(value)))
    return found


def _workspace(data: dict[str, Any]) -> str:
    return path_of(next(iter(list_of(data.get("workspaceUris"))), ""))


def records(store: StoreFile, id: str) -> Iterator[dict[str, Any]]:
    """What was said, in the order of the conversation; a bubble that is missing is passed over."""
    data = None
    for (value,) in store.rows("SELECT value FROM cursorDiskKV WHERE key = ?", (f"{_DATA}{id}",)):
        data = parsed(value)
    data = table_of(data)
    inline = data.get("conversation")
    if isinstance(inline, list) and inline:
        for bubble in inline:
            yield _said(table_of(bubble))
        return
    for head in list_of(data.get("fullConversationHeadersOnly")):
        key = table_of(head).get("bubbleId")
        for (value,) in store.rows("SELECT value FROM cursorDiskKV WHERE key = ?", (f"{_BUBBLE}{id}:{key}",)):
            yield _said(table_of(parsed(value)))


def _said(bubble: dict[str, Any]) -> dict[str, Any]:
    row = {"type": bubble.get("type"), "text": text_of(bubble.get("text"))}
    at = iso_time(bubble.get("createdAt"))
    tool = bubble.get("toolFormerData")
    if isinstance(tool, dict) and tool:
        given = tool.get("rawArgs", tool.get("params"))
        row["tool"] = {"name": tool.get("name"), "input": given, "result": tool.get("result")}
    return row | ({"time": at} if at else {})


def read_record(value: dict[str, Any], reading: Reading) -> None:
    kind, tool = value.get("type"), value.get("tool")
    if kind not in (1, 2):
        reading.skipped += 1
    elif kind == 1:
        reading.person(text_of(value.get("text")))
    else:
        reading.say("assistant", text_of(value.get("text")))
    if isinstance(tool, dict):
        result = tool.get("result")
        reading.call(tool.get("name"), arguments(tool.get("input")), id="call")
        answer = (parse_object(result) if isinstance(result, str) else None) or {}
        shown = text_of(answer.get("output")) or text_of(answer.get("contents"))
        code = next((answer[key] for key in ("exitCode", "exitCodeV2") if isinstance(answer.get(key), int)), None)
        refused = answer.get("rejected") is True
        if result is not None:
            failed = True if refused or answer.get("error") else None
            reading.result(shown or text_of(result), id="call", failed=failed, status=code, refused=refused)
