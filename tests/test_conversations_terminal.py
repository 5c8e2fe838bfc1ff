"""Agents of the terminal: what their sessions say, who said it, and where in the file it stands."""

from __future__ import annotations

import hashlib
import io
import json
import tracemalloc
from pathlib import Path
from random import Random
from typing import Any

import pytest

from core.conversations import packed
from core.conversations.conversation import Conversation
from core.conversations.events import Command, Edit
from core.conversations.packed import LEAST_UNPACKED
from core.conversations.read import read_all, read_conversation, why_unread
from core.conversations.render import transcript
from tests.cli_call import call as call_program
from tests.made_records import check_records, document, lines, roles, said

# --- Claude Code: without these, tool output or another program's words would be harvested as the person's.


def line(kind: str, content: Any, **more: Any) -> dict[str, Any]:
    message = {"role": kind, "content": content, **({"id": "msg_1"} if kind == "assistant" else {})}
    start = {"parentUuid": None, "isSidechain": False, "cwd": "/repo/shop", "sessionId": "s-1", "type": kind}
    return start | {"message": message, "uuid": "u", "timestamp": "2026-02-03T04:05:06.789Z"} | more


def text(words: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": words}]


def result(content: Any, **more: Any) -> list[dict[str, Any]]:
    return [{"type": "tool_result", "tool_use_id": "t", "content": content, **more}]


def call(name: str, **given: Any) -> list[dict[str, Any]]:
    return [{"type": "tool_use", "id": "t", "name": name, "input": given}]


def test_a_session_with_its_facts_and_the_lines_that_each_turn_stands_in() -> None:
    rows = (
        {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}},
        line("user", "The tests fail on staging ü"),
        line("assistant", [{"type": "thinking", "thinking": "a guess"}]),
        line("assistant", text("I run them.")),
        line("assistant", call("Bash", command="make test", description="run")),
        line("user", result("2 failed")),
        line("assistant", text("Port 8081 was taken.")),
    )
    data = lines(*rows)
    conversation = check_records(data, "claude_code")
    assert (conversation.id, conversation.folder) == ("s-1", "/repo/shop")
    assert conversation.title == "The tests fail on staging ü"
    assert conversation.started == "2026-02-03T04:05:06.789Z"
    assert roles(conversation) == ["user", "assistant", "tool", "assistant"]
    assert conversation.turns[1].text == "I run them.\n\n```bash\nmake test\n```"
    first, answer = conversation.turns[0], conversation.turns[1]
    assert data[first.start : first.end] == lines(rows[1])
    assert data[answer.start : answer.end] == lines(rows[3], rows[4])
    assert "guess" not in str(conversation.turns)


@pytest.mark.parametrize(
    ("said", "title"),
    [
        (("/add src/App.tsx src/api.ts", "Show the role of each user"), "Show the role of each user"),
        (("/model sonnet", "hi", "Show the role of each user"), "Show the role of each user"),
        (("/add src/App.tsx",), "/add src/App.tsx"),
        (("/review the last three commits", "Show the role of each user"), "/review the last three commits"),
    ],
)
def test_files_that_are_added_first_are_no_title(said: tuple[str, ...], title: str) -> None:
    """A user would look for a conversation by what they wanted."""
    assert check_records(lines(*(line("user", text) for text in said)), "claude_code").title == title


def test_a_torn_last_line_and_unknown_records_are_counted_and_cost_nothing_else() -> None:
    whole = lines(line("user", "first"), {"type": "from-the-future", "sessionId": "s-1"}, "[1]", line("user", "last"))
    conversation = check_records(whole + lines(line("assistant", text("torn")))[:60], "claude_code", skipped=3)
    assert said(conversation, "user") == ["first", "last"]


def test_a_sub_agents_prompt_was_written_by_an_assistant_and_its_file_is_a_session_of_its_own() -> None:
    data = lines(
        line("user", "search for the port", isSidechain=True, agentId="a7"),
        line("assistant", text("It is 8081."), isSidechain=True, agentId="a7"),
    )
    conversation = check_records(data, "claude_code")
    assert roles(conversation) == ["system", "assistant"]
    assert conversation.id == "s-1/a7"


