"""OpenCode's sessions as `opencode export` writes them.

An export is `{info, messages: [{info, parts}]}`. The storage before the database has one file a session, message and
part (`opencode_files`); the first versions kept the parts inside the message. The shapes follow
`packages/opencode/src/session/message-v2.ts` of the project. A session with a parent was opened by the assistant for a
sub-agent: its prompts are nobody's turn. Refusals are worded as in `packages/opencode/src/permission`.
"""

from __future__ import annotations

from typing import Any

from core.conversations.conversation import Conversation
from core.conversations.records import json_document, object_keys
from core.conversations.turns import Reading, answered, kind_of, table_of, text_in, text_of, whole_of

_SILENT = frozenset({
    "reasoning", "step-start", "step-finish", "snapshot", "patch", "agent", "retry", "compaction", "file",
    "source-url", "source-document",
})  # fmt: skip
_REFUSED = "The user rejected permission"
_FEEDBACK = "feedback: "
_ASKS = "question"


def sniff(head: str) -> bool:
    """An export begins with `info`."""
    keys = object_keys(head)
    return "info" in keys and bool({".projectID", ".directory", ".slug", ".parentID"} & keys)


def read(name: str, data: bytes) -> Conversation:
    """Read an export."""
    found = json_document(data, ("messages",))
    reading = Reading(skipped=int(found.torn))
    info = table_of(found.members.get("info"))
    reading.skipped += "messages" not in found.members
    reading.delegated = bool(info.get("parentID"))
    for value in reading.values(found.records("messages"), ""):
        read_message(value, reading)
    times = table_of(info.get("time"))
    facts = {"folder": info.get("directory"), "started": times.get("created"), "ended": times.get("updated")}
    return reading.conversation(name, "opencode", id=info.get("id"), title=info.get("title"), **facts)


def created(message: dict[str, Any]) -> float:
    """When a message was made, as it is written there (milliseconds); 0.0 when that is not told."""
    for times in (message.get("time"), table_of(message.get("metadata")).get("time")):
        made = table_of(times).get("created")
        if isinstance(made, int | float) and not isinstance(made, bool) and abs(made) < 1e18:
            return float(made)
    return 0.0


def read_message(value: dict[str, Any], reading: Reading) -> None:
    """One message with its parts."""
    info = value["info"] if isinstance(value.get("info"), dict) else value
    parts, role = value.get("parts"), info.get("role")
    if not isinstance(parts, list) or role not in ("user", "assistant"):
        reading.skipped += 1
        return
    reading.dated(created(info) or "")
    reading.model = _model(info) or reading.model
    if reading.delegated:
        reading.agent = text_of(info.get("agent") or info.get("mode")) or "sub-agent"
    said: list[str] = []
    for part in parts:
        kind = kind_of(part)
        if kind == "text" and role == "user" and not (part.get("synthetic") or part.get("ignored")):
            said.append(text_of(part.get("text")))
        elif kind == "text":
            # A summary repeats what was said before; other text of an assistant is its answer.
            text = text_of(part.get("text"))
            if role == "assistant" and info.get("summary") is True:
                reading.summary(text)
            elif role == "assistant" and not part.get("synthetic"):
                reading.say("assistant", text)
            else:
                reading.remind(text)
        elif kind == "subtask":
            reading.say("system", text_of(part.get("prompt")))
        elif kind in ("tool", "tool-invocation"):
            _read_tool(part, reading)
        elif kind not in _SILENT:
            reading.skipped += 1
    reading.person("\n".join(said))


def _model(info: dict[str, Any]) -> str:
    """The model that answered; the first versions tell it inside the metadata."""
    older = table_of(table_of(info.get("metadata")).get("assistant"))
    return text_of(info.get("modelID")) or text_of(older.get("modelID"))


def _read_tool(part: dict[str, Any], reading: Reading) -> None:
    state, call = part.get("state"), part.get("toolInvocation")
    if isinstance(call, dict):
        key = text_of(call.get("toolCallId")) or "call"
        reading.call(call.get("toolName"), call.get("args"), id=key)
        if call.get("state", "result") == "result":
            reading.result(text_of(call.get("result")), id=key)
    elif isinstance(state, dict):
        key = text_of(part.get("callID")) or "call"
        reading.call(part.get("tool"), state.get("input"), id=key)
        read_state(state, key, reading)
    else:
        reading.skipped += 1


def read_state(state: dict[str, Any], key: str, reading: Reading) -> None:
    """How a call ended: what came back, or why it did not run. The user speaks in it where they were asked."""
    status = state.get("status")
    about = table_of(state.get("metadata"))
    code = whole_of(about.get("exit"))
    error = text_in(state.get("error"), "message")
    text = text_of(state.get("output")) or text_of(state.get("content")) or error
    if status not in ("completed", "error"):
        reading.say("tool", text)
        return
    refused = status == "error" and error.startswith(_REFUSED)
    words, feedback = (error.partition(_FEEDBACK)[::2]) if refused else ("", "")
    answers = about.get("answers")
    if isinstance(answers, list) and status == "completed" and reading.waits(key, _ASKS):
        given = [text_of(row) for row in answers]
        answer = dict(enumerate(given))
        reading.settle(key, "", failed=False, change=lambda event: answered(event, lambda at, _: answer.get(at, "")))
        reading.say("user", "\n".join(row for row in given if row))
        return
    failed = status == "error" or (code is not None and code != 0)
    output = f"{text}\nexit code: {code}" if code is not None else words or text
    reading.result(output, id=key, failed=failed, status=code, refused=refused)
    reading.person(feedback, typed=True)
