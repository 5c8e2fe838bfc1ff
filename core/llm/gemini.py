"""Google's Gemini API.

Followed: ai.google.dev, API reference of `models.generateContent` (v1beta) and "Structured output"
(`responseMimeType` with `responseJsonSchema`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from core.base.answer import Answer
from core.base.exchange import Call
from core.base.result import KnowledgeError
from core.llm.wire import LENGTHS, Dialect, Question, adapted, child, count_of, excerpt, rows, sum_of, text_of

BASE_URL = "https://generativelanguage.googleapis.com"
STRUCTURE_WORDS = ("responsejsonschema", "response_json_schema", "schema", "responsemimetype", "mime_type", "json mode")


def first_dialect(base_url: str) -> Dialect:
    """Models without schemas know JSON mode, and some not even that."""
    return Dialect()


def build(base_url: str, question: Question, dialect: Dialect) -> Call:
    """The request for `question`. The key goes into a header, never into the address."""
    settings: dict[str, Any] = {}
    prompt = question.prompt
    if question.max_output_tokens:
        settings["maxOutputTokens"] = dialect.bounded(question.max_output_tokens)
    if question.schema is not None:
        structure = dialect.structures[0]
        if structure != "none":
            settings["responseMimeType"] = "application/json"
        if structure == "schema":
            settings["responseJsonSchema"] = adapted(question.schema, LENGTHS)
        else:
            prompt = question.prompt_with_schema()
    body: dict[str, Any] = {"contents": [{"role": "user", "parts": [{"text": prompt}]}]}
    if settings:
        body["generationConfig"] = settings
    headers = {"x-goog-api-key": question.key} if question.key else {}
    base = base_url.rstrip("/").removesuffix("/v1beta")
    model = quote(question.model.removeprefix("models/"), safe="")
    return Call("gemini", f"{base}/v1beta/models/{model}:generateContent", headers, body, question.key)


def read(reply: Mapping[str, Any], question: Question) -> Answer:
    """The first candidate. A blocked prompt or answer is an error that names Google's reason."""
    blocked = text_of(child(reply, "promptFeedback"), "blockReason")
    if blocked:
        raise _refused(f"the prompt was blocked ({excerpt(blocked, question.key, 60)})")
    candidates = rows(reply, "candidates")
    if not candidates:
        raise KnowledgeError("bad-answer", "gemini answered without any candidate", hint="check model and base_url")
    reason = text_of(candidates[0], "finishReason")
    if reason not in ("", "STOP", "MAX_TOKENS", "FINISH_REASON_UNSPECIFIED"):
        # SAFETY, RECITATION, BLOCKLIST, PROHIBITED_CONTENT, SPII, OTHER and what comes later.
        raise _refused(f"the answer was stopped ({excerpt(reason, question.key, 60)})")
    parts = rows(child(candidates[0], "content"), "parts")
    usage = child(reply, "usageMetadata")
    return Answer(
        text="".join(text_of(p, "text") for p in parts if isinstance(p, Mapping) and p.get("thought") is not True),
        model=text_of(reply, "modelVersion") or question.model,
        input_tokens=count_of(usage, "promptTokenCount"),
        # Thinking is billed as output but counted on its own.
        output_tokens=sum_of(usage, "candidatesTokenCount", "thoughtsTokenCount"),
        truncated=reason == "MAX_TOKENS",
    )


def _refused(what: str) -> KnowledgeError:
    return KnowledgeError("model-refused", f"gemini: {what}", hint="try another model")
