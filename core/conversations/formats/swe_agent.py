"""SWE-agent's trajectories, `*.traj`: JSON with `history` (what the model saw) and `trajectory` (what it did).

The history is read where there is one; it holds the task, which the steps alone do not tell. The first message of the
user is the task inside a template: only the issue is taken as a user's words. Later messages of the user are what
the commands printed. Demonstrations (`is_demo`) are context. An `action` is a line for the agent's own shell, whose
commands open, search and edit files too. See `docs/usage/trajectories.md` of the project.
"""

from __future__ import annotations

from typing import Any

from core.conversations.conversation import Conversation
from core.conversations.records import json_document, object_keys, parse_object
from core.conversations.turns import Reading, arguments, table_of, tables_of, text_of

_ACTION = "action"
"""By this a call without an id waits for what the next message says."""
# Between what and what a task's template has the words of the issue.
_ISSUE = (
    ("ISSUE:\n", "\nINSTRUCTIONS:"),
    ("solving the following CTF challenge. ", "\nINSTRUCTIONS:"),
    ("<pr_description>\n", "</pr_description>"),
)


def sniff(head: str) -> bool:
    """One of the two lists near the beginning, with what belongs to it."""
    keys = object_keys(head)
    steps = "trajectory" in keys and bool({".action", ".observation", "environment"} & keys)
    return steps or {"history", ".role", ".content", ".agent"} <= keys


def read(name: str, data: bytes) -> Conversation:
    """Read one trajectory."""
    found = json_document(data, ("history", "trajectory"))
    reading = Reading(skipped=int(found.torn))
    history = found.records("history")
    tasked = False
    for value in reading.values(history, ""):
        tasked = _read_message(value, reading, tasked) or tasked
    for value in reading.values([] if history else found.records("trajectory"), ""):
        _read_step(value, reading)
    if not history and not found.records("trajectory") and found.members:
        reading.skipped += 1
    return reading.conversation(name, "swe_agent", model=_model(found.members.get("replay_config")))


def _model(config: Any) -> str:
    """The model in the configuration of the run, which stands in the file as JSON inside a string."""
    value: Any = parse_object(config) if isinstance(config, str) else config
    for key in ("agent", "model", "name"):
        value = table_of(value).get(key)
    return value if isinstance(value, str) else ""


def _read_message(value: dict[str, Any], reading: Reading, tasked: bool) -> bool:
    """One message; true when it was the task."""
    role = value.get("role")
    if role not in ("system", "user", "assistant", "tool"):
        reading.skipped += 1
        return False
    said = text_of(value.get("content"))
    if role == "system" or value.get("is_demo") or value.get("message_type") in ("demonstration", "system_prompt"):
        reading.say("system", said)
    elif role == "assistant":
        reading.say("assistant", said)
        if not _read_calls(value.get("tool_calls"), reading):
            _read_action(text_of(value.get("action")), reading)
    elif role == "user" and not tasked:
        start, end = _issue(said)
        reading.say("system", said[:start].rstrip() + said[end:])
        reading.say("user", said[start:end])
        return True
    else:
        keys = value.get("tool_call_ids")
        key = text_of(keys[0]) if isinstance(keys, list) and keys else text_of(value.get("tool_call_id"))
        reading.result(said, id=key or _ACTION)
    return False


def _issue(said: str) -> tuple[int, int]:
    for opening, closing in _ISSUE:
        start = said.find(opening) + len(opening)
        end = said.find(closing, start) if start >= len(opening) else -1
        if end >= 0 and said[start:end].strip():
            return start, end
    return 0, len(said)


def _read_calls(calls: Any, reading: Reading) -> int:
    """The calls of a message; how many there were."""
    asked = [(call, call["function"]) for call in tables_of(calls) if isinstance(call.get("function"), dict)]
    for call, function in asked:
        given = arguments(function.get("arguments"))
        reading.call(function.get("name"), given, id=text_of(call.get("id")) or _ACTION)
    return len(asked)


def _read_action(action: str, reading: Reading) -> None:
    """A command of the agent's shell, which stands in the words of the message already."""
    name, _, rest = action.strip().partition(" ")
    rest = rest.partition("\n")[0].strip()
    if name in ("open", "create", "edit"):
        given = {"path": rest.split(" ")[0].strip("\"'")} if name != "edit" else {}
        reading.called(name, given, id=_ACTION)
    elif name in ("find_file", "search_dir", "search_file"):
        reading.called(name, {"pattern": rest}, id=_ACTION)
    elif name:
        reading.called("bash", {"command": action}, id=_ACTION)


def _read_step(value: dict[str, Any], reading: Reading) -> None:
    reading.say("assistant", text_of(value.get("response")) or text_of(value.get("thought")))
    if not text_of(value.get("response")):
        reading.call("bash", {"command": text_of(value.get("action"))}, id=_ACTION)
    else:
        _read_action(text_of(value.get("action")), reading)
    reading.result(text_of(value.get("observation")), id=_ACTION)
