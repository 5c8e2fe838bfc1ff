"""Each provider's documented exchange, over a real connection: what we send, what we read, what we tell the user."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from core.base.answer import Answer
from core.base.result import KnowledgeError, attempt
from core.llm.generate import connect
from core.llm.wire import ModelSettings, without_thinking
from tests.llm_server import KEY, Script, model_server, reply

SCHEMA = {
    "type": "object",
    "properties": {
        "facts": {"type": "array", "items": {"type": "string", "maxLength": 500}},
        "note": {"type": "string"},
    },
    "required": ["facts"],
}
HTTP = ("openai", "ollama", "anthropic", "gemini")


def success(provider: str, text: str, stop: str = "", used: tuple[int, int] | None = (11, 7)) -> dict[str, Any]:
    """The provider's answer as its documentation shows it."""
    asked, answered = used or (0, 0)
    bodies: dict[str, dict[str, Any]] = {
        "openai": {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "model": "model-by-server",
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": text, "refusal": None},
                    "finish_reason": stop or "stop",
                }
            ],
            "usage": {"prompt_tokens": asked, "completion_tokens": answered, "total_tokens": asked + answered},
        },
        "ollama": {
            "model": "model-by-server",
            "created_at": "2026-01-02T03:04:05Z",
            "message": {"role": "assistant", "content": text},
            "done": True,
            "done_reason": stop or "stop",
            "prompt_eval_count": asked,
            "eval_count": answered,
        },
        "anthropic": {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "model-by-server",
            "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": text}],
            "stop_reason": stop or "end_turn",
            "usage": {"input_tokens": asked - 1, "cache_read_input_tokens": 1, "output_tokens": answered},
        },
        "gemini": {
            "candidates": [
                {
                    "content": {"role": "model", "parts": [{"text": "hm", "thought": True}, {"text": text}]},
                    "finishReason": stop or "STOP",
                    "index": 0,
                }
            ],
            "usageMetadata": {
                "promptTokenCount": asked,
                "candidatesTokenCount": answered - 2,
                "thoughtsTokenCount": 2,
                "totalTokenCount": asked + answered,
            },
            "modelVersion": "model-by-server",
        },
    }
    body = bodies[provider]
    if used is None:
        for name in ("usage", "usageMetadata", "prompt_eval_count", "eval_count"):
            body.pop(name, None)
    return body


def asking(provider: str, url: str, **settings: Any) -> Callable[..., Any]:
    """A connected `generate` with the fake key and no real pauses."""
    settings = {"model": "some-model", "timeout_seconds": 60.0, **settings}
    return connect(
        ModelSettings(provider, base_url=url, **settings),
        credentials=lambda name, variables: KEY,
        sleep=lambda seconds: None,
    )


def ask(provider: str, *scripts: Script, schema: Any = None, **settings: Any) -> Any:
    """One question to a server that plays `scripts`."""
    with model_server(*scripts) as server:
        return asking(provider, server.url, **settings)("prompt", schema)


@pytest.mark.parametrize("provider", HTTP)
def test_the_documented_answer_is_read_with_its_cost(provider: str) -> None:
    """Else the user would have a configured provider that learns nothing, or a ledger without costs."""
    with model_server(reply(success(provider, "first")), reply(success(provider, "second", used=(21, 9)))) as server:
        generate = asking(provider, server.url)
        assert generate("prompt") == Answer("first", "model-by-server", 11, 7, False)
        assert generate("prompt") == Answer("second", "model-by-server", 21, 9, False)
    assert [request.method for request in server.requests] == ["POST", "POST"]


def test_what_a_server_calls_its_model_is_a_short_clean_name() -> None:
    """It goes into the ledger: a hostile or echoing server wrote 300 KB there, with the key and terminal codes."""
    long = success("openai", "text") | {"model": f"m\x1b[31m\u202e Bearer {KEY} " + "x" * 300_000}
    told = ask("openai", reply(long)).model
    assert told.startswith("m") and len(told) <= 100 and told.isprintable() and KEY not in told and "\u202e" not in told
    token = "gh" + "p_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    told = ask("openai", reply(success("openai", "text") | {"model": f"m {token}"})).model
    assert told == "m [redacted: github-token]"


@pytest.mark.parametrize("provider", HTTP)
def test_counts_that_no_model_reaches_are_not_believed(provider: str) -> None:
    """One such answer would use up the cap of a run, and stand in the ledger for good."""
    found = ask(provider, reply(success(provider, "text", used=(10**30, 10**30))))
    assert (found.input_tokens, found.output_tokens) in ((None, None), (1, None), (1, 2), (None, 2))
    assert ask(provider, reply(success(provider, "text", used=(5_000_000, 7)))).input_tokens is None


