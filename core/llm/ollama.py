"""Ollama's own chat endpoint.

Followed: ollama docs/api.md, "Generate a chat completion" (POST /api/chat, `format` takes a JSON schema).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.base.answer import Answer
from core.base.exchange import Call
from core.base.result import KnowledgeError
from core.llm.wire import Dialect, Question, child, count_of, text_of, without_thinking

BASE_URL = "http://localhost:11434"
STRUCTURE_WORDS = ("format", "schema", "grammar")

# The context that we ask for, in tokens: few steps, because Ollama loads the model again when it changes.
CONTEXT_STEPS = (8_192, 16_384, 32_768, 65_536, 131_072)
ANSWER_RESERVE_TOKENS = 4_096


def first_dialect(base_url: str) -> Dialect:
    """Versions before 0.5 know `"json"` but no schema."""
    return Dialect()


def build(base_url: str, question: Question, dialect: Dialect) -> Call:
    """The request for `question`; the answer comes as one object, not as a stream."""
    structure = dialect.structures[0] if question.schema is not None else "none"
    prompt = question.prompt if structure == "schema" else question.prompt_with_schema()
    # Ollama's default is small, and it cuts a longer prompt without a word.
    needed = len(prompt.encode()) // 3 + (question.max_output_tokens or ANSWER_RESERVE_TOKENS)
    context = next((step for step in CONTEXT_STEPS if needed <= step), CONTEXT_STEPS[-1])
    options: dict[str, Any] = {"num_ctx": context}
    if question.max_output_tokens:
        options["num_predict"] = question.max_output_tokens
    body: dict[str, Any] = {
        "model": question.model,
        "messages": [{"role": "user", "content": prompt}],
        "stream": False,
        "options": options,
    }
    if structure == "schema" and question.schema is not None:
        body["format"] = dict(question.schema)
    elif structure == "object":
        body["format"] = "json"
    headers = {"Authorization": f"Bearer {question.key}"} if question.key else {}
    base = base_url.rstrip("/").removesuffix("/v1").removesuffix("/api")
    return Call("ollama", f"{base}/api/chat", headers, body, question.key)


def read(reply: Mapping[str, Any], question: Question) -> Answer:
    """`message.content`; a `done_reason` other than `stop` (`length`) means that it may be cut off."""
    if "message" not in reply:
        message = "ollama answered without a message"
        raise KnowledgeError("bad-answer", message, hint="check that base_url is an Ollama server")
    return Answer(
        text=without_thinking(text_of(child(reply, "message"), "content")),
        model=text_of(reply, "model") or question.model,
        input_tokens=count_of(reply, "prompt_eval_count"),
        output_tokens=count_of(reply, "eval_count"),
        truncated=text_of(reply, "done_reason") not in ("", "stop") or reply.get("done") is False,
    )
