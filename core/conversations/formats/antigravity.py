"""Antigravity's transcripts: `<conversation>/.system_generated/logs/transcript_full.jsonl`, a step a line.

A step is `{step_index, source, type, status, created_at, content, tool_calls}`. `USER_INPUT` holds the user's words
in `<USER_REQUEST>`, `PLANNER_RESPONSE` the answer and its calls; every step of the model behind it that is of another
type is what the next of these calls gave back. Arguments may be JSON inside a string. A truncated `transcript.jsonl`
lies beside it in the same form. The maker does not document the format; this follows the notes and fixtures
of entireio/cli.
"""

from __future__ import annotations

import json
import re
from typing import Any

from core.conversations.conversation import Conversation
from core.conversations.records import json_lines, object_keys
from core.conversations.turns import Reading, kind_of, list_of, text_of

_REQUEST = re.compile(r"<USER_REQUEST>\n?(.*?)(?:\n?</USER_REQUEST>|\Z)", re.DOTALL)
_MODEL = re.compile(r"setting `Model Selection` from .{1,200}? to (.{1,100}?)\. No need")
_STAMPS = re.compile(r"\A(?:Created At: \S+\n)?(?:Completed At: \S+\n)?")


def sniff(head: str) -> bool:
    """A step with its number and who made it."""
    return {"step_index", "source", "type", "status"} <= object_keys(head)


def read(name: str, data: bytes) -> Conversation:
    """Read one transcript; the id is the name of its folder, which the file does not tell."""
    reading = Reading()
    waiting: list[str] = []
    for value in reading.values(json_lines(data), "created_at"):
        if not isinstance(value.get("type"), str):
            reading.skipped += 1
            continue
        kind, said = value["type"], text_of(value.get("content"))
        if kind == "USER_INPUT":
            found = _MODEL.search(said)
            reading.model = found[1].strip() if found else reading.model
            _read_user(said, reading)
        elif kind == "PLANNER_RESPONSE":
            waiting = _read_answer(value, reading)
        elif value.get("source") == "MODEL":
            _read_result(value, waiting.pop(0) if waiting else "", reading)
        else:
            reading.remind(said)
    return reading.conversation(name, "antigravity")


def _read_user(said: str, reading: Reading) -> None:
    """Where the request is marked, only what stands in the marks is the user's."""
    if "<USER_REQUEST>" not in said:
        reading.person(said)
        return
    reading.remind(_REQUEST.sub("", said).strip())
    reading.say("user", "\n\n".join(found[1].strip() for found in _REQUEST.finditer(said)))


def _read_answer(value: dict[str, Any], reading: Reading) -> list[str]:
    """The words of an answer and its calls; by what those are known, in their order."""
    reading.say("assistant", text_of(value.get("content")))
    waiting: list[str] = []
    calls = value.get("tool_calls")
    for number, call in enumerate(list_of(calls)):
        if not isinstance(call, dict):
            reading.skipped += 1
            continue
        key = f"{value.get('step_index')}/{number}"
        reading.call(kind_of(call, "name"), _given(call.get("args")), id=key)
        waiting.append(key)
    return waiting


def _given(args: Any) -> Any:
    """The arguments, each out of the JSON that it may stand in; what only the screen shows is left out."""
    if not isinstance(args, dict):
        return args
    return {key: _bare(value) for key, value in args.items() if key not in ("toolAction", "toolSummary")}


def _bare(value: Any) -> Any:
    if isinstance(value, str) and value[:1] == value[-1:] == '"' and len(value) > 1:
        try:
            return json.loads(value, strict=False)
        except (ValueError, RecursionError):
            pass
    return value


def _read_result(value: dict[str, Any], key: str, reading: Reading) -> None:
    """What a step gave back. One that still runs has no outcome yet."""
    text, status = _STAMPS.sub("", text_of(value.get("content"))), value.get("status")
    failed = {"DONE": False, "ERROR": True}.get(status) if isinstance(status, str) else None
    if status != "RUNNING":
        reading.settle(key, text, failed=failed)
    reading.say("tool", text)
