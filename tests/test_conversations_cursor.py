"""Cursor: without these, a chat that a person exported, or their agent's transcript, has no speakers."""

from __future__ import annotations

import pytest

from core.conversations.read import read_conversation
from tests.made_records import check_records, lines, roles, said

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
