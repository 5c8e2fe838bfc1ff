"""A user's edit of a file of bullets, beside editors and other processes."""

from __future__ import annotations

import hashlib
import os
import tempfile
import threading
import time
from hashlib import sha256 as digest
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.base import files, locks
from core.base.homes import write_format
from core.base.markdown import parse_bullets
from core.base.paths import Paths
from core.base.result import Ok, attempt
from core.knowledge import edit
from core.knowledge.bullet_text import BulletRef
from core.knowledge.changes import read_changes
from core.knowledge.reversal import ALREADY, CHANGED, REVERSED, take_back
from core.knowledge.swap import clear_leftovers, replace_expected, swap_in
from tests.edited import (
    NOW,
    TASKS,
    code,
    data,
    edit_text,
    home,
    mark_done,
    ref_of,
    reopen,
    strike,
    undo_last,
    unstrike,
)

# --- A user's own edits: if these fail, an edit damages a line that nobody touched, or cannot be taken back.


def test_new_words_keep_provenance_details_and_odd_spacing(tmp_path: Path) -> None:
    old = b"# Facts\r\n\r\n-   old words   [from: chat, 2026-01-01]\r\n  detail\r\n- next"
    paths = home(tmp_path, "facts.md", old)
    done = edit_text(paths, ref_of(paths, "facts.md"), "new\nwords [from: me, 2020-01-01]")
    new = data(paths, "facts.md")
    assert new == old.replace(b"old words", b"new words (from: me, 2020-01-01]")
    assert done.sha256 == hashlib.sha256(new).hexdigest()
    assert done.run.startswith("edit-20260501T120000-")
    assert read_changes(paths)[-1].run == done.run
    assert undo_last(paths) == REVERSED and data(paths, "facts.md") == old


def test_strike_and_unstrike_are_each_others_inverse(tmp_path: Path) -> None:
    old = "- say ~~it~~ so [from: chat, 2026-01-01]\n"
    paths = home(tmp_path, "facts.md", old)
    strike(paths, ref_of(paths, "facts.md"))
    assert data(paths, "facts.md") == b"- ~~say ~~it~~ so~~ [from: chat, 2026-01-01]\n"
    assert code(strike, paths, ref_of(paths, "facts.md")) == "already-struck"
    unstrike(paths, ref_of(paths, "facts.md"))
    assert data(paths, "facts.md") == old.encode()
    assert code(unstrike, paths, ref_of(paths, "facts.md")) == "not-struck"


def test_new_words_for_a_struck_bullet_leave_it_struck(tmp_path: Path) -> None:
    paths = home(tmp_path, "facts.md", "- ~~wrong~~\n")
    edit_text(paths, ref_of(paths, "facts.md"), "very wrong")
    assert data(paths, "facts.md") == b"- ~~very wrong~~\n"


def test_done_moves_a_task_with_its_details_and_reopen_brings_it_back(tmp_path: Path) -> None:
    paths = home(tmp_path, "tasks.md", TASKS)
    mark_done(paths, ref_of(paths, "tasks.md", 0))
    moved = "# Tasks\n\n## Open\n\n- two\n\n## Done\n\n- old\n- one [from: a, 2026-01-01]\n  detail\n"
    assert data(paths, "tasks.md").decode() == moved
    assert code(mark_done, paths, ref_of(paths, "tasks.md", 2)) == "already-done"
    reopen(paths, ref_of(paths, "tasks.md", 2))
    assert data(paths, "tasks.md").decode() == TASKS.replace(
        "- one [from: a, 2026-01-01]\n  detail\n- two\n", ""
    ).replace("## Open\n\n", "## Open\n\n- two\n- one [from: a, 2026-01-01]\n  detail\n")
    assert undo_last(paths) == REVERSED and data(paths, "tasks.md").decode() == moved


def test_a_person_s_own_heading_after_done_is_not_taken_for_it(tmp_path: Path) -> None:
    paths = home(tmp_path, "tasks.md", "## Open\n\n- a\n\n## Done\n\n## Notes\n\nmine\n")
    mark_done(paths, ref_of(paths, "tasks.md"))
    assert data(paths, "tasks.md") == b"## Open\n\n\n## Done\n\n- a\n\n## Notes\n\nmine\n"


def test_a_missing_done_heading_is_made(tmp_path: Path) -> None:
    paths = home(tmp_path, "tasks.md", "- a\n- b")
    mark_done(paths, ref_of(paths, "tasks.md"))
    assert data(paths, "tasks.md") == b"- b\n\n## Done\n\n- a\n"
    assert undo_last(paths) == REVERSED and data(paths, "tasks.md") == b"- a\n- b"


