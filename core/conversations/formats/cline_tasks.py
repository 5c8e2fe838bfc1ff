"""The task folders of Cline and Roo Code: `api_conversation_history.json`.

It is the array of messages that the model was sent. Roo's second version is `{version: 2, messages}` with blocks
`tool-call` and, in messages of the role `tool`, `tool-result` (`src/core/task-persistence/rooMessage.ts`).
`ui_messages.json` beside it, what the user saw, tells the same task and is not read. Roo keeps condensed turns beside
their summary (`isSummary`, `condenseParent`; see `src/core/task-persistence/apiMessages.ts` of that project): the turns
are read, the summary is context.
"""

from __future__ import annotations

import json
import re
from functools import partial
from typing import Any

from core.conversations.conversation import Conversation
from core.conversations.events import Call
from core.conversations.formats.cline import ANSWERS, assistant_labels, calls_in, person_labels, result_of, results_in
from core.conversations.lines import Line, fold_turns
from core.conversations.records import json_document, keys_in, parse_object
from core.conversations.turns import Reading, clean, kind_of, text_of, truth_of

_FOLDER = re.compile(r"# Current (?:Working|Workspace) Directory \(([^()\n]{1,1000})\)")
_HISTORY = re.compile(
    r'\s*(?:\{\s*"version"\s*:\s*\d+\s*,\s*"messages"\s*:\s*)?\[\s*\{\s*(?:"ts"\s*:\s*\d+\s*,\s*)?'
    r'"role"\s*:\s*"(?:user|assistant)"\s*,\s*"content"\s*:'
)


def sniff(head: str) -> bool:
    """An array of messages with role and content."""
    return bool(keys_in(head) and _HISTORY.match(head))


def read(name: str, data: bytes) -> Conversation:
    """Read the messages of a task."""
    found = json_document(data, ("messages",))
    reading = Reading(skipped=int(found.torn))
    folder, tools = "", dict[str, str]()
    for value in reading.values(found.records() or found.records("messages"), "ts"):
        if value.get("role") in ("user", "assistant", "tool"):
            named = _read_sent(value, reading, tools)
            folder = folder or named
        elif value.get("type") != "reasoning":
            reading.skipped += 1
    return reading.conversation(name, "cline", folder=folder)


def _read_sent(value: dict[str, Any], reading: Reading, tools: dict[str, str]) -> str:
    """One message of the history; the working folder where it tells. `tools` learns the name behind each call's id."""
    content = value.get("content")
    # A result's head and the result itself can stand in two blocks: a user's texts are understood together.
    sent: list[str] = []
    user, summary = value["role"] == "user", value.get("isSummary") or value.get("isTruncationMarker")
    for block in map(_as_before, content) if isinstance(content, list) else [content]:
        kind = kind_of(block) if isinstance(block, dict) else "text"
        text = text_of([block])
        if kind == "tool_use" and isinstance(block, dict):
            tools[str(block.get("id"))] = str(block.get("name"))
            _read_call(block, reading)
        elif kind == "tool_result" and isinstance(block, dict):
            key = str(block.get("tool_use_id"))
            _read_result(block, key, tools.get(key, ""), reading)
        elif kind == "text" and summary:
            reading.say("system", text)
        elif kind == "text" and user:
            sent.append(text)
        elif kind == "text":
            _read_text(text, reading, user=False)
            for _, tool, given in calls_in(clean(text)):
                reading.called(tool, given, id=tool)
        elif kind not in ("thinking", "redacted_thinking", "reasoning", "image", "document"):
            reading.skipped += 1
    text = "\n".join(sent)
    _read_text(text, reading, user=True)
    for _, tool, output in results_in(clean(text).split("\n")):
        reading.settle(tool, output, change=partial(result_of, text=output, start=reading.place[1]))
    found = _FOLDER.search(text)
    return found[1] if found else ""


def _as_before(block: Any) -> Any:
    """A block of Roo's second version as the first one had it."""
    kind = kind_of(block)
    if kind == "tool-call":
        given = {"id": block.get("toolCallId"), "name": block.get("toolName"), "input": block.get("input")}
        return {"type": "tool_use", **given}
    if kind == "tool-result":
        text = _output(block.get("output"))
        failed = text.lstrip().startswith("[ERROR]") or None
        return {"type": "tool_result", "tool_use_id": block.get("toolCallId"), "content": text, "is_error": failed}
    return block


def _output(value: Any) -> str:
    """What came back: a text, `{type, value}`, or a list of such and of `{type, text}`."""
    if isinstance(value, list):
        return "\n".join(filter(None, map(_output, value)))
    if isinstance(value, dict):
        return _output(value["value"]) if "value" in value else text_of(value.get("text")) or json.dumps(value)
    return text_of(value)


def _read_text(text: str, reading: Reading, user: bool) -> None:
    """The words of a message; of a user's all of the user's in one turn."""
    rows = clean(text).split("\n")
    lines = [Line(row, 0, 0) for row in rows]
    labels = person_labels(rows) if user else assistant_labels(rows)
    own: list[str] = []
    for turn in fold_turns(lines, labels):
        if turn.role == "user":
            own.append(turn.text)
        else:
            reading.say(turn.role, turn.text)
    reading.say("user", "\n\n".join(own))


def _read_result(block: dict[str, Any], key: str, tool: str, reading: Reading) -> None:
    """What a tool gave back. The user speaks in it where the tool asked them, or where they refused it."""
    text = text_of(block.get("content"))
    denied = parse_object(text) if text.startswith('{"status":"denied"') else None
    refused = denied is not None or text.startswith("The user denied this operation")
    failed = True if refused else truth_of(block.get("is_error"))

    def change(event: Call) -> Call:
        return result_of(event, text, reading.place[1]) if tool in ANSWERS else event

    reading.settle(key, text, failed=failed, refused=refused, change=change)
    if denied is not None:
        reading.say("tool", text_of(denied.get("message")))
        reading.say("user", text_of(denied.get("feedback")))
    elif tool in ANSWERS or text.startswith("The user denied this operation"):
        _read_text(f"[{tool if tool in ANSWERS else ANSWERS[0]}] Result:\n{text}", reading, user=True)
    else:
        reading.say("tool", text)


def _read_call(block: dict[str, Any], reading: Reading) -> None:
    tool, given = block.get("name"), block.get("input")
    if isinstance(given, dict):
        for key in ("result", "response", "question"):
            if tool in ("attempt_completion", "plan_mode_respond", "ask_followup_question") and given.get(key):
                reading.say("assistant", text_of(given[key]))
                if tool != "attempt_completion":
                    reading.called(tool, given, id=block.get("id"))
                return
    reading.call(tool, given, id=block.get("id"))
