"""An OpenAI-compatible server on loopback that reads the conversation it is sent and never answers the same twice.

It takes statements out of the conversation with their quotes, fails a share of the requests for good (400, which no
client repeats), answers some with 500 (which clients do repeat), and sends a share of broken JSON.
"""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class ChattyModel:
    """What the server did so far. Shares are between 0 and 1."""

    failing: float = 0.05
    busy: float = 0.02
    broken: float = 0.05
    tokens: float = 1.0
    """How many tokens it reports for four bytes of a prompt."""
    summary: int = 80
    """How many words a summary has."""
    reported: int = 0
    seed: int = 1
    calls: int = 0
    failed: int = 0
    garbled: int = 0
    url: str = ""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, prompt: str) -> tuple[int, str]:
        """HTTP status and the text of the answer to one prompt."""
        with self.lock:
            self.calls += 1
            number, chance = self.calls, random.Random(self.seed * 100_003 + self.calls)
            roll = chance.random()
            if roll < self.failing:
                self.failed += 1
                return 400, ""
            if roll < self.failing + self.busy:
                return 500, ""
            if roll < self.failing + self.busy + self.broken:
                self.garbled += 1
                return 200, '{"facts": [{"statement": "cut off here'
        body = prompt.split("<conversation>\n", 1)[-1].rsplit("\n</conversation>", 1)[0]
        if "Shorten one part" in prompt:
            return 200, f"Summary {number}: {' '.join(body.split()[: self.summary])}"
        lines = [line.strip() for line in body.split("\n") if 30 < len(line.strip()) < 200 and "[" not in line]
        quotes = chance.sample(lines, min(len(lines), chance.randrange(0, 6)))
        arrays: dict[str, list[dict[str, str]]] = {"facts": [], "decisions": [], "tasks_open": [], "questions": []}
        for at, quote in enumerate(quotes):
            name = chance.choice(list(arrays))
            arrays[name].append({"statement": f"Answer {number}.{at}: {quote}", "detail": "", "quote": quote})
        return 200, json.dumps(arrays)


@contextmanager
def chatty_model(**shares: Any) -> Iterator[ChattyModel]:
    """Serve on a free port of 127.0.0.1 until the block ends."""
    model = ChattyModel(**shares)

    class Answers(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, text = model.answer(sent["messages"][-1]["content"])
            if status == 200:
                prompt = sent["messages"][-1]["content"]
                usage = {
                    "prompt_tokens": round(len(prompt.encode()) // 4 * model.tokens),
                    "completion_tokens": len(text) // 4,
                }
                with model.lock:
                    model.reported += usage["prompt_tokens"]
                choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
                payload: dict[str, Any] = {"model": sent["model"], "choices": [choice], "usage": usage}
            else:
                payload = {"error": {"message": f"made-up failure {model.calls}", "type": "invalid_request_error"}}
            data = json.dumps(payload).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            """Quiet: the test's output is pytest's."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    model.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
