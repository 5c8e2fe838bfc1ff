"""ChatGPT's export: without these, drafts that the person replaced are harvested, or 36 of 37 conversations lost."""

from __future__ import annotations

import json
from typing import Any

from core.conversations.read import read_all, read_conversation
from tests.made_records import check_records, document, roles, said


def node(
    key: str, parent: str | None, role: str = "", text: str = "", kind: str = "text", **more: Any
) -> dict[str, Any]:
    message = {
        "author": {"role": role},
        "create_time": 1758176532.5,
        "content": {"content_type": kind, "parts": [text]},
    }
    return {"id": key, "parent": parent, "children": [], "message": message | more if role else None}


def tree(title: str, made: float | None, current: str | None, *nodes: dict[str, Any]) -> dict[str, Any]:
    mapping = {row["id"]: row for row in nodes}
    for row in nodes:
        if row["parent"] in mapping:
            mapping[row["parent"]]["children"].append(row["id"])
    facts = {"title": title, "create_time": made, "update_time": None, "conversation_id": f"id-{title}"}
    return facts | {"mapping": mapping, "current_node": current}


HIDDEN = {"is_visually_hidden_from_conversation": True}
TALK = (
    node("root", None),
    node("s", "root", "system", "instructions", metadata=HIDDEN),
    node("h", "s", "user", "put in", metadata=HIDDEN),
    node("q1", "s", "user", "draft"),
    node("a1", "q1", "assistant", "to the draft"),
    node("q2", "h", "user", "the question è"),
    node("t", "q2", "assistant", "hm", kind="thoughts"),
    node("c", "t", "assistant", '{"query":"x"}', recipient="web"),
    node("r", "c", "tool", "found"),
    node("a2", "r", "assistant", "the answer", recipient="all"),
)


def test_the_way_from_the_current_node_up_is_what_was_said() -> None:
    data = document([tree("One", 1758176530, "a2", *TALK)])
    conversation = check_records(data, "chatgpt")
    assert roles(conversation) == ["system", "system", "user", "tool", "tool", "assistant"]
    assert said(conversation, "user") == ["the question è"]
    assert "draft" not in str(conversation.turns)
    assert (conversation.id, conversation.title, conversation.started) == ("id-One", "One", "2025-09-18T06:22:10Z")
    asked = conversation.turns[2]
    assert json.loads(data[asked.start : asked.end])["id"] == "q2"


def test_without_a_current_node_the_leaf_written_last_is_it_and_a_circle_ends() -> None:
    late = node("late", "q1", "user", "later", create_time=1758176999)
    assert said(check_records(document([tree("x", None, None, *TALK, late)]), "chatgpt"), "user") == ["draft", "later"]
    ring = tree("x", None, "a", node("a", "b", "user", "one"), node("b", "a", "user", "two"))
    assert said(check_records(document([ring]), "chatgpt"), "user") == ["two", "one"]


def test_an_export_gives_its_conversations_one_by_one_and_as_a_whole() -> None:
    """The file is reclaimed as a whole: what is read of it by default must be all of it."""
    newer = tree("New", 1758200000, "n", node("n", None, "user", "new words"))
    older = tree("Old", 1758100000, "o", node("o", None, "user", "old words"))
    data = document([newer, older])
    assert [row.title for row in read_all("conversations.json", data)] == ["New", "Old"]
    whole = read_conversation("conversations.json", data)
    assert [(turn.role, turn.text) for turn in whole.turns] == [
        ("system", "Conversation: Old"),
        ("user", "old words"),
        ("system", "Conversation: New"),
        ("user", "new words"),
    ]
    assert (whole.id, whole.title) == ("conversations.json", "2 conversations")


def test_an_export_that_breaks_off_gives_what_was_whole() -> None:
    data = document([tree("One", 1, "a2", *TALK), tree("Two", 2, "a2", *TALK)])
    conversation = check_records(data[:-100], "chatgpt", skipped=1)
    assert said(conversation, "user").count("the question è") >= 1
    assert read_conversation("x", b'[{"title": "t", "mapping": {"a": 7, "b": {"message": 3}}}]').skipped == 1
