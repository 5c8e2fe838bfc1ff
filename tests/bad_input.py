"""A home in a folder of its own and the real command line over it: what a person sees, with the places taken out."""

from __future__ import annotations

import io
import os
import socket
from pathlib import Path

import pytest

from core.cli.main import main

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
    return Person(tmp_path)


def as_nobody(work: object, *arguments: object) -> int:
    """Run `work(*arguments)` in a child process without the rights of root; its exit status is what it returned."""
    child = os.fork()
    if child == 0:
        status = 99
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
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
