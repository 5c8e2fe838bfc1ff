"""The harvest against a real small language model over real HTTP on loopback: `make test-model`.

A test double says what its author expects of a server. This one speaks for itself: schema-constrained output, an answer
cut off at its limit, a call that is called off while the model still writes. What is asserted is the shape of what
comes back and what stands on disk, never what the model says: it is far too small to say anything of use.
"""

from __future__ import annotations

import json
import os
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.base.answer import Generate
from core.base.result import KnowledgeError, Ok, attempt
from core.cli.main import main as knowledge
from core.conversations.read import read_conversation
from core.harvest.answer import SCHEMA
from core.harvest.asking import ask, category_questions, category_schema
from core.llm.credentials import keys_from
from core.llm.generate import connect
from core.llm.transport import never
from core.llm.wire import ModelSettings
from tests.model_server import model_file, serving, why_not

pytestmark = pytest.mark.skipif(
    not os.environ.get("KNOWLEDGE_TEST_MODEL") or bool(why_not()),
    reason=why_not() or "a real model takes minutes: make test-model asks for it",
)
TALK = b"User: Where is the port set?\n\nAssistant: It turned out that `server.toml` sets port 8123.\n\nUser: thanks\n"
PROMPT = (
    "<!-- short, version 7 -->\nSay what this talk taught, as JSON.\n\n## facts\n\nWhich facts? "
    '{"facts": [{"statement": "", "detail": "", "quote": ""}]}\n\n## questions\n\nWhich questions?\n'
)
SMALL: dict[str, Any] = {
    "type": "object",
    "properties": {"facts": {"type": "array", "maxItems": 2, "items": {"type": "string", "maxLength": 20}}},
    "required": ["facts"],
    "additionalProperties": False,
}
ENDLESS = {**SMALL, "properties": {"facts": {"type": "array", "minItems": 500, "items": {"type": "string"}}}}
FAILURES = {"truncated-answer", "invalid-answer", "timed-out"}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serving() as found:
        yield found


def model(address: str, tokens: int, cancelled: Any = never, seconds: float = 120) -> Generate:
    settings = ModelSettings("openai", "smollm2", address, timeout_seconds=seconds, max_output_tokens=tokens)
    return connect(settings, credentials=keys_from(None, {}), cancelled=cancelled)


def test_an_answer_keeps_to_the_schema_and_its_tokens_are_counted(address: str) -> None:
    """If the schema did not reach the server, every small model would answer in prose and no harvest would succeed."""
    answer = model(address, 120)("Name two facts about bees.", SMALL)
    said = json.loads(answer.text)
    assert list(said) == ["facts"] and len(said["facts"]) <= 2
    assert all(isinstance(fact, str) and len(fact) <= 20 for fact in said["facts"])
    assert answer.input_tokens and 0 < (answer.output_tokens or 0) <= 120 and not answer.truncated


def test_an_answer_that_was_cut_off_is_never_taken_for_a_whole_one(address: str) -> None:
    """A truncated array that still parses would let a conversation go whose second half nobody read."""
    generate = model(address, 12)
    answer = attempt(generate, "Tell a long story.", SCHEMA)
    assert isinstance(answer, Ok) and answer.value.truncated and answer.value.output_tokens == 12
    asked = attempt(ask, "Say what this talk taught.", "one_call", "t", TALK.decode(), 1, generate)
    assert isinstance(asked, KnowledgeError) and asked.error.code == "truncated-answer"


@pytest.mark.parametrize("category", ["facts", "playbooks", "files"])
def test_the_schema_of_each_shape_of_row_is_understood(address: str, category: str) -> None:
    """A server that refuses a schema falls back to prose: the rows must begin as the schema says."""
    answer = model(address, 24)("Answer.", category_schema(category))
    assert "".join(answer.text.split()).startswith(f'{{"{category}":[')


