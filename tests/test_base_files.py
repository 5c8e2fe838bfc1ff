"""Durable files and locks: what is refused, and what a user's file survives."""

from __future__ import annotations

import errno
import os
import sys
import threading
from pathlib import Path
from unittest.mock import patch

import pytest

from core.base import disk, files, locks
from core.base.locks import folder_lock
from core.base.result import KnowledgeError, attempt
from core.harvest.reclaim import MAX_COPIES, finish_removals, purge, reclaim, remove_split, restore
from core.knowledge.journal import states_by_sha
from core.knowledge.lines import PlannedFile, ensure_lines, require_lines
from core.knowledge.swap import replace_expected
from tests.harvest_world import NOW, World, sha256
from tests.waiting import PATIENCE_SECONDS

# --- A disk that refuses in the middle, a system that lacks a call: a user would lose the old file or the new.


def refusing(*_: object, **__: object) -> None:
    raise OSError(errno.EIO, "Input/output error")


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("call", ["rename", "sync", "write"])
def test_a_replacement_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with monkeypatch.context() as patched:
        patched.setattr(disk, call, refusing)
        with pytest.raises(OSError, match="Input/output"):
            files.write_atomic(path, b"new")
    assert path.read_bytes() == b"old" and left(tmp_path) == ["a"]


def test_a_new_file_whose_name_is_taken_leaves_no_temporary_one(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"theirs")
    with pytest.raises(FileExistsError):
        files.create_atomic(tmp_path / "a", b"ours")
    assert (tmp_path / "a").read_bytes() == b"theirs" and left(tmp_path) == ["a"]


def test_a_cache_that_cannot_be_written_is_no_error_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert files.write_cache(tmp_path / "deep" / "cache", b"x") and (tmp_path / "deep" / "cache").read_bytes() == b"x"
    monkeypatch.setattr(disk, "rename", refusing)
    assert not files.write_cache(tmp_path / "deep" / "cache", b"y")
    assert left(tmp_path / "deep") == ["cache"] and (tmp_path / "deep" / "cache").read_bytes() == b"x"


@pytest.mark.parametrize("undo_fails", [False, True])
def test_half_an_append_is_taken_back_or_told_as_untrusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, undo_fails: bool
) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"- old\n")
    fd = os.open(path, os.O_RDWR | os.O_APPEND)

    def half(handle: int, data: bytes) -> None:
        os.write(handle, data[:3])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files, "write_all", half)
    if undo_fails:
        monkeypatch.setattr(disk, "truncate", refusing)
    with pytest.raises(files.SyncError if undo_fails else OSError) as caught:
        files.append(fd, b"- new\n", 6)
    os.close(fd)
    assert isinstance(caught.value, files.SyncError) == undo_fails
    assert path.read_bytes() == (b"- old\n- n" if undo_fails else b"- old\n")


def test_what_another_program_appended_meanwhile_is_never_cut(tmp_path: Path) -> None:
    path = tmp_path / "a"
    for theirs in (b"- theirs\n", b"- new\n- theirs\n", b"- newer"):
        path.write_bytes(b"- old\n" + theirs)
        fd = os.open(path, os.O_RDWR)
        files.take_back(fd, b"- new\n", 6)
        os.close(fd)
        assert path.read_bytes() == b"- old\n" + theirs


def test_a_link_is_not_given_other_permissions(tmp_path: Path) -> None:
    (tmp_path / "theirs").touch(0o644)
    (tmp_path / "link").symlink_to("theirs")
    with pytest.raises(OSError, match="symbolic link"):
        files.set_mode(tmp_path / "link", 0o600)
    assert (tmp_path / "theirs").stat().st_mode & 0o777 == 0o644


