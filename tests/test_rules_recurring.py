"""The checks of a repository: those that ran in one session wait in the cache folder until another one runs them."""

from __future__ import annotations

import json
from pathlib import Path

from core.base.result import Ok, attempt
from core.conversations.conversation import Conversation, Turn
from core.conversations.events import Command, Edit, follow_ups
from core.harvest.distil import borne_out, distil
from core.harvest.steps import DistilSettings


def checked(name: str, *commands: str, asked: str = "go") -> Conversation:
    events = [Command(tool="Bash", words=words, answered=True, failed=False, output="ok") for words in commands]
    turns = (
        Turn("user", asked),
        *(Turn("tool", "ok", events=(event,)) for event in events),
        Turn("assistant", "Done."),
    )
    return Conversation(name, "claude_code", turns, repository="git@example.org:m/rates.git")


def test_checks_count_when_two_sessions_ran_them(tmp_path: Path) -> None:
    settings = DistilSettings(
        attempts=1, summarize_bytes=1, quotes="check", redact=True, waiting=tmp_path / "waiting.json"
    )
    first = attempt(distil, checked("a", "npm run lint", "npm run typecheck", "npm test"), "a", settings, None)
    again = attempt(distil, checked("a", "npm run lint", "npm run typecheck", "npm test"), "a", settings, None)
    second = attempt(distil, checked("b", "npm run build", "npm run lint", "npm test"), "b", settings, None)
    assert isinstance(first, Ok) and isinstance(again, Ok) and isinstance(second, Ok)
    assert not first.value.items and not again.value.items
    assert [item.category for item in second.value.items] == ["playbooks"]
    assert "npm run lint -> npm test" in str(second.value.items[0])
    alone = attempt(distil, checked("c", "npm run typecheck", "npm run build"), "c", settings, None)
    assert isinstance(alone, Ok) and not alone.value.items  # no test among them


def test_deleting_or_damaging_the_file_loses_waiting_checks_alone(tmp_path: Path) -> None:
    file = tmp_path / "waiting.json"
    borne_out(checked("a", "npm run lint", "npm test"), file)
    for damage in (b"", b"{", b"[1]", b'{"git@example.org:m/rates.git": [{"session": 1}, 2]}', b"\xff\x00"):
        file.write_bytes(damage)
        assert not borne_out(checked("b", "npm run lint", "npm test"), file).get("playbooks")
    assert borne_out(checked("c", "npm run lint", "npm test"), file)["playbooks"]


def test_no_secret_waits(tmp_path: Path) -> None:
    file = tmp_path / "waiting.json"
    secret = "ghp_" + "A1b2C3d4E5f6G7h8I9j0" * 2
    borne_out(checked("a", f"npm run lint --token {secret[:40]}", "npm test"), file)
    assert secret[:40] not in file.read_text()
    assert all(isinstance(rows, list) for rows in json.loads(file.read_text()).values())


def test_a_repository_is_asked_once_to_commit(tmp_path: Path) -> None:
    settings = DistilSettings(
        attempts=1, summarize_bytes=1, quotes="check", redact=True, waiting=tmp_path / "waiting.json"
    )

    def left(name: str, *commands: str) -> list[str]:
        edits = [Edit(tool="Edit", path=path, how="changed", answered=True, failed=False) for path in ("a.py", "b.py")]
        ran = [
            Command(tool="Bash", words=words, answered=True, failed=False, output=output)
            for words in commands
            for output in ["[main 1a2b3c4] Read all banks" if "commit" in words else " M a.py"]
        ]
        events = [*edits, *(event for row in ran for event in (row, *follow_ups(row)))]
        turns = (
            Turn("user", "Read all banks and commit"),
            Turn("tool", "ok", events=tuple(events)),
            Turn("assistant", "Done."),
        )
        found = attempt(
            distil, Conversation(name, "claude_code", turns, repository="git@example.org:m/r.git"), name, settings, None
        )
        assert isinstance(found, Ok)
        return [item.text for item in found.value.items if item.category == "tasks_open"]

    assert len(left("a", "git status --short")) == 1
    assert left("b", "git status --short") == []
    assert left("c", 'git commit -am "Read all banks"') == []
    assert len(left("d", "git status --short")) == 1
