"""What differs between Linux, macOS and Windows, played: a person on each loses no line and no note."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from core.base import disk, files, system
from core.base.system import EXCHANGE, LINUX, MACOS, NO_REPLACE, WINDOWS, birth_ns


def plays(monkeypatch: pytest.MonkeyPatch, name: str, **functions: Callable[..., int]) -> None:
    """The system of that name, with these functions in its C library."""
    monkeypatch.setattr(system, "running", lambda: name)
    monkeypatch.setattr(system, "_function", functions.get)


def mac_rename(calls: list[int]) -> Callable[..., int]:
    """renameatx_np(2) as its page tells: AT_FDCWD is -2, RENAME_SWAP 2, RENAME_EXCL 4."""

    def call(from_fd: int, source: bytes, to_fd: int, target: bytes, flags: int) -> int:
        assert (from_fd, to_fd) == (-2, -2)
        calls.append(flags)
        if flags == 4:
            if os.path.lexists(target):
                ctypes.set_errno(errno.EEXIST)
                return -1
            os.rename(source, target)
            return 0
        assert flags == 2
        os.rename(source, source + b".x")
        os.rename(target, source)
        os.rename(source + b".x", target)
        return 0

    return call


def test_macos_exchanges_and_refuses_as_linux_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An editor that saves in the very moment keeps its text there too."""
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text("1")
    two.write_text("2")
    calls: list[int] = []
    plays(monkeypatch, MACOS, renameatx_np=mac_rename(calls))
    assert disk.rename_flag(one, two, EXCHANGE)
    assert (one.read_text(), two.read_text()) == ("2", "1")
    with pytest.raises(FileExistsError):
        disk.rename_flag(one, two, NO_REPLACE)
    files.rename_without_replacing(one, tmp_path / "three")
    assert calls == [2, 4, 4]


@pytest.mark.parametrize("name", [LINUX, MACOS, WINDOWS, "freebsd14"])
def test_a_file_system_without_an_exchange_is_no_error(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FAT, a network share, an old kernel, Windows: the caller takes its other way."""

    def refuses(*_: object) -> int:
        ctypes.set_errno(errno.ENOTSUP if name == MACOS else errno.EINVAL)
        return -1

    (tmp_path / "one").write_text("1")
    for functions in ({}, {"renameat2": refuses, "renameatx_np": refuses}):
        plays(monkeypatch, name, **functions)
        assert not system.rename_with_flag(tmp_path / "one", tmp_path / "two", NO_REPLACE)


def test_macos_waits_until_the_drive_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its fsync leaves bytes in the drive's memory: a power cut would take what was proven, and the conversation."""
    asked: list[int] = []
    plain: list[int] = []
    plays(monkeypatch, MACOS)
    monkeypatch.setattr(fcntl, "fcntl", lambda _fd, command: asked.append(command))
    monkeypatch.setattr(os, "fsync", plain.append)
    files.write_atomic(tmp_path / "file", b"bytes")
    assert set(asked) == {51} and not plain

    def unknown(_fd: int, _command: int) -> None:
        raise OSError(errno.ENOTSUP, "no such thing on a share")

    monkeypatch.setattr(fcntl, "fcntl", unknown)
    disk.sync(7)
    assert plain == [7]
    monkeypatch.setattr(fcntl, "fcntl", lambda *_: (_ for _ in ()).throw(OSError(errno.EIO, "broken")))
    with pytest.raises(OSError, match="broken"):
        disk.sync(7)


def test_linux_asks_for_the_content_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, int]] = []
    plays(monkeypatch, LINUX)
    monkeypatch.setattr(os, "fsync", lambda fd: asked.append(("all", fd)))
    monkeypatch.setattr(os, "fdatasync", lambda fd: asked.append(("content", fd)), raising=False)
    disk.sync(3)
    disk.sync(3, data_only=True)
    assert asked == [("all", 3), ("content", 3)]


@pytest.mark.parametrize(
    "name, told, born",
    [
        (MACOS, {"st_birthtime": 1.5, "st_ctime_ns": 9}, 1_500_000_000),
        (WINDOWS, {"st_birthtime": 1.5, "st_ctime_ns": 9}, 1_500_000_000),
        (WINDOWS, {"st_ctime_ns": 9}, 9),
        ("freebsd14", {"st_ctime_ns": 9}, None),
    ],
)
def test_a_note_knows_its_file_by_its_birth(
    name: str, told: dict[str, Any], born: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the note of a deleted file would go to the stranger that got its number."""
    plays(monkeypatch, name)
    monkeypatch.setattr(os, "stat", lambda *_args, **_options: SimpleNamespace(**told))
    assert birth_ns("file") == born


def test_the_birth_is_that_of_the_file_and_no_later(tmp_path: Path) -> None:
    before = time.time_ns()
    file = tmp_path / "file"
    file.write_text("x")
    born = birth_ns(file)
    if born is None:
        pytest.skip("this file system knows no birth")
    assert before - 2 * 10**9 <= born <= time.time_ns() + 2 * 10**9
    with file.open() as stream:
        assert birth_ns(stream.fileno()) == born
    os.utime(file, (1, 1))
    assert birth_ns(file) == born
    with pytest.raises(FileNotFoundError):
        birth_ns(tmp_path / "none")
