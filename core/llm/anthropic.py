"""Anthropic's Messages API.

Followed: platform.claude.com, "Messages" (POST /v1/messages, version 2023-06-01) and "Structured outputs"
(`output_config.format`); models from before that feature answer 400, and are then asked in words.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.base.answer import Answer
from core.base.exchange import Call
from core.base.result import KnowledgeError
from core.llm.wire import SIZES, Dialect, Question, adapted, child, count_of, rows, sum_of, text_of

BASE_URL = "https://api.anthropic.com"
VERSION = "2023-06-01"
STRUCTURE_WORDS = ("output_config", "output_format", "schema", "structured output", "grammar")
DEFAULT_OUTPUT_TOKENS = 8_192  # the field is required; all models since 2024 accept this much


def first_dialect(base_url: str) -> Dialect:
    """There is no JSON mode between a schema and none."""
    return Dialect(structures=("schema", "none"))


def build(base_url: str, question: Question, dialect: Dialect) -> Call:
    """The request for `question`."""
    body: dict[str, Any] = {
        "model": question.model,
        "max_tokens": dialect.bounded(question.max_output_tokens or DEFAULT_OUTPUT_TOKENS),
    }
    prompt = question.prompt
    if question.schema is not None and dialect.structures[0] == "schema":
        body["output_config"] = {"format": {"type": "json_schema", "schema": adapted(question.schema, SIZES)}}
    else:
        prompt = question.prompt_with_schema()
    body["messages"] = [{"role": "user", "content": prompt}]
    headers = {"anthropic-version": VERSION}
    if question.key:
        headers["x-api-key"] = question.key
    return Call("anthropic", f"{base_url.rstrip('/').removesuffix('/v1')}/v1/messages", headers, body, question.key)


def read(reply: Mapping[str, Any], question: Question) -> Answer:
    """The text blocks, joined; thinking blocks are not part of the answer."""
    reason = text_of(reply, "stop_reason")
    if reason == "refusal":
        raise KnowledgeError("model-refused", "anthropic: the model refused to answer", hint="try another model")
    blocks = rows(reply, "content")
    if not blocks and not reason:
        message = "anthropic answered without any content"
        raise KnowledgeError("bad-answer", message, hint="check that base_url is right")
    usage = child(reply, "usage")
    return Answer(
        text="".join(text_of(block, "text") for block in blocks if text_of(block, "type") == "text"),
        model=text_of(reply, "model") or question.model,
        input_tokens=sum_of(usage, "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"),
        output_tokens=count_of(usage, "output_tokens"),
        truncated=reason not in ("", "end_turn", "stop_sequence"),  # max_tokens, model_context_window_exceeded, …
    )
