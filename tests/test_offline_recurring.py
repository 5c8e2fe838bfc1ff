"""A remark that is too weak alone: it waits in the cache folder until another session of the project says it again."""

from __future__ import annotations

import json
from pathlib import Path

from core.base.result import Ok
from core.conversations.conversation import Conversation, Turn
from core.harvest.distil import borne_out, distil
from core.harvest.steps import DistilSettings


def session(name: str, text: str, repository: str = "git@example.org:m/rates.git", time: str = "") -> Conversation:
    turns = (Turn("user", "go"), Turn("assistant", text, time=time), Turn("assistant", "Done."))
    return Conversation(name, "claude_code", turns, repository=repository)


def test_a_remark_waits_until_another_session_bears_it_out(tmp_path: Path) -> None:
    file = tmp_path / "waiting.json"
    assert borne_out(session("a", "The gopls diagnostics are stale again."), file) == []
    (fact,) = borne_out(session("b", "Those diagnostics of gopls are stale, the build is fine."), file)
    assert "diagnostics" in fact["statement"] and fact["detail"] == "said in 2 sessions of this project"
    assert fact["quote"] == "Those diagnostics of gopls are stale, the build is fine."


def test_a_third_session_confirms_in_the_same_words(tmp_path: Path) -> None:
    file = tmp_path / "waiting.json"
    borne_out(session("a", "The gopls diagnostics are stale again."), file)
    (second,) = borne_out(session("b", "Those diagnostics of gopls are stale, the build is fine."), file)
    (third,) = borne_out(session("c", "These gopls diagnostics look stale to me."), file)
    assert third["statement"] == second["statement"] and third["detail"] == "said in 3 sessions of this project"


def test_a_harvest_by_rules_keeps_what_was_borne_out(tmp_path: Path) -> None:
    settings = DistilSettings(
        attempts=1, summarize_bytes=1, quotes="check", redact=True, waiting=tmp_path / "waiting.json"
    )
    first = distil(session("a", "The gopls diagnostics are stale again."), "a", settings, None)
    second = distil(session("b", "Those gopls diagnostics are stale, it builds."), "b", settings, None)
    assert isinstance(first, Ok) and isinstance(second, Ok)
    assert not first.value.items and [item.category for item in second.value.items] == ["facts"]


def test_the_same_session_and_another_project_bear_nothing_out(tmp_path: Path) -> None:
    file = tmp_path / "waiting.json"
    text = "The gopls diagnostics are stale again."
    assert borne_out(session("a", text), file) == []
    assert borne_out(session("a", text), file) == []
    assert borne_out(session("b", text, repository="git@example.org:m/taxes.git"), file) == []
    assert borne_out(session("c", "The linter only checks new code here."), file) == []


def test_a_copy_of_a_session_bears_nothing_out(tmp_path: Path) -> None:
    file = tmp_path / "waiting.json"
    text = "The gopls diagnostics are stale again."
    assert borne_out(session("a", text, time="2026-01-02T03:04:05Z"), file) == []
    assert borne_out(session("fork-of-a", text, time="2026-01-02T03:04:05Z"), file) == []


def test_deleting_or_damaging_the_file_loses_waiting_remarks_alone(tmp_path: Path) -> None:
    file = tmp_path / "waiting.json"
    borne_out(session("a", "The gopls diagnostics are stale again."), file)
    for damage in (b"", b"{", b"[1]", b'{"git@example.org:m/rates.git": [{"session": 1}, 2]}', b"\xff\x00"):
        file.write_bytes(damage)
        assert borne_out(session("b", "Nothing of note about the tax tables."), file) == []
    file.unlink()
    assert borne_out(session("c", "The gopls diagnostics are stale again."), file) == []
    assert borne_out(session("d", "The gopls diagnostics are stale again."), file)


def test_no_secret_waits(tmp_path: Path) -> None:
    file = tmp_path / "waiting.json"
    secret = "ghp_" + "A1b2C3d4E5f6G7h8I9j0" * 2
    borne_out(session("a", f"The linter only checks new code with {secret[:40]} set."), file)
    assert secret[:40] not in file.read_text()
    assert all(isinstance(rows, list) for rows in json.loads(file.read_text()).values())
