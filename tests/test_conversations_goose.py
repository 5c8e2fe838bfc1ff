"""Goose: without these, what it hides from the person is harvested as theirs."""

from __future__ import annotations

from typing import Any

import pytest

from tests.made_records import check_records, document, lines, roles, said

ABOUT = {"working_dir": "/repo/shop", "description": "The login", "message_count": 4}


def message(role: str, *content: Any, created: int = 1759000000, **more: Any) -> dict[str, Any]:
    return {"id": None, "role": role, "created": created, "content": list(content)} | more


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


CALL = {"type": "toolRequest", "id": "1", "toolCall": {"status": "success", "value": {"name": "developer__shell", "arguments": {"command": "make"}}}}  # fmt: skip  # noqa: E501
BACK = {"type": "toolResponse", "id": "1", "toolResult": {"status": "success", "value": [text("fine")]}}
HIDDEN = {"userVisible": False, "agentVisible": True}
TALK = (
    message("user", text("fix it")),
    message("assistant", {"type": "thinking", "thinking": "hm"}, text("I fix."), CALL),
    message("user", BACK),
    message("user", text("a summary that the program wrote"), metadata=HIDDEN),
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
    conversation = check_records(lines(message("user", text("hi"), created=created)), "goose")
    assert conversation.started == "2025-09-27T19:06:40Z"


def test_an_exported_session_is_read_as_well() -> None:
    conversation = check_records(document(ABOUT | {"id": "7", "conversation": [*TALK]}, 2), "goose")
    assert (conversation.id, roles(conversation)) == ("7", ["user", "assistant", "tool", "system"])
