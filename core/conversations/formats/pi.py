"""Sessions of the Pi coding agent, and of OpenClaw, which keeps them in the same form.

JSON lines: a header `{type: session, id, cwd}`, then entries `{type, id, parentId, timestamp}` that make a tree; a
`message` holds `{role, content}` with roles user, assistant, toolResult, bashExecution (a command that the user ran),
custom. Only the way from the last entry to the root is the conversation; abandoned branches are summarised. After
`packages/coding-agent/docs/session.md` of badlogic/pi-mono and the session docs of openclaw/openclaw. Version 1 has no
ids: there every entry counts.
"""

from __future__ import annotations

from typing import Any

from core.conversations.conversation import Conversation
from core.conversations.records import Record, branch, json_lines, keys_in
from core.conversations.turns import Reading, iso_time, kind_of, read_blocks, table_of, text_of, truth_of

_SILENT = frozenset({"thinking_level_change", "custom", "label"})


def sniff(head: str) -> bool:
    """The header on the first line."""
    first = head.split("\n", 1)[0]
    return '"session"' in first and {"type", "id", "timestamp", "cwd"} <= keys_in(first)


def read(name: str, data: bytes) -> Conversation:
    """Read one session."""
    records = list(json_lines(data))
    reading = Reading(skipped=sum(record.value is None for record in records))
    title = ""
    facts = next((row.value for row in records if row.value and kind_of(row.value) == "session"), {})
    entries = [record for record in records if record.value and kind_of(record.value) != "session"]
    for record in branch(entries, "id", "parentId"):
        value = record.value or {}
        kind = kind_of(value)
        if kind == "session_info":
            title = text_of(value.get("name"))
        else:
            _read_entry(kind, value, record, reading)
    started, folder = facts.get("timestamp"), facts.get("cwd")
    return reading.conversation(name, "pi", id=facts.get("id"), title=title, folder=folder, started=started)


def _read_entry(kind: str, value: dict[str, Any], record: Record, reading: Reading) -> None:
    message = value.get("message")
    reading.at(record, iso_time(value.get("timestamp")) or table_of(message).get("timestamp"))
    if kind == "message" and isinstance(message, dict):
        _read_message(message, reading)
    elif kind == "model_change":
        reading.model = text_of(value.get("modelId")) or reading.model
    elif kind in ("compaction", "branch_summary"):
        reading.summary(text_of(value.get("summary")))
    elif kind == "custom_message":
        reading.remind(text_of(value.get("content")))
    elif kind not in _SILENT:
        reading.skipped += 1


def _read_message(message: dict[str, Any], reading: Reading) -> None:
    role, content = message.get("role"), message.get("content")
    if role == "user":
        reading.person(text_of(content))
    elif role == "assistant":
        reading.model = text_of(message.get("model")) or reading.model
        read_blocks("assistant", content, reading)
    elif role == "toolResult":
        failed = truth_of(message.get("isError"))
        reading.result(text_of(content), id=text_of(message.get("toolCallId")), failed=failed)
    elif role == "bashExecution":
        code = message.get("exitCode")
        output = text_of(message.get("output"))
        reading.say("tool", f"{text_of(message.get('command'))}\n{output}")
        reading.called("bash", {"command": message.get("command")}, id="typed")
        reading.settle("typed", output, status=code if isinstance(code, int) else None)
    elif role in ("custom", "hookMessage"):
        reading.remind(text_of(content))
    elif role in ("branchSummary", "compactionSummary"):
        reading.summary(text_of(message.get("summary")))
    else:
        reading.skipped += 1
