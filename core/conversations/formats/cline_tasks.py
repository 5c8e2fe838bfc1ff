"""The task folders of Cline and Roo Code: `api_conversation_history.json` and `ui_messages.json`.

The first is the array of messages that the model was sent (Roo's second version: the same in `{version, messages}`),
the second what the user saw, as `{ts, type: say or ask, say or ask: <kind>, text}`. Both tell the same task; whoever
lists sources should pick the first. Roo keeps condensed turns beside their summary (`isSummary`, `condenseParent`; see
`src/core/task-persistence/apiMessages.ts` of that project): the turns are read, the summary is context.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from core.conversations.conversation import Conversation
from core.conversations.events import Call
from core.conversations.formats.cline import (
    ANSWERS,
    assistant_labels,
    calls_in,
    person_labels,
    result_of,
    results_in,
)
from core.conversations.lines import Line, fold_turns
from core.conversations.records import Record, json_document, keys_in, parse_object
from core.conversations.turns import Reading, clean, kind_of, text_of, truth_of

_FOLDER = re.compile(r"# Current (?:Working|Workspace) Directory \(([^()\n]{1,1000})\)")
_HISTORY = re.compile(
    r'\s*(?:\{\s*"version"\s*:\s*\d+\s*,\s*"messages"\s*:\s*)?\[\s*\{\s*(?:"ts"\s*:\s*\d+\s*,\s*)?'
    r'"role"\s*:\s*"(?:user|assistant)"\s*,\s*"content"\s*:'
)
_SAYS = {
    "task": "user", "user_feedback": "user",
    "text": "assistant", "completion_result": "assistant", "plan_mode_respond": "assistant", "subtask_result": "tool",
    "mcp_server_response": "tool", "browser_action_result": "tool",
    "error": "system", "user_feedback_diff": "system",
}  # fmt: skip
_SILENT = frozenset({
    "api_req_started", "api_req_finished", "api_req_retried", "api_req_deleted", "api_req_retry_delayed", "reasoning",
    "checkpoint_created", "checkpoint_saved", "task_progress", "error_retry", "mcp_server_request_started",
    "mcp_server_request_response", "use_mcp_server", "browser_action", "browser_action_launch",
    "shell_integration_warning",
    "diff_error", "deleted_api_reqs", "clineignore_error", "load_mcp_documentation", "info", "resume_task",
    "resume_completed_task", "api_req_failed", "mistake_limit_reached", "auto_approval_max_req_reached", "new_task",
    "condense", "report_bug", "summarize_task", "hook_status", "hook_output_stream", "codebase_search_result",
    "checkpoint_restored", "rooignore_error", "user_edit_todos", "image", "generate_explanation",
    "shell_integration_warning_with_suggestion", "conditional_rules_applied", "sliding_window_truncation",
})  # fmt: skip
_ASKS = {"followup": "assistant", "plan_mode_respond": "assistant", "completion_result": "assistant"}


def sniff(head: str) -> bool:
    """An array of messages with role and content, or of records that say or ask."""
    keys = keys_in(head)
    shown = head.lstrip().startswith("[") and {"ts", "type"} <= keys and bool({"say", "ask"} & keys)
    return bool(keys and _HISTORY.match(head)) or shown


def read(name: str, data: bytes) -> Conversation:
    """Read either of the two files of a task."""
    found = json_document(data, ("messages",))
    reading = Reading(skipped=int(found.torn))
    folder = ""
    first, tools = True, dict[str, str]()
    for record in found.records() or found.records("messages"):
        value = record.value
        if value is not None and ("say" in value or "ask" in value):
            _read_shown(value, record, reading, first)
            first = False
        elif value is not None and value.get("role") in ("user", "assistant"):
            named = _read_sent(value, record, reading, tools)
            folder = folder or named
        elif value is None or value.get("type") != "reasoning":
            reading.skipped += 1
    return reading.conversation(name, "cline", folder=folder)


def _read_sent(value: dict[str, Any], record: Record, reading: Reading, tools: dict[str, str]) -> str:
    """One message of the history; the working folder where it tells. `tools` learns the name behind each call's id."""
    reading.at(record, value.get("ts"))
    content = value.get("content")
    # A result's head and the result itself can stand in two blocks: a user's texts are understood together.
    sent: list[str] = []
    user, summary = value["role"] == "user", value.get("isSummary") or value.get("isTruncationMarker")
    for block in content if isinstance(content, list) else [content]:
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
        reading.settle(tool, output, change=partial(result_of, text=output, start=record.start))
    found = _FOLDER.search(text)
    return found[1] if found else ""


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


def _read_shown(value: dict[str, Any], record: Record, reading: Reading, first: bool) -> None:
    reading.at(record, value.get("ts"))
    text = text_of(value.get("text"))
    asks = value.get("type") == "ask"
    kind = kind_of(value, "ask" if asks else "say")
    if value.get("partial") or kind in _SILENT:
        return
    if first and kind == "text" and not asks:
        reading.person(text)  # the task itself is said first, under the kind of an answer
    elif kind == "command":
        reading.call("execute_command", {"command": text}, id="shown")
    elif asks and kind in _ASKS:
        reading.say("assistant", "\n".join(_question(text)))
    elif kind == "command_output":
        reading.result(text, id="shown")
    elif kind == "tool":
        _read_shown_tool(text, reading)
    elif kind == "condense_context":
        reading.summary(text)
    elif kind in _SAYS:
        (reading.person if _SAYS[kind] == "user" else partial(reading.say, _SAYS[kind]))(text)
    elif kind in ("use_mcp_server", "browser_action_launch"):
        reading.say("tool", text)
    else:
        reading.skipped += 1


_SHOWN = {
    "editedExistingFile": "edit_file", "appliedDiff": "apply_diff", "newFileCreated": "create_file",
    "readFile": "read_file", "listFilesTopLevel": "list_files", "listFilesRecursive": "list_files",
    "searchFiles": "search_files", "updateTodoList": "update_todo_list", "newTask": "new_task",
    "insertContent": "insert_content", "searchAndReplace": "search_and_replace", "fileDeleted": "delete_file",
}  # fmt: skip
"""What the user saw of a call, and which tool that was."""


def _read_shown_tool(text: str, reading: Reading) -> None:
    """A call as it was shown: JSON with `tool` and what it was given. Whether it was done is not told."""
    reading.say("tool", text)
    shown = parse_object(text) if text.startswith("{") else None
    if shown is not None:
        tool = kind_of(shown, "tool")
        given = {
            key: shown[key] for key in ("path", "regex", "todos", "content") if isinstance(shown.get(key), str | list)
        }
        reading.called(_SHOWN.get(tool, tool), given)


def _question(text: str) -> Iterator[str]:
    """A question is plain text, or in newer versions JSON with `question` or `response`."""
    asked = parse_object(text) if text.startswith("{") else None
    if asked is None:
        yield text
    else:
        yield from (text_of(asked[key]) for key in ("question", "response") if key in asked)
