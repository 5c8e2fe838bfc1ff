"""What a server sends is bounded, unpacked and checked before anyone believes it."""

from __future__ import annotations

import gzip
import json
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from core.llm.exchange import TransportError, exchange
from core.llm.wire import Call, Reply
from tests.llm_server import PATIENT_SECONDS, ask, drip, endless, head, model_server, reply, told


def test_a_redirect_with_an_endless_body_is_bounded_too() -> None:
    """The HTTP library reads the body of a redirect to its end; a hostile server would fill the memory with it."""
    with model_server(endless(head(302, {"Location": "http://127.0.0.1:9/"}), b" " * 65536)) as server:
        told(ask(server, max_answer_bytes=200_000, timeout_seconds=10.0), "answer-too-large")


def test_an_endless_answer_is_cut_at_the_limit() -> None:
    """Else a server could fill the memory."""
    with model_server(endless(head(200, {"Content-Type": "application/json"}), b" " * 65536)) as server:
        told(ask(server, max_answer_bytes=300_000, timeout_seconds=10.0), "answer-too-large", "300000 bytes")
        assert server.broken_off.wait(PATIENT_SECONDS)
    assert len(server.requests) == 1


def test_an_answer_that_announces_too_much_is_not_read() -> None:
    """Else the limit would only work after the damage."""
    with model_server(drip(head(200, {"Content-Length": "99999999"}), b" ")) as server:
        told(ask(server, timeout_seconds=10.0), "answer-too-large")


def test_a_compressed_bomb_is_cut_at_the_limit() -> None:
    """Else 40 KB from a server would become 40 MB here."""
    packer = zlib.compressobj(9, wbits=zlib.MAX_WBITS | 16)
    bomb = b"".join(packer.compress(b" " * 1_000_000) for _ in range(40)) + packer.flush()
    assert len(bomb) < 100_000
    with model_server(reply(bomb, headers={"Content-Encoding": "gzip"})) as server:
        told(ask(server, timeout_seconds=10.0), "answer-too-large")


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_a_compressed_answer_is_read(coding: str) -> None:
    """Some servers compress without being asked."""
    plain = b" " * 100_000 + b'{"message": {"content": "small"}}'
    packed = gzip.compress(plain) if coding == "gzip" else zlib.compress(plain)
    with model_server(reply(packed, headers={"Content-Encoding": coding})) as server:
        assert ask(server).value.text == "small"
    assert server.requests[0].headers["accept-encoding"] == "identity"


def test_an_unknown_compression_is_told() -> None:
    """Else packed bytes would be reported as broken JSON, which leads nowhere."""
    with model_server(reply(b"x", headers={"Content-Encoding": "br, gzip"})) as server:
        told(ask(server), "bad-answer", "compression")


@pytest.mark.parametrize(
    ("body", "word"),
    [
        (b"<!DOCTYPE html><html><title>Sign in</title></html>", "web page"),
        (b'{"message": {"content": "caf\xe9"}}', "not a JSON object"),
        (b'{"message": {"content": "ca', "not a JSON object"),
        (b"[1, 2]", "not a JSON object"),
        (b"", "not a JSON object"),
        (b"[" * 200_000, "not a JSON object"),
        (b'{"done": ' + b"9" * 10_000 + b"}", "not a JSON object"),
    ],
    ids=["html", "latin-1", "cut-without-length", "list", "empty", "deep", "huge-number"],
)
def test_an_answer_that_is_no_json_is_told(body: bytes, word: str) -> None:
    """Else a login page or torn text would end in a traceback, or in the user's knowledge."""
    with model_server(reply(body, content_type="text/html")) as server:
        told(ask(server), "bad-answer", "ollama", word)


def test_a_web_page_in_an_error_is_not_quoted() -> None:
    """Else the error would be 200 characters of markup."""
    with model_server(reply(b"<html><body>Bad gateway</body></html>", 404)) as server:
        result = ask(server)
    told(result, "not-found", "HTTP 404")
    assert "html" not in str(result.error)


# --- connections that are kept ---------------------------------------------------------------------------------------


@dataclass
class Keeping:
    """A server that keeps its connections, as real providers do. `silent` requests (from 1) are not answered; it hangs
    up behind those of `last`, without having said so."""

    address: str = ""
    connections: int = 0
    cookies: list[str | None] = field(default_factory=list)
    silent: int = 0
    last: int = 0
    hung_up: threading.Event = field(default_factory=threading.Event)


@contextmanager
def keeping(**plays: int) -> Iterator[Keeping]:
    state = Keeping(**plays)  # type: ignore[arg-type]

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            state.connections += 1
            super().setup()

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            state.cookies.append(self.headers["Cookie"])
            if len(state.cookies) == state.silent:
                self.connection.settimeout(PATIENT_SECONDS)
                if self.connection.recv(1) == b"":
                    state.hung_up.set()
                self.close_connection = True
                return
            body = json.dumps({"number": len(state.cookies)}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Set-Cookie", "who=you; Path=/")
            self.end_headers()
            self.wfile.write(body)
            self.close_connection = len(state.cookies) == state.last

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state.address = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()


def posted(state: Keeping, cancelled: Callable[[], bool] = lambda: False) -> Reply | TransportError:
    return exchange(Call("ollama", state.address, {}, {}), seconds=60.0, max_bytes=1000, cancelled=cancelled)


def in_a_thread(work: Callable[[], None]) -> None:
    """What one worker of a run does, and with its end its connections go."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(work).result(PATIENT_SECONDS)


def test_a_thread_keeps_its_connection_and_no_cookie() -> None:
    """A handshake for every call would cost more than many short answers; a cookie would tie conversations together."""

    def work() -> None:
        assert all(isinstance(posted(state), Reply) for _ in range(3))

    with keeping() as state:
        in_a_thread(work)
        assert state.connections == 1 and state.cookies == [None] * 3
        in_a_thread(work)
        assert state.connections == 2


def test_a_call_on_a_kept_connection_is_cut_when_it_is_cancelled_and_the_next_one_is_new() -> None:
    """Else Ctrl-C would leave the provider's meter running, and the next answer would be that of the last question."""

    def work() -> None:
        assert isinstance(posted(state), Reply)
        assert posted(state, lambda: len(state.cookies) == 2) == TransportError("cancelled")
        assert state.hung_up.wait(PATIENT_SECONDS)
        answer = posted(state)
        assert isinstance(answer, Reply) and answer.body == b'{"number": 3}' and state.connections == 2

    with keeping(silent=2) as state:
        in_a_thread(work)


def test_a_kept_connection_that_the_server_has_closed_is_not_used() -> None:
    """Servers close what is idle: the answer would be an error and a pause, although all is well."""

    def work() -> None:
        assert isinstance(posted(state), Reply)
        time.sleep(0.2)
        assert isinstance(posted(state), Reply) and state.connections == 2

    with keeping(last=1) as state:
        in_a_thread(work)
