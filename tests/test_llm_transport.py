"""A provider that is slow, broken or hostile: the call ends, says why, and never gives the key away."""

from __future__ import annotations

import gzip
import json
import shutil
import socket
import ssl
import subprocess
import threading
import time
import zlib
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest

from core.base.exchange import Call, CancellableSocket, Reply, TransportError, exchange, is_loopback
from core.base.result import attempt
from core.llm.generate import connect
from core.llm.transport import RetryPolicy, post, retry_after, retry_info
from core.llm.wire import ModelSettings, excerpt, host_of
from tests.llm_server import (
    KEY,
    ModelServer,
    Script,
    ask,
    cut,
    drip,
    endless,
    good,
    hang,
    head,
    model_server,
    reply,
    reset,
    time_is_up_when_stuck,
    told,
)
from tests.waiting import PATIENCE_SECONDS, wait_until


def nothing_is_exchanged() -> bool:
    """Whether no call is at work any more."""
    return not any(thread.name == "llm-exchange" for thread in threading.enumerate())


@pytest.mark.parametrize(
    "script",
    [
        hang(),
        drip(b"HTTP/1.1 200 OK\r\n", b"X-Slow: 1\r\n"),
        drip(b"HTTP/1.1 200 OK\r\nX-Slow: ", b"a"),
        drip(head(200, {"Content-Type": "application/json"}), b" "),
        drip(head(200, {"Transfer-Encoding": "chunked"}), b"1\r\n \r\n"),
        drip(head(200, {"Content-Length": "1000000"}), b" "),
        drip(head(200, {"Content-Length": "1000000", "Connection": "close"}), b" "),
    ],
    ids=["hang", "headers", "one-header", "body", "chunks", "declared-body", "declared-body-and-close"],
)
def test_a_slow_server_cannot_hold_us_and_the_connection_is_cut(
    script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else one stuck server would stop a whole run for ever, or each call would leave a thread behind."""
    before = threading.active_count()
    with model_server(script) as server:
        time_is_up_when_stuck(monkeypatch, server)
        told(
            attempt(ask, server, timeout_seconds=60.0), "timed-out", "ollama", server.address, "request_timeout_seconds"
        )
        assert server.broken_off.wait(PATIENCE_SECONDS), "the server still has its connection"
        assert wait_until(nothing_is_exchanged)
    assert len(server.requests) == 1
    assert threading.active_count() <= before


def test_cancelling_ends_a_call_that_hangs() -> None:
    """Else Ctrl-C and the panel's stop button would wait for the deadline."""
    with model_server(hang()) as server:
        told(attempt(ask, server, cancelled=server.stuck.is_set, timeout_seconds=60.0), "cancelled", "ollama")
        assert server.broken_off.wait(PATIENCE_SECONDS)


def test_an_answer_that_has_come_when_the_user_cancels_is_not_thrown_away() -> None:
    """It was paid for; the run keeps it for the next one."""
    with model_server(reply(good())) as server:

        def cancelled() -> bool:
            return wait_until(nothing_is_exchanged) and bool(server.requests)  # the whole answer is here

        result = exchange(Call("ollama", server.url, {}, {}), seconds=60.0, max_bytes=1 << 20, cancelled=cancelled)
    assert isinstance(result, Reply) and result.status == 200


def test_ctrl_c_cuts_the_connection() -> None:
    """Else an interrupted program would leave a thread that reads on, while the provider's meter runs."""

    with model_server(hang()) as server:

        def interrupted() -> bool:
            if server.stuck.is_set():
                raise KeyboardInterrupt
            return False

        call = Call("ollama", server.url, {}, {})
        with pytest.raises(KeyboardInterrupt):
            exchange(call, seconds=60.0, max_bytes=10, cancelled=interrupted)
        assert server.broken_off.wait(PATIENCE_SECONDS)


def test_cancelling_ends_a_pause_between_tries() -> None:
    """Else a long Retry-After would hold a run that the user has stopped."""
    pauses: list[float] = []
    with model_server(reply({}, 429, {"Retry-After": "30"})) as server:
        result = attempt(ask, server, cancelled=lambda: len(pauses) > 3, pauses=pauses, timeout_seconds=60.0)
    told(result, "cancelled")
    assert len(pauses) == 4 and len(server.requests) == 1


def test_no_prompt_goes_out_on_a_line_that_was_cut_while_connecting() -> None:
    """Else a conversation would be sent after the user had cancelled, when a slow connection comes about at last."""
    line = CancellableSocket()
    line.cut()
    with pytest.raises(ConnectionAbortedError):
        line.follow(object())


def test_a_pause_is_what_the_server_asks_for() -> None:
    """Else a busy provider would be pestered, and would lock the user out for longer."""
    pauses: list[float] = []
    busy = [reply({"error": f"slow down {n}"}, 429, {"Retry-After": str(n)}) for n in (3, 4)]
    with model_server(*busy, reply(good())) as server:
        assert ask(server, pauses=pauses, timeout_seconds=60.0).text == "done"
    assert sum(pauses) == pytest.approx(7.0)
    assert len(server.requests) == 3
    assert [request.body["messages"][0]["content"] for request in server.requests] == ["prompt"] * 3


def test_a_pause_is_what_google_asks_for_in_the_body() -> None:
    """It says so in `RetryInfo` alone: three tries within seconds used up what was left of the quota."""
    details = [{"@type": "type.googleapis.com/google.rpc.QuotaFailure"}, None,
               {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}]  # fmt: skip
    pauses: list[float] = []
    with model_server(reply({"error": {"message": "quota", "details": details}}, 429), reply(good())) as server:
        assert ask(server, pauses=pauses, timeout_seconds=60.0).text == "done"
    assert sum(pauses) == pytest.approx(34.5)
    for odd in ({}, {"error": []}, {"error": {"details": [{"@type": "x/google.rpc.RetryInfo", "retryDelay": 3}]}}):
        assert retry_info(json.dumps(odd).encode()) is None
    assert retry_info(b"[1") is retry_info(b"[]") is None


def test_a_pause_past_the_deadline_is_not_begun() -> None:
    """Else the user would wait for an answer that cannot come in time."""
    pauses: list[float] = []
    with model_server(reply({"error": "come back later"}, 429, {"Retry-After": "3600"})) as server:
        told(attempt(ask, server, pauses=pauses), "rate-limited", "HTTP 429", "come back later")
    assert pauses == [] and len(server.requests) == 1


def test_pauses_grow_and_end_when_the_server_stays_broken() -> None:
    """Else a provider in trouble would be asked for ever, or without a pause."""
    pauses: list[float] = []
    broken = [reply({"error": f"oops {n}"}, status) for n, status in enumerate((500, 503, 529))]
    with model_server(*broken) as server:
        told(attempt(ask, server, pauses=pauses, timeout_seconds=60.0), "server-error", "HTTP 529", "oops 2")
    assert len(server.requests) == 3
    assert 0.5 + 1.0 <= sum(pauses) <= 1.0 + 2.0


@pytest.mark.parametrize(
    ("status", "code"),
    [(401, "rejected-key"), (403, "forbidden"), (404, "not-found"), (413, "too-long"), (400, "refused")],
)
def test_a_refusal_is_not_repeated_and_quotes_the_server_without_the_key(status: int, code: str) -> None:
    """Else a wrong key would be tried again and again, or end up in a log: some servers echo it."""
    body = {"error": f"Incorrect key provided: {KEY}\n\x1b[31m" + "x" * 5000}
    with model_server(reply(body, status)) as server:
        told(attempt(ask, server), code, f"HTTP {status}", "Incorrect key provided: [key]")
    assert len(server.requests) == 1


def test_an_empty_account_is_not_asked_again() -> None:
    """OpenAI says 429 for that too; waiting would only delay the news."""
    body = {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}
    with model_server(reply(body, 429)) as server:
        told(attempt(ask, server), "rate-limited", "You exceeded your current quota")
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(status: int) -> None:
    """Else the key and the conversation would be sent to whoever the first server names."""
    with model_server(reply(good())) as stranger, model_server() as server:
        location = f"{stranger.url}/api/chat?token=secret"
        server.scripts.append(reply(b"", status, {"Location": location}))
        result = attempt(ask, server)
        told(result, "redirected", stranger.address, "base_url")
        assert "token=" not in str(result.error)
        assert stranger.requests == [] and len(server.requests) == 1


@pytest.mark.parametrize(
    "broken",
    [
        cut(b'{"message": {"content": "ha', 5000),
        reset(),
        reset(head(200, {"Content-Length": "500"}) + b'{"mess'),
        reply(b'5\r\n{"mes', headers={"Transfer-Encoding": "chunked", "Content-Length": ""}),
        reply(gzip.compress(b" " * 5000 + b"{}")[:40], headers={"Content-Encoding": "gzip"}),
        reply(b"this is no gzip", headers={"Content-Encoding": "gzip"}),
        lambda connection, server: connection.sendall(b"SSH-2.0-OpenSSH_9.9\r\n"),
        lambda connection, server: None,
    ],
    ids=["short", "reset", "reset-in-body", "chunks-cut", "gzip-cut", "no-gzip", "not-http", "closed"],
)
def test_a_broken_connection_is_tried_again(broken: Script) -> None:
    """Else a moment of bad network would cost the harvest of a conversation, or half an answer would be believed."""
    with model_server(broken, reply(good("whole"))) as server:
        assert ask(server).text == "whole"
        assert len(server.requests) == 2
    with model_server(broken, broken, broken) as server:
        told(attempt(ask, server), "connection-failed", "ollama", server.address)
        assert len(server.requests) == 3


def test_nobody_listens() -> None:
    """The commonest mistake with a local model: the sentence must say what to look at."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"127.0.0.1:{listener.getsockname()[1]}"
    told(attempt(ask, ModelServer(address)), "unreachable", address, "refused", "Check that the server runs")


def test_calls_from_several_threads_do_not_mix() -> None:
    """Else the answer to one conversation would be filed under another's name."""

    def echo(connection: socket.socket, server: ModelServer) -> None:
        prompt = server.current.request.body["messages"][0]["content"]
        reply(good(f"answer to {prompt}"))(connection, server)

    with model_server(*[echo] * 8) as server:
        connected = connect(
            ModelSettings("ollama", model="m", base_url=server.url, timeout_seconds=60.0),
            credentials=lambda provider, variables: "",
        )
        generate, answers = connected, {}

        def work(number: int) -> None:
            answers[number] = generate(f"prompt {number}").text

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE_SECONDS)
    assert answers == {number: f"answer to prompt {number}" for number in range(8)}


