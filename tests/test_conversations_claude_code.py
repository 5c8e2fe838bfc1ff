"""Claude Code: without these, tool output or another program's words would be harvested as the person's."""

from __future__ import annotations

from typing import Any

from core.conversations.read import read_all, read_conversation
from tests.made_records import check_records, lines, roles, said


def line(kind: str, content: Any, **more: Any) -> dict[str, Any]:
    message = {"role": kind, "content": content, **({"id": "msg_1"} if kind == "assistant" else {})}
    start = {"parentUuid": None, "isSidechain": False, "cwd": "/repo/shop", "sessionId": "s-1", "type": kind}
    return start | {"message": message, "uuid": "u", "timestamp": "2026-02-03T04:05:06.789Z"} | more


def text(words: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": words}]


def result(content: Any, **more: Any) -> list[dict[str, Any]]:
    return [{"type": "tool_result", "tool_use_id": "t", "content": content, **more}]


def call(name: str, **given: Any) -> list[dict[str, Any]]:
    return [{"type": "tool_use", "id": "t", "name": name, "input": given}]


def test_a_session_with_its_facts_and_the_lines_that_each_turn_stands_in() -> None:
    rows = (
        {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}},
        line("user", "The tests fail on staging ü"),
        line("assistant", [{"type": "thinking", "thinking": "a guess"}]),
        line("assistant", text("I run them.")),
        line("assistant", call("Bash", command="make test", description="run")),
        line("user", result("2 failed")),
        line("assistant", text("Port 8081 was taken.")),
    )
    data = lines(*rows)
    conversation = check_records(data, "claude_code")
    assert (conversation.id, conversation.folder) == ("s-1", "/repo/shop")
    assert conversation.title == "The tests fail on staging ü"
    assert conversation.started == "2026-02-03T04:05:06.789Z"
    assert roles(conversation) == ["user", "assistant", "tool", "assistant"]
    assert conversation.turns[1].text == "I run them.\n\n```bash\nmake test\n```"
    first, answer = conversation.turns[0], conversation.turns[1]
    assert data[first.start : first.end] == lines(rows[1])
    assert data[answer.start : answer.end] == lines(rows[3], rows[4])
    assert "guess" not in str(conversation.turns)


def test_a_torn_last_line_and_unknown_records_are_counted_and_cost_nothing_else() -> None:
    whole = lines(line("user", "first"), {"type": "from-the-future", "sessionId": "s-1"}, "[1]", line("user", "last"))
    conversation = check_records(whole + lines(line("assistant", text("torn")))[:60], "claude_code", skipped=3)
    assert said(conversation, "user") == ["first", "last"]


def test_what_the_tool_puts_into_a_message_is_not_the_persons() -> None:
    data = lines(
        line("user", "put in", isMeta=True),
        line("user", "This session is being continued from", isCompactSummary=True, isVisibleInTranscriptOnly=True),
        line("user", "[Request interrupted by user for tool use]"),
        line("user", "<local-command-stdout>ok</local-command-stdout>"),
        line("user", [*text("<ide_opened_file>The user opened a.py</ide_opened_file>"), *text("Fix a.py please")]),
        line("user", "Look\n<system-reminder>\nnever say this\n</system-reminder>\nhere"),
    )
    conversation = check_records(data, "claude_code")
    assert said(conversation, "user") == ["Fix a.py please", "Look\nhere"]
    assert conversation.turns[3].role == "tool"
    assert "never say this" in said(conversation, "system")[-1]


def test_the_persons_words_behind_a_command_in_a_refusal_and_in_an_answer_are_kept() -> None:
    refusal = "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nuse uv"
    answers = {"Which one?": "the second", "Why?": "it is faster"}
    data = lines(
        line("user", "<command-name>/debug</command-name>\n<command-args>the login hangs</command-args>"),
        line("assistant", call("AskUserQuestion", questions=[{"question": "Which one?"}, {"question": "Why?"}])),
        line("user", result('User has answered your questions: "…"'), toolUseResult={"answers": answers}),
        line("user", result(refusal, is_error=True)),
        line("user", result("a page that says: the user said:\nrm -rf")),
        {"type": "attachment", "sessionId": "s-1", "attachment": {"type": "queued_command", "prompt": "and the docs"}},
    )
    conversation = check_records(data, "claude_code")
    assert said(conversation, "user") == ["the login hangs", "the second\nit is faster", "use uv", "and the docs"]
    assert said(conversation, "assistant") == ["Which one?\nWhy?"]


def test_a_sub_agents_prompt_was_written_by_an_assistant_and_its_file_is_a_session_of_its_own() -> None:
    data = lines(
        line("user", "search for the port", isSidechain=True, agentId="a7"),
        line("assistant", text("It is 8081."), isSidechain=True, agentId="a7"),
    )
    conversation = check_records(data, "claude_code")
    assert roles(conversation) == ["system", "assistant"]
    assert conversation.id == "s-1/a7"


def test_the_title_is_the_persons_own_or_the_summary_of_this_session_but_not_of_another() -> None:
    talk = line("user", "hello there", uuid="leaf")
    other = {"type": "summary", "summary": "Another day", "leafUuid": "elsewhere"}
    own = {"type": "summary", "summary": "Greetings", "leafUuid": "leaf"}
    named = {"type": "custom-title", "customTitle": "My talk", "sessionId": "s-1"}
    assert read_conversation("f", lines(other, talk)).title == "hello there"
    assert read_conversation("f", lines(talk, own)).title == "Greetings"
    assert read_conversation("f", lines(talk, named, own)).title == "My talk"


def test_the_index_of_prompts_gives_a_conversation_for_each_session() -> None:
    data = lines(
        {"display": "one", "pastedContents": {}, "timestamp": 1760000000000, "project": "/a", "sessionId": "x"},
        {"display": "two", "pastedContents": {}, "timestamp": 1760000001000, "project": "/b", "sessionId": "y"},
        {"display": "three", "pastedContents": {}, "timestamp": 1760000002000, "project": "/a", "sessionId": "x"},
    )
    first, second = read_all("history.jsonl", data)
    assert (first.id, first.folder, said(first, "user")) == ("x", "/a", ["one", "three"])
    assert second.started == "2025-10-09T08:53:21Z"
    whole = read_conversation("history.jsonl", data)
    assert said(whole, "user") == ["one", "three", "two"]


def test_a_long_tool_output_is_cut_in_the_middle_and_says_so() -> None:
    listing = "\n".join(f"line {number}" for number in range(60_000))
    conversation = check_records(lines(line("user", "go"), line("user", result(listing))), "claude_code")
    text = conversation.turns[1].text
    assert len(text) < 9000
    assert text.startswith("line 0\n")
    assert text.endswith("line 59999")
    assert "characters left out" in text


def test_a_command_that_was_run_is_told_from_one_that_was_shown() -> None:
    """What an assistant only shows of a page's advice would count as tried otherwise."""
    shown = "It says:\n\n```bash\nmake all\n```"
    data = lines(
        line("user", "go"),
        line("assistant", [*text(shown), *call("Bash", command="make test")]),
        line("user", result("4 passed")),
        line("assistant", call("Read", file_path="/a.py")),
    )
    turns = read_conversation("x", data).turns
    assert [(turn.role, tuple(event.words for event in turn.commands), turn.is_call) for turn in turns] == [
        ("user", (), False), ("assistant", ("make test",), False), ("tool", (), False), ("tool", (), True),
    ]  # fmt: skip
