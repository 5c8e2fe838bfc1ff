"""Goose's sessions of the time before its database: `~/.local/share/goose/sessions/*.jsonl`.

The first line is about the session (`working_dir`, `description`), every other a message `{id, role, created, content:
[{type, ...}], metadata}`; see `crates/goose/src/session/legacy.rs` and `crates/goose/src/conversation/message.rs` of
block/goose, since 2026 `crates/goose-provider-types/src/conversation/message.rs` of aaif-goose/goose. `created` is in
seconds, in some versions in milliseconds. What `metadata.userVisible` hides from the person was not said by them, nor a
text whose `annotations.audience` leaves them out. An export of a session is read as well: `{id, working_dir,
session_type, conversation: [...]}`.
"""

from __future__ import annotations

from typing import Any

from core.conversations.conversation import Conversation
from core.conversations.lines import INJECTED
from core.conversations.records import Record, json_document, json_lines, object_keys, parse_object
from core.conversations.turns import Reading, kind_of, list_of, table_of, text_of

_INJECTED = INJECTED | {"info-msg": "system"}
_DECLINED = "The user has declined to run this tool"
"""The tool's own words in the place of a result that the user did not allow."""
_SILENT = frozenset({
    "thinking", "redactedThinking", "image", "document", "toolConfirmationRequest", "actionRequired", "reasoning",
})  # fmt: skip
DELEGATED = ("sub_agent", "subagent", "scheduled", "hidden")
"""The types of sessions in which nobody typed what is asked."""


def sniff(head: str) -> bool:
    """The session's own line, or a message with role, creation time and content."""
    keys = object_keys(head)
    return (
        {"working_dir", "description"} <= keys
        or {"working_dir", "conversation"} <= keys
        or ({"role", "created", "content"} <= keys and not {"message", "object", "choices", "model"} & keys)
    )


def read(name: str, data: bytes) -> Conversation:
    """Read one session; the file's name is its id where the session's line does not tell one."""
    first = data[: data.find(b"\n") + 1] or data
    reading = Reading(_INJECTED)
    if parse_object(first.removeprefix(b"\xef\xbb\xbf")) is None:
        found = json_document(data, ("conversation", "messages"))
        reading.skipped += found.torn
        about, records = found.members, found.records("conversation") or found.records("messages")
    else:
        about, records = {}, list[Record]()
        for record in json_lines(data):
            if record.value is not None and "working_dir" in record.value and "role" not in record.value:
                about = about or record.value
                rows = list_of(record.value.get("conversation"))
                records += [record._replace(value=row if isinstance(row, dict) else None) for row in rows]
            else:
                records.append(record)
    reading.delegated = about.get("session_type") in DELEGATED
    reading.agent = "sub-agent" if reading.delegated else ""
    for value in reading.values(records, ""):
        read_message(value, reading)
    title = about.get("description") or about.get("name")
    model = table_of(about.get("model_config")).get("model_name")
    folder = about.get("working_dir")
    return reading.conversation(name, "goose", id=about.get("id"), title=title, folder=folder, model=model)


def read_message(value: dict[str, Any], reading: Reading) -> None:
    """One message."""
    if value.get("role") not in ("user", "assistant") or not isinstance(value.get("content"), list):
        reading.skipped += 1
        return
    about = table_of(value.get("metadata"))
    hidden = about.get("userVisible") is False
    reading.dated(value.get("created"))
    reading.model = text_of(table_of(about.get("inference")).get("resolvedModel")) or reading.model
    said: list[str] = []
    for block in value["content"]:
        kind = kind_of(block)
        if kind == "text" and value["role"] == "user":
            audience = list_of(table_of(block.get("annotations")).get("audience"))
            if audience and "user" not in audience:
                reading.remind(text_of(block.get("text")))
            else:
                said.append(text_of(block.get("text")))
        elif kind == "text":
            reading.say("system" if hidden else "assistant", text_of(block.get("text")))
        elif kind in ("toolRequest", "frontendToolRequest"):
            asked = table_of(block.get("toolCall"))
            call = table_of(asked.get("value", asked))
            name = str(call.get("name", "")).rpartition("__")[2]
            reading.call(name or "tool", call.get("arguments"), id=text_of(block.get("id")))
        elif kind == "toolResponse":
            result = block.get("toolResult")
            key = text_of(block.get("id"))
            back = _result(result)
            reading.result(back, id=key, failed=_failed(result), refused=back.startswith(_DECLINED))
        elif kind in ("contextLengthExceeded", "summarizationRequested", "conversationCompacted", "systemNotification"):
            reading.say("system", text_of(block.get("msg")))
        elif kind == "error":
            reading.say("system", text_of(block.get("message")))
        elif kind not in _SILENT:
            reading.skipped += 1
    if hidden:
        reading.say("system", "\n".join(said))
    else:
        reading.person("\n".join(said))


def _result(wrapped: Any) -> str:
    """What came back: `{"status": "success", "value": {...}}` (a call is wrapped so too), or the value itself."""
    if not isinstance(wrapped, dict):
        return text_of(wrapped)
    inside = wrapped.get("value", wrapped)
    rows = inside.get("content") if isinstance(inside, dict) else inside
    message = wrapped.get("error")
    return text_of(rows) or (f"error: {message}" if isinstance(message, str) else "")


def _failed(wrapped: Any) -> bool | None:
    """What the record says about a call; None where it says nothing."""
    if not isinstance(wrapped, dict) or "status" not in wrapped:
        return None
    return wrapped["status"] == "error" or bool(table_of(wrapped.get("value")).get("isError"))
