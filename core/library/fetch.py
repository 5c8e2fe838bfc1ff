"""A page from an address, within bounds: bytes, time, redirects, and places that an address must not lead to.

An address that somebody else wrote (a redirect, a link in a document) may name this computer or its network: the door
of a router, the store of a cloud's keys. So every address is looked up before it is asked, those of private networks
are refused, and the connection goes to the very address that was looked at. The person's own address may be private
when it says so itself (`http://localhost:8000/`); a redirect into another private place is refused all the same.
"""

from __future__ import annotations

import ipaddress
import re
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import urljoin, urlsplit, urlunsplit

from core.base.result import Err, Ok, Result, fail

MOST_BYTES = 32 << 20
SECONDS = 60.0
REDIRECTS = 5
_SUFFIX = {
    "text/html": ".html", "application/xhtml+xml": ".html", "application/pdf": ".pdf", "text/markdown": ".md",
    "text/plain": ".txt", "application/json": ".json", "text/x-python": ".py", "text/csv": ".csv",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "application/x-ipynb+json": ".ipynb",
}  # fmt: skip


@dataclass(frozen=True)
class Page:
    """What an address gave: its bytes, the address in the end, a name whose suffix tells the type, when it was written,
    and a mark by which the next fetch is spared ("" for none)."""

    address: str
    data: bytes
    name: str
    written_at: datetime | None = None
    mark: str = ""


UNCHANGED = Page("", b"", "")
"""The server says that nothing has changed since the mark."""


def is_address(source: str) -> bool:
    """Whether a source is one that is fetched."""
    return re.match(r"https?://", source, re.IGNORECASE) is not None


def shown(address: str) -> str:
    """An address as it may be stored: without name, password and fragment."""
    parts = urlsplit(address)
    return urlunsplit(
        (parts.scheme.lower(), parts.netloc.rpartition("@")[2].lower(), parts.path or "/", parts.query, "")
    )


def fetch(address: str, mark: str = "", *, seconds: float = SECONDS, most: int = MOST_BYTES) -> Result[Page]:
    """Get a page. `mark` is that of the last fetch. Err in one sentence for anything that a network can do."""
    import requests

    ends = time.monotonic() + seconds
    at = address
    own = _hosts_of(address)
    session = requests.Session()
    session.trust_env = False  # no names and passwords of a .netrc to whoever a link names
    try:
        for _step in range(REDIRECTS + 1):
            refused = why_refused(at, own)
            if refused:
                return fail("refused-address", f"this address is not fetched: {refused}", shown(at))
            headers = {"User-Agent": "knowledge-memory", **_conditions(mark)}
            with session.get(at, headers=headers, timeout=(10, 20), stream=True, allow_redirects=False) as answer:
                if answer.is_redirect:
                    at = urljoin(at, answer.headers.get("location", ""))
                    continue
                if answer.status_code == 304:
                    return Ok(UNCHANGED)
                if answer.status_code != 200:
                    return fail("not-fetched", f"the server says {answer.status_code} {answer.reason}", shown(at))
                peer = _peer_of(answer)
                if peer and (why := _why_private(peer, at, own)):
                    return fail("refused-address", f"this address is not fetched: {why}", shown(at))
                data = _bounded(answer, ends, most)
                return data if isinstance(data, Err) else Ok(_page(address, at, data.value, answer.headers))
        return fail("not-fetched", f"the server redirects more than {REDIRECTS} times", shown(address))
    except requests.RequestException as error:
        why = re.sub(r"\s+", " ", str(error))[:200]
        return fail("not-fetched", f"the page cannot be fetched: {why}", shown(at))
    except (ValueError, OSError) as error:
        return fail("not-fetched", f"the page cannot be fetched: {error}", shown(at))
    finally:
        session.close()


def _bounded(answer: object, ends: float, most: int) -> Result[bytes]:
    """The body, at most so many bytes until so late: a server that drips is let go."""
    parts, size = [], 0
    for part in answer.iter_content(65536):  # type: ignore[attr-defined]
        size += len(part)
        if size > most:
            return fail("too-large", f"the page has more than {most >> 20} MB", shown(answer.url))  # type: ignore[attr-defined]
        if time.monotonic() > ends:
            return fail("not-fetched", "the server takes too long", shown(answer.url))  # type: ignore[attr-defined]
        parts.append(part)
    return Ok(b"".join(parts))


def _conditions(mark: str) -> dict[str, str]:
    if mark.startswith("etag "):
        return {"If-None-Match": mark[5:]}
    return {"If-Modified-Since": mark[6:]} if mark.startswith("since ") else {}


def _page(address: str, at: str, data: bytes, headers: Mapping[str, str]) -> Page:
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    path = urlsplit(at).path.rstrip("/")
    suffix = _SUFFIX.get(kind, "")
    last = path.rpartition("/")[2] or urlsplit(at).hostname or "page"
    name = last if not suffix or (suffix == ".txt" and "." in last) or last.endswith(suffix) else last + suffix
    written, mark = None, ""
    if said := headers.get("last-modified"):
        mark = f"since {said}"
        try:
            written = parsedate_to_datetime(said).astimezone(UTC)
        except ValueError:
            written = None
    if tag := headers.get("etag"):
        mark = f"etag {tag}"
    return Page(shown(address), data, name, written, mark[:500])


# --- where an address leads -------------------------------------------------------------------------------------------


def _hosts_of(address: str) -> frozenset[str]:
    """The host that the person named, when it is private by its very words."""
    host = (urlsplit(address).hostname or "").lower()
    try:
        private = not ipaddress.ip_address(host).is_global
    except ValueError:
        private = host == "localhost" or host.endswith((".localhost", ".local", ".internal", ".lan")) or "." not in host
    return frozenset((host,)) if private else frozenset()


def why_refused(address: str, own: frozenset[str] = frozenset()) -> str:
    """Why an address may not be asked, "" when it may. `own` are private hosts that the person named."""
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


def _peer_of(answer: object) -> str:
    """The number that the connection really went to: a name may be looked up anew and lead elsewhere. "" where the
    library does not tell."""
    connection = getattr(getattr(answer, "raw", None), "connection", None) or getattr(
        getattr(answer, "raw", None), "_connection", None
    )
    socket_ = getattr(connection, "sock", None)
    try:
        return str(socket_.getpeername()[0]) if socket_ is not None else ""
    except (OSError, IndexError):
        return ""
