"""Copilot CLI: without these, its hooks and instructions drown what was said."""

from __future__ import annotations

from typing import Any

from tests.made_records import check_records, lines, roles, said


def event(kind: str, **data: Any) -> dict[str, Any]:
    return {"type": kind, "data": data, "id": "e", "timestamp": "2026-06-25T01:50:44.754Z", "parentId": None}


def test_a_session_is_read_without_its_hooks() -> None:
    data = lines(
        event("session.start", sessionId="p-1", startTime="2026-06-25T01:50:34Z", context={"cwd": "/repo/shop"}),
        event("system.message", role="system", content="You are"),
        event("hook.start", hookType="userPromptSubmitted", input={"prompt": "fix it"}),
        event("user.message", content="fix it", transformedContent="<current_datetime>…</current_datetime>\nfix it"),
        event("assistant.message", content="I fix.", toolRequests=[{"name": "bash", "arguments": {"command": "make"}}]),
        event("tool.execution_start", toolName="bash"),
        event("tool.execution_complete", success=True, result={"content": "fine"}),
        event("tool.execution_complete", success=False, error={"message": "stopped"}),
        event("user.message", content="made by a skill", source="skill-pdf"),
        event("brand.new"),
        "torn",
    )
    conversation = check_records(data, "copilot_cli", skipped=2)
    assert roles(conversation) == ["system", "user", "assistant", "tool", "tool", "system"]
    assert said(conversation, "user") == ["fix it"]
    assert said(conversation, "assistant") == ["I fix.\n\n```bash\nmake\n```"]
    assert said(conversation, "tool") == ["fine", "error: stopped"]
    assert (conversation.id, conversation.folder) == ("p-1", "/repo/shop")
    assert conversation.started == "2026-06-25T01:50:34Z"
