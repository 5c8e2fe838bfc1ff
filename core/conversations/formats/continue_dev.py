"""Continue's sessions, `~/.continue/sessions/<id>.json`: a document `{sessionId, title, workspaceDirectory, history}`.

An item of the history is `{message: {role, content, toolCalls}, contextItems, toolCallStates}`; a state tells what a
call was given, how it ended and what came back. After `core/index.d.ts` and `core/util/history.ts` of
continuedev/continue. There are no times in it. The command line puts a summary in the place of what was said, as an
answer of its own, and may go on with a "continue" that nobody typed (`extensions/cli/src/stream` of that project).
"""

from __future__ import annotations

from typing import Any

from core.conversations.conversation import Conversation
from core.conversations.records import json_document, object_keys
from core.conversations.turns import Reading, arguments, kind_of, path_of, table_of, tables_of, text_of

_ENDED = {"done": False, "errored": True, "canceled": True}
"""How a call can end, and whether it failed then."""


def sniff(head: str) -> bool:
    """The session's own members, of which the history is one."""
    keys = object_keys(head)
    return {"sessionId", "title"} <= keys and bool({"workspaceDirectory", "history"} & keys)


def read(name: str, data: bytes) -> Conversation:
    """Read one session."""
    found = json_document(data, ("history",))
    about = found.members
    reading = Reading(skipped=int(found.torn))
    replaced = False
    for value in reading.values(found.records("history"), ""):
        message = value.get("message")
        role = kind_of(message, "role")
        said, summary = text_of(table_of(message).get("content")), text_of(value.get("conversationSummary"))
        if role == "assistant" and summary and said.endswith(summary):
            replaced = True
        elif role == "user":
            (reading.remind if replaced and said == "continue" else reading.person)(said)
            replaced = False
        elif role == "assistant":
            reading.say("assistant", said)
            for state in tables_of(value.get("toolCallStates", [value.get("toolCallState")])):
                _read_state(state, reading)
        elif role == "system":
            reading.say("system", said)
        elif role not in ("tool", "thinking"):  # a tool's words stand in the state of its call
            reading.skipped += 1
        reading.summary(summary)
    folder = text_of(about.get("workspaceDirectory"))
    folder = path_of(folder) if folder.startswith("file://") else folder
    model = about.get("chatModelTitle")
    id, title = about.get("sessionId"), about.get("title")
    return reading.conversation(name, "continue_dev", id=id, title=title, folder=folder, model=model)


def _read_state(state: dict[str, Any], reading: Reading) -> None:
    call = state.get("toolCall")
    asked = table_of(table_of(call).get("function"))
    key = text_of(state.get("toolCallId")) or "call"
    reading.call(asked.get("name"), state.get("parsedArgs") or arguments(asked.get("arguments")), id=key)
    status = kind_of(state, "status")
    if status in _ENDED:
        said = "\n".join(text_of(row.get("content")) for row in tables_of(state.get("output")))
        reading.result(said, id=key, failed=_ENDED[status], refused=status == "canceled")
