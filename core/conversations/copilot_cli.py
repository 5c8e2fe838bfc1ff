"""GitHub Copilot CLI's `session-state/<id>/events.jsonl`: `{type, data, id, timestamp, parentId}` a line.

Most lines are hooks and tools. A person's message is `user.message`: its `content` is what was typed, its
`transformedContent` what the model was sent. The maker does not document the format; this follows public sessions of
versions 1.0.
"""

from __future__ import annotations

import re
from typing import Any

from core.conversations.conversation import Conversation
from core.conversations.records import json_lines, keys_in
from core.conversations.turns import Reading, iso_time, text_of

_FIRST = re.compile(
    r'\s*\{\s*"type"\s*:\s*"(?:session|user|assistant|tool|hook|system|permission|subagent|abort)[.\w]*"\s*,\s*"data"'
)
_SILENT = ("session.", "hook.", "permission.", "assistant.", "tool.", "subagent.", "skill.", "abort", "external_tool.")


def sniff(head: str) -> bool:
    """A record whose type is two words with a dot, and its data."""
    return bool(keys_in(head)) and bool(_FIRST.match(head))


def read(name: str, data: bytes) -> Conversation:
    """Read one session."""
    reading = Reading()
    session, folder, started = "", "", ""
    for record in json_lines(data):
        value = record.value
        kind = value.get("type") if value else None
        detail = value.get("data") if value else None
        if value is None or not isinstance(kind, str) or not isinstance(detail, dict):
            reading.skipped += 1
            continue
        place = (iso_time(value.get("timestamp")), record.start, record.end)
        if kind == "session.start" and not session:
            context = detail.get("context")
            session, started = text_of(detail.get("sessionId")), text_of(detail.get("startTime"))
            folder = text_of(context.get("cwd")) if isinstance(context, dict) else ""
        elif kind == "user.message":
            if detail.get("source", "user") in ("user", "", None):
                reading.person(text_of(detail.get("content")), *place)
            else:
                reading.say("system", text_of(detail.get("content")), *place)
        elif kind == "assistant.message":
            reading.say("assistant", text_of(detail.get("content")), *place)
            _read_calls(detail.get("toolRequests"), place, reading)
        elif kind == "tool.execution_complete":
            reading.say("tool", _result(detail), *place)
        elif kind in ("system.message", "system.notification"):
            reading.say("system", text_of(detail.get("content")), *place)
        elif not kind.startswith(_SILENT):
            reading.skipped += 1
    return reading.conversation(name, "copilot_cli", id=session, folder=folder, started=started)


def _read_calls(calls: Any, place: tuple[str, int, int], reading: Reading) -> None:
    for call in calls if isinstance(calls, list) else []:
        if isinstance(call, dict) and call.get("name") != "report_intent":
            reading.call(call.get("name"), call.get("arguments"), *place)


def _result(detail: dict[str, Any]) -> str:
    result, error = detail.get("result"), detail.get("error")
    shown = text_of(result.get("content")) if isinstance(result, dict) else text_of(result)
    told = text_of(error.get("message")) if isinstance(error, dict) else ""
    return "\n".join(row for row in (shown, f"error: {told}" if told else "") if row)
