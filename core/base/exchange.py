"""One HTTP request that ends when it must: at a deadline, at a size, or when the user cancels.

`requests` bounds the wait for each read, not for the whole answer, so a server that drips one byte a second, in the
body or already in the headers, would hold us for ever. Here a thread does the blocking work and the caller waits
for it with a deadline of its own; when time is up the caller shuts the socket, which ends the thread as well.
"""

from __future__ import annotations

import contextlib
import ipaddress
import json
import queue
import socket
import threading
import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from requests import PreparedRequest, Response, Session
    from requests.adapters import HTTPAdapter

CHUNK_BYTES = 16 * 1024
_GZIP = b"\x1f\x8b"
SLICE_SECONDS = 0.05  # how often a waiting caller looks whether the user has cancelled
Join = Callable[[str], None]
"""Judges a connection by the number at its other end. Raises OSError where nothing may be sent to it."""


@dataclass(frozen=True)
class Call:
    """One HTTP POST, or a GET where `body` is None. `label` names the provider in error sentences; `key` is what must
    never appear in one."""

    label: str
    url: str
    headers: Mapping[str, str] = field(repr=False)
    body: Mapping[str, Any] | None = field(repr=False)
    key: str = field(default="", repr=False)


@dataclass(frozen=True)
class Reply:
    """The last HTTP answer, whatever its status. Header names are lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class TransportError:
    """An exchange without a usable answer.

    `kind`: `connection` and `absent` (nobody took the call) are worth another try; `certificate`, `address`, `timeout`,
    `cancelled`, `too-large`, `encoding` are not. `detail` is a few words of the operating system, never anything the
    server or a header said.
    """

    kind: str
    detail: str = ""


class CancellableSocket:
    """The socket of one exchange, so that another thread can cut it. Once cut, it is never connected again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connection: Any = None
        self._socket: Any = None
        self.is_cut = False

    def follow(self, connection: Any) -> None:
        """Remember the connection whose socket is to be shut; told before it connects and again afterwards.

        The socket is kept as well: the connection forgets it as soon as an answer that ends with it has begun.
        """
        with self._lock:
            self._connection = connection
            self._socket = getattr(connection, "sock", None)
            if self.is_cut:
                raise ConnectionAbortedError("given up before the connection was made")

    def cut(self) -> None:
        """Shut the socket, whatever it is doing; a read or a handshake that is under way ends with an error."""
        with self._lock:
            self.is_cut = True
            sock = self._socket or getattr(self._connection, "sock", None)
        if isinstance(sock, socket.socket):
            # The plain method also for TLS: the TLS one would take the session from under the reading thread.
            with contextlib.suppress(OSError):  # it had ended by itself
                socket.socket.shutdown(sock, socket.SHUT_RDWR)


def exchange(
    call: Call,
    *,
    seconds: float,
    max_bytes: int,
    cancelled: Callable[[], bool] = lambda: False,
    join: Join | None = None,
) -> Reply | TransportError:
    """Send `call` once and read the whole answer, within `seconds` of wall-clock time.

    Returns by then even if the server, the resolver or the TLS handshake does not answer. `join` judges where a
    connection really went, before a byte is sent there; with it no proxy and login of the environment is used.
    """
    deadline = time.monotonic() + seconds
    line = CancellableSocket()
    outcome: queue.SimpleQueue[Reply | TransportError | BaseException] = queue.SimpleQueue()

    def work() -> None:
        try:
            outcome.put(_sent(call, line, deadline, max_bytes, join))
        except BaseException as bug:  # noqa: BLE001 - handed to the caller's thread, which raises it
            outcome.put(bug)

    # A daemon: a resolver that never answers must not keep the program from ending.
    threading.Thread(target=work, name="llm-exchange", daemon=True).start()
    try:
        while True:
            remaining = deadline - time.monotonic()
            giving_up = "timeout" if remaining <= 0 else "cancelled" if cancelled() else ""
            try:
                # Also when giving up: an answer that has come was paid for.
                result = outcome.get(timeout=SLICE_SECONDS if giving_up else min(SLICE_SECONDS, remaining))
            except queue.Empty:
                if giving_up:
                    return TransportError(giving_up)
                continue
            if isinstance(result, BaseException):
                raise result
            return result
    finally:
        line.cut()  # also when Ctrl-C ends the waiting


def _session(line: CancellableSocket, join: Join | None) -> Session:
    """A session for one call. No redirect is seen: following one could carry the key to a stranger."""
    import requests

    class Blind(requests.Session):
        def get_redirect_target(self, resp: Response) -> None:
            """Sees no redirects; requests would also read the body of one whole."""

    session = Blind()
    session.trust_env = join is None
    adapter = _watched_adapter(line, join)
    session.mount("http://", adapter)
    session.mount("https://", adapter)
    return session


