"""What a harvest would cost, counted by the code that will run it: every prompt, every question, every summary.

The conversations are read as the run will read them and given to a model that only counts. Of very many a sample is
read, and the rest is taken to be like it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

from core.base.answer import Answer, Generate
from core.base.result import KnowledgeError
from core.harvest.answer import SCHEMA
from core.harvest.asking import KeptAnswers
from core.harvest.distil import distil_step
from core.harvest.meter import ANSWER_TOKENS, BYTES_A_TOKEN, SUMMARY_SHARE, UNKNOWN, Usage
from core.harvest.steps import HarvestOptions, HarvestPlan, Step
from core.sources.sessions import StoreCache

ROWS, LEARNED = 10, "of what a conversation usually teaches is one sentence of about a hundred and ten letters, as here"
"""How many rows an answer of `ANSWER_TOKENS` has, and how long one is."""
SAMPLE_BYTES = 24 << 20


class Cost(NamedTuple):
    """What one conversation costs, or all of them."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def part(self, share: float) -> Cost:
        """A share of it, at least one call where there is any."""
        if not self.calls:
            return Cost()
        return Cost(max(1, round(self.calls * share)), *(round(number * share) for number in self[1:]))


class Estimate(NamedTuple):
    """About what a run costs. `fitting` is how many of its conversations fit under the cap, None without a cap."""

    total: Cost = Cost()
    fitting: int | None = None


class _Counting:
    """A model that answers nothing and counts what it is asked. Tokens are counted as `Meter` does it; summaries and
    answers are as long as this model's were."""

    def __init__(self, usage: Usage) -> None:
        self.usage = usage
        self.calls = self.input_tokens = self.output_tokens = 0

    def __call__(self, prompt: str, schema: Mapping[str, Any] | None = None) -> Answer:
        length = len(prompt.encode("utf-8", "replace"))
        self.calls += 1
        self.input_tokens += length // BYTES_A_TOKEN
        if schema is None:
            part = prompt.partition("<conversation>")[2]
            bytes_of_it = len(part.encode("utf-8", "replace"))
            summary = ("word " * (bytes_of_it // 5 + 1))[: max(1, round(bytes_of_it * SUMMARY_SHARE))]
            self.output_tokens += len(summary) // BYTES_A_TOKEN
            return Answer(summary)
        asked = len(schema.get("required", ())) or len(SCHEMA["required"])
        self.output_tokens += self.usage.tokens_an_answer * asked // len(SCHEMA["required"])
        # What a part gives is told with the next one: it must be counted there.
        many = round(ROWS * self.usage.tokens_an_answer / ANSWER_TOKENS)
        rows = [f"{self.calls}.{at} {LEARNED}" for at in range(max(1, many * asked // len(SCHEMA["required"])))]
        name = next((name for name in schema.get("required", ()) if name != "files"), "")
        return Answer(json.dumps({name: rows} if name else {}))


def estimate(
    plan: HarvestPlan, options: HarvestOptions, sample_bytes: int = SAMPLE_BYTES, usage: Usage = UNKNOWN
) -> Estimate:
    """What the steps of a plan would cost with a model, of which `usage` is known. Reads the conversations,
    `sample_bytes` of them at most; writes nothing. One that cannot be read costs nothing: the run says why."""
    steps = [step for step in plan.steps if step.action == "harvest"]
    known: dict[str, Cost] = {}
    read = 0
    bare = replace(
        options, distil=replace(options.distil, redact=False, judge=False)
    )  # a placeholder weighs what it replaces
    with StoreCache(options.copies) as opened:
        for step in sorted(steps, key=lambda one: one.sha256):  # the order of hashes is as good as chance
            if not known or read + step.new_bytes <= sample_bytes:
                known[step.artifact.path] = _cost(step, bare, opened, usage)
                read += step.new_bytes
    sample = _sum(known.values())
    costs = [known.get(step.artifact.path) or sample.part(step.new_bytes / max(1, read)) for step in steps]
    cap = options.max_run_tokens
    return Estimate(_sum(costs), _fitting(costs, cap, usage.factor) if cap else None)


def _cost(step: Step, options: HarvestOptions, opened: StoreCache, usage: Usage) -> Cost:
    counting = _Counting(usage)
    model: Generate = counting
    if options.kept is not None:
        model = KeptAnswers(counting, options.kept, step.sha256, options.asked, keep=False)  # what lies there is free
    with suppress(KnowledgeError):  # one that cannot be read costs what was counted until then
        distil_step(step, options, model, opened)
    return Cost(counting.calls, counting.input_tokens, counting.output_tokens)


def _sum(costs: Iterable[Cost]) -> Cost:
    return Cost(*map(sum, zip(*costs, strict=True)))


def _fitting(costs: list[Cost], cap: int, factor: float) -> int:
    """How many conversations a run gets through: one too many waits, a smaller one behind it may still fit."""
    spent, fitting = 0.0, 0
    for cost in costs:
        if spent + cost.input_tokens <= cap:  # before a call nobody knows more than its bytes
            spent, fitting = spent + cost.input_tokens * factor + cost.output_tokens, fitting + 1
    return fitting
