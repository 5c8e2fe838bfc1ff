"""SWE-agent: without these, the template around an issue passes for what the person asked."""

from __future__ import annotations

import json
from typing import Any

from core.conversations.read import why_unread
from tests.made_records import check_records, document, roles, said


def message(role: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, "agent": "main"} | more


TASK = "We solve this issue.\nISSUE:\nit crashes\n\nINSTRUCTIONS:\nAlways be careful."
HISTORY = [
    message("system", "SETTING: …", message_type="system_prompt"),
    message("user", "a demonstration", is_demo=True),
    message("user", TASK, message_type="observation"),
    message("assistant", "I look.", tool_calls=[{"function": {"name": "find_file", "arguments": '{"n": "a.py"}'}}]),
    message("tool", "found", message_type="observation"),
    message("assistant", "Fixed.\n```\nsubmit\n```"),
    message("user", [{"type": "text", "text": "(Open file: n/a)"}]),
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
    assert json.loads(data[asked.start : asked.end])["content"] == TASK


def test_a_run_without_a_history_is_told_by_its_steps() -> None:
    conversation = check_records(document({"trajectory": [*STEPS, 7], "info": {}}), "swe_agent", skipped=1)
    assert [(turn.role, turn.text) for turn in conversation.turns] == [
        ("assistant", "I look.\n```\nls\n```"),
        ("tool", "a.py"),
    ]


def test_a_run_with_nothing_in_it_does_not_count_as_read() -> None:
    data = document({"environment": "e", "trajectory": [], "history": [], "info": {}})
    assert why_unread(data, check_records(data, "swe_agent", skipped=1)) is not None
