"""Vectors from any server that speaks the OpenAI protocol: POST /v1/embeddings (OpenAI API reference, "Create
embeddings"). Through the same transport as chat: one deadline, retries, the key in no error."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from core.base.result import Err, Ok, Result, fail
from core.base.search_entry import Embed
from core.llm.credentials import KeyFinder
from core.llm.openai_compatible import BASE_URL, endpoint
from core.llm.transport import RetryPolicy, post, refusal
from core.llm.wire import Call, decode_object, rows


def connect_embeddings(
    model: str, base_url: str, *, credentials: KeyFinder, seconds: float, max_bytes: int
) -> Result[Embed]:
    """The callable that asks the server; nothing is sent yet. `seconds` bounds one call, `max_bytes` its answer."""
    if not model.strip():
        return fail(
            "no-model", "the embedder openai needs the name of a model", hint="set embedder_model in config.toml"
        )
    base = base_url.strip() or BASE_URL
    found = credentials("openai", ("OPENAI_API_KEY",))
    if isinstance(found, Err):
        return Err(found.error)
    key = found.value
    if not key and base.rstrip("/") == BASE_URL:
        hint = "set OPENAI_API_KEY, or write openai into [keys] of credentials.toml"
        return fail("no-credentials", "there is no key for openai", hint=hint)
    url = endpoint(base).removesuffix("/chat/completions") + "/embeddings"
    headers = {"Authorization": f"Bearer {key}"} if key else {}

    def embed(texts: Sequence[str]) -> Result[Sequence[Sequence[float]]]:
        body: dict[str, Any] = {"model": model, "input": [text or " " for text in texts], "encoding_format": "float"}
        call = Call("the embedder", url, headers, body, key)
        answer = post(call, RetryPolicy(time.monotonic() + seconds, 2, max_bytes))
        if isinstance(answer, Err):
            return answer
        if not 200 <= answer.value.status <= 299:
            return refusal(call, answer.value)
        decoded = decode_object(answer.value.body)
        data = [row for row in rows(decoded, "data") if isinstance(row, dict)]
        data.sort(key=lambda row: row["index"] if isinstance(row.get("index"), int) else 0)
        vectors = [rows(row, "embedding") for row in data]
        if len(vectors) != len(texts) or not all(vectors):
            return fail(
                "bad-answer", "the embedder answered without a vector for each text", hint="check embedder_model"
            )
        return Ok(vectors)

    connected: Embed = embed
    return Ok(connected)
