"""From settings to a callable: what cannot work is told before anything is sent."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from core.base.result import Err, Ok
from core.llm.generate import PROVIDERS, connect
from core.llm.wire import ModelSettings
from tests.llm_server import model_server, reply


def connected(settings: ModelSettings, key: str = "") -> Any:
    return connect(settings, credentials=lambda provider, variables: Ok(key))


@pytest.mark.parametrize(
    ("settings", "code", "hint"),
    [
        (ModelSettings("opneai", model="m"), "unknown-provider", "openai"),
        (ModelSettings("offline"), "unknown-provider", "openai"),
        (ModelSettings("openai"), "no-credentials", "--model"),
        (ModelSettings("ollama"), "no-model", "--model"),
        (ModelSettings("openai", model="m"), "no-credentials", "OPENAI_API_KEY"),
        (ModelSettings("anthropic", model="m"), "no-credentials", "ANTHROPIC_API_KEY"),
        (ModelSettings("gemini", model="m"), "no-credentials", "GEMINI_API_KEY"),
        (ModelSettings("ollama", model="m", base_url="localhost:11434"), "bad-address", "http://"),
        (ModelSettings("openai", model="m", base_url="https://h/v1?key=x"), "bad-address", "?"),
        (ModelSettings("openai", model="m", base_url="http://[::1"), "bad-address", "http://"),
        (ModelSettings("command"), "no-command", "command"),
        (ModelSettings("ollama", model="m", timeout_seconds=0), "bad-settings", "request_timeout_seconds"),
    ],
)
def test_settings_that_cannot_work_are_told_before_anything_is_sent(
    settings: ModelSettings, code: str, hint: str
) -> None:
    """Else the user would learn of a missing name or key from each of 17 conversations, one after the other."""
    result = connected(settings)
    assert isinstance(result, Err)
    assert (result.error.code, hint in result.error.hint) == (code, True)


def test_a_server_of_ones_own_needs_no_key() -> None:
    """Else nobody could use llama.cpp or vLLM at home without inventing a key."""
    with model_server(reply({"choices": [{"message": {"content": "ok"}}]})) as server:
        generate = connected(ModelSettings("openai", model="m", base_url=server.url)).value
        assert generate("What?").value.text == "ok"
    assert "authorization" not in server.requests[0].headers


def test_a_problem_with_the_credentials_is_passed_on() -> None:
    """Else an exposed credentials file would be used without a word."""
    problem = Err(error=connected(ModelSettings("none")).error)
    result = connect(ModelSettings("openai", model="m"), credentials=lambda provider, variables: problem)
    assert result is problem


def test_the_table_is_loaded_without_requests() -> None:
    """Else every start of the program, even `--help`, would wait for the HTTP library."""
    code = "import sys, core.llm.generate; sys.exit('requests' in sys.modules)"
    root = Path(__file__).parent.parent
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0
    assert set(PROVIDERS) == {"openai", "ollama", "anthropic", "gemini", "command"}
