"""What differs between Linux, macOS and Windows, played: a user on each loses no line and no note."""

from __future__ import annotations

import ctypes
import errno
import importlib.util
import os
import re
import shlex
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from core.base import disk, files, locks, system
from core.base.system import EXCHANGE, LINUX, MACOS, NO_REPLACE, WINDOWS, birth_ns
from core.cli.parser import parse
from tests.waiting import PATIENCE_SECONDS

ROOT = Path(__file__).resolve().parents[1]


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


@pytest.mark.skipif(sys.platform == "win32", reason="fcntl")
def test_macos_waits_until_the_drive_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its fsync leaves bytes in the drive's memory: a power cut would take what was proven, and the conversation."""
    import fcntl

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


# --- Windows, played -------------------------------------------------------------------------------------------------

DAY = """context
context --hook claude_code
setup
add facts 'Ports start at 8080'
search ports
status
connect claude_code --yes
connect --all --remove --yes
schedule --dry-run
harvest --source {talk}
harvest --source {talk} --apply
undo
facts
doctor"""


@pytest.mark.skipif(sys.platform == "win32", reason="it plays that system")
def test_a_day_on_windows_needs_nothing_that_only_unix_has(tmp_path: Path) -> None:
    """The hook of every session start ended there in a traceback: it asked for the number of the user."""
    talk = tmp_path / "talk-38b4c7d2-1111-4222-8333-444455556666.md"
    talk.write_text("**User:** Where do ports start?\n\n**Assistant:** We decided that ports start at 8080.\n")
    environment = dict.fromkeys(("HOME", "USERPROFILE", "LOCALAPPDATA", "APPDATA"), str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-m", "tests.played_windows"], input=DAY.format(talk=talk), text=True, capture_output=True,
        env={**environment, "PATH": os.environ["PATH"]}, cwd=ROOT, timeout=PATIENCE_SECONDS,
    )  # fmt: skip
    rows = done.stdout.splitlines()
    assert len(rows) == len(DAY.splitlines()), done.stdout + done.stderr
    assert [row for row in rows if not row.startswith("0 ") or "unexpected" in row] == []


def test_windows_locks_a_byte_that_nobody_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is locked there cannot be read by others, and who is at work stands at the beginning of the file."""
    at: list[int] = []
    fake = SimpleNamespace(LK_NBLCK=2, locking=lambda fd, _mode, _size: at.append(os.lseek(fd, 0, os.SEEK_CUR)))
    monkeypatch.setitem(sys.modules, "msvcrt", fake)
    monkeypatch.setattr(sys, "platform", WINDOWS)
    descriptor = locks.take(tmp_path / "lock", work="harvest")
    os.close(descriptor)
    assert (tmp_path / "lock").read_text() == f"{os.getpid()} harvest" and at[0] > 1 << 20


# --- what the three systems are told to do ---------------------------------------------------------------------------

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
TOOLS = {"pip", "python", *PROJECT["project"]["scripts"]}


def why_not(line: str) -> str:
    """Why a line of a workflow cannot be run, "" where everything that it names is there."""
    words = shlex.split(line.replace("\\", "/"))
    program = words[0].rpartition("/")[2]
    if words[0] == "make":
        return "" if re.search(rf"(?m)^{words[1]}:", MAKEFILE) else f"no target {words[1]}"
    if words[0].startswith((".venv/bin/", ".venv/Scripts/")) and program not in TOOLS:
        return f"{program} is not installed there"
    for extras in re.findall(r"\.\[([\w,]+)\]", line):
        unknown = set(extras.split(",")) - set(PROJECT["project"]["optional-dependencies"])
        if unknown:
            return f"no extra {unknown}"
    if "-m" in words:
        module = words[words.index("-m") + 1]
        return "" if importlib.util.find_spec(module) or module == "PyInstaller" else f"no module {module}"
    if program == "knowledge":
        return "" if words[1:] == ["--version"] or parse(words[1:]) else "no such command"
    return "" if program in {"pip", "python", "python3"} else f"nobody knows {words[0]}"


def steps() -> list[tuple[str, str, dict[str, Any]]]:
    """Every job's systems and steps."""
    found = []
    for file in WORKFLOWS:
        for job in yaml.safe_load(file.read_text(encoding="utf-8"))["jobs"].values():
            matrix = job.get("strategy", {}).get("matrix", {})
            runs_on = matrix.get("system", [job["runs-on"]])
            assert job["timeout-minutes"] <= 120, f"{file.name}: a hanging test must not run for six hours"
            found += [(file.name, name, step) for name in runs_on for step in job["steps"]]
    return found


def test_every_command_for_the_three_systems_is_there() -> None:
    """Nobody sees here what macOS and Windows do; that a step names what exists can be seen."""
    wrong = []
    for file, runs_on, step in steps():
        assert runs_on in {"ubuntu-latest", "macos-latest", "windows-latest"}
        for line in str(step.get("run", "")).splitlines():
            own_shell = runs_on == "windows-latest" and "shell" not in step  # PowerShell
            if own_shell and ("/bin/" in line or "&&" in line or line.startswith("make")):
                wrong.append(f"{file}: {line}: not for Windows")
            if runs_on != "windows-latest" and "\\" in line:
                wrong.append(f"{file}: {line}: for Windows alone")
            if why_not(line):
                wrong.append(f"{file}: {line}: {why_not(line)}")
        if "uses" in step and not re.fullmatch(r"actions/[a-z-]+@v\d+", step["uses"]):
            wrong.append(f"{file}: {step['uses']}")
    assert not wrong, "\n".join(wrong)
    assert {runs_on for _, runs_on, _ in steps()} == {"ubuntu-latest", "macos-latest", "windows-latest"}


def test_the_names_of_files_can_be_checked_out_on_every_system() -> None:
    """And with the bytes that they have: git on Windows changes line ends unless it is told not to."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("this is no clone of a repository")
    names = [name for name in listed.stdout.split("\0") if name]
    assert len({name.lower() for name in names}) == len(names)
    reserved = re.compile(r'[:*?"<>|\\]|[. ](?=/|$)|(?:^|/)(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|/|$)', re.IGNORECASE)
    assert [name for name in names if reserved.search(name)] == []
    assert "* -text" in (ROOT / ".gitattributes").read_text(encoding="utf-8")