def test_of_two_equal_bullets_the_seen_one_goes(tmp_path: Path) -> None:
    paths = home(tmp_path, "facts.md", "- same\n- other\n- same\n  mine\n- last\n")
    edit.delete_bullets(paths, [ref_of(paths, "facts.md", 2)], NOW)
    assert data(paths, "facts.md") == b"- same\n- other\n- last\n"


def test_a_bullet_that_moved_is_not_confused_with_another(tmp_path: Path) -> None:
    paths = home(tmp_path, "facts.md", "- a\n")
    ref = ref_of(paths, "facts.md")
    (paths.knowledge / "facts.md").write_bytes(b"- first\n- a\n")
    assert code(edit.delete_bullets, paths, [ref], NOW) == "changed-outside"
    assert data(paths, "facts.md") == b"- first\n- a\n"


@pytest.mark.parametrize(
    ("damage", "expected"),
    [("none", "missing"), ("link", "symlink"), ("folder", "not-a-file"), ("mode", "read-only"), ("latin", "not-utf8")],
)
def test_a_file_that_cannot_be_edited_gives_one_sentence(tmp_path: Path, damage: str, expected: str) -> None:
    paths = home(tmp_path)
    path = paths.knowledge / "facts.md"
    if damage == "link":
        (tmp_path / "target.md").write_text("- a\n")
        path.symlink_to(tmp_path / "target.md")
    elif damage == "folder":
        path.mkdir()
    elif damage == "mode":
        path.write_text("- a\n")
        path.chmod(0o444)
    elif damage == "latin":
        path.write_bytes(b"- a\n- caf\xe9\n")
    assert code(strike, paths, BulletRef("facts.md", 1, "- a")) == expected
    assert not paths.changes.exists()
    if damage == "link":
        assert (tmp_path / "target.md").read_text() == "- a\n"


@pytest.mark.parametrize("name", ["../outside.md", "digest.md", "files/../facts.md", "/etc/hosts", "ledger.json"])
def test_only_files_of_bullets_can_be_edited(tmp_path: Path, name: str) -> None:
    paths = home(tmp_path, "digest.md", "- a\n")
    assert code(strike, paths, BulletRef(name, 1, "- a")) == "not-editable"


def test_an_added_bullet_says_that_a_person_wrote_it(tmp_path: Path) -> None:
    paths = home(tmp_path)
    done = edit.add_bullet(paths, "facts", "  - water\u2028boils ", NOW)
    assert data(paths, "facts.md") == b"# Facts\n\n- \\- water boils [from: by-hand, 2026-05-01]\n"
    assert done.added == ("- \\- water boils [from: by-hand, 2026-05-01]",)
    assert code(edit.add_bullet, paths, "facts", "- water boils", NOW) == "already-there"
    edit.add_bullet(paths, "tasks_done", "swept", NOW)
    edit.add_bullet(paths, "tasks_open", "sweep", NOW)
    text = (
        "# Tasks\n\n## Open\n\n- sweep [from: by-hand, 2026-05-01]\n\n## Done\n\n- swept [from: by-hand, 2026-05-01]\n"
    )
    assert data(paths, "tasks.md").decode() == text


def test_an_added_bullet_after_a_missing_line_break_can_be_taken_back(tmp_path: Path) -> None:
    paths = home(tmp_path, "facts.md", b"\xef\xbb\xbf- a\r\n- b")
    edit.add_bullet(paths, "facts", "c", NOW)
    assert data(paths, "facts.md") == b"\xef\xbb\xbf- a\r\n- b\r\n- c [from: by-hand, 2026-05-01]\r\n"
    assert undo_last(paths) == REVERSED and data(paths, "facts.md") == b"\xef\xbb\xbf- a\r\n- b"
    assert take_back(paths, read_changes(paths)[0], NOW, "undo-test") == ALREADY


