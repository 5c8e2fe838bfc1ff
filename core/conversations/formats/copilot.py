"""GitHub Copilot's conversations: those of its command line, and those of the chat in VS Code.

The command line writes `session-state/<id>/events.jsonl`: `{type, data, id, timestamp, parentId}` a line. Most lines
are hooks and tools. A user's message is `user.message`: its `content` is what was typed, its `transformedContent`
what the model was sent. What a sub-agent does bears its `agentId`, in older versions the call that started it
(`parentToolCallId`). Not every such message was typed: its `source` names a skill or an agent, or it says that
autopilot or another session sent it. The maker does not document the format; this follows public sessions of versions
1.0 and the event types that the `copilot-sdk` publishes.

VS Code writes `chatSessions/<id>.jsonl`, from 1.109 on: the session as it began (`{kind: 0, v}`) and what was changed
in it since: a value set (1), elements put behind those of an array, from index `i` on in their place (2), a member
taken away (3), each under the path `k`. Earlier it wrote the session itself, `<id>.json`. A session has `requests`,
each with its `message` and the parts of its `response`. After `objectMutationLog.ts` and `chatModel.ts` of
microsoft/vscode.
"""

from __future__ import annotations

import re
from typing import Any

from core.conversations.conversation import Conversation
from core.conversations.events import exit_status
from core.conversations.records import Record, json_document, json_lines, keys_in, object_keys
from core.conversations.turns import (
    Reading,
    answered,
    arguments,
    kind_of,
    list_of,
    path_of,
    table_of,
    tables_of,
    text_in,
    text_of,
    whole_of,
)

_FIRST = re.compile(
    r'\s*\{\s*"type"\s*:\s*"(?:session|user|assistant|tool|hook|system|permission|subagent|abort)[.\w]*"\s*,\s*"data"'
)
_ASKS = "ask_user"
_ANSWER = "User responded: "
_SILENT = ("session.", "hook.", "permission.", "assistant.", "tool.", "subagent.", "skill.", "abort", "external_tool.")


def sniff(head: str) -> bool:
    """A record whose type is two words with a dot, and its data."""
    return bool(keys_in(head)) and bool(_FIRST.match(head))


def read(name: str, data: bytes) -> Conversation:
    """Read one session."""
    reading, told = Reading(), dict[str, str]()
    agents: dict[str, str] = {}  # by the id of each, and the call that started it
    session = started = ""
    context: dict[str, Any] = {}
    for value in reading.values(json_lines(data)):
        kind, detail = value.get("type"), value.get("data")
        if not isinstance(kind, str) or not isinstance(detail, dict):
            reading.skipped += 1
            continue
        own, above = text_of(value.get("agentId")), text_of(detail.get("parentToolCallId"))
        # The main agent may bear an id as well; a call above it has a sub-agent alone.
        reading.agent = agents.get(own) or (agents.get(above, "sub-agent") if above else "")
        reading.model = text_of(detail.get("model")) or reading.model if kind == "assistant.message" else reading.model
        if kind == "session.start" and not session:
            session, started = text_of(detail.get("sessionId")), text_of(detail.get("startTime"))
            context = table_of(detail.get("context"))
            reading.model = text_of(detail.get("selectedModel"))
        elif kind == "user.message":
            sent = own or above or detail.get("isAutopilotContinuation") or detail.get("crossSession")
            if not sent and detail.get("source", "user") in ("user", "", None):
                reading.person(text_of(detail.get("content")))
            else:
                reading.say("system", text_of(detail.get("content")))
        elif kind == "assistant.message":
            reading.say("assistant", text_of(detail.get("content")))
            _read_calls(detail.get("toolRequests"), reading, told)
        elif kind == "tool.execution_start" and detail.get("toolCallId"):
            _read_calls([{**detail, "name": detail.get("toolName")}], reading, told)
        elif kind == "tool.execution_complete":
            _read_result(detail, reading, told)
        elif kind == "subagent.started":
            for id in filter(None, (own, text_of(detail.get("toolCallId")))):
                agents[id] = text_of(detail.get("agentName")) or "sub-agent"
        elif kind == "session.compaction_complete":
            reading.summary(text_of(detail.get("summaryContent")))
        elif kind in ("system.message", "system.notification"):
            reading.say("system", text_of(detail.get("content")))
        elif not kind.startswith(_SILENT):
            reading.skipped += 1
    facts = {"folder": context.get("cwd"), "branch": context.get("branch"), "repository": context.get("repository")}
    return reading.conversation(name, "copilot_cli", id=session, started=started, **facts)