@pytest.mark.parametrize("provider", HTTP)
def test_an_answer_without_usage_has_unknown_costs(provider: str) -> None:
    """Else a missing count would be booked as zero tokens, or lose the answer."""
    result = ask(provider, reply(success(provider, "text", used=None)))
    assert result == Answer("text", "model-by-server", None, None)


@pytest.mark.parametrize(
    ("provider", "stop"),
    [
        ("openai", "length"),
        ("ollama", "length"),
        ("anthropic", "max_tokens"),
        ("anthropic", "model_context_window_exceeded"),
        ("gemini", "MAX_TOKENS"),
        ("openai", "max_tokens"),
        ("openai", "MAX_TOKENS"),
        ("openai", "model_length"),
        ("openai", "insufficient_system_resource"),
        ("openai", "error"),
        ("ollama", "unload"),
        ("anthropic", "pause_turn"),
    ],
)
def test_a_cut_answer_says_so(provider: str, stop: str) -> None:
    """Else half a harvest would pass for a whole one, and its conversation would be reclaimed."""
    result = ask(provider, reply(success(provider, '{"facts": ["a', stop)))
    assert result.truncated


def test_openai_request() -> None:
    """The wire format of Chat Completions: key in its header, strict schema, bounded output."""
    with model_server(reply(success("openai", "{}"))) as server:
        asking("openai", f"{server.url}/v1/", max_output_tokens=99)("What?", SCHEMA)
    (request,) = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body["messages"] == [{"role": "user", "content": "What?"}]
    assert (request.body["model"], request.body["max_tokens"], request.body["stream"]) == ("some-model", 99, False)
    schema = request.body["response_format"]["json_schema"]
    assert schema["strict"] is True
    assert schema["schema"]["additionalProperties"] is False
    assert schema["schema"]["required"] == ["facts", "note"]


def test_ollama_request() -> None:
    """The schema goes into `format`, and the context is large enough that Ollama does not cut the prompt silently."""
    with model_server(reply(success("ollama", "{}"))) as server:
        asking("ollama", server.url, max_output_tokens=50)("word " * 10_000, SCHEMA)
    (request,) = server.requests
    assert request.path == "/api/chat"
    assert request.body["format"] == SCHEMA
    assert request.body["stream"] is False
    assert request.body["options"] == {"num_ctx": 32_768, "num_predict": 50}


def test_anthropic_request() -> None:
    """The Messages API wants its version, its own key header and a limit."""
    with model_server(reply(success("anthropic", "{}"))) as server:
        asking("anthropic", f"{server.url}/v1")("What?", SCHEMA)
    (request,) = server.requests
    assert request.path == "/v1/messages"
    assert request.headers["x-api-key"] == KEY
    assert request.headers["anthropic-version"] == "2023-06-01"
    assert "authorization" not in request.headers
    assert request.body["max_tokens"] > 0
    sent = request.body["output_config"]["format"]
    assert sent["type"] == "json_schema"
    assert "maxLength" not in str(sent["schema"])


def test_gemini_request() -> None:
    """The key goes into a header: an address ends up in logs."""
    with model_server(reply(success("gemini", "{}"))) as server:
        asking("gemini", f"{server.url}/v1beta/", model="models/some-model", max_output_tokens=9)("What?", SCHEMA)
    (request,) = server.requests
    assert request.path == "/v1beta/models/some-model:generateContent"
    assert request.headers["x-goog-api-key"] == KEY
    assert request.body["contents"] == [{"role": "user", "parts": [{"text": "What?"}]}]
    settings = request.body["generationConfig"]
    assert settings["responseMimeType"] == "application/json"
    assert settings["responseJsonSchema"]["required"] == ["facts"]
    assert settings["maxOutputTokens"] == 9


REFUSALS = {
    "openai": [
        {"error": {"message": "This response_format type is unavailable now", "type": "invalid_request_error"}},
        {"error": "'response_format.type' must be 'json_schema' or 'text'"},
    ],
    "ollama": [
        {"error": "json: cannot unmarshal object into Go struct field ChatRequest.format of type string"},
        {"error": "invalid format"},
    ],
    "anthropic": [{"type": "error", "error": {"message": "output_config: Extra inputs are not permitted"}}],
    "gemini": [
        {"error": {"code": 400, "message": 'Unknown name "responseJsonSchema"', "status": "INVALID_ARGUMENT"}},
        {"error": {"code": 400, "message": "JSON mode is not enabled for this model", "status": "INVALID_ARGUMENT"}},
    ],
}


