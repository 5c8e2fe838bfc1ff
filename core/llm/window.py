"""How many tokens a model's window has, as its server tells. Only the model's name is sent.

Followed: ollama docs/api.md "Show Model Information" (`model_info`, `<family>.context_length`); the lists of models of
vLLM (`max_model_len`), OpenRouter and others (`context_length`), llama.cpp (`meta.n_ctx`, `n_ctx_train`); Gemini
`models.get` (`inputTokenLimit`); Anthropic "Get a model" (`max_input_tokens`). OpenAI's own list does not tell, nor
does a program: then the model's name does.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from core.base.exchange import Call, Reply, exchange
from core.base.result import KnowledgeError, attempt
from core.llm import ollama, openai_compatible
from core.llm.credentials import KeyFinder
from core.llm.generate import LOCAL, PROVIDERS, Wire
from core.llm.local import WINDOW
from core.llm.wire import ModelSettings, Question, child, count_of, decode_object, rows

SECONDS = 5.0
MAX_ANSWER_BYTES = 4 << 20
LEAST, MAX_WINDOW = 512, 100_000_000
"""Windows outside of these are no windows."""
_NAMES = (
    "inputTokenLimit", "n_ctx", "max_model_len", "context_length", "max_context_length", "context_window",
    "max_input_tokens", "n_ctx_train",
)  # fmt: skip


_NAMED = {
    "gpt-3.5": 16_000, "gpt-4": 8_192, "gpt-4-turbo": 128_000, "gpt-4o": 128_000, "gpt-4.1": 1_000_000,
    "gpt-4.5": 128_000, "gpt-5": 270_000, "gpt-6": 270_000, "chatgpt-4o": 128_000, "o1": 128_000, "o3": 200_000,
    "o4": 200_000, "codex": 128_000, "claude": 200_000, "gemini": 1_000_000, "deepseek": 128_000, "mistral": 32_000,
    "qwen3": 32_000, "llama3.1": 128_000, "llama3.2": 128_000, "llama3.3": 128_000, "llama-3.1": 128_000,
    "llama-3.3": 128_000, "gpt-oss": 128_000, "kimi-k2": 128_000, "glm-4": 128_000, "grok": 128_000,
}  # fmt: skip
"""The least window in tokens of the models whose name begins like this, as their makers publish it, rounded down."""


def window_named(words: Iterable[str]) -> int:
    """The window of the model that one of the words names, with or without its maker (`openai/gpt-5.2`), or of the
    program of that name; 0 for names that nobody knows."""
    for word in words:
        name = word.lower().rpartition("/")[2]
        if fitting := [known for known in _NAMED if name.startswith(known)]:
            return _NAMED[max(fitting, key=len)]
    return 0


def window_of(settings: ModelSettings, credentials: KeyFinder) -> int:
    """The window in tokens, as the server tells, else as the model's name does; 0 where neither does."""
    if settings.provider == "command":
        return window_named((settings.model, *settings.command))
    return _served(settings, credentials) or window_named((settings.model,))


def _served(settings: ModelSettings, credentials: KeyFinder) -> int:
    """What the server tells, 0 where it does not, or nobody answers within a few seconds."""
    spec, model = PROVIDERS.get(settings.provider), settings.model.strip()
    if settings.provider == LOCAL:
        return settings.context_tokens or WINDOW
    if spec is not None and spec.preset is not None:
        return spec.preset.window
    if spec is None or spec.wire is None or not model:
        return 0
    base = (settings.base_url.strip() or spec.base_url).rstrip("/")
    found = attempt(credentials, settings.provider, spec.key_variables)
    if isinstance(found, KnowledgeError) or (settings.provider == "openai" and base == openai_compatible.BASE_URL):
        return 0
    reply = exchange(_call(spec.wire, base, model, found.value), seconds=SECONDS, max_bytes=MAX_ANSWER_BYTES)
    if not isinstance(reply, Reply) or reply.status != 200:
        return 0
    answer = decode_object(reply.body)
    window = _window_in(settings.provider, answer, model) if answer is not None else 0
    if settings.provider == "ollama":
        window = min(window, ollama.CONTEXT_STEPS[-1])
    return window if LEAST <= window <= MAX_WINDOW else 0


_INSTEAD = {
    "ollama": ("/api/chat", "/api/show"),
    "gemini": (":generateContent", ""),
    "anthropic": ("/v1/messages", "/v1/models/{model}"),
    "openai": ("/chat/completions", "/models"),
}
"""How the address of a question ends, and what is asked about the model in its place."""


def _call(wire: Wire, base: str, model: str, key: str) -> Call:
    """What a question would be sent as, asked about the model instead."""
    asked = wire.build(base, Question("", model, key=key), wire.first_dialect(base))
    end, instead = _INSTEAD[asked.label]
    url = asked.url.removesuffix(end) + instead.format(model=model)
    return replace(asked, url=url, body={"model": model} if asked.label == "ollama" else None)


def _window_in(provider: str, answer: dict[str, Any], model: str) -> int:
    if provider == "ollama":
        info = child(answer, "model_info")
        return next((count_of(info, name) or 0 for name in info if name.endswith(".context_length")), 0)
    models = [row for row in rows(answer, "data") if isinstance(row, dict)] or [answer]
    row = next((row for row in models if row.get("id") == model), models[0] if len(models) == 1 else {})
    places = [row, child(row, "meta"), child(row, "top_provider")]
    return next((number for name in _NAMES for place in places if (number := count_of(place, name))), 0)
