"""Bytes of any kind into text that can be kept: what it is, its title, and in which form its text is parted.

The type is told by the content first and by the name second. Foreign formats are read by libraries of the extra
`documents`; where one is missing, the file is reported with the sentence that says so, and nothing else stops.
What comes from a file is untrusted: it is text and nothing but text from here on.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import json
import logging
import os
import re
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any

from core.base.installed import how_to_install
from core.base.marks import NOTICE
from core.base.result import KnowledgeError, Ok, Result
from core.conversations.conversation import Conversation, Turn
from core.conversations.events import OUTPUT_HEAD
from core.conversations.plain import UNKNOWN_JSON
from core.conversations.read import HEAD_BYTES, format_of, read_all, why_unread

MOST_BYTES = 64 << 20
"""A larger file is reported and left alone."""
MOST_UNPACKED = 512 << 20
"""Of what a DOCX file unpacks to."""
MOST_MARKUP = 32 << 20
"""Of the text with marks in it, which takes some twenty times as much memory to read; pictures are left alone."""
READ_SECONDS = 120.0
"""So long a library reads one file of a foreign format."""
READ_MEMORY = 1536 << 20
"""By so many bytes the program may grow while it does: an honest page of 32 MB takes some twenty times its size."""
_LOOK_SECONDS = 0.05

LANGUAGES = {
    "py": "python", "pyi": "python", "pyw": "python", "js": "javascript", "jsx": "javascript", "mjs": "javascript",
    "cjs": "javascript", "ts": "typescript", "tsx": "tsx", "rs": "rust", "go": "go", "java": "java", "c": "c", "h": "c",
    "cc": "cpp", "cpp": "cpp", "cxx": "cpp", "hpp": "cpp", "hh": "cpp", "rb": "ruby", "sh": "bash", "bash": "bash",
    "zsh": "bash", "cs": "c_sharp", "php": "php", "swift": "swift", "kt": "kotlin", "scala": "scala", "lua": "lua",
    "pl": "perl", "pm": "perl", "r": "r", "jl": "julia", "sql": "sql", "css": "css", "scss": "css", "vue": "vue",
    "ex": "elixir", "exs": "elixir", "erl": "erlang", "hs": "haskell", "ml": "ocaml", "clj": "clojure", "zig": "zig",
    "m": "objc", "dart": "dart", "ps1": "powershell", "bat": "batch", "cmake": "cmake", "mk": "make", "nix": "nix",
    "tf": "terraform", "proto": "protobuf", "asm": "assembly", "s": "assembly", "el": "lisp", "lisp": "lisp",
    "toml": "toml", "ini": "ini", "cfg": "ini", "conf": "ini", "yaml": "yaml", "yml": "yaml", "xml": "xml",
}  # fmt: skip
"""Suffix -> language. Those of the last row are settings: their blocks are parted like code."""
_NAMED = {"makefile": "make", "dockerfile": "docker", "cmakelists.txt": "cmake", "gemfile": "ruby", "rakefile": "ruby"}
_PROSE = {"md": "markdown", "markdown": "markdown", "mdx": "markdown", "txt": "text", "rst": "text", "adoc": "text",
          "org": "text", "tex": "text", "log": "text", "": "text"}  # fmt: skip
_DATA = ("json", "jsonl", "csv", "tsv", "ndjson")
_SHEBANG = re.compile(r"#!.*?\b(python|bash|sh|zsh|node|ruby|perl|lua)\b")
_INTERPRETERS = {"sh": "bash", "zsh": "bash", "node": "javascript"}


@dataclass(frozen=True)
class Part:
    """A stretch of an extracted text that belongs together, `text[begins:ends]`: a turn of a conversation with its
    role, a cell of a notebook, a page."""

    begins: int
    ends: int
    label: str


@dataclass(frozen=True)
class Extracted:
    """A document as text. `form` says how it is parted: markdown, text, code, conversation, data. `inside` names one
    of several documents in a file."""

    text: str
    content_type: str
    form: str
    title: str
    language: str = ""
    parts: tuple[Part, ...] = ()
    written_at: datetime | None = None
    inside: str = ""
    notes: tuple[str, ...] = ()


def extract(name: str, data: bytes, content_type: str = "") -> list[Extracted]:
    """The documents of a file: one, or the conversations of an export. `content_type` is what the person says it is,
    "" to have it told. Raises KnowledgeError, in one sentence, for what cannot be read; never raises for anything in
    `data`."""
    if len(data) > MOST_BYTES:
        size = f"{len(data) >> 20} MB, {MOST_BYTES >> 20} MB at the most"
        raise KnowledgeError("too-large", f"the file is too large ({size})", name)
    if not data.strip():
        raise KnowledgeError("empty", "the file is empty", name)
    suffix = PurePath(name).suffix.lower().removeprefix(".")
    foreign = _foreign(data, suffix)
    if foreign is not None:
        return _by_library(name, data, foreign, content_type)
    if suffix not in LANGUAGES and suffix not in ("html", "htm") and content_type in ("", "conversation"):
        found = _conversations(name, data)
        if found is not None or content_type == "conversation":
            return (
                found
                if found is not None
                else KnowledgeError("no-conversation", "this is no conversation of any tool", name)
            )
    text = as_text(data)
    if text is None:
        raise KnowledgeError("no-text", "this is no text, and no kind of file that is known", name)
    return [_plain_text(name, text, suffix, content_type)]


def as_text(data: bytes) -> str | None:
    """Text in one spelling: UTF-8 (or UTF-16 that says so), line breaks as `\\n`, no NUL; None for what is no text."""
    for mark, encoding in ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"\xef\xbb\xbf", "utf-8-sig")):
        if data.startswith(mark):
            try:
                return tidied(data.decode(encoding))
            except UnicodeDecodeError:
                return None
    if b"\0" in data[:8192]:
        return None
    try:
        return tidied(data.decode("utf-8"))
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    strange = sum(
        (character < " " and character not in "\t\n\r\f\x1b") or "\x7f" <= character <= "\x9f" for character in text
    )
    return tidied(text) if strange * 50 < len(text) else None


def tidied(text: str) -> str:
    """Text that every database can hold."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = text.replace("\0", "\ufffd")
    return text if text.isascii() else re.sub("[\ud800-\udfff]", "\ufffd", text)


