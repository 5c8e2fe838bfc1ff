"""Chat Completions, the dialect that most servers speak, and the vectors of the same servers.

Followed: OpenAI API reference, "Create chat completion" (POST /v1/chat/completions), and "Structured model outputs"
for `response_format`. DeepSeek knows `json_object` alone, LM Studio and llama.cpp differ again, and older servers know
`max_tokens` where newer OpenAI models accept only `max_completion_tokens`: the dialect says what is left to try.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from typing import Any

from core.base.answer import Answer
from core.base.entry import Embed
from core.base.exchange import Call
from core.base.result import KnowledgeError
from core.llm.credentials import KeyFinder
from core.llm.transport import RetryPolicy, post, refusal
from core.llm.wire import Dialect, Question, adapted, count_of, decode_object, excerpt, rows, text_of, without_thinking

BASE_URL = "https://api.openai.com/v1"
STRUCTURE_WORDS = ("response_format", "json_schema", "json_object", "schema", "grammar", "structured output")
WHOLE = ("", "stop", "stop_sequence", "eos", "eos_token", "end_turn", "tool_calls", "function_call")
"""How a whole answer ends, at any of the servers that speak this; `length`, `max_tokens`, `model_length`, and what
nobody has heard of, is an answer that may be cut off."""
_VERSION = re.compile(r"/v\d+[a-z0-9]*(/|$)")


def first_dialect(base_url: str) -> Dialect:
    """OpenAI deprecates `max_tokens`; everyone else is more likely to know that name alone."""
    limits = ("max_tokens", "max_completion_tokens")
    return Dialect(limits=tuple(reversed(limits)) if base_url.rstrip("/") == BASE_URL else limits)


def endpoint(base_url: str) -> str:
    """The address of chat completions below `base_url`, which may end in /v1, a slash, both or neither.

    A path that already has a version (`/api/paas/v4`, `/v1beta/openai`) is left as it is.
    """
    base = base_url.rstrip("/")
    if base.endswith("/chat/completions"):
        return base
    path = base.split("://", 1)[-1].partition("/")[2]
    if not _VERSION.search(f"/{path}"):
        base += "/v1"
    return f"{base}/chat/completions"


def build(base_url: str, question: Question, dialect: Dialect) -> Call:
    """The request for `question`, in what the server still understands."""
    body: dict[str, Any] = {"model": question.model, "stream": False}
    prompt = question.prompt
    if question.schema is not None:
        structure = dialect.structures[0]
        if structure == "schema":
            schema = adapted(question.schema, strict=True)
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "answer", "strict": True, "schema": schema},
            }
        else:
            prompt = question.prompt_with_schema()
            if structure == "object":
                body["response_format"] = {"type": "json_object"}
    if question.max_output_tokens and dialect.limits:
        body[dialect.limits[0]] = dialect.bounded(question.max_output_tokens)
    body["messages"] = [{"role": "user", "content": prompt}]
    headers = {"Authorization": f"Bearer {question.key}"} if question.key else {}
    return Call("openai", endpoint(base_url), headers, body, question.key)


def read(reply: Mapping[str, Any], question: Question) -> Answer:
    """The first choice. A refusal or a content filter is an error, `finish_reason: length` a truncated answer."""
    choices = rows(reply, "choices")
    if not choices:
        hint = "check that base_url speaks this format"
        raise KnowledgeError("bad-answer", "openai answered without any choice", hint=hint)
    choice = choices[0]
    message = choice.get("message") if isinstance(choice, Mapping) else None
    refused = text_of(message, "refusal")
    if refused:
        said = excerpt(refused, question.key)
        raise KnowledgeError("model-refused", f"openai: the model refused to answer: {said}", hint="try another model")
    reason = text_of(choice, "finish_reason").lower()
    if reason == "content_filter":
        message = "openai: the provider's content filter stopped the answer"
        raise KnowledgeError("model-refused", message, hint="try another model")
    text = text_of(message, "content") or "".join(
        text_of(part, "text") for part in rows(message, "content") if text_of(part, "type") in ("text", "")
    )
    usage = reply.get("usage")
    return Answer(
        text=without_thinking(text),
        model=text_of(reply, "model") or question.model,
        input_tokens=count_of(usage, "prompt_tokens"),
        output_tokens=count_of(usage, "completion_tokens"),
        truncated=reason not in WHOLE,
    )


# --- vectors: POST /v1/embeddings (OpenAI API reference, "Create embeddings"), by the same transport as chat ----------


def connect_embeddings(model: str, base_url: str, *, credentials: KeyFinder, seconds: float, max_bytes: int) -> Embed:
    """The callable that asks the server; nothing is sent yet. `seconds` bounds one call, `max_bytes` its answer."""
    if not model.strip():
        hint = "set embedder_model in config.toml"
        raise KnowledgeError("no-model", "the embedder openai needs the name of a model", hint=hint)
    base = base_url.strip() or BASE_URL
    key = credentials("openai", ("OPENAI_API_KEY",))
    if not key and base.rstrip("/") == BASE_URL:
        hint = "set OPENAI_API_KEY, or write openai into [keys] of credentials.toml"
        raise KnowledgeError("no-credentials", "there is no key for openai", hint=hint)
    url = endpoint(base).removesuffix("/chat/completions") + "/embeddings"
    headers = {"Authorization": f"Bearer {key}"} if key else {}

    def embed(texts: Sequence[str]) -> Sequence[Sequence[float]]:
        body: dict[str, Any] = {"model": model, "input": [text or " " for text in texts], "encoding_format": "float"}
        call = Call("the embedder", url, headers, body, key)
        answer = post(call, RetryPolicy(time.monotonic() + seconds, 2, max_bytes))
        if not 200 <= answer.status <= 299:
            raise refusal(call, answer)
        decoded = decode_object(answer.body)
        data = [row for row in rows(decoded, "data") if isinstance(row, dict)]
        data.sort(key=lambda row: row["index"] if isinstance(row.get("index"), int) else 0)
        vectors = [rows(row, "embedding") for row in data]
        if len(vectors) != len(texts) or not all(vectors):
            message = "the embedder answered without a vector for each text"
            raise KnowledgeError("bad-answer", message, hint="check embedder_model")
        return vectors

    return embed
