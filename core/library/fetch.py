"""A page from an address, within bounds: bytes, time, redirects, and places that an address must not lead to.

An address that somebody else wrote (a redirect, a link in a document) may name this computer or its network: the door
of a router, the store of a cloud's keys. So every address is looked up before it is asked, those of private networks
are refused, and before a byte is sent the number is looked at to which the connection really went: a name may be
looked up again and lead elsewhere. The user's own address may be private when it says so itself
(`http://localhost:8000/`); a redirect into another private place is refused all the same.
"""

from __future__ import annotations

import contextlib
import hashlib
import ipaddress
import os
import re
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit, urlunsplit

from core.base.markdown import sanitise_line
from core.base.result import KnowledgeError
from core.base.secrets.redact import redact

if TYPE_CHECKING:
    from requests import Session

MAX_PAGE_BYTES = 32 << 20
SECONDS = 60.0
REDIRECTS = 5
_LONGEST_SUFFIX = 8
_SUFFIX = {
    "text/html": ".html", "application/xhtml+xml": ".html", "application/pdf": ".pdf", "text/markdown": ".md",
    "text/plain": ".txt", "application/json": ".json", "text/x-python": ".py", "text/csv": ".csv",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "application/x-ipynb+json": ".ipynb",
}  # fmt: skip


@dataclass(frozen=True)
class Page:
    """What an address gave: its bytes, the address in the end, a name whose suffix tells the type, and when it was
    written."""

    address: str
    data: bytes
    name: str
    written_at: datetime | None = None


def is_address(source: str) -> bool:
    """Whether a source is one that is fetched."""
    return re.match(r"https?://", source, re.IGNORECASE) is not None


