"""A project with a repository, a session that failed and found its way, and the home of its user."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli_call import call

RULE = "Release notes must be generated with `towncrier build --draft`, because the bot refuses those of docs/old.md."
FAILS = "make check"
WORKS = "make -C app check"
ERROR = "make: *** No rule to make target 'check'.  Stop."


def turn(role: str, content: Any, at: int, session: str, folder: Path) -> dict[str, Any]:
    return {
        "type": role, "uuid": f"{session}-{at}", "parentUuid": f"{session}-{at - 1}" if at else None,
        "sessionId": session, "cwd": str(folder), "timestamp": f"2026-05-0{session[-1]}T09:{at:02}:00.000Z",
        "isSidechain": False, "message": {"role": role, "content": content},
    }  # fmt: skip


def ran(command: str, output: str, failed: bool, at: int, session: str, folder: Path) -> list[dict[str, Any]]:
    """A command line of the assistant, and what came back."""
    called = {"type": "tool_use", "id": f"t{session}{at}", "name": "Bash", "input": {"command": command}}
    back = {"type": "tool_result", "tool_use_id": f"t{session}{at}", "content": output, "is_error": failed}
    return [turn("assistant", [called], at, session, folder), turn("user", [back], at + 1, session, folder)]


def edited(
    path: Path, old: str, new: str, at: int, session: str, folder: Path, words: str = ""
) -> list[dict[str, Any]]:
    """A replacement in a file, after what the assistant says of it, and that it was done."""
    given = {"file_path": str(path), "old_string": old, "new_string": new}
    call = {"type": "tool_use", "id": f"e{session}{at}", "name": "Edit", "input": given}
    said = [{"type": "text", "text": words}] if words else []
    back = {"type": "tool_result", "tool_use_id": f"e{session}{at}", "content": "updated"}
    return [turn("assistant", [*said, call], at, session, folder), turn("user", [back], at + 1, session, folder)]


def kept(session: str, rows: list[dict[str, Any]]) -> None:
    """A session where Claude Code keeps it, read into the index."""
    place = Path(os.environ["HOME"]) / ".claude" / "projects" / "shop" / f"{session}.jsonl"
    place.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert call("search", "--build", "--quiet")[0] == 0


@pytest.fixture(name="shop")
def shop_fixture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository in which a session of Claude Code was held, in the index; its user works from the folder above."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("CACHE", "CONFIG", "DATA", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    folder = tmp_path / "work" / "shop"
    (folder / "docs").mkdir(parents=True)
    (folder / "docs" / "old.md").write_text("old\n")
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org"]
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "One"], ["rm", "-q", "docs/old.md"]):
        subprocess.run([*git, *words], cwd=folder, check=True, capture_output=True)
    subprocess.run([*git, "commit", "-qm", "Two"], cwd=folder, check=True, capture_output=True)
    first = [
        turn("user", "How do we write the release notes for the shop?", 0, "s1", folder),
        turn(
            "assistant",
            [{"type": "text", "text": f"{RULE} It has been so since spring."}],
            1,
            "s1",
            folder,
        ),
        *ran(FAILS, ERROR, True, 2, "s1", folder),
        *ran(WORKS, "all checks passed", False, 4, "s1", folder),
        turn("assistant", [{"type": "text", "text": "The checks pass. Shall I commit it?"}], 6, "s1", folder),
    ]
    kept = tmp_path / ".claude" / "projects" / "shop"
    kept.mkdir(parents=True)
    (kept / "s1.jsonl").write_text("".join(json.dumps(row) + "\n" for row in first))
    monkeypatch.chdir(folder)
    assert call("search", "--build", "--quiet")[0] == 0
    return folder
