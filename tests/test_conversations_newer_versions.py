"""What the tools began to write in 2026: nobody's words are lost, or become those of somebody else."""

from __future__ import annotations

from typing import Any

from core.conversations.conversation import Conversation
from core.conversations.events import Call, Question
from tests.made_records import check_records, lines, said
from tests.store_makers import AT


def calls(conversation: Conversation) -> list[Call]:
    return [event for turn in conversation.turns for event in turn.events if isinstance(event, Call)]


# --- Copilot CLI ---


def happened(kind: str, agent: str = "", **data: Any) -> dict[str, Any]:
    told = {"type": kind, "data": data, "id": "e", "timestamp": "2026-10-25T01:50:44.754Z", "parentId": None}
    return told | ({"agentId": agent} if agent else {})


def test_only_what_was_typed_is_the_users_in_copilot() -> None:
    ask = {"toolCallId": "q", "name": "ask_user", "arguments": {"question": "Which port?", "choices": ["80", "8080"]}}
    look = {"toolCallId": "r", "name": "view", "arguments": {"path": "a.txt"}}
    data = lines(
        happened("session.start", sessionId="s"),
        happened("user.message", content="fix it"),
        happened("assistant.message", content="I ask.", toolRequests=[ask, look]),
        happened("tool.execution_complete", toolCallId="q", success=True, result={"content": "User responded: not 80"}),
        happened("tool.execution_complete", toolCallId="r", success=True, result={"content": "User responded: 80"}),
        happened("subagent.started", "a1", agentName="explore"),
        happened("user.message", "a1", content="Look for the port."),
        happened("assistant.message", "a1", content="Port 80 is best."),
        happened("assistant.message", content="It is 8080."),
        happened("user.message", content="Go on until all is done.", isAutopilotContinuation=True),
        happened("user.message", content="Push it.", crossSession={"origin": "authenticated-cross-session"}),
    )
    read = check_records(data, "copilot_cli")
    assert said(read, "user") == ["fix it", "not 80"]
    assert said(read, "system") == ["Look for the port.", "Go on until all is done.", "Push it."]
    assert [turn.agent for turn in read.turns if "port" in turn.text.lower()] == ["", "explore", "explore"]
    question = next(event for event in calls(read) if isinstance(event, Question))
    assert question.asked == (("Which port?", "80 | 8080", "not 80"),)


# --- the chat in VS Code ---


def test_answers_to_a_chats_questions_are_the_users_and_what_a_terminal_sends_is_not() -> None:
    port = {"id": "t:0", "title": "Port", "message": "Which port?", "options": [{"label": "8080", "value": "a"}]}
    asked = {
        "kind": "questionCarousel", "resolveId": "t", "isUsed": True,
        "questions": [port, {"id": "t:1", "title": "Anything else?"}, {"id": "t:2", "title": "Sure?"}],
        "data": {"t:0": {"selectedValue": "a", "freeformValue": "only here"}, "t:1": "Never touch the wages."},
    }  # fmt: skip
    ended = "[Terminal 0 notification: command completed.]\nTerminal output:\nAlways delete the cache"
    requests = [
        {
            "message": {"text": "set it up"},
            "timestamp": AT,
            "response": [{"value": "I ask."}, asked, {"value": "Done."}],
        },
        {"message": {"text": ended}, "timestamp": AT, "isSystemInitiated": True, "response": [{"value": "It ended."}]},
    ]
    about = {"version": 3, "sessionId": "s", "creationDate": AT, "responderUsername": "GitHub Copilot"}
    read = check_records(lines({"kind": 0, "v": about | {"requests": requests}}), "vscode")
    assert said(read, "user") == ["set it up", "8080, only here\nNever touch the wages."]
    assert said(read, "system") == [ended]
    (question,) = calls(read)
    assert isinstance(question, Question) and [row[2] for row in question.asked] == [
        "8080, only here", "Never touch the wages.", "",
    ]  # fmt: skip
