"""Sessions of the DeepSeek terminal agent, `~/.deepseek/sessions/<id>.json`: one document `{metadata, messages}`.

`metadata` has id, title, model, workspace, created_at; a message is `{role, content}` with blocks as Anthropic's API
has them, and no time of its own. After `docs/ARCHITECTURE.md` of Hmbown/DeepSeek-TUI and public readers of others.
"""

from __future__ import annotations

from core.conversations.conversation import Conversation
from core.conversations.messages import read_blocks
from core.conversations.records import json_document, object_keys
from core.conversations.turns import Reading, table_of


def sniff(head: str) -> bool:
    """A document with messages and a `metadata` that tells the workspace."""
    keys = object_keys(head)
    return "metadata" in keys and ".workspace" in keys and bool({"messages", "schema_version"} & keys)


def read(name: str, data: bytes) -> Conversation:
    """Read one session."""
    found = json_document(data, ("messages",))
    about = table_of(found.members.get("metadata"))
    reading = Reading(skipped=int(found.torn))
    for record in found.records("messages"):
        value = record.value or {}
        role = value.get("role")
        reading.at(record)
        if role in ("user", "assistant"):
            read_blocks(str(role), value.get("content"), reading)
        elif role != "system":
            reading.skipped += 1
    return reading.conversation(
        name,
        "deepseek",
        id=about.get("id"),
        title=about.get("title"),
        folder=about.get("workspace"),
        started=about.get("created_at"),
        ended=about.get("updated_at"),
        model=about.get("model"),
    )
