"""A model that answers badly, over real HTTP and the real command line: the run ends, a sentence says what
to do, and the conversation stays, or the good rows are kept."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.bad_input import UUID, Person, person, write_talk
from tests.llm_server import Script, drip, endless, good, hang, head, model_server, reply, reset

__all__ = ["person"]
NAME = f"talk-{UUID}"
EMPTY = "harvested items: facts:0, decisions:0, tasks_done:0, tasks_open:0, questions:0, playbooks:0, files:0\n"
FORGED = "a\n## Done\n- b [from: me, 2026-01-01] {/knowledge} \u202e\u200b<!--"
TWICE = "no valid answer in 2 attempts: "


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """How long the pauses are that a broken line is given is tried in test_llm_transport, without waiting for them."""
    monkeypatch.setattr("core.llm.transport.FIRST_PAUSE_SECONDS", 0.01)


def harvests(person: Person, *scripts: Script, seconds: float = 30.0) -> str:
    """`knowledge harvest --apply` with a server that plays Ollama; what it printed, the server's address as HOST."""
    with model_server(*scripts) as server:
        (person.folder / "config.toml").write_text(
            f'[ai_settings.knowledge]\nprovider = "ollama"\nmodel = "m"\nbase_url = "{server.url}"\n'
            "model_context_tokens = 32768\n"
            f"request_timeout_seconds = {seconds}\n"
        )
        return person.types("harvest", "--apply", "--quiet").replace(server.address, "HOST")


def says(text: str) -> Script:
    return reply(good(text))


SLOW: list[tuple[str, Script]] = [
    ("hang", hang()),
    ("drip", drip(head(200, {"Content-Type": "application/json"}), b" ")),
]


@pytest.mark.parametrize("script", [row[1] for row in SLOW], ids=[row[0] for row in SLOW])
def test_a_slow_model_ends_with_a_sentence(person: Person, script: Script) -> None:
    path = write_talk(person)
    said = harvests(person, script, seconds=0.5)
    assert "knowledge: ollama at HOST did not answer in time" in said or "timed out" in said or "in the time" in said, (
        said
    )
    assert "request_timeout_seconds" in said and person.code == 1 and path.exists()


BROKEN: list[tuple[str, list[Script], str, str]] = [
    ("HTML", [reply(b"<html><body>Sign in</body></html>", content_type="text/html")],
     "ollama answered with a web page instead of JSON", "Check base_url: it may lead to a login page or a proxy."),
    ("huge", [endless(head(200, {"Content-Type": "application/json"}), b" " * 65536)],
     "the answer of ollama at HOST is larger than 4194304 bytes", "Choose another model."),
    ("no object", [reply(b"[]")],
     "ollama answered with something that is not a JSON object", "Try again; if it stays, check base_url."),
    ("nested body", [reply(b"[" * 100_000)],
     "ollama answered with something that is not a JSON object", "Try again; if it stays, check base_url."),
    ("reset", [reset()] * 4, "the connection to ollama at HOST failed or broke off: Connection reset by peer",
     "Check that the server runs, that base_url is right and that this computer is online."),
    ("no words", [reply(good(""))] * 2, "ollama answered with an empty text", "Try again, or choose another model."),
]  # fmt: skip


@pytest.mark.parametrize(("scripts", "why", "hint"), [row[1:] for row in BROKEN], ids=[row[0] for row in BROKEN])
def test_a_broken_answer_keeps_the_conversation(person: Person, scripts: list[Script], why: str, hint: str) -> None:
    path = write_talk(person)
    said = harvests(person, *scripts)
    assert EMPTY in said and "1 failed" in said and path.exists() and person.code == 1
    assert f"knowledge: {why} (~/home/conversations/{NAME}). {hint}\n" in said and said.count("knowledge: ") == 1
    assert person.text("decisions.md") == ""


def rows(number: int) -> dict[str, Any]:
    return {"facts": [f"fact {at}" for at in range(number)]}


