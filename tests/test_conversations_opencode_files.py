"""OpenCode's storage before its database: without it, the sessions of everybody who has not updated are lost, and with
another form of it they are paid for twice after the update."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from core.conversations.collections.opencode_files import OpenFolder, is_storage
from core.conversations.collections.store_file import StoreError
from core.conversations.collections.stores import OpenStore
from core.conversations.read import read_conversation
from tests.store_makers import MAKERS, opencode_files


@pytest.mark.parametrize("first", [False, True])
def test_the_files_of_a_session_are_what_its_database_will_hold(first: bool, tmp_path: Path) -> None:
    storage = opencode_files(tmp_path / "storage", first=first)
    MAKERS["opencode"](tmp_path / "opencode.db").close()
    held, moved = OpenFolder(str(storage)), OpenStore(str(tmp_path / "opencode.db"), tmp_path / "copies")
    assert [(row.id, row.title, row.folder) for row in held.sessions()] == [
        ("ses_1", "Ports", "/srv/app"),
        ("ses_2", "Ports", "/srv/app"),
    ]
    for row in held.sessions():
        there = moved.session(row.id)
        assert there is not None
        assert held.content(row) == moved.content(there)
    moved.close()
    asked = read_conversation("x", held.content(held.sessions()[0]))
    assert [(turn.role, turn.text) for turn in asked.turns] == [
        ("user", "Which port do we use?"),
        ("assistant", "We use port 8080.\n\n```bash\nls\n```"),
        ("tool", "a.py"),
    ]
    assert asked.skipped == 0
    delegated = read_conversation("x", held.content(held.sessions()[1]))
    assert [turn.role for turn in delegated.turns] == ["system"]


def test_what_is_torn_costs_only_itself_and_is_counted(tmp_path: Path) -> None:
    storage = opencode_files(tmp_path / "storage")
    (storage / "part/msg_ses_1-0001/prt_ses_1-0001.json").write_text('{"id": "prt_')
    (storage / "session/p/ses_9.json").write_text("{")
    (storage / "session/p/not an id.json").write_text("{}")
    held = OpenFolder(str(storage))
    assert [row.id for row in held.sessions()] == ["ses_1", "ses_2"]
    assert "2 sessions cannot be read" in held.notes[0]
    read = read_conversation("x", held.content(held.sessions()[0]))
    assert (read.skipped, read.turns[-1].text) == (1, "a.py")


def test_a_message_of_the_first_versions_holds_its_parts(tmp_path: Path) -> None:
    storage = opencode_files(tmp_path / "storage")
    own = (
        '{"id": "m", "role": "user", "metadata": {"time": {"created": 1}}, "parts": [{"type": "text", "text": "Hm?"}]}'
    )
    (storage / "message/ses_2/m.json").write_text(own)
    held = OpenFolder(str(storage))
    row = held.session("ses_2")
    assert row is not None
    said = [turn.text for turn in read_conversation("x", held.content(row)).turns]
    assert said == ["Hm?", "Look for the port."]


def test_links_are_never_read_as_a_session(tmp_path: Path) -> None:
    """A link could bring any file of the person's into a prompt."""
    storage = opencode_files(tmp_path / "storage")
    (tmp_path / "secret.json").write_text('{"type": "text", "text": "mine"}')
    os.symlink(tmp_path / "secret.json", storage / "part/msg_ses_1-0001/prt_x.json")
    os.symlink(tmp_path, storage / "session/linked")
    held = OpenFolder(str(storage))
    assert [row.id for row in held.sessions()] == ["ses_1", "ses_2"]
    assert b"mine" not in held.content(held.sessions()[0])


def test_another_folder_is_no_storage(tmp_path: Path) -> None:
    (tmp_path / "session").mkdir()
    assert not is_storage(str(tmp_path))
    with pytest.raises(StoreError, match="no storage"):
        OpenFolder(str(tmp_path))