def _read_calls(calls: Any, reading: Reading, told: dict[str, str]) -> None:
    """Calls of an answer; each is told once more when it begins: the tools that were `told` already, by their ids. ""
    stands for one of a server, and for two tools under one id."""
    for call in tables_of(calls):
        key, name = text_of(call.get("toolCallId")), text_of(call.get("name"))
        foreign = call.get("mcpServerName") or call.get("mcpToolName")
        again = key and key in told
        if name != "report_intent" and not again:
            reading.call(call.get("name"), call.get("arguments"), id=key)
        if name != "report_intent" or again:
            told[key] = name if not foreign and told.get(key, name) == name else ""


def _read_result(detail: dict[str, Any], reading: Reading, told: dict[str, str]) -> None:
    success, error = detail.get("success"), table_of(detail.get("error"))
    message = text_of(error.get("message"))
    shown = (text_in(detail.get("result"), "content"), f"error: {message}" if message else "")
    text, key = "\n".join(filter(None, shown)), text_of(detail.get("toolCallId"))
    failed = not success if isinstance(success, bool) else None
    status = exit_status(text) if success else None
    failed = failed or bool(status) if failed is not None else None
    refused = error.get("code") in ("rejected", "denied")
    asked = key and told.get(key) == _ASKS
    if asked:
        told[key] = ""  # whatever names the call once more is no answer
    if asked and success and text.startswith(_ANSWER):
        # The question stands in the call just above; its answer is what the user chose or typed.
        said = text.removeprefix(_ANSWER)
        reading.settle(key, "", failed=False, change=lambda event: answered(event, lambda *_: said))
        reading.say("user", said)
        return
    reading.result(text, id=key, failed=failed, status=status, refused=refused)


# --- the chat in VS Code ---------------------------------------------------------------------------------------------

_LINK = re.compile(r"\]\((file://[^)\s#]+)")
_NAMES = {
    "replaceString": "replace_string_in_file", "multiReplaceString": "multi_replace_string_in_file",
    "insertEdit": "insert_edit_into_file", "findTextInFiles": "grep_search", "findFiles": "file_search",
    "listDirectory": "list_dir", "searchCodebase": "semantic_search", "fetchWebPage": "fetch_webpage",
}  # fmt: skip
"""Tools of Copilot whose names in the session are not those by which a model calls them."""
_DENIED = 0
_SKIPPED = 5


def sniff_chat(head: str) -> bool:
    """The first line of a log that begins with a session, or the members of a session."""
    keys = object_keys(head)
    if {"kind", "v"} <= keys:
        return bool({".requests", ".sessionId", ".creationDate"} & keys)
    return bool({"responderUsername", "requesterUsername"} & keys) and bool({"requests", "initialLocation"} & keys)


def read_chat(name: str, data: bytes) -> Conversation:
    """Read one session."""
    reading = Reading()
    if {"kind", "v"} <= object_keys(data[:4096].decode("utf-8", "replace")):
        about, asked = _replayed(data, reading)
    else:
        found = json_document(data, ("requests",))
        about, asked = found.members, found.records("requests")
        reading.skipped += found.torn
    for value in reading.values(asked):
        if not value.get("shouldBeRemovedOnSend"):  # taken back by the user
            _read_request(value, reading)
    facts = {"id": about.get("sessionId"), "title": about.get("customTitle"), "started": about.get("creationDate")}
    return reading.conversation(name, "vscode", folder=_path(about.get("workingDirectory")), **facts)


