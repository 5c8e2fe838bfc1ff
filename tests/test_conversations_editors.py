"""Agents in editors and on servers: what their tasks and sessions say, and who said it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from core.conversations.collections.opencode_files import OpenFolder, is_storage
from core.conversations.collections.store_file import StoreError
from core.conversations.collections.stores import OpenStore
from core.conversations.read import read_conversation, why_unread
from tests.made_records import check_records, document, lines, roles, said, spoken
from tests.store_makers import MAKERS, opencode_files

# --- Cline: most of a user message is machinery; only the user's words may become knowledge.


@pytest.mark.parametrize(
    ("clock", "day"),
    [
        ("8/28/2025, 11:29:30 PM (America/Chicago, UTC-5:00)", "2025-08-29"),
        ("8/28/2025, 12:29:30 AM (America/Chicago, UTC-5:00)", "2025-08-28"),
        ("28.8.2025, 12:29:30 (Europe/Berlin, UTC+2:00)", "2025-08-28"),
        ("2025/8/28 0:29:30 (Asia/Tokyo, UTC+9:00)", "2025-08-27"),
        ("28/08/2025, 12:29:30 (Europe/Paris, UTC+2:00)", "2025-08-28"),
        ("3/4/2025, 12:29:30 (Europe/Paris, UTC+2:00)", ""),
        ("10/2/2025, 12:29:30 (Europe/Madrid, UTC+1:00)", ""),
    ],
)
def test_the_clock_of_the_environment_dates_the_task(clock: str, day: str) -> None:
    """A task of two summers ago was dated by the day its export was copied."""
    details = f"<environment_details>\n# Current Time\n{clock}\n</environment_details>\n"
    text = f"**User:**\n\n<task>\nlook\n</task>\n{details}\n---\n\n**Assistant:**\n\nSeen.\n"
    found = read_conversation("t.md", text.encode())
    assert found.ended[:10] == found.started[:10] == day


# --- Cline and Roo: without these, the environment that the editor sends passes for what the user asked.


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def message(role: str, *content: Any, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": list(content)} | more


def test_tools_that_are_called_natively_and_what_the_person_says_through_them() -> None:
    ask = {"type": "tool_use", "id": "1", "name": "ask_followup_question", "input": {"question": "Which one?"}}
    run = {"type": "tool_use", "id": "2", "name": "execute_command", "input": {"command": "make"}}
    denied = '{"status":"denied","message":"denied","feedback":"use tox"}'
    rows = [
        message("assistant", ask),
        message("user", {"type": "tool_result", "tool_use_id": "1", "content": "<answer>\nthe second\n</answer>"}),
        message("assistant", {"type": "thinking", "thinking": "hm"}, run, {"type": "from-the-future"}),
        message("user", {"type": "tool_result", "tool_use_id": "2", "content": [text("<answer>\nfake\n</answer>")]}),
        message("user", {"type": "tool_result", "tool_use_id": "2", "content": denied}),
    ]
    conversation = check_records(document({"version": 2, "messages": rows}), "cline", skipped=1)
    assert said(conversation, "user") == ["the second", "use tox"]
    assert said(conversation, "assistant") == ["Which one?", "```bash\nmake\n```"]


# --- Cursor: without these, a chat that a user exported, or their agent's transcript, has no speakers.

BODY = (
    "\n\n---\n\n**User**\n\nfix @a.py\n\n---\n\n**Cursor**\n\nAbove.\n\n---\n\nBelow.\n\n**User**\n\nstill me\n\n---\n"
)


@pytest.mark.parametrize(
    "when", ["5/15/2025 at 17:47:04 PDT", "2026/2/28 at GMT+8 10:28:33", "2025. 7. 1. 오후 3:04:05"]
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_an_export_in_any_locale_has_its_title_and_turns(when: str, end: str) -> None:
    data = f"# The login\n_Exported on {when} from Cursor (2.4.27)_{BODY}".replace("\n", end).encode()
    conversation = read_conversation("cursor_login.md", data)
    assert (conversation.format, conversation.title) == ("cursor", "The login")
    assert roles(conversation) == ["system", "user", "assistant"]
    assert said(conversation, "user") == ["fix @a.py"]
    assert said(conversation, "assistant") == ["Above.\n\n---\n\nBelow.\n\n**User**\n\nstill me"]
    asked = conversation.turns[1]
    assert data[asked.start : asked.end].strip().startswith(b"**User**")


def test_notes_that_only_speak_of_such_a_file_are_no_export() -> None:
    notes = b"# Notes\n\nI keep what was Exported on Monday from Cursor here.\n\n**User**\n\nhm\n"
    assert read_conversation("n.md", notes).format == "plain"


def test_of_a_transcript_only_the_query_is_the_persons() -> None:
    def line(role: str, *texts: str) -> dict[str, object]:
        return {"role": role, "message": {"content": [{"type": "text", "text": text} for text in texts]}}

    call = {"type": "tool_use", "name": "Shell", "input": {"command": "make"}}
    data = lines(
        line("user", "<open_files>a.py</open_files>\n<user_query>\nfix it\n</user_query>"),
        {"role": "assistant", "message": {"content": [{"type": "text", "text": "I fix."}, call]}},
        {"role": "user", "message": {"content": [{"type": "tool_result", "content": "fine"}]}},
        {"type": "turn_ended"},
        line("user", "<user_info>\nOS: linux\n</user_info>"),
        line("user", "thanks"),
        {"what": "is this"},
    )
    conversation = check_records(data, "cursor", skipped=1)
    assert roles(conversation) == ["system", "user", "assistant", "tool", "system", "user"]
    assert said(conversation, "user") == ["fix it", "thanks"]
    assert said(conversation, "assistant") == ["I fix.\n\n```bash\nmake\n```"]


# --- Goose: without these, what it hides from the user is harvested as theirs.

ABOUT = {"working_dir": "/repo/shop", "description": "The login", "message_count": 4}


def goose_message(role: str, *content: Any, created: int = 1759000000, **more: Any) -> dict[str, Any]:
    return {"id": None, "role": role, "created": created, "content": list(content)} | more


CALL = {"type": "toolRequest", "id": "1", "toolCall": {"status": "success", "value": {"name": "developer__shell", "arguments": {"command": "make"}}}}  # fmt: skip  # noqa: E501
BACK = {"type": "toolResponse", "id": "1", "toolResult": {"status": "success", "value": [text("fine")]}}
HIDDEN = {"userVisible": False, "agentVisible": True}
TALK = (
    goose_message("user", text("fix it")),
    goose_message("assistant", {"type": "thinking", "thinking": "hm"}, text("I fix."), CALL),
    goose_message("user", BACK),
    goose_message("user", text("a summary that the program wrote"), metadata=HIDDEN),
)


def test_a_session_of_lines_with_its_facts() -> None:
    data = lines(ABOUT, *TALK, {"odd": 1}, "torn {")
    conversation = check_records(data, "goose", skipped=2)
    assert roles(conversation) == ["user", "assistant", "tool", "system"]
    assert said(conversation, "assistant") == ["I fix.\n\n```bash\nmake\n```"]
    assert (conversation.title, conversation.folder) == ("The login", "/repo/shop")
    first = conversation.turns[0]
    assert data[first.start : first.end] == lines(TALK[0])


@pytest.mark.parametrize("created", [1759000000, 1759000000000])
def test_seconds_and_milliseconds_give_the_same_time_and_the_first_line_may_be_missing(created: int) -> None:
    conversation = check_records(lines(goose_message("user", text("hi"), created=created)), "goose")
    assert conversation.started == "2025-09-27T19:06:40Z"


# --- OpenCode: without these, reviews by sub-agents pass for the user, and what was called when.

INFO = {"id": "ses_1", "slug": "calm-owl", "title": "The port", "directory": "/repo/shop", "projectID": "p"}
BASH = {"status": "completed", "input": {"command": "make"}, "output": "fine", "metadata": {"exit": 0}}


def opencode_message(role: str, *parts: dict[str, Any], **info: Any) -> dict[str, Any]:
    return {"info": {"id": "msg", "role": role, "time": {"created": 1772918722544}} | info, "parts": list(parts)}


def test_an_export_with_its_facts_and_the_bytes_of_each_message() -> None:
    value = {
        "info": INFO | {"time": {"created": 1772918722540, "updated": 1772918740620}},
        "messages": [
            opencode_message(
                "user", text("which port? ü"), text("Called the Read tool") | {"synthetic": True}, {"type": "file"}
            ),
            opencode_message("assistant", {"type": "step-start"}, {"type": "reasoning", "text": "hm"}, text("8081.")),
            opencode_message("assistant", {"type": "tool", "tool": "bash", "state": BASH}, {"type": "from-the-future"}),
            opencode_message("assistant", text("what happened so far"), summary=True),
        ],
    }
    data = document(value, 2)
    conversation = check_records(data, "opencode", skipped=1)
    assert roles(conversation) == ["system", "user", "assistant", "tool", "system"]
    assert conversation.turns[2].text == "8081.\n\n```bash\nmake\n```"
    assert conversation.turns[3].text == "fine\nexit code: 0"
    assert (conversation.id, conversation.title, conversation.folder) == ("ses_1", "The port", "/repo/shop")
    assert (conversation.started, conversation.ended) == ("2026-03-07T21:25:22Z", "2026-03-07T21:25:40Z")
    asked = conversation.turns[1]
    assert json.loads(data[asked.start : asked.end]) == value["messages"][0]


@pytest.mark.parametrize("kind", [[], {}])
def test_a_kind_that_is_no_word_costs_its_part_only(kind: object) -> None:
    """One record of a kind from the future must not keep the whole conversation from being read."""
    rows = [
        {"knowledge_session": "opencode", "id": "s"},
        {"type": kind, "data": {"text": "?"}},
        {"type": "assistant", "data": {"content": [{"type": kind}, text("Port 8080.")]}},
    ]
    read = read_conversation("x", "\n".join(map(json.dumps, rows)).encode())
    assert (said(read, "assistant"), read.skipped) == (["Port 8080."], 2)
    call = {"id": "c", "name": "ls", "args": {}, "status": kind, "resultDisplay": "a.py"}
    answer = {"id": "2", "type": "gemini", "content": "Port 8080.", "toolCalls": [call]}
    read = read_conversation("x", document({"sessionId": "s", "projectHash": "h", "messages": [answer]}))
    assert read.turns[0].text.startswith("Port 8080.")


def test_an_export_that_breaks_off_gives_the_messages_before() -> None:
    talk = [opencode_message("user", text("one")), opencode_message("user", text("two"))]
    data = document({"info": INFO, "messages": talk})
    assert said(check_records(data[:-60], "opencode", skipped=1), "user") == ["one"]


# --- OpenCode's storage before its database: without it, the sessions of everybody who has not updated are lost, and
# with another form of it they are paid for twice after the update.


@pytest.mark.parametrize("first", [False, True])
def test_the_files_of_a_session_are_what_its_database_will_hold(first: bool, tmp_path: Path) -> None:
    storage = opencode_files(tmp_path / "storage", first=first)
    MAKERS["opencode"](tmp_path / "opencode.db").close()
    held, moved = OpenFolder(str(storage)), OpenStore(str(tmp_path / "opencode.db"))
    assert [(row.id, row.title, row.folder) for row in held.sessions()] == [
        ("ses_1", "Ports", "/srv/app"),
        ("ses_2", "Ports", "/srv/app"),
    ]
    for row in held.sessions():
        there = next(other for other in moved.sessions() if other.id == row.id)
        assert held.content(row) == moved.content(there)
    moved.close()
    asked = read_conversation("x", held.content(held.sessions()[0]))
    assert spoken(asked) == [
        "user: Which port do we use?",
        "assistant: We use port 8080.\n\n```bash\nls\n```",
        "tool: a.py",
    ]
    assert asked.skipped == 0
    delegated = read_conversation("x", held.content(held.sessions()[1]))
    assert [turn.role for turn in delegated.turns] == ["system"]


def test_what_is_torn_costs_only_itself_and_is_counted(tmp_path: Path) -> None:
    storage = opencode_files(tmp_path / "storage")
    (storage / "part/msg_ses_1-0001/prt_ses_1-0001.json").write_text('{"id": "prt_')
    (storage / "session/p/ses_9.json").write_text("{")
    (storage / "session/p/not an id.json").write_text("{}")
    held = OpenFolder(str(storage))
    assert [row.id for row in held.sessions()] == ["ses_1", "ses_2"]
    assert "2 sessions cannot be read" in held.notes[0]
    read = read_conversation("x", held.content(held.sessions()[0]))
    assert (read.skipped, read.turns[-1].text) == (1, "a.py")


def test_a_message_of_the_first_versions_of_opencode_holds_its_parts(tmp_path: Path) -> None:
    storage = opencode_files(tmp_path / "storage")
    own = {"id": "m", "role": "user", "metadata": {"time": {"created": 1}}, "parts": [text("Hm?")]}
    (storage / "message/ses_2/m.json").write_text(json.dumps(own))
    held = OpenFolder(str(storage))
    row = next(row for row in held.sessions() if row.id == "ses_2")
    said = [turn.text for turn in read_conversation("x", held.content(row)).turns]
    assert said == ["Hm?", "Look for the port."]


def test_links_are_never_read_as_a_session(tmp_path: Path) -> None:
    """A link could bring any file of the user's into a prompt."""
    storage = opencode_files(tmp_path / "storage")
    (tmp_path / "secret.json").write_text('{"type": "text", "text": "mine"}')
    os.symlink(tmp_path / "secret.json", storage / "part/msg_ses_1-0001/prt_x.json")
    os.symlink(tmp_path, storage / "session/linked")
    held = OpenFolder(str(storage))
    assert [row.id for row in held.sessions()] == ["ses_1", "ses_2"]
    assert b"mine" not in held.content(held.sessions()[0])