def test_a_call_that_is_called_off_comes_back_while_the_model_still_writes(address: str) -> None:
    """Ctrl-C and the panel's Stop must not wait for a slow model; the server is free again afterwards."""
    stop = threading.Event()
    timer = threading.Timer(1.0, stop.set)
    timer.start()
    started = time.monotonic()
    answer = attempt(model(address, 4000, stop.is_set), "Name facts.", ENDLESS)
    waited = time.monotonic() - started
    timer.cancel()
    assert isinstance(answer, KnowledgeError) and answer.error.code == "cancelled", answer
    assert waited < 30  # 4,000 tokens take minutes
    assert isinstance(attempt(model(address, 8), "Hello."), Ok)


def test_questions_after_the_same_conversation_use_the_cache_of_the_server(address: str) -> None:
    """This is what `per_category` is for: the second question costs its own words and not the conversation again."""
    import requests

    talk = read_conversation("t", TALK).turns[1].text * 6
    head, questions = category_questions(PROMPT)
    reused = []
    for question in questions.values():
        body = {"messages": [{"role": "user", "content": f"{head}\n\n{talk}\n{question}"}], "max_tokens": 1}
        reply = requests.post(f"{address}/v1/chat/completions", json=body, timeout=120).json()
        reused.append((reply["usage"]["prompt_tokens_details"]["cached_tokens"], reply["usage"]["prompt_tokens"]))
    assert reused[1][0] > 0.6 * reused[1][1], reused


@pytest.mark.parametrize("style", ["one_call", "per_category"])
def test_a_harvest_ends_proven_or_leaves_the_conversation_where_it_was(
    address: str, style: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The whole way through the command line: settings, HTTP, answer, files, ledger."""
    home = tmp_path / "home"
    conversation = home / "conversations" / "port-00000000-0000-4000-8000-000000000001"
    conversation.parent.mkdir(parents=True)
    conversation.write_bytes(TALK)
    prompts = home / "knowledge" / "prompts"
    prompts.mkdir(parents=True)
    for name in ("harvest-conversation.md", "harvest-category.md"):
        (prompts / name).write_text(PROMPT)
    config = tmp_path / "config.toml"
    table = f'provider = "openai"\nmodel = "smollm2"\nbase_url = "{address}"\nharvest_style = "{style}"\n'
    config.write_text(f"[ai_settings.knowledge]\n{table}max_output_tokens = 200\nharvest_max_attempts = 1\n")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    status = knowledge(["harvest", "--config", str(config), "--home", str(home), "--apply"])
    capsys.readouterr()
    entries = json.loads((home / "knowledge" / "ledger.json").read_bytes())["entries"]
    entry = next(iter(entries.values()))
    assert entry["status"] in ("harvested", "harvest-failed") and entry["output_tokens"] > 0
    if entry["status"] == "harvest-failed":
        assert status == 1 and conversation.read_bytes() == TALK
        assert any(code in entry["error"] or "attempts" in entry["error"] for code in FAILURES), entry
    else:
        assert status == 0 and entry["prompt"] == "short 7" and not conversation.exists()
        said = "".join(path.read_text() for path in (home / "knowledge").glob("*.md"))
        assert said.count("[from: port") >= sum(entry["items"].values())


def test_a_file_answers_in_this_process_without_a_server(tmp_path: Path) -> None:
    """provider = "local": the real binding loads the real file, keeps to the schema, and wants its key."""
    from core.llm import local

    file = model_file()
    assert file is not None
    settings = ModelSettings("local", str(file), timeout_seconds=300, max_output_tokens=120, context_tokens=2048)
    connected = connect(settings, credentials=keys_from(None, {}))
    answer = connected("Name two facts about bees.", SMALL)
    said = json.loads(answer.text)
    assert list(said) == ["facts"] and all(len(fact) <= 20 for fact in said["facts"])
    assert answer.input_tokens and answer.output_tokens
    ((_, loaded),) = local._loaded.items()
    question = urllib.request.Request(f"{loaded.address}/v1/chat/completions", b"{}", method="POST")
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(question, timeout=20)
    assert refused.value.code == 401
    text = tmp_path / "no-model.gguf"
    text.write_text("no model")
    made = connect(ModelSettings("local", str(text)), credentials=keys_from(None, {}))
    broken = attempt(made, "What?")
    assert isinstance(broken, KnowledgeError) and broken.error.code == "bad-model"
