"""Hermes Agent's database `state.db`: `sessions(id, title, cwd, model, source, started_at …)` and `messages(id,
session_id, role, content, tool_calls, tool_call_id, tool_name, timestamp, active, compacted)`.

After `website/docs/developer-guide/session-storage.md` of NousResearch/hermes-agent. `tool_calls` is JSON as the Chat
Completions API has it, times are seconds. Rows that the user took back are not active; those that a compression put
aside are not active either, but marked as compacted, and were said. Sessions of the source `subagent` are delegated.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core.conversations.collections.store_file import StoredSession, StoreFile, number, parsed, seconds, text
from core.conversations.turns import Reading, iso_time, read_calls, table_of, text_of, whole_of

NAME = "hermes"
_ENCODED = "\0json:"


def fits(store: StoreFile) -> bool:
    return store.has("sessions", "id", "source", "started_at") and store.has(
        "messages", "session_id", "role", "content", "tool_calls"
    )


def sessions(store: StoreFile) -> Iterator[StoredSession]:
    size = "SUM(LENGTH(COALESCE(content, '')) + LENGTH(COALESCE(tool_calls, '')))"
    query = f"SELECT session_id, {size}, MAX({store.column('messages', 'timestamp')}) FROM messages GROUP BY session_id"
    found = {text(id): (number(length), seconds(at)) for id, length, at in store.rows(query)}
    title, folder = store.column("sessions", "title"), store.column("sessions", "cwd")
    for id, named, where, source in store.rows(f"SELECT id, {title}, {folder}, source FROM sessions ORDER BY id"):
        length, at = found.get(text(id), (0, 0.0))
        if length:
            yield StoredSession(text(id), text(named), text(where), at, length, text(source) == "subagent")


def records(store: StoreFile, id: str) -> Iterator[dict[str, Any]]:
    """The session's model and branch, then its messages in order."""
    model, branch = store.column("sessions", "model"), store.column("sessions", "git_branch")
    for answering_model, checked in store.rows(f"SELECT {model}, {branch} FROM sessions WHERE id = ?", (id,)):
        about = {"model": text(answering_model), "branch": text(checked)}
        if any(about.values()):
            yield {"about": {key: value for key, value in about.items() if value}}
    key, name = store.column("messages", "tool_call_id"), store.column("messages", "tool_name")
    at = store.column("messages", "timestamp")
    active, compacted = store.column("messages", "active"), store.column("messages", "compacted")
    # What was kept through a compression stands there twice: put aside, and active with the same time.
    query = (
        f"SELECT role, content, tool_calls, {key}, {name}, {at} FROM messages WHERE session_id = ? "
        f"AND (COALESCE({active}, 1) = 1 OR COALESCE({compacted}, 0) = 1) ORDER BY id"
    )
    seen: set[tuple[Any, ...]] = set()
    for role, content, calls, call, tool, made in store.rows(query, (id,)):
        mark = (text(role), text(content), text(calls), text(call), made)
        if mark in seen:
            continue
        seen.add(mark)
        row = {"role": text(role), "content": text(content), "time": iso_time(made)}
        row |= {"calls": parsed(calls)} if calls else {}
        yield row | ({"call": text(call)} if call else {}) | ({"tool": text(tool)} if tool else {})


def read_record(value: dict[str, Any], reading: Reading) -> None:
    about = value.get("about")
    if isinstance(about, dict):
        reading.model = text_of(about.get("model"))
        reading.branch = text_of(about.get("branch"))
        return
    role, content = value.get("role"), text_of(value.get("content"))
    if content.startswith(_ENCODED):
        content = text_of(parsed(content[len(_ENCODED) :]))
    if role == "user":
        reading.person(content)
    elif role == "system":
        reading.say("system", content)
    elif role == "assistant":
        reading.say("assistant", content)
        read_calls(value.get("calls"), reading)
    elif role == "tool":
        result = table_of(parsed(content) if content.startswith("{") else None)
        code = whole_of(result.get("exit_code"))
        failed = True if result.get("error") else None
        shown = text_of(result.get("output")) or content
        reading.result(shown, id=text_of(value.get("call")), failed=failed, status=code)
    elif role != "session_meta":
        reading.skipped += 1
