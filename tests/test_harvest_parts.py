"""Long conversations: the model hears all of them, in parts that end between turns; nothing is cut off to fit."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.base.answer import Answer
from core.base.result import Err, Ok, Result, fail
from core.conversations.conversation import Conversation, Turn
from core.conversations.read import transcript
from core.harvest.distil import distil
from core.harvest.meter import Meter
from core.harvest.options import DistilSettings
from core.harvest.parts import LEAST_PART_BYTES, MAX_ROUNDS, split_parts, summarize

SETTINGS = DistilSettings(
    2, 4096, "off", False, part_bytes=2048, harvest_prompt="HARVEST", summarize_prompt="SUMMARISE"
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


@pytest.mark.parametrize(("size", "calls"), [(4096, 1), (4097, 3)])
def test_the_border_is_strict(size: int, calls: int) -> None:
    """A conversation of exactly the threshold is read word for word."""
    model = Shortener()
    text = conversation("word " * 400, "word " * 400)
    result = distil(text, "c", size, SETTINGS, model)
    assert isinstance(result, Ok)
    assert len(model.prompts) == calls
    assert ("word " * 400).strip() in model.prompts[-1] or calls > 1
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
    result = distil(conversation(*texts), "c", 9000, SETTINGS, breaking)
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
    result = distil(conversation(*["word " * 300 for _ in range(2)]), "c", 9000, SETTINGS, late)
    assert isinstance(result, Ok) and len(prompts) == 5


def test_a_tiny_part_size_is_not_taken_at_its_word() -> None:
    """A thousand calls for one conversation would cost more than it teaches."""
    model = Shortener()
    settings = DistilSettings(2, 4096, "off", False, part_bytes=1, summarize_prompt="S")
    whole = conversation(*("word " * 100 for _ in range(20)))
    summarize(whole, settings, model)
    assert len(model.prompts) <= len(transcript(whole)) // LEAST_PART_BYTES * 3
