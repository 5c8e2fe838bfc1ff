"""Tools that came later: a session of theirs is read with its turns, its calls and what came of them."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
import zstandard

from core.conversations.collections.store_file import StoreFile
from core.conversations.collections.stores import OpenStore
from core.conversations.conversation import Conversation
from core.conversations.events import Call, Command, Compaction, Edit, FileRead, Question, Search, Todos
from core.conversations.read import read_conversation, why_unread
from core.sources.tools import places
from core.sources.walk import folder_at, survey
from tests.made_records import check_records, document, lines, said


def calls(conversation: Conversation) -> list[Call]:
    return [event for turn in conversation.turns for event in turn.events if isinstance(event, Call)]


def words(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def outcome(event: Call) -> tuple[str, bool, bool | None, str]:
    return event.tool, event.answered, event.failed, event.output


def test_pi_goes_the_way_from_the_last_entry_to_the_first() -> None:
    """What the person left behind on another branch is summarised, and was not the end of the matter."""

    def entry(key: str, above: str | None, kind: str = "message", **more: Any) -> dict[str, Any]:
        return {"type": kind, "id": key, "parentId": above, "timestamp": "2026-08-20T10:00:01.000Z", **more}

    shell = {"type": "toolCall", "id": "t1", "name": "bash", "arguments": {"command": "make"}}
    failed = {"role": "toolResult", "toolCallId": "t1", "isError": True, "content": [words("no rule")]}
    data = lines(
        {"type": "session", "version": 3, "id": "s1", "timestamp": "2026-08-20T10:00:00.000Z", "cwd": "/srv/app"},
        entry("a", None, message={"role": "user", "content": [words("build it")]}),
        entry("b", "a", message={"role": "assistant", "model": "a-model", "content": [words("Yes."), shell]}),
        entry("c", "b", message=failed),
        entry("x", "c", message={"role": "user", "content": "left behind"}),
        entry("d", "c", message={"role": "bashExecution", "command": "ls", "output": "a b", "exitCode": 0}),
        entry("e", "d", "compaction", summary="# Goal\nbuild"),
        entry("f", "e", "session_info", name="The build"),
        entry("g", "f", message={"role": "user", "content": "go on"}),
    )
    read = check_records(data, "pi")
    assert said(read, "user") == ["build it", "go on"]
    assert (read.id, read.folder, read.model, read.title) == ("s1", "/srv/app", "a-model", "The build")
    first, typed = [event for event in calls(read) if isinstance(event, Command)]
    assert (first.words, first.failed, first.output) == ("make", True, "no rule")
    assert (typed.words, typed.status, typed.output) == ("ls", 0, "a b")
    [summary] = [event for turn in read.turns for event in turn.events if isinstance(event, Compaction)]
    assert summary.text == "# Goal\nbuild"


def test_pi_without_links_is_read_whole() -> None:
    data = lines(
        {"type": "session", "id": "s", "timestamp": "2026-08-20T10:00:00.000Z", "cwd": "/srv/app"},
        {"type": "message", "message": {"role": "user", "content": "one"}},
        {"type": "message", "message": {"role": "user", "content": "two"}},
    )
    assert said(check_records(data, "pi"), "user") == ["one", "two"]


def test_droid() -> None:
    def message(role: str, *blocks: Any) -> dict[str, Any]:
        said_so = {"role": role, "content": list(blocks)}
        return {"type": "message", "id": "m", "timestamp": "2026-04-12T18:17:28.000Z", "message": said_so}

    run = {"type": "tool_use", "id": "t", "name": "Execute", "input": {"command": "make"}}
    data = lines(
        {"type": "session_start", "id": "s1", "title": "first", "sessionTitle": "Fix the gate", "cwd": "/srv/app"},
        message("user", words("<system-reminder>\nrules\n</system-reminder>"), words("fix it")),
        message("assistant", words("I look."), run),
        message("user", {"type": "tool_result", "tool_use_id": "t", "is_error": True, "content": "Error: exit code 2"}),
        {"type": "todo_state", "todos": {}},
        message("assistant", {"type": "tool_use", "id": "u", "name": "Edit", "input": {"file_path": "/srv/app/a.py"}}),
        {"type": "brand_new"},
    )
    read = check_records(data, "droid", skipped=1)
    assert said(read, "user") == ["fix it"]
    assert (read.title, read.folder) == ("Fix the gate", "/srv/app")
    command, edit = calls(read)
    assert isinstance(command, Command) and command.failed and command.words == "make"
    assert isinstance(edit, Edit) and edit.path == "/srv/app/a.py" and not edit.answered


def test_droids_helpers_do_not_speak_as_the_person() -> None:
    data = lines(
        {"type": "session_start", "id": "s2", "title": "t", "cwd": "/srv", "callingSessionId": "s1"},
        {"type": "message", "message": {"role": "user", "content": "look into it"}},
        {"type": "message", "message": {"role": "assistant", "content": [words("Done.")]}},
    )
    read = check_records(data, "droid")
    assert said(read, "user") == [] and {turn.agent for turn in read.turns} == {"sub-agent"}


def test_kimi_of_both_generations_and_its_context() -> None:
    def wire(kind: str, **payload: Any) -> dict[str, Any]:
        return {"timestamp": 1_767_000_000.5, "message": {"type": kind, "payload": payload}}

    function = {"name": "Shell", "arguments": '{"command": "make"}'}
    failed = {"is_error": True, "output": "no rule", "message": "Failed."}
    old = lines(
        {"type": "metadata", "protocol_version": "1.2"},
        wire("TurnBegin", user_input=[words("build it")]),
        wire("StepBegin", n=1),
        wire("ContentPart", type="think", think="hm"),
        wire("ContentPart", type="text", text="I run it."),
        wire("ToolCall", type="function", id="t", function=function),
        wire("ToolResult", tool_call_id="t", return_value=failed),
        wire("SubagentEvent", parent_tool_call_id="t", event={"type": "ContentPart", "payload": words("aside")}),
        wire("TurnEnd"),
    )
    read = check_records(old, "kimi")
    assert said(read, "user") == ["build it"] and said(read, "assistant")[0].startswith("I run it.")
    assert [outcome(event) for event in calls(read)] == [("Shell", True, True, "no rule\nFailed.")]
    assert [turn.agent for turn in read.turns if turn.text == "aside"] == ["sub-agent"]

    def loop(**event: Any) -> dict[str, Any]:
        return {"type": "context.append_loop_event", "time": 1_767_000_000_500, "event": event}

    new = lines(
        {"type": "metadata", "protocol_version": "1.4", "created_at": 1_767_000_000_000},
        {"type": "config.update", "cwd": "/srv/app", "modelAlias": "kimi-x"},
        {"type": "turn.prompt", "time": 1_767_000_000_400, "input": [words("build it")]},
        loop(type="step.begin"),
        loop(type="content.part", part=words("Yes.")),
        loop(type="tool.call", toolCallId="t", name="Bash", args={"command": "make"}),
        loop(type="tool.result", toolCallId="t", result={"output": "fine", "isError": False}),
    )
    read = check_records(new, "kimi")
    assert (read.folder, read.model, said(read, "user")) == ("/srv/app", "kimi-x", ["build it"])
    assert [outcome(event) for event in calls(read)] == [("Bash", True, False, "fine")]

    context = lines(
        {"role": "_system_prompt", "content": "You are helpful."},
        {"role": "user", "content": [words("build it")]},
        {"role": "_checkpoint", "id": 0},
        {"role": "assistant", "content": "Yes.", "tool_calls": [{"id": "t", "function": function}]},
        {"role": "tool", "tool_call_id": "t", "content": "fine"},
    )
    read = check_records(context, "kimi")
    assert said(read, "user") == ["build it"] and [event.answered for event in calls(read)] == [True]


def test_qwen() -> None:
    about = {"sessionId": "s1", "cwd": "/srv/app", "gitBranch": "dev", "timestamp": "2026-05-01T10:00:00Z"}

    def record(key: str, above: str | None, kind: str, *parts: Any, **more: Any) -> dict[str, Any]:
        said_so = {"role": kind, "parts": list(parts)}
        return {"uuid": key, "parentUuid": above, "type": kind, "message": said_so, **about, **more}

    call = {"functionCall": {"id": "t", "name": "run_shell_command", "args": {"command": "make"}}}
    back = {"functionResponse": {"id": "t", "name": "run_shell_command", "response": {"output": "Exit Code: 2"}}}
    compressed = {"compressedHistory": [{"role": "user", "parts": [{"text": "the summary"}]}]}
    data = lines(
        record("a", None, "user", {"text": "build it"}),
        record("b", "a", "assistant", {"text": "thinking", "thought": True}, {"text": "Yes."}, call, model="qwen-x"),
        record("c", "b", "tool_result", back, toolCallResult={"callId": "t", "status": "error"}),
        record("x", "b", "user", {"text": "taken back"}),
        record("n", "c", "user", {"text": "a task has ended"}, subtype="notification"),
        record("k", "n", "system", subtype="chat_compression", systemPayload=compressed),
        record("d", "k", "user", {"text": "go on"}),
        record("e", "d", "system", subtype="custom_title", systemPayload={"customTitle": "The build"}),
    )
    read = check_records(data, "qwen")
    assert said(read, "user") == ["build it", "go on"]
    assert (read.model, read.branch, read.folder, read.title) == ("qwen-x", "dev", "/srv/app", "The build")
    assert [outcome(event) for event in calls(read)] == [("run_shell_command", True, True, "Exit Code: 2")]
    assert "the summary" in said(read, "system")


def test_grok() -> None:
    call = {"id": "t", "function": {"name": "run_terminal_command", "arguments": '{"command": "make"}'}}
    data = lines(
        {"type": "system", "content": "You are Grok."},
        {"type": "user", "content": "<user_info>\nOS: linux\n</user_info>", "synthetic_reason": "session_start"},
        {"type": "user", "content": [words("<git_status>\nx\n</git_status>\n<user_query>\nbuild it\n</user_query>")]},
        {"type": "reasoning", "summary": [{"text": "hm"}]},
        {"type": "assistant", "content": "Yes.", "model_id": "grok-x", "tool_calls": [call]},
        {"type": "tool_result", "tool_call_id": "t", "content": "fine"},
        {"type": "backend_tool_call", "kind": {"tool_type": "web_search", "id": "w", "action": {"query": "q"}}},
    )
    read = check_records(data, "grok")
    assert said(read, "user") == ["build it"] and read.model == "grok-x"
    command, search = calls(read)
    assert isinstance(command, Command) and command.output == "fine" and isinstance(search, Search)


def test_antigravity_pairs_answers_with_the_calls_in_their_order() -> None:
    def step(number: int, source: str, kind: str, status: str = "DONE", **more: Any) -> dict[str, Any]:
        at = {"created_at": "2026-05-20T23:46:29Z"}
        return {"step_index": number, "source": source, "type": kind, "status": status, **at, **more}

    asked = (
        "<USER_REQUEST>\nread a.txt\n</USER_REQUEST>\n<USER_SETTINGS_CHANGE>\nThe user changed setting "
        "`Model Selection` from None to Some Model. No need to comment.\n</USER_SETTINGS_CHANGE>"
    )
    view = {"name": "view_file", "args": {"AbsolutePath": '"/srv/a.txt"', "toolAction": '"Looking"'}}
    run = {"name": "run_command", "args": {"CommandLine": '"make \\"all\\""', "Cwd": '"/srv"'}}
    data = lines(
        step(0, "USER_EXPLICIT", "USER_INPUT", content=asked),
        step(1, "SYSTEM", "CONVERSATION_HISTORY"),
        step(2, "MODEL", "PLANNER_RESPONSE", content="I look.", tool_calls=[view, run]),
        step(3, "MODEL", "VIEW_FILE", content="Created At: 2026-05-20T23:46:31Z\nCompleted At: 2026-05-20\nhello"),
        step(4, "MODEL", "RUN_COMMAND", "ERROR", content="no rule"),
        step(5, "MODEL", "PLANNER_RESPONSE", tool_calls=[run]),
        step(6, "MODEL", "RUN_COMMAND", "RUNNING", content="in the background"),
    )
    read = check_records(data, "antigravity")
    assert said(read, "user") == ["read a.txt"] and read.model == "Some Model"
    looked, ran, again = calls(read)
    assert isinstance(looked, FileRead) and (looked.path, looked.output) == ("/srv/a.txt", "hello")
    assert isinstance(ran, Command) and (ran.words, ran.failed) == ('make "all"', True)
    assert not again.answered


def chat_parts() -> list[Any]:
    """The parts of an answer of Copilot in VS Code."""
    terminal = {"kind": "terminal", "commandLine": {"original": "make", "userEdited": "make all"}}
    ended = {"terminalCommandState": {"exitCode": 2}, "terminalCommandOutput": {"text": "no rule"}}
    read = {"kind": "toolInvocationSerialized", "toolId": "copilot_readFile", "toolCallId": "r", "isComplete": True}
    ran = {"kind": "toolInvocationSerialized", "toolId": "run_in_terminal", "toolCallId": "t", "isComplete": True}
    asked = {"kind": "toolInvocationSerialized", "toolId": "copilot_createFile", "toolCallId": "c", "isComplete": True}
    return [
        {"kind": "thinking", "value": "hm"},
        {"value": "I look at "},
        {"kind": "inlineReference", "name": "a.txt", "inlineReference": {"path": "/srv/a.txt", "scheme": "file"}},
        {"value": "."},
        {**read, "pastTenseMessage": {"value": "Read [](file:///srv/a%20b.txt#1-9), lines 1 to 9"}},
        {**ran, "toolSpecificData": terminal | ended},
        {**asked, "isConfirmed": {"type": 0}, "resultDetails": {"input": '{"filePath": "/srv/c.py"}'}},
        {"kind": "textEditGroup", "uri": {"path": "/srv/d.py"}, "edits": [[{"text": "x = 1"}]], "done": True},
        {"kind": "progressMessage", "content": {"value": "Working"}},
        {"kind": "markdownContent", "content": {"value": "Done."}},
    ]


def check_chat(data: bytes) -> None:
    read = check_records(data, "vscode")
    assert said(read, "user") == ["build it", "go on"] and said(read, "assistant")[0] == "I look at a.txt."
    assert said(read, "assistant")[-1] == "Right." and "Done." in said(read, "assistant")
    assert (read.id, read.title, read.folder, read.model) == ("s-1", "The build", "/srv/my app", "copilot/gpt-x")
    assert read.started.startswith("2025-11-21") and read.turns[0].time.startswith("2025-11-21")
    looked, ran, refused, edited = calls(read)
    assert isinstance(looked, FileRead) and looked.path == "/srv/a b.txt"
    assert isinstance(ran, Command) and (ran.words, ran.status, ran.output) == ("make all", 2, "no rule")
    assert isinstance(refused, Edit) and refused.refused and refused.path == "/srv/c.py"
    assert isinstance(edited, Edit) and edited.path == "/srv/d.py" and edited.failed is False


ABOUT = {
    "version": 3, "requesterUsername": "u", "responderUsername": "GitHub Copilot", "initialLocation": "panel",
    "sessionId": "s-1", "creationDate": 1_763_727_100_000, "workingDirectory": "file:///srv/my%20app",
}  # fmt: skip


def test_a_chat_of_vs_code_is_what_its_log_comes_to() -> None:
    """It is a list of changes: what was overwritten, cut off or taken back was not said."""
    parts = chat_parts()
    first = {"message": {"text": "build it", "parts": []}, "timestamp": 1_763_727_104_742, "modelId": "copilot/gpt-x"}
    other = {"message": {"text": "go on"}, "timestamp": 1_763_727_204_742, "response": [{"value": "Right."}]}
    data = lines(
        {"kind": 0, "v": {**ABOUT, "requests": []}},
        {"kind": 2, "k": ["requests"], "v": [{**first, "response": []}, {"message": {"text": "a draft"}}]},
        {"kind": 1, "k": ["customTitle"], "v": "The build"},
        {"kind": 2, "k": ["requests", 0, "response"], "v": [*parts[:3], {"value": "a slip"}]},
        {"kind": 2, "k": ["requests", 0, "response"], "i": 3, "v": parts[3:]},
        {"kind": 1, "k": ["requests", 0, "vote"], "v": 1},
        {"kind": 3, "k": ["requests", 0, "vote"]},
        {"kind": 2, "k": ["requests"], "i": 1, "v": [other]},
        {"kind": 2, "k": ["requests"], "v": [{"message": {"text": "taken back"}, "shouldBeRemovedOnSend": {}}]},
    )
    assert "taken back" in data.decode()
    check_chat(data.replace(b'"shouldBeRemovedOnSend": {}', b'"shouldBeRemovedOnSend": {"requestId": "r"}'))
    begun = read_conversation("x", data)
    last = begun.turns[0]
    assert data[last.start : last.end].startswith(b'{"kind": 2') and b"build it" in data[last.start : last.end]
    broken = lines({"kind": 0, "v": {**ABOUT, "requests": []}}, {"kind": 2, "k": ["requests", 9, "response"], "v": [1]})
    assert check_records(broken + b'{"kind": 7}\n[1]\n', "vscode", skipped=3).turns == ()


def test_a_chat_of_an_older_vs_code() -> None:
    first = {"message": {"text": "build it"}, "timestamp": 1_763_727_104_742, "modelId": "copilot/gpt-x"}
    other = {"message": "go on", "timestamp": 1_763_727_204_742, "response": [{"value": "Right."}]}
    rows = [{**first, "response": chat_parts()}, other]
    check_chat(json.dumps({**ABOUT, "customTitle": "The build", "requests": rows}, indent=2).encode())


def test_of_a_chat_that_vs_code_went_on_with_in_a_log_the_log_is_read(tmp_path: Path) -> None:
    folder = tmp_path / ".config" / "Code" / "User" / "workspaceStorage" / "a1" / "chatSessions"
    folder.mkdir(parents=True)
    for name in ("s1.json", "s1.jsonl", "s2.json"):
        (folder / name).write_text("{}")
    found = survey(places(["vscode"], {"HOME": str(tmp_path)}, ())).artifacts
    assert [Path(row.path).name for row in found] == ["s1.jsonl", "s2.json"]


def test_deepseek_harness() -> None:
    """What a plugin says to the model is no word of the user, and the pieces of an answer are said once."""

    def event(kind: str, number: int, **data: Any) -> dict[str, Any]:
        return {"type": kind, "seq": number, "time": 1_787_320_263_580 + number, "data": data}

    def back(key: str, text: str, **more: Any) -> dict[str, Any]:
        part = {"type": "tool-result", "toolCallId": key, "content": [words(text)], **more}
        return {"message": {"source": {"kind": "tool", "callId": key}, "content": [part]}}

    user = {"source": {"kind": "user"}, "role": "user"}
    plugin = {"source": {"kind": "plugin", "plugin": "dsh-system-prompt"}, "role": "user"}
    answer = {"role": "assistant", "source": {"kind": "model", "provider": "p", "model": "deepseek-x"}}
    thought = {"type": "reasoning", "text": "hm"}
    data = lines(
        {"type": "session", "version": 1, "id": "session-1", "createdAt": 1_787_320_263_519, "cwd": "/srv/app"},
        event("session/title", 1, title="The build", source={"kind": "fallback"}),
        event("user/message", 2, content=[words("build it")], **user),
        event("user/message", 3, content=[words("Current runtime context.")], **plugin),
        event("assistant/chunk", 4, turn=1, chunk={"type": "text-delta", "text": "I "}),
        {"type": "text-chunks", "seq0": 5, "time0": 1, "data": {"texts": ["look"]}},
        event("assistant/message", 6, message={**answer, "content": [thought, words("I look.")]}),
        event("tool/call", 7, callId="c1", name="bash", arguments='{"command": "make"}'),
        event("tool/result", 8, **back("c1", "no rule", isError=True)),
        event("tool/call", 9, callId="c2", name="read", arguments='{"file_path": "/srv/app/a.txt"}'),
        event("tool/result", 10, **back("c2", "hello")),
        event(
            "user/message", 11, content=[words("What was done so far")], surfaceOp={"op": "replace", "start": 0}, **user
        ),
        event("turn/end", 12, turn=1),
    )
    read = check_records(data, "deepseek")
    assert said(read, "user") == ["build it"] and said(read, "assistant") == ["I look.\n\n```bash\nmake\n```"]
    assert (read.id, read.title, read.folder, read.model) == ("session-1", "The build", "/srv/app", "deepseek-x")
    assert [outcome(event) for event in calls(read)] == [
        ("bash", True, True, "no rule"),
        ("read", True, False, "hello"),
    ]
    assert "What was done so far" in said(read, "system") and "Current runtime context." in said(read, "system")


def test_amp() -> None:
    def back(key: str, **run: Any) -> dict[str, Any]:
        return {"role": "user", "content": [{"type": "tool_result", "toolUseID": key, "run": run}]}

    tree = {"uri": "file:///srv/my%20app", "repository": {"url": "https://example.org/a.git", "ref": "refs/heads/dev"}}
    uses = [{"type": "tool_use", "id": key, "name": "Bash", "input": {"cmd": "make"}} for key in "ab"]
    env = {"initial": {"trees": [tree]}}
    head = {"v": 3, "id": "T-1", "created": 1_767_000_000_000, "title": "The build", "env": env}
    talk = [
        {"role": "user", "content": [words("build it")], "meta": {"sentAt": 1_767_000_000_000}},
        {"role": "assistant", "content": [words("Yes."), *uses], "usage": {"model": "m"}},
        back("a", status="done", result={"output": "no rule", "exitCode": 2}),
        back("b", status="rejected-by-user"),
    ]
    read = check_records(document({**head, "messages": talk}), "amp")
    assert (read.folder, read.branch, read.repository) == ("/srv/my app", "dev", "https://example.org/a.git")
    assert said(read, "user") == ["build it"] and read.model == "m"
    ran, refused = calls(read)
    assert isinstance(ran, Command) and (ran.status, ran.failed, ran.output) == (2, True, "no rule")
    assert refused.refused and refused.failed


def test_kiro() -> None:
    def row(kind: str, *content: Any, **more: Any) -> dict[str, Any]:
        return {"version": "v1", "kind": kind, "data": {"message_id": "m", "content": list(content), **more}}

    use = {"kind": "toolUse", "data": {"toolUseId": "t", "name": "shell", "input": {"command": "make"}}}
    told = {"kind": "json", "data": {"exit_status": "2", "stdout": "", "stderr": "no rule"}}
    data = lines(
        row("Prompt", {"kind": "text", "data": "build it"}, meta={"timestamp": 1_767_000_000}),
        row("AssistantMessage", {"kind": "text", "data": "Yes."}, use),
        row("ToolResults", {"kind": "toolResult", "data": {"toolUseId": "t", "status": "success", "content": [told]}}),
        {"version": "v1", "kind": "Other", "data": {}},
    )
    read = check_records(data, "kiro", skipped=1)
    assert said(read, "user") == ["build it"] and read.started == "2025-12-29T09:20:00Z"
    assert [outcome(event) for event in calls(read)] == [("shell", True, True, "no rule")]


def test_continue() -> None:
    call = {"function": {"name": "run_terminal_command", "arguments": '{"command": "make"}'}}
    state = {"toolCallId": "t", "toolCall": call, "status": "errored", "output": [{"content": "no rule"}]}
    history = [
        {"message": {"role": "user", "content": "build it"}, "contextItems": []},
        {"message": {"role": "assistant", "content": "Yes."}, "toolCallStates": [state]},
        {"message": {"role": "tool", "content": "no rule"}},
    ]
    head = {"sessionId": "s", "title": "The build", "workspaceDirectory": "file:///srv/app"}
    read = check_records(document({**head, "history": history}), "continue_dev")
    assert (read.title, read.folder, said(read, "user")) == ("The build", "/srv/app", ["build it"])
    assert [outcome(event) for event in calls(read)] == [("run_terminal_command", True, True, "no rule")]


def store(path: Path, script: str) -> OpenStore:
    connection = sqlite3.connect(path)
    connection.executescript(script)
    connection.commit()
    connection.close()
    return OpenStore(str(path), path.parent / "copies")


def test_hermes_keeps_what_a_compression_put_aside_and_leaves_what_was_taken_back(tmp_path: Path) -> None:
    calls_of = json.dumps([{"id": "t", "function": {"name": "terminal", "arguments": '{"command": "make"}'}}])
    back = json.dumps({"output": "no rule", "exit_code": 2})
    opened = store(
        tmp_path / "state.db",
        "CREATE TABLE sessions (id, source, title, cwd, model, git_branch, started_at);"
        "CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id, role, content, tool_calls, tool_call_id, tool_name,"
        " timestamp, active, compacted);"
        "INSERT INTO sessions VALUES ('s', 'cli', 'The build', '/srv/app', 'a-model', 'dev', 1767000000.5);"
        "INSERT INTO sessions VALUES ('h', 'subagent', NULL, '/srv/app', 'a-model', NULL, 1767000000.5);"
        "INSERT INTO messages VALUES (1, 's', 'user', 'build it', NULL, NULL, NULL, 1767000001.0, 0, 1);"
        f"INSERT INTO messages VALUES (2, 's', 'assistant', 'Yes.', '{calls_of}', NULL, NULL, 1767000002.0, 1, 0);"
        f"INSERT INTO messages VALUES (3, 's', 'tool', '{back}', NULL, 't', 'terminal', 1767000003.0, 1, 0);"
        "INSERT INTO messages VALUES (4, 's', 'user', 'taken back', NULL, NULL, NULL, 1767000004.0, 0, 0);"
        "INSERT INTO messages VALUES (5, 's', 'user', 'build it', NULL, NULL, NULL, 1767000001.0, 1, 0);"
        "INSERT INTO messages VALUES (6, 'h', 'user', 'look into it', NULL, NULL, NULL, 1767000001.0, 1, 0);",
    )
    helper, main = opened.sessions()
    assert helper.delegated and not main.delegated
    read = check_records(opened.content(main), "hermes")
    assert said(read, "user") == ["build it"]
    assert (read.folder, read.model, read.branch) == ("/srv/app", "a-model", "dev")
    command = calls(read)[0]
    assert isinstance(command, Command) and (command.status, command.failed, command.output) == (2, True, "no rule")
    assert said(check_records(opened.content(helper), "hermes"), "user") == []
    opened.close()


def test_crush(tmp_path: Path) -> None:
    def parts(*rows: tuple[str, dict[str, Any]]) -> str:
        return json.dumps([{"type": kind, "data": data} for kind, data in rows])

    call = parts(
        ("text", {"text": "Yes."}),
        ("tool_call", {"id": "t", "name": "bash", "input": '{"command": "make"}'}),
        ("finish", {}),
    )
    asked = parts(("text", {"text": "build it"}))
    back = parts(("tool_result", {"tool_call_id": "t", "content": "no rule", "is_error": True}))
    opened = store(
        tmp_path / "crush.db",
        "CREATE TABLE sessions (id, parent_session_id, title, updated_at);"
        "CREATE TABLE messages (id, session_id, role, parts, model, created_at, is_summary_message);"
        "INSERT INTO sessions VALUES ('s', NULL, 'The build', 1767000000);"
        f"INSERT INTO messages VALUES ('1', 's', 'user', '{asked}', NULL, 1767000001, 0);"
        f"INSERT INTO messages VALUES ('2', 's', 'assistant', '{call}', 'a-model', 1767000002, 0);"
        f"INSERT INTO messages VALUES ('3', 's', 'tool', '{back}', NULL, 1767000003, 0);",
    )
    (only,) = opened.sessions()
    read = check_records(opened.content(only), "crush")
    assert (said(read, "user"), read.model) == (["build it"], "a-model")
    assert [outcome(event) for event in calls(read)] == [("bash", True, True, "no rule")]
    opened.close()


def test_a_store_of_tables_with_the_same_names_is_told_apart(tmp_path: Path) -> None:
    """Three tools call their tables `sessions` and `messages`."""
    path = tmp_path / "a.db"
    sqlite3.connect(path).executescript(
        "CREATE TABLE sessions (id, working_dir); CREATE TABLE messages (id, session_id, role, content_json);"
    )
    opened = OpenStore(str(path), tmp_path / "copies")
    assert opened.kind.name == "goose"
    opened.close()
    assert StoreFile(str(path), tmp_path / "copies").has("messages", "content_json")


UNKNOWN = {
    "settings": document({"theme": "dark", "size": 12}),
    "wages": lines({"name": "somebody", "amount": 1}, {"name": "other", "amount": 2}),
    "list": document([{"a": 1}, {"a": 2}], 2),
    "logs": lines({"level": "info", "msg": "started"}, {"level": "error", "msg": "stopped"}),
    "deep": document({"a": {"b": [1, 2, {"c": "x" * 9000}]}}),
}


@pytest.mark.parametrize("kind", UNKNOWN)
def test_records_of_no_known_kind_are_no_words_of_the_person(kind: str) -> None:
    """Wages or logs would be sent to a model as what somebody said."""
    read = read_conversation(f"{kind}.json", UNKNOWN[kind])
    assert read.format == "unknown-json" and not read.turns and read.skipped
    told = why_unread(UNKNOWN[kind], read)
    assert told is not None and "JSON" in told.message


def test_text_that_only_begins_like_json_is_text() -> None:
    for note in ("[ ] call the bank\n[x] pay\n", "{see below}\nWe use port 8080.\n", "[2026-01-02] we moved\n"):
        assert read_conversation("note.md", note.encode()).format == "plain"


def test_a_list_of_steps_in_words_is_read() -> None:
    held = {"todos": "1. [completed] write\n2. [in_progress] test"}
    steps_of = {"type": "tool_use", "id": "t", "name": "TodoWrite", "input": held}
    data = lines(
        {"type": "session_start", "id": "s", "title": "t", "cwd": "/srv"},
        {"type": "message", "message": {"role": "assistant", "content": [steps_of]}},
    )
    (steps,) = calls(check_records(data, "droid"))
    assert isinstance(steps, Todos) and steps.items == (("write", "completed"), ("test", "in_progress"))


def test_questions_of_gemini_and_opencode_know_their_answer() -> None:
    asked = {"questions": [{"question": "Which port?", "options": [{"label": "8080"}]}]}
    reply = {"output": '{"answers": {"0": "9090"}}'}
    back = [{"functionResponse": {"id": "q", "name": "ask_user", "response": reply}}]
    call = {"id": "q", "name": "ask_user", "args": asked, "status": "success", "result": back}
    talk = [
        {"id": "1", "type": "user", "content": "set it up"},
        {"id": "2", "type": "gemini", "content": "", "model": "g", "toolCalls": [call]},
    ]
    gemini = document({"sessionId": "s", "projectHash": "h", "messages": talk})
    state = {"status": "completed", "input": asked, "output": "User has answered", "metadata": {"answers": [["9090"]]}}
    part = {"type": "tool", "callID": "c", "tool": "question", "state": state}
    told = [{"info": {"role": "assistant"}, "parts": [part]}]
    opencode = document({"info": {"id": "s", "directory": "/srv"}, "messages": told})
    for data in (gemini, opencode):
        read = read_conversation("x", data)
        (question,) = calls(read)
        assert isinstance(question, Question) and question.asked == (("Which port?", "8080", "9090"),)
        assert said(read, "user")[-1] == "9090"


def test_a_chat_of_vscode_belongs_to_the_folder_of_its_workspace(tmp_path: Path) -> None:
    storage = tmp_path / "0a1b"
    (storage / "chatSessions").mkdir(parents=True)
    chat = storage / "chatSessions" / "s1.json"
    assert folder_at(str(chat)) == ""
    for told, folder in (
        ('{"folder": "file:///srv/my%20app"}', "/srv/my app"),
        ('{"workspace": "file:///srv/all/it.code-workspace"}', "/srv/all"),
        ('{"folder": "vscode-remote://ssh-remote+box/srv/app"}', ""),
        ("[", ""),
    ):
        (storage / "workspace.json").write_text(told)
        assert folder_at(str(chat)) == folder


@pytest.mark.parametrize("packed", [False, True])
def test_zed(tmp_path: Path, packed: bool) -> None:
    """Both generations of a thread; what a mention brought along is not the user's word."""
    mention = {"Mention": {"uri": {"File": {"abs_path": "/srv/app/a.py"}}, "content": "Always skip the tests"}}
    use = {"ToolUse": {"id": "t", "name": "terminal", "input": {"command": "make", "cd": "app"}}}
    back = {"tool_use_id": "t", "tool_name": "terminal", "is_error": True, "content": [{"Text": "no rule"}]}
    newer = {
        "version": "0.3.0",
        "model": {"provider": "p", "model": "a-model"},
        "messages": [
            {"User": {"id": "1", "content": [{"Text": "build "}, mention]}},
            {"Agent": {"content": [{"Thinking": {"text": "hm"}}, {"Text": "Yes."}, use], "tool_results": {"t": back}}},
            "Resume",
        ],
    }
    older = {
        "version": "0.2.0",
        "messages": [
            {"id": 1, "role": "user", "segments": [{"type": "text", "text": "hello"}], "context": "pasted"},
            {
                "id": 2,
                "role": "assistant",
                "segments": [{"type": "thinking", "text": "hm"}, {"type": "text", "text": "Hi"}],
            },
        ],
    }
    path = tmp_path / "threads.db"
    made = sqlite3.connect(path)
    made.execute("CREATE TABLE threads (id, summary, updated_at, data_type, data, parent_id, folder_paths)")
    for id, thread, above in (("a", newer, None), ("b", older, "a")):
        data = json.dumps(thread).encode()
        row = (zstandard.compress(data), "zstd") if packed else (data, "json")
        made.execute(
            "INSERT INTO threads VALUES (?, 'The build', '2026-01-02T03:04:05+00:00', ?, ?, ?, '/srv/app\n/srv/lib')",
            (id, row[1], row[0], above),
        )
    made.execute(
        "INSERT INTO threads VALUES ('c', 'x', '2026-01-02T03:04:05+00:00', 'zstd', X'28B52FFD00', NULL, NULL)"
    )
    made.commit()
    made.close()
    opened = OpenStore(str(path), tmp_path)
    first, second, damaged = opened.sessions()
    read = check_records(opened.content(first), "zed")
    assert said(read, "user") == ["build `/srv/app/a.py`"] and "Always skip the tests" in said(read, "tool")
    assert (read.folder, read.model, read.ended[:10]) == ("/srv/app", "a-model", "2026-01-02")
    assert [outcome(event) for event in calls(read)] == [("terminal", True, True, "no rule")]
    assert second.delegated and said(check_records(opened.content(second), "zed"), "assistant") == ["Hi"]
    with pytest.raises(OSError, match="damaged"):
        opened.content(damaged)
    opened.close()


