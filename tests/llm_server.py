"""A real HTTP server on loopback that plays a model provider: honest, broken or hostile, as the test scripts it.

Plain sockets, because most of what is played here (dripping headers, resets, cut bodies) no HTTP library would do.
"""

from __future__ import annotations

import itertools
import json
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from core.base.answer import Generate
from core.base.result import KnowledgeError, attempt
from core.llm.generate import connect
from core.llm.wire import ModelSettings
from tests.waiting import PATIENCE_SECONDS

KEY = "-".join(("sk", "made", "up", "0123456789"))


@dataclass(frozen=True)
class Request:
    """What the program under test sent. Header names are lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


@dataclass
class ModelServer:
    """Each connection takes the next script; a connection too many is answered 418, which no test expects."""

    address: str
    scripts: list[Script] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    stopped: threading.Event = field(default_factory=threading.Event)
    stuck: threading.Event = field(default_factory=threading.Event)  # it has the request, and drips or hangs
    broken_off: threading.Event = field(default_factory=threading.Event)
    connections: int = 0
    current: threading.local = field(default_factory=threading.local)
    scheme: str = "http"

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.address}"


Script = Callable[[socket.socket, ModelServer], None]


@contextmanager
def model_server(*scripts: Script, tls: ssl.SSLContext | None = None) -> Iterator[ModelServer]:
    """Serve `scripts` in order on a free port of 127.0.0.1 until the block ends, over TLS if a context is given."""
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(0.05)
    scheme = "https" if tls else "http"
    server = ModelServer(f"127.0.0.1:{listener.getsockname()[1]}", list(scripts), scheme=scheme)
    threads: list[threading.Thread] = []

    def serve() -> None:
        while not server.stopped.is_set():
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                continue
            thread = threading.Thread(target=_converse, args=(connection, server, tls), daemon=True)
            thread.start()
            threads.append(thread)

    acceptor = threading.Thread(target=serve, daemon=True)
    acceptor.start()
    try:
        yield server
    finally:
        server.stopped.set()
        acceptor.join(5)
        for thread in threads:
            thread.join(5)
        listener.close()


def _converse(connection: socket.socket, server: ModelServer, tls: ssl.SSLContext | None) -> None:
    connection.settimeout(PATIENCE_SECONDS)
    server.connections += 1
    try:
        with tls.wrap_socket(connection, server_side=True) if tls else connection as line:
            server.current.request = _read_request(line)  # for a script that answers what it was asked
            server.requests.append(server.current.request)
            script = server.scripts.pop(0) if server.scripts else reply({"error": "nothing is scripted"}, 418)
            script(line, server)
    except OSError:
        server.broken_off.set()  # the other side has hung up, which many tests want to see
    finally:
        connection.close()


def _read_request(connection: socket.socket) -> Request:
    data = b""
    while b"\r\n\r\n" not in data:
        chunk = connection.recv(65536)
        if not chunk:
            raise ConnectionError("no request")
        data += chunk
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    while len(body) < int(headers.get("content-length", "0")):
        body += connection.recv(65536)
    method, path, _ = first.split(" ", 2)
    return Request(method, path, headers, json.loads(body) if body else None)


def head(status: int, headers: dict[str, str]) -> bytes:
    """The status line and headers of an answer."""
    lines = [f"HTTP/1.1 {status} Scripted", *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def reply(
    body: Any, status: int = 200, headers: dict[str, str] | None = None, content_type: str = "application/json"
) -> Script:
    """A complete answer: bytes as they are, anything else as JSON. `headers` may override the right ones."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    fields = {"Content-Type": content_type, "Content-Length": str(len(content)), "Connection": "close"}
    fields |= headers or {}

    def script(connection: socket.socket, server: ModelServer) -> None:
        connection.sendall(head(status, fields) + content)

    return script


def hang() -> Script:
    """Take the request and say nothing, until the other side hangs up or the test ends."""

    def script(connection: socket.socket, server: ModelServer) -> None:
        connection.settimeout(0.05)
        server.stuck.set()
        while not server.stopped.is_set():
            try:
                if not connection.recv(1):
                    raise ConnectionError("hung up")
            except TimeoutError:
                continue

    return script


def drip(first: bytes, drop: bytes) -> Script:
    """Send `first`, then `drop` again and again, faster than any time-out for a single read."""

    def script(connection: socket.socket, server: ModelServer) -> None:
        connection.sendall(first)
        for drops in itertools.count(1):
            if server.stopped.wait(0.02):
                return
            connection.sendall(drop)
            if drops == 3:
                server.stuck.set()

    return script


def time_is_up_when_stuck(monkeypatch: pytest.MonkeyPatch, server: ModelServer) -> None:
    """The clock of a call jumps an hour as soon as the server is stuck: the deadline is always met on the way, however
    slow this machine is, and nobody has to wait for it."""

    def monotonic() -> float:
        return time.monotonic() + 3600.0 * server.stuck.is_set()

    monkeypatch.setattr("core.base.exchange.time", SimpleNamespace(monotonic=monotonic))


def cut(body: bytes, declared: int) -> Script:
    """Promise `declared` bytes, send fewer, close."""
    return reply(body, headers={"Content-Length": str(declared)})


def reset(first: bytes = b"") -> Script:
    """Send `first`, then break the connection with a reset instead of an end."""

    def script(connection: socket.socket, server: ModelServer) -> None:
        if first:
            connection.sendall(first)
            server.stopped.wait(0.05)  # lets it arrive: a reset discards what is still under way
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    return script


def endless(first: bytes, piece: bytes) -> Script:
    """Send `piece` without pause until the other side hangs up."""

    def script(connection: socket.socket, server: ModelServer) -> None:
        connection.sendall(first)
        while not server.stopped.is_set():
            connection.sendall(piece)

    return script


def good(text: str = "done") -> dict[str, Any]:
    """A short valid answer of Ollama, whose format is the plainest."""
    return {"model": "m", "message": {"role": "assistant", "content": text}, "done": True, "done_reason": "stop"}


def ask(
    server: ModelServer,
    cancelled: Callable[[], bool] = lambda: False,
    pauses: list[float] | None = None,
    **settings: Any,
) -> Any:
    """Ask once. Pauses are noted, not slept."""
    settings = {"timeout_seconds": 60.0, "max_retries": 2, **settings}
    connected = connect(
        ModelSettings("ollama", model="m", base_url=server.url, **settings),
        credentials=lambda provider, variables: KEY,
        cancelled=cancelled,
        sleep=(pauses if pauses is not None else []).append,
    )
    return answered(connected, "prompt")


def answered(generate: Generate, prompt: str) -> Any:
    """The answer to one question, put in a thread; the test fails if the call does not come back."""
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(attempt(generate, prompt)), daemon=True)
    thread.start()
    thread.join(PATIENCE_SECONDS)
    assert results, "the call did not come back"
    if isinstance(results[0], KnowledgeError):
        raise results[0]
    return results[0].value


def told(result: Any, code: str, *words: str) -> None:
    """The result is an error of this code whose sentence has these words and not the key."""
    assert isinstance(result, KnowledgeError), result
    sentence = str(result.error)
    assert result.error.code == code, sentence
    assert result.error.hint
    for word in words:
        assert word in sentence
    assert KEY not in sentence and KEY not in repr(result)
    assert "\n" not in sentence and sentence.isprintable() and len(sentence) < 600