def _sent(
    call: Call, line: CancellableSocket, deadline: float, max_bytes: int, join: Join | None
) -> Reply | TransportError:
    """The blocking part, in the thread. Expected failures become a `TransportError`; all else is a bug and
    raises."""
    import requests
    import urllib3

    # Proxies and certificates of the environment count, but no proxy can reach this very machine for us.
    proxies = {"no_proxy": urlsplit(call.url).hostname or ""} if is_loopback(call.url) else None
    seconds = max(0.05, deadline - time.monotonic())
    headers = {"User-Agent": "knowledge-memory", "Accept": "application/json", "Accept-Encoding": "identity"}
    headers |= {**({} if call.body is None else {"Content-Type": "application/json"}), **call.headers}
    try:
        with (
            _session(line, join) as session,
            session.request(
                "GET" if call.body is None else "POST",
                call.url,
                data=None if call.body is None else json.dumps(call.body).encode("ascii"),
                headers=headers,
                stream=True,
                allow_redirects=False,
                timeout=(seconds, seconds),
                auth=_as_prepared if join is None else None,
                proxies=proxies,
            ) as response,
        ):
            return _read(response, max_bytes)
    except requests.exceptions.SSLError as problem:
        return TransportError("certificate", _system_words(problem))
    except requests.exceptions.ProxyError as problem:
        return TransportError(
            "connection", " ".join(("the proxy does not let it through", _system_words(problem))).strip()
        )
    except (requests.exceptions.InvalidURL, requests.exceptions.InvalidSchema, UnicodeError):
        return TransportError("address")
    except requests.exceptions.InvalidHeader as problem:
        if problem.args and isinstance(problem.args[0], urllib3.exceptions.HTTPError):
            return TransportError("connection", "the answer has a header that makes no sense")
        return TransportError("address", "a header cannot be sent; look for stray characters in the key")
    except (requests.RequestException, urllib3.exceptions.HTTPError, HTTPException, OSError) as problem:
        # A time-out of the socket is our own deadline: it was set to what was left.
        if time.monotonic() >= deadline - SLICE_SECONDS:
            return TransportError("timeout")
        return TransportError("absent" if _never_connected(problem) else "connection", _system_words(problem))


def _never_connected(problem: BaseException) -> bool:
    """Whether there was no connection at all: no such host, or nobody listens there."""
    from urllib3.exceptions import ConnectTimeoutError, NewConnectionError

    inner = problem.args[0] if problem.args else None
    return isinstance(getattr(inner, "reason", inner), (NewConnectionError, ConnectTimeoutError))


def _as_prepared(request: PreparedRequest) -> PreparedRequest:
    """Keeps requests from replacing our key with a login that `~/.netrc` has for the host."""
    return request


def _watched_adapter(line: CancellableSocket, join: Join | None) -> HTTPAdapter:
    """A transport adapter whose connections, direct or through a proxy, report to `line`, and are judged by `join`."""
    from requests.adapters import HTTPAdapter

    def watch(pool: Any) -> Any:
        plain = pool.ConnectionCls

        class Watched(plain):  # type: ignore[misc, valid-type]
            def connect(self) -> None:
                line.follow(self)
                super().connect()
                line.follow(self)  # refuses if it was cut meanwhile: no prompt must go out then

            def _new_conn(self) -> socket.socket:
                made: socket.socket = super()._new_conn()
                if join is not None:
                    try:
                        join(str(made.getpeername()[0]))
                    except OSError:
                        made.close()
                        raise
                return made

        pool.ConnectionCls = Watched
        return pool

    class Adapter(HTTPAdapter):
        def get_connection_with_tls_context(self, *arguments: Any, **named: Any) -> Any:
            return watch(super().get_connection_with_tls_context(*arguments, **named))

    return Adapter()


def _read(response: Response, max_bytes: int) -> Reply | TransportError:
    """The body, unpacked by ourselves so that a small answer cannot become a huge one in memory."""
    headers = {name.lower(): value for name, value in response.headers.items()}
    declared = headers.get("content-length", "")
    if _is_size(declared) and int(declared) > max_bytes:
        return TransportError("too-large")
    encoding = headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
        return TransportError("encoding")
    body = bytearray()
    for piece in response.raw.stream(CHUNK_BYTES, decode_content=False):
        body += piece
        if len(body) > max_bytes:
            return TransportError("too-large")
    # Older urllib3 does not compare these. Packed data says itself where it ends, and may be followed by padding.
    packed = encoding not in ("", "identity") and bool(body)
    if _is_size(declared) and len(body) < int(declared) and not packed:
        return TransportError("connection", "the answer was cut off")
    if not packed:
        return Reply(response.status_code, headers, bytes(body))
    unpacked = bytearray()
    rest = bytes(body)
    while rest and (not unpacked or rest.startswith(_GZIP)):  # one member may follow another; what else does is padding
        unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)  # 32: tells gzip and zlib apart by their first bytes
        try:
            unpacked += unpacker.decompress(rest, max_bytes + 1 - len(unpacked))
        except zlib.error:
            return TransportError("connection", "the compressed answer is damaged")
        if len(unpacked) > max_bytes:
            return TransportError("too-large")
        if not unpacker.eof:
            return TransportError("connection", "the compressed answer is damaged")
        rest = unpacker.unused_data
    return Reply(response.status_code, headers, bytes(unpacked))


def _is_size(text: str) -> bool:
    """Whether a header value is a plausible byte count (a server may say anything)."""
    return text.isascii() and text.isdecimal() and len(text) < 19


def _system_words(problem: BaseException) -> str:
    """What the operating system said ("Connection refused"), found at the bottom of a chain of exceptions.

    The texts of requests and urllib3 are not used: they can hold the URL or a header.
    """
    seen: set[int] = set()
    waiting: list[object] = [problem]
    while waiting:
        current = waiting.pop(0)
        if not isinstance(current, BaseException) or id(current) in seen:
            continue
        seen.add(id(current))
        words = getattr(current, "strerror", None) or getattr(current, "verify_message", None)
        if isinstance(words, str) and words:
            return words
        waiting += [*current.args, getattr(current, "reason", None), current.__cause__, current.__context__]
    return ""


def is_loopback(url: str) -> bool:
    """Whether the URL names this very machine, which no proxy can reach for us."""
    try:
        host = (urlsplit(url).hostname or "").casefold()
        return host == "localhost" or host.endswith(".localhost") or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