def _replayed(data: bytes, reading: Reading) -> tuple[dict[str, Any], list[Record]]:
    """The session that a log tells, and its requests, each with the bytes from the line that began it to the last one
    that changed it."""
    state: Any = None
    spans: list[tuple[int, int]] = []
    for record in json_lines(data):
        change = record.value or {}
        kind, path, span = change.get("kind"), list_of(change.get("k")), (record.start, record.end)
        if kind == 0:
            state = change.get("v")
            spans = [span for _ in list_of(table_of(state).get("requests"))]
        elif kind not in (1, 2, 3) or not path or not _changed(state, path, change):
            reading.skipped += 1
            continue
        asked = list_of(table_of(state).get("requests"))
        if path == ["requests"]:
            first = whole_of(change.get("i")) if kind == 2 else 0
            spans = spans[: first if first is not None and first >= 0 else None]
        elif path[:1] == ["requests"] and isinstance(path[1], int) and 0 <= path[1] < len(spans):
            spans[path[1]] = (spans[path[1]][0], record.end)
        spans = (spans + [span] * len(asked))[: len(asked)]
    rows = list_of(table_of(state).get("requests"))
    made = [Record(row if isinstance(row, dict) else None, *span) for row, span in zip(rows, spans, strict=True)]
    return table_of(state), made


def _changed(state: Any, path: list[Any], change: dict[str, Any]) -> bool:
    """Carry a change out; whether what it changes was there."""
    *way, last = path
    for step in way:
        state = _member(state, step)
    kind = change["kind"]
    if kind == 2:
        rows, first = _member(state, last), whole_of(change.get("i"))
        if not isinstance(rows, list):
            return False
        if first is not None and first >= 0:
            del rows[first:]
        rows += list_of(change.get("v"))
    elif isinstance(state, dict) and isinstance(last, str):
        if kind == 1:
            state[last] = change.get("v")
        else:
            state.pop(last, None)
    elif isinstance(state, list) and whole_of(last) is not None and 0 <= last < len(state):
        state[last] = change.get("v")
    else:
        return False
    return True


def _member(state: Any, step: Any) -> Any:
    if isinstance(state, dict):
        return state.get(step) if isinstance(step, str) else None
    inside = isinstance(state, list) and whole_of(step) is not None and 0 <= step < len(state)
    return state[step] if inside else None


def _read_request(value: dict[str, Any], reading: Reading) -> None:
    """What the user asked, and the parts of the answer; the pieces of one text come in many parts."""
    asked = text_in(value.get("message"), "text")
    (reading.remind if value.get("isSystemInitiated") else reading.person)(asked)  # a command in a terminal has ended
    reading.model = text_of(value.get("modelId")) or reading.model
    metadata = table_of(table_of(value.get("result")).get("metadata"))
    rounds = tables_of(metadata.get("toolCallRounds"))
    known = {text_of(call.get("id")): call for row in rounds for call in tables_of(row.get("toolCalls"))}
    reading.dated(value.get("responseTimestamp") or value.get("timestamp"))
    said = ""
    for part in list_of(value.get("response")):
        kind = kind_of(part, "kind")
        if kind in ("", "markdownContent", "markdownVuln", "inlineReference"):
            said += _words(part)
        elif kind in ("toolInvocationSerialized", "textEditGroup", "questionCarousel"):
            reading.say("assistant", said)
            said = ""
            if kind == "textEditGroup":
                _read_edits(part, reading)
            elif kind == "questionCarousel":
                _read_questions(part, reading)
            else:
                _read_tool(part, known, reading)
    reading.say("assistant", said)
    reading.say("system", text_of(table_of(table_of(value.get("result")).get("errorDetails")).get("message")))


def _words(part: Any) -> str:
    """The words of a part: markdown, or what a reference in it is called."""
    row = table_of(part)
    content = row.get("content", row.get("value"))
    named = row.get("name") or _path(row.get("inlineReference")).rpartition("/")[2]
    return text_in(content, "value") or text_of(named)


def _path(address: Any) -> str:
    """The path of a file, as an address or as VS Code keeps one; "" for anything else."""
    row = table_of(address)
    found = row.get("uri", address)
    return path_of(found) or text_of(table_of(found).get("fsPath")) or text_of(table_of(found).get("path"))


