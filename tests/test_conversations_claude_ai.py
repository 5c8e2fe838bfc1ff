"""Claude.ai's export: without these, an attached file passes for the person's words."""

from __future__ import annotations

import json
from typing import Any

from core.conversations.read import read_all, read_conversation
from tests.made_records import check_records, document, roles, said


def message(sender: str, text: str, *blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "uuid": "m",
        "sender": sender,
        "text": text,
        "content": list(blocks),
        "created_at": "2025-05-21T01:02:03Z",
    } | more


def chat(name: str, made: str, *messages: Any) -> dict[str, Any]:
    return {"uuid": f"id-{name}", "name": name, "created_at": made, "updated_at": made, "chat_messages": list(messages)}


TALK = chat(
    "The lease",
    "2025-05-21T01:00:00Z",
    message("human", "summarise é", attachments=[{"file_name": "lease.txt", "extracted_content": "We must pay."}]),
    message(
        "assistant",
        "It says…",
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "It says that you pay."},
        {"type": "tool_use", "name": "artifacts", "input": {"title": "x"}},
        {"type": "tool_result", "content": [{"type": "text", "text": "OK"}]},
        {"type": "from-the-future"},
    ),
    message("human", "thanks", {"type": "text", "text": "thanks"}),
)


def test_a_chat_with_its_attachment_and_tools() -> None:
    data = document([TALK])
    conversation = check_records(data, "claude_ai", skipped=1)
    assert roles(conversation) == ["tool", "user", "assistant", "tool", "tool", "user"]
    assert said(conversation, "user") == ["summarise é", "thanks"]
    assert said(conversation, "assistant") == ["It says that you pay."]
    assert conversation.turns[0].text == "lease.txt:\nWe must pay."
    assert (conversation.id, conversation.title) == ("id-The lease", "The lease")
    last = conversation.turns[-1]
    assert json.loads(data[last.start : last.end])["text"] == "thanks"


def test_an_export_gives_its_chats_one_by_one_and_as_a_whole() -> None:
    data = document([TALK, chat("Older", "2024-01-01T00:00:00Z", message("human", "first"), 7)], 1)
    assert [row.title for row in read_all("conversations.json", data)] == ["The lease", "Older"]
    whole = read_conversation("conversations.json", data)
    assert said(whole, "user") == ["first", "summarise é", "thanks"]
    assert whole.skipped == 2