def test_a_note_is_bound_to_its_file_also_after_a_rename(tmp_path: Path) -> None:
    paths = home(tmp_path)
    source = tmp_path / "engine.py"
    source.write_text("x = 1\n")
    first = edit.add_bullet(paths, "files", "starts cold", NOW, path=str(source))
    source.rename(tmp_path / "motor.py")
    second = edit.add_bullet(paths, "files", "starts warm", NOW, path=str(tmp_path / "motor.py"))
    assert first.file == second.file and len(list(paths.file_notes.iterdir())) == 1
    assert code(edit.add_bullet, paths, "files", "x", NOW, path=str(tmp_path / "gone")) == "no-such-file"
    assert code(edit.add_bullet, paths, "files", "x", NOW) == "bad-path"
    assert code(edit.add_bullet, paths, "facts", "x", NOW, path=str(source)) == "bad-path"


@pytest.mark.parametrize(
    ("text", "expected"), [("", "empty-text"), (" \u200b\n", "empty-text"), ("x" * 4001, "too-long")]
)
def test_empty_or_endless_words_are_refused_not_cut(tmp_path: Path, text: str, expected: str) -> None:
    assert code(edit.add_bullet, home(tmp_path), "facts", text, NOW) == expected
    assert code(edit.add_bullet, home(tmp_path), "opinions", "x", NOW) == "no-category"


def test_a_deleted_bullet_comes_back_between_its_neighbours_in_a_file_that_went_on(tmp_path: Path) -> None:
    paths = home(tmp_path, "facts.md", "- a\n- b\n  detail\n- c\n")
    edit.delete_bullets(paths, [ref_of(paths, "facts.md", 1)], NOW)
    (paths.knowledge / "facts.md").write_text("- new\n- a\n- c\n- later\n")
    assert undo_last(paths) == REVERSED
    assert data(paths, "facts.md") == b"- new\n- a\n- b\n  detail\n- c\n- later\n"


def test_a_deleted_bullet_whose_neighbours_are_gone_comes_back_at_the_end_of_its_section(tmp_path: Path) -> None:
    paths = home(tmp_path, "tasks.md", TASKS)
    edit.delete_bullets(paths, [ref_of(paths, "tasks.md", 1)], NOW)
    (paths.knowledge / "tasks.md").write_text("# Tasks\n\n## Open\n\n- other\n\n## Done\n\n- old\n")
    assert undo_last(paths) == REVERSED
    assert data(paths, "tasks.md") == b"# Tasks\n\n## Open\n\n- other\n- two\n\n## Done\n\n- old\n"


def test_what_the_person_changed_after_an_edit_is_not_taken_back(tmp_path: Path) -> None:
    paths = home(tmp_path, "facts.md", "- a\n")
    edit_text(paths, ref_of(paths, "facts.md"), "b")
    (paths.knowledge / "facts.md").write_text("- b, and more\n")
    assert undo_last(paths) == CHANGED and data(paths, "facts.md") == b"- b, and more\n"


def test_a_task_that_the_person_moved_back_by_hand_is_left_where_it_is(tmp_path: Path) -> None:
    paths = home(tmp_path, "tasks.md", "## Open\n\n- a\n- b\n\n## Done\n")
    mark_done(paths, ref_of(paths, "tasks.md"))
    theirs = b"## Open\n\n- b\n- c\n- a\n\n## Done\n"
    (paths.knowledge / "tasks.md").write_bytes(theirs)
    assert undo_last(paths) == CHANGED and data(paths, "tasks.md") == theirs


def test_a_disk_that_refuses_the_write_leaves_the_file_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = home(tmp_path, "facts.md", "- a\n")
    write_format(paths)

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("core.base.files.write_temporary", full)
    assert code(strike, paths, ref_of(paths, "facts.md")) == "edit-failed"
    assert data(paths, "facts.md") == b"- a\n"


# --- Any edit of any file: every other line keeps its bytes, and undo gives the file back. If these fail, an edit
# damages what stands beside it.

LINES = st.sampled_from(
    [
        "- a",
        "- a [from: c, 2026-01-01]",
        "-  ~~b~~ x [from: c, 2026-01-01]",
        "- ~~b~~",
        "  detail",
        "\tmore",
        "",
        " ",
        "## Open",
        "## Done",
        "## done ",
        "# Tasks",
        "text",
        "- c\u2028d",
        "- é\x0b",
        "## Other",
        "- b\r",
        "- ",
        "-",
    ]
)
TEXTS = st.tuples(
    st.sampled_from(["", "\ufeff"]), st.lists(LINES, max_size=12), st.sampled_from(["\n", "\r\n"]), st.booleans()
).map(lambda parts: (parts[0] + parts[2].join(parts[1]) + parts[2] * parts[3]).encode())
OPERATIONS = ("edit", "strike", "unstrike", "delete", "done", "reopen", "add", "add_done", "add_open")