def netrc(folder: Path, host: str) -> str:
    """A login file of another program, which has a password for `host`."""
    login = folder / "netrc"
    login.write_text(f"machine {host} login stranger password other\n")
    login.chmod(0o600)
    return str(login)


def test_no_proxy_for_this_machine_and_no_stranger_from_netrc(monkeypatch: Any, tmp_path: Path) -> None:
    """Else a local model could not be reached behind a proxy, or a login from ~/.netrc would replace the key."""
    monkeypatch.setenv("NETRC", netrc(tmp_path, "127.0.0.1"))
    for variable in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    for variable in ("http_proxy", "all_proxy"):
        monkeypatch.setenv(variable, "http://127.0.0.1:9")
    with model_server(reply(good())) as server:
        assert ask(server).text == "done"
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


def test_the_proxy_of_the_environment_is_used_for_everyone_else(monkeypatch: Any) -> None:
    """Else nobody behind a company proxy could reach a provider; its deadline holds there too."""
    monkeypatch.setenv("no_proxy", "")
    monkeypatch.setenv("NO_PROXY", "")
    call = Call("ollama", "http://model.invalid/api/chat", {}, {"n": 1})
    with model_server(reply(good()), drip(b"HTTP/1.1 200 OK\r\nX-Slow: ", b"a")) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        first = exchange(call, seconds=60.0, max_bytes=10_000, cancelled=lambda: False)
        assert not isinstance(first, TransportError) and first.status == 200
        time_is_up_when_stuck(monkeypatch, proxy)
        assert exchange(call, seconds=60.0, max_bytes=10_000, cancelled=lambda: False) == TransportError("timeout")
        assert proxy.broken_off.wait(PATIENCE_SECONDS)
    assert [request.path for request in proxy.requests] == ["http://model.invalid/api/chat"] * 2


