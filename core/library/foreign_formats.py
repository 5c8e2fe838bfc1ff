"""PDF, DOCX, HTML and notebooks into text, by the libraries of the extra `documents`.

A reader takes whatever bytes it is given, and may raise anything, run for ever or take all memory: `extract_process.py`
runs it in a process of its own. Libraries are imported by the reader that needs them.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

MAX_MARKUP = 32 << 20
"""Bytes to which the XML of a DOCX file may unpack; reading it takes some twenty times as much memory."""


class Part(NamedTuple):
    """A stretch of a text that belongs together, `text[begins:ends]`: a turn of a conversation with its role, a page, a
    function with its name; "" for one without."""

    begins: int
    ends: int
    label: str = ""


class Foreign(NamedTuple):
    """A file as text. `title` is what it calls itself, "" for nothing; `notes` are sentences about what could not be
    read."""

    text: str
    title: str = ""
    parts: tuple[Part, ...] = ()
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, said: dict[str, Any]) -> Foreign:
        """One of its fields, as JSON gives them."""
        return cls(said["text"], said["title"], tuple(Part(*row) for row in said["parts"]), tuple(said["notes"]))


def tidied(text: str) -> str:
    """Text that every database can hold: line breaks as `\\n`, no NUL, no half of a character."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = text.replace("\0", "\ufffd")
    return text if text.isascii() else re.sub("[\ud800-\udfff]", "\ufffd", text)


def _pdf(data: bytes) -> Foreign:
    import logging

    import pypdf

    logging.getLogger("pypdf").setLevel(logging.ERROR)
    reader = pypdf.PdfReader(io.BytesIO(data))
    if reader.is_encrypted and not reader.decrypt(""):
        raise ValueError("it is encrypted")
    text, parts, unread = "", [], 0
    for number, page in enumerate(reader.pages, start=1):
        try:
            words = page.extract_text()
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001 - a broken page affects only itself
            unread += 1
            continue
        begins = len(text)
        text += re.sub(r"(\w)-\n(?=[a-z])", r"\1", tidied(words)).strip() + "\n\f\n"
        parts.append(Part(begins, len(text), f"page {number}"))
    title = str((reader.metadata.title if reader.metadata is not None else "") or "").strip()
    return Foreign(text, title, tuple(parts), (f"{unread} pages could not be read",) if unread else ())


def _docx(data: bytes) -> Foreign:
    import zipfile

    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        sizes = [(row.filename.lower(), row.file_size) for row in packed.infolist()]
        markup = sum(size for name, size in sizes if name.endswith((".xml", ".rels")))
        # Any member may be named as the one with the text.
        largest = max((size for _, size in sizes), default=0)
        if max(markup, largest) > MAX_MARKUP:
            raise ValueError("it unpacks to more than is allowed")
    import mammoth

    made = mammoth.convert_to_html(
        io.BytesIO(data), convert_image=mammoth.images.img_element(lambda _image: {"src": ""})
    )
    # A space of such a file is meant, one of a page is not: the indentation of code is made of them.
    return _html(made.value.replace("  ", "\u00a0\u00a0").encode())


_CLUTTER = (
    "script", "style", "noscript", "template", "nav", "header", "footer", "aside", "form", "iframe", "svg", "button",
)  # fmt: skip

_NO_CELL = ("pre", "dl", "table")
"""What no cell of rows and columns holds: a table with one of them lays out a page."""


def _html(data: bytes) -> Foreign:
    import bs4
    import markdownify

    soup = bs4.BeautifulSoup(data, "html.parser")
    title = soup.title.get_text(" ", strip=True) if soup.title is not None else ""
    body = soup.select_one("article, main, [role=main]") or soup.body or soup
    for node in body.find_all(_CLUTTER):
        node.decompose()
    for node in body.find_all("img"):
        node.replace_with(str(node.get("alt") or ""))
    for node in body.find_all("a"):  # in the middle of code, as in `Option<Ordering>`, an address would be part of it
        before, after = (str(one) if isinstance(one, str) else "" for one in (node.previous_sibling, node.next_sibling))
        if before.endswith(("<", "[", "&", "*", "::", "_")) or after.startswith((">", "]", "::", "_")):
            node.unwrap()
    for table in body.find_all(lambda node: node.name == "table" and node.find(_NO_CELL) is not None):
        for node in table.find_all(("thead", "tbody", "tr", "td", "th")):
            if node.find_parent("table") is table:
                node.name = "div"  # a cell would put all lines of its code on one
        table.name = "div"
    # What is kept is text, and its marks are not meant to be shown: an escape would be one more letter of a name.
    converter = markdownify.MarkdownConverter(
        heading_style="ATX", bullets="-", escape_underscores=False, escape_asterisks=False
    )
    text = converter.convert_soup(body)
    # A space that does not break looks like any other and is none to a program.
    text = re.sub(r"\n{3,}", "\n\n", text.replace("\u00a0", " "))
    return Foreign(text.strip("\n").rstrip() + "\n", title)


def _notebook(data: bytes) -> Foreign:
    """A Jupyter notebook: its cells in order, code in fences, with the text that the code printed."""
    document = json.loads(data)
    cells = document.get("cells")
    if cells is None:  # version 3
        cells = [cell for sheet in document.get("worksheets", ()) for cell in sheet.get("cells", ())]
    language = str(document.get("metadata", {}).get("kernelspec", {}).get("language") or "python")
    blocks = [block for cell in cells for block in _cell(cell, language)]
    return Foreign("\n\n".join(blocks) + "\n")


def _cell(cell: dict[str, Any], language: str) -> Iterator[str]:
    source = _joined(cell.get("source", cell.get("input", ""))).strip("\n")
    if not source.strip():
        return
    kind = cell.get("cell_type")
    if kind != "code":
        yield f"{'#' * int(cell.get('level', 1))} {source}" if kind == "heading" else source
        return
    fence = _fence(source)
    yield f"{fence}{language}\n{source}\n{fence}"
    for output in cell.get("outputs", ()):
        data = output.get("data") or {}
        said = _joined(output.get("text") or data.get("text/plain") or "").strip("\n")
        if output.get("output_type") == "error" or output.get("ename"):
            said = f"{output.get('ename', '')}: {output.get('evalue', '')}"
        if said.strip():
            fence = _fence(said)
            yield f"{fence}\n{said}\n{fence}"


def _joined(lines: str | Sequence[str]) -> str:
    return lines if isinstance(lines, str) else "".join(map(str, lines))


def _fence(text: str) -> str:
    return "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))


READERS: dict[str, Callable[[bytes], Foreign]] = {"pdf": _pdf, "docx": _docx, "html": _html, "notebook": _notebook}
"""Kind -> what reads a file of it. Each raises ImportError where its library is missing, else what that raises."""
