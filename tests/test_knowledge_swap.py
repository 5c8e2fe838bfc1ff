"""Files are exchanged in one step, and what a crash leaves beside them is cleared without losing a person's byte."""

from __future__ import annotations

import os
import threading
import time
from hashlib import sha256 as digest
from pathlib import Path
from unittest.mock import patch

import pytest

from core.base import files
from core.knowledge.leftovers import clear_leftovers
from core.knowledge.swap import replace_expected, swap_in


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
        (b"new", b"theirs", b"theirs"),  # a person's save came out: it goes back
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

    with patch.object(files, "exchange", exchange):
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


@pytest.mark.parametrize("saves", [1, 2])
def test_an_edit_in_the_very_moment_of_a_save_leaves_the_save(tmp_path: Path, saves: int) -> None:
    path = tmp_path / "facts.md"
    path.write_bytes(b"seen")
    real, seen = files.exchange, []

    def exchange(one: Path, other: Path) -> bool:
        seen.append(one)
        if len(seen) <= saves:
            other.write_bytes(b"saved %d" % len(seen))
        return real(one, other)

    with patch.object(files, "exchange", exchange):
        assert not replace_expected(path, b"mine", b"seen")
    assert path.read_bytes() == b"saved %d" % saves and [entry.name for entry in tmp_path.iterdir()] == ["facts.md"]


def test_an_editor_that_never_rests_keeps_what_it_saved_last(tmp_path: Path) -> None:
    path = tmp_path / "tasks.md"
    path.write_bytes(b"seen")
    real, seen = files.exchange, []

    def exchange(one: Path, other: Path) -> bool:
        seen.append(one)
        if len(seen) <= 10:
            other.write_bytes(b"saved %d" % len(seen))
        return real(one, other)

    with patch.object(files, "exchange", exchange), pytest.raises(OSError, match="keeps saving"):
        swap_in(path, b"new", b"seen", lambda found: found + b" and ours")
    assert path.read_bytes() == b"saved 10" and [entry.name for entry in tmp_path.iterdir()] == ["tasks.md"]


def test_without_an_exchange_a_file_is_compared_and_replaced(tmp_path: Path) -> None:
    path = tmp_path / "tasks.md"
    path.write_bytes(b"newer")
    with patch.object(files, "exchange", lambda one, other: False):
        swap_in(path, b"old+", b"old", lambda found: found + b"+")
    assert path.read_bytes() == b"newer+" and [entry.name for entry in tmp_path.iterdir()] == ["tasks.md"]
