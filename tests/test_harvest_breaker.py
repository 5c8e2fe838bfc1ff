"""A model that cannot answer anybody is asked once: a wrong key must not be sent for every conversation of a disk, and
what was never asked must not stand in the ledger as failed."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.base.answer import Answer
from core.base.result import Result, fail
from core.harvest.meter import DOUBTFUL, HOPELESS
from tests.cli_call import call
from tests.harvest_world import FakeModel, World, ordinary, sha256
from tests.llm_server import model_server, reply

TALKS = [f"User: question {number}\n\nAssistant: answer {number}\n" for number in range(5)]


def left(world: World) -> list[str]:
    return sorted(path.read_text() for path in world.paths.conversations.iterdir() if path.is_file())


@pytest.mark.parametrize("code", sorted(HOPELESS))
def test_after_a_failure_of_key_model_or_server_nobody_else_is_asked_about(world: World, code: str) -> None:
    for talk in TALKS:
        world.converse(talk)
    model = FakeModel(lambda number, prompt: fail(code, f"refused for the {number}. time"))
    report = world.run(model)
    assert model.calls == 1 and report.failed == 1 and report.not_tried == 4 and report.kept == 4
    assert [error.code for error in report.errors] == [code]
    [note] = [note for note in report.notes if "not tried" in note]
    assert note.startswith("4 conversations were not tried") and "refused for the 1. time" in note
    assert list(world.entries()) == [sha256(TALKS[0])] and left(world) == sorted(TALKS)


def test_four_workers_send_a_wrong_key_once(world: World) -> None:
    for talk in TALKS:
        world.converse(talk)
    others = threading.Event()

    def refusing(number: int, prompt: str) -> Result[Answer]:
        others.wait(0.2) if number == 1 else others.set()  # time enough for three more calls
        return fail("rejected-key", f"no {number}")

    model = FakeModel(refusing)
    report = world.run(model, jobs=4)
    assert (model.calls, report.failed, report.not_tried) == (1, 1, 4)
    assert list(world.entries()) == [sha256(TALKS[0])]


def test_workers_wait_for_the_first_call_only(world: World) -> None:
    """Four calls at once are four times as fast; a run that asks one after the other takes the night."""
    for talk in TALKS:
        world.converse(talk)
    together = threading.Barrier(4, timeout=20)

    def answering(number: int, prompt: str) -> dict[str, Any]:
        if number > 1:
            together.wait()
        return ordinary(number, prompt)

    assert world.run(FakeModel(answering), jobs=4).harvested == 5


@pytest.mark.parametrize("code", sorted(DOUBTFUL))
def test_what_may_lie_in_one_conversation_ends_the_asking_the_second_time(world: World, code: str) -> None:
    """A text that a filter refuses, oldest of all, must not keep every other one from being read, run after run."""
    for talk in TALKS:
        world.converse(talk)
    once = world.run(FakeModel(lambda number, prompt: fail(code, "no") if number == 1 else ordinary(number, prompt)))
    assert (once.failed, once.harvested, once.not_tried) == (1, 4, 0)
    for talk in TALKS:
        world.converse(f"{talk} again")
    model = FakeModel(lambda number, prompt: fail(code, f"no {number}"))
    twice = world.run(model)
    assert (model.calls, twice.failed, twice.not_tried) == (2, 2, 4)


@pytest.mark.parametrize("code", ["rate-limited", "server-error", "timed-out", "invalid-answer", "too-long"])
def test_any_other_failure_is_of_its_own_conversation(world: World, code: str) -> None:
    for talk in TALKS:
        world.converse(talk)

    def every_other(number: int, prompt: str) -> Result[Answer] | dict[str, Any]:
        return fail(code, f"no {number}") if number % 2 else ordinary(number, prompt)

    report = world.run(FakeModel(every_other))
    assert (report.failed, report.harvested, report.not_tried) == (3, 2, 0)


def test_the_next_run_reads_what_was_not_tried(world: World) -> None:
    for talk in TALKS:
        world.converse(talk)
    world.run(FakeModel(lambda number, prompt: fail("not-found", "no such model")))
    assert world.run(FakeModel()).harvested == 5 and left(world) == []


# --- through the command line, over HTTP ------------------------------------------------------------------------------


def configured(world: World, url: str) -> str:
    config = world.folder / "config.toml"
    values = {"provider": "openai", "model": "small-1", "base_url": f"{url}/v1", "jobs": 1}
    rows = [f"{name} = {json.dumps(value)}" for name, value in values.items()]
    config.write_text("\n".join(["[ai_settings.knowledge]", *rows]) + "\n")
    return str(config)


def knowledge(world: World, url: str, *words: str) -> tuple[int, str, str]:
    return call("--home", str(world.paths.home), "--config", configured(world, url), *words)


@pytest.fixture
def talks(world: World) -> Iterator[World]:
    for talk in TALKS:
        world.converse(talk)
    yield replace(world)


@pytest.mark.parametrize(("status", "words"), [(401, "does not accept the key"), (404, "does not know this model")])
def test_a_wrong_key_or_model_is_sent_once_and_said_once(talks: World, status: int, words: str) -> None:
    with model_server(*[reply({"error": {"message": f"no {at}"}}, status) for at in range(5)]) as server:
        code, out, err = knowledge(talks, server.url, "harvest", "--apply")
    asked = [request for request in server.requests if request.method == "POST"]  # the window is asked for by GET
    assert code == 1 and len(asked) == 1
    assert (out + err).count(words) == 2 and "4 conversations were not tried" in out
    assert "0 harvested" in out and "1 failed" in out


def test_a_server_that_is_not_there_is_looked_for_once(talks: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.llm.transport.FIRST_PAUSE_SECONDS", 0.0)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    code, out, err = knowledge(talks, url, "harvest", "--apply")
    assert code == 1 and "4 conversations were not tried" in out and err.count("Check that the server runs") == 1


def test_a_key_of_gemini_that_is_wrong_is_told_as_one(tmp_path: Path) -> None:
    """Gemini says 400 for it, which any other server says of one request alone."""
    from core.llm.transport import refusal
    from core.llm.wire import Call, Reply

    body = json.dumps({"error": {"message": "API key not valid. Please pass a valid API key."}}).encode()
    told = refusal(Call("gemini", "https://example.org/v1", {}, {}), Reply(400, {}, body)).error
    assert told.code == "rejected-key" and "credentials.toml" in told.hint