# --- text -------------------------------------------------------------------------------------------------------------


def _plain_text(name: str, text: str, suffix: str, content_type: str) -> Extracted:
    base = PurePath(name).name
    shebang = _SHEBANG.match(text)
    language = LANGUAGES.get(suffix, "") or _NAMED.get(base.lower(), "")
    if not language and not suffix and shebang:
        language = _INTERPRETERS.get(shebang[1], shebang[1])
    if language and content_type in ("", "code"):
        return Extracted(text, "code", "code", base, language)
    if suffix in _DATA:
        return Extracted(text, content_type or "reference", "data", base, suffix)
    form = _PROSE.get(suffix, "text")
    if form == "text" and re.search(r"^#{1,6} \S", text, re.MULTILINE) and suffix not in ("log", "tex", "org"):
        form = "markdown"
    title = title_of(text, form) or PurePath(name).stem or name
    return Extracted(text, content_type or prose_type(name, text), form, title)


_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
_UNDERLINED = re.compile(r"^(?P<title>[^\s#>|*+-][^\n]{2,100})\n(?:=+|-{4,}|~{4,}|\*{4,})[ \t]*$", re.MULTILINE)
_FRONT_TITLE = re.compile(r"\A---\n(?:.*\n){0,30}?title:[ \t]*[\"']?(.+?)[\"']?[ \t]*\n")


def title_of(text: str, form: str) -> str:
    """The title that a text gives itself, "" for none."""
    head = text[:20_000]
    if found := _FRONT_TITLE.match(head):
        return found[1][:200]
    patterns = (_HEADING, _UNDERLINED) if form == "markdown" else (_UNDERLINED,)
    found_at = sorted((found.start(), found[1]) for pattern in patterns if (found := pattern.search(head)))
    if found_at:
        return without_marks(found_at[0][1], ticks=False).strip()[:200]
    first = next((line.strip() for line in head.split("\n") if line.strip()), "")
    return first if 3 <= len(first) <= 100 and not first.endswith((",", ";")) else first[:80].rsplit(" ", 1)[0]


