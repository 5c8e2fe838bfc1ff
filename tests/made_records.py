"""Small made-up conversations in the shapes of other tools, for the tests of their readers."""

from __future__ import annotations

import json
from typing import Any

from core.conversations.conversation import ROLES, Conversation
from core.conversations.read import read_conversation


def lines(*rows: Any) -> bytes:
    """One JSON record a line; a `str` stands as it is."""
    return "".join(f"{row if isinstance(row, str) else json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode()


def document(value: Any, indent: int | None = None) -> bytes:
    """One JSON document."""
    return json.dumps(value, ensure_ascii=False, indent=indent).encode()


def said(conversation: Conversation, role: str) -> list[str]:
    """What `role` said, turn by turn."""
    return [turn.text for turn in conversation.turns if turn.role == role]


def spoken(conversation: Conversation) -> list[str]:
    """Each turn, who spoke before the words."""
    return [f"{turn.role}: {turn.text}" for turn in conversation.turns]


def roles(conversation: Conversation) -> list[str]:
    return [turn.role for turn in conversation.turns]


def check_records(data: bytes, kind: str, *, skipped: int = 0) -> Conversation:
    """Read it, and assert the format, the count of what was not understood, and that ranges lie in the file."""
    conversation = read_conversation("name", data)
    assert conversation.format == kind
    assert conversation.skipped == skipped
    for turn in conversation.turns:
        assert 0 <= turn.start <= turn.end <= len(data)
    return conversation


def check_ranges(conversation: Conversation, data: bytes) -> None:
    """Ranges ascend, do not overlap, and the words of a turn stand in its part of the file."""
    at = 0
    for turn in conversation.turns:
        assert turn.role in ROLES
        assert turn.text.strip()
        assert at <= turn.start < turn.end <= len(data)
        at = turn.end
        part = data[turn.start : turn.end].decode("utf-8", "replace").replace("\r", "")
        for line in turn.text.replace("\r", "").split("\n"):
            assert line.strip() in part
