"""ChatGPT's export, `conversations.json`: an array of conversations, each a tree of messages.

The tree is `mapping: {id: {message, parent, children}}`. What the user sees is the way from `current_node` up to the
root; edited prompts and answers made again stand on side branches, which are left out. Times are seconds and may be
null. The export has no public description; this follows public files.
"""

from __future__ import annotations

from typing import Any

from core.conversations.conversation import Conversation
from core.conversations.records import Record, json_document, keys_in
from core.conversations.turns import Reading, kind_of, list_of, read_export, table_of, text_of

_SILENT = frozenset({"thoughts", "reasoning_recap", "model_editable_context", "app_pairing_content"})
_CALL = "call"


def sniff(head: str) -> bool:
    """A conversation's title and the mapping of its messages."""
    keys = keys_in(head)
    return "mapping" in keys and bool({"title", "create_time", "current_node", "moderation_results"} & keys)


def read_all(name: str, data: bytes) -> tuple[Conversation, ...]:
    """Each conversation of an export on its own."""
    return read_export(name, "chatgpt", json_document(data, ("mapping",)), len(data), _read_tree)


def canonical(value: dict[str, Any], id: str) -> dict[str, Any] | None:
    """A conversation of an export with what `read` reads alone: the way from the root to the current message. Empty
    when nothing was said, None when there is no mapping. `value` is the element as plain JSON."""
    mapping = value.get("mapping")
    if not isinstance(mapping, dict):
        return None
    records = [Record(node if isinstance(node, dict) else None, 0, 0, key) for key, node in mapping.items()]
    kept: dict[str, Any] = {}
    before = None
    for node in _way_up(value.get("current_node"), records):
        message = (node.value or {}).get("message")
        if message is not None:
            kept[node.key] = {"parent": before, "message": _heard(message)}
            before = node.key
    if not kept and any(row.value is None for row in records):
        return None
    head = {"conversation_id": id, "create_time": value.get("create_time"), "current_node": before}
    return {**head, "mapping": kept} if kept else {}


def _heard(message: Any) -> Any:
    """The members of a message that `_read_node` looks at."""
    if not isinstance(message, dict):
        return message
    kept = {key: message[key] for key in ("create_time", "content", "recipient") if key in message}
    author, about = message.get("author"), message.get("metadata")
    kept["author"] = {"role": author.get("role")} if isinstance(author, dict) else author
    if isinstance(about, dict) and about.get("is_visually_hidden_from_conversation"):
        kept["metadata"] = {"is_visually_hidden_from_conversation": True}
    return kept


def _read_tree(name: str, record: Record) -> Conversation:
    value = record.value or {}
    mapping = value.get("mapping")
    reading = Reading(skipped=int(not isinstance(mapping, list)))
    for node in _way_up(value.get("current_node"), list_of(mapping)):
        _read_node(node, reading)
    times = {"started": value.get("create_time"), "ended": value.get("update_time")}
    id = value.get("conversation_id") or value.get("id")
    return reading.conversation(name, "chatgpt", id=id, title=value.get("title"), **times)


def _way_up(current: Any, mapping: list[Record]) -> list[Record]:
    """The nodes from the root to the current one; where that is not told, to the leaf that was written last."""
    nodes = {node.key: node for node in mapping if node.value is not None}
    if not isinstance(current, str) or current not in nodes:
        leaves = [key for key, node in nodes.items() if not (node.value or {}).get("children")]
        current = max(leaves, key=lambda key: _made(nodes[key]), default=next(reversed(nodes), ""))
    way: list[Record] = []
    while isinstance(current, str) and current in nodes:
        node = nodes.pop(current)  # taken out, so that a circle ends
        way.append(node)
        current = (node.value or {}).get("parent")
    way.reverse()
    return way


def _made(node: Record) -> float:
    made = table_of((node.value or {}).get("message")).get("create_time")
    return float(made) if isinstance(made, int | float) and abs(made) < 1e18 else 0.0


def _read_node(node: Record, reading: Reading) -> None:
    message = (node.value or {}).get("message")
    if message is None:
        return  # the root
    author, content = table_of(message).get("author"), table_of(message).get("content")
    if not isinstance(author, dict) or not isinstance(content, dict):
        reading.skipped += 1
        return
    reading.at(node, message.get("create_time"))
    role, kind = kind_of(author, "role"), kind_of(content, "content_type")
    about = table_of(message.get("metadata"))
    reading.model = (text_of(about.get("model_slug")) if role == "assistant" else "") or reading.model
    hidden = about.get("is_visually_hidden_from_conversation")
    said = text_of(content.get("parts")) or text_of(content.get("text")) or text_of(content.get("result"))
    if kind in _SILENT:
        return
    if kind == "user_editable_context":
        profile = [text_of(content.get(key)) for key in ("user_profile", "user_instructions")]
        reading.say("system", "\n".join(row for row in profile if row))
    elif role == "user" and not hidden:
        reading.person(said)
    elif role == "assistant" and not hidden:
        # What is not addressed to all goes to a tool: a search, a program, a document that is being written.
        if message.get("recipient") not in (None, "all"):
            reading.call(message.get("recipient"), said, id=_CALL)
        else:
            reading.say("assistant", said)
    elif role == "tool":
        # A tool answers in the message behind the one that was addressed to it.
        status = table_of(about.get("aggregate_result")).get("status")
        reading.result(said, id=_CALL, failed=status != "success" if isinstance(status, str) else None)
    elif role in ("user", "assistant", "system"):
        reading.say("system", said)
    else:
        reading.skipped += 1
