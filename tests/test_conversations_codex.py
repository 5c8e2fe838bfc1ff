"""Codex: without these, everything is harvested twice, and its instructions as if the person had said them."""

from __future__ import annotations

import io
import json
import sys
import tracemalloc
from random import Random
from typing import Any

import pytest

from core.conversations import packed
from core.conversations.conversation import Conversation
from core.conversations.events import Command, Edit
from core.conversations.packed import LEAST_UNPACKED
from core.conversations.read import read_all, read_conversation, why_unread
from core.conversations.render import transcript
from tests.made_records import check_records, lines, roles, said


def row(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-02-03T04:05:06.789Z", "type": kind, "payload": payload}


def item(role: str, text: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return row("response_item", type="message", role=role, content=[{"type": kind, "text": text}])


def event(kind: str, message: str) -> dict[str, Any]:
    return row("event_msg", type=kind, message=message)


META = row("session_meta", id="c-1", cwd="/repo/shop", timestamp="2026-02-03T04:00:00Z", cli_version="0.140.0")


def test_each_utterance_is_read_once_and_what_was_put_in_is_not_the_persons() -> None:
    data = lines(
        META,
        item("developer", "be brief"),
        item("user", "<environment_context>\n<cwd>/repo/shop</cwd>\n</environment_context>"),
        item("user", "fix the build"),
        event("user_message", "fix the build"),
        item("user", "context of a kind that nobody has seen yet"),
        event("agent_message", "I look."),
        item("assistant", "I look."),
        row("response_item", type="reasoning", summary=[], encrypted_content="…"),
        row("response_item", type="function_call", name="shell", arguments='{"command":["bash","-lc","make"]}'),
        row("response_item", type="function_call_output", output='{"output":"fine","metadata":{"exit_code":0}}'),
        row("event_msg", type="token_count", info={}),
        row("compacted", message="so far: the build"),
        item("user", "fix the build"),
        event("user_message", "fix the build"),
        item("assistant", "Done again."),
    )
    conversation = check_records(data, "codex")
    first, then = ["system", "system", "user", "system"], ["assistant", "tool", "system", "user", "assistant"]
    assert roles(conversation) == [*first, *then]
    assert said(conversation, "user") == ["fix the build", "fix the build"]
    assert said(conversation, "assistant") == ["I look.\n\n```bash\nmake\n```", "Done again."]
    assert said(conversation, "tool") == ["fine\nexit code: 0"]
    assert (conversation.id, conversation.folder) == ("c-1", "/repo/shop")
    assert conversation.started == "2026-02-03T04:00:00Z"
    assert conversation.title == "fix the build"


def test_without_events_the_persons_items_are_told_by_how_they_begin() -> None:
    data = lines(
        META, item("user", "# AGENTS.md instructions for /work"), item("user", "go on"), item("assistant", "ok")
    )
    assert said(check_records(data, "codex"), "user") == ["go on"]


def test_an_answer_that_is_only_there_as_an_event_is_kept() -> None:
    data = lines(META, event("user_message", "go"), event("agent_message", "gone"))
    assert said(check_records(data, "codex"), "assistant") == ["gone"]


def test_the_request_is_told_from_the_editors_context_and_a_turn_rolled_back_is_gone() -> None:
    data = lines(
        META,
        event(
            "user_message",
            "# Context from my IDE setup:\n\n## Active file: a.py\n\n## My request for Codex:\nrename it",
        ),
        item("assistant", "renamed"),
        item("user", "no, wrong"),
        event("user_message", "no, wrong"),
        item("assistant", "sorry"),
        row("event_msg", type="thread_rolled_back", num_turns=1),
        row("event_msg", type="user_message", message="better"),
    )
    conversation = check_records(data, "codex")
    assert said(conversation, "user") == ["rename it", "better"]
    assert said(conversation, "assistant") == ["renamed"]
    assert "Active file" in said(conversation, "system")[0]


def test_the_prompts_of_a_sub_agent_are_not_the_persons() -> None:
    meta = row("session_meta", id="c-2", cwd="/w", source={"subagent": {"thread_spawn": {}}})
    assert roles(check_records(lines(meta, event("user_message", "search")), "codex")) == ["system"]


def test_an_old_rollout_without_the_envelope_is_read() -> None:
    data = lines(
        {"id": "old", "timestamp": "2025-07-01T00:00:00Z", "instructions": None, "git": {}},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hi"}]},
    )
    conversation = check_records(data, "codex")
    assert (conversation.id, roles(conversation)) == ("old", ["user", "assistant"])


def test_the_index_of_prompts_gives_a_conversation_for_each_session() -> None:
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


def test_a_packed_rollout_that_cannot_be_unpacked_never_counts_as_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be harvested as empty, and reclaimed."""
    monkeypatch.setitem(sys.modules, "zstandard", None)
    monkeypatch.setitem(sys.modules, "compression.zstd", None)
    data = packed.ZSTANDARD + b"anything"
    conversation = read_conversation("r.jsonl.zst", data)
    trouble = why_unread(data, conversation)
    assert conversation.turns == ()
    assert trouble is not None
    assert "knowledge-memory[zst]" in str(trouble)


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


def test_the_stream_of_codex_exec_is_read() -> None:
    """Kept in a file by whoever runs it in a script; it was read as one message of raw JSON."""
    run = {"id": "item_1", "type": "command_execution", "command": "make"}
    data = lines(
        {"type": "thread.started", "thread_id": "t"},
        {"type": "turn.started"},
        {"type": "item.started", "item": {**run, "status": "in_progress"}},
        {"type": "item.completed", "item": {**run, "aggregated_output": "no rule", "exit_code": 2, "status": "failed"}},
        {"type": "item.completed", "item": {"id": "item_2", "type": "file_change", "changes": [{"path": "a.py"}]}},
        {"type": "item.completed", "item": {"id": "item_0", "type": "agent_message", "text": "It fails."}},
        {"type": "turn.completed", "usage": {}},
    )
    read = check_records(data, "codex")
    found = [event for turn in read.turns for event in turn.events]
    assert isinstance(found[0], Command) and (found[0].words, found[0].status, found[0].failed) == ("make", 2, True)
    assert isinstance(found[1], Edit) and found[1].path == "a.py"
    assert said(read, "assistant")[-1] == "It fails." and read.id == "t"


def test_a_rollout_that_begins_with_a_record_of_a_newer_kind_is_read() -> None:
    data = lines(
        {"timestamp": "2026-06-01T10:00:00Z", "type": "brand_new", "payload": {"x": 1}},
        {
            "timestamp": "2026-06-01T10:00:00Z",
            "type": "event_msg",
            "payload": {"type": "user_message", "message": "hi"},
        },
    )
    assert said(check_records(data, "codex", skipped=1), "user") == ["hi"]


def _ran(call: dict[str, Any], output: str) -> Conversation:
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
        (
            "Chunk ID: 1a2b\nWall time: 0.5 seconds\nProcess exited with code 2\nOutput:\nno rule",
            "no rule\nexit code: 2",
            2,
        ),
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