def _read_edits(part: dict[str, Any], reading: Reading) -> None:
    """An edit that was made while the answer came."""
    rows = [edit for group in list_of(part.get("edits")) for edit in (group if isinstance(group, list) else [group])]
    text = "\n".join(filter(None, (text_of(table_of(edit).get("text")) for edit in rows)))
    if path := _path(part.get("uri")):
        reading.call("edit_file", {"path": path, "content": text}, id="edit")
        reading.settle("edit", "", failed=False if part.get("done") else None)


def _read_questions(part: dict[str, Any], reading: Reading) -> None:
    """Questions that were put to the user, and what they chose or typed."""
    given, asked, said = table_of(part.get("data")), list[dict[str, Any]](), list[str]()
    for row in tables_of(part.get("questions")):
        if question := text_in(row.get("message"), "value") or text_of(row.get("title")):
            asked.append({"question": question, "options": row.get("options")})
            said.append(_chosen(row, given.get(text_of(row.get("id")))))
    reading.say("assistant", "\n".join(row["question"] for row in asked))
    reading.called("ask_questions", {"questions": asked}, id="questions")
    if part.get("isUsed"):
        reading.settle("questions", "", failed=False, change=lambda event: answered(event, lambda at, _: said[at]))
        reading.say("user", "\n".join(filter(None, said)))


def _chosen(question: dict[str, Any], answer: Any) -> str:
    """An answer: a text, or the values of what was chosen, which are shown by their labels, and what was typed."""
    row = table_of(answer)
    chosen = [text_of(row.get("selectedValue")), *map(text_of, list_of(row.get("selectedValues")))]
    labels = {text_of(one.get("value")): text_of(one.get("label")) for one in tables_of(question.get("options"))}
    words = [text_of(answer), *(labels.get(one) or one for one in chosen), text_of(row.get("freeformValue"))]
    return ", ".join(filter(None, words))


def _read_tool(part: dict[str, Any], known: dict[str, dict[str, Any]], reading: Reading) -> None:
    """A call with what came back. What a model gave it stands in the rounds of the request, where those are kept."""
    key, tool = text_of(part.get("toolCallId")), text_of(part.get("toolId"))
    special, details = table_of(part.get("toolSpecificData")), part.get("resultDetails")
    line = special.get("commandLine", special.get("command"))
    row = table_of(line)
    command = text_of(row.get("userEdited")) or text_of(row.get("toolEdited")) or text_of(row.get("original"))
    told = table_of(details)
    given: Any = {"command": command or text_of(line)} if special.get("kind") == "terminal" else None
    call = known.get(key, {})
    given = given or arguments(call.get("arguments")) or arguments(told.get("input")) or _shown(part)
    name = tool.removeprefix("copilot_")
    name = text_of(call.get("name")) or _NAMES.get(name) or re.sub(r"(?<=[a-z])([A-Z])", r"_\1", name).lower()
    reading.call(name, given, id=key or "call")
    output = table_of(special.get("terminalCommandOutput")).get("text")
    rows = [table_of(one) for one in list_of(told.get("output"))]
    texts = [text_of(output), *(text_of(one.get("value")) for one in rows if one.get("isText", True))]
    status = whole_of(table_of(special.get("terminalCommandState")).get("exitCode"))
    error = told.get("isError")
    failed = error if isinstance(error, bool) else bool(status) if status is not None else None
    choice = part.get("isConfirmed")
    refused = choice is False or table_of(choice).get("type") in (_DENIED, _SKIPPED)
    if part.get("isComplete") or refused:
        shown = "\n".join(filter(None, texts))
        reading.result(shown, id=key or "call", failed=True if refused else failed, status=status, refused=refused)


def _shown(part: dict[str, Any]) -> Any:
    """What the chat shows of a call: the file that it names, or the sentence."""
    message = part.get("pastTenseMessage") or part.get("invocationMessage")
    text = text_in(message, "value")
    link = _LINK.search(text)
    return {"path": path_of(link[1])} if link else text
