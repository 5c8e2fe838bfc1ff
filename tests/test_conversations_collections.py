"""Files and databases that hold many conversations."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.conversations.collections import export_file
from core.conversations.collections.export_file import OpenExport, export_kind
from core.conversations.collections.store_file import StoreError
from core.conversations.collections.stores import OpenStore
from core.conversations.conversation import Conversation
from core.conversations.formats import chatgpt, claude_ai
from core.conversations.read import read_all, read_conversation
from tests.corpus import CORPUS
from tests.export_makers import chat, claude_chat, zipped
from tests.made_records import check_records, document, roles, spoken
from tests.made_records import said as exports_said
from tests.store_makers import MAKERS, say_in_opencode

# --- Databases of other tools. A user would lose history to a lock or a stray file of ours, or not see it read.

SAID = {
    "opencode": {
        "ses_1": ["user:Which port do we use?", "assistant:We use port 8080.\n\n```bash\nls\n```", "tool:a.py"],
        "ses_2": ["system:Look for the port."],
        "ses_3": ["user:Newer question?", "assistant:Newer answer."],
    },
    "goose": {
        "20260101_1": ["user:Which port?", "assistant:Port 8080.", "system:Hidden from the user"],
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


def contents(path: Path) -> dict[str, bytes]:
    store = OpenStore(str(path))
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
    found = contents(path)
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
    store = OpenStore(str(path))
    rows = store.sessions()
    store.close()
    assert {row.id for row in rows} == set(SAID[kind])
    assert all(row.size > 0 and row.updated > 1.7e9 for row in rows), rows


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("owner", ["gone", "writing", "killed", "no log"])
def test_nothing_is_written_beside_a_store_whatever_its_owner_does(kind: str, owner: str, tmp_path: Path) -> None:
    folder = tmp_path / "theirs"
    made = MAKERS[kind](folder / "x.db", wal=owner != "no log")
    if owner == "killed":
        shutil.copytree(folder, tmp_path / "as it was")
        folder = tmp_path / "as it was"
    if owner != "writing":
        made.close()
    before = state(folder)
    found = contents(folder / "x.db")
    assert set(found) == set(SAID[kind])
    assert state(folder) == before
    made.close()


def test_the_owner_writes_on_while_we_read_and_what_it_adds_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    made = MAKERS["opencode"](path)
    store = OpenStore(str(path))
    first = next(row for row in store.sessions() if row.id == "ses_1")
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
    store = OpenStore(str(path))
    first = next(row for row in store.sessions() if row.id == "ses_1")
    back = sqlite3.connect(path, isolation_level=None)
    say_in_opencode(back, "ses_1", 10, "user", "I am back")
    assert b"I am back" in store.content(first)
    back.close()
    store.close()


def test_a_title_that_changes_is_no_other_conversation(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    made = MAKERS["opencode"](path)
    before = contents(path)
    made.execute("UPDATE session SET title = 'Another', time_updated = time_updated + 1")
    assert contents(path) == before
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
    flipped = tmp_path / "flipped.db"  # the sentence that SQLite makes of it is no text
    data = bytearray((tmp_path / "whole.db").read_bytes())
    data[data.index(b"tablemessages") + len("table")] = 0xDC
    data[data.index(b"CREATE TABLE messages") + 1] = 0xDC
    flipped.write_bytes(bytes(data))
    unread = [(torn, "cannot be read"), (flipped, "cannot be read")]
    for path, words in ((plain, "no SQLite database"), (other, "no store"), *unread):
        with pytest.raises(StoreError, match=words):
            contents(path)
    with pytest.raises(OSError, match=r"."):
        contents(link)


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
    odd = (None, b"\xff\xfe", 7, 1.5, "{", "[]", '{"type": []}', '[{"type": 7}, 5]', '{"text_ref": [5, {}]}')
    looked = 0
    for table, column in columns[kind]:
        for value in odd:
            if value is None and kind in ("opencode", "goose"):
                continue
            made.execute(f"UPDATE {table} SET {column} = ?", (value,))
            for id, data in contents(path).items():
                read_conversation(id, data)
                looked += 1
    made.close()
    # An odd value affects only itself, not the list of sessions; of Cursor's only column the session's name as well.
    assert looked > (0 if kind == "cursor" else 9)


def test_a_database_with_any_name_is_read(tmp_path: Path) -> None:
    """One such name ended the whole harvest, and every other conversation waited for nothing."""
    path = tmp_path / os.fsdecode(b"x\xff.db")
    MAKERS["llm"](path).close()
    assert contents(path)


def test_a_chain_of_messages_that_bites_its_tail_ends(tmp_path: Path) -> None:
    path = tmp_path / "logs.db"
    made = MAKERS["llm"](path)
    made.execute("UPDATE messages SET parent_hash = 'h4' WHERE hash = 'h1'")
    made.close()
    assert contents(path)["both"].count(b"\n") == 5


# --- Exports of ChatGPT and Claude.ai, each conversation on its own. A user would lose the conversations behind a
# damaged one, or a program that unpacks what a stranger packed would take their memory or their disk.

EXPORTS_MAKERS = {"chatgpt": chat, "claude_ai": claude_chat}


def export(path: Path, rows: list[Any] | str) -> Path:
    words = rows if isinstance(rows, str) else json.dumps(rows)
    if path.suffix == ".zip":
        return zipped(path, {"account/conversations.json": words, "user.json": "{}"})
    path.write_text(words, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["conversations.json", "export.zip"])
@pytest.mark.parametrize("kind", EXPORTS_MAKERS)
def test_each_conversation_has_its_own_id_title_and_words(kind: str, name: str, tmp_path: Path) -> None:
    make = EXPORTS_MAKERS[kind]
    path = export(tmp_path / name, [make("id-1", "First", "one", "two"), make("id-2", "Zwölf", "é\ud83d\ude00")])
    assert export_kind(str(path)) == kind
    held = OpenExport(str(path))
    assert [(row.id, row.title) for row in held.sessions()] == [("id-1", "First"), ("id-2", "Zwölf")]
    assert not held.notes
    for row, words in zip(held.sessions(), (["one", "two"], ["é😀"]), strict=True):
        data = held.content(row)
        found = read_conversation("x", data)
        assert (found.format, found.skipped) == (kind, 0)
        assert [turn.text for turn in found.turns] == words
        assert len(data) == row.size
        assert row.updated > 0


@pytest.mark.parametrize("kind", EXPORTS_MAKERS)
def test_a_new_title_or_a_field_that_the_service_adds_is_no_other_conversation(kind: str, tmp_path: Path) -> None:
    """Else each download would be paid for again."""
    made = EXPORTS_MAKERS[kind]("id-1", "First", "one")
    other = {**made, "title": "Renamed", "name": "Renamed", "is_starred": True, "update_time": 1.8e9}
    held = [OpenExport(str(export(tmp_path / f"{at}.json", [row]))) for at, row in enumerate((made, other))]
    assert len({one.content(one.sessions()[0]) for one in held}) == 1
    grown = OpenExport(str(export(tmp_path / "2.json", [EXPORTS_MAKERS[kind]("id-1", "First", "one", "more")])))
    assert grown.content(grown.sessions()[0]) != held[0].content(held[0].sessions()[0])


@pytest.mark.parametrize("kind", EXPORTS_MAKERS)
def test_what_is_no_conversation_costs_only_itself_and_is_counted(kind: str, tmp_path: Path) -> None:
    make = EXPORTS_MAKERS[kind]
    good = [json.dumps(make(f"id-{at}", "T", f"word {at}")) for at in range(3)]
    empty = json.dumps({**make("id-9", "T"), "mapping": {}, "chat_messages": []})
    rows = [good[0], '{"mapping": 3, "chat_messages": 3}', '"words"', "null", good[1], empty, good[0], good[2]]
    held = OpenExport(str(export(tmp_path / "c.json", f"[{','.join(rows)}]")))
    assert [row.id for row in held.sessions()] == ["id-0", "id-1", "id-2"]
    told = "\n".join(held.notes)
    for part in ("1 cannot be read", "2 is no conversation", "1 without a message", "1 stands there twice"):
        assert part in told
    torn = OpenExport(str(export(tmp_path / "torn.json", f"[{good[0]},{good[1]},{good[2][:-9]}")))
    assert [row.id for row in torn.sessions()] == ["id-0", "id-1"]
    assert "breaks off" in torn.notes[0]


def test_of_one_id_twice_the_newer_is_read(tmp_path: Path) -> None:
    old, new = chat("id", "T", "a"), {**chat("id", "T", "a", "b"), "update_time": 1.75e9}
    for rows in ([old, new], [new, old]):
        held = OpenExport(str(export(tmp_path / "c.json", rows)))
        assert b'"b"' in held.content(held.sessions()[0])


def test_null_times_and_ids_that_are_no_ids_stop_nothing(tmp_path: Path) -> None:
    odd = [
        {**chat(id, "T", "a"), "create_time": None, "update_time": None, "title": None}  # type: ignore[arg-type]
        for id in ("../../etc/passwd", "a#b", "x" * 500, None)
    ]
    held = OpenExport(str(export(tmp_path / "c.json", odd)))
    assert len({row.id for row in held.sessions()}) == 4
    assert all(row.id.startswith("x") and len(row.id) < 40 and row.updated == 0 for row in held.sessions())


def test_other_files_are_no_exports(tmp_path: Path) -> None:
    """What lies beside the conversations, a single conversation, an archive of something else."""
    shared = '[{"id": "a", "conversation_id": "b", "title": "T", "is_anonymous": true}]'
    for words in (shared, "[]", "", "{}", json.dumps(chat("a", "T", "x"))):
        assert export_kind(str(export(tmp_path / "shared_conversations.json", words))) == ""
    assert export_kind(str(zipped(tmp_path / "a.zip", {"shared_conversations.json": shared, "readme": "x"}))) == ""


def test_an_archive_that_cannot_be_trusted_is_refused_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def why(path: Path) -> str:
        with pytest.raises(StoreError) as raised:
            OpenExport(str(path))
        return str(raised.value.strerror)

    bomb = zipped(tmp_path / "bomb.zip", {"conversations.json": b"[" + b" " * (20 << 20) + b"]"})
    assert "zip bomb" in why(bomb)
    (tmp_path / "cut.zip").write_bytes(bomb.read_bytes()[:-40])
    assert "the archive cannot be read" in why(tmp_path / "cut.zip")
    good = zipped(tmp_path / "good.zip", {"conversations.json": json.dumps([chat("a", "T", "x" * 5000)])})
    data = bytearray(good.read_bytes())
    data[60:70] = b"\xff" * 10
    (tmp_path / "hurt.zip").write_bytes(data)
    assert "the archive cannot be read" in why(tmp_path / "hurt.zip")
    locked = bytearray(good.read_bytes())
    for mark, flags in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        locked[locked.rindex(mark) + flags] |= 1
    (tmp_path / "locked.zip").write_bytes(locked)
    assert "password" in why(tmp_path / "locked.zip")
    monkeypatch.setattr(export_file, "EXPORT_BYTES", 100)
    assert "more than the 100" in why(good)


def test_what_an_archive_calls_its_files_is_never_a_path(tmp_path: Path) -> None:
    words = json.dumps([chat("a", "T", "x")])
    path = zipped(tmp_path / "in" / "e.zip", {"../../conversations.json": words, "/tmp/../conversations-1.json": words})
    held = OpenExport(str(path))
    assert held.content(held.sessions()[0])
    assert [row.name for row in tmp_path.rglob("*")] == ["in", "e.zip"]


def test_a_long_export_needs_the_memory_of_one_conversation(tmp_path: Path) -> None:
    row = json.dumps(chat("id-@", "T", *["words and more of them " * 400] * 4))
    path = tmp_path / "c.json"
    path.write_text("[" + ",\n".join(row.replace("id-@", f"id-{at}") for at in range(200)) + "]")
    tracemalloc.start()
    try:
        held = OpenExport(str(path))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(held.sessions()) == 200
    assert peak < path.stat().st_size / 2 > 3 << 20


@pytest.mark.parametrize("step", [1, 7, 40, 100])
@pytest.mark.parametrize("words", ["plain", "wörter ✓ 🎈", 'a "quote] and [more}', "\\ and \n"])
def test_an_array_is_read_whole_wherever_its_bytes_are_cut(
    step: int, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export_file, "CHUNK_BYTES", step)
    held = OpenExport(str(export(tmp_path / "c.json", [chat(f"id-{at}", words, words) for at in range(3)])))
    assert not held.notes
    for row in held.sessions():
        assert [turn.text for turn in read_conversation("x", held.content(row)).turns] == [words.strip()]


@pytest.mark.parametrize("read", [chatgpt.canonical, claude_ai.canonical])
def test_any_value_has_a_form_or_none(read: Callable[..., Any]) -> None:
    for inside in (None, 1, "x", [], [1, None, {}], {}, {"a": None}, {"a": {"message": 3}}, {"a": {"message": {}}}):
        made = read({"mapping": inside, "chat_messages": inside, "current_node": ["a"]}, "id")
        if made:
            assert read_conversation("x", json.dumps(made).encode()).format in ("chatgpt", "claude_ai")


def test_a_real_export_gives_every_conversation_with_the_turns_it_has_as_a_whole() -> None:
    files = sorted((CORPUS / "conversations" / "chatgpt").rglob("conversations.json"))
    if not files:
        pytest.skip("the corpus of real conversations has no chatgpt here")
    for path in files:
        held = OpenExport(str(path))
        whole = {row.title: len(row.turns) for row in read_all("x", path.read_bytes())}
        assert len(held.sessions()) == len(json.loads(path.read_bytes())) == 37
        assert not held.notes
        for row in held.sessions():
            read = read_conversation("x", held.content(row))
            assert read.skipped == 0
            assert os.path.basename(row.id) == row.id
        turns = [len(read_conversation("x", held.content(row)).turns) for row in held.sessions()]
        assert sum(turns) == sum(len(row.turns) for row in read_all("x", path.read_bytes())) > len(whole)


def test_members_of_an_archive_that_is_no_export_are_told(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no export of ChatGPT"):
        OpenExport(str(zipped(tmp_path / "a.zip", {"conversations.json": '[{"a": 1}]'})))
    assert zipfile.is_zipfile(tmp_path / "a.zip")


def test_an_odd_archive_is_a_sentence_or_read(tmp_path: Path) -> None:
    """Found by fuzzing: a member without a name ended the run."""
    path = zipped(tmp_path / "a.zip", {"conversations.json": json.dumps([chat("a", "A", "why?", "so")])})
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(zipfile.ZipInfo(""), b"x")
    assert [row.id for row in OpenExport(str(path)).sessions()] == ["a"]
    with zipfile.ZipFile(tmp_path / "b.zip", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("conversations.json", "[]")
    with pytest.raises(StoreError, match="unusual way"):
        OpenExport(str(tmp_path / "b.zip"))


# --- chatgpt ---------------------------------------------------------------------------------------------------------
# ChatGPT's export: without these, drafts that the user replaced are harvested, or 36 of 37 conversations lost.


def node(
    key: str, parent: str | None, role: str = "", text: str = "", kind: str = "text", **more: Any
) -> dict[str, Any]:
    content = {"content_type": kind, "parts": [text]}
    message = {"author": {"role": role}, "create_time": 1758176532.5, "content": content}
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
    assert exports_said(conversation, "user") == ["the question è"]
    assert "draft" not in str(conversation.turns)
    assert (conversation.id, conversation.title, conversation.started) == ("id-One", "One", "2025-09-18T06:22:10Z")
    asked = conversation.turns[2]
    assert json.loads(data[asked.start : asked.end])["id"] == "q2"


def test_an_export_gives_its_conversations_one_by_one_and_as_a_whole() -> None:
    """The file is reclaimed as a whole: what is read of it by default must be all of it."""
    newer = tree("New", 1758200000, "n", node("n", None, "user", "new words"))
    older = tree("Old", 1758100000, "o", node("o", None, "user", "old words"))
    data = document([newer, older])
    assert [row.title for row in read_all("conversations.json", data)] == ["New", "Old"]
    whole = read_conversation("conversations.json", data)
    assert spoken(whole) == [
        "system: Conversation: Old",
        "user: old words",
        "system: Conversation: New",
        "user: new words",
    ]
    assert (whole.id, whole.title) == ("conversations.json", "2 conversations")


def test_an_export_that_breaks_off_gives_what_was_whole() -> None:
    data = document([tree("One", 1, "a2", *TALK), tree("Two", 2, "a2", *TALK)])
    conversation = check_records(data[:-100], "chatgpt", skipped=1)
    assert exports_said(conversation, "user").count("the question è") >= 1
    assert read_conversation("x", b'[{"title": "t", "mapping": {"a": 7, "b": {"message": 3}}}]').skipped == 1


# --- claude ai -------------------------------------------------------------------------------------------------------
# Claude.ai's export: without these, an attached file passes for the user's words.


def message(sender: str, text: str, *blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    said_at = {"uuid": "m", "created_at": "2025-05-21T01:02:03Z"}
    return {**said_at, "sender": sender, "text": text, "content": list(blocks), **more}


def claude_ai_chat(name: str, made: str, *messages: Any) -> dict[str, Any]:
    return {"uuid": f"id-{name}", "name": name, "created_at": made, "updated_at": made, "chat_messages": list(messages)}


CLAUDE_AI_TALK = claude_ai_chat(
    "The lease",
    "2025-05-21T01:00:00Z",
    message("human", "summarise é", attachments=[{"file_name": "lease.txt", "extracted_content": "We must pay."}]),
    message(
        "assistant",
        "It says…",
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "It says that you pay."},
        {"type": "tool_use", "name": "artifacts", "input": {"title": "x"}},
        {"type": "tool_result", "content": [{"type": "text", "text": "OK"}]},
        {"type": "from-the-future"},
    ),
    message("human", "thanks", {"type": "text", "text": "thanks"}),
)


def test_a_chat_with_its_attachment_and_tools() -> None:
    data = document([CLAUDE_AI_TALK])
    conversation = check_records(data, "claude_ai", skipped=1)
    assert roles(conversation) == ["tool", "user", "assistant", "tool", "tool", "user"]
    assert exports_said(conversation, "user") == ["summarise é", "thanks"]
    assert exports_said(conversation, "assistant") == ["It says that you pay."]
    assert conversation.turns[0].text == "lease.txt:\nWe must pay."
    assert (conversation.id, conversation.title) == ("id-The lease", "The lease")
    last = conversation.turns[-1]
    assert json.loads(data[last.start : last.end])["text"] == "thanks"


def test_an_export_gives_its_chats_one_by_one_and_as_a_whole() -> None:
    data = document([CLAUDE_AI_TALK, claude_ai_chat("Older", "2024-01-01T00:00:00Z", message("human", "first"), 7)], 1)
    assert [row.title for row in read_all("conversations.json", data)] == ["The lease", "Older"]
    whole = read_conversation("conversations.json", data)
    assert exports_said(whole, "user") == ["first", "summarise é", "thanks"]
    assert whole.skipped == 2
