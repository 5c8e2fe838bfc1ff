"""A system that refuses every file from some moment on, also those of this program: a sentence, and nothing lost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from core.cli.main import main
from tests.made_home import converse, make_home, read, write

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a limit of open files")
TASKS = "# Tasks\n\n## Open\n\n- buy tea\n- clean the kettle\n\n## Done\n\n"
STARVED = """
import os, resource, sys
from unittest.mock import patch
from core.base import disk
from core.cli.main import main

left, honest = [int(sys.argv[1])], disk.perform

def starving(name, call, *rest, **named):
    left[0] -= 1
    if left[0] == 0:
        used = max(int(fd) for fd in os.listdir("/dev/fd"))
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(used, 3), resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    return honest(name, call, *rest, **named)

with patch.object(disk, "perform", starving):
    sys.exit(main(sys.argv[2:]))
"""
COMMANDS = (
    ["done", "buy tea"],
    ["harvest", "--apply"],
    ["trash", "purge", "--all"],
    ["undo", "edit-none"],
    ["notes", "x"],
)


@pytest.mark.parametrize("at", [1, 3, 8, 21])
@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[0])
def test_no_more_files_from_now_on_ends_in_a_sentence(tmp_path: Path, command: list[str], at: int) -> None:
    workspace = make_home(tmp_path)
    write(workspace, "tasks.md", TASKS)
    converse(workspace)
    arguments = [sys.executable, "-c", STARVED, str(at), "--home", str(workspace.paths.home), *command]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=60)
    told = done.stdout + done.stderr
    assert done.returncode in (0, 1) and "Traceback" not in told and "unexpected" not in told, told
    assert done.returncode == 0 or [line for line in done.stderr.split("\n") if line.startswith("knowledge: ")], told
    assert read(workspace, "tasks.md").count("buy tea") == 1 and "clean the kettle" in read(workspace, "tasks.md")


def test_what_the_system_says_is_passed_on_in_plain_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(*_: object) -> int:
        raise OSError(24, "Too many open files", "/a/\x1b[31mplace")

    monkeypatch.setattr("core.cli.main._dispatch", refused)
    assert main(["status"]) == 1
    told = capsys.readouterr().err
    assert told.startswith(
        "knowledge: the system refuses to go on: Too many open files (/a/?[31mplace); nothing is lost"
    )