def test_retry_after_in_both_spellings() -> None:
    """RFC 9110 allows seconds and a date; nonsense must not stop the program."""
    assert retry_after("12") == 12.0
    assert retry_after(" 0.5 ") == 0.5
    soon = retry_after(format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True))
    assert soon is not None and 0.0 < soon <= 100.0
    assert retry_after("Wed, 21 Oct 2015 07:28:00 GMT") == 0.0
    for nonsense in ("", "soon", "-5", "²", "1e999", "99:99", "Wed, 99 Oct 99999 07:28:00 GMT"):
        assert retry_after(nonsense) is None


def test_addresses_and_excerpts_show_no_secrets() -> None:
    """Error sentences end up in reports and screenshots."""
    assert host_of("https://user:password@api.example.com:8443/v1?key=x") == "api.example.com:8443"
    assert host_of("http://[::1") == "an unreadable address"
    assert excerpt(f"a\tb\x00\n{KEY} \u202e" + "c" * 900, KEY, 20) == "a b [key] ccccccccc…"
    assert KEY not in excerpt("x" * 195 + KEY, KEY)
    assert all(is_loopback(f"http://{host}:1/") for host in ("localhost", "127.9.9.9", "[::1]", "a.localhost"))
    assert not any(is_loopback(f"http://{host}:1/") for host in ("127.0.0.1.example.com", "10.0.0.1", "[::2]"))


