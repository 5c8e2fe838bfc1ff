"""Chats of VS Code (Copilot Chat and other participants), `workspaceStorage/<id>/chatSessions/<id>.json` or `.jsonl`.

A session is a document `{version, sessionId, creationDate, customTitle, requests}`. A request is `{message: {text},
response: [parts], timestamp, modelId, result}`; a part without `kind` is markdown, the words of the answer, and
`toolInvocationSerialized` is a call. Since 2026 the file is a log: `{kind: 0, v}` is the whole session, 1 sets what
stands at the path `k`, 2 appends `v` to the array there (after cutting it at `i`), 3 removes it. After `chatModel.ts`,
`chatSessionOperationLog.ts` and `objectMutationLog.ts` of microsoft/vscode. The folder stands in `workspace.json` of
the storage (`sources/walk.py`).
"""

from __future__ import annotations

import json
from typing import Any

from core.conversations.conversation import Conversation
from core.conversations.messages import arguments
from core.conversations.records import Record, json_document, json_lines, object_keys
from core.conversations.turns import Reading, kind_of, list_of, path_of, table_of, text_of, whole_of

_SILENT = frozenset({
    "thinking", "progressMessage", "progressTaskSerialized", "undoStop", "codeblockUri", "mcpServersStarting",
    "command", "textEditGroup", "notebookEditGroup", "workspaceEdit", "multiDiffData", "treeData", "extensions",
    "pullRequest", "prepareToolInvocation", "confirmation", "elicitationSerialized", "questionCarousel", "hook",
    "markdownVuln", "clearToPreviousToolInvocation", "disabledClaudeHooks", "warning",
})  # fmt: skip
_INITIAL, _SET, _PUSH, _DELETE = range(4)


def sniff(head: str) -> bool:
    """The session's own members; or the first entry of a log with them."""
    keys = object_keys(head)
    whole = "requests" in keys and bool({"responderUsername", "sessionId", "initialLocation"} & keys)
    return whole or ({"kind", "v"} <= keys and bool({".requests", ".creationDate", ".sessionId"} & keys))


def read(name: str, data: bytes) -> Conversation:
    """Read one session. In a log a request stands where it was begun; what was set later belongs to it."""
    if {"kind", "v"} <= object_keys(data[:4096].decode("utf-8", "replace").split("\n", 1)[0]):
        about, requests, skipped = _replayed(data)
    else:
        found = json_document(data, ("requests",))
        about, requests, skipped = found.members, found.records("requests"), int(found.torn)
    reading = Reading(skipped=skipped)
    for record in requests:
        if record.value is None:
            reading.skipped += 1
            continue
        _read_request(record, record.value, reading)
    id, title, created = (about.get(key) for key in ("sessionId", "customTitle", "creationDate"))
    link = table_of(about.get("repoData"))
    return reading.conversation(
        name,
        "vscode_chat",
        id=id,
        title=title,
        started=created,
        repository=link.get("remoteUrl"),
        branch=link.get("localBranch"),
    )


def _read_request(record: Record, value: dict[str, Any], reading: Reading) -> None:
    message = value.get("message")
    reading.at(record, value.get("timestamp"))
    reading.person(message if isinstance(message, str) else text_of(table_of(message).get("text")))
    reading.model = text_of(value.get("modelId")).removeprefix("copilot/") or reading.model
    returned = table_of(table_of(table_of(value.get("result")).get("metadata")).get("toolCallResults"))
    for part in list_of(value.get("response")):
        kind = kind_of(part, "kind")
        if kind in ("", "markdownContent"):
            said = part.get("content", part) if isinstance(part, dict) else part
            reading.say("assistant", said if isinstance(said, str) else text_of(table_of(said).get("value")))
        elif kind == "inlineReference":
            _name_reference(part, reading)
        elif kind == "toolInvocationSerialized":
            _read_call(part, returned, reading)
        elif kind not in _SILENT:
            reading.skipped += 1
    error = table_of(table_of(value.get("result")).get("errorDetails")).get("message")
    reading.say("system", text_of(error))


def _name_reference(part: dict[str, Any], reading: Reading) -> None:
    """A file or symbol that the answer names in the middle of a sentence, which goes on in the next part."""
    held = table_of(part.get("inlineReference"))
    place = held.get("uri") or table_of(held.get("location")).get("uri") or held
    path = text_of(table_of(place).get("path"))
    name = text_of(part.get("name") or held.get("name")) or path.rpartition("/")[2]
    last = reading.entries[-1] if reading.entries else None
    if name and last is not None and last.role == "assistant":
        last.texts[-1] += f" `{name}`"


