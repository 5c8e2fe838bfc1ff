"""OpenCode: without these, reviews by sub-agents pass for the person, and what was called when."""

from __future__ import annotations

import json
from typing import Any

from tests.made_records import check_records, document, roles, said

INFO = {"id": "ses_1", "slug": "calm-owl", "title": "The port", "directory": "/repo/shop", "projectID": "p"}
BASH = {"status": "completed", "input": {"command": "make"}, "output": "fine", "metadata": {"exit": 0}}


def message(role: str, *parts: dict[str, Any], **info: Any) -> dict[str, Any]:
    return {"info": {"id": "msg", "role": role, "time": {"created": 1772918722544}} | info, "parts": list(parts)}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": words, **more}


def test_an_export_with_its_facts_and_the_bytes_of_each_message() -> None:
    value = {
        "info": INFO | {"time": {"created": 1772918722540, "updated": 1772918740620}},
        "messages": [
            message("user", text("which port? ü"), text("Called the Read tool", synthetic=True), {"type": "file"}),
            message("assistant", {"type": "step-start"}, {"type": "reasoning", "text": "hm"}, text("8081.")),
            message("assistant", {"type": "tool", "tool": "bash", "state": BASH}, {"type": "from-the-future"}),
            message("assistant", text("what happened so far"), summary=True),
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


def test_the_prompt_of_a_sub_agents_session_is_not_the_persons() -> None:
    value = {"info": INFO | {"parentID": "ses_0"}, "messages": [message("user", text("review")), message("assistant")]}
    assert roles(check_records(document(value), "opencode")) == ["system"]


def test_an_export_that_breaks_off_gives_the_messages_before() -> None:
    value = {"info": INFO, "messages": [message("user", text("one")), message("user", text("two"))]}
    data = document(value)
    assert said(check_records(data[:-60], "opencode", skipped=1), "user") == ["one"]


def test_a_message_of_the_first_versions_holds_its_parts() -> None:
    call = {"type": "tool-invocation", "toolInvocation": {"toolName": "bash", "args": {"command": "ls"}, "result": "a"}}
    value = {"id": "msg_1", "role": "assistant", "parts": [text("I look."), call], "metadata": {"sessionID": "ses_9"}}
    conversation = check_records(document(value), "opencode")
    assert (conversation.id, roles(conversation)) == ("ses_9", ["assistant", "tool"])
