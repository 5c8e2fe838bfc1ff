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
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.client import responses
from urllib.parse import urljoin, urlsplit, urlunsplit

from core.base.exchange import Call, TransportError, exchange
from core.base.markdown import sanitise_line
from core.base.result import KnowledgeError
from core.base.secrets.redact import redact

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
    try:
        own = private_host(address)
    except ValueError as error:
        raise KnowledgeError("no-address", f"this is no address: {error}", shown(address)) from error
    at, until = address, time.monotonic() + seconds
    given_up: list[str] = []

    def join(number: str) -> None:
        if why := _why_private(number, at, own):
            given_up.append(why)
            raise OSError(why)

    for _step in range(REDIRECTS + 1):
        refused = why_refused(at, own)
        if not refused:
            left = max(0.0, until - time.monotonic())
            answer = exchange(Call("", at, _HEADERS, None), seconds=left, max_bytes=most, join=join)
            refused = next(iter(given_up), "")
        if refused:
            raise KnowledgeError("refused-address", f"this address is not fetched: {refused}", shown(at))
        if isinstance(answer, TransportError):
            because = f": {sanitise_line(answer.detail, 200)}" if answer.detail else ""
            why = _BROKEN[answer.kind].format(most=most >> 20) + because
            code = answer.kind if answer.kind == "too-large" else "not-fetched"
            raise KnowledgeError(code, why, shown(at))
        elsewhere = answer.headers.get("location", "")
        if elsewhere and answer.status in _MOVED:
            at = _leading_to(at, elsewhere)
        elif answer.status != 200:
            said = f"{answer.status} {responses.get(answer.status, '')}".rstrip()
            raise KnowledgeError("not-fetched", f"the server says {said}", shown(at))
        else:
            return _page(address, at, answer.body, answer.headers)
    raise KnowledgeError("not-fetched", f"the server redirects more than {REDIRECTS} times", shown(address))


_HEADERS = {"Accept": "*/*", "Accept-Encoding": "gzip"}
_MOVED = (301, 302, 303, 307, 308)
_BROKEN = {
    "timeout": "the server takes too long",
    "too-large": "the page has more than {most} MB",
    "encoding": "the page is packed more than once, or in a way that was not asked for",
    "certificate": "the certificate of the server cannot be trusted",
    "address": "the page cannot be fetched: this is no address that can be asked",
    "absent": "the page cannot be fetched: nobody answers",
    "connection": "the page cannot be fetched: the connection failed or broke off",
}
"""What kept an exchange from an answer, in words."""


def _leading_to(address: str, elsewhere: str) -> str:
    """Where a redirect leads; an address of no host, which is refused, where that is none."""
    try:
        found = urljoin(address, elsewhere)
        urlsplit(found)
    except ValueError:
        return "http://"
    return found


def _page(address: str, at: str, data: bytes, headers: Mapping[str, str]) -> Page:
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    path = urlsplit(at).path.rstrip("/")
    suffix = _SUFFIX.get(kind, "")
    last = path.rpartition("/")[2] or urlsplit(at).hostname or "page"
    name = last if not suffix or (suffix == ".txt" and "." in last) or last.endswith(suffix) else last + suffix
    said, written = headers.get("last-modified"), None
    if said:
        with contextlib.suppress(ValueError, OverflowError):
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
