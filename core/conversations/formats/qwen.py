"""Qwen Code's sessions, `~/.qwen/projects/<folder>/chats/<id>.jsonl`: `{uuid, parentUuid, sessionId, type, message}`.

The records make a tree; the way from the last one to the root is the conversation. `message` is Gemini's `{role,
parts}` with text, functionCall and functionResponse; `toolCallResult` beside it says how a call ended. `subtype` tells
what a record is besides (a notification, a title, a compression). Records of a sub-agent carry its name. After
`packages/core/src/services/chatRecordingService.ts` of QwenLM/qwen-code; versions before it write what Gemini CLI
writes.
"""

from __future__ import annotations

from typing import Any

from core.conversations.conversation import Conversation
from core.conversations.events import ends
from core.conversations.formats.gemini_cli import FILES, INJECTED_HERE, failed_of, key_of, response
from core.conversations.records import Record, branch, json_lines, object_keys
from core.conversations.turns import Reading, kind_of, list_of, table_of, tables_of, text_of

_OWN = ("", "mid_turn_user_message", "realtime_message")
"""Kinds of a user's record in which the user speaks; all others are put in by the tool."""


def sniff(head: str) -> bool:
    """Records of a tree whose messages are made of parts, or a record that only this tool writes."""
    keys = object_keys(head)
    return {"uuid", "sessionId", "type"} <= keys and bool({".parts", "systemPayload", "provenance"} & keys)


def read(name: str, data: bytes) -> Conversation:
    """Read one session."""
    records = list(json_lines(data))
    reading = Reading(INJECTED_HERE, skipped=sum(record.value is None for record in records))
    facts = {"id": "", "folder": "", "branch": "", "title": ""}
    for record in branch(records, "uuid", "parentUuid"):
        value = record.value or {}
        for key, member in (("id", "sessionId"), ("folder", "cwd"), ("branch", "gitBranch")):
            facts[key] = facts[key] or text_of(value.get(member))
        payload = value.get("systemPayload")
        if value.get("subtype") == "custom_title" and isinstance(payload, dict):
            facts["title"] = text_of(payload.get("customTitle"))
        _read_record(value, record, reading)
    return reading.conversation(name, "qwen", **facts)


def _read_record(value: dict[str, Any], record: Record, reading: Reading) -> None:
    kind, message = kind_of(value), value.get("message")
    reading.at(record, value.get("timestamp"))
    aside = bool(value.get("isSidechain") or value.get("agentId"))
    reading.agent = (text_of(value.get("agentName") or value.get("agentId")) or "sub-agent") if aside else ""
    parts = tables_of(table_of(message).get("parts"))
    said = "".join(text_of([row]) for row in parts if not row.get("thought"))
    if kind == "user":
        own, mark, files = said.partition(FILES)
        if aside:
            reading.say("system", said)
        elif text_of(value.get("subtype")) in _OWN:
            reading.person(own)
            reading.say("system", ends(files, 2000, 0)[0] if mark else "")
        else:
            reading.remind(said)
    elif kind == "assistant":
        reading.model = text_of(value.get("model")) or reading.model
        reading.say("assistant", said)
        for part in parts:
            call = part.get("functionCall")
            if isinstance(call, dict):
                reading.call(call.get("name"), call.get("args"), id=key_of(call))
    elif kind == "tool_result":
        _read_result(value, parts, reading)
    elif kind == "system" and value.get("subtype") == "chat_compression":
        # The first message of the history that the model goes on with is the summary.
        history = list_of(table_of(value.get("systemPayload")).get("compressedHistory"))
        reading.summary(text_of(table_of(next(iter(history), None)).get("parts")))
    elif kind != "system":
        reading.skipped += 1


def _read_result(value: dict[str, Any], parts: list[dict[str, Any]], reading: Reading) -> None:
    about = table_of(value.get("toolCallResult"))
    status = about.get("status")
    for part in parts:
        answer = part.get("functionResponse")
        if not isinstance(answer, dict):
            continue
        failed = status != "success" if isinstance(status, str) else failed_of(answer)
        key = text_of(answer.get("id")) or text_of(about.get("callId")) or text_of(answer.get("name"))
        reading.result(response(answer), id=key, failed=failed, refused=status == "cancelled")
