"""What a server sends is bounded, unpacked and checked before anyone believes it."""

from __future__ import annotations

import gzip
import zlib

import pytest

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