def operate(paths: Paths, name: str, operation: str, number: int) -> object:
    category = {"add": "facts", "add_done": "tasks_done", "add_open": "tasks_open"}.get(operation)
    if category is not None:
        return edit.add_bullet(paths, category, "new words", NOW)
    bullets = parse_bullets(data(paths, name).decode("utf-8", "replace").removeprefix("\ufeff"))
    if not bullets:
        return None
    bullet = bullets[number % len(bullets)]
    ref = BulletRef(name, bullet.line, bullet.raw)
    if operation == "edit":
        return edit_text(paths, ref, "new words")
    if operation == "delete":
        return edit.delete_bullets(paths, [ref], NOW)
    return {"strike": strike, "unstrike": unstrike, "done": mark_done, "reopen": reopen}[operation](paths, ref)


@settings(max_examples=max(60, settings.default.max_examples))
@given(st.one_of(st.binary(max_size=60), TEXTS), st.sampled_from(OPERATIONS), st.integers(0, 20), st.booleans())
def test_every_other_line_keeps_its_bytes_and_undo_gives_back_the_file(
    old: bytes, operation: str, number: int, tasks: bool
) -> None:
    """Any bytes, any operation: a user would otherwise lose what stands beside the edited bullet."""
    name = "facts.md" if operation == "add" or not (tasks or operation.startswith("add_")) else "tasks.md"
    with tempfile.TemporaryDirectory() as folder:
        paths = home(Path(folder), name, old)
        result = attempt(operate, paths, name, operation, number)
        new = data(paths, name)
        if not isinstance(result, Ok) or result.value is None:
            assert new == old
            assert not paths.changes.exists()
            return
        change = read_changes(paths)[-1]
        touched = {line.encode() for line in (*change.added, *change.removed)}
        assert others(old, touched) == others(new, touched)
        assert new.startswith(b"\xef\xbb\xbf") == old.startswith(b"\xef\xbb\xbf")
        assert undo_last(paths) == REVERSED
        assert data(paths, name) == old


def others(text: bytes, touched: set[bytes]) -> list[bytes]:
    """The lines of a file that an edit did not name, in their order, without blank ones (a section may gain one)."""
    lines = [line.removesuffix(b"\r") for line in text.removeprefix(b"\xef\xbb\xbf").split(b"\n")]
    return [line for line in lines if line.decode("utf-8", "replace").strip() and line not in touched]


# --- Files are exchanged in one step, and what a crash leaves beside them is cleared without losing a user's byte.


def short(data: bytes) -> str:
    return digest(data).hexdigest()[:16]


def leftover(path: Path, expected: bytes, put_in: bytes, holds: bytes, pid: int = 2**22 + 1) -> Path:
    made = path.with_name(f".{path.name}.{short(expected)}{short(put_in)}.{pid}-0{files.TEMPORARY_MARK}")
    made.write_bytes(holds)
    return made


@pytest.mark.parametrize(
    ("stands", "holds", "wanted"),
    [
        (b"old", b"new", b"old"),  # before the exchange
        (b"new", b"old", b"new"),  # after it
        (b"new", b"theirs", b"theirs"),  # a user's save came out: it goes back
    ],
)
def test_a_leftover_goes_where_it_belongs(tmp_path: Path, stands: bytes, holds: bytes, wanted: bytes) -> None:
    path = tmp_path / "tasks.md"
    path.write_bytes(stands)
    leftover(path, b"old", b"new", holds)
    assert clear_leftovers(tmp_path) == [] and path.read_bytes() == wanted
    assert [entry.name for entry in tmp_path.iterdir()] == ["tasks.md"]


def test_a_leftover_that_fits_nowhere_is_kept_for_the_person(tmp_path: Path) -> None:
    path = tmp_path / "tasks.md"
    path.write_bytes(b"something newer")
    leftover(path, b"old", b"new", b"theirs")
    kept = clear_leftovers(tmp_path)
    assert path.read_bytes() == b"something newer" and [row.read_bytes() for row in kept] == [b"theirs"]
    assert kept[0].name == f"tasks.recovered-{short(b'theirs')}.md" and clear_leftovers(tmp_path) == []


def test_a_leftover_whose_file_is_gone_is_kept(tmp_path: Path) -> None:
    leftover(tmp_path / "tasks.md", b"old", b"new", b"theirs")
    assert [row.read_bytes() for row in clear_leftovers(tmp_path)] == [b"theirs"]


