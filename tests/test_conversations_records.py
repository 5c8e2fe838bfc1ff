"""Records and turns: what a user would lose is a quote that points nowhere, a crash on odd bytes, or half a secret."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.base.redact import redact
from core.conversations.conversation import ROLES, Conversation
from core.conversations.read import READERS, read_all, read_conversation, why_unread
from core.conversations.records import json_document, json_lines, keys_in
from core.conversations.turns import TOOL_HEAD, TOOL_TAIL, Reading, clean, cut, iso_time, joined

NAMES = (
    "type", "message", "role", "content", "text", "payload", "sessionId", "projectHash", "parentUuid", "messages", "id",
    "info", "parts", "mapping", "title", "current_node", "parent", "chat_messages", "sender", "data", "timestamp",
    "history", "trajectory", "agent", "working_dir", "description", "created", "say", "ts", "$set", "$rewindTo",
    "state", "toolCalls", "attachment", "tool_calls", "directories", "conversation", "attachments", "author",
    "metadata", "result", "name", "input", "arguments", "num_turns", "session_id", "display", "pastedContents",
    "toolUseResult", "answers",
)  # fmt: skip
WORDS = (
    "user", "assistant", "tool", "system", "text", "human", "gemini", "message", "session_meta", "response_item",
    "event_msg", "user_message", "agent_message", "thread_rolled_back", "compacted", "function_call", "tool_use",
    "tool_result", "user.message", "assistant.message", "session.start", "toolRequest", "toolResponse", "subtask",
    "function_call_output", "all", "a", "\ud800", "<system-reminder>\nx", "<user_query>", "custom-title", "summary",
    "tool.execution_complete", "queued_command", "AskUserQuestion", "bash",
)  # fmt: skip
LEAVES = st.one_of(
    st.sampled_from(WORDS), st.text(max_size=8), st.none(), st.booleans(), st.integers(), st.floats(), st.just(10**400)
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.sampled_from(NAMES), inner, min_size=1, max_size=6)
    ),
    max_leaves=25,
)


def check(conversation: Conversation, data: bytes) -> None:
    assert conversation.skipped >= 0
    for turn in conversation.turns:
        assert turn.role in ROLES
        assert turn.text.strip()
        assert 0 <= turn.start <= turn.end <= len(data)
        (turn.text + turn.time).encode()
    (conversation.id + conversation.title + conversation.folder + conversation.started).encode()


@given(st.lists(VALUES, min_size=1, max_size=5), st.booleans(), st.integers(0, 30), st.binary(max_size=4))
def test_every_reader_survives_any_records_in_any_shape(rows: list[Any], lines: bool, less: int, odd: bytes) -> None:
    texts = [json.dumps(row) for row in rows]
    text = "\n".join(texts) if lines else (texts[0] if len(texts) == 1 else f"[{','.join(texts)}]")
    data = text.encode()[: len(text) - less] + odd
    for reader in READERS:
        check(reader.read("x", data), data)
        for conversation in reader.read_all("x", data) if reader.read_all else ():
            check(conversation, data)
    assert read_conversation("x", data) == read_conversation("x", data)
    assert read_all("x", data)


@given(st.binary(max_size=300))
def test_every_reader_survives_any_bytes_and_says_when_it_understood_nothing(data: bytes) -> None:
    for reader in READERS:
        for prefix in (b"", b"[", b'{"messages":[', b'{"type":'):
            conversation = reader.read("x", prefix + data)
            check(conversation, prefix + data)


def test_a_file_of_a_tool_that_gave_nothing_is_not_taken_for_an_empty_one() -> None:
    """It would count as harvested and be reclaimed, unread."""
    torn = b'{"info": {"id": "ses_1", "directory": "/w"}, "messages": [{"info": {"role": "us'
    conversation = read_conversation("x", torn)
    assert conversation.format == "opencode"
    trouble = why_unread(torn, conversation)
    assert trouble is not None
    assert "opencode" in trouble.message
    assert why_unread(b"User: hi\n", read_conversation("x", b"User: hi\n")) is None
    assert why_unread(b"  \n", read_conversation("x", b"  \n")) is None


def _session(records: int, damaged: Collection[int], damage: bytes) -> bytes:
    lines = []
    for at in range(records):
        said = {"role": "user", "content": f"n{at}"}
        row = {"type": "user", "sessionId": "s", "uuid": f"u{at}", "parentUuid": None, "cwd": "/srv", "message": said}
        lines.append(damage if at in damaged else json.dumps(row).encode())
    return b"\n".join(lines) + b"\n"


@pytest.mark.parametrize("damage", [b'{"type": "user", "mess', b"\0" * 40, b'{"type": "user", "text": "caf\xe9"}'])
def test_a_damaged_record_costs_itself_only_and_many_cost_the_reading(damage: bytes) -> None:
    """One flipped byte must not cost a session, nor may a file of which half is damaged count as read."""
    for records, damaged, fine in (
        (3, {1}, True),
        (60, {3, 9, 40}, True),
        (60, {1, 2, 3, 4}, False),
        (9, {2, 5}, False),
    ):
        data = _session(records, damaged, damage)
        found = read_conversation("x", data)
        assert found.format == "claude_code" and found.skipped == len(damaged)
        assert len(found.turns) == records - len(damaged)
        trouble = why_unread(data, found)
        assert (trouble is None) == fine, trouble
        if trouble is not None:
            assert trouble.message == f"the file has {len(damaged)} damaged records among {records}"


def test_a_torn_last_line_is_counted_and_costs_nothing_else() -> None:
    whole = _session(40, {7, 8}, b"{")
    for torn in (whole + b'{"type": "user", "sess', whole + '{"type": "user", "x": "für'.encode()[:-2]):
        found = read_conversation("x", torn)
        assert found.skipped == 3 and why_unread(torn, found) is None


def test_a_document_that_is_damaged_in_its_middle_is_not_read_and_one_that_breaks_off_is() -> None:
    """What stands behind the damage was never looked at, and the file went."""
    rows = [{"role": "user", "content": [{"type": "text", "text": f"number {at}"}]} for at in range(30)]
    whole = json.dumps(rows).encode()
    assert read_conversation("x", whole).format == "cline"
    assert why_unread(whole, read_conversation("x", whole)) is None
    cut = whole[: whole.index(b"number 20") + 4]
    assert len(read_conversation("x", cut).turns) == 20 and why_unread(cut, read_conversation("x", cut)) is None
    for old, new in ((b'"number 9"}]}', b'"number 9"]}'), (b"number 9", b"number \xff")):
        damaged = whole.replace(old, new)
        trouble = why_unread(damaged, read_conversation("x", damaged))
        assert trouble is not None and trouble.code == "damaged-conversation"


def test_a_note_that_shows_some_json_is_a_note() -> None:
    for note in (
        b'{"a": 1}\n\nWhy is this refused?\n', b"[[a link]] to the plan\n", b"[ ] renew the key\n", b"{x} is y\n",
        b'[1] the manual, page 9\n', b'["so it is"](https://example.org) they say\n',
    ):  # fmt: skip
        assert why_unread(note, read_conversation("x", note)) is None, note


def test_deep_nesting_and_endless_numbers_are_unreadable_and_not_fatal() -> None:
    for data in (b'{"a":' * 100_000, b"[" * 100_000, b'{"messages":' + b"[" * 100_000, b'{"a":' + b"9" * 50_000 + b"}"):
        assert [record.value for record in json_lines(data)] == [None] or data.startswith(b'{"a":9')
        json_document(data, ("messages",))


def test_lines_and_elements_know_their_bytes_whatever_stands_before() -> None:
    rows = [{"a": "ü€😀"}, {"b": "x"}, {"c": [1, {"d": "]"}]}]
    data = b"\xef\xbb\xbf" + "\r\n\n".join(json.dumps(row, ensure_ascii=False) for row in rows).encode()
    assert [json.loads(data[row.start : row.end]) for row in json_lines(data)] == rows
    for indent in (None, 3):
        inner = {"x\ufffd": 1, "messages": rows, "tree": {"k1": rows[0], "k2": 7}}
        data = b"\xef\xbb\xbf" + json.dumps([inner, inner], ensure_ascii=False, indent=indent).encode()
        data = data.replace("\ufffd".encode(), b"\xff\xfe")
        found = json_document(data, ("messages", "tree"))
        assert not found.torn
        for outer in found.records():
            value = outer.value or {}
            assert [row.value for row in value["messages"]] == rows
            assert [json.loads(data[row.start : row.end]) for row in value["messages"]] == rows
            assert [(row.key, row.value) for row in value["tree"]] == [("k1", rows[0]), ("k2", None)]
            assert data[outer.start : outer.end].startswith(b"{")


@given(st.integers(0, 200))
def test_a_document_cut_anywhere_gives_the_elements_that_were_whole(at: int) -> None:
    rows = [{"n": number, "t": "ä" * number} for number in range(6)]
    data = json.dumps({"info": 1, "messages": rows}, ensure_ascii=False).encode()
    found = json_document(data[:at], ("messages",))
    whole = [row.value for row in found.records("messages")]
    assert whole == rows[: len(whole)]
    assert found.torn == (0 < at < len(data))


def test_names_of_members_are_told_from_words_in_their_values() -> None:
    head = '{"a": {"b": {"c": 1}}, "text": "he said \\"parentUuid\\": {", "d": [{"e": 1}]}\n{"f": "cut of'
    assert keys_in(head) == {"a", ".b", "text", "d", ".e", "f"}
    assert keys_in('[{"a": [{"b": 1}]}]') == {"a", ".b"}
    assert keys_in('# note\n{"a": 1}') == frozenset()


def test_what_is_cut_out_is_counted_and_what_is_kept_stands_as_it_stood() -> None:
    text = "\n".join(f"row {number} of the listing" for number in range(5000))
    short = cut(text)
    head, number, tail = short.partition("\n[… ")[0], int(short.split("[… ")[1].split()[0]), short.split(" …]\n")[1]
    assert text.startswith(head)
    assert text.endswith(tail)
    assert len(head) + number + len(tail) == len(text)
    assert len(short) <= TOOL_HEAD + TOOL_TAIL + 60
    assert head.endswith("listing")
    assert cut("x" * 8000) == "x" * 8000


def test_a_secret_at_the_edge_of_a_cut_is_kept_whole_or_not_at_all() -> None:
    """Half of it would not be known as one, and be sent to a model."""
    secret = "ghp" + "_" + "a1B2" * 9
    for at in range(TOOL_HEAD - 45, TOOL_HEAD + 5):
        short = cut("word " * (at // 5) + "x" * (at % 5) + " " + secret + " and" * 9000)
        assert "a1B2a1" not in redact(short).text
    key = "\n".join(["-----BEGIN RSA " + "PRIVATE KEY-----", *["Qk1" * 20] * 50, "-----END RSA " + "PRIVATE KEY-----"])
    for after in range(0, 3000, 170):
        short = cut("word\n" * 3000 + key + "\n" + "tail " * (after // 5))
        assert "Qk1Qk1" not in redact(short).text, after


def test_times_of_any_kind_are_one_kind() -> None:
    assert iso_time(1759000000) == iso_time(1759000000000) == iso_time(1759000000.7) == "2025-09-27T19:06:40Z"
    assert iso_time("2025-09-27T19:06:40.123Z") == "2025-09-27T19:06:40.123Z"
    for odd in (None, True, "yesterday", float("nan"), float("inf"), 10**400, -(10**30), [], "2025-09-27T" * 20):
        assert iso_time(odd) == ""


def test_half_a_character_becomes_a_mark_and_not_a_crash_when_it_is_written() -> None:
    assert clean("a\ud83d\ude00b") == "a😀b"
    assert clean("a\ud83db\r\nc") == "a\ufffdb\nc"


def test_an_answer_in_pieces_is_one_turn_and_a_person_who_speaks_twice_is_two() -> None:
    reading = Reading()
    for role, text in (("user", "a"), ("user", "b"), ("assistant", "c"), ("assistant", "d"), ("tool", " ")):
        reading.say(role, text, "", len(reading.entries), 9)
    assert [(turn.role, turn.text) for turn in reading.turns()] == [
        ("user", "a"),
        ("user", "b"),
        ("assistant", "c\n\nd"),
    ]


def test_several_conversations_as_one_lose_nothing() -> None:
    reading = Reading(skipped=2)
    reading.say("user", "hello", "2025-01-01T00:00:00Z")
    one = reading.conversation("n", "k", id="1", title="One", folder="/a")
    assert joined("n", "k", [one]) == one
    both = joined("n", "k", [one, one], skipped=1)
    assert [turn.text for turn in both.turns] == ["Conversation: One", "hello"] * 2
    assert (both.skipped, both.folder, both.ended) == (5, "/a", "2025-01-01T00:00:00Z")