@pytest.mark.parametrize("provider", HTTP)
def test_a_server_without_structured_output_is_asked_in_words_and_remembered(provider: str) -> None:
    """Else a local or older model could not be used, or every conversation would pay for the refused tries again."""
    refusals = [reply(body, 422 if number else 400) for number, body in enumerate(REFUSALS[provider])]
    answers = [reply(success(provider, '{"facts": ["one"]}')), reply(success(provider, '{"facts": ["two"]}'))]
    with model_server(*refusals, *answers) as server:
        generate = asking(provider, server.url)
        first, second = generate("What?", SCHEMA), generate("What?", SCHEMA)
    assert (first.text, second.text) == ('{"facts": ["one"]}', '{"facts": ["two"]}')
    assert len(server.requests) == len(refusals) + 2
    asked_in_words = str(server.requests[-1].body)
    assert "JSON schema" in asked_in_words
    assert not any(field in server.requests[-1].body for field in ("response_format", "output_config", "format"))
    assert "generationConfig" not in server.requests[-1].body


def test_openai_json_mode_comes_between() -> None:
    """DeepSeek has a JSON mode but no schemas; the word JSON must then be in the prompt."""
    with model_server(reply(REFUSALS["openai"][0], 400), reply(success("openai", "{}"))) as server:
        asking("openai", server.url)("What?", SCHEMA)
    assert server.requests[1].body["response_format"] == {"type": "json_object"}
    assert "JSON" in server.requests[1].body["messages"][0]["content"]


def test_openai_output_limit_goes_by_either_name() -> None:
    """Newer models accept only `max_completion_tokens`, older servers only `max_tokens`."""
    refusal = {"error": {"message": "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."}}
    with model_server(reply(refusal, 400), reply(success("openai", "a")), reply(success("openai", "b"))) as server:
        generate = asking("openai", server.url, max_output_tokens=77)
        assert generate("What?").text == "a"
        assert generate("What?").text == "b"
    assert [request.body.get("max_completion_tokens") for request in server.requests] == [None, 77, 77]


_LIMITED = [
    ("anthropic", "max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens for claude-3", 4096),
    ("openai", "max_tokens is too large: 8192. This model supports at most 4096 completion tokens, whereas you", 4096),
    ("openai", "`max_tokens` must be less than or equal to `2,048`, the maximum value for `max_tokens`", 2048),
    ("openai", "Invalid max_tokens value, the valid range of max_tokens is [1, 4096]", 4096),
    (
        "gemini",
        "maxOutputTokens value of 8192 but the supported range is from 1 (inclusive) to 8192 (exclusive).",
        8191,
    ),
]


@pytest.mark.parametrize(("provider", "said", "most"), _LIMITED)
def test_a_model_that_writes_less_is_asked_for_less_and_remembered(provider: str, said: str, most: int) -> None:
    """Every conversation failed until the user had found max_output_tokens."""
    answers = [reply(success(provider, "a")), reply(success(provider, "b"))]
    with model_server(reply({"error": {"message": said}}, 400), *answers) as server:
        generate = asking(provider, server.url, max_output_tokens=8192)
        assert (generate("What?").text, generate("What?").text) == ("a", "b")
    sent = [request.body for request in server.requests]
    found = [body.get("max_tokens") or body.get("generationConfig", {}).get("maxOutputTokens") for body in sent]
    assert found == [8192, most, most]


def test_a_limit_that_does_not_help_is_not_tried_for_ever() -> None:
    said = "'max_tokens' is too large: 8192. The context has 4096 tokens (8192 > 4096 - 1000)"
    refusals = [reply({"error": {"message": said}}, 400)] * 2
    with model_server(*refusals, reply(success("openai", "a"))) as server:
        assert asking("openai", server.url, max_output_tokens=8192)("What?").text == "a"
    with model_server(*[reply({"error": {"message": "max_tokens: 9 > 8"}}, 400)] * 2) as server:
        result = attempt(asking("anthropic", server.url), "What?")
    assert isinstance(result, KnowledgeError) and len(server.requests) == 2


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ('First I draft {"facts": ["x"]} and look.\n</think>\n\n{"facts": []}', '{"facts": []}'),
        ("so\n</think>more\n</think>\n{}", "{}"),
        ("it was thought about</think>\nThe summary.", "The summary."),
        ('{"facts": ["the tag </think> ends it"]}', '{"facts": ["the tag </think> ends it"]}'),
        ("The model prints </think> in the middle of a line.", "The model prints </think> in the middle of a line."),
        ("all of it thought\n</think>", "all of it thought\n</think>"),
    ],
)
def test_what_was_thought_aloud_without_an_opening_tag_is_no_answer(said: str, kept: str) -> None:
    """The template of some models opens the block: draft and answer were two objects, and neither was taken."""
    with model_server(reply(success("openai", said)), reply(success("ollama", said))) as server:
        assert asking("openai", server.url)("What?").text == kept
        assert asking("ollama", server.url)("What?").text == kept
    assert without_thinking(said) == kept


