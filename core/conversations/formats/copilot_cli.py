"""GitHub Copilot CLI's `session-state/<id>/events.jsonl`: `{type, data, id, timestamp, parentId}` a line.

Most lines are hooks and tools. A person's message is `user.message`: its `content` is what was typed, its
`transformedContent` what the model was sent. What a sub-agent does names the call that started it (`parentToolCallId`).
The maker does not document the format; this follows public sessions of versions 1.0 and the event types that the
`copilot-sdk` publishes.
"""

from __future__ import annotations

import re
from typing import Any

from core.conversations.conversation import Conversation
from core.conversations.events import exit_status
from core.conversations.records import json_lines, keys_in
from core.conversations.turns import Reading, list_of, table_of, text_of

_FIRST = re.compile(
    r'\s*\{\s*"type"\s*:\s*"(?:session|user|assistant|tool|hook|system|permission|subagent|abort)[.\w]*"\s*,\s*"data"'
)
_SILENT = ("session.", "hook.", "permission.", "assistant.", "tool.", "subagent.", "skill.", "abort", "external_tool.")


def sniff(head: str) -> bool:
    """A record whose type is two words with a dot, and its data."""
    return bool(keys_in(head)) and bool(_FIRST.match(head))


def read(name: str, data: bytes) -> Conversation:
    """Read one session."""
    reading, seen = Reading(), _Seen()
    session = started = ""
    context: dict[str, Any] = {}
    for record in json_lines(data):
        value = record.value
        kind = value.get("type") if value else None
        detail = value.get("data") if value else None
        if value is None or not isinstance(kind, str) or not isinstance(detail, dict):
            reading.skipped += 1
            continue
        reading.at(record, value.get("timestamp"))
        parent = text_of(detail.get("parentToolCallId"))
        reading.agent = seen.agents.get(parent, "sub-agent") if parent else ""
        reading.model = text_of(detail.get("model")) or reading.model if kind == "assistant.message" else reading.model
        if kind == "session.start" and not session:
            found = detail.get("context")
            session, started = text_of(detail.get("sessionId")), text_of(detail.get("startTime"))
            context = table_of(found)
            reading.model = text_of(detail.get("selectedModel"))
        elif kind == "user.message":
            if detail.get("source", "user") in ("user", "", None):
                reading.person(text_of(detail.get("content")))
            else:
                reading.say("system", text_of(detail.get("content")))
        elif kind == "assistant.message":
            reading.say("assistant", text_of(detail.get("content")))
            _read_calls(detail.get("toolRequests"), reading, seen)
        elif kind == "tool.execution_start" and detail.get("toolCallId"):
            called = {"toolCallId": detail.get("toolCallId"), "name": detail.get("toolName")}
            _read_calls([{**called, "arguments": detail.get("arguments")}], reading, seen)
        elif kind == "tool.execution_complete":
            _read_result(detail, reading)
        elif kind == "subagent.started":
            seen.agents[text_of(detail.get("toolCallId"))] = text_of(detail.get("agentName")) or "sub-agent"
        elif kind == "session.compaction_complete":
            reading.summary(text_of(detail.get("summaryContent")))
        elif kind in ("system.message", "system.notification"):
            reading.say("system", text_of(detail.get("content")))
        elif not kind.startswith(_SILENT):
            reading.skipped += 1
    facts = {"folder": context.get("cwd"), "branch": context.get("branch"), "repository": context.get("repository")}
    return reading.conversation(name, "copilot_cli", id=session, started=started, **facts)


class _Seen:
    """The calls that were told already, and the sub-agents by the call that started each."""

    def __init__(self) -> None:
        self.calls: set[str] = set()
        self.agents: dict[str, str] = {}


def _read_calls(calls: Any, reading: Reading, seen: _Seen) -> None:
    """Calls of an answer; each is told once more when it begins."""
    for call in list_of(calls):
        if not isinstance(call, dict) or call.get("name") == "report_intent":
            continue
        key = text_of(call.get("toolCallId"))
        if not key or key not in seen.calls:
            seen.calls.add(key)
            reading.call(call.get("name"), call.get("arguments"), id=key)


def _read_result(detail: dict[str, Any], reading: Reading) -> None:
    success, error = detail.get("success"), detail.get("error")
    refused = isinstance(error, dict) and error.get("code") in ("rejected", "denied")
    failed = not success if isinstance(success, bool) else None
    text, key = _result(detail), text_of(detail.get("toolCallId"))
    status = exit_status(text) if success else None
    failed = failed or bool(status) if failed is not None else None
    reading.result(text, id=key, failed=failed, status=status, refused=refused)


def _result(detail: dict[str, Any]) -> str:
    result, error = detail.get("result"), detail.get("error")
    shown = text_of(result.get("content")) if isinstance(result, dict) else text_of(result)
    message = text_of(error.get("message")) if isinstance(error, dict) else ""
    return "\n".join(row for row in (shown, f"error: {message}" if message else "") if row)