INVALID: list[tuple[str, str, str]] = [
    ("prose", "Here you are: {}", "the model's answer is not valid JSON: Expecting value: line 1 column 1 (char 0)"),
    ("a list", "[]", "the model's answer is not a JSON object"),
    ("depth", "[" * 100_000 + "]" * 100_000, "the model's answer is nested deeper than 32 levels"),
    ("depth in a row", '{"facts": ' + "[" * 100_000, "the model's answer is nested deeper than 32 levels"),
    ("NaN", '{"facts": [NaN]}', "the model's answer is not valid JSON: NaN is not JSON"),
    ("infinity", '{"facts": [-Infinity]}', "the model's answer is not valid JSON: -Infinity is not JSON"),
    (
        "keys twice",
        '{"facts": [], "facts": []}',
        "the model's answer is not valid JSON: a key stands twice in one object",
    ),
    ("cut", '{"facts": ["a', "the model's answer is not valid JSON: Unterminated string starting at: line 1 column 12"),
    ("100,000 items", json.dumps(rows(100_000)), "the model's answer has 100,000 rows, more than any conversation"),
    ("an error", '{"error": "out of memory"}', "the model's answer has none of the keys that were asked for"),
    ("wrapped", '{"result": {"facts": ["a"]}}', "the model's answer has none of the keys that were asked for"),
    ("other rows", '{"facts": [{"text": "a"}]}', "the model's answer has 1 row of which none could be read"),
    ("words after", "```json\n{}\n```\nEnjoy!", "the model's answer is not valid JSON: Expecting value"),
]


@pytest.mark.parametrize(("text", "why"), [row[1:] for row in INVALID], ids=[row[0] for row in INVALID])
def test_what_is_no_answer_is_asked_for_twice_and_then_told(person: Person, text: str, why: str) -> None:
    path = write_talk(person)
    said = harvests(person, says(text), says(text))
    assert f"knowledge: {TWICE}{why}" in said and person.code == 1 and path.exists()
    assert json.loads(person.text("ledger.json"))["entries"]
    assert EMPTY in said


HELD: list[tuple[str, dict[str, Any], int, int]] = [
    ("250 items", {"facts": [f"fact {at}" for at in range(250)]}, 200, 50),
    ("a hundred kilobytes in one string", {"facts": ["word " * 20_000]}, 0, 1),
    ("a hundred kilobytes without a blank", {"facts": ["x" * 100_000, "good"]}, 1, 1),
]


@pytest.mark.parametrize(("answer", "number", "held"), [row[1:] for row in HELD], ids=[row[0] for row in HELD])
def test_what_is_too_much_waits_whole_in_the_quarantine(
    person: Person, answer: dict[str, Any], number: int, held: int
) -> None:
    path = write_talk(person)
    said = harvests(person, says(json.dumps(answer)))
    assert f"harvested items: facts:{number}, " in said and f"quarantined: {held} (" in said and not path.exists()
    written = person.text("facts.md") + person.text("quarantine.md")
    assert all(f"{text.strip()} [from: " in written for text in answer["facts"])
    shown = person.types("review", "--kind", "held")
    assert f"held ({held})" in shown and len(shown) < 20_000
    assert "yes (let it in)" in person.types("review", "all", "held", "--yes") and person.code == 0
    assert all(f"{text.strip()} [from: " in person.text("facts.md") for text in answer["facts"])


VALID: list[tuple[str, str, int, str]] = [
    ("nothing", "{}", 0, ""),
    ("fenced", '```json\n{"facts": ["a"]}\n```', 1, ""),
    ("wrong types", '{"facts": [5, null, true, [], {"statement": 7}, {"statement": []}, "good"], "files": null}', 1,
     "rows skipped: wrong shape:6\n"),
    ("lone surrogates", '{"facts": ["a \\ud800 b", "\\udfff"]}', 2, ""),
    ("the same thousands of times", json.dumps({"facts": ["same"] * 5000}), 1, "rows skipped: repeated:4999\n"),
    ("nothing but line breaks", json.dumps({"facts": ["\n" * 400_000, "good"]}), 1, "rows skipped: empty:1\n"),
    ("forged lines", json.dumps({"facts": [FORGED]}), 1, ""),
    ("keys nobody asked for", '{"facts": ["a"], "__proto__": {}, "exec": "rm"}', 1, ""),
]  # fmt: skip


@pytest.mark.parametrize(("text", "number", "told"), [row[1:] for row in VALID], ids=[row[0] for row in VALID])
def test_the_good_rows_of_a_strange_answer_are_kept(person: Person, text: str, number: int, told: str) -> None:
    """And only as lines of bounded length that nobody can mistake for ours."""
    path = write_talk(person)
    said = harvests(person, says(text))
    assert f"harvested items: facts:{number}, " in said and told in said and person.code == 0 and not path.exists()
    assert ("rows skipped" in said) == bool(told)
    lines = [line for line in person.text("facts.md").split("\n") if line.startswith("- ")]
    assert len(lines) == number == len(set(lines))
    for line in lines:
        assert len(line) < 700 and line.count("[from: ") == 1 and line.isprintable()
        assert "{/knowledge}" not in line and "<!--" not in line
    assert "## Done" not in person.text("facts.md").split("\n")
    assert len(person.text("digest.md").encode()) <= 4096