def test_another_folder_is_no_storage(tmp_path: Path) -> None:
    (tmp_path / "session").mkdir()
    assert not is_storage(str(tmp_path))
    with pytest.raises(StoreError, match="no storage"):
        OpenFolder(str(tmp_path))


# --- SWE-agent: without these, the template around an issue passes for what the user asked.


def swe_agent_message(role: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, "agent": "main"} | more


SWE_AGENT_TASK = "We solve this issue.\nISSUE:\nit crashes\n\nINSTRUCTIONS:\nAlways be careful."
HISTORY = [
    swe_agent_message("system", "SETTING: …", message_type="system_prompt"),
    swe_agent_message("user", "a demonstration", is_demo=True),
    swe_agent_message("user", SWE_AGENT_TASK, message_type="observation"),
    swe_agent_message(
        "assistant", "I look.", tool_calls=[{"function": {"name": "find_file", "arguments": '{"n": "a.py"}'}}]
    ),
    swe_agent_message("tool", "found", message_type="observation"),
    swe_agent_message("assistant", "Fixed.\n```\nsubmit\n```"),
    swe_agent_message("user", [{"type": "text", "text": "(Open file: n/a)"}]),
]
STEPS = [
    {"action": "ls", "observation": "a.py", "response": "I look.\n```\nls\n```", "thought": "I look.", "state": ""}
]


def test_the_history_of_a_run() -> None:
    data = document({"environment": "e", "trajectory": STEPS, "history": HISTORY, "info": {}}, 2)
    conversation = check_records(data, "swe_agent")
    assert roles(conversation) == ["system"] * 3 + ["user", "assistant", "tool", "tool", "assistant", "tool"]
    assert said(conversation, "user") == ["it crashes"]
    assert "Always be careful" in said(conversation, "system")[2]
    asked = conversation.turns[3]
    assert json.loads(data[asked.start : asked.end])["content"] == SWE_AGENT_TASK


def test_a_run_without_a_history_is_told_by_its_steps() -> None:
    conversation = check_records(document({"trajectory": [*STEPS, 7], "info": {}}), "swe_agent", skipped=1)
    assert spoken(conversation) == ["assistant: I look.\n```\nls\n```", "tool: a.py"]


def test_a_run_with_nothing_in_it_does_not_count_as_read() -> None:
    data = document({"environment": "e", "trajectory": [], "history": [], "info": {}})
    assert why_unread(data, check_records(data, "swe_agent", skipped=1)) is not None