def test_without_renameat2_a_name_is_never_taken_over_and_nothing_is_swapped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Old kernels and some network file systems."""
    monkeypatch.setattr(disk, "rename_flag", lambda *_: False)
    (tmp_path / "a").write_bytes(b"a")
    (tmp_path / "b").write_bytes(b"b")
    with pytest.raises(FileExistsError):
        files.rename_without_replacing(tmp_path / "a", tmp_path / "b")
    files.rename_without_replacing(tmp_path / "a", tmp_path / "c")
    assert left(tmp_path) == ["b", "c"] and (tmp_path / "b").read_bytes() == b"b"
    assert not files.exchange(tmp_path / "b", tmp_path / "c")


def test_a_folder_goes_whole_and_a_link_in_it_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "diary").write_bytes(b"x")
    for descriptors in (True, False):
        tree = tmp_path / "tree"
        (tree / "deep" / "deeper").mkdir(parents=True)
        (tree / "deep" / "file").write_bytes(b"x")
        (tree / "link").symlink_to(tmp_path / "mine")
        with monkeypatch.context() as patched:
            if not descriptors:
                patched.delattr(os, "fwalk")
            files.remove_tree(tree)
        assert left(tmp_path) == ["mine"] and (tmp_path / "mine" / "diary").exists()


def test_a_system_without_folder_sync_is_not_asked_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "has_folder_sync", lambda: False)
    asked: list[object] = []
    monkeypatch.setattr(disk, "sync", lambda *told: asked.append(told))
    files.sync_folder(tmp_path)
    files.sync_folder(tmp_path / "not there")
    assert asked == []


@pytest.mark.skipif(sys.platform == "win32", reason="Windows is not imitated on Windows")
def test_on_windows_a_rename_refuses_by_itself_and_modes_are_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "rename_flag", lambda *_: False)
    monkeypatch.setattr(files.sys, "platform", "win32")
    asked: list[bool] = []
    monkeypatch.setattr(disk, "rename", lambda one, other, replacing=True: asked.append(replacing))
    files.rename_without_replacing(tmp_path / "a", tmp_path / "b")
    assert asked == [False]
    monkeypatch.setattr(disk, "set_mode", refusing)
    assert files.write_temporary(tmp_path / "a", b"x", 0o600).read_bytes() == b"x"


def test_an_error_that_names_its_file_keeps_that_name(tmp_path: Path) -> None:
    with pytest.raises(OSError) as caught, files.naming("the outer"):
        raise OSError(errno.EIO, "x", "the inner")
    assert caught.value.filename == "the inner"
    with pytest.raises(OSError) as caught, files.naming("the outer"):
        raise OSError(errno.EIO, "x")
    assert caught.value.filename == "the outer"


def test_a_file_that_grew_since_its_size_was_asked_is_read_to_its_end_or_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x" * 50)
    real = os.fstat
    fd = os.open(path, os.O_RDONLY)
    small = type("S", (), {"st_size": 10})()
    monkeypatch.setattr(files.os, "fstat", lambda handle: small)
    assert files.read_descriptor(fd) == b"x" * 50
    with pytest.raises(OSError, match="larger than 20 bytes"):
        files.read_descriptor(fd, 20)
    monkeypatch.setattr(files.os, "fstat", real)
    path.unlink()
    assert not files.is_same_file(fd, path)
    os.close(fd)


# --- taking away -----------------------------------------------------------------------------------------------------


def told(result: object) -> tuple[str, str]:
    assert isinstance(result, KnowledgeError), result
    return result.error.code, result.error.message


def test_every_refusal_of_the_disk_leaves_the_conversation_and_says_so(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = world.converse("a")
    with monkeypatch.context() as patched:
        patched.setattr(files, "rename_without_replacing", refusing)
        message = "the conversation could not be moved to the trash: Input/output error"
        assert told(attempt(reclaim, world.paths, str(path), sha256("a"), 14, NOW)) == ("reclaim-failed", message)
    gone = attempt(reclaim, world.paths, str(path) + "x", sha256("a"), 14, NOW)
    message = "the conversation cannot be opened any more: No such file or directory"
    assert told(gone) == ("reclaim-failed", message)
    assert path.read_text() == "a" and not world.trash()
    reclaim(world.paths, str(path), sha256("a"), 14, NOW)
    held = world.paths.trash / sha256("a")
    with monkeypatch.context() as patched:
        patched.setattr(files, "rename_without_replacing", refusing)
        message = "the conversation could not be restored: Input/output error"
        assert told(attempt(restore, world.paths, held.name, str(path), sha256("a"))) == ("restore-failed", message)
        patched.setattr(files, "remove_file", refusing)
        message = "a trashed conversation could not be removed: Input/output error"
        assert told(attempt(purge, held, sha256("a"))) == ("purge-failed", message)
    assert held.read_text() == "a"


def test_a_trash_full_of_copies_of_one_conversation_takes_no_more(world: World) -> None:
    world.paths.trash.mkdir(parents=True)
    for number in range(MAX_COPIES):
        (world.paths.trash / (f"{sha256('a')}.{number}" if number else sha256("a"))).touch()
    path = world.converse("a")
    message = "the conversation could not be moved to the trash: the trash holds too many copies of this conversation"
    assert told(attempt(reclaim, world.paths, str(path), sha256("a"), 14, NOW)) == ("reclaim-failed", message)
    assert path.read_text() == "a"


def test_a_split_that_cannot_be_removed_is_told_and_finished_by_the_next_run(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    split = world.paths.splits / "a"
    split.mkdir(parents=True)
    doomed = world.paths.splits / f".b..1-0{files.TEMPORARY_MARK}"
    (doomed / "deep").mkdir(parents=True)
    (world.paths.splits / f".c..1-0{files.TEMPORARY_MARK}").write_text("a file is not ours to remove")
    with monkeypatch.context() as patched:
        patched.setattr(files, "remove_tree", refusing)
        message = "the folder could not be taken away: Input/output error"
        assert told(attempt(remove_split, world.paths, str(split), 0, NOW)) == ("prune-failed", message)
        [failed] = finish_removals(world.paths)
        assert (
            failed.code == "prune-failed"
            and failed.message == "what is left of a folder of splits could not be removed: Input/output error"
        )
    assert finish_removals(world.paths) == [] and not doomed.exists() and split.is_dir()


def test_a_record_that_makes_no_sense_changes_nothing() -> None:
    """A version of tomorrow may write kinds of records that we do not know."""
    rows = [{"t": "intent", "sha": "a", "plan": {"files": 5}}, {"t": "unheard of", "sha": "a"}, {"t": "run", "sha": 5}]
    [state] = states_by_sha(rows).values()
    assert state.plan is None and not state.done and state.entry is None


# --- Turns in a folder: without them a harvest that reads its lines back meets an edit half-way, and calls it a loss.

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="folders cannot be locked here")


@needs_fork
def test_a_turn_waits_for_the_other_and_holds_within_itself(tmp_path: Path) -> None:
    order: list[str] = []
    begun = threading.Event()

    def other() -> None:
        begun.set()
        with folder_lock(tmp_path):
            order.append("other")

    with folder_lock(tmp_path), folder_lock(tmp_path):
        thread = threading.Thread(target=other)
        thread.start()
        begun.wait(PATIENCE_SECONDS)
        thread.join(0.05)
        order.append("one")
    thread.join(PATIENCE_SECONDS)
    assert order == ["one", "other"]


@needs_fork
def test_nobody_waits_for_ever_and_a_folder_that_is_not_there_stops_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone: list[bool] = []

    def impatient() -> None:
        with folder_lock(tmp_path):
            gone.append(True)

    monkeypatch.setattr(locks, "TURN_SECONDS", 0.01)
    with folder_lock(tmp_path):
        thread = threading.Thread(target=impatient)
        thread.start()
        thread.join(PATIENCE_SECONDS)
    with folder_lock(tmp_path / "nowhere"):
        gone.append(True)
    assert gone == [True, True]


@needs_fork
def test_lines_are_not_read_back_in_the_middle_of_an_edit(tmp_path: Path) -> None:
    """The harvest would call its own lines lost and the conversation failed, though the edit puts them back."""
    planned = PlannedFile("facts.md", "# Facts", ("- by the harvest [from: a, 2026-01-01]",))
    path = tmp_path / "facts.md"
    path.write_bytes(b"# Facts\n")
    exchange, found = files.exchange, []
    readers: list[threading.Thread] = []

    def in_the_middle(one: Path, two: Path) -> bool:
        if not readers:  # the moment between the look of the edit and its exchange: an editor saves
            path.write_bytes(b"# Facts\n" + planned.lines[0].encode() + b"\n")
        done = exchange(one, two)
        if not readers:
            readers.append(threading.Thread(target=lambda: found.append(require_lines(tmp_path, planned))))
            readers[0].start()
            readers[0].join(0.05)
        return done

    with patch.object(files, "exchange", in_the_middle):
        assert not replace_expected(path, b"# Facts\n- mine\n", b"# Facts\n")
    readers[0].join(PATIENCE_SECONDS)
    assert found == [[]]
    assert ensure_lines(tmp_path, planned)[0] == ()
