"""What a harvest will cost, and what was paid for once."""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import count
from pathlib import Path
from threading import Semaphore
from typing import Any

import pytest

from core.base.answer import Answer
from core.base.result import KnowledgeError, Result
from core.commands.harvest_options import CATEGORY_PROMPT, HARVEST_PROMPT, SUMMARIZE_PROMPT
from core.commands.harvest_report import harvest_text
from core.harvest.asking import KEPT_DAYS
from core.harvest.committer import Committer
from core.harvest.estimate import estimate
from core.harvest.known import KnownStore
from core.harvest.meter import ANSWER_TOKENS, MIN_CALLS, RETRY_SUFFIX, Counted, Usage, note_usage, read_usage
from core.harvest.report import HarvestReport
from core.knowledge.categories import CATEGORIES
from tests.chatty_model import chatty_model
from tests.cli_call import call
from tests.harvest_world import World
from tests.waiting import wait_until

# --- What the dry run says a harvest will cost. A user decides by it: seven calls announced as one are seven times the
# bill.

PROMPTS = Path(__file__).resolve().parents[1] / "assets" / "prompts"


class Answering:
    """A model that tells no tokens, so that they are counted from the texts; no two answers are alike."""

    def __init__(self) -> None:
        self.numbers = count(1)
        self.spent_in = self.spent_out = self.calls = 0

    def __call__(self, prompt: str, schema: Mapping[str, Any] | None = None) -> Answer:
        number = next(self.numbers)
        words = random.Random(number)
        if schema is None:
            part = prompt.partition("<conversation>")[2]
            text = f"Summary {number}. " + "so it was said. " * (len(part) // words.randint(80, 100))
        else:
            names = list(schema["required"])
            names = [name for name in names if name not in ("files", "playbooks")]
            each = ANSWER_TOKENS * 4 // len(CATEGORIES) // 100
            rows = {
                name: [f"{name} {number}.{at} " + "learned this " * words.randint(6, 8) for at in range(each)]
                for name in names
            }
            text = json.dumps(rows)
        self.calls += 1
        self.spent_in += len(prompt.encode()) // 4
        self.spent_out += len(text) // 4
        return Answer(text, "fake")


def prepared(world: World, style: str, **changes: Any) -> World:
    name = CATEGORY_PROMPT if style == "per_category" else HARVEST_PROMPT
    texts = [(PROMPTS / file).read_text().strip() for file in (name, SUMMARIZE_PROMPT)]
    distil = replace(world.options.distil, style=style, harvest_prompt=texts[0], summarize_prompt=texts[1], **changes)
    world.options = replace(world.options, distil=distil, kept=world.folder / "answers", asked="openai fake")
    return world


def talk(number: int, turns: int) -> str:
    rows = [f"User: what about {number}.{at}?\n\nAssistant: it says {at} {'and more ' * 40}\n" for at in range(turns)]
    return "\n".join(rows)


def records(number: int, turns: int) -> str:
    """A transcript whose file is far longer than what was said: most formats are like this."""
    noise = {"uuid": "0" * 36, "sessionId": f"s{number}", "version": "2.0.1", "toolUseResult": "y" * 400}
    rows = [
        {"type": kind, "message": {"role": kind, "content": f"{number}.{at} we talked about it"}, **noise}
        for at in range(turns)
        for kind in ("user", "assistant")
    ]
    return "\n".join(json.dumps(row) for row in rows) + "\n"


@pytest.mark.parametrize("style", ["one_call", "per_category"])
@pytest.mark.parametrize(("kind", "way"), [("long", "parts"), ("mixed", "summarise")])
def test_the_estimate_is_near_what_the_run_spends(world: World, style: str, kind: str, way: str) -> None:
    """Within a tenth of what is sent, with all its parts and what is known beside them."""
    prepared(world, style, summarize_bytes=9000, part_bytes=4000, long=way)
    lines = [f"- Part {at} says {at} of what it says about the whole of it [from: x, 2026-01-01]\n" for at in range(90)]
    world.knowledge("facts.md", "# Facts\n\n" + "".join(lines))
    for number in range(4):
        world.converse(talk(10 + number, 60 + number))
        if kind == "mixed":
            world.converse(talk(number, 2 + number))
            world.converse(records(20 + number, 6))
    known = KnownStore.read(world.paths, world.entries())
    expected, _ = estimate(world.plan(), replace(world.options, known=known))
    model = Answering()
    report = world.run(model)  # type: ignore[arg-type]
    assert not report.errors and report.harvested == len(world.entries())
    assert model.calls == pytest.approx(expected.calls, rel=0.25)
    assert model.spent_in == pytest.approx(expected.input_tokens, rel=0.1)
    assert model.spent_out == pytest.approx(expected.output_tokens, rel=0.25)


def test_of_very_many_a_sample_is_read_and_comes_near(world: World) -> None:
    """A dry run over years of conversations must not read them all."""
    prepared(world, "one_call")
    for number in range(40):
        world.converse(records(number, 4 + number % 9))
    plan = world.plan()
    whole, _ = estimate(plan, world.options)
    sampled, _ = estimate(plan, world.options, sample_bytes=plan.bytes_to_send() // 4)
    assert sampled != whole and sampled.input_tokens == pytest.approx(whole.input_tokens, rel=0.25)
    assert sampled.calls == pytest.approx(whole.calls, rel=0.25)


def test_answers_that_are_there_already_are_not_announced_again(world: World) -> None:
    prepared(world, "per_category")
    world.converse(talk(1, 3))
    first, _ = estimate(world.plan(), world.options)
    model = Answering()

    def failing(prompt: str, schema: Mapping[str, Any] | None = None) -> Answer:
        if model.calls == 5:
            raise KnowledgeError("server-error", "it fell over")
        return model(prompt, schema)

    world.run(failing)  # type: ignore[arg-type]
    second, _ = estimate(world.plan(), world.options)
    assert (first.calls, second.calls) == (7, 2)
    assert estimate(world.plan(), world.options).total == second, "to estimate must not use the answers up"


def test_the_cap_of_a_run_is_told_before_it_stops_the_run(world: World) -> None:
    prepared(world, "one_call")
    for number in range(4):
        world.converse(talk(number, 3))
    one = estimate(world.plan(), world.options).total
    cap = (one.input_tokens + one.output_tokens) // 2 + 10
    world.options = replace(world.options, max_run_tokens=cap)
    assert estimate(world.plan(), world.options).fitting == 2
    report = world.run(Answering())  # type: ignore[arg-type]
    assert (report.harvested, report.deferred) == (2, 2)
    assert all(not note[:1].isupper() or "_" not in note.split()[0] for note in report.notes)


# --- as the command line tells it -------------------------------------------------------------------------------------


def told(world: World, *lines: str) -> tuple[str, dict[str, Any]]:
    config = world.folder / "config.toml"
    config.write_text("\n".join(["[ai_settings.knowledge]", 'provider = "ollama"', 'model = "small"', *lines]) + "\n")
    words = ["--home", str(world.paths.home), "--config", str(config), "harvest"]
    return call(*words)[1], json.loads(call(*words, "--json")[1])


def test_seven_questions_are_announced_as_seven_calls(world: World) -> None:
    world.converse(talk(1, 20))
    one, _ = told(world)
    text, document = told(world, 'harvest_style = "per_category"')
    assert "(1 call, " in one and "price: nothing (7 calls, " in text
    once = told(world)[1]["candidates"]
    seven = document["candidates"]
    assert seven["calls"] == 7 and seven["tokens"] > 5 * once["tokens"] and seven["output_tokens"] == 700


def test_the_candidates_do_not_count_what_is_too_large(world: World) -> None:
    """Bytes and tokens of one line were about different conversations."""
    world.converse(talk(1, 3))
    world.converse("x" * 3_000_000)
    text, document = told(world)
    assert document["candidates"]["bytes"] == len(talk(1, 3)) and "MB" not in text.split("\n")[1]
    assert "too large: 1" in text


def test_the_dry_run_says_what_the_cap_will_do(world: World) -> None:
    for number in range(3):
        world.converse(talk(number, 3))
    text, _ = told(world, "max_run_tokens = 500")
    assert "note: the cap of 500 tokens a run (max_run_tokens) is too low for all: not even one conversation" in text
    assert "max_run_tokens" not in told(world, "max_run_tokens = 500000")[0]


def test_an_unknown_price_says_what_to_set_and_does_not_claim_to_know(world: World) -> None:
    world.converse(talk(1, 3))
    config = world.folder / "config.toml"
    config.write_text('[ai_settings.knowledge]\nprovider = "openai"\nmodel = "nobody-knows-1"\n')
    out = call("--home", str(world.paths.home), "--config", str(config), "harvest")[1]
    assert "price: unknown for this model (1 call, " in out
    assert "; set price_input_per_million and price_output_per_million" in out


# --- what a provider reports -----------------------------------------------------------------------------------------


def asked_of(world: World, url: str, *words: str, way: str = "parts") -> dict[str, Any]:
    config = world.folder / "config.toml"
    config.write_text(
        f"""[ai_settings.knowledge]
provider = "openai"
model = "gauge-1"
base_url = "{url}"
long_conversations = "{way}"
model_context_tokens = 8192
summarize_threshold_bytes = 9000
price_input_per_million = 1000.0
price_output_per_million = 0.0
"""
    )
    code, out, _ = call("--home", str(world.paths.home), "--config", str(config), "harvest", "--json", *words)
    assert code == 0
    return dict(json.loads(out))


def readings(number: int, turns: int) -> str:
    rows = [
        f"User: what of gauge {number}.{at}?\n\nAssistant: it was read.\n" + "".join(
            f"The gauge {number}.{at}.{line} of the old plant read {line} bar in the morning.\n" for line in range(6)
        ) for at in range(turns)
    ]  # fmt: skip
    return "\n".join(rows)


@pytest.mark.parametrize("way", ["parts", "summarise"])
def test_the_providers_own_count_prices_the_next_run(way: str, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model whose tokens are half as long costs twice what bytes // 4 says, and the bill is a surprise."""
    monkeypatch.setenv("OPENAI_API_KEY", "-".join(("made", "up")))
    monkeypatch.setenv("XDG_CACHE_HOME", str(world.folder / "cache"))
    with chatty_model(failing=0, busy=0, broken=0, tokens=1.7, summary=30) as model:
        for number in range(4):
            world.converse(readings(number, 60))
        first = asked_of(world, model.url, way=way)["candidates"]
        assert first["token_factor"] == 1.0 and first["price"] == pytest.approx(first["tokens"] / 1000, rel=0.001)
        spent = asked_of(world, model.url, "--apply", way=way)["spent"]
        assert spent["input_tokens"] == model.reported == pytest.approx(1.7 * spent["sent_tokens"], rel=0.01)
        if way == "parts":
            assert first["tokens"] == pytest.approx(spent["sent_tokens"], rel=0.1)
        for number in range(4):
            world.converse(readings(10 + number, 62))
        second = asked_of(world, model.url, way=way)["candidates"]
        before = model.reported
        spent = asked_of(world, model.url, "--apply", way=way)["spent"]
        near = 0.1 if way == "parts" else 0.15  # how long summaries are is no more than supposed
        assert second["tokens"] == pytest.approx(spent["sent_tokens"], rel=near)
        assert second["token_factor"] == pytest.approx(1.7, rel=0.02)
        assert second["price"] == pytest.approx((model.reported - before) / 1000, rel=near)


def test_what_was_reported_is_told_beside_the_price_and_can_be_deleted(world: World, tmp_path: Path) -> None:
    file = tmp_path / "usage.json"
    note_usage(file, "a", Usage(calls=9, estimated=1000, reported=1300))
    note_usage(file, "b", Usage(calls=MIN_CALLS - 1, estimated=10, reported=50))
    note_usage(file, "c", Usage(calls=9, estimated=1000, reported=1))
    assert [read_usage(file, name).factor for name in "abc"] == [1.3, 1.0, 1.0]
    file.write_bytes(b"{ torn")
    assert read_usage(file, "a") == Usage()
    report = HarvestReport(applied=False, calls=2, tokens=10_000, price=0.5, token_factor=1.3, factor_calls=9)
    told = harvest_text(report)
    assert "tokens: about 13K input as the provider counts them, 1.3 for each of these (9 calls so far)" in told


def test_a_model_that_reports_nothing_is_counted_all_the_same() -> None:
    counted = Counted(Answering())  # type: ignore[arg-type]
    for prompt in ("x" * 400, "x" * 400 + RETRY_SUFFIX):
        counted(prompt, {"required": ["facts"]})
    assert counted.sent == 100 and replace(counted.usage, timed=0, seconds=0.0) == Usage()
    assert counted.usage.timed == 2


# --- Seven questions a conversation, paid for one by one: an answer that came is not paid for again because another one
# did not.

NAMES = [row.name for row in CATEGORIES]
TALK = "User: which port?\n\nAssistant: The server listens on 8123.\n"


class Asked:
    """Answers each question, never twice with the same words, but says what `spoiled` holds for a category."""

    def __init__(self, **spoiled: str | Answer | KnowledgeError) -> None:
        self.spoiled = spoiled
        self.asked: list[str] = []
        self.numbers = count(1)

    def __call__(self, prompt: str, schema: Mapping[str, Any] | None = None) -> Answer:
        number = next(self.numbers)
        name = schema["required"][0] if schema else "summary"
        self.asked.append(name)
        said = self.spoiled.get(name)
        if said is None:
            row = {"path": f"/srv/{number}.py", "note": f"note {number}"} if name == "files" else f"{name} {number}"
            said = json.dumps({name: [row]}) if schema else f"summary {number}"
        if isinstance(said, KnowledgeError):
            raise said
        return Answer(said, "fake", 10, 5) if isinstance(said, str) else said


@pytest.fixture
def world(tmp_path: Path) -> World:
    found = World(tmp_path)
    texts = [(PROMPTS / name).read_text().strip() for name in (CATEGORY_PROMPT, SUMMARIZE_PROMPT)]
    distil = replace(found.options.distil, style="per_category", harvest_prompt=texts[0], summarize_prompt=texts[1])
    found.options = replace(found.options, distil=distil, kept=tmp_path / "answers", asked="openai fake")
    return found


def kept(world: World) -> list[Path]:
    return sorted((world.folder / "answers").glob("*")) if (world.folder / "answers").exists() else []


@pytest.mark.parametrize(
    "broken", ["no json at all", KnowledgeError("server-error", "it fell over"), KnowledgeError("token-cap", "cap")]
)
def test_only_what_was_not_answered_is_asked_again(world: World, broken: str | Result[Answer]) -> None:
    path = world.converse(TALK)
    first = Asked(questions=broken)
    world.run(first)  # type: ignore[arg-type]
    at = NAMES.index("questions")
    assert first.asked[: at + 1] == NAMES[: at + 1] and path.exists() and len(kept(world)) == 1
    second = Asked()
    report = world.run(second)  # type: ignore[arg-type]
    assert second.asked == NAMES[at:] and report.harvested == 1 and sum(report.items.values()) == 7
    assert report.input_tokens == 10 * len(second.asked)
    assert "facts 1 " in world.text("facts.md") and kept(world) == [] and not path.exists()


def test_the_words_of_another_model_or_another_prompt_are_not_taken(world: World) -> None:
    """Who changes the model because the old one failed wants the new one's words."""
    world.converse(TALK)
    world.run(Asked(files="no"))  # type: ignore[arg-type]
    other = Asked(files="no")
    world.run(other, asked="openai better")  # type: ignore[arg-type]
    assert other.asked == [*NAMES, "files"]
    again = Asked()
    words = world.options.distil.harvest_prompt.replace("conversation", "talk")
    world.run(again, distil=replace(world.options.distil, harvest_prompt=words))  # type: ignore[arg-type]
    assert again.asked == NAMES


def test_the_summaries_of_a_long_conversation_are_kept_too(world: World) -> None:
    turns = [f"User: part {number} {'word ' * 300}\n\nAssistant: noted {number}\n" for number in range(6)]
    world.converse("\n".join(turns))
    distil = replace(world.options.distil, summarize_bytes=4000, part_bytes=3000, long="summarise")
    first, second = Asked(decisions="no"), Asked()
    world.run(first, distil=distil)  # type: ignore[arg-type]
    assert first.asked.count("summary") > 2
    assert world.run(second, distil=distil).harvested == 1  # type: ignore[arg-type]
    assert second.asked == NAMES[1:]


def test_an_answer_with_a_secret_in_it_is_asked_for_again(world: World) -> None:
    """Else a key that a model repeats would lie in a folder where nobody looks for one."""
    key = "ghp_" + "A1b2C3d4E5f6G7h8I9j0" + "K1l2M3n4O5p6Q7r8"
    world.converse(TALK)
    world.run(Asked(facts=json.dumps({"facts": [f"The token is {key}"]}), files="no"))  # type: ignore[arg-type]
    assert len(kept(world)) == 1 and key not in kept(world)[0].read_text()
    again = Asked()
    world.run(again)  # type: ignore[arg-type]
    assert again.asked == ["facts", "files"]


def test_a_damaged_file_or_an_old_one_is_as_if_it_were_not_there(world: World) -> None:
    world.converse(TALK)
    world.run(Asked(files="no"))  # type: ignore[arg-type]
    [file] = kept(world)
    file.write_text("[1, 2")
    old = file.with_name("0" * 64 + ".json")
    old.write_text("{}")
    long_ago = time.time() - (KEPT_DAYS + 1) * 86_400
    os.utime(old, (long_ago, long_ago))
    again = Asked(files="no")
    world.run(again)  # type: ignore[arg-type]
    assert again.asked == [*NAMES, "files"] and kept(world) == [file]


@pytest.mark.parametrize("ends", [KeyboardInterrupt, OSError])
def test_a_run_that_is_ended_at_once_loses_no_answer(
    world: World, ends: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second Ctrl-C threw away what had been answered and paid for, and the next run paid for it again."""
    talks = [world.converse(f"{TALK}\n\nUser: and number {number}?\n") for number in range(4)]
    first, commit = Asked(), Committer.stage
    given_out = Semaphore(0)

    class Pool(ThreadPoolExecutor):
        def submit(self, *work: Any) -> Any:  # type: ignore[override]
            given_out.release()
            return super().submit(*work)

    def answer(prompt: str, schema: Mapping[str, Any] | None = None) -> Answer:
        if not first.asked:  # an early answer would be staged, and waited with, before the last talk is given out
            for _ in talks:
                given_out.acquire()
        return first(prompt, schema)

    def interrupted(committer: Committer, *step: Any) -> bool:
        assert wait_until(lambda: len(first.asked) == 4 * len(NAMES))  # all of them were answered meanwhile
        raise ends()

    monkeypatch.setattr(Committer, "stage", interrupted)
    monkeypatch.setattr("core.harvest.pipeline.ThreadPoolExecutor", Pool)
    if ends is KeyboardInterrupt:
        with pytest.raises(ends):
            world.run(answer, jobs=4)  # type: ignore[arg-type]
    else:
        with pytest.raises(KnowledgeError):
            world.try_run(answer, jobs=4)  # type: ignore[arg-type]
    assert len(kept(world)) == 4 and all(path.exists() for path in talks)
    monkeypatch.setattr(Committer, "stage", commit)
    second = Asked()
    report = world.run(second)  # type: ignore[arg-type]
    assert second.asked == [] and report.harvested == 4 and kept(world) == []


def test_an_answer_that_could_not_be_written_down_is_not_paid_for_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk kept the conversation and lost the answer."""
    world.converse(TALK)
    monkeypatch.setattr("core.harvest.committer.freeze", refuse)
    assert world.run(Asked()).failed == 1  # type: ignore[arg-type]
    monkeypatch.undo()
    again = Asked()
    assert world.run(again).harvested == 1 and again.asked == [] and kept(world) == []  # type: ignore[arg-type]


def refuse(*_: Any, **__: Any) -> None:
    raise OSError(28, "no space left on device")


def test_what_can_not_be_kept_costs_money_and_nothing_else(world: World) -> None:
    world.converse(TALK)
    (world.folder / "answers").write_text("a file where the folder should be")
    report = world.run(Asked(files="no"))  # type: ignore[arg-type]
    assert report.failed == 1 and [error.code for error in report.errors] == ["invalid-answer"]
    assert world.run(Asked()).harvested == 1  # type: ignore[arg-type]
