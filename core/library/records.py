"""One frozen record for each entity of the library, and the words that their fields accept. No database is loaded here.

A field is a column of the same name in `schema.py`. `UsageTrace.chunk_ids` is the one exception: its rows are in
`trace_chunk`. Times are aware and in UTC.
"""

from __future__ import annotations

import hashlib
import unicodedata
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

# --- words, in the order in which people read them --------------------------------------------------------------------

CONTENT_TYPES = ("article", "paper", "note", "code", "conversation", "reference")
SOURCE_TYPES = ("forum", "academic", "news", "docs", "social", "conversation", "personal_notes")
STATUSES = ("active", "archived", "superseded")
CHUNK_TYPES = ("narrative", "argument", "data", "code", "definition", "example")
RHETORICAL_MODES = ("explanatory", "argumentative", "anecdotal", "sarcastic", "instructional")
CONCEPT_TYPES = ("topic", "entity", "method", "claim", "question")
TASK_TYPES = (
    "factual_lookup",
    "implementation_howto",
    "conceptual_understanding",
    "opinion_gathering",
    "decision_support",
    "debugging",
    "exploratory_research",
    "creative_inspiration",
    "other",
)
OUTCOMES = ("win", "partial", "miss", "misleading")
ENTITY_TYPES = ("document", "chunk", "concept")
CREATORS = ("auto", "manual", "consolidated")
RECORDED = ("explicit", "inferred")
"""How a usage trace came about: somebody said it, or a conversation showed it."""

SYMMETRIC = frozenset(("related_to", "contradicts", "same_as", "complements"))
"""Relations that hold in both directions: one link is stored, from the smaller id to the larger."""

# --- records ----------------------------------------------------------------------------------------------------------


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
    """Where documents come from, and what that source is good for. `trace_counts_by_task` is task -> outcome -> n;
    `profiled_traces` says from how many traces the profile was written."""

    id: str
    domain: str
    source_type: str
    created_at: datetime
    updated_at: datetime
    functional_profile: str | None = None
    strengths: tuple[str, ...] = ()
    weaknesses: tuple[str, ...] = ()
    trace_counts_by_task: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    profiled_traces: int = 0


@dataclass(frozen=True)
class Document:
    """One thing that was taken in. `source` is where it was found first: a path, an address, or what a person said;
    `content_sha256` is the hash of `raw_content`, in which secrets are replaced already."""

    id: str
    source: str
    content_type: str
    title: str
    raw_content: str
    ingested_at: datetime
    source_profile_id: str | None = None
    top_summary: str = ""
    key_claims: tuple[str, ...] = ()
    last_accessed: datetime | None = None
    access_count: int = 0
    status: str = "active"
    content_sha256: str = ""
    written_at: datetime | None = None
    language: str = ""


@dataclass(frozen=True)
class Location:
    """A place where a document was found. `state` tells without reading whether the place has changed."""

    source: str
    document_id: str
    sha256: str
    seen_at: datetime
    state: str = ""


@dataclass(frozen=True)
class Chunk:
    """A coherent part of a document: `raw_content[begins:ends]`. `heading` is the way to it (`Setup > Linux`,
    `Pool.acquire`); `number` is what the full-text table knows it by, given by the database; `day` (2026-11-22) is
    that of its document, "" where that is not known."""

    id: str
    document_id: str
    content: str
    position: int = 0
    summary: str = ""
    chunk_type: str = "narrative"
    token_count: int = 0
    functional_profile: str | None = None
    needs_context: bool = False
    rhetorical_mode: str = "explanatory"
    heading: str = ""
    begins: int = 0
    ends: int = 0
    spaced: str = ""
    content_sha256: str = ""
    profiled_traces: int = 0
    retrieved_count: int = 0
    last_retrieved: datetime | None = None
    number: int = 0
    day: str = ""


@dataclass(frozen=True)
class Concept:
    """An idea, a thing or a theme, whatever documents speak of it. `folded` is the name as it is compared."""

    id: str
    name: str
    created_at: datetime
    updated_at: datetime
    aliases: tuple[str, ...] = ()
    description: str = ""
    concept_type: str = "topic"
    functional_profile: str | None = None
    gap_notes: str = ""
    folded: str = ""
    profiled_traces: int = 0


@dataclass(frozen=True)
class UsageTrace:
    """What chunks were used for, once, and how that went. `recorded` says whether somebody told it or it was inferred
    from a conversation."""

    id: str
    chunk_ids: tuple[str, ...]
    task_type: str
    outcome: str
    timestamp: datetime
    session_id: str = ""
    context_summary: str = ""
    query: str = ""
    notes: str = ""
    recorded: str = "explicit"
    retrieval_id: str | None = None


@dataclass(frozen=True)
class Link:
    """A typed, weighted relation of any two entities. `task_type` is only said of `better_for`."""

    id: str
    source_type: str
    source_id: str
    target_type: str
    target_id: str
    relation: str
    created_at: datetime
    weight: float = 1.0
    created_by: str = "auto"
    task_type: str = ""
    note: str = ""


@dataclass(frozen=True)
class Retrieval:
    """A question that was asked of the library, and what a model thought of the answers."""

    id: str
    query: str
    task_type: str
    timestamp: datetime
    session_id: str = ""
    reasoning: str = ""


@dataclass(frozen=True)
class ChangeRun:
    """A run that changed what the library has learned, and can be taken back."""

    id: str
    kind: str
    started_at: datetime
    finished_at: datetime | None = None
    undone_at: datetime | None = None
    report: Mapping[str, Any] = field(default_factory=dict)