def _read_call(part: dict[str, Any], returned: dict[str, Any], reading: Reading) -> None:
    key, tool = text_of(part.get("toolCallId")), text_of(part.get("toolId"))
    special, details = table_of(part.get("toolSpecificData")), table_of(part.get("resultDetails"))
    status = whole_of(table_of(special.get("terminalCommandState")).get("exitCode"))
    if kind_of(special, "kind") == "terminal":
        line = special.get("commandLine")
        said = line if isinstance(line, dict) else {"original": line or special.get("command")}
        words = next((text_of(said[name]) for name in ("userEdited", "toolEdited", "original") if said.get(name)), "")
        reading.call("bash", {"command": words}, id=key)
    else:
        given = special.get("rawInput") if kind_of(special, "kind") == "input" else arguments(details.get("input"))
        about = part.get("pastTenseMessage") or part.get("invocationMessage")
        about = about if isinstance(about, str) else text_of(table_of(about).get("value"))
        reading.call(tool.removeprefix("copilot_"), given or {"about": about}, id=key)
    if part.get("isComplete") is False:
        return
    shown = text_of(table_of(special.get("terminalCommandOutput")).get("text")) or _text_of_rows(details.get("output"))
    shown = shown or _text_of_rows(table_of(returned.get(key)).get("content"))
    failed = True if details.get("isError") is True or status else False if status == 0 else None
    refused = part.get("isConfirmed") is False or table_of(part.get("isConfirmed")).get("type") == 0
    reading.result(shown, id=key, failed=True if refused else failed, status=status, refused=refused)


def _text_of_rows(rows: Any) -> str:
    if isinstance(rows, str):
        return rows
    found = []
    for row in list_of(rows):
        value = table_of(row).get("value")
        kept = isinstance(value, str) and table_of(row).get("isText") is not False
        found.append(value if kept else _text_of_tree(value))
    return "\n".join(row for row in found if isinstance(row, str) and row)


def _text_of_tree(value: Any) -> str:
    """The words in a rendered prompt, a tree whose leaves have `text`."""
    if not isinstance(value, dict):
        return ""
    below = [_text_of_tree(row) for row in list_of(value.get("children"))] or [_text_of_tree(value.get("node"))]
    return text_of(value.get("text")) + "".join(below)


# --- the log ---------------------------------------------------------------------------------------------------------


def _replayed(data: bytes) -> tuple[dict[str, Any], list[Record], int]:
    """The session that a log leaves behind, its requests with the bytes of the entries that brought them, and how many
    entries could not be read or followed."""
    state: dict[str, Any] = {}
    places: list[tuple[int, int]] = []
    skipped = 0
    for record in json_lines(data):
        entry, path = record.value or {}, list_of((record.value or {}).get("k"))
        kind, value = entry.get("kind"), entry.get("v")
        if kind == _INITIAL and isinstance(value, dict):
            state, places = value, []
        elif kind not in (_SET, _PUSH, _DELETE) or not path or not _followed(state, path, kind, value, entry.get("i")):
            skipped += 1
            continue
        requests = list_of(state.get("requests"))
        if path == ["requests"]:  # those behind the cut are others now
            cut = entry.get("i")
            del places[cut if kind == _PUSH and isinstance(cut, int) else len(places) if kind == _PUSH else 0 :]
        del places[len(requests) :]
        places += [(record.start, record.end)] * (len(requests) - len(places))
        if kind != _INITIAL and len(path) > 1 and path[0] == "requests" and path[1] == len(places) - 1:
            places[-1] = (places[-1][0], record.end)
    found = zip(list_of(state.get("requests")), places, strict=True)
    rows = [Record(value if isinstance(value, dict) else None, *place) for value, place in found]
    return state, rows, skipped


def _followed(state: dict[str, Any], path: list[Any], kind: int, value: Any, cut: Any) -> bool:
    """Carry one entry out on the state; False where there is no such place."""
    at: Any = state
    for key in path[:-1]:
        at = _member(at, key)
    last = path[-1]
    if isinstance(at, dict) and isinstance(last, str):
        if kind == _SET:
            at[last] = value
        elif kind == _DELETE:
            at.pop(last, None)
        else:
            rows = at.setdefault(last, [])
            return isinstance(rows, list) and _pushed(rows, value, cut)
        return True
    if isinstance(at, list) and isinstance(last, int) and 0 <= last < len(at):
        if kind == _PUSH:
            return isinstance(at[last], list) and _pushed(at[last], value, cut)
        at[last] = value if kind == _SET else None
        return True
    if isinstance(at, list) and last == len(at) and kind == _SET:
        at.append(value)
        return True
    return False


def _pushed(rows: list[Any], value: Any, cut: Any) -> bool:
    if isinstance(cut, int) and cut >= 0:
        del rows[cut:]
    rows += list_of(value)
    return True


def _member(at: Any, key: Any) -> Any:
    if isinstance(at, dict) and isinstance(key, str):
        return at.get(key)
    inside = isinstance(at, list) and isinstance(key, int) and 0 <= key < len(at)
    return at[key] if inside else None


def folder_in(workspace: bytes) -> str:
    """The folder that a storage belongs to, as its `workspace.json` tells it; "" for none on this disk."""
    try:
        held = table_of(json.loads(workspace))
    except (ValueError, RecursionError):
        return ""
    folder = path_of(held.get("folder"))
    return folder or path_of(held.get("workspace") or held.get("configuration")).rpartition("/")[0]