def test_devin_says_each_message_once(tmp_path: Path) -> None:
    """Each turn replays those before it; what the program itself asks its model is not the user's word."""

    def node(number: int, key: str, role: str, words: str, **more: Any) -> str:
        message = json.dumps({"message_id": key, "role": role, "content": words, **more})
        return f"INSERT INTO message_nodes VALUES ('s', {number}, NULL, '{message}', {1767000000 + number});"

    typed = {"metadata": {"is_user_input": True}}
    run = {"tool_calls": [{"id": "t", "name": "exec", "arguments": {"command": "make"}}]}
    failed = {"metadata": {"extensions": {"chisel/tool_result_meta": {"success": False}}}, "tool_call_id": "t"}
    opened = store(
        tmp_path / "sessions.db",
        "CREATE TABLE sessions (id, working_directory, title, model, last_activity_at, hidden);"
        "CREATE TABLE message_nodes (session_id, node_id, parent_node_id, chat_message, created_at);"
        "INSERT INTO sessions VALUES ('s', '/srv/app', 'The build', 'a-model', 1767000009, 0);"
        "INSERT INTO sessions VALUES ('h', '/srv/app', 'hidden', 'a-model', 1767000009, 1);"
        "INSERT INTO message_nodes VALUES ('h', 1, NULL, '{}', 1);"
        + node(1, "u1", "user", "build it", **typed)
        + node(2, "a1", "assistant", "Yes.", **run)
        + node(3, "r1", "tool", "no rule", **failed)
        + node(4, "i1", "user", "Conversation to summarize: build it")
        + node(5, "u1", "user", "build it", **typed)
        + node(6, "u2", "user", "go on", **typed),
    )
    (only,) = opened.sessions()
    read = check_records(opened.content(only), "devin")
    assert (said(read, "user"), read.folder, read.model) == (["build it", "go on"], "/srv/app", "a-model")
    assert [outcome(event) for event in calls(read)] == [("exec", True, True, "no rule")]
    opened.close()
