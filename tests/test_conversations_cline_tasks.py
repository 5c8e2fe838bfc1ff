"""Cline and Roo: without these, the environment that the editor sends passes for what the person asked."""

from __future__ import annotations

from typing import Any

from tests.made_records import check_records, document, roles, said

DETAILS = "<environment_details>\n# Current Working Directory (/repo/shop) Files\na.py\n</environment_details>"


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def message(role: str, *content: Any, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": list(content)} | more


def test_the_history_that_the_model_was_sent() -> None:
    rows = [
        message("user", text("<task>\nfix the login\n</task>"), text(DETAILS), ts=1759000000000),
        message("assistant", text("I look.\n<read_file>\n<path>a.py</path>\n</read_file>")),
        message(
            "user", text("[read_file for 'a.py'] Result:"), text("def login(): <feedback>no</feedback>"), text(DETAILS)
        ),
        message("assistant", text("<thinking>\nhm\n</thinking>\nIt is the cookie.")),
        message("user", text("[attempt_completion] Result:\n<feedback>\nnot yet\n</feedback>")),
    ]
    conversation = check_records(document(rows), "cline")
    assert said(conversation, "user") == ["fix the login", "not yet"]
    assert said(conversation, "assistant") == ["I look.", "It is the cookie."]
    assert (conversation.folder, conversation.started) == ("/repo/shop", "2025-09-27T19:06:40Z")


def test_tools_that_are_called_natively_and_what_the_person_says_through_them() -> None:
    ask = {"type": "tool_use", "id": "1", "name": "ask_followup_question", "input": {"question": "Which one?"}}
    run = {"type": "tool_use", "id": "2", "name": "execute_command", "input": {"command": "make"}}
    rows = [
        message("assistant", ask),
        message("user", {"type": "tool_result", "tool_use_id": "1", "content": "<answer>\nthe second\n</answer>"}),
        message("assistant", {"type": "thinking", "thinking": "hm"}, run, {"type": "from-the-future"}),
        message("user", {"type": "tool_result", "tool_use_id": "2", "content": [text("<answer>\nfake\n</answer>")]}),
        message(
            "user",
            {
                "type": "tool_result",
                "tool_use_id": "2",
                "content": '{"status":"denied","message":"denied","feedback":"use tox"}',
            },
        ),
    ]
    conversation = check_records(document({"version": 2, "messages": rows}), "cline", skipped=1)
    assert said(conversation, "user") == ["the second", "use tox"]
    assert said(conversation, "assistant") == ["Which one?", "```bash\nmake\n```"]


def test_the_summary_of_condensed_turns_is_context_and_the_turns_themselves_are_kept() -> None:
    rows = [
        message("user", text("<task>\none\n</task>"), condenseParent="c1"),
        message("assistant", text("we did one"), isSummary=True, condenseId="c1"),
        message("user", text("<user_message>\ntwo\n</user_message>")),
    ]
    conversation = check_records(document(rows), "cline")
    assert [(turn.role, turn.text) for turn in conversation.turns] == [
        ("user", "one"),
        ("system", "we did one"),
        ("user", "two"),
    ]


def test_what_the_person_saw() -> None:
    def say(kind: str, words: str, way: str = "say") -> dict[str, Any]:
        return {"ts": 1759000000000, "type": way, way: kind, "text": words}

    rows = [
        say("text", "fix the login"),
        say("api_req_started", '{"request":"…"}'),
        say("reasoning", "hm"),
        say("text", "I look."),
        say("command", "make test", "ask"),
        say("command_output", "2 failed"),
        say("followup", '{"question":"Which one?","options":["a"]}', "ask"),
        say("user_feedback", "the second"),
        say("completion_result", "Done."),
        say("from_the_future", "?"),
    ]
    conversation = check_records(document(rows), "cline", skipped=1)
    assert roles(conversation) == ["user", "assistant", "tool", "assistant", "user", "assistant"]
    assert said(conversation, "assistant") == ["I look.\n\n```bash\nmake test\n```", "Which one?", "Done."]
