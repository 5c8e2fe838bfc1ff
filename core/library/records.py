"""One frozen record for each entity of the library, and the words that their fields accept. No database is loaded here.

A field is a column of the same name, which `schema.py` makes from its annotation. `UsageTrace.chunk_ids` is the one
exception: its rows are in `trace_chunk`. Times are aware and in UTC.
"""

from __future__ import annotations

import hashlib
import unicodedata
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeAlias

# --- words, in the order in which people read them --------------------------------------------------------------------

STATUSES = ("active", "archived", "superseded")
CHUNK_TYPES = ("narrative", "argument", "data", "code", "definition", "example")
RHETORICAL_MODES = ("explanatory", "argumentative", "anecdotal", "sarcastic", "instructional")
SOURCE_TYPES = ("forum", "academic", "news", "docs", "social", "conversation", "personal_notes")
CONCEPT_TYPES = ("topic", "entity", "method", "claim", "question")

SYMMETRIC = frozenset(("related_to", "contradicts", "same_as", "complements"))
"""Relations that hold in both directions: one link is stored, from the smaller id to the larger."""

# --- records ----------------------------------------------------------------------------------------------------------

Id: TypeAlias = str
"""A UUID in its usual spelling."""
Word: TypeAlias = str
"""One of the words above, or a hash: at most 64 letters."""


def new_id() -> str:
    """An id for any record."""
    return str(uuid.uuid4())


def day_of(moment: datetime | None) -> str:
    """The day of a moment in UTC, as 2026-11-22; "" for none."""
    return moment.astimezone(UTC).date().isoformat() if moment is not None else ""


def folded(name: str) -> str:
    """A name of a concept as it is compared: one form of each letter, no case, single spaces."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def sha256_of(text: str) -> str:
    """The hash by which content is known to be the same."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class SourceProfile:
    """Where documents come from (`source_type`: one of SOURCE_TYPES), and what that source is good for.
    `trace_counts_by_task` is task -> outcome -> n; `profiled_traces` says from how many traces the profile was
    written."""

    id: Id
    domain: str
    source_type: Word
    created_at: datetime
    updated_at: datetime
    functional_profile: str | None = None
    strengths: tuple[str, ...] = ()
    weaknesses: tuple[str, ...] = ()
    trace_counts_by_task: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    profiled_traces: int = 0


@dataclass(frozen=True)
class Document:
    """One thing that was taken in. `source` is where it was found first: a path, an address, or what a user said;
    `content_sha256` is the hash of `raw_content`, in which secrets are replaced already; `written_at` is when it was
    last changed, where its source tells; `language` is that of code."""

    id: Id
    source: str
    content_type: Word
    title: str
    raw_content: str
    ingested_at: datetime
    source_profile_id: Id | None = None
    top_summary: str = ""
    key_claims: tuple[str, ...] = ()
    last_accessed: datetime | None = None
    access_count: int = 0
    status: Word = "active"
    content_sha256: Word = ""
    written_at: datetime | None = None
    language: str = ""


@dataclass(frozen=True)
class Location:
    """A place where a document was found. `sha256` is that of the bytes that were read there; `state` (size and times
    of the file) tells without reading whether they have changed; `project` is the root of the
    repository that it was in then, "" for none, None where nobody knows."""

    source: str
    document_id: Id
    sha256: Word
    seen_at: datetime
    state: str = ""
    project: str | None = None


@dataclass(frozen=True)
class Chunk:
    """A coherent part of a document: `raw_content[begins:ends]`. `heading` is the way to it (`Setup > Linux`,
    `Pool.acquire`); `spaced` is searched instead of the content where that has a script without spaces; `number` is
    what the full-text table knows it by, given by the database; `day` (2026-11-22) is that of its document, "" where
    that is not known."""

    id: Id
    document_id: Id
    content: str
    position: int = 0
    summary: str = ""
    chunk_type: Word = "narrative"
    token_count: int = 0
    functional_profile: str | None = None
    needs_context: bool = False
    rhetorical_mode: Word = "explanatory"
    heading: str = ""
    begins: int = 0
    ends: int = 0
    spaced: str = ""
    content_sha256: Word = ""
    profiled_traces: int = 0
    retrieved_count: int = 0
    last_retrieved: datetime | None = None
    number: int = 0
    day: str = ""


@dataclass(frozen=True)
class Concept:
    """An idea, a thing or a theme, whatever documents speak of it. `folded` is the name as it is compared."""

    id: Id
    name: str
    created_at: datetime
    updated_at: datetime
    aliases: tuple[str, ...] = ()
    description: str = ""
    concept_type: Word = "topic"
    functional_profile: str | None = None
    gap_notes: str = ""
    folded: str = ""
    profiled_traces: int = 0


@dataclass(frozen=True)
class UsageTrace:
    """What chunks were used for, once, and how that went. `recorded` says whether somebody told it or it was inferred
    from a conversation; `project` is the root of the project in which it was, "" for none, None where nobody knows."""

    id: Id
    chunk_ids: tuple[str, ...]
    task_type: Word
    outcome: Word
    timestamp: datetime
    session_id: str = ""
    context_summary: str = ""
    query: str = ""
    notes: str = ""
    recorded: Word = "explicit"
    retrieval_id: Id | None = None
    project: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Stable keys for `--json`."""
        return {
            "id": self.id,
            "at": self.timestamp.isoformat(timespec="seconds"),
            "session": self.session_id,
            "task_type": self.task_type,
            "outcome": self.outcome,
            "query": self.query,
            "context": self.context_summary,
            "notes": self.notes,
            "chunks": list(self.chunk_ids),
            "recorded": self.recorded,
            "retrieval": self.retrieval_id,
        }


@dataclass(frozen=True)
class Link:
    """A typed, weighted relation of any two entities (document, chunk, concept). `created_by` is auto, manual or
    consolidated; `task_type` is only said of `better_for`."""

    id: Id
    source_type: Word
    source_id: Id
    target_type: Word
    target_id: Id
    relation: Word
    created_at: datetime
    weight: float = 1.0
    created_by: Word = "auto"
    task_type: Word = ""
    note: str = ""


@dataclass(frozen=True)
class Retrieval:
    """A question that was asked of the library, and what a model thought of the answers. `project` as in a trace."""

    id: Id
    query: str
    task_type: Word
    timestamp: datetime
    session_id: str = ""
    reasoning: str = ""
    project: str | None = None


@dataclass(frozen=True)
class ChangeRun:
    """A run that changed what the library has learned, and can be taken back."""

    id: Id
    kind: Word
    started_at: datetime
    finished_at: datetime | None = None
    undone_at: datetime | None = None
    report: Mapping[str, Any] = field(default_factory=dict)
