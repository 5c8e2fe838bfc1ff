"""Claude.ai's export, `conversations.json`: an array of `{uuid, name, created_at, chat_messages}`.

A message is `{sender: human or assistant, text, content: [blocks], created_at, attachments}`. Newer exports have the
words in `content` and repeat them in `text`. What a user attached (`extracted_content`) is a file, not their words.
The export has no public description; this follows readers of others.
"""

from __future__ import annotations

from typing import Any

from core.conversations.conversation import Conversation
from core.conversations.records import Record, json_document, keys_in
from core.conversations.turns import Reading, list_of, read_blocks, read_export, tables_of, text_of

_BLOCK = ("type", "text", "name", "input", "content")


def sniff(head: str) -> bool:
    """A conversation with its messages, or the beginning of one without any."""
    keys = keys_in(head)
    return "chat_messages" in keys or {"uuid", "name", "created_at", "updated_at", "account"} <= keys


def read_all(name: str, data: bytes) -> tuple[Conversation, ...]:
    """Each conversation of an export on its own."""
    return read_export(name, "claude_ai", json_document(data, ("chat_messages",)), len(data), _read_chat)


def canonical(value: dict[str, Any], id: str) -> dict[str, Any] | None:
    """A conversation of an export with what `read` reads alone. Empty when it has no message, None when there is no
    list of them. `value` is the element as plain JSON."""
    messages = value.get("chat_messages")
    if not isinstance(messages, list):
        return None
    head = {"uuid": id, "created_at": value.get("created_at")}
    return {**head, "chat_messages": [_heard(row) for row in messages]} if messages else {}


def _heard(message: Any) -> Any:
    """The members of a message that `_read_message` looks at; the words once, though the export may tell them twice."""
    if not isinstance(message, dict):
        return message
    kept = {key: message.get(key) for key in ("sender", "created_at")}
    blocks = tables_of(message.get("content"))
    kept["content"] = [{key: row[key] for key in _BLOCK if key in row} for row in blocks]
    if not any(row.get("type") == "text" for row in blocks):
        kept["text"] = message.get("text")
    attached = tables_of(message.get("attachments"))
    if attached:
        kept["attachments"] = [{key: row.get(key) for key in ("file_name", "extracted_content")} for row in attached]
    return kept


def _read_chat(name: str, record: Record) -> Conversation:
    value = record.value or {}
    messages = value.get("chat_messages")
    reading = Reading(skipped=int(not isinstance(messages, list)))
    for message in reading.values(list_of(messages), "created_at"):
        _read_message(message, reading)
    facts = {"started": value.get("created_at"), "ended": value.get("updated_at"), "model": value.get("model")}
    return reading.conversation(name, "claude_ai", id=value.get("uuid"), title=value.get("name"), **facts)


def _read_message(value: dict[str, Any], reading: Reading) -> None:
    sender = value.get("sender")
    if sender not in ("human", "assistant"):
        reading.skipped += 1
        return
    for row in tables_of(value.get("attachments")):
        held = text_of(row.get("extracted_content"))
        if held:
            reading.say("tool", f"{text_of(row.get('file_name')) or 'attachment'}:\n{held}")
    blocks = tables_of(value.get("content"))
    if not any(row.get("type") == "text" for row in blocks):
        blocks = [*blocks, {"type": "text", "text": value.get("text")}]
    read_blocks("user" if sender == "human" else "assistant", blocks, reading)