def shown(address: str) -> str:
    """An address as it may be stored: without name, password and fragment. What is none comes back as it is,
    but for these."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return re.sub(r"(?<=//)[^/]*@|#.*", "", address)
    return urlunsplit(
        (parts.scheme.lower(), parts.netloc.rpartition("@")[2].lower(), parts.path or "/", parts.query, "")
    )


def stored_name(name: str) -> str:
    """A path or an address as the library stores and shows it: without secrets. Where one is replaced, a hash of the
    name stands beside the kind, so that two such files stay two."""
    address = is_address(name)
    name = shown(name) if address else name
    suffix = os.path.splitext(name)[1]  # by which the type of a file is told
    begins = len(name) - len(name.split("/", 3)[-1]) if address else 0
    ends = len(name) - len(suffix) * (len(suffix) <= _LONGEST_SUFFIX and not address)
    clean = redact(name[begins:ends])
    if not clean.counts:
        return name
    mark = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return name[:begins] + re.sub(r"(\[redacted: [^\]\n]{1,30})\]", rf"\1 {mark}]", clean.text) + name[ends:]


def fetch(address: str, *, seconds: float = SECONDS, most: int = MAX_PAGE_BYTES) -> Page:
    """Get a page. Raises KnowledgeError, in one sentence, for anything that a network can do."""
    import requests

    at = address
    try:
        own = private_host(address)
    except ValueError as error:
        raise KnowledgeError("no-address", f"this is no address: {error}", shown(address)) from error
    session = requests.Session()
    session.trust_env = False  # no names and passwords of a .netrc to whoever a link names
    open_sockets: list[socket.socket] = []
    private: list[str] = []  # why a connection was given up; the library wraps what is raised

    def joined(connected: socket.socket) -> None:
        """Judge a connection that is not used yet. Raises OSError."""
        if why := _why_private(str(connected.getpeername()[0]), at, own):
            connected.close()
            private.append(why)
            raise OSError(why)
        open_sockets.append(connected.dup())  # TLS takes the first one for itself
        if is_late():
            raise TimeoutError

    with _closed_after(seconds, open_sockets) as is_late:
        try:
            _watch_connections(session, joined)
            for _step in range(REDIRECTS + 1):
                if refused := why_refused(at, own):
                    raise KnowledgeError("refused-address", f"this address is not fetched: {refused}", shown(at))
                headers = {"User-Agent": "knowledge-memory", "Accept-Encoding": "gzip"}
                with session.get(at, headers=headers, timeout=(10, 20), stream=True, allow_redirects=False) as answer:
                    if answer.is_redirect:
                        at = urljoin(at, answer.headers.get("location", ""))
                        continue
                    if answer.status_code != 200:
                        said = sanitise_line(answer.reason or "", 80)
                        raise KnowledgeError(
                            "not-fetched", f"the server says {answer.status_code} {said}".rstrip(), shown(at)
                        )
                    if "," in answer.headers.get("content-encoding", ""):
                        raise KnowledgeError("not-fetched", "the page is packed more than once", shown(at))
                    data = _bounded(answer, most)
                    if is_late():
                        raise KnowledgeError("not-fetched", "the server takes too long", shown(at))
                    return _page(address, at, data, answer.headers)
            raise KnowledgeError("not-fetched", f"the server redirects more than {REDIRECTS} times", shown(address))
        except (requests.RequestException, ValueError, OSError) as error:
            if is_late():
                raise KnowledgeError("not-fetched", "the server takes too long", shown(at)) from error
            if private:
                why = f"this address is not fetched: {private[0]}"
                raise KnowledgeError("refused-address", why, shown(at)) from error
            raise KnowledgeError(
                "not-fetched", f"the page cannot be fetched: {sanitise_line(str(error), 200)}", shown(at)
            ) from error
        finally:
            session.close()


def _watch_connections(session: Session, joined: Callable[[socket.socket], None]) -> None:
    """Have `joined` called with each connection of a session before anything goes over it."""
    from requests.adapters import HTTPAdapter
    from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

    class Watched:
        def _new_conn(self) -> socket.socket:
            made: socket.socket = super()._new_conn()  # type: ignore[misc]
            joined(made)
            return made

    pools = {
        pool.scheme: type("Pool", (pool,), {"ConnectionCls": type("Connection", (Watched, pool.ConnectionCls), {})})
        for pool in (HTTPConnectionPool, HTTPSConnectionPool)
    }

    class Adapter(HTTPAdapter):
        def init_poolmanager(self, *arguments: Any, **named: Any) -> None:
            super().init_poolmanager(*arguments, **named)
            self.poolmanager.pool_classes_by_scheme = pools

    for scheme in ("http://", "https://"):
        session.mount(scheme, Adapter(max_retries=0))


@contextlib.contextmanager
def _closed_after(seconds: float, open_sockets: list[socket.socket]) -> Iterator[Callable[[], bool]]:
    """Close connections when the time is up, wherever their server keeps us waiting: a byte now and then is no silence
    that a time-out would notice. Yields whether it is up."""
    late = threading.Event()

    def close() -> None:
        late.set()
        for one in open_sockets:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(seconds, close)
    timer.daemon = True
    timer.start()
    try:
        yield late.is_set
    finally:
        timer.cancel()
        timer.join()
        for one in open_sockets:
            one.close()


def _bounded(answer: Any, most: int) -> bytes:
    """The body, at most so many bytes."""
    parts, size = [], 0
    for part in answer.iter_content(65536):
        size += len(part)
        if size > most:
            raise KnowledgeError("too-large", f"the page has more than {most >> 20} MB", shown(answer.url))
        parts.append(part)
    return b"".join(parts)


def _page(address: str, at: str, data: bytes, headers: Mapping[str, str]) -> Page:
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    path = urlsplit(at).path.rstrip("/")
    suffix = _SUFFIX.get(kind, "")
    last = path.rpartition("/")[2] or urlsplit(at).hostname or "page"
    name = last if not suffix or (suffix == ".txt" and "." in last) or last.endswith(suffix) else last + suffix
    said, written = headers.get("last-modified"), None
    if said:
        with contextlib.suppress(ValueError):
            written = parsedate_to_datetime(said).astimezone(UTC)
    return Page(shown(address), data, name, written)


# --- where an address leads -------------------------------------------------------------------------------------------


def private_host(address: str) -> frozenset[str]:
    """The host that an address names, when it is private by its very words."""
    host = (urlsplit(address).hostname or "").lower()
    try:
        private = not ipaddress.ip_address(host).is_global
    except ValueError:
        private = host == "localhost" or host.endswith((".localhost", ".local", ".internal", ".lan")) or "." not in host
    return frozenset((host,)) if private else frozenset()


def why_refused(address: str, own: frozenset[str] = frozenset()) -> str:
    """Why an address may not be asked, "" when it may. `own` are private hosts that the user named."""
    parts = urlsplit(address)
    if parts.scheme.lower() not in ("http", "https"):
        return f"{parts.scheme or 'it'} is no kind of address that is fetched"
    if not parts.hostname:
        return "it names no host"
    if parts.hostname.lower() in own:
        return ""
    try:
        found = socket.getaddrinfo(parts.hostname, parts.port or 0, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError, ValueError) as error:
        return f"its host is not found ({error})"
    return next((why for row in found if (why := _why_private(str(row[4][0]), address, own))), "")


def _why_private(number: str, address: str, own: frozenset[str]) -> str:
    host = (urlsplit(address).hostname or "").lower()
    if host in own:
        return ""
    found = ipaddress.ip_address(number.partition("%")[0])
    mapped = getattr(found, "ipv4_mapped", None)
    if (mapped or found).is_global and not found.is_multicast:
        return ""
    return f"{host} is in a private network ({number}), and only an address of your own may be"
