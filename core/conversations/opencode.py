"""OpenCode's sessions as `opencode export` writes them, and a lone message of the older storage.

An export is `{info, messages: [{info, parts}]}`. The storage before the database has one file a session, message and
part (`opencode_files`); the first versions kept the parts inside the message. The shapes follow
`packages/opencode/src/session/message-v2.ts` of the project. A session with a parent was opened by the assistant for a
sub-agent: its prompts are nobody's turn.
"""

from __future__ import annotations

from typing import Any

from core.conversations.conversation import Conversation
from core.conversations.records import Record, json_document, keys_in
from core.conversations.turns import Reading, iso_time, kind_of, text_of

_SILENT = frozenset({
    "reasoning", "step-start", "step-finish", "snapshot", "patch", "agent", "retry", "compaction", "file",
    "source-url", "source-document",
})  # fmt: skip


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
    said: list[str] = []
    for part in parts:
        kind = kind_of(part)
        if kind == "text" and role == "user" and not (part.get("synthetic") or part.get("ignored")):
            said.append(text_of(part.get("text")))
        elif kind == "text":
            # A summary repeats what was said before; other text of an assistant is its answer.
            own = role == "assistant" and not info.get("summary") and not part.get("synthetic")
            reading.say("assistant" if own else "system", text_of(part.get("text")), *place)
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


def _read_tool(part: dict[str, Any], place: tuple[str, int, int], reading: Reading) -> None:
    state, call = part.get("state"), part.get("toolInvocation")
    if isinstance(call, dict):
        reading.call(call.get("toolName"), call.get("args"), *place)
        reading.say("tool", text_of(call.get("result")), *place)
    elif isinstance(state, dict):
        reading.call(part.get("tool"), state.get("input"), *place)
        about = state.get("metadata")
        code = about.get("exit") if isinstance(about, dict) else None
        text = text_of(state.get("output")) or text_of(state.get("error"))
        reading.say("tool", f"{text}\nexit code: {code}" if isinstance(code, int) else text, *place)
    else:
        reading.skipped += 1
