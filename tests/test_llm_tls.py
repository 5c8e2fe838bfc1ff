"""The same promises over TLS, where all real providers are."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from core.llm.exchange import TransportError, exchange
from core.llm.transport import Patience, post
from core.llm.wire import Call, Reply
from tests.llm_server import KEY, PATIENT_SECONDS, drip, model_server, reply, time_is_up_when_stuck


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for 127.0.0.1 that signs itself, with its key in the same file; made anew for each run."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("the program openssl is not installed")
    path = tmp_path_factory.mktemp("tls") / "server.pem"
    command = [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-keyout", "key.pem", "-out", "cert.pem", "-days", "2", "-subj", "/CN=127.0.0.1"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(command, cwd=path.parent, check=True, capture_output=True)
    path.write_text((path.parent / "key.pem").read_text() + (path.parent / "cert.pem").read_text())
    return path


@pytest.fixture
def context(certificate: Path) -> ssl.SSLContext:
    """The server's side."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


def call_to(url: str) -> Call:
    return Call("openai", f"{url}/v1/chat/completions", {"Authorization": f"Bearer {KEY}"}, {"n": 1}, KEY)


def within(url: str, seconds: float) -> Reply | TransportError:
    return exchange(call_to(url), seconds=seconds, max_bytes=10_000, cancelled=lambda: False)


def test_a_strange_certificate_ends_the_call_before_the_key_is_sent(context: ssl.SSLContext) -> None:
    """Else whoever sits in between would get the key and the conversation."""
    with model_server(reply({}), tls=context) as server:
        result: Any = post(call_to(server.url), Patience(time.monotonic() + 5, 3, 10_000))
        assert server.broken_off.wait(PATIENT_SECONDS)
    assert result.error.code == "bad-certificate"
    assert "self-signed" in result.error.message.replace(" ", "-") and "REQUESTS_CA_BUNDLE" in result.error.hint
    assert server.requests == [] and server.connections == 1


def test_the_deadline_holds_and_the_connection_is_cut(
    certificate: Path, context: ssl.SSLContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the one kind of socket that real providers use would be the one that can hang."""
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
    slow = (drip(b"HTTP/1.1 200 OK\r\nX-Slow: ", b"a"), drip(b"HTTP/1.1 200 OK\r\n\r\n", b" "))
    for script in slow:
        with model_server(reply({"n": 2}), script, tls=context) as server:
            good = within(server.url, 5.0)
            assert isinstance(good, Reply) and good.body == b'{"n": 2}'
            time_is_up_when_stuck(monkeypatch, server)
            assert within(server.url, 60.0) == TransportError("timeout")
            assert server.broken_off.wait(PATIENT_SECONDS)


def test_a_server_that_never_shakes_hands_cannot_hold_us() -> None:
    """A half-broken proxy does just that."""
    with socket.create_server(("127.0.0.1", 0)) as mute:
        assert within(f"https://127.0.0.1:{mute.getsockname()[1]}", 0.4) == TransportError("timeout")