_MARKED = re.compile(
    r"(?P<code>(?<!`)(?P<ticks>`+)(?!`)(?P<inside>.{1,400}?)(?<!`)(?P=ticks)(?!`))"
    r"|(?<![\w)\]])!?\[(?P<label>[^\]]{0,400})\]\([^)]{0,800}\)"
    r"|(?<![\w*\\)\]])(?P<stars>\*{1,3})(?=[\w\"'`(\[“‘])(?P<said>(?:(?![\s(](?P=stars)[^\s*]).){1,400}?)"
    r"(?<=[^\s*])(?P=stars)(?=[\s.,;:!?)\]\"'’”—-]|\Z)"
    r"|(?<![\w\\])(?P<lines>_{1,2})(?=[^\W_])(?P<phrase>[^_\n]{0,200}\s[^_\n]{0,200})(?<=[^\s_])(?P=lines)(?!\w)"
)


def without_marks(text: str, *, ticks: bool = True) -> str:
    """A stretch of markdown without its links and emphasis: `*args`, `MAX_WORKERS` and what stands between backticks
    are code, and stay letter by letter. With `ticks`, the backticks stay too."""

    def plain(found: re.Match[str]) -> str:
        if found["code"] is not None:
            return found["code"] if ticks else found["inside"]
        return without_marks(next(found[name] for name in ("label", "said", "phrase") if found[name] is not None),
                             ticks=ticks)  # fmt: skip

    return _MARKED.sub(plain, text)


_PAPER = re.compile(r"^\W*(?:\d+\.?\s+)?(abstract|references|bibliography)\b\W*$", re.IGNORECASE | re.MULTILINE)
_REFERENCE_NAME = re.compile(
    r"(?:^|/)(?:docs?|documentation|reference|man|api|manual|licenses?)/|(?:^|/)(?:readme|changelog|license|copying|api)\b",
    re.IGNORECASE,
)
_REFERENCE_TEXT = re.compile(
    r"^(?:#+ )?(?:usage|parameters|arguments|options|synopsis|installation|api)\b", re.I | re.M
)


def prose_type(name: str, text: str) -> str:
    """What a text is, by its marks: a paper has an abstract and references, a reference says how something is used,
    a note is short."""
    marks = {found[1].lower() for found in _PAPER.finditer(text)}
    if "abstract" in marks and marks & {"references", "bibliography"}:
        return "paper"
    if _REFERENCE_NAME.search(name.replace("\\", "/")) or len(_REFERENCE_TEXT.findall(text)) >= 2:
        return "reference"
    return "note" if len(text) < 2400 else "article"


# --- conversations ----------------------------------------------------------------------------------------------------

NAMES = {"user": "User", "assistant": "Assistant", "tool": "Tool", "system": "System"}


def _conversations(name: str, data: bytes) -> Result[list[Extracted]] | None:
    """The conversations of a file, None where it holds none."""
    kind = format_of(data[:HEAD_BYTES])
    if kind == UNKNOWN_JSON:
        return None
    try:
        found = read_all(PurePath(name).name, data)
    except RecursionError:
        return None
    if kind == "plain" and (len(found) != 1 or len({turn.role for turn in found[0].turns}) < 2):
        return None
    problem = why_unread(data, found[0]) if found else None
    if problem is not None:
        return None if problem.code == "unknown-format" else KnowledgeError.of(problem)
    documents = [_conversation(one, many=len(found) > 1) for one in found if one.turns]
    return Ok(documents) if documents else None


