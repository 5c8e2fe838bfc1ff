"""What a window reads: if it is wrong, a person edits a line that is not the one they saw, or looks in vain."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from core.base.result import Err, Ok
from core.commands import bullets
from core.commands.panel import files
from core.commands.panel.bullets import all_bullets, bullet_history, category_view, category_views
from core.commands.panel.conversations import conversation_key, conversation_view
from core.commands.panel.files import decoded, mentioned_lines, notes_overview, source_mark, source_text
from core.commands.panel.overview import overview
from core.commands.quarantine import quarantine_accept
from core.commands.trash import trash_restore
from core.commands.undo import undo
from core.commands.workspace import Workspace
from core.knowledge.run_state import DIFFERENT
from tests.made_home import HURRIED, Clock, Model, converse, harvested, make_home, value


def knowledge(workspace: Workspace, name: str, text: str) -> Path:
    path = workspace.paths.knowledge / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


# --- categories ------------------------------------------------------------------------------------------------------


def test_a_category_carries_the_hash_of_what_was_seen(tmp_path: Path) -> None:
    """With another hash an edit would be refused for ever, or worse, let through."""
    workspace = make_home(tmp_path)
    path = knowledge(workspace, "facts.md", "# Facts\n\n- one [from: a, 2026-01-01]\n  detail\n- ~~two~~\n")
    view = value(category_view(workspace, "facts"))
    assert view.sha256 == hashlib.sha256(path.read_bytes()).hexdigest() and view.bytes == path.stat().st_size
    assert [(row.bullet.text, row.bullet.line, row.bullet.struck) for row in view.rows] == [
        ("one", 3, False),
        ("two", 5, True),
    ]
    assert view.rows[0].bullet.more == ("  detail",)
    edited = bullets.edit(workspace, "facts", view.rows[0].ref, "uno", seen=view.sha256)
    assert value(edited).sha256 == value(category_view(workspace, "facts")).sha256


def test_a_change_from_outside_is_refused(tmp_path: Path) -> None:
    workspace = make_home(tmp_path)
    path = knowledge(workspace, "facts.md", "# Facts\n\n- one\n")
    view = value(category_view(workspace, "facts"))
    path.write_text("# Facts\n\n- one\n- other\n", encoding="utf-8")
    refused = bullets.edit(workspace, "facts", view.rows[0].ref, "mine", seen=view.sha256)
    assert isinstance(refused, Err) and refused.error.code == "changed-outside"
    assert "mine" not in path.read_text(encoding="utf-8")


def test_a_file_that_is_not_there_can_be_added_to(tmp_path: Path) -> None:
    workspace = make_home(tmp_path)
    view = value(category_view(workspace, "tasks_open"))
    assert not view.exists and view.rows == ()
    assert isinstance(bullets.add(workspace, "tasks_open", "first", seen=view.sha256), Ok)
    assert [row.bullet.text for row in value(category_view(workspace, "tasks_open")).rows] == ["first"]
    assert value(category_view(workspace, "tasks_done")).rows == ()
    assert isinstance(category_view(workspace, "people"), Err)


def test_what_did_not_change_is_the_same_object(tmp_path: Path) -> None:
    """Else every harvest would draw every view anew."""
    workspace = make_home(tmp_path)
    knowledge(workspace, "facts.md", "# Facts\n\n- one\n")
    before = category_views(workspace)
    assert category_views(workspace, before) is before
    knowledge(workspace, "facts.md", "# Facts\n\n- two\n")
    after = category_views(workspace, before)
    assert after is not before and after[0] is not before[0] and after[1] is before[1]


@pytest.mark.skipif(os.geteuid() == 0 and not Path("/proc").exists(), reason="needs links")
def test_one_unreadable_file_does_not_hide_the_others(tmp_path: Path) -> None:
    workspace = make_home(tmp_path)
    knowledge(workspace, "facts.md", "# Facts\n\n- one\n")
    knowledge(workspace, "files/1-2.md", "# /tmp/x\n\n- note\n")
    (workspace.paths.knowledge / "decisions.md").symlink_to(tmp_path / "elsewhere")
    found = all_bullets(workspace)
    assert [row.bullet.text for row in found.rows] == ["one", "note"]
    assert len(found.errors) == 1 and "decisions.md" in found.errors[0].message
    assert category_views(workspace)[1].problem is not None


# --- history ---------------------------------------------------------------------------------------------------------


def test_a_bullet_tells_its_past(tmp_path: Path) -> None:
    """Through an edit, a strike and an undo, back to the conversation."""
    workspace = make_home(tmp_path)
    converse(workspace, "kettle", "words")
    harvested(workspace, Model(facts=["water boils"]), Clock())
    row = next(row for row in value(category_view(workspace, "facts")).rows if row.bullet.text == "water boils")
    bullets.edit(workspace, "facts", row.ref, "water boils at 100")
    row = next(row for row in value(category_view(workspace, "facts")).rows if "100" in row.bullet.text)
    struck = value(bullets.strike(workspace, "facts", row.ref))
    row = next(row for row in value(category_view(workspace, "facts")).rows if row.bullet.struck)
    events = value(bullet_history(workspace, "facts.md", row.bullet.raw))
    assert [event.what for event in events] == ["struck", "edited", "harvested"]
    assert events[-1].sha and events[-1].before == "" and "water boils [" in events[1].before
    assert isinstance(undo(workspace, struck.run, editor_wait=HURRIED), Ok)
    row = next(row for row in value(category_view(workspace, "facts")).rows if "100" in row.bullet.text)
    assert value(bullet_history(workspace, "facts.md", row.bullet.raw))[0].what == "undone"
    assert value(bullet_history(workspace, "facts.md", "- never seen")) == ()


def test_a_task_that_was_done_and_an_item_that_was_let_in_keep_their_past(tmp_path: Path) -> None:
    workspace = make_home(tmp_path)
    knowledge(workspace, "quarantine.md", "# Quarantine\n\n- [no-quote] facts: held words [from: a, 2026-01-01]\n")
    row = value(category_view(workspace, "quarantine")).rows[0]
    assert isinstance(quarantine_accept(workspace, row.ref), Ok)
    fact = value(category_view(workspace, "facts")).rows[0]
    assert [event.what for event in value(bullet_history(workspace, "facts.md", fact.bullet.raw))] == ["accepted"]
    bullets.add(workspace, "tasks_open", "paint")
    task = value(category_view(workspace, "tasks_open")).rows[0]
    bullets.done(workspace, task.ref)
    task = value(category_view(workspace, "tasks_done")).rows[0]
    assert [event.what for event in value(bullet_history(workspace, "tasks.md", task.bullet.raw))] == ["moved", "added"]


# --- source files ----------------------------------------------------------------------------------------------------


def test_notes_follow_their_file_and_say_when_it_is_gone(tmp_path: Path) -> None:
    workspace = make_home(tmp_path)
    source = tmp_path / "project" / "app.py"
    source.parent.mkdir()
    source.write_text("def run():\n    pass\n", encoding="utf-8")
    assert isinstance(bullets.add(workspace, "files", "`run()` starts it", file=str(source)), Ok)
    first = notes_overview(workspace)
    assert [(row.source, row.exists, row.renamed) for row in first.notes] == [(str(source), True, False)]
    assert notes_overview(workspace, first) is first
    moved = source.with_name("main.py")
    source.rename(moved)
    second = notes_overview(workspace, first)
    assert [(row.source, row.exists, row.renamed) for row in second.notes] == [(str(moved), True, True)]
    assert second.notes[0].rows[0].bullet.text == "`run()` starts it"
    kept = moved.read_bytes()
    moved.unlink()
    third = notes_overview(workspace, second)
    assert [(row.exists, len(row.rows)) for row in third.notes] == [(False, 1)]
    assert notes_overview(workspace, third) is third  # not looked for again at once
    source.write_bytes(kept)
    assert notes_overview(workspace).notes[0].exists


def test_an_editor_that_saves_by_rename_keeps_the_notes(tmp_path: Path) -> None:
    workspace = make_home(tmp_path)
    source = tmp_path / "app.py"
    source.write_text("a = 1\n", encoding="utf-8")
    bullets.add(workspace, "files", "note", file=str(source))
    before = notes_overview(workspace)
    fresh = tmp_path / "app.py.new"
    fresh.write_text("a = 2\n", encoding="utf-8")
    fresh.rename(source)
    after = notes_overview(workspace, before)
    assert after.notes[0].exists and after.notes[0].source == str(source)


def test_a_source_is_shown_whatever_it_holds(tmp_path: Path) -> None:
    workspace = make_home(tmp_path)
    big = tmp_path / "big.txt"
    big.write_text("ü" * 100 + "\n" + "x" * 500, encoding="utf-8")
    shown = value(source_text(workspace, str(big), 300))
    assert shown.cut and shown.text == "ü" * 100 + "\n" and shown.bytes == 701
    assert shown.mark == source_mark(str(big))
    assert decoded("\ufeffé".encode("utf-16-be")) == "é" and decoded(b"\xef\xbb\xbfa") == "a"
    assert decoded(b"caf\xe9") == "caf\ufffd" and decoded(b"\x7fELF\0\0") is None
    assert decoded("ab\nü".encode()[:-1], cut=True) == "ab\n"


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    """A name from a conversation must not show what stands elsewhere."""
    workspace = make_home(tmp_path)
    (tmp_path / "secret").write_text("hidden", encoding="utf-8")
    (tmp_path / "link").symlink_to(tmp_path / "secret")
    os.mkfifo(tmp_path / "pipe")
    for name, code in (("link", "unreadable"), ("pipe", "unreadable"), (".", "unreadable"), ("gone", "missing")):
        result = source_text(workspace, str(tmp_path / name))
        assert isinstance(result, Err) and result.error.code == code, name
    assert source_mark(str(tmp_path / "gone")) == (0, 0, 0)
    assert files.SOURCE_BYTES == 2_000_000


def test_notes_find_their_lines() -> None:
    lines = ["import os", "", "MAX = 3", "def foo():", "    return bar", "class Tea_Pot:", "## Back-off", "x = 'a b c'"]
    notes = [
        "line 5 returns", "see lines 3-4", "L2", "app.py:6 is odd", "`foo()` is slow", "the Tea_Pot leaks",
        "calls bar() twice", "`a b c` is odd", "nothing of that", "line 99 is not there", "`MAX` rules",
    ]  # fmt: skip
    expected = [(5, 5), (3, 4), (2, 2), (6, 6), (4, 4), (6, 6), (5, 5), (8, 8), None, None, (3, 3)]
    assert mentioned_lines(notes, lines) == expected
    assert mentioned_lines(["`foo()`"], []) == [None]
    assert mentioned_lines(["`foo()`"], ["foo()", "def foo():", "foo()"]) == [(2, 2)]


# --- conversations ---------------------------------------------------------------------------------------------------


def test_a_conversation_is_found_in_the_trash_and_back_in_its_place(tmp_path: Path) -> None:
    workspace = make_home(tmp_path)
    path = converse(workspace, "kettle", "hundred degrees")
    harvested(workspace, Model(facts=["water boils"]), Clock())
    key = value(conversation_key(workspace, path.name))
    view = value(conversation_view(workspace, key))
    assert view.where == "trash" and view.trash == key and view.now.endswith(key) and view.name == path.name
    assert any("hundred degrees" in turn.text for turn in view.turns)
    given = {row.text: row for row in view.given}
    assert given["water boils"].file == "facts.md" and given["water boils"].line > 0
    row = next(row for row in value(category_view(workspace, "facts")).rows if row.bullet.text == "water boils")
    assert given["water boils"].line == row.bullet.line
    bullets.remove(workspace, "facts", row.ref)
    assert {row.text: row.line for row in value(conversation_view(workspace, key)).given}["water boils"] == 0
    trash_restore(workspace, key, editor_wait=HURRIED)
    assert value(conversation_view(workspace, key)).where == "in place"
    path.write_text("other words", encoding="utf-8")
    assert value(conversation_view(workspace, key)).where == "changed"
    path.unlink()
    gone = value(conversation_view(workspace, key))
    assert (gone.where, gone.now, gone.turns) == ("gone", "", ()) and gone.given
    assert isinstance(conversation_view(workspace, "0" * 64), Err)
    assert isinstance(conversation_key(workspace, "nobody"), Err)


def test_the_sections_at_a_glance_add_up_to_the_digest_on_the_disk(tmp_path: Path) -> None:
    """A person adds lines between two harvests: what is shown of digest.md must still be what lies there."""
    workspace = make_home(tmp_path)
    bullets.add(workspace, "facts", "water boils")
    knowledge(workspace, "digest.md", "# Knowledge digest\n(old)\n\n## Facts\n- water boils\n")
    for number in range(6):
        bullets.add(workspace, "decisions", f"kettle number {number} is bought, and it is a red one")
    knowledge(workspace, "digest.md", "# Knowledge digest\n(old)\n\n## Facts\n- water boils\n")
    found = value(overview(workspace))
    assert found.status.stands.digest.state == DIFFERENT and found.sections == (
        ("Facts", len("\n## Facts\n- water boils\n")),
    )
    (workspace.paths.knowledge / "digest.md").unlink()
    assert {title for title, _ in value(overview(workspace)).sections} == {"Decisions", "Facts"}
