"""One file from bytes to what is stored: text without secrets, chunks, their description, concepts.

It touches neither the disk nor the database, and what goes in and comes out is plain data, so that it runs in this
process, in another, or on another machine. It never raises for anything in a file.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from urllib.parse import urlsplit

from core.base.answer import Generate
from core.base.result import ErrorInfo, KnowledgeError, Ok, attempt
from core.base.secrets.redact import redact
from core.library.chunking import Piece, pieces_of, token_count
from core.library.concepts import candidates
from core.library.describe import Described, Description, describe, described_by
from core.library.extract import Extracted, extract
from core.library.foreign_formats import Part
from core.library.records import Chunk, day_of, new_id, sha256_of
from core.search.words import spaced

TITLE = 200
"""The most letters of a document's title."""


@dataclass(frozen=True)
class Item:
    """Bytes to take in. `source` is their path or address; `origin` names the project or folder that a file belongs
    to; `content_type` is what the user says it is, "" to have it told."""

    source: str
    data: bytes
    sha256: str
    state: str = ""
    written_at: datetime | None = None
    origin: str = ""
    content_type: str = ""
    name: str = ""
    """What the type is told by, where that is not the source: a page of an address without a suffix is `page.html`."""
    named: bool = True
    """Whether the user named it; what was found in a folder and is no text is no error."""


@dataclass(frozen=True)
class Way:
    """How it is done: with a model, which must be picklable where the work is done elsewhere, or by rules."""

    generate: Generate | None = None
    redact: bool = True
    attempts: int = 2


@dataclass(frozen=True)
class Prepared:
    """A document that is ready to be stored, what is `said` of it, and its chunks, whose document has no id yet.
    `redacted` counts the secrets that were replaced, by kind."""

    source: str
    document: Extracted
    domain: str
    source_type: str
    said: Description
    chunks: tuple[Chunk, ...]
    redacted: Mapping[str, int]
    warnings: tuple[ErrorInfo, ...]


def prepare(item: Item, way: Way) -> list[Prepared]:
    """The documents of an item. Raises KnowledgeError, in one sentence which names the source, where nothing of it can
    be read."""
    try:
        found = attempt(extract, item.name or item.source, item.data, item.content_type)
        if isinstance(found, KnowledgeError):
            raise KnowledgeError.of(replace(found.error, path=item.source))
        return [_prepared(item, document, way) for document in found.value]
    except RecursionError:
        raise KnowledgeError("broken", "the file is nested too deeply to be read", item.source) from None
    except MemoryError:
        raise KnowledgeError("too-large", "there is not enough memory to read the file", item.source) from None


def _prepared(item: Item, document: Extracted, way: Way) -> Prepared:
    counts: Counter[str] = Counter()
    if way.redact:
        document = _without_secrets(document, counts)
    document = replace(document, title=document.title[:TITLE])  # half a secret would not be known as one
    source = f"{item.source}#{document.inside}" if document.inside else item.source
    pieces = pieces_of(document)
    warnings = [ErrorInfo("part-unread", note, source) for note in document.notes]
    description = _described(document, pieces, way, source, warnings)
    document = replace(document, written_at=document.written_at or item.written_at)
    day = day_of(document.written_at)
    chunks = tuple(
        _chunk(document.text[piece.begins : piece.ends], piece, said, at, day)
        for at, (piece, said) in enumerate(zip(pieces, description.rows, strict=True))
    )
    description = replace(description, concepts=description.concepts or tuple(candidates(document, pieces)))
    return Prepared(source, document, *source_of(item, document), description, chunks, counts, tuple(warnings))


def _chunk(content: str, piece: Piece, said: Described, position: int, day: str) -> Chunk:
    searched = spaced(content)
    return Chunk(
        new_id(), "", content, position, said.summary, said.chunk_type, token_count(content), None, said.needs_context,
        said.rhetorical_mode, piece.heading, piece.begins, piece.ends, searched if searched != content else "",
        sha256_of(content), day=day,
    )  # fmt: skip


def _described(
    document: Extracted, pieces: Sequence[Piece], way: Way, source: str, warnings: list[ErrorInfo]
) -> Description:
    if way.generate is not None and pieces:
        answered = attempt(described_by, way.generate, document, pieces, way.attempts)
        if isinstance(answered, Ok):
            return answered.value
        message = f"the model did not describe it, so rules did: {answered.error.message}"
        warnings.append(replace(answered.error, message=message, path=source))
    return describe(document, pieces)


def _without_secrets(document: Extracted, counts: Counter[str]) -> Extracted:
    """The document with placeholders for its secrets, part by part where it has parts, so that these keep their
    places; and as a whole, for what stands over two of them."""

    def clean(text: str) -> str:
        found = redact(text)
        counts.update(found.counts)
        return found.text

    text, parts = "", []
    for part in document.parts:
        words = clean(document.text[part.begins : part.ends])
        parts.append(Part(len(text), len(text) + len(words), part.label))
        text += words
    whole, form = clean(text if parts else document.text), document.form
    if parts and whole != text:
        parts, form = [], "text"
    return replace(document, text=whole, parts=tuple(parts), form=form, title=clean(document.title))


# --- where it comes from ----------------------------------------------------------------------------------------------

_SITES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("academic", re.compile(r"(?:^|\.)(?:arxiv|doi|acm|ieee|springer|nature|sciencedirect|jstor|openreview)\.|\.edu$")),
    ("forum", re.compile(r"(?:^|\.)(?:reddit|stackoverflow|stackexchange|serverfault|superuser|ycombinator|quora|"
                         r"lobste)\.|^(?:forum|forums|discuss|community|discourse)\.")),
    ("social", re.compile(r"(?:^|\.)(?:twitter|x|mastodon|bsky|linkedin|facebook|threads)\.|^(?:t\.me|fosstodon)")),
    ("docs", re.compile(r"^(?:docs?|developer|developers|api|help|support|wiki|manual)\.|readthedocs|github|gitlab|"
                        r"\.(?:dev|io)$")),
)  # fmt: skip


def source_of(item: Item, document: Extracted) -> tuple[str, str]:
    """Domain and type of the source whose profile a document counts for: the host of a page (of a forum with its
    board), the tool of a conversation, the project or folder of a file."""
    if document.content_type == "conversation":
        return document.language or "conversations", "conversation"
    kinds = {"paper": "academic", "reference": "docs", "code": "docs"}
    address = urlsplit(item.source) if item.source.startswith(("http://", "https://")) else None
    if address is not None and address.hostname:
        host = address.hostname.removeprefix("www.")
        board = re.match(r"/(r/\w+)", address.path)
        kind = next((name for name, pattern in _SITES if pattern.search(host)), "")
        named = f"{host}/{board[1]}" if board and kind == "forum" else host
        return named, kind or kinds.get(document.content_type, "news")
    return item.origin or "notes", kinds.get(document.content_type, "personal_notes")


Prepare = Callable[[Item, Way], list[Prepared]]
