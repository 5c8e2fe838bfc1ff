"""`knowledge setup`: a newcomer sees what lies on their disk and what could read it, and decides with three answers.

What they would lose: money, when a paid model were turned on unasked; trust, when something were sent or changed first.
"""

from __future__ import annotations

import io
import json
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from core.base.answer import price
from core.cli.main import main
from core.commands.daily.setup import apply_answers, default_model, found_sentence, setup, survey
from core.commands.harvest import harvest
from core.commands.harvest_options import HarvestRequest
from core.commands.sources import sources
from core.commands.workspace import Workspace, open_workspace
from core.llm import found
from core.llm.found import SUGGESTED, Server
from tests.cli_call import call
from tests.spoken_home import claude_row

DAY = "2026-06-01T10:00:00Z"


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with nothing in it; no server, no key, no program is there."""
    home = tmp_path / "person"
    (tmp_path / "bin").mkdir()
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv("OLLAMA_HOST", raising=False)
    for name in ("CONFIG", "CACHE", "DATA"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(home / f".{name.lower()}"))
    monkeypatch.setattr(found, "SERVERS", ())
    monkeypatch.chdir(home)
    return home


def talk(home: Path, number: int = 1, days_old: float = 1.0) -> None:
    """Conversations of Claude Code, each with words of its own."""
    folder = home / ".claude" / "projects" / "-src-app"
    folder.mkdir(parents=True, exist_ok=True)
    for at in range(number):
        path = folder / f"s{at}.jsonl"
        said = {"user": f"Why port {8000 + at}?", "assistant": f"It listens on {8000 + at}."}
        path.write_bytes(b"".join(claude_row(role, text, DAY, session=f"s{at}") for role, text in said.items()))
        then = time.time() - days_old * 86_400
        os.utime(path, (then, then))


def program(person: Path, name: str) -> None:
    path = person.parent / "bin" / name
    path.write_text("#!/bin/sh\necho called >> called\nexit 1\n")
    path.chmod(0o755)


def setup_json(*words: str) -> dict[str, Any]:
    code, out, err = call("setup", "--json", *words)
    assert code == 0, err
    told: dict[str, Any] = json.loads(out)
    return told


def serving(server: HTTPServer, title: str, monkeypatch: pytest.MonkeyPatch, names: Sequence[str]) -> str:
    """A server of models on loopback; what it is asked stands in its log."""
    base = f"http://127.0.0.1:{server.port}"
    if title == "Ollama":
        server.expect_request("/api/tags").respond_with_json({"models": [{"name": name} for name in names]})
        provider, address = "ollama", base
    else:
        server.expect_request("/v1/models").respond_with_json({"data": [{"id": name} for name in names]})
        provider, address = "openai", f"{base}/v1"
    monkeypatch.setattr(found, "SERVERS", (Server(title, provider, address),))
    return address


def settings(person: Path) -> str:
    file = person / ".config" / "manual_slop" / "config.toml"
    return file.read_text() if file.exists() else ""


def workspace() -> Workspace:
    return open_workspace()


def test_looking_tells_what_lies_there_and_changes_nothing(person: Path) -> None:
    """Which tools, how many conversations, and when the tool deletes the first of them."""
    talk(person, 3, days_old=20)
    told = setup_json()
    (row,) = told["sources"]
    assert (row["name"], row["conversations"], row["new"]) == ("claude_code", 3, 3)
    assert row["deleted_after_days"] == 30
    left = time.mktime(time.strptime(row["deleted_from"], "%Y-%m-%dT%H:%M:%SZ")) - time.timezone - time.time()
    assert 9 * 86_400 < left < 11 * 86_400
    assert told["changed"] == {} and told["settings"] == {"sources": ["home", "claude_code"]}
    assert settings(person) == "" and not (person / ".manual_slop").exists()
    text = call("setup")[1]
    assert "3 Claude Code conversations; Claude Code deletes the first on " in text and "nothing was changed" in text
    assert text.splitlines()[-1].startswith("next: 'knowledge setup --yes' "), "what to run where nobody can be asked"
    assert "set embedder minilm-int8' (23 MB once" in text and "about 1 minute on this computer" in text
    (person / ".claude" / "settings.json").write_text('{"cleanupPeriodDays": 21}')
    assert setup_json()["sources"][0]["deleted_after_days"] == 21, "the tool's own setting says it"
    assert "3 conversations within 7 days, 3 of them not harvested" in call("setup")[1]


@pytest.mark.parametrize("title", ["Ollama", "LM Studio", "llama.cpp", "vLLM"])
def test_a_model_on_this_computer_is_found_and_taken_by_default(
    title: str, person: Path, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It costs nothing. Its server is asked for its list and for nothing else, and gets no word of a conversation."""
    talk(person, 2)
    address = serving(httpserver, title, monkeypatch, ["nomic-embed-text", "qwen3:8b", "other:1b"])
    told = setup_json("--yes")
    (row, _) = (row for row in told["models"] if row["free"] and row["provider"] != "offline")
    assert row["model"] == "qwen3:8b" and row["ready"] and title in row["where"] and address in row["where"]
    assert row["estimate"]["calls"] >= 2 and row["estimate"]["input_tokens"] > 0 and row["estimate"]["price"] == 0
    assert {request.method for request, _ in httpserver.log} == {"GET"} and len(httpserver.log) == 1
    provider = "ollama" if title == "Ollama" else "openai"
    assert told["changed"]["provider"] == provider and told["changed"]["model"] == "qwen3:8b"
    assert told["changed"]["base_url"] == address
    assert 'model = "qwen3:8b"' in settings(person)
    assert workspace().config.provider == provider
    again = setup_json("--yes")
    assert again["changed"] == {} and any("read by" in words for words in again["set"])


