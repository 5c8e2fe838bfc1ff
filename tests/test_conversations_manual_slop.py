"""Manual Slop: without these, discussions of the host application itself cannot be harvested."""

from __future__ import annotations

from core.conversations.read import read_all, read_conversation
from tests.made_records import roles, said

PROJECT = '''[project]
name = "shop"
git_dir = "/repo/shop"

[discussion]
roles = ["User", "AI"]
active = "main"

[discussion.discussions.main]
last_updated = "2026-06-12T10:00:00"
history = [
    "@2026-06-12T10:00:00\\nUser:\\nWhich port?",
    """@2026-06-12T10:00:05
AI:
It is 8081.
User: is a word here""",
    "User: and why",
    "words of nobody",
    "@2026-06-12T10:00:09\\nVendor API:\\n{}",
    7,
]

[discussion.discussions.other]
history = [
    { role = "User", content = "in a table", ts = "2026-06-13T10:00:00" },
    { role = "Vendor API", content = "raw", ts = 2026-06-13T10:00:05 },
    { role = "AI", content = "" },
]
'''


def test_each_discussion_with_its_speakers_and_times() -> None:
    first, second = read_all("shop.toml", PROJECT.encode())
    assert (first.format, first.title, first.folder) == ("manual_slop", "main", "/repo/shop")
    assert [(turn.role, turn.text) for turn in first.turns] == [
        ("user", "Which port?"),
        ("assistant", "It is 8081.\nUser: is a word here"),
        ("user", "and why"),
        ("user", "words of nobody"),
        ("system", "{}"),
    ]
    assert first.turns[0].time == "2026-06-12T10:00:00"
    assert first.skipped == 1
    assert [(turn.role, turn.time) for turn in second.turns] == [
        ("user", "2026-06-13T10:00:00"),
        ("system", "2026-06-13T10:00:05"),
    ]
    assert second.skipped == 1


def test_the_file_as_a_whole_and_a_list_on_its_own() -> None:
    assert said(read_conversation("shop.toml", PROJECT.encode()), "user")[-1] == "in a table"
    alone = read_conversation("shop_history.toml", b'history = ["User:\\nhi", "AI:\\nhello"]\n')
    assert (alone.format, roles(alone)) == ("manual_slop", ["user", "assistant"])
    tables = read_conversation("h.toml", b'[[history]]\nrole = "AI"\ncontent = "hello"\n')
    assert (tables.format, roles(tables)) == ("manual_slop", ["assistant"])


def test_a_note_that_only_looks_like_it_stays_a_note() -> None:
    note = b"Set this in the file:\nhistory = [1, 2\nand then run it\n"
    conversation = read_conversation("note.md", note)
    assert (conversation.format, roles(conversation)) == ("plain", ["user"])
    assert "and then run it" in conversation.turns[0].text