def test_a_bad_request_about_something_else_is_not_repeated() -> None:
    """Else one wrong setting would be asked three times over, and the user would read the last, unrelated complaint."""
    refusal = reply({"error": {"message": "maximum context length is 4096"}}, 400)
    with model_server(refusal) as server:
        result = attempt(asking("openai", server.url), "What?", SCHEMA)
    assert isinstance(result, KnowledgeError) and result.error.code == "refused"
    assert "maximum context length is 4096" in result.error.message
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("provider", "body", "code", "said"),
    [
        ("openai", {"choices": []}, "bad-answer", "without any choice"),
        ("openai", {"choices": [{"message": {"content": None, "refusal": "I cannot."}}]}, "model-refused", "I cannot."),
        ("openai", {"choices": [{"finish_reason": "content_filter"}]}, "model-refused", "content filter"),
        ("openai", {"choices": [None]}, "empty-answer", "empty"),
        ("openai", {"choices": "no"}, "bad-answer", "without any choice"),
        ("openai", {"error": {"code": 502, "message": "Upstream is down"}}, "server-error", "Upstream is down"),
        ("ollama", {"done": True}, "bad-answer", "without a message"),
        ("ollama", {"message": {"content": " "}}, "empty-answer", "empty"),
        ("anthropic", {"content": [], "stop_reason": "refusal"}, "model-refused", "refused"),
        ("anthropic", {}, "bad-answer", "without any content"),
        ("anthropic", {"content": [], "stop_reason": "end_turn"}, "empty-answer", "empty"),
        ("gemini", {"promptFeedback": {"blockReason": "SAFETY"}}, "model-refused", "SAFETY"),
        ("gemini", {"candidates": [{"finishReason": "RECITATION"}]}, "model-refused", "RECITATION"),
        ("gemini", {"candidates": []}, "bad-answer", "without any candidate"),
    ],
)
def test_an_answer_without_content_is_told(provider: str, body: Any, code: str, said: str) -> None:
    """Else an empty answer would pass for "nothing durable was found", and the conversation would be reclaimed."""
    result = attempt(ask, provider, reply(body))
    assert isinstance(result, KnowledgeError)
    assert (result.error.code, said in result.error.message) == (code, True)


def test_content_in_parts_and_thinking_before_the_answer() -> None:
    """Some compatible servers answer in parts, some local models think aloud first; both are whole answers."""
    parts = success("openai", "")
    parts["choices"][0]["message"]["content"] = [{"type": "text", "text": '{"a"'}, {"type": "text", "text": ": 1}"}]
    with model_server(reply(parts), reply(success("openai", "<think>so…</think>\n{}"))) as server:
        generate = asking("openai", server.url)
        assert generate("What?").text == '{"a": 1}'
        assert generate("What?").text == "{}"


def test_lone_surrogates_reach_neither_the_server_nor_the_files() -> None:
    """Else one half of a broken emoji would fail the harvest when its text is written."""
    body = b'{"message": {"content": "a\\ud83db"}}'
    with model_server(reply(body)) as server:
        result = asking("ollama", server.url)("c\ud83dd")
    assert result.text == "a?b"
    assert server.requests[0].body["messages"][0]["content"] == "c?d"


@pytest.mark.parametrize(
    ("base", "path"),
    [
        ("", "/v1/chat/completions"),
        ("/", "/v1/chat/completions"),
        ("/v1", "/v1/chat/completions"),
        ("/api/v1/", "/api/v1/chat/completions"),
        ("/v1beta/openai/", "/v1beta/openai/chat/completions"),
        ("/gateway", "/gateway/v1/chat/completions"),
        ("/odd/chat/completions", "/odd/chat/completions"),
    ],
)
def test_openai_base_url_in_every_usual_spelling(base: str, path: str) -> None:
    """Vendors print their base_url with and without /v1; the user pastes what the vendor prints."""
    with model_server(reply(success("openai", "ok"))) as server:
        asking("openai", server.url + base)("What?")
    assert server.requests[0].path == path
