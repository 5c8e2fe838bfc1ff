"""Long conversations in parts, and models that fail."""

from __future__ import annotations

import json
import random
import re
import socket
import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.base.answer import Answer
from core.base.result import KnowledgeError, Ok, attempt, refuse
from core.conversations.conversation import Conversation, Turn
from core.conversations.events import Command
from core.conversations.render import transcript
from core.harvest.asking import LEAST_PART_BYTES, MAX_ROUNDS, split_parts, summarize
from core.harvest.distil import distil, redacted_conversation
from core.harvest.meter import DOUBTFUL, HOPELESS, Meter
from core.harvest.steps import DistilSettings
from tests.cli_call import call
from tests.harvest_world import FakeModel, World, ordinary, sha256
from tests.llm_server import model_server, reply
from tests.waiting import PATIENCE_SECONDS

# --- Long conversations: the model hears all of them, in parts that end between turns; nothing is cut off to fit.

SETTINGS = DistilSettings(
    2, 4096, "off", False, part_bytes=2048, harvest_prompt="HARVEST", summarize_prompt="SUMMARISE", long="summarise"
)


def conversation(*texts: str) -> Conversation:
    turns = tuple(Turn("user" if at % 2 == 0 else "assistant", text) for at, text in enumerate(texts))
    return Conversation("c", "plain", turns)


