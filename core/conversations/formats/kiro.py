"""Kiro CLI's sessions, `~/.kiro/sessions/cli/<id>.jsonl`: `{version, kind, data: {message_id, content, meta}}` a line.

Kinds are Prompt, AssistantMessage, ToolResults and Compaction; a block is `{kind: text | toolUse | toolResult, data}`.
Only prompts carry a time (seconds). Folder and title stand in `<id>.json` beside it. Version 3, and the editor, write
`~/.kiro/sessions/<hash>/<id>/messages.jsonl`: `{id, timestamp, payload: {type, content}}` a line, the folder in
`session.json` beside it. The maker does not document the formats; this follows public readers and fixtures of others.
"""

from __future__ import annotations

import json
import re
from typing import Any

from core.conversations.conversation import Conversation
from core.conversations.records import json_lines, object_keys
from core.conversations.turns import Reading, iso_time, kind_of, list_of, table_of, text_of, truth_of

_KINDS = ("Prompt", "AssistantMessage", "ToolResults", "Compaction", "UserMessage", "Response", "Clear")
_SILENT = frozenset({"thinking", "reasoning", "image"})
_PAYLOAD = re.compile(r'"payload"\s*:\s*\{\s*"type"\s*:\s*"(?:user|assistant|tool_call|tool_result)"')


def sniff(head: str) -> bool:
    """A record of one of the kinds with its data, or a payload with its type."""
    if _PAYLOAD.search(head.split("\n", 1)[0]):
        return "timestamp" in object_keys(head)
    return {"kind", "data"} <= object_keys(head) and any(f'"{kind}"' in head for kind in _KINDS)


def read(name: str, data: bytes) -> Conversation:
    """Read one session; the file's name is its id."""
    reading, time = Reading(), ""
    for value in reading.values(json_lines(data), ""):
        kind, held = kind_of(value, "kind"), value.get("data")
        if isinstance(value.get("payload"), dict):
            reading.dated(value.get("timestamp"))
            _read_payload(value["payload"], reading)
            continue
        if kind not in _KINDS or not isinstance(held, dict):
            reading.skipped += 1
            continue
        time = iso_time(table_of(held.get("meta")).get("timestamp")) or time
        reading.dated(time)
        if kind == "Compaction":
            reading.summary(text_of(held.get("summary")))
            continue
        said = [_read_block(row, kind, reading) for row in list_of(held.get("content"))]
        if kind in ("Prompt", "UserMessage"):
            reading.person("\n".join(row for row in said if row))
    return reading.conversation(name, "kiro")


def _read_payload(held: dict[str, Any], reading: Reading) -> None:
    """What version 3 writes."""
    kind, key, said = kind_of(held), text_of(held.get("toolCallId")), text_of(held.get("content"))
    if kind == "user":
        reading.person(said)
    elif kind == "assistant":
        reading.say("assistant", said)
    elif kind == "tool_call":
        reading.call(held.get("toolName"), held.get("args"), id=key)
    elif kind == "tool_result":
        worked = truth_of(held.get("success"))
        reading.result(said, id=key, failed=None if worked is None else not worked)
    else:
        reading.skipped += 1


def _read_block(block: Any, kind: str, reading: Reading) -> str:
    """One block; the words of it where they are the user's."""
    sort = kind_of(block, "kind")
    data = table_of(block).get("data")
    if sort == "text":
        text = text_of(data if isinstance(data, str) else [data])
        if kind in ("Prompt", "UserMessage"):
            return text
        reading.say("assistant" if kind in ("AssistantMessage", "Response") else "tool", text)
    elif sort == "toolUse" and isinstance(data, dict):
        reading.call(data.get("name"), data.get("input"), id=text_of(data.get("toolUseId")))
    elif sort == "toolResult" and isinstance(data, dict):
        _read_result(data, reading)
    elif sort not in _SILENT:
        reading.skipped += 1
    return ""


def _read_result(data: dict[str, Any], reading: Reading) -> None:
    """What a tool gave back: texts, or JSON in which a shell tells its exit status."""
    rows: list[str] = []
    code = None
    for row in list_of(data.get("content")):
        held = table_of(row).get("data")
        if isinstance(held, dict):
            status = held.get("exit_status", held.get("exit_code"))
            code = int(status) if isinstance(status, int) or (isinstance(status, str) and status.isdigit()) else code
            shown = [text_of(held.get(key)) for key in ("stdout", "stderr")]
            rows.append("\n".join(part for part in shown if part) or json.dumps(held, ensure_ascii=False))
        else:
            rows.append(text_of(held))
    status = kind_of(data, "status").lower()
    failed = {"success": False, "error": True, "cancelled": True}.get(status)
    failed = failed or bool(code) if failed is not None else None
    reading.result("\n".join(rows), id=text_of(data.get("toolUseId")), failed=failed, status=code)