def test_plain_temporary_files_are_removed_and_others_are_not(tmp_path: Path) -> None:
    files.write_temporary(tmp_path / "facts.md", b"x", 0o600)
    (tmp_path / ".hidden").write_text("mine")
    assert clear_leftovers(tmp_path) == [] and [entry.name for entry in tmp_path.iterdir()] == [".hidden"]


def test_a_temporary_file_of_a_living_process_is_left_alone_for_a_while(tmp_path: Path) -> None:
    """An edit in another window is at work on it."""
    path = tmp_path / "facts.md"
    made = leftover(path, b"old", b"new", b"new", os.getppid())
    clear_leftovers(tmp_path)
    assert made.exists()
    old = time.time() - 3600
    os.utime(made, (old, old))
    clear_leftovers(tmp_path)
    assert not made.exists()


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_recovery_in_the_same_process_leaves_the_edit_of_another_thread_alone(tmp_path: Path, moment: str) -> None:
    """The panel saves a bullet while its harvest begins: the edit must neither fail nor go unrecorded."""
    path = tmp_path / "facts.md"
    path.write_bytes(b"theirs")
    real = files.exchange

    def exchange(one: Path, other: Path) -> bool:
        done = real(one, other) if moment == "after" else False
        recovery = threading.Thread(target=clear_leftovers, args=(tmp_path,))
        recovery.start()
        recovery.join()
        return done if moment == "after" else real(one, other)

    impatient = patch.object(locks, "TURN_SECONDS", 0.05)  # the edit holds the folder until it has ended
    with patch.object(files, "exchange", exchange), impatient:
        assert replace_expected(path, b"mine", b"theirs")
    assert path.read_bytes() == b"mine" and [entry.name for entry in tmp_path.iterdir()] == ["facts.md"]


def test_what_an_edit_leaves_when_it_is_cut_is_cleared_in_the_same_process(tmp_path: Path) -> None:
    path = tmp_path / "facts.md"
    path.write_bytes(b"theirs")
    with patch.object(files, "exchange", side_effect=KeyboardInterrupt), pytest.raises(KeyboardInterrupt):
        replace_expected(path, b"mine", b"theirs")
    assert len(list(tmp_path.iterdir())) == 2
    clear_leftovers(tmp_path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["facts.md"] and path.read_bytes() == b"theirs"


def test_an_edit_of_a_file_that_changed_meanwhile_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "facts.md"
    path.write_bytes(b"theirs")
    assert not replace_expected(path, b"mine", b"seen") and path.read_bytes() == b"theirs"
    assert replace_expected(path, b"mine", b"theirs") and path.read_bytes() == b"mine"
    assert [entry.name for entry in tmp_path.iterdir()] == ["facts.md"]


def saving(times: int) -> Any:
    """An editor that saves in the very moment of an exchange, so many times."""
    real, seen = files.exchange, []

    def exchange(one: Path, other: Path) -> bool:
        seen.append(one)
        if len(seen) <= times:
            other.write_bytes(b"saved %d" % len(seen))
        return real(one, other)

    return patch.object(files, "exchange", exchange)


@pytest.mark.parametrize("saves", [1, 2])
def test_an_edit_in_the_very_moment_of_a_save_leaves_the_save(tmp_path: Path, saves: int) -> None:
    path = tmp_path / "facts.md"
    path.write_bytes(b"seen")
    with saving(saves):
        assert not replace_expected(path, b"mine", b"seen")
    assert path.read_bytes() == b"saved %d" % saves and [entry.name for entry in tmp_path.iterdir()] == ["facts.md"]


def test_an_editor_that_never_rests_keeps_what_it_saved_last(tmp_path: Path) -> None:
    path = tmp_path / "tasks.md"
    path.write_bytes(b"seen")
    with saving(10), pytest.raises(OSError, match="keeps saving"):
        swap_in(path, b"new", b"seen", lambda found: found + b" and ours")
    assert path.read_bytes() == b"saved 10" and [entry.name for entry in tmp_path.iterdir()] == ["tasks.md"]


def test_without_an_exchange_a_file_is_compared_and_replaced(tmp_path: Path) -> None:
    path = tmp_path / "tasks.md"
    path.write_bytes(b"newer")
    with patch.object(files, "exchange", lambda one, other: False):
        swap_in(path, b"old+", b"old", lambda found: found + b"+")
    assert path.read_bytes() == b"newer+" and [entry.name for entry in tmp_path.iterdir()] == ["tasks.md"]
