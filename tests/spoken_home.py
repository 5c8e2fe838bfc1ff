"""A user's disk with conversations of several tools, made by the tests that search and read them."""

from __future__ import annotations

import io
import json
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.cli.main import main
from core.commands.conversations import ConversationFilters, ConversationHits, build, find
from core.commands.workspace import Workspace, open_workspace

LONG_AGO = 1_700_000_000


def claude_row(role: str, content: Any, at: str, folder: str = "/srv/shop", session: str = "s") -> bytes:
    """One record of Claude Code."""
    value = {
        "parentUuid": None, "sessionId": session, "cwd": folder, "gitBranch": "main", "type": role, "timestamp": at,
        "message": {"role": role, "content": content}, "uuid": f"{at}-{role}",
    }  # fmt: skip
    return json.dumps(value).encode() + b"\n"


def call(id: str, command: str) -> list[dict[str, Any]]:
    """An assistant calls a shell."""
    return [{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}}]


def result(id: str, text: str, *, failed: bool = False) -> list[dict[str, Any]]:
    """What came back."""
    return [{"type": "tool_result", "tool_use_id": id, "content": text, "is_error": failed}]


@dataclass
class Disk:
    """A home, and the folders of other tools beside it. What is written counts as old, so that a look believes it."""

    folder: Path
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def workspace(self) -> Workspace:
        rows = "".join(f"{key} = {json.dumps(value)}\n" for key, value in self.settings.items())
        (self.folder / "named.toml").write_text(f"[ai_settings.knowledge]\n{rows}", encoding="utf-8")
        return open_workspace(str(self.folder / "home"), self.folder / "named.toml", self.environment, self.cwd)

    @property
    def environment(self) -> dict[str, str]:
        return {
            **os.environ, "HOME": str(self.folder), "XDG_CACHE_HOME": str(self.folder / "cache"),
            "XDG_CONFIG_HOME": str(self.folder / "config"), "XDG_DATA_HOME": str(self.folder / "data"),
        }  # fmt: skip

    @property
    def cwd(self) -> Path:
        folder = self.folder / "elsewhere"
        folder.mkdir(exist_ok=True)
        return folder

    def write(self, path: Path, data: bytes, *, settled: bool = True) -> Path:
        """A file, some time ago."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        if settled:
            os.utime(path, (LONG_AGO, LONG_AGO))
        return path

    def claude(self, name: str, *rows: tuple[str, Any], folder: str = "/srv/shop", day: str = "2026-05-04") -> Path:
        """A session of Claude Code: (role, content) for each record, a minute apart."""
        made = [
            claude_row(role, content, f"{day}T10:{at:02}:00.000Z", folder, f"{name}-id")
            for at, (role, content) in enumerate(rows)
        ]
        return self.write(self.folder / ".claude/projects/p" / f"{name}.jsonl", b"".join(made))

    def own(self, name: str, *said: tuple[str, str]) -> Path:
        """A conversation of the home folder."""
        tags = {"user": "user-prompt", "assistant": "agent-response"}
        text = "".join(f"<{tags[role]}>\n{words}\n</{tags[role]}>\n" for role, words in said)
        return self.write(self.folder / "home/conversations" / name, text.encode())

    def find(self, words: str = "", limit: int = 10, **named: Any) -> ConversationHits:
        """Search conversations; what is new is read however long it takes."""
        filters = {key: named.pop(key) for key in list(named) if key in ConversationFilters.__annotations__}
        return find(self.workspace, words, ConversationFilters(**filters), limit, seconds=60.0, **named)

    def names(self, words: str = "", **named: Any) -> list[str]:
        return [hit.name for hit in self.find(words, **named).hits]

    def build(self) -> Any:
        return build(self.workspace)

    def run(self, monkeypatch: Any, *words: str) -> tuple[int, str, str]:
        """The command line: exit status, output, errors."""
        self.workspace  # noqa: B018  (writes the settings)
        for name in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
            monkeypatch.setenv(name, self.environment[name])
        monkeypatch.chdir(self.cwd)
        out, err = io.StringIO(), io.StringIO()
        given = [*words, "--home", str(self.folder / "home"), "--config", str(self.folder / "named.toml")]
        return main(given, out, err), out.getvalue(), err.getvalue()


def wait_until_settled() -> None:
    """Until a file that was just written is believed to be as it was seen."""
    time.sleep(2.1)
