"""Kimi's sessions: `wire.jsonl` of Kimi CLI and of Kimi Code.

Kimi CLI logs `{timestamp, message: {type, payload}}` (TurnBegin, ContentPart, ToolCall, ToolResult …), Kimi Code
`{type: turn.prompt | context.append_loop_event | config.update …, time}`. After `docs/en/configuration/
data-locations.md` and the wire protocol of MoonshotAI/kimi-cli; the newer log follows public readers of others
(agentsview). Events inside `SubagentEvent` are a sub-agent's. `context.jsonl` beside it, what the model is sent, tells
the same session and is not read.
"""

from __future__ import annotations

from typing import Any

from core.conversations.conversation import Conversation
from core.conversations.records import json_lines, object_keys
from core.conversations.turns import Reading, arguments, kind_of, read_calls, table_of, text_of, truth_of

_SILENT_MESSAGES = frozenset({
    "StepBegin", "StepInterrupted", "StepRetry", "StatusUpdate", "TurnEnd", "CompactionBegin", "CompactionEnd",
    "ApprovalRequest", "ApprovalRequestResolved", "ToolCallPart", "ToolCallRequest", "QuestionRequest", "HookTriggered",
    "HookResolved", "MCPLoadingBegin", "MCPLoadingEnd", "BtwBegin", "BtwEnd", "PlanDisplay", "Notification",
    "MCPStatusSnapshot", "ImageURLPart", "AudioURLPart", "VideoURLPart", "ThinkPart", "ContentPart",
})  # fmt: skip
_SILENT_RECORDS = frozenset({
    "metadata", "usage.record", "context.append_message", "llm.request", "llm.response", "turn.end", "turn.begin",
    "turn.cancel", "permission.record", "permission.set_mode", "goal.update", "tools.set", "session.meta",
})  # fmt: skip
_SILENT_EVENTS = frozenset({"step.begin", "step.end", "step.interrupted", "step.retry"})


def sniff(head: str) -> bool:
    """A wire log's first records."""
    keys = object_keys(head)
    first = head.lstrip().split("\n", 1)[0]
    return (
        ({"type", "protocol_version"} <= keys and '"metadata"' in first)
        or ({"timestamp", "message"} <= keys and {".type", ".payload"} <= keys)
        or ({"type", "input"} <= keys and ('"turn.prompt"' in head or '"turn.steer"' in head))
    )


def read(name: str, data: bytes) -> Conversation:
    """Read one log."""
    reading, facts = Reading(), dict[str, str]()
    for value in reading.values(json_lines(data), ""):
        reading.dated(value.get("timestamp", value.get("time", value.get("created_at"))))
        message = value.get("message")
        if isinstance(message, dict) and isinstance(message.get("type"), str):
            _read_wire(message, reading)
        else:
            _read_newer(value, reading, facts)
    return reading.conversation(name, "kimi", folder=facts.get("folder"))


def _read_wire(message: dict[str, Any], reading: Reading) -> None:
    kind, payload = kind_of(message), table_of(message.get("payload"))
    if kind in ("TurnBegin", "SteerInput"):
        reading.person(text_of(payload.get("user_input")))
    elif kind == "TextPart" or (kind == "ContentPart" and payload.get("type") == "text"):
        reading.say("assistant", text_of(payload.get("text")))
    elif kind == "ToolCall":
        read_calls([payload], reading)
    elif kind == "ToolResult":
        _read_result(table_of(payload.get("return_value")), text_of(payload.get("tool_call_id")), reading)
    elif kind in ("ApprovalResponse", "QuestionResponse"):
        reading.person(text_of(payload.get("feedback")))
    elif kind == "SubagentEvent":
        inner = payload.get("event")
        before, reading.agent = reading.agent, text_of(payload.get("agent_id")) or "sub-agent"
        if isinstance(inner, dict) and kind_of(inner) in ("ContentPart", "ToolCall", "ToolResult", "TextPart"):
            _read_wire(inner, reading)
        reading.agent = before
    elif kind not in _SILENT_MESSAGES:
        reading.skipped += 1


def _read_result(back: dict[str, Any], key: str, reading: Reading) -> None:
    """What a tool gave back: `output` is for the model, `message` says how it went."""
    failed = truth_of(back.get("is_error", back.get("isError")))
    output, message = text_of(back.get("output")), text_of(back.get("message"))
    refused = message.startswith("The tool call is rejected by the user")
    reading.result("\n".join(row for row in (output, message) if row), id=key, failed=failed, refused=refused)


def _read_newer(value: dict[str, Any], reading: Reading, facts: dict[str, str]) -> None:
    kind = kind_of(value)
    event = value.get("event")
    if kind in ("turn.prompt", "turn.steer"):
        origin = value.get("origin")
        own = not isinstance(origin, dict) or kind_of(origin, "kind") in ("user", "")
        (reading.person if own else reading.remind)(text_of(value.get("input")))
    elif kind == "config.update":
        facts["folder"] = facts.get("folder") or text_of(value.get("cwd"))
        reading.model = text_of(value.get("modelAlias")) or reading.model
    elif kind == "context.append_loop_event" and isinstance(event, dict):
        _read_loop(event, reading)
    elif kind == "context.apply_compaction":
        reading.summary(text_of(value.get("summary")))
    elif kind not in _SILENT_RECORDS:
        reading.skipped += 1


def _read_loop(event: dict[str, Any], reading: Reading) -> None:
    kind, part = kind_of(event), event.get("part")
    if kind == "content.part":
        reading.say("assistant", text_of([part]) if kind_of(part) == "text" else "")
    elif kind == "tool.call":
        reading.call(event.get("name"), arguments(event.get("args")), id=text_of(event.get("toolCallId")))
    elif kind == "tool.result":
        _read_result(table_of(event.get("result")), text_of(event.get("toolCallId")), reading)
    elif kind not in _SILENT_EVENTS:
        reading.skipped += 1
