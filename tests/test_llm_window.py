"""The window of a model: too small, a conversation costs dozens of calls; too large, a server cuts it silently."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from core.base.result import Ok
from core.llm.window import window_of
from core.llm.wire import ModelSettings


def asked(provider: str, reply: Any, status: int = 200, model: str = "m") -> tuple[int, list[str]]:
    """What the program takes for the window when a server answers like this, and what it asked for."""
    seen: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            seen.append(f"{self.command} {self.path}")
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            data = json.dumps(reply).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = _answer

        def log_message(self, format: str, *args: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        settings = ModelSettings(provider, model, f"http://127.0.0.1:{server.server_address[1]}")
        return window_of(settings, lambda name, variables: Ok("")), seen
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(
    ("provider", "reply", "window", "path"),
    [
        ("ollama", {"model_info": {"llama.context_length": 40_960}}, 40_960, "POST /api/show"),
        (
            "openai",
            {"data": [{"id": "n"}, {"id": "m", "max_model_len": 16_384}]},
            16_384,
            "/models",
        ),
        ("openai", {"data": [{"id": "file.gguf", "meta": {"n_ctx_train": 32_768}}]}, 32_768, "/models"),
        ("gemini", {"inputTokenLimit": 1_048_576}, 1_048_576, "GET /v1beta/models/m"),
        ("anthropic", {"id": "m", "max_input_tokens": 200_000}, 200_000, "GET /v1/models/m"),
        ("openai", {"data": [{"id": "m"}]}, 0, "/models"),
        ("openai", {"data": [{"id": "m", "context_length": True}, 7]}, 0, "/models"),
        ("ollama", ["nonsense"], 0, "POST"),
    ],
)
def test_the_window_is_what_the_server_says(provider: str, reply: Any, window: int, path: str) -> None:
    found, seen = asked(provider, reply)
    assert found == window and path in seen[0]


def test_a_server_that_refuses_or_is_not_there_tells_nothing() -> None:
    assert asked("openai", {"data": [{"id": "m", "max_model_len": 16_384}]}, status=404)[0] == 0
    assert window_of(ModelSettings("ollama", "m", "http://127.0.0.1:9"), lambda name, variables: Ok("")) == 0
    assert window_of(ModelSettings("command", "m", command=("x",)), lambda name, variables: Ok("")) == 0
