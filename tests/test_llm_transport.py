"""A provider that is slow, broken or hostile: the call ends, says why, and never gives the key away."""

from __future__ import annotations

import gzip
import json
import socket
import threading
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest

from core.base.result import Ok
from core.llm.exchange import CancellableSocket, TransportError, exchange
from core.llm.generate import connect
from core.llm.transport import retry_after, retry_info
from core.llm.wire import Call, ModelSettings, Reply, excerpt, host_of, is_loopback
from tests.llm_server import (
    KEY,
    PATIENT_SECONDS,
    ModelServer,
    Script,
    ask,
    cut,
    drip,
    good,
    hang,
    head,
    model_server,
    reply,
    reset,
    time_is_up_when_stuck,
    told,
)


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
        told(ask(server, timeout_seconds=60.0), "timed-out", "ollama", server.address, "request_timeout_seconds")
        assert server.broken_off.wait(PATIENT_SECONDS), "the server still has its connection"
        waited_until = time.monotonic() + PATIENT_SECONDS
        while any(t.name == "llm-exchange" for t in threading.enumerate()) and time.monotonic() < waited_until:
            time.sleep(0.01)
        assert not any(t.name == "llm-exchange" for t in threading.enumerate())
    assert len(server.requests) == 1
    assert threading.active_count() <= before


def test_cancelling_ends_a_call_that_hangs() -> None:
    """Else Ctrl-C and the panel's stop button would wait for the deadline."""
    with model_server(hang()) as server:
        told(ask(server, cancelled=server.stuck.is_set, timeout_seconds=60.0), "cancelled", "ollama")
        assert server.broken_off.wait(PATIENT_SECONDS)


def test_an_answer_that_has_come_when_the_user_cancels_is_not_thrown_away() -> None:
    """It was paid for; the run keeps it for the next one."""
    with model_server(reply(good())) as server:

        def cancelled() -> bool:
            waited_until = time.monotonic() + PATIENT_SECONDS
            while any(t.name == "llm-exchange" for t in threading.enumerate()) and time.monotonic() < waited_until:
                time.sleep(0.01)  # until the whole answer is here
            return bool(server.requests)

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
        assert server.broken_off.wait(PATIENT_SECONDS)


def test_cancelling_ends_a_pause_between_tries() -> None:
    """Else a long Retry-After would hold a run that the user has stopped."""
    pauses: list[float] = []
    with model_server(reply({}, 429, {"Retry-After": "30"})) as server:
        result = ask(server, cancelled=lambda: len(pauses) > 3, pauses=pauses, timeout_seconds=60.0)
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
        assert ask(server, pauses=pauses, timeout_seconds=60.0).value.text == "done"
    assert sum(pauses) == pytest.approx(7.0)
    assert len(server.requests) == 3
    assert [request.body["messages"][0]["content"] for request in server.requests] == ["prompt"] * 3


def test_a_pause_is_what_google_asks_for_in_the_body() -> None:
    """It says so in `RetryInfo` alone: three tries within seconds used up what was left of the quota."""
    details = [{"@type": "type.googleapis.com/google.rpc.QuotaFailure"}, None,
               {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}]  # fmt: skip
    pauses: list[float] = []
    with model_server(reply({"error": {"message": "quota", "details": details}}, 429), reply(good())) as server:
        assert ask(server, pauses=pauses, timeout_seconds=60.0).value.text == "done"
    assert sum(pauses) == pytest.approx(34.5)
    for odd in ({}, {"error": []}, {"error": {"details": [{"@type": "x/google.rpc.RetryInfo", "retryDelay": 3}]}}):
        assert retry_info(json.dumps(odd).encode()) is None
    assert retry_info(b"[1") is retry_info(b"[]") is None


def test_a_pause_past_the_deadline_is_not_begun() -> None:
    """Else the user would wait for an answer that cannot come in time."""
    pauses: list[float] = []
    with model_server(reply({"error": "come back later"}, 429, {"Retry-After": "3600"})) as server:
        told(ask(server, pauses=pauses), "rate-limited", "HTTP 429", "come back later")
    assert pauses == [] and len(server.requests) == 1


def test_pauses_grow_and_end_when_the_server_stays_broken() -> None:
    """Else a provider in trouble would be asked for ever, or without a pause."""
    pauses: list[float] = []
    broken = [reply({"error": f"oops {n}"}, status) for n, status in enumerate((500, 503, 529))]
    with model_server(*broken) as server:
        told(ask(server, pauses=pauses, timeout_seconds=60.0), "server-error", "HTTP 529", "oops 2")
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
        told(ask(server), code, f"HTTP {status}", "Incorrect key provided: [key]")
    assert len(server.requests) == 1


def test_an_empty_account_is_not_asked_again() -> None:
    """OpenAI says 429 for that too; waiting would only delay the news."""
    body = {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}
    with model_server(reply(body, 429)) as server:
        told(ask(server), "rate-limited", "You exceeded your current quota")
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(status: int) -> None:
    """Else the key and the conversation would be sent to whoever the first server names."""
    with model_server(reply(good())) as stranger, model_server() as server:
        location = f"{stranger.url}/api/chat?token=secret"
        server.scripts.append(reply(b"", status, {"Location": location}))
        result = ask(server)
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
        assert ask(server).value.text == "whole"
        assert len(server.requests) == 2
    with model_server(broken, broken, broken) as server:
        told(ask(server), "connection-failed", "ollama", server.address)
        assert len(server.requests) == 3


def test_nobody_listens() -> None:
    """The commonest mistake with a local model: the sentence must say what to look at."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"127.0.0.1:{listener.getsockname()[1]}"
    told(ask(ModelServer(address)), "unreachable", address, "refused", "Check that the server runs")


def test_calls_from_several_threads_do_not_mix() -> None:
    """Else the answer to one conversation would be filed under another's name."""

    def echo(connection: socket.socket, server: ModelServer) -> None:
        prompt = server.current.request.body["messages"][0]["content"]
        reply(good(f"answer to {prompt}"))(connection, server)

    with model_server(*[echo] * 8) as server:
        connected = connect(
            ModelSettings("ollama", model="m", base_url=server.url, timeout_seconds=10.0),
            credentials=lambda provider, variables: Ok(""),
        )
        assert isinstance(connected, Ok)
        generate, answers = connected.value, {}

        def work(number: int) -> None:
            answers[number] = generate(f"prompt {number}").value.text

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENT_SECONDS)
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
        assert ask(server).value.text == "done"
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


def test_the_proxy_of_the_environment_is_used_for_everyone_else(monkeypatch: Any) -> None:
    """Else nobody behind a company proxy could reach a provider; its deadline holds there too."""
    monkeypatch.setenv("no_proxy", "")
    monkeypatch.setenv("NO_PROXY", "")
    call = Call("ollama", "http://model.invalid/api/chat", {}, {"n": 1})
    with model_server(reply(good()), drip(b"HTTP/1.1 200 OK\r\nX-Slow: ", b"a")) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        first = exchange(call, seconds=5.0, max_bytes=10_000, cancelled=lambda: False)
        assert not isinstance(first, TransportError) and first.status == 200
        time_is_up_when_stuck(monkeypatch, proxy)
        assert exchange(call, seconds=60.0, max_bytes=10_000, cancelled=lambda: False) == TransportError("timeout")
        assert proxy.broken_off.wait(PATIENT_SECONDS)
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
