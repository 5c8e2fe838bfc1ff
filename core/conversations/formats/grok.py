"""Grok Build's sessions, `~/.grok/sessions/<folder>/<id>/chat_history.jsonl`: what the model is sent, a message a line.

A line is `{type, content}` (older: `role` in place of `type`) with system, user, assistant, reasoning, tool_result and
backend_tool_call; an answer has `tool_calls` and `model_id`, a result `tool_call_id`. A user's line with a
`synthetic_reason` other than `interjection` was put in; where there is a `<user_query>`, only what stands in it is the
person's. Folder, branch and times stand in `summary.json` beside it. The maker does not document the format; this
follows public readers of others (agentsview).
"""

from __future__ import annotations

import re
from typing import Any

from core.conversations.conversation import Conversation
from core.conversations.lines import INJECTED
from core.conversations.records import json_lines, keys_in, object_keys
from core.conversations.turns import Reading, kind_of, read_calls, text_of

_INJECTED = INJECTED | dict.fromkeys(("user-info", "git-status", "agent-skills", "mcp-servers"), "system")
_KINDS = ("system", "user", "assistant", "reasoning", "backend_tool_call", "tool_result")
_QUERY = re.compile(r"<user_query>\n?(.*?)(?:</user_query>|\Z)", re.DOTALL)
_OWN_MEMBERS = frozenset({"model_id", "synthetic_reason", "raw_output", "model_fingerprint", "prompt_index"})


def sniff(head: str) -> bool:
    """Lines of one of the kinds with their content, and something that only this tool writes."""
    keys = object_keys(head)
    if "content" not in keys or not {"type", "role"} & keys:
        return False
    first = head.lstrip().split("\n", 1)[0]
    others = {"message", "uuid", "id", "created", "parts"} & keys_in(first)
    if others or not any(f'"{kind}"' in first for kind in _KINDS):
        return False
    return bool(_OWN_MEMBERS & keys) or '"backend_tool_call"' in head or "<user_query>" in head or "<user_info>" in head


def read(name: str, data: bytes) -> Conversation:
    """Read one session; the name of its folder is its id, which the file does not tell."""
    reading = Reading(_INJECTED)
    for value in reading.values(json_lines(data)):
        kind = kind_of(value) or {"tool": "tool_result"}.get(kind_of(value, "role"), kind_of(value, "role"))
        said = text_of(value.get("content"))
        if kind == "user":
            _read_user(value, said, reading)
        elif kind == "assistant":
            reading.model = text_of(value.get("model_id")) or reading.model
            reading.say("assistant", said)
            read_calls(value.get("tool_calls"), reading)
        elif kind == "tool_result":
            reading.result(said, id=text_of(value.get("tool_call_id")))
        elif kind == "backend_tool_call":
            inside = value.get("kind")
            asked: dict[str, Any] = inside if isinstance(inside, dict) else value
            given = asked.get("action", asked.get("input"))
            reading.call(asked.get("tool_type"), given, id=text_of(asked.get("id")))
        elif kind == "system":
            reading.say("system", said)
        elif kind != "reasoning":
            reading.skipped += 1
    return reading.conversation(name, "grok")


def _read_user(value: dict[str, Any], said: str, reading: Reading) -> None:
    if value.get("synthetic_reason") not in (None, "", "interjection"):
        reading.remind(said)
    elif "<user_query>" in said:
        own = [found[1].strip() for found in _QUERY.finditer(said)]
        reading.remind(_QUERY.sub("", said).strip())
        reading.say("user", "\n\n".join(own))
    else:
        reading.person(said)
