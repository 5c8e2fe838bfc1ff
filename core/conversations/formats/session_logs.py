"""Two tools whose log opens with a record about the session: Droid (Factory) and DeepSeek Harness.

Droid's `~/.factory/sessions/<folder>/<id>.jsonl` has `session_start`, then messages: `{type: message, id, timestamp,
message: {role, content}}` with blocks of text, tool_use and tool_result; `todo_state`, `compaction_state` and other
records stand between. A session that another one opened names it (`callingSessionId`): its prompts are written by the
assistant. A message of the user's role may be a notice, context for the model, a hook's or an automation's. The maker
does not document the format; this follows the public readers and fixtures of others (entireio/cli, agentsview,
coding_agent_session_search; version 2: evintunador/conversation-ledger, Emanuele-web04/synara).

DeepSeek Harness's `~/.dsh/sessions/<folder>/<id>/session.jsonl` (packed: `.zstd`) has `{type: session, id, createdAt,
cwd}`, then events `{type, seq, time, data}`. A `user/message` says where it comes from: the user, or a plugin; an
`assistant/message` has parts of text and reasoning, calls and results are events of their own. The header of a
sub-agent's session says so (`origin`). After the package
`session-persistence-jsonl` of deepseek-ai/deepseek-harness and the fixtures of vshulcz/deja-vu.
"""

from __future__ import annotations

from typing import Any

from core.conversations.conversation import Conversation
from core.conversations.records import json_lines, keys_in
from core.conversations.turns import Reading, arguments, kind_of, read_blocks, table_of, tables_of, text_of, truth_of

_SILENT = frozenset({
    "todo_state", "session_event", "session_end", "file_snapshot", "settings", "agent_turn_outcome",
})  # fmt: skip
_ROLES = ("user", "assistant", "tool", "system")
_AUTOMATIC = frozenset({
    "automation", "readiness-remediation", "readiness-evaluation", "wiki-generation", "wiki-ci-setup",
})  # fmt: skip
"""What asks in the user's place, as Droid's `userMessageSource` names it."""


def sniff_droid(head: str) -> bool:
    """The record that opens a session."""
    first = head.split("\n", 1)[0]
    if '"session_start"' not in first:
        return False
    keys = keys_in(first)
    known = {"title", "cwd", "owner", "sessionTitle", "version"} & keys
    return {"type", "id"} <= keys and (bool(known) or '"message"' in head)


def read_droid(name: str, data: bytes) -> Conversation:
    """Read one session of Droid."""
    reading = Reading()
    about: dict[str, Any] = {}
    for value in reading.values(json_lines(data)):
        kind, message = kind_of(value), value.get("message")
        if kind == "session_start":
            about = about or value
            reading.agent = "sub-agent" if value.get("callingSessionId") else ""
        elif kind == "message" and isinstance(message, dict) and message.get("role") in _ROLES:
            reading.model = text_of(message.get("modelId") or message.get("model")) or reading.model
            reading.delegated = bool(about.get("callingSessionId")) or _is_put_in(message)
            read_blocks("assistant" if message["role"] == "assistant" else "user", message.get("content"), reading)
        elif kind == "compaction_state":
            reading.summary(text_of(value.get("summaryText", value.get("summary"))))
        elif kind not in _SILENT:
            reading.skipped += 1
    title = about.get("sessionTitle") or about.get("title")
    return reading.conversation(name, "droid", id=about.get("id"), title=title, folder=about.get("cwd"))


def _is_put_in(message: dict[str, Any]) -> bool:
    """Whether nobody typed what stands in a message of Droid that is not the assistant's."""
    return (
        message.get("role") != "user"
        or message.get("visibility") in ("llm_only", "user_only")
        or message.get("isUserVisible") is False
        or bool(message.get("hookEventName"))
        or kind_of(message, "userMessageSource") in _AUTOMATIC
    )


def sniff_deepseek(head: str) -> bool:
    """The header, which tells when the session was created."""
    first = head.split("\n", 1)[0]
    return '"session"' in first and {"type", "id", "createdAt", "version"} <= keys_in(first)


def read_deepseek(name: str, data: bytes) -> Conversation:
    """Read one session of DeepSeek Harness."""
    reading = Reading()
    about: dict[str, Any] = {}
    title = ""
    for value in reading.values(json_lines(data), "time"):
        kind, detail = kind_of(value), table_of(value.get("data"))
        message = table_of(detail.get("message")) or detail
        said = _texts(message.get("content"))
        if kind == "session":
            about = about or value
            reading.delegated = about.get("origin") == "subagent"
            reading.agent = "sub-agent" if reading.delegated else ""
        elif kind == "session/title":
            title = text_of(detail.get("title"))
        elif kind == "user/message":
            replaced = table_of(detail.get("surfaceOp")).get("op") == "replace"
            own = kind_of(message.get("source"), "kind") in ("user", "")
            (reading.summary if replaced else reading.person if own else reading.remind)(said)
        elif kind == "assistant/message":
            reading.model = text_of(table_of(message.get("source")).get("model")) or reading.model
            reading.say("assistant", said)
        elif kind == "tool/call":
            reading.call(detail.get("name"), arguments(detail.get("arguments")), id=detail.get("callId"))
        elif kind == "tool/result":
            for row in tables_of(message.get("content")):
                key = text_of(row.get("toolCallId")) or text_of(detail.get("callId"))
                failed = truth_of(row.get("isError", detail.get("isError", False)))
                reading.result(_texts(row.get("content")) or text_of(row.get("text")), id=key, failed=failed)
        elif not kind:
            reading.skipped += 1
    facts = {"id": about.get("id"), "folder": about.get("cwd"), "started": about.get("createdAt")}
    return reading.conversation(name, "deepseek", title=title, **facts)


def _texts(parts: Any) -> str:
    """The text among the parts of a message."""
    rows = (row for row in tables_of(parts) if kind_of(row) == "text")
    return "\n\n".join(text_of(row.get("text")) for row in rows) or text_of(parts)