_RETRIEVED = re.compile(r"\bretrieval[\\\"': ]{1,8}[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
_ASKS_LIBRARY = re.compile(r"(?:^|[;&|(\n][ \t]*)(?:\S*/)?knowledge[ \t]+library[ \t]")


def _conversation(found: Conversation, *, many: bool) -> Extracted:
    text, parts = "", []
    asked = {event.result: event.output[:OUTPUT_HEAD // 2] for turn in found.turns for event in turn.commands
             if _ASKS_LIBRARY.search(event.words)}  # fmt: skip
    for turn in found.turns:
        words = tidied(turn.text).strip("\n")
        if words.strip() and not (turn.role == "tool" and _is_ours(turn, asked)):
            begins = len(text)
            text += f"{NAMES.get(turn.role, turn.role)}:\n{words}\n\n"
            parts.append(Part(begins, len(text), turn.role))
    title = found.title.strip()[:200] or found.id
    moment = moment_of(found.ended or found.started)
    return Extracted(
        text, "conversation", "conversation", title, found.format, tuple(parts), moment, found.id if many else ""
    )


def _is_ours(turn: Turn, asked: Mapping[int, str]) -> bool:
    """Whether a tool's turn is what the library told an agent: taken in, it would be found as if somebody else had
    said it again. `asked`: where the answers of commands that asked it begin -> how."""
    head = asked.get(turn.start)
    return (
        NOTICE in turn.text or bool(_RETRIEVED.search(turn.text)) or (head is not None and turn.text.startswith(head))
    )


def moment_of(said: str) -> datetime | None:
    """A time as a conversation tells it (ISO 8601, UTC where it names no zone); None for none."""
    try:
        found = datetime.fromisoformat(said.replace("Z", "+00:00")) if said else None
    except ValueError:
        return None
    return None if found is None else found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


# --- foreign formats --------------------------------------------------------------------------------------------------


def _foreign(data: bytes, suffix: str) -> str | None:
    head = data[:2048].lstrip()
    if head.startswith(b"%PDF-"):
        return "pdf"
    if head.startswith(b"PK\x03\x04"):
        return "docx" if suffix == "docx" or b"word/" in data else "packed"
    if suffix == "ipynb":
        return "notebook"
    lowered = head[:1024].lower()
    if suffix in ("html", "htm", "xhtml") or lowered.startswith((b"<!doctype html", b"<html")):
        return "html"
    return None


def _by_library(name: str, data: bytes, kind: str, content_type: str) -> list[Extracted]:
    if kind == "packed":
        raise KnowledgeError("no-text", "this is a packed file: unpack it first", name)
    try:
        with _at_most(READ_SECONDS, READ_MEMORY):
            text, title, parts, notes = _READ[kind](data)
    except _TooLongError:
        raise KnowledgeError(
            "too-slow", f"this {kind.upper()} was not read in {READ_SECONDS:g} seconds and was given up", name
        ) from None
    except _TooMuchError:
        most = f"more than {READ_MEMORY >> 20} MB of memory"
        raise KnowledgeError("too-large", f"this {kind.upper()} takes {most} to read and was given up", name) from None
    except ImportError as error:
        message = f"{kind.upper()} cannot be read without the package {error.name}"
        raise KnowledgeError("no-reader", message, name, how_to_install("documents")) from error
    except Exception as error:
        why = str(error).strip().split("\n")[0][:200] or type(error).__name__
        raise KnowledgeError("broken", f"the file is damaged, or is no {kind.upper()}: {why}", name) from error
    text = tidied(text)
    if not text.strip():
        raise KnowledgeError("empty", f"there is no text in this {kind.upper()} (a scan has pictures only)", name)
    form = "text" if kind == "pdf" else "markdown"
    prose = prose_type(name, text)
    if kind in ("html", "pdf") and prose == "note":
        prose = "article"
    title = title or title_of(text, form) or PurePath(name).stem
    return [Extracted(text, content_type or prose, form, tidied(title)[:200], "", parts, notes=notes)]


class _TooLongError(BaseException):
    """The time is up. No `Exception`: a library that goes on whatever goes wrong must not go on after this."""


class _TooMuchError(BaseException):
    """The memory is used up."""


@contextlib.contextmanager
def _at_most(seconds: float, memory: int) -> Iterator[None]:
    """Have `_TooLongError` raised in this thread when the time is up, and `_TooMuchError` when the program has grown by
    so many bytes: the libraries are Python, and a loop in one ends at its next step. Where the interpreter cannot do
    that, nothing bounds them; where the system does not tell the size of a process, nothing bounds their memory."""
    raiser = getattr(getattr(ctypes, "pythonapi", None), "PyThreadState_SetAsyncExc", None)
    if raiser is None:
        yield
        return
    thread, lock, over = ctypes.c_ulong(threading.get_ident()), threading.Lock(), threading.Event()
    end, most = time.monotonic() + seconds, _resident() + memory

    def watch() -> None:
        while not over.wait(_LOOK_SECONDS):
            why = _TooLongError if time.monotonic() > end else _TooMuchError if _resident() > most else None
            with lock:
                if why is not None and not over.is_set():
                    raiser(thread, ctypes.py_object(why))
                    return

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        with lock:
            over.set()


def _resident() -> int:
    """The bytes of memory that this process holds; where only its highest is known, that; 0 where nothing is."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        pass
    try:
        import resource
    except ImportError:
        return 0
    highest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return highest if sys.platform == "darwin" else highest << 10


_Read = tuple[str, str, tuple[Part, ...], tuple[str, ...]]


def _pdf(data: bytes) -> _Read:

    import pypdf

    logging.getLogger("pypdf").setLevel(logging.ERROR)
    reader = pypdf.PdfReader(io.BytesIO(data))
    if reader.is_encrypted and not reader.decrypt(""):
        raise ValueError("it is encrypted")
    text, parts, unread = "", [], 0
    for number, page in enumerate(reader.pages, start=1):
        try:
            words = page.extract_text()
        except Exception:  # noqa: BLE001 - a broken page costs itself
            unread += 1
            continue
        begins = len(text)
        text += re.sub(r"(\w)-\n(?=[a-z])", r"\1", tidied(words)).strip() + "\n\n"
        parts.append(Part(begins, len(text), f"page {number}"))
    title = str((reader.metadata.title if reader.metadata is not None else "") or "").strip()
    return text, title, tuple(parts), (f"{unread} pages could not be read",) if unread else ()


def _docx(data: bytes) -> _Read:

    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        sizes = [(row.filename.lower(), row.file_size) for row in packed.infolist()]
        markup = sum(size for name, size in sizes if name.endswith((".xml", ".rels")))
        # Any member may be named as the one with the text.
        largest = max((size for _, size in sizes), default=0)
        if sum(size for _, size in sizes) > MOST_UNPACKED or max(markup, largest) > MOST_MARKUP:
            raise ValueError("it unpacks to more than is allowed")
    import mammoth

    made = mammoth.convert_to_html(
        io.BytesIO(data), convert_image=mammoth.images.img_element(lambda _image: {"src": ""})
    )
    # A space of such a file is meant, one of a page is not: the indentation of code is made of them.
    text, title, parts, _notes = _html(made.value.replace("  ", "\u00a0\u00a0").encode())
    return text, title, parts, ()


_CLUTTER = (
    "script", "style", "noscript", "template", "nav", "header", "footer", "aside", "form", "iframe", "svg", "button",
)  # fmt: skip

_NO_CELL = ("pre", "dl", "table")
"""What no cell of rows and columns holds: a table with one of them lays out a page."""


def _html(data: bytes) -> _Read:
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
    return text.strip("\n").rstrip() + "\n", title, (), ()


def _notebook(data: bytes) -> _Read:
    """A Jupyter notebook: its cells in order, code in fences, with the text that the code printed."""
    document = json.loads(data)
    cells = document.get("cells")
    if cells is None:  # version 3
        cells = [cell for sheet in document.get("worksheets", ()) for cell in sheet.get("cells", ())]
    language = str(document.get("metadata", {}).get("kernelspec", {}).get("language") or "python")
    blocks = [block for cell in cells for block in _cell(cell, language)]
    return "\n\n".join(blocks) + "\n", "", (), ()


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


_READ: dict[str, Callable[[bytes], _Read]] = {"pdf": _pdf, "docx": _docx, "html": _html, "notebook": _notebook}
