"""A home in a folder of its own and the real command line over it: what a user sees, with the places taken out."""

from __future__ import annotations

import io
import os
import socket
import stat
import sys
from pathlib import Path

import pytest

from core.cli.main import main
from tests.harvest_world import nobody_waits_for_editors

ROOT = Path(__file__).resolve().parents[1]
UUID = "0f8fad5b-d9cb-469f-a165-70867728950e"
TALK = b"We decided to use SQLite.\n"
LEARNED = "- We decided to use SQLite. [from: "


class Person:
    """Somebody with a home below `folder` who types commands. `said` is all that the last one printed, with the folder
    as `~`; `code` is its exit status."""

    def __init__(self, folder: Path, settings: str = "") -> None:
        self.folder, self.said, self.code = folder, "", -1
        self.talks = folder / "home" / "conversations"
        self.knowledge = folder / "home" / "knowledge"
        self.talks.mkdir(parents=True)
        (folder / "config.toml").write_text(f'[ai_settings.knowledge]\nreclaim = "always"\n{settings}\n')

    def types(self, *words: str) -> str:
        out, err = io.StringIO(), io.StringIO()
        places = ["--home", str(self.folder / "home"), "--config", str(self.folder / "config.toml")]
        self.code = main([*words, *places], out, err)
        self.said = (out.getvalue() + err.getvalue()).replace(str(self.folder), "~")
        assert "Traceback" not in self.said and "unexpected" not in self.said, self.said
        return self.said

    def text(self, name: str) -> str:
        path = self.knowledge / name
        return path.read_bytes().decode("utf-8", "replace") if path.is_file() else ""


def write_talk(person: Person, data: bytes = TALK, name: str = f"talk-{UUID}") -> Path:
    """A conversation in the home; `name` may be any that the file system takes."""
    path = person.talks / name
    path.write_bytes(data)
    return path


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Person:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    nobody_waits_for_editors(monkeypatch)
    return Person(tmp_path)


NOBODY = 65534


def closed_to_nobody() -> str:
    """The first folder on the way to this program and its Python that a user without rights may not enter, "" for
    none: root may run the tests from such a place, and what they start without rights could load nothing there."""
    if os.name == "nt" or os.geteuid() != 0:
        return ""
    for place in (ROOT, Path(sys.prefix), Path(sys.base_prefix)):
        for folder in (*reversed(place.parents), place):
            if not folder.stat().st_mode & stat.S_IXOTH:
                return str(folder)
    return ""


def give_away(folder: Path) -> None:
    for path in [folder, *folder.rglob("*")]:
        os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    for parent in folder.parents:
        if parent.is_relative_to("/tmp") and parent != Path("/tmp"):
            parent.chmod(0o755)


def as_nobody(work: object, *arguments: object) -> int:
    """Run `work(*arguments)` in a child process without the rights of root; its exit status is what it returned."""
    child = os.fork()
    if child == 0:
        status = 99
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            status = int(work(*arguments))  # type: ignore[operator]
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def make_socket(path: Path) -> None:
    """A socket in the file system, which is no file to be read."""
    here = os.getcwd()
    os.chdir(path.parent)  # the address of a socket is short
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)