def test_the_index_of_prompts_gives_a_conversation_for_each_session() -> None:
    data = lines(
        {"display": "one", "pastedContents": {}, "timestamp": 1760000000000, "project": "/a", "sessionId": "x"},
        {"display": "two", "pastedContents": {}, "timestamp": 1760000001000, "project": "/b", "sessionId": "y"},
        {"display": "three", "pastedContents": {}, "timestamp": 1760000002000, "project": "/a", "sessionId": "x"},
    )
    first, second = read_all("history.jsonl", data)
    assert (first.id, first.folder, said(first, "user")) == ("x", "/a", ["one", "three"])
    assert second.started == "2025-10-09T08:53:21Z"
    whole = read_conversation("history.jsonl", data)
    assert said(whole, "user") == ["one", "three", "two"]


def test_a_long_tool_output_is_cut_in_the_middle_and_says_so() -> None:
    listing = "\n".join(f"line {number}" for number in range(60_000))
    conversation = check_records(lines(line("user", "go"), line("user", result(listing))), "claude_code")
    text = conversation.turns[1].text
    assert len(text) < 9000
    assert text.startswith("line 0\n")
    assert text.endswith("line 59999")
    assert "characters left out" in text


def test_a_command_that_was_run_is_told_from_one_that_was_shown() -> None:
    """What an assistant only shows of a page's advice would count as tried otherwise."""
    shown = "It says:\n\n```bash\nmake all\n```"
    data = lines(
        line("user", "go"),
        line("assistant", [*text(shown), *call("Bash", command="make test")]),
        line("user", result("4 passed")),
        line("assistant", call("Read", file_path="/a.py")),
    )
    turns = read_conversation("x", data).turns
    assert [(turn.role, tuple(event.words for event in turn.commands), turn.is_call) for turn in turns] == [
        ("user", (), False), ("assistant", ("make test",), False), ("tool", (), False), ("tool", (), True),
    ]  # fmt: skip


# --- Codex: without these, everything is harvested twice, and its instructions as if the user had said them.


