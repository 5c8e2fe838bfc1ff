"""Droid's sessions (Factory), `~/.factory/sessions/<folder>/<id>.jsonl`: `session_start`, then `message` records.

A message is `{type: message, id, timestamp, message: {role, content}}` with blocks of text, tool_use and tool_result;
`todo_state`, `compaction_state` and other records stand between. A session that another one opened names it
(`callingSessionId`): its prompts are written by the assistant. The maker does not document the format; this follows the
public readers and fixtures of others (entireio/cli, agentsview, coding_agent_session_search).
"""

from __future__ import annotations

from typing import Any

from core.conversations.conversation import Conversation
from core.conversations.messages import read_blocks
from core.conversations.records import json_lines, keys_in
from core.conversations.turns import Reading, kind_of, text_of

_SILENT = frozenset({"todo_state", "session_event", "session_end", "file_snapshot", "settings"})


def sniff(head: str) -> bool:
    """The record that opens a session."""
    first = head.split("\n", 1)[0]
    if '"session_start"' not in first:
        return False
    keys = keys_in(first)
    known = {"title", "cwd", "owner", "sessionTitle", "version"} & keys
    return {"type", "id"} <= keys and (bool(known) or '"message"' in head)


def read(name: str, data: bytes) -> Conversation:
    """Read one session."""
    reading = Reading()
    about: dict[str, Any] = {}
    for record in json_lines(data):
        value = record.value or {}
        kind, message = kind_of(value), value.get("message")
        reading.at(record, value.get("timestamp"))
        if kind == "session_start":
            about = about or value
            reading.agent = "sub-agent" if value.get("callingSessionId") else ""
            reading.delegated = bool(about.get("callingSessionId"))
        elif kind == "message" and isinstance(message, dict) and message.get("role") in ("user", "assistant"):
            reading.model = text_of(message.get("model")) or reading.model
            read_blocks(str(message["role"]), message.get("content"), reading)
        elif kind == "compaction_state":
            reading.summary(text_of(value.get("summaryText", value.get("summary"))))
        elif kind not in _SILENT:
            reading.skipped += 1
    title = about.get("sessionTitle") or about.get("title")
    return reading.conversation(name, "droid", id=about.get("id"), title=title, folder=about.get("cwd"))
