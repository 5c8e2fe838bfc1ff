"""Long conversations: the model hears all of them, in parts that end between turns; nothing is cut off to fit."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.base.answer import Answer
from core.base.result import Err, Ok, Result, fail
from core.conversations.conversation import Conversation, Turn
from core.conversations.events import Command
from core.conversations.render import transcript
from core.harvest.asking import LEAST_PART_BYTES, MAX_ROUNDS, split_parts, summarize
from core.harvest.distil import distil, redacted_conversation
from core.harvest.meter import Meter
from core.harvest.steps import DistilSettings

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

    def __call__(self, prompt: str, schema: Mapping[str, Any] | None = None) -> Result[Answer]:
        self.prompts.append(prompt)
        if schema is not None:
            return Ok(Answer("{}", "model", 10, 1))
        words = prompt.split()
        kept = random.Random(len(self.prompts)).sample(words, max(1, int(len(words) * self.share)))
        return Ok(Answer(f"summary {len(self.prompts)}: {' '.join(kept)}", "model", len(prompt) // 4, 5))


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
    summary = summarize(conversation(*texts), SETTINGS, meter)
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
    result = distil(text, "c", SETTINGS, model)
    assert isinstance(result, Ok)
    assert len(model.prompts) == calls
    assert ("word " * 300).strip() in model.prompts[-1] or calls > 1
    assert model.prompts[-1].startswith("HARVEST")


def test_a_model_that_does_not_shorten_ends_with_a_sentence() -> None:
    """Rather no harvest than one of a conversation that was cut: it stays, with its reason."""

    def parrot(prompt: str, schema: Mapping[str, Any] | None = None) -> Result[Answer]:
        calls.append(prompt)
        return Ok(Answer(f"{len(calls)} " + "word " * 2000, "model", 1, 1))

    calls: list[str] = []
    result = summarize(conversation("word " * 3000), SETTINGS, parrot)
    assert isinstance(result, Err) and result.error.code == "summary-too-long"
    assert len({prompt for prompt in calls if "Part 1 of" in prompt}) == MAX_ROUNDS


def test_an_empty_summary_is_no_summary() -> None:
    def silent(prompt: str, schema: Mapping[str, Any] | None = None) -> Result[Answer]:
        return Ok(Answer(" \n", "model", 1, 1))

    result = summarize(conversation("word " * 3000), SETTINGS, silent)
    assert isinstance(result, Err) and result.error.code == "empty-summary"


@pytest.mark.parametrize("cut_at", [1, 2, 3])
def test_a_summary_that_broke_off_is_no_summary(cut_at: int) -> None:
    """Half a summary was harvested as if it were whole, and the conversation went into the trash."""

    def breaking(prompt: str, schema: Mapping[str, Any] | None = None) -> Result[Answer]:
        prompts.append(prompt)
        cut = f"Part {cut_at} of" in prompt
        return Ok(Answer(f"{len(prompts)} the beginning of", "model", 1, 1, truncated=cut))

    prompts: list[str] = []
    texts = ["word " * 300 for _ in range(4)]
    result = distil(conversation(*texts), "c", SETTINGS, breaking)
    assert isinstance(result, Err) and result.error.code == "truncated-answer"
    assert len(prompts) == cut_at - 1 + SETTINGS.attempts


def test_a_summary_that_is_empty_or_breaks_off_once_is_asked_for_again() -> None:
    def late(prompt: str, schema: Mapping[str, Any] | None = None) -> Result[Answer]:
        prompts.append(prompt)
        if len(prompts) == 1:
            return Ok(Answer("half of", truncated=True))
        if len(prompts) == 3:
            return fail("empty-answer", "it said nothing")
        return Ok(Answer("{}" if schema else f"summary {len(prompts)}"))

    prompts: list[str] = []
    result = distil(conversation(*["word word word word \n" * 101 for _ in range(2)]), "c", SETTINGS, late)
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

    def __call__(self, prompt: str, schema: Mapping[str, Any] | None = None) -> Result[Answer]:
        self.prompts.append(prompt)
        number = len(self.prompts)
        shown = prompt.partition("<conversation>")[2]
        names = re.findall(r"The gauge (\w+) reads \d+ bar", shown)
        rows = [
            {"statement": f"Gauge {name} was read ({number})", "quote": f"The gauge {name} reads {len(name)} bar"}
            for name in names
        ]
        return Ok(Answer(json.dumps({"facts": rows}), "model", truncated=number == self.cut_at))


def gauges(number: int) -> Conversation:
    said = [f"The gauge g{'x' * at} reads {at + 1} bar. " + "so it goes on. " * 40 for at in range(number)]
    return replace(
        conversation(*said), format="codex", folder="/srv/plant", ended="2026-03-04T10:00:00Z", title="Gauges"
    )


def test_a_long_conversation_is_read_whole_and_its_quotes_stay_exact() -> None:
    """Three true facts, quoted exactly from what was shown, were quarantined: the model had seen a summary."""
    model = Quoting()
    done = distil(gauges(30), "c", WHOLE, model)
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
        def __call__(self, prompt: str, schema: Mapping[str, Any] | None = None) -> Result[Answer]:
            self.cut_at = len(self.prompts) + 1 if len(self.prompts) + 1 >= cut_at else 0
            return super().__call__(prompt, schema)

    done = distil(gauges(12), "c", WHOLE, Stubborn())
    assert isinstance(done, Err) and done.error.code == "truncated-answer"


def test_the_whole_conversation_fits_one_call_of_a_large_window() -> None:
    """The summaries were all "part 1 of 1": the whole text would have fitted the call."""
    model = Quoting()
    distil(gauges(30), "c", replace(WHOLE, context_tokens=200_000), model)
    assert len(model.prompts) == 1 and "Part 1" not in model.prompts[0]


def test_a_quote_of_a_summary_is_looked_for_in_the_summary() -> None:
    """A model that is shown a paraphrase can quote nothing else; 77 of 96 true items were held back for it."""

    def paraphrasing(prompt: str, schema: Mapping[str, Any] | None = None) -> Result[Answer]:
        prompts.append(prompt)
        if schema is None:
            return Ok(Answer(f"Part {len(prompts)}: every pressure that was looked at lies below forty"))
        row = {"statement": "All pressures are low", "quote": "every pressure that was looked at lies below forty"}
        other = {"statement": "Made up", "quote": "nobody ever wrote down this sentence anywhere"}
        return Ok(Answer(json.dumps({"facts": [row, other]})))

    prompts: list[str] = []
    settings = replace(WHOLE, long="summarise", summarize_prompt="SUMMARISE", part_bytes=2048)
    done = distil(gauges(20), "c", settings, paraphrasing)
    assert isinstance(done, Ok)
    assert [item.held for item in done.value.items] == ["", "quote-not-found"]


def test_a_title_does_not_tell_what_the_turns_no_longer_do() -> None:
    """The title is cut from the first request: without the words around it a password looks like any word."""
    secret = "Mead" + "ow89fy"
    said = f"| Service | User | Password |\n|---|---|---|\n| mail | dora | {secret} |"
    talk = replace(conversation(said), title=f"mail dora {secret}")
    clean, counts = redacted_conversation(talk)
    assert counts and secret not in transcript(clean)