def row(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-02-03T04:05:06.789Z", "type": kind, "payload": payload}


def item(role: str, text: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return row("response_item", type="message", role=role, content=[{"type": kind, "text": text}])


def event(kind: str, message: str) -> dict[str, Any]:
    return row("event_msg", type=kind, message=message)


META = row("session_meta", id="c-1", cwd="/repo/shop", timestamp="2026-02-03T04:00:00Z", cli_version="0.140.0")


def test_an_old_rollout_without_the_envelope_is_read() -> None:
    data = lines(
        {"id": "old", "timestamp": "2025-07-01T00:00:00Z", "instructions": None, "git": {}},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hi"}]},
    )
    conversation = check_records(data, "codex")
    assert (conversation.id, roles(conversation)) == ("old", ["user", "assistant"])


def test_the_index_of_prompts_of_codex_gives_a_conversation_for_each_session() -> None:
    data = lines(
        {"session_id": "a", "ts": 1757998091, "text": "one"}, {"session_id": "b", "ts": 1757998092, "text": "2"}
    )
    assert [(row.id, said(row, "user")) for row in read_all("history.jsonl", data)] == [("a", ["one"]), ("b", ["2"])]


def test_unknown_records_and_a_torn_end_are_counted() -> None:
    data = lines(META, row("event_msg", type="from_the_future"), row("later"), event("user_message", "x"), '{"timest')
    assert said(check_records(data, "codex", skipped=3), "user") == ["x"]


def pack(data: bytes) -> bytes:
    zstandard = pytest.importorskip("zstandard", reason="zstandard is not installed: packed rollouts are not read")
    stream = io.BytesIO()
    with zstandard.ZstdCompressor().stream_writer(stream, closefd=False) as writer:
        writer.write(data)
    return stream.getvalue()


def test_a_packed_rollout_reads_like_the_plain_one_and_a_torn_one_as_far_as_it_goes() -> None:
    data = lines(META, event("user_message", "pack me"), *(item("assistant", f"answer {n}") for n in range(20_000)))
    whole = read_conversation("r.jsonl.zst", pack(data))
    assert whole == read_conversation("r.jsonl.zst", data)
    torn = read_conversation("r.jsonl.zst", pack(data)[:-200])
    assert torn.skipped >= 1
    assert said(torn, "user") == ["pack me"]


def test_a_packed_rollout_that_is_damaged_gives_what_stands_before_the_damage() -> None:
    noise = Random(7)
    answers = [item("assistant", noise.randbytes(40_000).hex()) for _ in range(99)]
    data = lines(META, event("user_message", "pack me"), *answers)
    whole = pack(data)
    damaged = read_conversation("r.jsonl.zst", whole[: len(whole) // 2] + bytes(4096) + whole[len(whole) // 2 :])
    assert said(damaged, "user") == ["pack me"]
    assert damaged.skipped >= 1
    assert read_conversation("r", packed.ZSTANDARD + b"no frame at all").skipped == 1


def test_a_small_file_that_unpacks_to_very_much_costs_no_memory() -> None:
    """64 KB took two gigabytes. It must not count as harvested either: what is in it was never read."""
    zstandard = pytest.importorskip("zstandard", reason="zstandard is not installed: packed rollouts are not read")
    packer = zstandard.ZstdCompressor(level=3).compressobj()
    data = b"".join(packer.compress(bytes(1 << 20)) for _ in range(600)) + packer.flush()
    assert len(data) < 65536
    tracemalloc.start()
    try:
        conversation = read_conversation("r.jsonl.zst", data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    trouble = why_unread(data, conversation)
    assert trouble is not None and trouble.code == "overpacked-conversation"
    assert peak < 4 * LEAST_UNPACKED


def test_a_rollout_that_begins_with_a_record_of_a_newer_kind_is_read() -> None:
    data = lines(row("brand_new", x=1), event("user_message", "hi"))
    assert said(check_records(data, "codex", skipped=1), "user") == ["hi"]


def _ran(call: dict[str, Any], output: Any) -> Conversation:
    rows = (
        event("user_message", "go"),
        {**row("response_item"), "payload": {"call_id": "1", **call}},
        row("response_item", type="function_call_output", call_id="1", output=output),
    )
    return read_conversation("rollout.jsonl", lines(*rows))


def _shell(command: str) -> dict[str, Any]:
    return {"type": "function_call", "name": "exec_command", "arguments": json.dumps({"cmd": command})}


@pytest.mark.parametrize(
    ("output", "text", "status"),
    [
        ("Chunk ID: 1\nWall time: 0.5 seconds\nProcess exited with code 2\nOutput:\nno", "no\nexit code: 2", 2),
        ("Exit code: 0\nWall time: 1 seconds\nOutput:\nfine", "fine\nexit code: 0", 0),
        (
            "Wall time: 9 seconds\nProcess running with session ID 7\nOriginal token count: 1\nOutput:\n.",
            ".\n[Process running with session ID 7]",
            None,
        ),
        (
            "failed in sandbox Seatbelt with execution error: denied, exit code: 1, stdout: 1 failed\n, stderr: why",
            "1 failed\n\nwhy\nexit code: 1",
            1,
        ),
        ("Chunk ID: is what the file says\nof itself", "Chunk ID: is what the file says\nof itself", None),
    ],
)
def test_what_codex_writes_around_an_output_goes_and_the_exit_code_stays(
    output: str, text: str, status: int | None
) -> None:
    read = _ran(_shell("make"), output)
    assert read.turns[-1].text == text
    (command,) = [event for turn in read.turns for event in turn.events if isinstance(event, Command)]
    assert (command.status, command.failed) == (status, None if status is None else status != 0)


@pytest.mark.parametrize("output", ["patch rejected by user", {"content": "patch rejected by user", "success": False}])
def test_a_patch_that_was_refused_in_codex_is_no_change(tmp_path: Path, output: Any) -> None:
    """A hand-off named the file as written."""
    patch = "*** Begin Patch\n*** Update File: src/till.py\n@@\n-a\n+b\n*** End Patch"
    rows = (
        META,
        event("user_message", "Round the sums in the till."),
        row("response_item", type="custom_tool_call", name="apply_patch", call_id="1", input=patch),
        row("response_item", type="custom_tool_call_output", call_id="1", output=output),
        event("agent_message", "I have changed nothing."),
    )
    (tmp_path / "rollout-1.jsonl").write_bytes(lines(*rows))
    code, out, _ = call_program("--home", str(tmp_path / "home"), "handoff", str(tmp_path / "rollout-1.jsonl"))
    assert code == 0 and "Round the sums" in out and "## Files\n- no edit is recorded\n" in out
    assert "the user refused an edit of `src/till.py`" in out
    assert "the person refused it" in transcript(
        _ran({"type": "custom_tool_call", "name": "apply_patch", "input": patch}, output)
    )


@pytest.mark.parametrize(
    ("command", "path", "how"),
    [
        (
            "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: src/new.py\n+x\n*** End Patch\nEOF",
            "src/new.py",
            "created",
        ),
        (
            "cd app && apply_patch << 'PATCH'\n*** Begin Patch\n*** Update File: a/one.py\n@@\n-x\n+y\n"
            "*** Update File: b/two.py\n@@\n-x\n+y\n*** End Patch\nPATCH\n",
            "a/one.py, b/two.py",
            "changed",
        ),
    ],
)
def test_a_patch_by_a_shell_is_an_edit_of_its_files(command: str, path: str, how: str) -> None:
    """Else a session that only patches this way looks as if it had changed nothing."""
    (edit,) = [event for turn in _ran(_shell(command), "Success").turns for event in turn.events]
    assert isinstance(edit, Edit) and (edit.path, edit.how) == (path, how)
    assert edit.names == tuple(part.rsplit("/", 1)[-1] for part in path.split(", "))


def test_a_patch_with_another_command_behind_it_stays_a_command() -> None:
    line = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: a.py\n+x\n*** End Patch\nEOF\nmake test"
    (command,) = [event for turn in _ran(_shell(line), "ok").turns for event in turn.events]
    assert isinstance(command, Command)


def test_a_patch_that_did_not_apply_is_shown_by_its_first_words() -> None:
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** End Patch"
    said = "apply_patch verification failed: Failed to find expected lines in a.py:\n" + "what it looked for\n" * 40
    shown = transcript(_ran({"type": "custom_tool_call", "name": "apply_patch", "input": patch}, said))
    assert "FAILED" in shown and "verification failed" in shown
    assert shown.count("what it looked for") < 5


# --- Gemini CLI: without these, what was taken back is harvested, or what was said before a compression is lost.

HEAD = {"sessionId": "g-1", "projectHash": "f" * 64, "startTime": "2026-01-10T20:00:21.501Z", "kind": "main"}


def message(key: str, kind: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"id": key, "timestamp": "2026-01-10T20:00:22.501Z", "type": kind, "content": content, **more}


CALL = {
    "id": "c",
    "name": "run_shell_command",
    "args": {"command": "make"},
    "result": [{"functionResponse": {"response": {"output": "Exit Code: 0"}}}],
}
TALK = (
    message("1", "user", "build it"),
    message("2", "gemini", "I build.", thoughts=[{"subject": "hm"}], toolCalls=[CALL]),
    message("3", "info", "update available"),
)


@pytest.mark.parametrize("indent", [None, 2])
def test_an_older_session_is_one_document(indent: int | None) -> None:
    data = document(HEAD | {"messages": [*TALK, "broken"]}, indent)
    conversation = check_records(data, "gemini_cli", skipped=1)
    assert roles(conversation) == ["user", "assistant", "tool", "system"]
    assert conversation.turns[1].text == "I build.\n\n```bash\nmake\n```"
    assert (conversation.id, conversation.started) == ("g-1", "2026-01-10T20:00:21.501Z")
    first = conversation.turns[0]
    assert data[first.start : first.end].startswith(b"{")
    assert b"build it" in data[first.start : first.end]


def test_going_back_to_a_message_that_is_not_there_does_not_wipe_the_session() -> None:
    data = lines(HEAD, message("1", "user", "still here"), {"$rewindTo": "9"})
    assert said(check_records(data, "gemini_cli", skipped=1), "user") == ["still here"]


def test_the_index_of_prompts_of_gemini_cli_gives_a_conversation_for_each_session() -> None:
    rows = [
        {"sessionId": key, "messageId": n, "type": "user", "message": f"p{n}", "timestamp": "2026-01-01T00:00:00Z"}
        for n, key in enumerate("aab")
    ]
    assert [said(row, "user") for row in read_all("logs.json", document(rows))] == [["p0", "p1"], ["p2"]]
    check_records(document([*rows, 7]), "gemini_cli", skipped=1)


def test_a_session_cut_in_the_middle_gives_what_stands_before() -> None:
    data = document(HEAD | {"messages": [*TALK]})
    conversation = check_records(data[: data.index(b"update")], "gemini_cli", skipped=1)
    assert said(conversation, "user") == ["build it"]


def test_the_folder_is_the_one_whose_hash_the_file_tells() -> None:
    """Without it, what was learned in one project is shown in every other."""
    folder = "/Users/mo/src/pump-house"
    wrote = {**CALL, "result": [{"functionResponse": {"response": {"output": f"Wrote: {folder}/docs/valve.md."}}}]}
    talk = (message("1", "user", "write it"), message("2", "gemini", "Done.", toolCalls=[wrote]))
    head = HEAD | {"projectHash": hashlib.sha256(folder.encode()).hexdigest()}
    [told] = read_all("s.json", document(head | {"messages": [*talk]}, None))
    assert told.folder == folder
    [other] = read_all("s.json", document(HEAD | {"messages": [*talk]}, None))
    assert other.folder == "", "a folder that does not bear the hash is a guess"


# --- Copilot CLI: without these, its hooks and instructions drown what was said.


def happened(kind: str, **data: Any) -> dict[str, Any]:
    return {"type": kind, "data": data, "id": "e", "timestamp": "2026-06-25T01:50:44.754Z", "parentId": None}


def test_a_session_is_read_without_its_hooks() -> None:
    run = {"name": "bash", "arguments": {"command": "make"}}
    data = lines(
        happened("session.start", sessionId="p-1", startTime="2026-06-25T01:50:34Z", context={"cwd": "/repo/shop"}),
        happened("system.message", role="system", content="You are"),
        happened("hook.start", hookType="userPromptSubmitted", input={"prompt": "fix it"}),
        happened("user.message", content="fix it", transformedContent="<current_datetime>…</current_datetime>\nfix it"),
        happened("assistant.message", content="I fix.", toolRequests=[run]),
        happened("tool.execution_start", toolName="bash"),
        happened("tool.execution_complete", success=True, result={"content": "fine"}),
        happened("tool.execution_complete", success=False, error={"message": "stopped"}),
        happened("user.message", content="made by a skill", source="skill-pdf"),
        happened("brand.new"),
        "torn",
    )
    conversation = check_records(data, "copilot_cli", skipped=2)
    assert roles(conversation) == ["system", "user", "assistant", "tool", "tool", "system"]
    assert said(conversation, "user") == ["fix it"]
    assert said(conversation, "assistant") == ["I fix.\n\n```bash\nmake\n```"]
    assert said(conversation, "tool") == ["fine", "error: stopped"]
    assert (conversation.id, conversation.folder) == ("p-1", "/repo/shop")
    assert conversation.started == "2026-06-25T01:50:34Z"
