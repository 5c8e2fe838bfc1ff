"""The sessions of Cline 4, `~/.cline/data/sessions/<id>/<id>.messages.json`: `{version, updated_at, agent, sessionId,
messages}`.

A message is `{role, content, ts, modelInfo, metadata}`; its blocks are those of Anthropic's API, and files. What the
user typed stands in `<user_input mode="act">` at the beginning of a message, the files that they attached behind it.
What the tool itself put in bears a `displayRole`, a summary its kind. Sub-agents and teammates have files of their own
beside, which `agent` tells; the folder stands in `<id>.json`. After `sdk/packages/core/src/services/session-data.ts`
and `sdk/packages/shared/src/llms/messages.ts` of cline/cline.
"""

from __future__ import annotations

import re
from typing import Any

from core.conversations.conversation import Conversation
from core.conversations.records import json_document, object_keys
from core.conversations.turns import Reading, answered, kind_of, table_of, text_in, text_of, truth_of

_SILENT = frozenset({"thinking", "redacted_thinking", "image", "media"})
_NOTICE = r"\s*(?:<mode_notice>[^<]{0,500}</mode_notice>\s*)?"
_TYPED = re.compile(rf"{_NOTICE}<(?P<tag>user_input|user_command)\b[^>\n]{{0,200}}>{_NOTICE}")
"""Only at the beginning of a block, and once: an attached file can hold the same tags."""
_ASKS = "ask_question"


def sniff(head: str) -> bool:
    """The members that stand before the messages."""
    return {"updated_at", "agent", "sessionId", "messages"} <= object_keys(head)


def read(name: str, data: bytes) -> Conversation:
    """Read one session; the file's name is the id of a sub-agent's."""
    found = json_document(data, ("messages",))
    about, reading = found.members, Reading(skipped=int(found.torn))
    reading.delegated = about.get("agent") != "lead"
    reading.agent = (text_of(about.get("agent")) or "sub-agent") if reading.delegated else ""
    for value in reading.values(found.records("messages"), "ts"):
        metadata, content = table_of(value.get("metadata")), value.get("content")
        reading.model = text_in(value.get("modelInfo"), "id") or reading.model
        if metadata.get("kind") == "compaction_summary":
            reading.summary(text_of(content))
        elif metadata.get("displayRole") or metadata.get("displayOnly") or value.get("role") == "error":
            reading.remind(text_of(content))
        elif value.get("role") in ("user", "assistant"):
            _read_message(value["role"] == "user", content if isinstance(content, list) else [content], reading)
        else:
            reading.skipped += 1
    id = "" if reading.delegated else about.get("sessionId")
    return reading.conversation(name, "cline", id=id, ended=about.get("updated_at"))


def _read_message(person: bool, blocks: list[Any], reading: Reading) -> None:
    said: list[str] = []
    for block in blocks:
        kind = kind_of(block) if isinstance(block, dict) else "text"
        if kind == "text" and person:
            said.append(text_of([block]))
        elif kind == "text":
            reading.say("assistant", text_of([block]))
        elif kind == "file":
            reading.say("tool", text_of(block.get("content")))
        elif kind == "tool_use":
            key, tool, given = text_of(block.get("id")), text_of(block.get("name")), table_of(block.get("input"))
            if tool == _ASKS:
                reading.say("assistant", text_of(given.get("question")))
                reading.called(tool, given, id=key)
            else:
                reading.call(tool, given, id=key)
        elif kind == "tool_result":
            _read_result(block, reading)
        elif kind not in _SILENT:
            reading.skipped += 1
    typed = next((at for at, text in enumerate(said) if _TYPED.match(text)), None)
    if typed is None:
        reading.person("\n".join(said))
        return
    for text in said[:typed]:
        reading.say("tool", text)
    words, behind = _parted(said[typed])
    reading.person(words)
    for text in (behind, *said[typed + 1 :]):
        reading.say("tool", text)


def _parted(text: str) -> tuple[str, str]:
    """What the user typed, and what stands behind it. They can type the closing tag as well: the one that counts ends
    the block, or a tag follows it, as that of a file does; else it is the first."""
    opened = _TYPED.match(text)
    assert opened is not None
    start, closing = opened.end(), f"</{opened['tag']}>"
    closed = re.compile(rf"{closing}(?=\s*(?:<|\Z))").search(text, start)
    end = closed.start() if closed else text.find(closing, start)
    return (text[start:end], text[end + len(closing) :]) if end >= 0 else (text[start:], "")


def _read_result(block: dict[str, Any], reading: Reading) -> None:
    """What a tool gave back, the text of files among it; of a question, the user's answer."""
    key, content = text_of(block.get("tool_use_id")), block.get("content")
    rows = content if isinstance(content, list) else [content]
    text = "\n".join(filter(None, (text_in(row, "content") or text_in(row, "text") for row in rows)))
    if reading.waits(key, _ASKS) and not block.get("is_error"):
        reading.settle(key, "", failed=False, change=lambda event: answered(event, lambda *_: text))
        reading.say("user", text)
    else:
        reading.result(text, id=key, failed=truth_of(block.get("is_error")))
