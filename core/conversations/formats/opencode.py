"""OpenCode's sessions as `opencode export` writes them, and a lone message of the older storage.

An export is `{info, messages: [{info, parts}]}`. The storage before the database has one file a session, message and
part (`opencode_files`); the first versions kept the parts inside the message. The shapes follow
`packages/opencode/src/session/message-v2.ts` of the project. A session with a parent was opened by the assistant for a
sub-agent: its prompts are nobody's turn. Refusals are worded as in `packages/opencode/src/permission`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from core.conversations.conversation import Conversation
from core.conversations.events import Call, Question
from core.conversations.records import Record, json_document, keys_in
from core.conversations.turns import Reading, iso_time, kind_of, text_of

_SILENT = frozenset({
    "reasoning", "step-start", "step-finish", "snapshot", "patch", "agent", "retry", "compaction", "file",
    "source-url", "source-document",
})  # fmt: skip
_REFUSED = "The user rejected permission"
_FEEDBACK = "feedback: "


def sniff(head: str) -> bool:
    """An export begins with `info`; a lone message of the storage names its session and its role."""
    keys = keys_in(head)
    if not keys or not head.lstrip().startswith("{"):
        return False
    return (
        ("info" in keys and bool({".projectID", ".directory", ".slug", ".parentID"} & keys))
        or ({"id", "sessionID"} <= keys and bool({"role", "messageID"} & keys))
        or ({"id", "role", "parts", "metadata"} <= keys)
    )


def read(name: str, data: bytes) -> Conversation:
    """Read an export, or one message of the older storage."""
    found = json_document(data, ("messages",))
    reading = Reading(skipped=int(found.torn))
    info = found.members.get("info")
    info = info if isinstance(info, dict) else {}
    if "messages" not in found.members:
        read_message(Record(found.members, 0, len(data)), reading, delegated=False)
        info = {"id": _session_of(found.members)}
    for record in found.records("messages"):
        read_message(record, reading, bool(info.get("parentID")))
    return _finish(name, reading, info)


def _finish(name: str, reading: Reading, info: dict[str, Any]) -> Conversation:
    times = info.get("time")
    times = times if isinstance(times, dict) else {}
    return reading.conversation(
        name,
        "opencode",
        id=info.get("id"),
        title=info.get("title"),
        folder=info.get("directory"),
        started=times.get("created"),
        ended=times.get("updated"),
    )


def _session_of(message: dict[str, Any]) -> Any:
    about = message.get("metadata")
    return message.get("sessionID") or (about.get("sessionID") if isinstance(about, dict) else "")


def created(message: dict[str, Any]) -> float:
    """When a message was made, as it is written there (milliseconds); 0.0 when that is not told."""
    about = message.get("metadata")
    for place in (message.get("time"), about.get("time") if isinstance(about, dict) else None):
        made = place.get("created") if isinstance(place, dict) else None
        if isinstance(made, int | float) and not isinstance(made, bool) and abs(made) < 1e18:
            return float(made)
    return 0.0


def read_message(record: Record, reading: Reading, delegated: bool) -> None:
    """One message with its parts. In a delegated session the prompts were written by an assistant."""
    value = record.value or {}
    info = value["info"] if isinstance(value.get("info"), dict) else value
    parts, role = value.get("parts"), info.get("role")
    if not isinstance(parts, list) or role not in ("user", "assistant"):
        reading.skipped += 1
        return
    place = (iso_time(created(info) or ""), record.start, record.end)
    reading.model = _model(info) or reading.model
    reading.agent = (text_of(info.get("agent") or info.get("mode")) or "sub-agent") if delegated else ""
    said: list[str] = []
    for part in parts:
        kind = kind_of(part)
        if kind == "text" and role == "user" and not (part.get("synthetic") or part.get("ignored")):
            said.append(text_of(part.get("text")))
        elif kind == "text":
            # A summary repeats what was said before; other text of an assistant is its answer.
            text = text_of(part.get("text"))
            if role == "assistant" and info.get("summary") is True:
                reading.summary(text, *place)
            elif role == "assistant" and not part.get("synthetic"):
                reading.say("assistant", text, *place)
            else:
                reading.remind(text, *place)
        elif kind == "subtask":
            reading.say("system", text_of(part.get("prompt")), *place)
        elif kind in ("tool", "tool-invocation"):
            _read_tool(part, place, reading)
        elif kind not in _SILENT:
            reading.skipped += 1
    if delegated:
        reading.say("system", "\n".join(said), *place)
    else:
        reading.person("\n".join(said), *place)


def _model(info: dict[str, Any]) -> str:
    """The model that answered; the first versions tell it inside the metadata."""
    about = info.get("metadata")
    older = about.get("assistant") if isinstance(about, dict) else None
    return text_of(info.get("modelID")) or (text_of(older.get("modelID")) if isinstance(older, dict) else "")


def _read_tool(part: dict[str, Any], place: tuple[str, int, int], reading: Reading) -> None:
    state, call = part.get("state"), part.get("toolInvocation")
    if isinstance(call, dict):
        key = text_of(call.get("toolCallId")) or "call"
        reading.call(call.get("toolName"), call.get("args"), *place, id=key)
        if call.get("state", "result") == "result":
            reading.result(text_of(call.get("result")), *place, id=key)
    elif isinstance(state, dict):
        key = text_of(part.get("callID")) or "call"
        reading.call(part.get("tool"), state.get("input"), *place, id=key)
        read_state(state, key, place, reading)
    else:
        reading.skipped += 1


def read_state(state: dict[str, Any], key: str, place: tuple[str, int, int], reading: Reading) -> None:
    """How a call ended: what came back, or why it did not run. The person speaks in it where they were asked."""
    status = state.get("status")
    about = state.get("metadata")
    about = about if isinstance(about, dict) else {}
    code = about.get("exit")
    code = code if isinstance(code, int) and not isinstance(code, bool) else None
    error = state.get("error")
    error = text_of(error.get("message")) if isinstance(error, dict) else text_of(error)
    text = text_of(state.get("output")) or text_of(state.get("content")) or error
    if status not in ("completed", "error"):
        reading.say("tool", text, *place)
        return
    refused = status == "error" and error.startswith(_REFUSED)
    words, feedback = (error.partition(_FEEDBACK)[::2]) if refused else ("", "")
    answers = about.get("answers")
    if isinstance(answers, list) and status == "completed":
        given = [text_of(row) for row in answers]
        reading.settle(key, "", place[1], failed=False, change=lambda event: _answered(event, given))
        reading.say("user", "\n".join(row for row in given if row), *place)
        return
    failed = status == "error" or (code is not None and code != 0)
    output = f"{text}\nexit code: {code}" if code is not None else words or text
    reading.result(output, *place, id=key, failed=failed, status=code, refused=refused)
    reading.person(feedback, *place)


def _answered(event: Call, given: list[str]) -> Call:
    if not isinstance(event, Question):
        return event
    rows = [
        (asked, options, given[at] if at < len(given) else "") for at, (asked, options, _) in enumerate(event.asked)
    ]
    return replace(event, asked=tuple(rows))
