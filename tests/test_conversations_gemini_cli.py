"""Gemini CLI: without these, what was taken back is harvested, or what was said before a compression is lost."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from core.conversations.events import Command
from core.conversations.read import read_all
from tests.made_records import check_records, document, lines, roles, said

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


def test_a_newer_session_is_a_log_of_changes() -> None:
    data = lines(
        HEAD,
        {"$set": {"directories": ["/repo/shop"], "summary": "Building"}},
        message("1", "user", [{"text": "build "}, {"text": "it"}]),
        message("2", "gemini", ""),
        message("2", "gemini", [{"text": "secret", "thought": True}, {"text": "built"}]),
        message("4", "user", "and now break it"),
        message("5", "gemini", "broken"),
        {"$rewindTo": "4"},
        message("6", "user", "thanks"),
        {"$set": {"lastUpdated": "2026-01-11T00:00:00Z"}},
    )
    conversation = check_records(data, "gemini_cli")
    assert [(turn.role, turn.text) for turn in conversation.turns] == [
        ("user", "build it"),
        ("assistant", "built"),
        ("user", "thanks"),
    ]
    assert (conversation.title, conversation.folder, conversation.ended) == (
        "Building",
        "/repo/shop",
        "2026-01-11T00:00:00Z",
    )


def test_a_set_of_known_messages_takes_the_others_away() -> None:
    one, two = message("1", "user", "keep"), message("2", "user", "cancelled")
    assert said(check_records(lines(HEAD, one, two, {"$set": {"messages": [one]}}), "gemini_cli"), "user") == ["keep"]


def test_a_compression_takes_nothing_away_that_was_said_and_can_be_rewound_to() -> None:
    fresh = [message("x1", "user", "<state_snapshot>all</state_snapshot>"), message("x2", "user", "third")]
    talk = [message(str(n), "user", words) for n, words in enumerate(("first", "second", "third"))]
    data = lines(HEAD, *talk, {"$set": {"messages": fresh}}, message("9", "user", "fourth"))
    conversation = check_records(data, "gemini_cli")
    assert said(conversation, "user") == ["first", "second", "third", "fourth"]
    assert len(said(conversation, "system")) == 1
    rewound = check_records(data + lines({"$rewindTo": "x2"}), "gemini_cli")
    assert said(rewound, "user") == ["first", "second"]


def test_going_back_to_a_message_that_is_not_there_does_not_wipe_the_session() -> None:
    data = lines(HEAD, message("1", "user", "still here"), {"$rewindTo": "9"})
    assert said(check_records(data, "gemini_cli", skipped=1), "user") == ["still here"]


def test_files_and_context_in_a_prompt_are_not_the_persons() -> None:
    data = lines(
        HEAD,
        message("0", "user", "<session_context>\nToday is\n</session_context>"),
        message("1", "user", "explain @a.py\n--- Content from referenced files ---\ndef f(): ..."),
        message("2", "user", [{"text": "long"}, {"text": "expansion"}], displayContent=[{"text": "short"}]),
        message("3", "user", [{"functionResponse": {"response": {"output": "out"}}}]),
    )
    conversation = check_records(data, "gemini_cli")
    assert said(conversation, "user") == ["explain @a.py", "short"]
    assert said(conversation, "tool") == ["out"]


def test_a_sub_agents_prompt_is_not_the_persons() -> None:
    assert roles(check_records(lines(HEAD | {"kind": "subagent"}, TALK[0]), "gemini_cli")) == ["system"]


def test_the_index_of_prompts_gives_a_conversation_for_each_session() -> None:
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


def test_a_saved_history_a_bare_session_and_the_printed_stream_are_read() -> None:
    """Newer and older shapes were read as one message of raw JSON."""
    call = {"functionCall": {"id": "t", "name": "run_shell_command", "args": {"command": "make"}}}
    back = {"functionResponse": {"id": "t", "name": "run_shell_command", "response": {"output": "fine"}}}
    turns = [
        {"role": "user", "parts": [{"text": "build it"}]},
        {"role": "model", "parts": [{"text": "Yes."}, call]},
        {"role": "user", "parts": [back]},
    ]
    bare = [{"type": "user", "content": "build it"}, {"type": "gemini", "content": "Yes."}]
    stream = lines(
        {"type": "init", "timestamp": "2026-06-01T10:00:00Z", "session_id": "s", "model": "g"},
        {"type": "message", "role": "user", "content": "build it"},
        {"type": "message", "role": "assistant", "content": "Yes.", "delta": True},
        {"type": "tool_use", "tool_name": "run_shell_command", "tool_id": "t", "parameters": {"command": "make"}},
        {"type": "tool_result", "tool_id": "t", "status": "success", "output": "fine"},
        {"type": "result", "status": "success"},
    )
    for data in (document(turns), document({"history": turns}), document({"messages": bare}), stream):
        read = check_records(data, "gemini_cli")
        assert said(read, "user") == ["build it"] and said(read, "assistant")[0].startswith("Yes.")
        found = [event for turn in read.turns for event in turn.events]
        assert all(isinstance(event, Command) and event.output == "fine" for event in found)
        assert len(found) == (data != document({"messages": bare}))


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
