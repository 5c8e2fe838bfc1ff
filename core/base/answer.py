"""The one callable through which every room asks a language model; and what a call costs, from the shipped price table
or the user's own prices.
"""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from core.base.choices import PROGRAMS
from core.base.result import KnowledgeError

PRICES_FILE = Path(__file__).resolve().parents[2] / "assets" / "prices.toml"

FREE_PROVIDERS = ("offline", "ollama", "local")
"""They run on the user's own computer and send no bill."""


def price(
    provider: str, model: str, input_tokens: int, output_tokens: int, override: tuple[float, float] | None = None
) -> float | None:
    """US dollars for that many tokens, or None where the price is not known.

    `override` is US dollars for a million tokens in and out; a negative one means "look in the table". A model is found
    by the longest name in the table that its own begins with, whatever its case; a maker before it, as in
    `deepseek/deepseek-flash`, is left off. `openai` stands for every server of that protocol, so the models of all
    makers are looked through. `offline`, `ollama` and `local` cost 0; what a
    program costs is not known.
    """
    own_in, own_out = override or (-1.0, -1.0)
    if own_in >= 0 and own_out >= 0:
        return _dollars(own_in, own_out, input_tokens, output_tokens)
    if provider in FREE_PROVIDERS:
        return 0.0
    if provider in PROGRAMS:
        return None
    name = model.lower().rpartition("/")[2].removeprefix("models/")
    rows = _table()
    makers = tuple(rows) if provider == "openai" else (provider,)
    fitting = [(known, row) for maker in makers for known, row in rows.get(maker, {}).items() if _begins(name, known)]
    if not fitting:
        return None
    _known, row = max(fitting, key=lambda one: len(one[0]))
    if not row:
        return None
    million_in = own_in if own_in >= 0 else row["input"]
    million_out = own_out if own_out >= 0 else row["output"]
    return _dollars(million_in, million_out, input_tokens, output_tokens)


def _begins(name: str, known: str) -> bool:
    """Whether `name` is `known` or a variant of it: gpt-5.4-2026-03-05 is a gpt-5.4, gpt-5.41 is not."""
    return name.startswith(known) and name[len(known) : len(known) + 1] in ("", "-", ".", ":", "@", "[")


def _dollars(million_in: float, million_out: float, input_tokens: int, output_tokens: int) -> float | None:
    total = (max(input_tokens, 0) * million_in + max(output_tokens, 0) * million_out) / 1_000_000
    return total if math.isfinite(total) else None


@cache
def _table() -> dict[str, dict[str, dict[str, float]]]:
    """Maker -> model name -> {"input": dollars, "output": dollars}."""
    document: dict[str, Any] = tomllib.loads(PRICES_FILE.read_text("utf-8"))
    return {maker: dict(table.get("models", {})) for maker, table in document.items()}


@dataclass(frozen=True)
class Answer:
    """What a model answered, and what it cost.

    Token counts are the provider's own, or None where it does not report them. `truncated` is true when the
    provider says that it stopped at its output limit: such a text must not be trusted to be whole. `requests` is how
    often the question was sent until this came.
    """

    text: str
    model: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    truncated: bool = False
    requests: int = 1


def json_in(answer: Answer) -> dict[str, Any]:
    """The JSON object in an answer, whatever stands around it. Raises KnowledgeError where it was cut off or there is
    none."""
    begin, end = answer.text.find("{"), answer.text.rfind("}")
    try:
        found = json.loads(answer.text[begin : end + 1]) if 0 <= begin < end else None
    except (ValueError, RecursionError):
        found = None
    if answer.truncated or not isinstance(found, dict):
        raise KnowledgeError("bad-answer", f"the model's answer {'was cut off' if answer.truncated else 'is no JSON'}")
    return found


class Generate(Protocol):
    """Asks the configured model once. `schema` is a JSON schema for the answer, or None for free text.

    Raises KnowledgeError for anything that the network or the provider can do, and nothing else.
    Safe to call from several threads.
    """

    def __call__(self, prompt: str, schema: Mapping[str, Any] | None = None) -> Answer: ...