# --- exchange --------------------------------------------------------------------------------------------------------
# What a server sends is bounded, unpacked and checked before anyone believes it.


def test_a_redirect_with_an_endless_body_is_bounded_too() -> None:
    """The HTTP library reads the body of a redirect to its end; a hostile server would fill the memory with it."""
    with model_server(endless(head(302, {"Location": "http://127.0.0.1:9/"}), b" " * 65536)) as server:
        told(attempt(ask, server, max_answer_bytes=200_000, timeout_seconds=60.0), "answer-too-large")


def test_an_endless_answer_is_cut_at_the_limit() -> None:
    """Else a server could fill the memory."""
    with model_server(endless(head(200, {"Content-Type": "application/json"}), b" " * 65536)) as server:
        told(attempt(ask, server, max_answer_bytes=300_000, timeout_seconds=60.0), "answer-too-large", "300000 bytes")
        assert server.broken_off.wait(PATIENCE_SECONDS)
    assert len(server.requests) == 1


def test_an_answer_that_announces_too_much_is_not_read() -> None:
    """Else the limit would only work after the damage."""
    with model_server(drip(head(200, {"Content-Length": "99999999"}), b" ")) as server:
        told(attempt(ask, server, timeout_seconds=60.0), "answer-too-large")


def test_a_compressed_bomb_is_cut_at_the_limit() -> None:
    """Else 40 KB from a server would become 40 MB here."""
    packer = zlib.compressobj(9, wbits=zlib.MAX_WBITS | 16)
    bomb = b"".join(packer.compress(b" " * 1_000_000) for _ in range(40)) + packer.flush()
    assert len(bomb) < 100_000
    with model_server(reply(bomb, headers={"Content-Encoding": "gzip"})) as server:
        told(attempt(ask, server, timeout_seconds=60.0), "answer-too-large")


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_a_compressed_answer_is_read(coding: str) -> None:
    """Some servers compress without being asked."""
    plain = b" " * 100_000 + b'{"message": {"content": "small"}}'
    packed = gzip.compress(plain[:50_000]) + gzip.compress(plain[50_000:]) if coding == "gzip" else zlib.compress(plain)
    with model_server(reply(packed, headers={"Content-Encoding": coding})) as server:
        assert ask(server).text == "small"
    assert server.requests[0].headers["accept-encoding"] == "identity"


def test_an_unknown_compression_is_told() -> None:
    """Else packed bytes would be reported as broken JSON, which leads nowhere."""
    with model_server(reply(b"x", headers={"Content-Encoding": "br, gzip"})) as server:
        told(attempt(ask, server), "bad-answer", "compression")


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
        told(attempt(ask, server), "bad-answer", "ollama", word)


def test_a_web_page_in_an_error_is_not_quoted() -> None:
    """Else the error would be 200 characters of markup."""
    with model_server(reply(b"<html><body>Bad gateway</body></html>", 404)) as server:
        result = attempt(ask, server)
    told(result, "not-found", "HTTP 404")
    assert "html" not in str(result.error)


# --- tls -------------------------------------------------------------------------------------------------------------
# The same promises over TLS, where all real providers are.


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for 127.0.0.1 that signs itself, with its key in the same file; made again for each run."""
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
        result: Any = attempt(post, call_to(server.url), RetryPolicy(time.monotonic() + 60, 3, 10_000))
        assert server.broken_off.wait(PATIENCE_SECONDS)
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
            good = within(server.url, 60.0)
            assert isinstance(good, Reply) and good.body == b'{"n": 2}'
            time_is_up_when_stuck(monkeypatch, server)
            assert within(server.url, 60.0) == TransportError("timeout")
            assert server.broken_off.wait(PATIENCE_SECONDS)


def test_a_server_that_never_shakes_hands_cannot_hold_us() -> None:
    """A half-broken proxy does just that."""
    with socket.create_server(("127.0.0.1", 0)) as mute:
        assert within(f"https://127.0.0.1:{mute.getsockname()[1]}", 0.4) == TransportError("timeout")