class Shortener:
    """A model that answers a part with a part of its words, and the harvest with an empty one; never twice the same."""

    def __init__(self, share: float = 0.1) -> None:
        self.prompts: list[str] = []
        self.share = share

    def __call__(self, prompt: str, schema: Mapping[str, Any] | None = None) -> Answer:
        self.prompts.append(prompt)
        if schema is not None:
            return Answer("{}", "model", 10, 1)
        words = prompt.split()
        kept = random.Random(len(self.prompts)).sample(words, max(1, int(len(words) * self.share)))
        return Answer(f"summary {len(self.prompts)}: {' '.join(kept)}", "model", len(prompt) // 4, 5)


@given(
    st.lists(st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cf")), max_size=700), max_size=12),
    st.integers(1024, 4096),
)
def test_parts_hold_every_turn_and_stay_below_their_limit(texts: list[str], limit: int) -> None:
    """A word that no part has is a word that nobody will ever harvest."""
    whole = conversation(*texts)
    parts = split_parts(whole, limit)
    assert all(len(part.encode()) <= limit + 16 for part in parts)
    joined = "".join("".join(re.sub(r"\A\[\w+\] \(continued\)\n", "", part) for part in parts).split())
    for turn in whole.turns:
        assert "".join(turn.text.split()) in joined


def test_a_part_ends_between_turns() -> None:
    """Half an answer in one part and half in the next is understood by neither."""
    texts = [f"turn {at} " + "word " * 60 for at in range(20)]
    for part in split_parts(conversation(*texts), 1500):
        for at, text in enumerate(texts):
            assert (f"turn {at} " in part) == (text.strip() in part)


def test_a_part_does_not_end_between_a_call_and_its_result() -> None:
    """Why a command was run in one part and what came of it in the next: neither says that it failed."""
    turns = []
    for at in range(40):
        call = Command(
            tool="Bash", words=f"make {at}", answered=True, failed=True, output=f"no {at}", result=100 * at + 50
        )
        turns.append(
            Turn("assistant", f"call {at} " + "word " * (20 + 7 * at % 31), "", 100 * at, 100 * at + 9, (call,))
        )
        turns.append(Turn("tool", f"no {at} " + "line " * (9 + 5 * at % 13), "", 100 * at + 50, 100 * at + 90))
    whole = Conversation("c", "codex", tuple(turns))
    for limit in (1024, 1500, 2000):
        for part in split_parts(whole, limit):
            assert len(part.encode()) <= limit + 16
            for at in range(40):
                assert (f"call {at} " in part) == (f"no {at} " in part)
    apart = split_parts(replace(whole, turns=tuple(replace(turn, events=()) for turn in turns)), 1024)
    assert any(part.lstrip().startswith("[tool]") for part in apart), "the turns would never have been cut there anyway"


def test_a_call_and_a_result_that_are_longer_than_a_part_stand_in_two() -> None:
    call = Command(tool="Bash", words="make", answered=True, failed=True, output="no", result=50)
    asked = Turn("assistant", "call " * 150, "", 0, 9, (call,))
    parts = split_parts(Conversation("c", "codex", (asked, Turn("tool", "line " * 180, "", 50, 90))), 1024)
    assert len(parts) == 2 and all(len(part.encode()) <= 1040 for part in parts)


def test_a_turn_that_is_too_long_is_cut_between_lines() -> None:
    lines = [f"line {at} of the log" for at in range(400)]
    parts = split_parts(conversation("\n".join(lines)), 1024)
    assert len(parts) > 5
    assert all(any(line in part.split("\n") for part in parts) for line in lines)
    assert all(part.startswith("[user]") for part in parts), "a piece does not say who speaks"


def test_map_then_reduce_and_every_call_counts() -> None:
    """The summary is asked for part by part, again while it is too long, and the meter sees each call."""
    texts = ["word " * 300 for _ in range(30)]
    model = Shortener(share=0.4)
    meter = Meter(model)
    summary = attempt(summarize, conversation(*texts), SETTINGS, meter)
    assert isinstance(summary, Ok) and len(summary.value.encode()) <= SETTINGS.summarize_bytes
    firsts = [prompt for prompt in model.prompts if "Part 1 of " in prompt]
    assert len(firsts) >= 2, "one round was enough: the reduce step was not tried"
    assert meter.calls == len(model.prompts)
    assert meter.input_tokens == sum(len(prompt) // 4 for prompt in model.prompts)
    assert all("SUMMARISE" in prompt for prompt in model.prompts)


@pytest.mark.parametrize(("more", "calls"), [(0, 1), (1, 4)])
def test_the_border_is_strict(more: int, calls: int) -> None:
    """A conversation of exactly the threshold is read word for word."""
    model = Shortener()
    words = "word " * 300
    left = SETTINGS.summarize_bytes - len(transcript(conversation(words, words)))
    text = conversation(words, words + "x" * (left + more))
    assert len(transcript(text)) == SETTINGS.summarize_bytes + more
    distil(text, "c", SETTINGS, model)
    assert len(model.prompts) == calls
    assert ("word " * 300).strip() in model.prompts[-1] or calls > 1
    assert model.prompts[-1].startswith("HARVEST")


def test_a_model_that_does_not_shorten_ends_with_a_sentence() -> None:
    """Rather no harvest than one of a conversation that was cut: it stays, with its reason."""

    def parrot(prompt: str, schema: Mapping[str, Any] | None = None) -> Answer:
        calls.append(prompt)
        return Answer(f"{len(calls)} " + "word " * 2000, "model", 1, 1)

    calls: list[str] = []
    result = attempt(summarize, conversation("word " * 3000), SETTINGS, parrot)
    assert isinstance(result, KnowledgeError) and result.error.code == "summary-too-long"
    assert len({prompt for prompt in calls if "Part 1 of" in prompt}) == MAX_ROUNDS


def test_an_empty_summary_is_no_summary() -> None:
    def silent(prompt: str, schema: Mapping[str, Any] | None = None) -> Answer:
        return Answer(" \n", "model", 1, 1)

    result = attempt(summarize, conversation("word " * 3000), SETTINGS, silent)
    assert isinstance(result, KnowledgeError) and result.error.code == "empty-summary"


@pytest.mark.parametrize("cut_at", [1, 2, 3])
def test_a_summary_that_broke_off_is_no_summary(cut_at: int) -> None:
    """Half a summary was harvested as if it were whole, and the conversation went into the trash."""

    def breaking(prompt: str, schema: Mapping[str, Any] | None = None) -> Answer:
        prompts.append(prompt)
        cut = f"Part {cut_at} of" in prompt
        return Answer(f"{len(prompts)} the beginning of", "model", 1, 1, truncated=cut)

    prompts: list[str] = []
    texts = ["word " * 300 for _ in range(4)]
    result = attempt(distil, conversation(*texts), "c", SETTINGS, breaking)
    assert isinstance(result, KnowledgeError) and result.error.code == "truncated-answer"
    assert len(prompts) == cut_at - 1 + SETTINGS.attempts


def test_a_summary_that_is_empty_or_breaks_off_once_is_asked_for_again() -> None:
    def late(prompt: str, schema: Mapping[str, Any] | None = None) -> Answer:
        prompts.append(prompt)
        if len(prompts) == 1:
            return Answer("half of", truncated=True)
        if len(prompts) == 3:
            raise KnowledgeError("empty-answer", "it said nothing")
        return Answer("{}" if schema else f"summary {len(prompts)}")

    prompts: list[str] = []
    result = attempt(distil, conversation(*["word word word word \n" * 101 for _ in range(2)]), "c", SETTINGS, late)
    assert isinstance(result, Ok) and len(prompts) == 4 + 2 + 1


def test_a_tiny_part_size_is_not_taken_at_its_word() -> None:
    """A thousand calls for one conversation would cost more than it teaches."""
    model = Shortener()
    settings = DistilSettings(2, 4096, "off", False, part_bytes=1, summarize_prompt="S")
    whole = conversation(*("word " * 100 for _ in range(20)))
    summarize(whole, settings, model)
    assert len(model.prompts) <= len(transcript(whole)) // LEAST_PART_BYTES * 3


# --- part by part ----------------------------------------------------------------------------------------------------

WHOLE = DistilSettings(2, 4096, "check", False, harvest_prompt="HARVEST", context_tokens=2000, answer_tokens=500)


class Quoting:
    """A model that reads one part at a time and quotes it word for word; every answer is another one."""

    def __init__(self, *, cut_at: int = 0) -> None:
        self.prompts: list[str] = []
        self.cut_at = cut_at

    def __call__(self, prompt: str, schema: Mapping[str, Any] | None = None) -> Answer:
        self.prompts.append(prompt)
        number = len(self.prompts)
        shown = prompt.partition("<conversation>")[2]
        names = re.findall(r"The gauge (\w+) reads \d+ bar", shown)
        rows = [
            {"statement": f"Gauge {name} was read ({number})", "quote": f"The gauge {name} reads {len(name)} bar"}
            for name in names
        ]
        return Answer(json.dumps({"facts": rows}), "model", truncated=number == self.cut_at)


def gauges(number: int) -> Conversation:
    said = [f"The gauge g{'x' * at} reads {at + 1} bar. " + "so it goes on. " * 40 for at in range(number)]
    return replace(
        conversation(*said), format="codex", folder="/srv/plant", ended="2026-03-04T10:00:00Z", title="Gauges"
    )


def test_a_long_conversation_is_read_whole_and_its_quotes_stay_exact() -> None:
    """Three true facts, quoted exactly from what was shown, were quarantined: the model had seen a summary."""
    model = Quoting()
    done = attempt(distil, gauges(30), "c", WHOLE, model)
    assert isinstance(done, Ok) and len(model.prompts) > 3
    assert len(done.value.items) == 30 and not any(item.held for item in done.value.items)
    window = WHOLE.context_tokens - WHOLE.answer_tokens
    for prompt in model.prompts:
        assert len(prompt.encode()) <= window * 3
        shown = prompt.partition("<conversation>")[2]
        assert "Folder: /srv/plant" in shown and "Day: 2026-03-04" in shown, "a part does not say where it is from"


def test_a_later_part_is_told_what_the_earlier_ones_gave() -> None:
    """Otherwise every part finds the same again, in other words."""
    model = Quoting()
    distil(gauges(12), "c", WHOLE, model)
    first, second, *_ = model.prompts
    assert "<known>" not in first
    assert re.search(r"^k1 \(fact, earlier\): Gauge gx* was read \(1\)$", second, re.MULTILINE)


@pytest.mark.parametrize("cut_at", [1, 2])
def test_an_answer_about_a_part_that_broke_off_twice_keeps_the_conversation(cut_at: int) -> None:
    class Stubborn(Quoting):
        def __call__(self, prompt: str, schema: Mapping[str, Any] | None = None) -> Answer:
            self.cut_at = len(self.prompts) + 1 if len(self.prompts) + 1 >= cut_at else 0
            return super().__call__(prompt, schema)

    done = attempt(distil, gauges(12), "c", WHOLE, Stubborn())
    assert isinstance(done, KnowledgeError) and done.error.code == "truncated-answer"


def test_the_whole_conversation_fits_one_call_of_a_large_window() -> None:
    """The summaries were all "part 1 of 1": the whole text would have fitted the call."""
    model = Quoting()
    distil(gauges(30), "c", replace(WHOLE, context_tokens=200_000), model)
    assert len(model.prompts) == 1 and "Part 1" not in model.prompts[0]


def test_a_quote_of_a_summary_is_looked_for_in_the_summary() -> None:
    """A model that is shown a paraphrase can quote nothing else; 77 of 96 true items were held back for it."""

    def paraphrasing(prompt: str, schema: Mapping[str, Any] | None = None) -> Answer:
        prompts.append(prompt)
        if schema is None:
            return Answer(f"Part {len(prompts)}: every pressure that was looked at lies below forty")
        row = {"statement": "All pressures are low", "quote": "every pressure that was looked at lies below forty"}
        other = {"statement": "Made up", "quote": "nobody ever wrote down this sentence anywhere"}
        return Answer(json.dumps({"facts": [row, other]}))

    prompts: list[str] = []
    settings = replace(WHOLE, long="summarise", summarize_prompt="SUMMARISE", part_bytes=2048)
    done = distil(gauges(20), "c", settings, paraphrasing)
    assert [item.held for item in done.items] == ["", "quote-not-found"]


def test_a_title_does_not_tell_what_the_turns_no_longer_do() -> None:
    """The title is cut from the first request: without the words around it a password looks like any word."""
    secret = "Mead" + "ow89fy"
    said = f"| Service | User | Password |\n|---|---|---|\n| mail | dora | {secret} |"
    talk = replace(conversation(said), title=f"mail dora {secret}")
    clean, counts = redacted_conversation(talk)
    assert counts and secret not in transcript(clean)


# --- A model that cannot answer anybody is asked once: a wrong key must not be sent for every conversation of a disk,
# and what was never asked must not stand in the ledger as failed.

TALKS = [f"User: question {number}\n\nAssistant: answer {number}\n" for number in range(5)]


def left(world: World) -> list[str]:
    return sorted(path.read_text() for path in world.paths.conversations.iterdir() if path.is_file())


@pytest.mark.parametrize("code", sorted(HOPELESS))
def test_after_a_failure_of_key_model_or_server_nobody_else_is_asked_about(world: World, code: str) -> None:
    for talk in TALKS:
        world.converse(talk)
    model = FakeModel(lambda number, prompt: refuse(KnowledgeError(code, f"refused for the {number}. time")))
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

    def refusing(number: int, prompt: str) -> Answer:
        others.wait(0.2) if number == 1 else others.set()  # time enough for three more calls
        raise KnowledgeError("rejected-key", f"no {number}")

    model = FakeModel(refusing)
    report = world.run(model, jobs=4)
    assert (model.calls, report.failed, report.not_tried) == (1, 1, 4)
    assert list(world.entries()) == [sha256(TALKS[0])]


def test_workers_wait_for_the_first_call_only(world: World) -> None:
    """Four calls at once are four times as fast; a run that asks one after the other takes the night."""
    for talk in TALKS:
        world.converse(talk)
    together = threading.Barrier(4, timeout=PATIENCE_SECONDS)

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
    once = world.run(
        FakeModel(
            lambda number, prompt: refuse(KnowledgeError(code, "no")) if number == 1 else ordinary(number, prompt)
        )
    )
    assert (once.failed, once.harvested, once.not_tried) == (1, 4, 0)
    for talk in TALKS:
        world.converse(f"{talk} again")
    model = FakeModel(lambda number, prompt: refuse(KnowledgeError(code, f"no {number}")))
    twice = world.run(model)
    assert (model.calls, twice.failed, twice.not_tried) == (2, 2, 4)


@pytest.mark.parametrize("code", ["rate-limited", "server-error", "timed-out", "invalid-answer", "too-long"])
def test_any_other_failure_is_of_its_own_conversation(world: World, code: str) -> None:
    for talk in TALKS:
        world.converse(talk)

    def every_other(number: int, prompt: str) -> dict[str, Any]:
        if number % 2:
            raise KnowledgeError(code, f"no {number}")
        return ordinary(number, prompt)

    report = world.run(FakeModel(every_other))
    assert (report.failed, report.harvested, report.not_tried) == (3, 2, 0)


def test_the_next_run_reads_what_was_not_tried(world: World) -> None:
    for talk in TALKS:
        world.converse(talk)
    world.run(FakeModel(lambda number, prompt: refuse(KnowledgeError("not-found", "no such model"))))
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
    from core.base.exchange import Call, Reply
    from core.llm.transport import refusal

    body = json.dumps({"error": {"message": "API key not valid. Please pass a valid API key."}}).encode()
    told = refusal(Call("gemini", "https://example.org/v1", {}, {}), Reply(400, {}, body)).error
    assert told.code == "rejected-key" and "credentials.toml" in told.hint


# --- Whose work an open task is: three of five open tasks were findings about somebody else's pull request.

VIEW = "title:\tPrint to stdout\nstate:\tOPEN\nauthor:\t{author}\nnumber:\t166\nadditions:\t142\n"
TASKS = [
    {"statement": "Give the print path a test", "quote": "The print path has no test at all, which is a gap."},
    {"statement": "Let both options stand together", "quote": "let both options stand together, nobody minds"},
    {"statement": "Rename the counter", "quote": "I renamed nothing yet: the counter still has its old name."},
    {"statement": "kim/print has the old counter still", "quote": "the counter still has its old name."},
]


def session(folder: Path, author: str, *, asked: str = "review PR #166", opens: bool = False) -> str:
    """A transcript of Claude Code in which a pull request is looked at, judged, and then changed."""
    calls = [("Bash", {"command": "gh pr view 166"}, VIEW.format(author=author))]
    calls += [("Bash", {"command": "gh pr create --fill"}, "https://github.com/a/b/pull/166")] if opens else []
    later = ("Edit", {"file_path": str(folder / "main.go"), "old_string": "a", "new_string": "b"}, "updated")
    rows: list[tuple[str, Any]] = [("user", asked)]

    def call(number: int, name: str, given: dict[str, Any], result: str) -> None:
        rows.append(("assistant", [{"type": "tool_use", "id": f"c{number}", "name": name, "input": given}]))
        rows.append(("user", [{"type": "tool_result", "tool_use_id": f"c{number}", "content": result}]))

    for number, (name, handed, result) in enumerate(calls):
        call(number, name, handed, result)
    rows.append(("assistant", [{"type": "text", "text": TASKS[0]["quote"]}]))
    rows.append(("user", TASKS[1]["quote"]))
    call(9, *later)
    rows.append(("assistant", [{"type": "text", "text": TASKS[2]["quote"]}]))
    return "".join(
        json.dumps({
            "type": who, "sessionId": "s", "uuid": str(at), "parentUuid": str(at - 1), "cwd": str(folder),
            "timestamp": f"2026-03-01T10:{at:02d}:00.000Z", "message": {"role": who, "content": content},
        }) + "\n"
        for at, (who, content) in enumerate(rows)
    )  # fmt: skip


def open_tasks(world: World, text: str) -> tuple[list[str], str]:
    world.converse(text)
    world.run(FakeModel(lambda number, prompt: {"tasks_open": TASKS, "facts": [f"Seen {number}"]}))
    tasks = world.text("tasks.md").partition("## Done")[0]
    held = world.text("quarantine.md") if (world.paths.knowledge / "quarantine.md").exists() else ""
    return [row["statement"] for row in TASKS if row["statement"] in tasks], held


def test_a_finding_about_somebody_elses_pull_request_is_no_open_task(world: World) -> None:
    folder = world.folder / "Users" / "mo" / "app"
    folder.parent.mkdir(parents=True)
    kept, held = open_tasks(world, session(folder, "kim"))
    assert kept == ["Let both options stand together", "Rename the counter", "kim/print has the old counter still"]
    assert "- [others-work] tasks_open: Give the print path a test" in held


@pytest.mark.parametrize(
    "own", [{"author": "mo"}, {"author": "kim", "opens": True}, {"author": "kim", "asked": "go on"}]
)
def test_what_is_to_do_in_the_persons_own_work_stays_open(own: dict[str, Any], world: World) -> None:
    """Their own pull request, one that was opened here, or work on a branch that was never said to be a review."""
    folder = world.folder / "home" / "mo" / "app"
    folder.parent.mkdir(parents=True)
    kept, _ = open_tasks(world, session(folder, **own))
    assert kept == [row["statement"] for row in TASKS]
