"""Pages at addresses: what is fetched, and what no page of a stranger may do to a run or to this network."""

from __future__ import annotations

import contextlib
import gzip
import socket
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from core.base.result import KnowledgeError, attempt
from core.library import rows
from core.library.database import Library
from core.library.fetch import fetch, why_refused
from tests.test_library_ingest import documents, take_in

Give = Callable[[BaseHTTPRequestHandler], None]
Site = tuple[str, dict[str, Give]]


@pytest.fixture
def site() -> Iterator[Site]:
    """A web server on loopback: path -> what it does."""
    pages: dict[str, Give] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            pages[self.path.partition("?")[0]](self)

        def log_message(self, *_arguments: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", pages
    server.shutdown()
    server.server_close()


def answer(body: bytes, status: int = 200, **headers: str) -> Give:
    def give(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in {"Content_Type": "text/html", **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return give


def redirect(to: str) -> Give:
    return answer(b"", 302, Location=to)


@pytest.mark.parametrize("library_url", ["sqlite"], indirect=True)
def test_a_page_is_taken_in_and_not_again_while_it_is_the_same(library: Library, site: Site) -> None:
    base, pages = site
    page = b"<html><title>Hangs</title><main><h1>Why it hangs</h1><p>Two tasks wait for each other.</p></main></html>"
    pages["/moved"] = redirect("/page")
    pages["/page"] = answer(page, Last_Modified="Sun, 01 Nov 2026 10:00:00 GMT")
    report = take_in(library, f"{base}/moved", f"{base.replace('//', '//me:secret@')}/page?x=1#part")
    assert [row.status for row in report.documents] == ["new", "known"], report.errors
    (document,) = documents(library)
    assert document.title == "Hangs" and document.source == f"{base}/moved" and document.content_type == "article"
    assert document.written_at is not None and document.written_at.day == 1
    with library.reading() as connection:
        assert "secret" not in repr(rows.locations_of(connection, document.id))
    assert take_in(library, f"{base}/moved").unchanged == 1
    pages["/page"] = answer(page.replace(b"wait for", b"wait and wait for"))
    assert [row.status for row in take_in(library, f"{base}/moved").documents] == ["changed"]
    assert {row.status for row in documents(library)} == {"active"}  # the former one is at ?x=1 still


def test_an_address_does_not_lead_where_it_must_not(site: Site) -> None:
    base, pages = site
    pages["/inside"] = redirect("http://169.254.169.254/latest/meta-data/")
    pages["/other"] = redirect(base.replace("127.0.0.1", "127.0.0.2") + "/page")
    pages["/file"] = redirect("file:///etc/passwd")
    pages["/round"] = redirect("/round")
    pages["/big"] = answer(b"x" * 5000)
    pages["/gone"] = lambda handler: handler.send_error(404)
    pages["/page"] = answer(b"ok")
    for path, expected in (
        ("/inside", "private network"), ("/other", "private network"), ("/file", "no kind of address"),
        ("/round", "redirects more than"), ("/gone", "404"),
    ):  # fmt: skip
        result = attempt(fetch, base + path)
        assert isinstance(result, KnowledgeError) and expected in str(result.error), result
    assert isinstance(attempt(fetch, base + "/big", most=1000), KnowledgeError)
    assert isinstance(attempt(fetch, "http://127.0.0.1:1/"), KnowledgeError)
    for address in ("[::ffff:10.0.0.1]/", "2130706433/", "0.0.0.0/", "/x"):
        assert why_refused(f"http://{address}"), address
    assert why_refused("ftp://example.org/")


@pytest.mark.parametrize(("begins", "size"), [(b"X-Long: ", 1), (b"\r\n", 1), (b"\r\n", 70_000)])
def test_a_byte_now_and_then_is_no_sign_of_life(site: Site, begins: bytes, size: int) -> None:
    """A page that never ends would keep a run for days."""
    base, pages = site
    done: list[bytes] = []

    def drip(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"HTTP/1.0 200 OK\r\n" + begins)
        with contextlib.suppress(OSError):
            for _ in range(600):
                handler.wfile.write(b"x" * size)
                handler.wfile.flush()
                time.sleep(0.05)
            done.append(begins)

    pages["/drip"] = drip
    result = attempt(fetch, base + "/drip", seconds=0.3)
    assert isinstance(result, KnowledgeError) and "too long" in str(result.error), result
    assert not done, "it was listened to until the end"


def test_a_name_that_leads_elsewhere_the_second_time_is_sent_nothing(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever owns a name may change where it leads between the look and the connection."""
    base, pages = site
    port = int(base.rpartition(":")[2])
    asked: list[BaseHTTPRequestHandler] = []
    pages["/keys"] = asked.append
    usual, looks = socket.getaddrinfo, []

    def look_up(host: str, *more: object, **named: object) -> list[object]:
        if host != "rebound.example.org":
            return usual(host, *more, **named)  # type: ignore[arg-type, return-value]
        looks.append(host)
        number = "93.184.216.34" if len(looks) == 1 else "127.0.0.1"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (number, port))]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    result = attempt(fetch, f"http://rebound.example.org:{port}/keys")
    assert isinstance(result, KnowledgeError) and "private network" in str(result.error), result
    assert len(looks) > 1 and asked == []


def test_a_page_that_is_packed_over_and_over_is_not_unpacked(site: Site) -> None:
    base, pages = site
    once = gzip.compress(bytes(40 << 20), 1)
    pages["/twice"] = answer(gzip.compress(once), Content_Encoding="gzip, gzip")
    pages["/once"] = answer(once, Content_Encoding="gzip")
    for path, said in (("/twice", "more than once"), ("/once", "more than 32 MB")):
        result = attempt(fetch, base + path)
        assert isinstance(result, KnowledgeError) and said in str(result.error)