def test_yes_turns_on_nothing_that_costs_money_no_hook_and_no_timer(
    person: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keys in the environment and agents on the PATH are told with their price, and left alone."""
    talk(person, 2)
    for name in ("claude", "codex", "gemini", "opencode", "copilot", "systemctl"):
        program(person, name)
    monkeypatch.setenv("OPENAI_API_KEY", "made-up-" + "1" * 20)
    monkeypatch.setenv("GOOGLE_API_KEY", "made-up-" + "2" * 20)
    before = {path: path.read_bytes() for path in person.rglob("*") if path.is_file()}
    told = setup_json("--yes")
    assert told["changed"] == {"sources": ["home", "claude_code"]} and told["connected"] == []
    now = {path: path.read_bytes() for path in person.rglob("*") if path.is_file() and ".cache" not in path.parts}
    assert set(now) - set(before) == {person / ".config" / "manual_slop" / "config.toml"}, "no program was called"
    by_name = {row["provider"]: row for row in told["models"]}
    assert by_name["openai"]["estimate"]["price"] > 0 and by_name["openai"]["where"] == "OPENAI_API_KEY is set"
    assert by_name["gemini"]["where"] == "GOOGLE_API_KEY is set"
    assert by_name["claude_code"]["estimate"]["price"] is None and by_name["claude_code"]["ready"]
    assert not by_name["opencode"]["ready"] and not by_name["copilot"]["ready"]
    assert "made-up-" not in json.dumps(told) + call("setup")[1], "no key is printed"


@pytest.mark.parametrize("settings", [True, False], ids=["beside settings", "without settings"])
def test_a_key_in_a_file_that_others_can_read_is_a_clear_problem(person: Path, settings: bool) -> None:
    """And one in a file that is right is found, whether or not there is a config.toml beside it."""
    folder = person / ".config" / "manual_slop"
    folder.mkdir(parents=True)
    if settings:
        (folder / "config.toml").write_text("")
    keys = folder / "credentials.toml"
    keys.write_text('[keys]\nanthropic = "made-up"\n')
    keys.chmod(0o644)
    row = next(row for row in setup_json()["models"] if row["provider"] == "anthropic")
    assert not row["ready"] and "chmod" in row["problem"]
    keys.chmod(0o600)
    ready = {row["provider"]: row["ready"] for row in setup_json()["models"]}
    assert ready["anthropic"] and "openai" not in ready


def asker(answers: Sequence[int | None], seen: list[tuple[str, str, tuple[str, ...]]]) -> Callable[..., int | None]:
    rest = list(answers)

    def ask(shown: str, question: str, choices: Sequence[str], default: int) -> int | None:
        seen.append((shown, question, tuple(choices)))
        answer = rest.pop(0)
        return default if answer is None else answer

    return ask


def test_four_questions_at_most_and_each_answer_counts(
    person: Path, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model, the conversations, the connections, the archive. What was found is shown before the first."""
    talk(person, 2)
    program(person, "claude")
    serving(httpserver, "Ollama", monkeypatch, ["qwen3:8b"])
    seen: list[tuple[str, str, tuple[str, ...]]] = []
    done = setup(workspace(), ask=asker([0, 0, 0, 0], seen))
    assert done.changed == {} and done.connected == []
    assert len(seen) == 4 and "2 Claude Code conversations" in seen[0][0] and not seen[1][0]
    assert any("free" in words for words in seen[0][2]) and not (person / ".claude.json").exists()
    done = setup(workspace(), ask=asker([1, 1, 1, 1], seen))
    assert done.changed["provider"] == "ollama"
    assert done.changed["sources"] == ["home", "claude_code"] and done.connected == ["claude_code"]
    assert done.changed["archive"] == "expiring" and "after 30 days" in seen[-1][1] and "(about " in seen[-1][2][1]
    assert "SessionEnd" in (person / ".claude" / "settings.json").read_text()
    assert "hints at a prompt, a command and a file" in seen[-2][1] and "'knowledge hints --off EVENT'" in seen[-2][1]
    seen.clear()
    done = setup(workspace(), ask=asker([None], seen))
    assert len(seen) == 1 and done.changed == {}, "what is set is not asked again"
    assert any("is connected" in words for words in done.set)


def test_run_again_it_tells_what_is_new(person: Path) -> None:
    """A tool that was installed since is named; the model that somebody chose stays, whatever it costs."""
    talk(person, 1)
    assert setup_json("--yes")["new"] == []
    assert call("config", "set", "provider", "anthropic")[0] == call("config", "set", "model", "claude-x")[0] == 0
    (person / ".codex" / "sessions" / "2026" / "11" / "20").mkdir(parents=True)
    (person / ".codex" / "sessions" / "2026" / "11" / "20" / "rollout-1.jsonl").write_text("{}\n")
    told = setup_json("--yes")
    assert told["changed"] == {"sources": ["home", "claude_code", "codex"]}
    assert "Codex keeps conversations too" in told["new"] and "Codex is there and not connected" in told["new"]
    assert workspace().config.provider == "anthropic"


def test_the_window_can_draw_and_settle_the_same(person: Path) -> None:
    """The first start of the panel has the records and the sentences, and no terminal."""
    talk(person, 2)
    looked = survey(workspace())
    assert found_sentence(looked).startswith("2 Claude Code conversations")
    assert looked.models[default_model(workspace(), looked)].words.startswith("the built-in rules")
    done = apply_answers(workspace(), looked, 0, True, ["codex"])
    assert done.changed == {"sources": ["home", "claude_code"]}
    assert done.connected == ["codex"] and (person / ".codex" / "hooks.json").exists()


def test_a_terminal_is_asked_with_numbers_and_letters(person: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    talk(person, 1)
    program(person, "codex")
    for typed, chosen in (("\n\n\n\n", "offline"), ("2\nn\nno\n\n", "codex")):
        monkeypatch.setattr("sys.stdin", Terminal(typed))
        out, err = io.StringIO(), Terminal()
        assert main(["setup"], out, err) == 0
        assert workspace().config.provider == chosen
        assert "Who shall read them? [1]" in err.getvalue() and "[y/N]" in err.getvalue()


def test_an_empty_disk_says_so(person: Path) -> None:
    told = setup_json()
    assert told["sources"] == [] and told["settings"] == {}
    assert [row["provider"] for row in told["models"]] == ["offline"]
    assert "no conversations were found" in call("setup")[1]


def test_a_server_that_hangs_or_lies_holds_nobody_up(
    person: Path, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another program may listen on that port."""
    httpserver.expect_request("/api/tags").respond_with_data("<html>not a model</html>")
    ollama = Server("Ollama", "ollama", f"http://127.0.0.1:{httpserver.port}")
    rows = (ollama, Server("vLLM", "openai", "http://127.0.0.1:1/v1"))
    monkeypatch.setattr(found, "SERVERS", rows)
    assert [row["provider"] for row in setup_json()["models"]] == ["offline"]
    httpserver.clear()
    httpserver.expect_request("/api/tags").respond_with_json({"models": []})
    (row,) = (row for row in setup_json()["models"] if row["provider"] == "ollama")
    assert not row["ready"] and "no model yet" in row["problem"]
    monkeypatch.setenv("OLLAMA_HOST", "http://model.example.org:11434")
    monkeypatch.setattr(found, "exchange", None)
    monkeypatch.setattr(found, "SERVERS", rows[:1])
    assert [row["provider"] for row in setup_json()["models"]] == ["offline"], "nobody is asked beyond this machine"


def test_suggested_models_have_a_price() -> None:
    """Else the estimate of a newcomer would say 'unknown'."""
    for provider, model in SUGGESTED.items():
        assert price(provider, model, 1000, 1000) is not None, f"{provider} {model}"


def test_what_is_large_on_the_disk_counts_as_new_until_a_harvest_found_it_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`setup` must not promise fewer conversations than the harvest after it reads."""
    monkeypatch.setenv("HOME", str(tmp_path))
    place = tmp_path / ".claude/projects/-nowhere"
    place.mkdir(parents=True)
    (place / "11111111-1111-4111-8111-111111111111.jsonl").write_bytes(claude_row("user", "w " * 5000, DAY))
    settings = tmp_path / "config.toml"
    settings.write_text('[ai_settings.knowledge]\nsources = ["claude_code"]\nmax_harvest_source_bytes = 1000\n')
    environment = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    workspace = open_workspace(str(tmp_path / "home"), settings, environment, tmp_path)

    def counted() -> tuple[int, int]:
        found = next(one for one in sources(workspace).rows if one.name == "claude_code")
        return found.new, found.too_large

    assert counted() == (1, 0)
    assert harvest(workspace, HarvestRequest(apply=True, at_once=True)).too_large == 1
    assert counted() == (0, 1)


def test_the_first_dry_run_warns_of_no_folder_that_nobody_needs(person: Path) -> None:
    """Who has conversations of a tool alone was told that an empty folder of ours is missing; who has none is."""
    assert "does not exist yet" in call("harvest")[1]
    talk(person)
    assert call("setup", "--yes")[0] == 0
    said = call("harvest")[1]
    assert "1 to harvest" in said and "does not exist yet" not in said
