"""Databases of other tools. A person would lose history to a lock or a stray file of ours, or not see it read."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from core.conversations.collections.store_file import StoreError
from core.conversations.collections.stores import OpenStore
from core.conversations.conversation import Conversation
from core.conversations.read import read_conversation
from tests.store_makers import MAKERS, say_in_opencode

SAID = {
    "opencode": {
        "ses_1": ["user:Which port do we use?", "assistant:We use port 8080.\n\n```bash\nls\n```", "tool:a.py"],
        "ses_2": ["system:Look for the port."],
        "ses_3": ["user:Newer question?", "assistant:Newer answer."],
    },
    "goose": {
        "20260101_1": ["user:Which port?", "assistant:Port 8080.", "system:Hidden from the person"],
        "20260101_2": ["system:Do it."],
    },
    "cursor": {
        "c0": ["user:Older?", "assistant:Yes."],
        "c1": ["user:Which port?", "assistant:Port 8080.\n\n```bash\nls\n```", "tool:a.py"],
    },
    "llm": {
        "both": ["user:First?", "assistant:One.", "user:See the shared text", "assistant:Two."],
        "old": [
            "system:Be brief.",
            "user:Which port?",
            "assistant:Port 8080.",
            "tool:scan\nhost: a",
            "user:And the other?",
            "assistant:Port 9090.",
        ],
        "response-r3": ["user:Alone?", "assistant:Yes."],
    },
}
FOLDERS = {"opencode": "/srv/app", "goose": "/srv/app", "cursor": "/srv/my app", "llm": ""}


def contents(path: Path, copies: Path) -> dict[str, bytes]:
    store = OpenStore(str(path), copies)
    try:
        return {row.id: store.content(row) for row in store.sessions()}
    finally:
        store.close()


def said(conversation: Conversation) -> list[str]:
    return [f"{turn.role}:{turn.text}" for turn in conversation.turns]


def state(folder: Path) -> dict[str, str]:
    """Every file beside a store with its content; the index of the log, which readers lock in, by its name alone."""
    return {
        path.name: "" if path.name.endswith("-shm") else hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.iterdir())
    }


@pytest.mark.parametrize("kind", MAKERS)
def test_every_conversation_of_a_store_is_read_as_it_was_said(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "store" / "x.db"
    MAKERS[kind](path).close()
    found = contents(path, tmp_path / "copies")
    read = {id: read_conversation(id, data) for id, data in found.items()}
    assert {id: said(one) for id, one in read.items()} == SAID[kind]
    for id, one in read.items():
        assert (one.id, one.format, one.skipped) == (id, kind, 0)
        assert one.folder == FOLDERS[kind] or id == "c0"
        assert all(found[id][turn.start : turn.end].startswith(b"{") for turn in one.turns)


@pytest.mark.parametrize("kind", MAKERS)
def test_the_list_knows_size_and_age_without_reading_what_was_said(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    MAKERS[kind](path).close()
    store = OpenStore(str(path), tmp_path)
    rows = store.sessions()
    store.close()
    assert {row.id for row in rows} == set(SAID[kind])
    assert all(row.size > 0 and row.updated > 1.7e9 for row in rows), rows


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("owner", ["gone", "writing", "killed", "killed without an index", "no log"])
def test_nothing_is_written_beside_a_store_whatever_its_owner_does(kind: str, owner: str, tmp_path: Path) -> None:
    folder = tmp_path / "theirs"
    made = MAKERS[kind](folder / "x.db", wal=owner != "no log")
    if owner.startswith("killed"):
        shutil.copytree(folder, tmp_path / "as it was")
        folder = tmp_path / "as it was"
        if owner.endswith("index"):
            (folder / "x.db-shm").unlink()
    if owner != "writing":
        made.close()
    before = state(folder)
    found = contents(folder / "x.db", tmp_path / "copies")
    assert set(found) == set(SAID[kind])
    assert state(folder) == before
    assert not (tmp_path / "copies").exists() or not list((tmp_path / "copies").iterdir())
    made.close()


def test_the_owner_writes_on_while_we_read_and_what_it_adds_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    made = MAKERS["opencode"](path)
    store = OpenStore(str(path), tmp_path)
    first = store.session("ses_1")
    assert first is not None
    before = store.content(first)
    made.execute("PRAGMA busy_timeout = 0")  # a lock of ours would be an error at once
    for number in range(10, 60):
        say_in_opencode(made, "ses_1", number, "user", f"word {number}")
        assert f"word {number}".encode() in store.content(first)
    assert store.content(first).startswith(before)
    made.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert b"word 59" in store.content(first)
    store.close()
    made.close()


def test_an_owner_that_comes_back_while_we_read_is_noticed(tmp_path: Path) -> None:
    """The file is read without locks while nobody has it open: half of a change must not be taken for one."""
    path = tmp_path / "opencode.db"
    MAKERS["opencode"](path).close()
    store = OpenStore(str(path), tmp_path)
    first = store.session("ses_1")
    assert first is not None
    back = sqlite3.connect(path, isolation_level=None)
    say_in_opencode(back, "ses_1", 10, "user", "I am back")
    assert b"I am back" in store.content(first)
    back.close()
    store.close()


def test_a_title_that_changes_is_no_other_conversation(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    made = MAKERS["opencode"](path)
    before = contents(path, tmp_path)
    made.execute("UPDATE session SET title = 'Another', time_updated = time_updated + 1")
    assert contents(path, tmp_path) == before
    made.close()


def test_what_is_no_store_is_told_in_words(tmp_path: Path) -> None:
    plain, other, torn, link = (tmp_path / name for name in ("plain.db", "other.db", "torn.db", "link.db"))
    plain.write_text("hello")
    sqlite3.connect(other).execute("CREATE TABLE a (b)").connection.close()
    MAKERS["goose"](tmp_path / "whole.db", wal=False).close()
    data = bytearray((tmp_path / "whole.db").read_bytes())
    data[100:3000] = os.urandom(2900)
    torn.write_bytes(bytes(data))
    os.symlink(other, link)
    for path, words in ((plain, "no SQLite database"), (other, "no store"), (torn, "cannot be read")):
        with pytest.raises(StoreError, match=words):
            contents(path, tmp_path)
    with pytest.raises(OSError, match=r"."):
        contents(link, tmp_path)


@pytest.mark.parametrize("kind", MAKERS)
def test_odd_values_in_a_store_are_counted_and_not_fatal(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    made = MAKERS[kind](path, wal=False)
    columns = {
        "opencode": (("message", "data"), ("part", "data"), ("session_message", "data"), ("session", "directory")),
        "goose": (("messages", "content_json"), ("messages", "metadata_json"), ("sessions", "updated_at")),
        "cursor": (("cursorDiskKV", "value"),),
        "llm": (("responses", "prompt"), ("parts", "payload"), ("threads", "tip_message_hash")),
    }
    looked = 0
    for table, column in columns[kind]:
        for value in (
            None,
            b"\xff\xfe",
            7,
            1.5,
            "{",
            "[]",
            '{"type": []}',
            '[{"type": 7}, 5]',
            '{"text_ref": [5, {}]}',
        ):
            if value is None and kind in ("opencode", "goose"):
                continue
            made.execute(f"UPDATE {table} SET {column} = ?", (value,))
            for id, data in contents(path, tmp_path).items():
                read_conversation(id, data)
                looked += 1
    made.close()
    # An odd value costs itself, not the list of sessions; of Cursor's only column it costs the session's name as well.
    assert looked > (0 if kind == "cursor" else 9)


def test_a_database_with_any_name_is_read(tmp_path: Path) -> None:
    """One such name ended the whole harvest, and every other conversation waited for nothing."""
    path = tmp_path / os.fsdecode(b"x\xff.db")
    MAKERS["llm"](path).close()
    assert contents(path, tmp_path)


def test_a_chain_of_messages_that_bites_its_tail_ends(tmp_path: Path) -> None:
    path = tmp_path / "logs.db"
    made = MAKERS["llm"](path)
    made.execute("UPDATE messages SET parent_hash = 'h4' WHERE hash = 'h1'")
    made.close()
    assert contents(path, tmp_path)["both"].count(b"\n") == 5
