"""Bytes of any kind into text that can be kept: what it is, its title, and in which form its text is parted.

The type is told by the content first and by the name second. Foreign formats are read by libraries of the extra
`documents`, in a process of their own (`extract_process.py`). A file that cannot be read is reported, and nothing else
stops.
What comes from a file is untrusted: it is text and nothing but text from here on.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePath

from core.base.marks import NOTICE
from core.base.result import KnowledgeError
from core.conversations.conversation import Conversation, Turn
from core.conversations.damage import as_utf8
from core.conversations.events import OUTPUT_HEAD
from core.conversations.plain import UNKNOWN_JSON
from core.conversations.read import HEAD_BYTES, format_of, read_all, why_unread
from core.library.extract_process import read_foreign
from core.library.foreign_formats import Part, tidied

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
_MARKDOWN = ("md", "markdown", "mdx")
_DATA = ("json", "jsonl", "csv", "tsv", "ndjson")
_SHEBANG = re.compile(r"#!.*?\b(python|bash|sh|zsh|node|ruby|perl|lua)\b")
_INTERPRETERS = {"sh": "bash", "zsh": "bash", "node": "javascript"}


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
    """The documents of a file: one, or the conversations of an export. `content_type` is what the user says it is,
    "" to have it told. Raises KnowledgeError, in one sentence, for what cannot be read, and nothing else for `data`."""
    if not data.strip():
        raise KnowledgeError("empty", "the file is empty", name)
    suffix = PurePath(name).suffix.lower().removeprefix(".")
    foreign = _foreign(data, suffix)
    if foreign is not None:
        return _read_elsewhere(name, data, foreign, content_type)
    if suffix not in LANGUAGES and suffix not in ("html", "htm") and content_type in ("", "conversation"):
        found = _conversations(name, data)
        if found is not None:
            return found
        if content_type == "conversation":
            raise KnowledgeError("no-conversation", "this is no conversation of any tool", name)
    text = as_text(data)
    if text is None:
        raise KnowledgeError("no-text", "this is no text, and no kind of file that is known", name)
    return [_plain_text(name, text, suffix, content_type)]


def as_text(data: bytes) -> str | None:
    """Text in one spelling: UTF-8 (or what a mark says that it is), line breaks as `\\n`, no NUL; None for what is no
    text."""
    data = as_utf8(data)
    if b"\0" in data[:8192]:
        return None
    try:
        return tidied(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    strange = sum(
        (character < " " and character not in "\t\n\r\f\x1b") or "\x7f" <= character <= "\x9f" for character in text
    )
    return tidied(text) if strange * 50 < len(text) else None


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
    has_headings = suffix not in ("log", "tex", "org") and re.search(r"^#{1,6} \S", text, re.MULTILINE)
    form = "markdown" if suffix in _MARKDOWN or has_headings else "text"
    title = title_of(text, form) or PurePath(name).stem or name
    return Extracted(text, content_type or prose_type(name, text), form, title)


_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
_UNDERLINED = re.compile(r"^(?P<title>[^\s#>|*+-][^\n]{2,100})\n(?:=+|-{4,}|~{4,}|\*{4,})[ \t]*$", re.MULTILINE)
_FRONT_TITLE = re.compile(r"\A---\n(?:.*\n){0,30}?title:[ \t]*[\"']?(.+?)[\"']?[ \t]*\n")


def title_of(text: str, form: str) -> str:
    """The title that a text gives itself, "" for none."""
    head = text[:20_000]
    if found := _FRONT_TITLE.match(head):
        return found[1]
    patterns = (_HEADING, _UNDERLINED) if form == "markdown" else (_UNDERLINED,)
    found_at = sorted((found.start(), found[1]) for pattern in patterns if (found := pattern.search(head)))
    if found_at:
        return without_marks(found_at[0][1], ticks=False).strip()
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


def _conversations(name: str, data: bytes) -> list[Extracted] | None:
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
    if problem is not None and problem.code != "unknown-format":
        raise KnowledgeError.of(problem)
    documents = [_conversation(one, many=len(found) > 1) for one in found if one.turns]
    return documents if documents and problem is None else None


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
    title = found.title.strip() or found.id
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
        found = datetime.fromisoformat(said)
    except ValueError:
        return None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


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


def _read_elsewhere(name: str, data: bytes, kind: str, content_type: str) -> list[Extracted]:
    if kind == "packed":
        raise KnowledgeError("no-text", "this is a packed file: unpack it first", name)
    found = read_foreign(kind, data, name)
    text, title, notes = tidied(found.text), tidied(found.title), found.notes
    if not text.strip():
        raise KnowledgeError("empty", f"there is no text in this {kind.upper()} (a scan has pictures only)", name)
    form = "text" if kind == "pdf" else "markdown"
    prose = prose_type(name, text)
    if kind in ("html", "pdf") and prose == "note":
        prose = "article"
    title = title or title_of(text, form) or PurePath(name).stem
    return [Extracted(text, content_type or prose, form, title, "", found.parts, notes=notes)]
